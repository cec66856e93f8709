"""UMAP, by umap-learn, and LLE, by `labkit.locally_linear`: both imported only when asked for.

In: rows (n, d). Out: points float32 (n, 2 or 3) and the settings in force. UMAP's first picture in a process compiles
for about 40 CPU seconds, and two at once in one process abort it: a lock lets one in at a time.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from labkit.compiled import alone
from labkit.evaluation.inputs import Vectors
from labkit.progress import Progress, silent
from labkit.projection.linear import principal
from labkit.projection.rows import dense


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
    first = principal(rows, dimensions, seed).points if start is None else start
    progress(0, None, "UMAP (its first picture takes most of a minute)")
    with alone():
        from umap import UMAP

        model = UMAP(
            n_neighbors=count,
            n_components=dimensions,
            init=_started(first, seed),
            random_state=seed,
            n_jobs=1,
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
    from labkit.locally_linear import LocalityPreserving

    count = min(neighbours, rows.shape[0] - 1)
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of copies, which leave fewer neighbours: `used` says so
            model = LocalityPreserving(count, 2, random_state=seed).fit(rows, progress=progress)
        used = int(model.record_.neighbours.shape[1])
        if model.record_.components == 1 or used < count or count == rows.shape[0] - 1:
            break
        count = min(2 * count, rows.shape[0] - 1)
    points = np.zeros((rows.shape[0], 2), np.float32)
    points[:, : model.embedding_.shape[1]] = model.embedding_
    return points, {"neighbours": used, "parts": model.record_.components}


def _started(points: np.ndarray, seed: int) -> np.ndarray:
    """Within a square of 20, as UMAP expects, with a little noise: points on one spot would never part."""
    centred = points - points.mean(axis=0)
    largest = np.abs(centred).max()
    noise = np.random.default_rng(seed).normal(scale=1e-3, size=points.shape)
    return (centred * (10 / largest if largest > 0 else 1.0) + noise).astype(np.float32)
