"""A picture of each epoch of a training, laid so that a point's way can be followed.

In: the same n sentences' vectors at each epoch, (e, n, d). Out: e projections around 0, each turned onto the one before
(`alignment`), to be drawn in the axes of `limits`.

PCA     keeps its unit: classes that draw together, or a space that collapses, are seen to. With `common` one basis,
        of all epochs' vectors together, serves for all: nothing has to be turned, and ways are straight where those
        of the vectors are.
t-SNE   starts from the points of the epoch before, and so does UMAP. Their unit means nothing, nor does LLE's: all
        epochs are drawn with the mean square radius of the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from labkit.progress import Progress, silent
from labkit.projection.alignment import aligned, radius
from labkit.projection.arrange import project
from labkit.projection.linear import principal, variance_shown
from labkit.projection.quality import quality
from labkit.projection.record import Projection
from labkit.projection.rows import checked


def epochs(
    snapshots: Sequence[Any] | np.ndarray,
    method: str = "pca",
    dimensions: int = 2,
    seed: int = 0,
    progress: Progress = silent,
    *,
    common: bool = False,
    perplexity: float = 30.0,
    neighbours: int = 15,
    measure: bool = True,
) -> tuple[Projection, ...]:
    """One projection an epoch; `snapshots` as in `Snapshots.vectors`, the rest as in `project`; `common`: PCA only."""
    spaces = _same_sentences(snapshots)
    if common and method != "pca":
        raise ValueError(f"common is True with method {method!r}, expected 'pca'; only PCA has a basis to share")
    if common:
        return _with_one_basis(spaces, dimensions, seed, measure, progress)
    made: list[Projection] = []
    before: np.ndarray | None = None
    for number, rows in enumerate(spaces):
        progress(number, len(spaces), "epochs")
        start = before if method in ("tsne", "umap") else None
        found = project(
            rows, method, dimensions, seed, perplexity=perplexity, neighbours=neighbours, start=start, measure=measure
        )
        before = found.points  # in the method's own unit
        made.append(aligned(found, made[-1] if made else None, scale=_scale(found, made)))
    progress(len(spaces), len(spaces), "epochs")
    return tuple(made)


def _scale(found: Projection, made: Sequence[Projection]) -> float:
    here = radius(found.points)
    return 1.0 if found.method == "pca" or not made or here == 0 else radius(made[0].points) / here


def _with_one_basis(
    spaces: list[Any], dimensions: int, seed: int, measure: bool, progress: Progress
) -> tuple[Projection, ...]:
    """PCA of all epochs' vectors together. Around the mean of all, so that a drift of the whole is seen, too."""
    together = sparse.vstack(spaces).tocsr() if sparse.issparse(spaces[0]) else np.concatenate(spaces)
    basis = principal(together, dimensions, seed).basis
    settings = {"dimensions": dimensions, "seed": seed, "common": True}
    made = []
    for number, rows in enumerate(spaces):
        progress(number, len(spaces), "epochs")
        points = basis(rows)
        found = Projection("PCA", points, variance_shown(rows, points), None, "pca", settings, basis=basis)
        made.append(replace(found, quality=quality(rows, points, seed=seed, shown=found.shown)) if measure else found)
    progress(len(spaces), len(spaces), "epochs")
    return tuple(made)


def _same_sentences(snapshots: Sequence[Any] | np.ndarray) -> list[Any]:
    if not len(snapshots):
        raise ValueError("snapshots is empty, expected the vectors of at least one epoch; train with a probe")
    spaces = [checked(each) for each in snapshots]
    for number, rows in enumerate(spaces):
        if rows.shape[0] != spaces[0].shape[0]:
            raise ValueError(
                f"snapshots has {rows.shape[0]} rows at place {number}, expected {spaces[0].shape[0]} as at the first; "
                "give the same sentences at each epoch"
            )
    return spaces
