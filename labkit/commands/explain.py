"""`labkit explain RUN "sentence a" "sentence b"`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer


def explain(
    run: Annotated[Path, typer.Argument(help="The folder of a run whose method can explain itself: film.")],
    a: Annotated[str, typer.Argument(help="A sentence.")],
    b: Annotated[str, typer.Argument(help="Another one.")],
    top: Annotated[int, typer.Option(min=1, help="Parts of each kind to show.")] = 8,
    as_json: Annotated[bool, typer.Option("--json", help="All parts, as JSON, for programs.")] = False,
) -> None:
    """Say why a method finds two sentences similar: words, pairs of words and rows, which add up to the similarity."""
    from labkit.film.explanation import described
    from labkit.methods import METHODS, load

    method = load(run)
    if not hasattr(method, "explain"):
        able = [name for name, entry in METHODS.items() if hasattr(entry.method, "explain")]
        raise ValueError(
            f"run {str(run)!r} is of method {method.name!r}, which cannot say why; expected one of {', '.join(able)}: "
            "train it on the same corpus"
        )
    found = method.explain(a, b)
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(found), ensure_ascii=False, indent=2))
    else:
        typer.echo(described(found, top=top))
