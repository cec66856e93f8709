"""M-FILM: the same minimum from batches of anchors, for features that do not fit into memory together.

In: a `TripletHinge` whose V may be lazy, and d. Out: a `Solution`. It saves memory, not time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from labkit.film.objective import TripletHinge, hinge
from labkit.film.solvers import Solution, nearest
from labkit.film.stiefel import drift
from labkit.progress import Progress, silent


def averaged(
    objective: TripletHinge,
    d: int,
    *,
    batch: int = 2048,
    epochs: int = 3,
    margin: float = 3.0,
    softness: float = 0.5,
    seed: int = 0,
    progress: Progress = silent,
) -> Solution:
    """M-FILM: `Ḡ ← (1 - γ) Ḡ - γ K_batch N/b`, `γ = 2/(t + 1)`, and `G` the nearest of rank d to Ḡ.

    What is averaged is G, which is one matrix; P and L are known only up to a rotation, and their averages mean
    nothing. The first epoch takes every hinge as active, which ends in the closed form and sets the margin; the
    following take the slopes of the G before them. `objective.V` may be anything that gives features for rows:
    features that are made anew for each batch never lie in memory together.
    """
    anchors = np.flatnonzero(objective.margins > 0)
    count = -(-len(anchors) // batch)
    random = np.random.default_rng(seed)

    def shuffled() -> Iterator[TripletHinge]:
        for part in np.array_split(random.permutation(anchors), count):
            yield objective.batch(part)

    mean = -np.sum([part.K() for part in shuffled()], axis=0)
    G = nearest(mean, d)
    sizes = np.concatenate([np.abs(part.z(part.V @ G.B.T))[part.margins > 0] for part in shuffled()])
    objective = objective.rescaled(margin * max(float(np.median(sizes)), 1e-12), softness)
    rows: list[dict[str, float]] = [{"epoch": 0, "objective": _value(shuffled(), G)}]
    for t in range(count + 1, count * (epochs + 1) + 1):
        part = objective.batch(random.choice(anchors, min(batch, len(anchors)), replace=False))
        share = 2 / (t + 1)
        scale = len(anchors) / min(batch, len(anchors))
        mean = (1 - share) * mean - share * scale * part.K(part.slopes(G.B))
        G = nearest(mean, d)
        if (t - count) % count == 0:
            rows.append({"epoch": len(rows), "objective": _value(shuffled(), G), "drift": drift(G.P)})
            progress(len(rows) - 1, epochs, f"batches, objective {rows[-1]['objective']:.6g}")
    return Solution(G.P, G.s, tuple(rows))


def _value(parts: Iterator[TripletHinge], G: Solution) -> float:
    """F of all batches together."""
    losses = (hinge(part.margins + part.z(part.V @ G.B.T), part.softness)[0].sum() for part in parts)
    return float(sum(losses) + G.s @ G.s / 2)
