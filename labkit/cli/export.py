"""The command `labkit export`: a run in the form in which others serve models.

In: the folder of a run. Out: a folder that sentence-transformers, onnxruntime or model2vec opens without labkit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.cli.arguments import (
    CorpusName,
    Force,
    Json,
    RunFolder,
    check_free,
    corpus_for,
    opened_method,
    record_of,
)
from labkit.cli.output import remark, show_result, step
from labkit.progress import terminal

if TYPE_CHECKING:
    from labkit.corpora.records import Corpus
    from labkit.method import Method

SAMPLE = 1_000  # sentences on which an export is tried


def export(
    run: RunFolder,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write it.")],
    to: Annotated[str, typer.Option(metavar="sentence-transformers|onnx|model2vec", help="Who is to open it.")],
    quantize: Annotated[
        bool,
        typer.Option("--quantize", help="Weights as 8-bit numbers (onnx, model2vec); says what it costs."),
    ] = False,
    corpus: CorpusName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a run as a model that others serve without labkit, and try it on sentences of the corpus' dev split.

    Methods: sentpwnet, siamese, triplet, bag, static, thematic, mean-vectors, sif, sbert, and pca, whitening and
    all-but-the-top over these; with encoder=transformer the model and what it learned. What depends on the other
    sentences (sbert-lp), or is no network, cannot go there.
    """
    from labkit.adapters.export import export as exported
    from labkit.evaluation.scores import score

    check_free(folder, "FOLDER", force=force)
    record = record_of(run)
    method = opened_method(run)
    opened = _corpus(run, record, corpus)
    where = f"{record['corpus']}/test"
    intervals = {}
    if opened is not None and opened.fingerprint == record["fingerprint"] and where in record["metrics"]:
        with step("intervals measured"), terminal("sentence") as progress:
            intervals[where] = score(method, opened, apart=True, progress=progress).intervals()
    with step("exported"):
        outcome = exported(
            method,
            folder,
            to,
            quantize=quantize,
            sentences=_sample(method, opened),
            metrics=record["metrics"],
            intervals=intervals,
            force=force,
        )
    for limit in outcome.limits:
        remark(f"labkit: note: {limit}")
    show_result({"run": run, **vars(outcome)}, str(outcome), json=json)


def _corpus(run: Path, record: dict[str, Any], corpus: str | None) -> Corpus | None:
    """The corpus of the run, or the one named; None where the run's own is gone."""
    try:
        return corpus_for(run, record, corpus)
    except ValueError:
        if corpus is not None:
            raise
        return None


def _sample(method: Method, opened: Corpus | None) -> list[str]:
    """Sentences of dev, or of all where there is no dev; where the corpus is gone, those that the run keeps."""
    if opened is None:
        return list(method.snapshots.texts)
    return (opened.part("dev") if "dev" in opened.splits else opened).sentences()[:SAMPLE]
