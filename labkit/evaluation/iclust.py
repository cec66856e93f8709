"""Iclust: clusters from pairwise similarities alone, by information-based clustering (Slonim et al. 2005).

    maximise  <s> - T · I(C; i),   <s> = sum_C P(C) s(C),   s(C) the mean similarity within C, self-pairs included

At T = 0, memberships are hard and the objective is 1/n · sum_C S_C / |C|, where S_C is the sum of similarities within
C. From a k-means++ start, each element in turn is moved to the cluster that makes the objective largest. For T > 0,
memberships are shares, the fixed point of P(C|i) ∝ P(C) exp{[2 s(C; i) - s(C)] / T}, reached by cooling. With cosines
and T = 0, the objective equals that of k-means on unit vectors up to a constant, so any gain of Iclust comes from the
optimiser, not from a different objective.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax, xlogy

from labkit.arrays import seeded, vectors, whole

COOLING = 12  # temperatures on the way down
UPDATES = 100  # maximum of damped updates per temperature; twenty times as many at the last one


def iclust(similarity: ArrayLike, k: int, *, temperature: float = 0.0, seed: int, restarts: int) -> np.ndarray:
    """Cluster a symmetric similarity matrix (n, n). Return labels (n,) below k: the result with the best objective out
    of `restarts` starts.

    At temperature 0, each of the k clusters has a member. Above 0, labels are the largest memberships; heat merges
    clusters, so some of the k may be empty, and at a high temperature only one remains.
    """
    s = _symmetric(similarity)
    whole("k", k, 1, len(s), "the number of elements")
    whole("restarts", restarts, 1, 10_000, "the number of starts of which the best is returned")
    if not (np.isfinite(temperature) and temperature >= 0):
        raise ValueError(f"temperature is {temperature}, expected a finite number >= 0; use 0 for hard clusters")
    random = np.random.default_rng(seeded(seed))
    if temperature == 0:
        starts = [_reassigned(s, far_apart(s, k, random), k, random) for _ in range(restarts)]
        return max(starts, key=lambda labels: mean_similarity(s, np.eye(k)[labels]))
    shares = [memberships(s, k, temperature=temperature, random=random) for _ in range(restarts)]
    best = max(shares, key=lambda p: mean_similarity(s, p) - temperature * information(p))
    return best.argmax(axis=1)


def _symmetric(similarity: ArrayLike) -> np.ndarray:
    s = vectors("similarity", similarity)
    s = s if isinstance(s, np.ndarray) else s.toarray()
    if s.shape[0] != s.shape[1]:
        raise ValueError(f"similarity has shape {s.shape}, expected (n, n), all pairs, such as unit @ unit.T")
    gap = np.abs(s - s.T).max()
    # float32 products are symmetric only up to rounding
    if gap > 1e-5 * max(np.abs(s).max(), 1e-300):
        raise ValueError(
            f"similarity is not symmetric (it differs from its transpose by {gap:.3g}); give (s + s.T) / 2"
        )
    return (s + s.T) / 2


def far_apart(s: np.ndarray, k: int, random: np.random.Generator) -> np.ndarray:
    """Return the labels (n,) of a k-means++ start: k seeds far from one another, each element with its nearest seed.

    Distances are `s_ii + s_jj - 2 s_ij`. Each seed is the best of a few candidates, drawn in proportion to them.
    """
    own = np.diagonal(s)
    gap = np.maximum(own[:, None] + own - 2 * s, 0)
    seeds = [int(random.integers(len(s)))]
    while len(seeds) < k:
        nearest = gap[seeds].min(axis=0)
        nearest[seeds] = 0
        left = nearest if nearest.any() else np.isin(np.arange(len(s)), seeds, invert=True).astype(float)
        few = random.choice(len(s), 2 + int(np.log(k)), p=left / left.sum())
        seeds.append(int(few[np.minimum(nearest, gap[few]).sum(axis=1).argmin()]))
    labels = gap[:, seeds].argmin(axis=1)
    labels[seeds] = np.arange(k)
    return labels


def _reassigned(s: np.ndarray, labels: np.ndarray, k: int, random: np.random.Generator) -> np.ndarray:
    """Move one element at a time until a full round moves none. Each move raises sum_C S_C / |C|, so the loop ends."""
    own = np.diagonal(s)
    to = s @ np.eye(k)[labels]  # (n, k): sum of similarities of i to the members of C
    size = np.bincount(labels, minlength=k).astype(float)
    inside = np.bincount(labels, weights=to[np.arange(len(s)), labels], minlength=k)
    least = 1e-10 * np.abs(s).max()
    moved = True
    while moved:
        moved = False
        for i in random.permutation(len(s)):
            home = labels[i]
            if size[home] == 1:
                continue
            # without i in its cluster: sizes, sums within clusters, and sums from i to each cluster
            rest, within, link = size.copy(), inside.copy(), to[i].copy()
            rest[home] -= 1
            link[home] -= own[i]
            within[home] -= 2 * link[home] + own[i]
            joined = within + 2 * link + own[i]
            gain = joined / (rest + 1) - within / rest
            target = int(gain.argmax())
            if gain[target] <= gain[home] + least:
                continue
            labels[i], moved = target, True
            size, inside = rest, within
            size[target] += 1
            inside[target] = joined[target]
            to[:, home] -= s[i]
            to[:, target] += s[i]
    return labels


def memberships(s: np.ndarray, k: int, *, temperature: float, random: np.random.Generator) -> np.ndarray:
    """Return P(C|i), (n, k), at the fixed point for a temperature above 0, cooled down from a single cluster."""
    p = np.full((len(s), k), 1 / k)
    hottest = max(2 * float(s.std()), temperature)  # above the first split, which no temperature over 2 std(s) allows
    for heat in np.geomspace(hottest, temperature, COOLING):
        # a little noise, because merged clusters could otherwise never split
        p = softmax(np.log(np.maximum(p, 1e-300)) + 0.01 * random.standard_normal(p.shape), axis=1)
        p = _settled(s, p, heat, UPDATES)
    return _settled(s, p, temperature, 20 * UPDATES)


def _settled(s: np.ndarray, p: np.ndarray, temperature: float, steps: int) -> np.ndarray:
    """Apply P(C|i) ∝ P(C) exp{[2 s(C; i) - s(C)] / T} until nothing changes."""
    for _ in range(steps):
        share, to = _cluster_means(s, p)
        within = (p * to).sum(axis=0) / np.maximum(p.sum(axis=0), 1e-300)
        update = softmax(np.log(np.maximum(share, 1e-300)) + (2 * to - within) / temperature, axis=1)
        # half a step, since the full step can oscillate between two states forever
        change = (update - p) / 2
        p = p + change
        if np.abs(change).max() < 1e-9:
            break
    return p


def _cluster_means(s: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return P(C), (k,), and s(C; i) = sum_j P(j|C) s_ij, (n, k)."""
    return p.mean(axis=0), s @ (p / np.maximum(p.sum(axis=0), 1e-300))


def mean_similarity(s: np.ndarray, p: np.ndarray) -> float:
    """Return <s> = sum_C P(C) s(C) of memberships p (n, k)."""
    return float((p * _cluster_means(s, p)[1]).sum() / len(s))


def information(p: np.ndarray) -> float:
    """Return I(C; i) in nats: how much information a membership gives about the element."""
    return float((xlogy(p, p).sum() - len(p) * xlogy(p.mean(axis=0), p.mean(axis=0)).sum()) / len(p))
