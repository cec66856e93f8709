"""The sentences nearest to one, by a method's own similarity of embeddings; and sentences by the words in them.

In: a method, the embeddings (n, d) of n sentences, and one more embedding (1, d). Out: `Neighbour`s, the nearest first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # so that a page that shows pictures only need not wait for torch
    from labkit.corpora.records import Labelled
    from labkit.methods import Method


@dataclass(frozen=True)
class Neighbour:
    """A sentence, its row among those shown, and its similarity with the one asked about."""

    row: int
    similarity: float
    label: str
    text: str


def neighbours(
    method: Method, asked: Any, embeddings: Any, shown: Labelled, *, k: int = 8, without: int | None = None
) -> tuple[Neighbour, ...]:
    """The k nearest of the sentences shown; `without` is the row of the asked one itself. Equals by row."""
    similarity = np.asarray(method.similarity(asked, embeddings))[0]
    if len(similarity) != len(shown):
        raise ValueError(f"embeddings has {len(similarity)} rows, expected {len(shown)}, one for each sentence shown")
    order = [row for row in np.argsort(-similarity, kind="stable")[: k + 1].tolist() if row != without][:k]
    return tuple(Neighbour(row, float(similarity[row]), shown.labels[row], shown.texts[row]) for row in order)


def matching(texts: Sequence[str], query: str, among: Iterable[int] | None = None, *, most: int = 500) -> list[int]:
    """Rows of at most `most` texts that have every word of the query somewhere, large letters or small.

    >>> matching(["Red cars", "a red bike", "blue"], "RED a")
    [0, 1]
    """
    wanted = query.casefold().split()
    found: list[int] = []
    for row in range(len(texts)) if among is None else among:
        if len(found) == most:
            break
        text = texts[row].casefold()
        if all(word in text for word in wanted):
            found.append(row)
    return found
