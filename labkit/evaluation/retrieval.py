"""Are a sentence's neighbours of its own class? Embeddings and labels in, shares of right answers out.

`hit_at` asks within one set, by cosine: every sentence queries all others. `knn_accuracy` asks from one set to
another, by Euclidean distance: the nearest training sentences vote on a test sentence's class.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from labkit.evaluation.inputs import Vectors, classes, classes_of_both, unit_rows, vectors, whole
from labkit.evaluation.neighbours import BLOCK, blocks, dots, nearest_rows

ROUNDING = 1e-12  # cosines in float64 that differ by less are tied


class HitRates(dict[int, float]):
    """n -> share of queries with one of their class among the top n; how many queries asked and were left out."""

    def __init__(self, rates: dict[int, float], *, queries: int, left_out: int) -> None:
        super().__init__(rates)
        self._counts = (queries, left_out)

    @property
    def queries(self) -> int:
        """Sentences whose class has another member: those the shares are of."""
        return self._counts[0]

    @property
    def left_out(self) -> int:
        """Sentences that are alone in their class, so that nothing could be found."""
        return self._counts[1]

    def __str__(self) -> str:
        rates = ", ".join(f"Hit@{n} {rate:.4f}" for n, rate in self.items())
        return f"{rates} ({self.queries} queries, {self.left_out} left out: alone in their class)"


def hit_at(embeddings: ArrayLike, labels: ArrayLike, ks: Iterable[int] = (1, 3, 10)) -> HitRates:
    """Hit@n by cosine: embeddings (n, d) and labels (n,) to a dict n -> share of queries that hit.

    Ties never flatter: another class's sentence that is as near as the best of the own class ranks before it.
    A set of identical vectors therefore hits nothing. Asking deeper than there are others asks them all.
    """
    rows = vectors("embeddings", embeddings)
    codes = classes("labels", labels, count=rows.shape[0])
    if not isinstance(ks, Iterable):
        raise ValueError(f"ks is {ks!r}, expected several whole numbers; put it in brackets, such as (1, 3, 10)")
    ks = [whole("ks", k, 1, 2**31, "how many neighbours count") for k in ks]
    asking = np.flatnonzero(np.bincount(codes)[codes] > 1)
    if not len(asking):
        raise ValueError(
            f"each of the {codes.max() + 1} sentences is the only one of its class, expected a class with at least "
            "two; label more sentences or evaluate pairs instead"
        )
    ranks = _ranks(unit_rows("embeddings", rows), codes, asking)
    rates = {k: float((ranks <= k).mean()) for k in ks}
    return HitRates(rates, queries=len(asking), left_out=len(codes) - len(asking))


def _ranks(unit: Vectors, codes: np.ndarray, asking: np.ndarray) -> np.ndarray:
    """1 + how many of other classes are at least as near as the nearest of the own, for each asking row."""
    ranks = np.empty(len(asking), np.int64)
    for block in blocks(len(asking), unit.shape[0], BLOCK // 4):
        rows = asking[block]
        similarity = dots(unit[rows], unit)
        own = codes[rows][:, None] == codes
        others = np.where(own, -np.inf, similarity)
        own[np.arange(len(rows)), rows] = False
        best = np.where(own, similarity, -np.inf).max(axis=1, keepdims=True)
        ranks[block] = 1 + (others >= best - ROUNDING).sum(axis=1)
    return ranks


def knn_accuracy(
    train: ArrayLike, train_labels: ArrayLike, test: ArrayLike, test_labels: ArrayLike, k: int = 3
) -> float:
    """Share of test rows whose class wins the vote of their k nearest training rows: the mean of `knn_right`."""
    return float(knn_right(train, train_labels, test, test_labels, k).mean())


def knn_right(
    train: ArrayLike, train_labels: ArrayLike, test: ArrayLike, test_labels: ArrayLike, k: int = 3
) -> np.ndarray:
    """For each test row whether its class wins the vote of its k nearest training rows (Euclidean): bool (m,).

    Among classes with equally many votes the one with the nearest voter wins; of rows equally near, the
    earlier one counts as nearer. train (n, d), test (m, d).
    """
    base = vectors("train", train)
    queries = vectors("test", test, like=base)
    train_codes, test_codes = classes_of_both(
        ("train_labels", "test_labels"), (train_labels, test_labels), (base.shape[0], queries.shape[0])
    )
    whole("k", k, 1, base.shape[0], "the number of training rows")
    voters = train_codes[nearest_rows(queries, base, k)[0]]
    votes = (voters[:, :, None] == voters[:, None, :]).sum(axis=2)
    # argmax takes the first of equals, and voters stand nearest first
    winners = np.take_along_axis(voters, votes.argmax(axis=1)[:, None], 1)[:, 0]
    return winners == test_codes
