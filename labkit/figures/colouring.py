"""What colours the points of a picture: their class, or any other column of theirs.

In: a `Labelled` with its further columns, and the order of the classes of all its corpus, where a class is to look the
same in every picture of it. Out: a `Colouring`: names with a code for each point, or numbers on a scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from labkit.corpora.records import SPLITS, Labelled
from labkit.figures.palette import STYLES
from labkit.text import words

CLASS, SPLIT, LENGTH = "class", "split", "words in it"
REST = "others"
FEW = 12  # distinct numbers up to which each gets a colour of its own


@dataclass(frozen=True, eq=False)
class Colouring:
    """`codes` (n,) number the `names`; or there are no names, and `values` (n,) lie on a scale. `rest`: its code.

    `styles` has for each name the number of its colour and mark (`labkit.figures.palette.style`).
    """

    column: str
    codes: np.ndarray
    names: tuple[str, ...] = ()
    values: np.ndarray | None = None
    rest: int | None = None
    styles: tuple[int, ...] = ()


# Of the sentences that are in use, found once: with 20,000 of them this takes longer than all else of a picture.
_KEPT: WeakKeyDictionary[Labelled, dict[str, Colouring]] = WeakKeyDictionary()


def columns(shown: Labelled) -> list[str]:
    """What there is to colour by."""
    return list(dict.fromkeys([CLASS, SPLIT, LENGTH, *(str(name) for name in shown.extra)]))


def colouring(shown: Labelled, column: str = CLASS, *, most: int | None = None, order: Sequence[str] = ()) -> Colouring:
    """By a column; of names `most` have a colour, the most frequent ones, and the rest share one.

    With an `order` of the classes of a whole corpus (`labkit.corpora.points.class_order`) a class has its place there
    as the number of its colour, whatever else is shown; the first ones have a colour, and of two whose colours are the
    same, as those of the 1st and the 37th, the first.
    """
    if most is not None and most < 1:
        raise ValueError(f"most is {most}, expected at least 1 name with a colour")
    kept = _KEPT.setdefault(shown, {})
    if column not in kept:
        kept[column] = _each_its_own(shown, column)
    found = kept[column]
    if column == SPLIT:
        order = SPLITS
    if found.values is None and order and column in (CLASS, SPLIT):
        return _in_order(found, most, order)
    if most is None or len(found.names) <= most:
        return found
    return _with_rest(found, np.sort(np.argsort(-np.bincount(found.codes), kind="stable")[:most]).tolist())


def _in_order(found: Colouring, most: int | None, order: Sequence[str]) -> Colouring:
    """Names by their place in the order; those it does not have come last."""
    place = {name: number for number, name in enumerate(order)}
    places = [place.get(name, len(order) + code) for code, name in enumerate(found.names)]
    codes = sorted(range(len(found.names)), key=places.__getitem__)
    if most is not None:
        first: dict[int, int] = {}  # number of a colour -> the first name that has it
        for code in codes:
            first.setdefault(places[code] % STYLES, code)
        codes = list(first.values())[:most]
    return _with_rest(found, codes, [places[code] % STYLES for code in codes])


def _with_rest(found: Colouring, codes: Sequence[int], styles: Sequence[int] = ()) -> Colouring:
    """Those names alone, in this order; all others are one, if there are any."""
    new, rest = np.full(len(found.names), len(codes)), None
    new[list(codes)] = np.arange(len(codes))
    names, styles = tuple(found.names[code] for code in codes), tuple(styles or range(len(codes)))
    if len(codes) < len(found.names):
        names, styles, rest = (*names, REST), (*styles, len(codes)), len(codes)
    return Colouring(found.column, new[found.codes], names, rest=rest, styles=styles)


def _each_its_own(shown: Labelled, column: str) -> Colouring:
    """A colour for every name, in the order in which they first appear."""
    found = _values(shown, column)
    if column not in (CLASS, SPLIT) and len(set(found)) > FEW:
        numbers = [_number(value) for value in found]
        if all(math.isfinite(number) for number in numbers):
            return Colouring(column, np.zeros(len(found), np.int64), values=np.array(numbers, np.float32))
    texts = [str(value) for value in found]
    code = {name: number for number, name in enumerate(dict.fromkeys(texts))}
    codes = np.array([code[text] for text in texts], np.int64)
    return Colouring(column, codes, tuple(code), styles=tuple(range(len(code))))


def _values(shown: Labelled, column: str) -> Sequence[Any]:
    if column == CLASS:
        return shown.labels
    if column == SPLIT:
        return shown.splits
    if column == LENGTH:
        return [len(words(text)) for text in shown.texts]
    if column not in shown.extra:
        raise ValueError(f"column is {column!r}, expected one of {', '.join(columns(shown))}")
    return shown.extra[column]


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
