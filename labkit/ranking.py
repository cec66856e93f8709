"""Neighbours by a method's own similarity, whatever it is: cosine, minus a distance, a mixture.

In: a method and rows as from its `encode`, best in float64, where copies of one row are equally near to within
`ROUNDING`. Out: ranks, votes. For embeddings by themselves, where only the cosine counts, there is
`labkit.evaluation.hit_at`; on such a method both say the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from labkit.evaluation.neighbours import BLOCK, blocks

VOTERS = 3
ROUNDING = 1e-12


def own_ranks(method: Any, rows: Any, labels: Sequence[Any]) -> np.ndarray:
    """For each row whose class has another member: the rank of the nearest of these among all other rows.

    1 + how many of other classes are at least as near, so that a tie never flatters. A row of zeros, which is near
    to nothing, gets the last rank.
    """
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    asking = np.flatnonzero(np.bincount(codes)[codes] > 1)
    if not len(asking):
        raise ValueError(
            f"each of {len(codes)} sentences has a class of its own, expected a class with at least two; "
            "give more sentences a class"
        )
    ranks = np.empty(len(asking), np.int64)
    for block, similarity in _by_blocks(method, rows[asking], rows):
        asked = asking[block]
        own = codes[asked][:, None] == codes
        others = np.where(own, -np.inf, similarity)
        own[np.arange(len(asked)), asked] = False
        best = np.where(own, similarity, -np.inf).max(axis=1, keepdims=True)
        ranks[block] = 1 + (others >= best - ROUNDING).sum(axis=1)
    return np.where(not_zero(rows)[asking], ranks, len(codes))


def voted(method: Any, train: Any, labels: Sequence[Any], test: Any, *, k: int = VOTERS) -> np.ndarray:
    """The class that wins the vote of the k nearest training rows, for each test row: (n,) of labels.

    Among classes with equally many votes the one with the nearest voter wins; of rows equally near, the earlier.
    """
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    won = np.empty(test.shape[0], np.int64)
    for block, similarity in _by_blocks(method, test, train):
        near = np.argsort(-np.round(similarity, 12), axis=1, kind="stable")[:, :k]
        voters = codes[near]
        votes = (voters[:, :, None] == voters[:, None, :]).sum(axis=2)
        # argmax takes the first of equals, and voters stand nearest first
        won[block] = np.take_along_axis(voters, votes.argmax(axis=1)[:, None], 1)[:, 0]
    return names[won]


def not_zero(rows: Any) -> np.ndarray:
    """Which rows, dense or sparse, say anything at all: bool (n,)."""
    return np.asarray(abs(rows).sum(axis=1)).ravel() > 0


def _by_blocks(method: Any, asked: Any, rows: Any) -> Iterator[tuple[slice, np.ndarray]]:
    """The similarity of each asked row with all rows, never all at once."""
    for block in blocks(asked.shape[0], rows.shape[0], BLOCK // 4):
        yield block, method.similarity(asked[block], rows)
