"""UMAP, by umap-learn, and LLE, by `labkit.sbert_lp`: both imported only when asked for.

In: rows (n, d). Out: points float32 (n, 2 or 3) and the settings in force. UMAP's first picture in a process compiles
for seconds, and two at once in one process abort it: a lock lets one in at a time.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from labkit.compiled import alone, cache_compiled
from labkit.evaluation.inputs import Vectors
from labkit.evaluation.neighbours import nearest_rows
from labkit.progress import Progress, collected, silent
from labkit.projection.picture import dense, leading_directions

COMPILED = (  # by UMAP, each time anew
    "utils.fast_knn_indices",
    "umap_.smooth_knn_dist",
    "umap_.compute_membership_strengths",
    "layouts._nb_optimize_layout_euclidean_single_epoch",
)
APPROXIMATE = 4_096  # points from which UMAP would search its neighbours by code that compiles for half a minute ...
EXACT = 50_000  # ... and to which an exact search takes no longer than that


def by_umap(
    rows: Vectors,
    neighbours: int,
    dimensions: int,
    *,
    seed: int,
    start: np.ndarray | None = None,
    progress: Progress = silent,
) -> tuple[np.ndarray, dict[str, Any]]:
    """UMAP from `start`, or from PCA's picture: no spectral start, which fails where the neighbour graph has parts."""
    filled = dense(rows, seed).astype(np.float32)
    count = min(neighbours, len(filled) - 1)
    first = leading_directions(rows, dimensions, seed).points if start is None else start
    progress(0, None, "UMAP (its first picture in a process takes longer)")
    with alone():
        import umap

        cache_compiled(umap, *COMPILED)
        model = umap.UMAP(
            n_neighbors=count,
            n_components=dimensions,
            init=_started(first, seed),
            random_state=seed,
            n_jobs=1,
            precomputed_knn=_neighbours(filled, count),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its own dependencies
            points = model.fit_transform(filled)
    progress(1, 1, "UMAP")
    return np.asarray(points, dtype=np.float32), {"neighbours": count, "min_distance": model.min_dist}


def by_lle(
    rows: Vectors, neighbours: int, *, seed: int, progress: Progress = silent
) -> tuple[np.ndarray, dict[str, Any]]:
    """The two directions after the constant one. Where the neighbour graph falls into parts these would only tell the
    parts apart, a dot each: then the neighbours are doubled until it hangs together, and the settings say how many."""
    from labkit.sbert_lp import LocalityPreserving

    count = min(neighbours, rows.shape[0] - 1)
    while True:
        with collected():  # of copies, which leave fewer neighbours: `used` says so
            model = LocalityPreserving(count, 2, random_state=seed).fit(rows, progress=progress)
        used = int(model.record_.neighbours.shape[1])
        if model.record_.components == 1 or used < count or count == rows.shape[0] - 1:
            break
        count = min(2 * count, rows.shape[0] - 1)
    points = np.zeros((rows.shape[0], 2), np.float32)
    points[:, : model.embedding_.shape[1]] = model.embedding_
    return points, {"neighbours": used, "parts": model.record_.components}


def _neighbours(rows: np.ndarray, count: int) -> tuple[np.ndarray | None, ...]:
    """Each row's `count` nearest, itself among them, and their distances: in the kinds of number that UMAP's own have,
    since it compiles anew for others. (None, None, None): it is to look for itself."""
    if not APPROXIMATE <= len(rows) <= EXACT:
        return None, None, None
    nearest, distances = nearest_rows(rows, rows, count)
    return nearest.astype(np.int32), distances.astype(np.float32)


def _started(points: np.ndarray, seed: int) -> np.ndarray:
    """Within a square of 20, as UMAP expects, with a little noise: points on one spot would never part."""
    centred = points - points.mean(axis=0)
    largest = np.abs(centred).max()
    noise = np.random.default_rng(seed).normal(scale=1e-3, size=points.shape)
    return (centred * (10 / largest if largest > 0 else 1.0) + noise).astype(np.float32)
