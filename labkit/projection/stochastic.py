"""t-SNE: points that are neighbours stay neighbours. Within a cluster distances speak, between clusters they do not.

In: rows (n, d). Out: points (n, 2) and KL(P||Q). To EXACT points by our own exact descent, whose time grows with n²;
above, by openTSNE, whose push is approximate and whose time grows with n.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from labkit.evaluation.inputs import Vectors
from labkit.progress import Progress, silent
from labkit.projection.affinities import affinities
from labkit.projection.descent import Arranged, descend, phases_for
from labkit.projection.linear import principal
from labkit.projection.rows import dense

EXACT = 20_000  # points: `benchmarks.projection` says who is faster where
SMALL = 1e-4  # spread of a start: so near each other that clusters can still pass through one another
EARLY, LATE = 250, 500  # openTSNE's iterations
OFTEN = 50  # of these from one word of progress to the next


def arrange(
    rows: Vectors,
    perplexity: float,
    *,
    seed: int,
    start: np.ndarray | None = None,
    device: str = "cpu",
    progress: Progress = silent,
) -> tuple[np.ndarray, float, dict[str, Any]]:
    """Points, their KL, and the settings in force. `start` (n, 2): go on from this picture."""
    perplexity = fitting(perplexity, rows.shape[0])
    afresh = start is None
    first = from_afar(rows, seed) if start is None else start
    exact = rows.shape[0] <= EXACT
    progress(0, None, "neighbours")
    if exact:
        P = affinities(rows, perplexity)
        found = descend(P, first, phases_for(len(first), near=not afresh), device=device, progress=progress)
    else:
        found = _opentsne(dense(rows, seed), perplexity, first, afresh, seed, progress)
    form = "exact" if exact else "openTSNE"
    return found.points, found.kl, {"perplexity": perplexity, "form": form, "iterations": found.iterations}


def fitting(perplexity: float, count: int) -> float:
    """A point has no more than count - 1 neighbours, and three times the perplexity are looked at."""
    if not perplexity >= 1:
        raise ValueError(f"perplexity is {perplexity}, expected at least 1, the neighbours that count; give 5 to 50")
    return max(1.0, min(float(perplexity), (count - 1) / 3))


def from_afar(rows: Vectors, seed: int) -> np.ndarray:
    """The picture by PCA, made small; a breath of noise parts what PCA lays on one line."""
    points = principal(rows, 2, seed).points.astype(np.float64)
    noise = np.random.default_rng(seed).standard_normal(points.shape)
    spread = points[:, 0].std()
    return SMALL * (points / (spread if spread > 0 else 1.0) + 0.01 * noise)


def _opentsne(
    rows: np.ndarray, perplexity: float, first: np.ndarray, afresh: bool, seed: int, progress: Progress
) -> Arranged:
    from openTSNE import TSNEEmbedding, affinity  # heavy to import, and few pictures are so large

    P = affinity.PerplexityBasedNN(rows, perplexity=perplexity, n_jobs=1, random_state=seed)
    total = (EARLY if afresh else 0) + LATE
    done = 0

    def told(iteration: int, error: float, embedding: Any) -> None:
        progress(min(done + iteration, total), total, "t-SNE")

    model = TSNEEmbedding(first.astype(np.float64), P, n_jobs=1, random_state=seed)
    settings: dict[str, Any] = {"callbacks": told, "callbacks_every_iters": OFTEN, "inplace": True}
    if afresh:
        model.optimize(EARLY, exaggeration=12, momentum=0.8, **settings)
        done = EARLY
    model.optimize(LATE, momentum=0.8, **settings)
    return Arranged(np.asarray(model, dtype=np.float32), float(model.kl_divergence), total)
