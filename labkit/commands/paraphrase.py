"""`labkit paraphrase RUN "sentence" [--beam 5]`: what the decoders of a run write from a sentence's vector."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from labkit.commands.opening import opened_method, record_of
from labkit.commands.options import Json, RunFolder
from labkit.commands.saying import answer, step


def paraphrase(
    run: RunFolder,
    sentence: Annotated[str, typer.Argument(metavar="SENTENCE", help="What to say in other words.")],
    width: Annotated[
        int, typer.Option("--beam", min=1, help="Beginnings kept at every step; 1: the likeliest word each time.")
    ] = 1,
    json: Json = False,
) -> None:
    """Write a sentence anew from its vector: itself (auto), and a paraphrase; before each stands its log p."""
    from labkit.methods import METHODS
    from labkit.methods.pthought import PThought
    from labkit.paraphrase.search import Search
    from labkit.paraphrase.writing import described

    record_of(run)
    method = opened_method(run)
    if not isinstance(method, PThought):
        able = [name for name, entry in METHODS.items() if issubclass(entry.method, PThought)]
        raise ValueError(
            f"run {str(run)!r} is of method {method.name!r}, which has no decoder, expected one of {', '.join(able)}: "
            "train it on captions or questions"
        )
    search = Search(width=width, longest=method.settings.longest) if width > 1 else None
    with step("written"):
        found = method.paraphrase([sentence], search=search)[0]
    answer(dataclasses.asdict(found), described(found), json=json)
