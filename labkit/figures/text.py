"""Sentences as labels of a figure: cut to fit, and shown as text whatever they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from textwrap import wrap


def short(text: str, most: int) -> str:
    """A sentence cut to fit, with its angle brackets shown and not obeyed.

    >>> short("one <b>two</b> three", 12)
    'one &lt;b&gt;two…'
    """
    return escape(text if len(text) <= most else text[: most - 1].rstrip("</> ") + "…", quote=False)


def lines(text: str, *, width: int = 60, most: int = 4) -> str:
    """A sentence in a few short lines, for a hover label."""
    return "<br>".join(short(line, width + 10) for line in wrap(text, width)[:most])


def telling(names: Sequence[str], most: int) -> list[str]:
    """Names cut to fit by the words that tell them apart: of a long one those that the fewest others have.

    >>> telling(["Any advice on getting a visa", "Any advice on a guitar", "choir"], 12)
    ['getting visa', 'guitar', 'choir']
    """
    split = [[word for word in name.split() if word.strip("?!.,;:")] for name in names]
    common = Counter(word.casefold() for words in split for word in set(words))
    return [name if len(name) <= most else _told(words, common, most) for name, words in zip(names, split, strict=True)]


def _told(words: Sequence[str], common: Counter[str], most: int) -> str:
    clean = [word.strip("?!.,;:") for word in words]
    best = sorted(range(len(words)), key=lambda at: (common[words[at].casefold()], -len(clean[at]), at))
    kept: list[int] = []
    for at in best:
        if (common[words[at].casefold()] == 1 and len(clean[at]) > 2) or not kept:
            wanted = sorted([*kept, at])
            if len(" ".join(clean[each] for each in wanted)) <= most or not kept:
                kept = wanted
    told = " ".join(clean[at] for at in kept)
    return told if len(told) <= most else told[: most - 1] + "…"
