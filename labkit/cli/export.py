"""`labkit export`: write a run in a format that other libraries can serve.

In: the folder of a run. Out: a folder that sentence-transformers, onnxruntime or model2vec opens without labkit.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

SAMPLE = 1_000  # sentences with which the exported model is checked


def export(
    run: RunFolder,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write it.")],
    to: Annotated[str, typer.Option(metavar="sentence-transformers|onnx|model2vec", help="Library that will open it.")],
    quantize: Annotated[
        bool,
        typer.Option("--quantize", help="Store 8-bit weights (onnx, model2vec) and report the loss of precision."),
    ] = False,
    corpus: CorpusName = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Export a run as a model that works without labkit, and check it on sentences of the dev split.

    Works for sentpwnet, siamese, triplet, bag, static, thematic, mean-vectors, sif, sbert, and for pca, whitening and
    all-but-the-top on top of these; with encoder=transformer it includes the fine-tuned model. Methods whose vectors
    depend on other sentences (sbert-lp) cannot be exported.
    """
    from labkit.adapters.export import export as exported
    from labkit.evaluation.scores import score

    check_free(folder, "FOLDER", force=force)
    record = record_of(run)
    method = opened_method(run)
    opened: Corpus | None = None
    try:
        opened = corpus_for(run, record, corpus)
        sentences = (opened.part("dev") if "dev" in opened.splits else opened).sentences()[:SAMPLE]
    except ValueError:
        if corpus is not None:
            raise
        sentences = list(method.snapshots.texts)  # the corpus is gone
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
            sentences=sentences,
            metrics=record["metrics"],
            intervals=intervals,
            force=force,
        )
    for limit in outcome.limits:
        remark(f"labkit: note: {limit}")
    show_result({"run": run, **vars(outcome)}, str(outcome), json=json)
