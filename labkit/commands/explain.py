"""`labkit explain RUN "sentence a" "sentence b"`."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from labkit.commands.opening import opened_method
from labkit.commands.options import Json, RunFolder
from labkit.commands.saying import answer


def explain(
    run: RunFolder,
    a: Annotated[str, typer.Argument(help="A sentence.")],
    b: Annotated[str, typer.Argument(help="Another one.")],
    top: Annotated[
        int | None, typer.Option(min=1, help="Parts of each kind to show, 8 unless said otherwise; JSON has them all.")
    ] = None,
    json: Json = False,
) -> None:
    """Say why film finds two sentences similar: words, pairs of words and rows, which add up to the similarity."""
    from labkit.film.explanation import described
    from labkit.methods import METHODS

    if json and top is not None:
        raise ValueError(f"--top is {top}, but --json gives all parts; leave one of them out")
    method = opened_method(run)
    if not hasattr(method, "explain"):
        able = [name for name, entry in METHODS.items() if hasattr(entry.method, "explain")]
        raise ValueError(
            f"run {str(run)!r} is of method {method.name!r}, which cannot say why; expected one of {', '.join(able)}: "
            "train it on the same corpus"
        )
    found = method.explain(a, b)
    answer(dataclasses.asdict(found), described(found, top=top or 8), json=json)
