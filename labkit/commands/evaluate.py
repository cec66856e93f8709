"""`labkit evaluate RUN`: the figures of a run, on the corpus it was trained on or on another."""

from __future__ import annotations

from typing import Annotated

import typer

from labkit.commands.opening import Watched, corpus_of_run, opened_corpus, opened_method, record_of
from labkit.commands.options import CorpusName, Json, RunFolder
from labkit.commands.saying import answer, columns, step
from labkit.progress import terminal


def evaluate(
    run: RunFolder,
    corpus: CorpusName = None,
    split: Annotated[str, typer.Option(help="train, dev or test.")] = "test",
    json: Json = False,
) -> None:
    """Say how good a run is, by the figures that fit the corpus' shape.

    Of more than 20,000 sentences a sample of 20,000 looks for its neighbours, always the same and among all; the
    figures then say so.
    """
    from labkit.scores import score

    record = record_of(run)
    opened = opened_corpus(corpus) if corpus is not None else corpus_of_run(record, run)
    method = Watched(opened_method(run))
    with step("scored"), terminal("sentence") as progress:
        found = score(method, opened, split=split, progress=progress)
    same = opened.fingerprint == record["fingerprint"]
    record = {
        "run": run,
        "method": record["method"],
        "seed": record["seed"],
        "state": record["state"],
        "trained_on": record["corpus"],
        "corpus": opened.name,
        "split": split,
        "same_corpus": same,
        "measure": found.measure,
        "figures": found.figures,
    } | ({"sample": found.sample} if found.sample else {})
    lines = [f"{run}: {record['method']}, trained on {record['trained_on']} with seed {record['seed']}"]
    if not same:
        lines.append(f"{opened.name} is not the corpus it was trained on (another fingerprint)")
    figures = columns([[name, f"{value:.4f}"] for name, value in found.figures.items()], right=[1])
    lines += ["", f"{opened.name}, {split}", "", figures, *(["", found.sample] if found.sample else [])]
    answer(record, "\n".join(lines), json=json)
