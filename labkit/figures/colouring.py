"""What colours the points of a picture: their class, or any other column of theirs.

In: a `Labelled` with its further columns. Out: a `Colouring`: names with a code for each point, or numbers on a scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from labkit.corpora.records import Labelled
from labkit.text import words

CLASS, SPLIT, LENGTH = "class", "split", "words in it"
REST = "others"
FEW = 12  # distinct numbers up to which each gets a colour of its own


@dataclass(frozen=True, eq=False)
class Colouring:
    """`codes` (n,) number the `names`; or there are no names, and `values` (n,) lie on a scale. `rest`: its code."""

    column: str
    codes: np.ndarray
    names: tuple[str, ...] = ()
    values: np.ndarray | None = None
    rest: int | None = None


# Of the sentences that are in use, found once: with 20,000 of them this takes longer than all else of a picture.
_KEPT: WeakKeyDictionary[Labelled, dict[str, Colouring]] = WeakKeyDictionary()


def columns(shown: Labelled) -> list[str]:
    """What there is to colour by."""
    return list(dict.fromkeys([CLASS, SPLIT, LENGTH, *(str(name) for name in shown.extra)]))


def colouring(shown: Labelled, column: str = CLASS, *, most: int | None = None) -> Colouring:
    """By a column; of names the `most` frequent have a colour, and the rest share one."""
    if most is not None and most < 1:
        raise ValueError(f"most is {most}, expected at least 1 name with a colour")
    kept = _KEPT.setdefault(shown, {})
    if column not in kept:
        kept[column] = _each_its_own(shown, column)
    found = kept[column]
    if most is None or len(found.names) <= most:
        return found
    frequent = np.sort(np.argsort(-np.bincount(found.codes), kind="stable")[:most])
    code = np.full(len(found.names), most)  # of the rest
    code[frequent] = np.arange(most)
    return Colouring(column, code[found.codes], (*(found.names[name] for name in frequent), REST), rest=most)


def _each_its_own(shown: Labelled, column: str) -> Colouring:
    """A colour for every name, in the order in which they first appear."""
    found = _values(shown, column)
    if column not in (CLASS, SPLIT) and len(set(found)) > FEW:
        numbers = [_number(value) for value in found]
        if all(math.isfinite(number) for number in numbers):
            return Colouring(column, np.zeros(len(found), np.int64), values=np.array(numbers, np.float32))
    texts = [str(value) for value in found]
    code = {name: number for number, name in enumerate(dict.fromkeys(texts))}
    return Colouring(column, np.array([code[text] for text in texts], np.int64), tuple(code))


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
