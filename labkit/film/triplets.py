"""Triplets (i, j, k), "i is closer to j than to k", from clusters of sentences that mean the same.

The paper leaves open how it makes them ("clustering triplet generating method"). Here: clusters are what labelled
pairs tie together, or classes, or groups; j is of i's cluster; k is what a person told apart from a sentence of that
cluster, then near sentences of other clusters, then any other ones.

In: row numbers. Out: int64 (t, 3), in the order of the anchors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from labkit.evaluation.inputs import whole


@dataclass(frozen=True, eq=False)
class Clusters:
    """The cluster of each sentence (n,), the pairs told apart (p, 2), and those told apart within one cluster (q, 2).

    The last contradict the pairs that tie the cluster; they are not among the first.
    """

    of: np.ndarray
    apart: np.ndarray
    contradictions: np.ndarray

    @classmethod
    def from_pairs(cls, pairs: np.ndarray, same: np.ndarray, count: int) -> Clusters:
        """Components of the graph of the pairs (p, 2) that are the `same` (p,), over `count` sentences."""
        near, far = pairs[same], pairs[~same]
        graph = sparse.coo_array((np.ones(len(near), bool), (near[:, 0], near[:, 1])), shape=(count, count))
        of = connected_components(graph, directed=False)[1].astype(np.int64)
        inside = of[far[:, 0]] == of[far[:, 1]]
        return cls(of, far[~inside], far[inside])

    @classmethod
    def from_classes(cls, classes: np.ndarray) -> Clusters:
        """Each class is a cluster."""
        none = np.zeros((0, 2), np.int64)
        return cls(np.unique(classes, return_inverse=True)[1].ravel().astype(np.int64), none, none)


@dataclass(frozen=True)
class Recipe:
    """How many of each kind an anchor gets, where there are so many; its triplets are all (j, k) of them."""

    positives: int = 2
    apart: int = 2
    near: int = 0
    random: int = 5

    def __post_init__(self) -> None:
        whole("positives", self.positives, 1, 2**31, "how many of its cluster an anchor gets")
        for name in ("apart", "near", "random"):
            whole(name, getattr(self, name), 0, 2**31, "how many such negatives an anchor gets")


def cluster_triplets(
    clusters: Clusters, recipe: Recipe | None = None, *, neighbours: np.ndarray | None = None, seed: int = 0
) -> np.ndarray:
    """Triplets of every sentence that is not alone in its cluster. `neighbours` (n, c): candidates for near negatives,
    nearest first; only with `recipe.near` are they looked at."""
    recipe = recipe or Recipe()
    of = clusters.of
    if of.max(initial=0) == 0:
        raise ValueError(
            f"all {len(of)} sentences mean the same by their labels, so that none is further than another; "
            "give some that do not"
        )
    size = np.bincount(of)
    anchors = np.flatnonzero(size[of] > 1)
    if not len(anchors):
        raise ValueError(
            f"no two of {len(of)} sentences mean the same by their labels, so that none is closer than another; "
            "give at least two that do"
        )
    random = np.random.default_rng(seed)
    mates = _mates(of, anchors, recipe.positives, random)
    others = [_told_apart(clusters, anchors, recipe.apart, random)]
    if recipe.near and neighbours is not None:
        others.append(_near(of, anchors, neighbours, recipe.near))
    others.append(_any(of, anchors, recipe.random, random))
    negatives = np.hstack(others)
    i = np.broadcast_to(anchors[:, None, None], (len(anchors), mates.shape[1], negatives.shape[1]))
    j = np.broadcast_to(mates[:, :, None], i.shape)
    k = np.broadcast_to(negatives[:, None, :], i.shape)
    there = (j >= 0) & (k >= 0)
    triplets = np.stack([i[there], j[there], k[there]], axis=1)
    if not len(triplets):
        raise ValueError(
            "no sentence is left to be the further one of a triplet, expected some; let `random`, the negatives that "
            "are drawn, be at least 1"
        )
    return triplets


# Each gives (anchors, at most so many) row numbers, -1 where there are no more.


def _mates(of: np.ndarray, anchors: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    """Others of the cluster: a turn round the cluster, from a random place on."""
    order = np.argsort(of, kind="stable")
    start = np.searchsorted(of[order], of[anchors])
    others = np.bincount(of)[of[anchors]] - 1
    own = np.empty(len(of), np.int64)
    own[order] = np.arange(len(of))
    turns = 1 + (random.integers(others)[:, None] + np.arange(most)) % others[:, None]
    found = order[start[:, None] + (own[anchors][:, None] - start[:, None] + turns) % (others[:, None] + 1)]
    return np.where(np.arange(most) < others[:, None], found, -1)


def _told_apart(clusters: Clusters, anchors: np.ndarray, most: int, random: np.random.Generator) -> np.ndarray:
    """What was told apart from any sentence of the anchor's cluster."""
    both = np.concatenate([clusters.apart, clusters.apart[:, ::-1]])
    both = np.unique(np.stack([clusters.of[both[:, 0]], both[:, 1]], axis=1), axis=0)  # cluster, sentence
    start = np.searchsorted(both[:, 0], clusters.of[anchors])
    there = np.searchsorted(both[:, 0], clusters.of[anchors], side="right") - start
    if not len(both):
        return np.empty((len(anchors), 0), np.int64)
    turn = (random.integers(np.maximum(there, 1))[:, None] + np.arange(most)) % np.maximum(there, 1)[:, None]
    found = both[np.minimum(start[:, None] + turn, len(both) - 1), 1]
    return np.where(np.arange(most) < there[:, None], found, -1)


def _near(of: np.ndarray, anchors: np.ndarray, neighbours: np.ndarray, most: int) -> np.ndarray:
    """The nearest of other clusters."""
    candidates = neighbours[anchors]
    other = of[candidates] != of[anchors][:, None]
    first = np.argsort(~other, axis=1, kind="stable")[:, :most]
    return np.where(np.take_along_axis(other, first, 1), np.take_along_axis(candidates, first, 1), -1)


def _any(of: np.ndarray, anchors: np.ndarray, count: int, random: np.random.Generator) -> np.ndarray:
    """Sentences of other clusters, all equally likely."""
    found = random.integers(len(of), size=(len(anchors), count))
    while (wrong := of[found] == of[anchors][:, None]).any():
        found[wrong] = random.integers(len(of), size=int(wrong.sum()))
    return found
