"""P-coherence: are paraphrases close together, and closer than unrelated sentences?

A collapsed encoder, which maps everything to one direction, has a P-coherence of 1. The score is therefore always
reported with the mean cosine between groups, the difference between the two, and two companion scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist

from labkit.arrays import Vectors, classes
from labkit.evaluation.classes import class_sums
from labkit.evaluation.neighbours import sampled, squares
from labkit.evaluation.retrieval import directed, hit_at
from labkit.progress import Progress, silent

MEMBERS = 1_000  # sentences per group between which distances are computed if a sample is used


@dataclass(frozen=True)
class Coherence:
    """P-coherence (`within`) and the scores needed to interpret it."""

    within: float
    between: float
    lift: float
    retrieval: float
    distance: float
    groups: int
    left_out: int


def p_coherence(
    embeddings: ArrayLike, groups: ArrayLike, *, most: int | None = None, progress: Progress = silent
) -> Coherence:
    """Measure embeddings (n, d), given the group of each row (n,).

    within     mean cosine over the pairs of a group, then over groups of two or more (eq. 4, 5)
    between    mean cosine over all pairs of sentences from different groups, including groups of one sentence
    lift       within - between
    retrieval  share of sentences whose nearest other sentence is in their group; ties are misses
    distance   mean Euclidean distance over the pairs of a group, then over groups, with every dimension divided
               by its standard deviation over the whole set (the paper's table A.8 leaves this open; each group's own
               deviation would give about the same value for any encoder)

    Above `most` sentences, `retrieval` uses a sample of them as queries, and `distance` uses a fixed sample of at most
    MEMBERS sentences per group.

    >>> round(p_coherence([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], ["cat", "cat", "oak", "oak"]).lift, 3)
    0.884
    """
    rows = directed(embeddings)
    codes = classes("groups", groups, count=rows.shape[0])
    sizes = np.bincount(codes)
    if len(sizes) == 1 or sizes.max() == 1:
        raise ValueError(
            f"the sentences form {len(sizes)} groups, the largest with {sizes.max()}, but at least two groups are "
            "needed, one of them with at least two sentences; add paraphrases or groups"
        )
    sums = class_sums(rows, codes, directions=True)
    # |sum of a group|² is the sum over all its ordered pairs, including each sentence with itself (cosine 1)
    inside = squares(sums)
    total = np.asarray(sums.sum(axis=0)).ravel()
    paired = sizes > 1
    within = float(((inside - sizes)[paired] / (sizes * (sizes - 1))[paired]).mean())
    between = float((total @ total - inside.sum()) / (len(codes) ** 2 - (sizes**2).sum()))
    from sklearn.preprocessing import StandardScaler  # takes a second

    spread = StandardScaler(with_mean=False).fit(rows).scale_
    members = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
    looked_at = None if most is None or len(codes) <= most else MEMBERS
    distances = [_mean_pair_distance(rows[sampled(group, looked_at)], spread) for group in members if len(group) > 1]
    return Coherence(
        within=within,
        between=between,
        lift=within - between,
        retrieval=hit_at(rows, codes, (1,), most=most, progress=progress)[1],
        distance=float(np.mean(distances)),
        groups=int(paired.sum()),
        left_out=int((~paired).sum()),
    )


def _mean_pair_distance(group: Vectors, spread: np.ndarray) -> float:
    if not isinstance(group, np.ndarray):
        held = np.unique(group.indices)  # a group contains only a few of 100,000 words
        group, spread = group[:, held].toarray(), spread[held]
    return float(pdist(group / spread).mean())
