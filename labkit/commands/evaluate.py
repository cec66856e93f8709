"""`labkit evaluate RUN`: the figures of a run, on the corpus it was trained on or on another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labkit.commands.opening import Watched, corpus_of_run, opened_corpus, opened_method, record_of
from labkit.commands.saying import as_json, columns, finite
from labkit.progress import terminal


def evaluate(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    corpus: Annotated[
        str | None, typer.Option(help="A corpus' name or a file; without it, what the run was trained on.")
    ] = None,
    split: Annotated[str, typer.Option(help="train, dev or test.")] = "test",
    json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Say how good a run is, by the figures that fit the corpus' shape.

    Of more than 20,000 sentences a sample of 20,000 looks for its neighbours, always the same and among all; the
    figures then say so.
    """
    from labkit.scores import score

    record = record_of(run)
    opened = opened_corpus(corpus) if corpus is not None else corpus_of_run(record, run)
    with terminal("sentence") as progress:
        found = score(Watched(opened_method(run)), opened, split=split, progress=progress)
    same = opened.fingerprint == record["fingerprint"]
    if json:
        said = {
            "run": str(run),
            "method": record["method"],
            "seed": record["seed"],
            "state": record["state"],
            "trained_on": record["corpus"],
            "corpus": opened.name,
            "split": split,
            "same_corpus": same,
            "measure": found.measure,
            "figures": finite(found.figures),
        } | ({"sample": found.sample} if found.sample else {})
        typer.echo(as_json(said))
        return
    typer.echo(f"{run}: {record['method']}, trained on {record['corpus']} with seed {record['seed']}")
    if not same:
        typer.echo(f"{opened.name} is not the corpus it was trained on (another fingerprint)")
    typer.echo(f"\n{opened.name}, {split}\n")
    typer.echo(columns([[name, f"{value:.4f}"] for name, value in found.figures.items()], right=[1]))
    if found.sample:
        typer.echo(f"\n{found.sample}")
