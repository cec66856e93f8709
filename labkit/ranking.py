"""Neighbours by a method's own similarity, whatever it is: cosine, minus a distance, a mixture.

In: a method and rows as from its `encode`. Out: ranks, votes. For embeddings by themselves, where only the cosine
counts, there is `labkit.evaluation.hit_at`; on such a method both say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labkit.evaluation.neighbours import BLOCK, MOST, blocks, sampled
from labkit.evaluation.retrieval import Columns, ranks_of_own, tiled
from labkit.progress import Progress, silent

VOTERS = 3


def own_ranks(
    method: Any, rows: Any, labels: Sequence[Any], *, most: int | None = MOST, progress: Progress = silent
) -> tuple[np.ndarray, np.ndarray]:
    """Which rows ask, and for each of them the rank of the nearest of its own class among all other rows.

    1 + how many of other classes are at least as near, so that a tie never flatters. A row of zeros, which is near
    to nothing, gets the last rank. Rows whose class has another member ask, of more than `most` a sample.
    """
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    asking = sampled(np.flatnonzero(np.bincount(codes)[codes] > 1), most)
    if not len(asking):
        raise ValueError(
            f"each of {len(codes)} sentences has a class of its own, expected a class with at least two; "
            "give more sentences a class"
        )
    ranks = ranks_of_own(_exact(method, rows, rows), codes, asking, progress)
    return asking, np.where(not_zero(rows[asking]), ranks, len(codes))


def voted(
    method: Any, train: Any, labels: Sequence[Any], test: Any, *, k: int = VOTERS, progress: Progress = silent
) -> np.ndarray:
    """The class that wins the vote of the k nearest training rows, for each test row: (n,) of labels.

    Among classes with equally many votes the one with the nearest voter wins; of rows equally near, the earlier.
    """
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    won = np.empty(test.shape[0], np.int64)
    similarity, tiles = _exact(method, test, train), tiled(train.shape[0])
    for block in blocks(test.shape[0], min(train.shape[0], MOST), BLOCK // 4):
        near = np.empty((block.stop - block.start, 0), np.int64)
        values = np.empty(near.shape)
        for tile in tiles:
            columns, found = _largest(np.round(similarity(block, tile), 12), k)
            near = np.concatenate([near, np.arange(len(codes))[tile][columns]], axis=1)
            kept, values = _largest(np.concatenate([values, found], axis=1), k)
            near = np.take_along_axis(near, kept, 1)
        voters = codes[near]
        votes = (voters[:, :, None] == voters[:, None, :]).sum(axis=2)
        # argmax takes the first of equals, and voters stand nearest first
        won[block] = np.take_along_axis(voters, votes.argmax(axis=1)[:, None], 1)[:, 0]
        progress(block.stop, test.shape[0], "looking for neighbours")
    return names[won]


def _largest(values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns of the k largest of each row, the largest first, of equals the earlier, and what stood there: (m, k)
    each. The values are used up."""
    rows = np.arange(len(values))
    columns = np.empty((len(values), min(k, values.shape[1])), np.int64)
    largest = np.empty(columns.shape)
    for place in range(columns.shape[1]):
        columns[:, place] = values.argmax(axis=1)  # the first of equals
        largest[:, place] = values[rows, columns[:, place]]
        values[rows, columns[:, place]] = -np.inf
    return columns, largest


def not_zero(rows: Any) -> np.ndarray:
    """Which rows, dense or sparse, say anything at all: bool (n,)."""
    if isinstance(rows, np.ndarray):
        return np.asarray(rows.any(axis=1))
    return np.asarray(abs(rows).sum(axis=1)).ravel() > 0


def _exact(method: Any, asked: Any, rows: Any) -> Callable[[Columns, Columns], np.ndarray]:
    """The similarity of some of the asked rows with some of all rows, by their numbers, in float64, so that copies of
    one row are equally near. Many rows become float64 only where they are looked at."""
    whole = rows.astype(np.float64, copy=False) if rows.shape[0] <= MOST else None

    def similarity(these: Columns, others: Columns) -> np.ndarray:
        gallery = rows[others].astype(np.float64, copy=False) if whole is None else whole
        return np.asarray(method.similarity(asked[these].astype(np.float64, copy=False), gallery))

    return similarity
