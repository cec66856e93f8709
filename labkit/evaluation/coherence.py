"""P-coherence: do paraphrases of one group lie together, and is that more than all sentences lying together?

A collapsed encoder, which maps everything to one direction, has a P-coherence of 1. So it comes only together
with the cosine of sentences from different groups, their difference, and two companions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from labkit.arrays import Vectors, classes, unit, vectors
from labkit.evaluation.classes import class_sums
from labkit.evaluation.neighbours import sampled, squares
from labkit.evaluation.retrieval import hit_at, not_zero
from labkit.progress import Progress, silent

MEMBERS = 1_000  # of a group whose distances are looked at, where only a sample asks


@dataclass(frozen=True)
class Coherence:
    """P-coherence (`within`) and what it must be read beside."""

    within: float
    between: float
    lift: float
    retrieval: float
    distance: float
    groups: int
    left_out: int

    def __str__(self) -> str:
        return (
            f"within {self.within:.4f}, between {self.between:.4f}, lift {self.lift:.4f}, retrieval "
            f"{self.retrieval:.4f}, distance {self.distance:.2f} ({self.groups} groups, {self.left_out} alone)"
        )


def p_coherence(
    embeddings: ArrayLike, groups: ArrayLike, *, most: int | None = None, progress: Progress = silent
) -> Coherence:
    """Embeddings (n, d) and the group of each (n,) to the record; `most` sentences ask for `retrieval`, if given.

    Of more than `most` sentences `distance` is that of at most MEMBERS of each group, always the same.

    within     mean cosine over the pairs of a group, then over groups of two or more (eq. 4, 5)
    between    mean cosine over all pairs of sentences from different groups, those alone in theirs included
    lift       within - between
    retrieval  share of sentences whose nearest other one is of their group; ties are misses
    distance   mean Euclidean distance over the pairs of a group, then over groups, with every dimension divided
               by its standard deviation over the whole set (the paper's table A.8 leaves this open; by each
               group's own it would be about the same for any encoder)
    """
    rows = vectors("embeddings", embeddings, keep_single=True)
    codes = classes("groups", groups, count=rows.shape[0])
    sizes = np.bincount(codes)
    if len(sizes) == 1 or sizes.max() == 1:
        raise ValueError(
            f"the sentences are in {len(sizes)} groups, the largest of {sizes.max()}, expected at least two groups "
            "and one of at least two sentences; add paraphrases or groups"
        )
    if not not_zero(rows).all():
        unit(rows, refuse="embeddings")  # says which
    sums = class_sums(rows, codes, directions=True)
    # |sum of a group|² is the sum over all its ordered pairs, a sentence with itself (cosine 1) included
    inside = squares(sums)
    total = np.asarray(sums.sum(axis=0)).ravel()
    paired = sizes > 1
    within = float(((inside - sizes)[paired] / (sizes * (sizes - 1))[paired]).mean())
    between = float((total @ total - inside.sum()) / (len(codes) ** 2 - (sizes**2).sum()))
    return Coherence(
        within=within,
        between=between,
        lift=within - between,
        retrieval=hit_at(rows, codes, (1,), most=most, progress=progress)[1],
        distance=_mean_distance(rows, codes, sizes, None if most is None or len(codes) <= most else MEMBERS),
        groups=int(paired.sum()),
        left_out=int((~paired).sum()),
    )


def _mean_distance(rows: Vectors, codes: np.ndarray, sizes: np.ndarray, most: int | None) -> float:
    spread = _deviation(rows)
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    several = (sampled(group, most) for group in members if len(group) > 1)
    means = [_mean_pair_distance(rows[group], spread) for group in several]
    return float(np.mean(means))


def _deviation(rows: Vectors) -> np.ndarray:
    """Standard deviation of every dimension over the whole set (d,); a constant one gets 1, its distances are 0."""
    if isinstance(rows, np.ndarray):
        variance = rows.var(axis=0, dtype=np.float64)
    else:
        from sklearn.utils.sparsefuncs import mean_variance_axis  # takes a second, and few rows are sparse

        variance = mean_variance_axis(rows, axis=0)[1]
    return np.sqrt(np.where(variance > 0, variance, 1))


def _mean_pair_distance(group: Vectors, spread: np.ndarray) -> float:
    """The mean over all pairs of a group, a slice of rows at a time, so that a large one needs no square matrix."""
    if not isinstance(group, np.ndarray):
        held = np.unique(group.indices)  # of a hundred thousand words a group has a few
        group, spread = group[:, held].toarray(), spread[held]
    dense = group / spread
    total = sum(cdist(dense[start : start + 512], dense).sum() for start in range(0, len(dense), 512))
    return total / (len(dense) * (len(dense) - 1))
