"""Embeddings to a picture with its quality, by any of four methods.

In: embeddings (n, d), dense or CSR. Out: `Projection`. Distances are Euclidean between the embeddings as they are
given: give rows of unit length where near is to mean a large cosine. `pca` and `tsne` are the two a page can wait for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from labkit.evaluation.inputs import seeded, whole
from labkit.progress import Progress, silent
from labkit.projection import manifold
from labkit.projection.picture import NAMES, Projection, checked_embeddings, leading_directions, quality, unit, varies

SOLID = ("pca", "umap")  # those that can also fill a space of three dimensions
STARTED = ("tsne", "umap")  # those that go on from a picture


def project(
    embeddings: Any,
    method: str = "pca",
    dimensions: int = 2,
    seed: int = 0,
    progress: Progress = silent,
    *,
    perplexity: float = 30.0,
    neighbours: int = 15,
    start: np.ndarray | None = None,
    measure: bool = True,
) -> Projection:
    """A picture of the embeddings.

    perplexity    t-SNE: how many neighbours count; lowered to a third of the other points, where these are few
    neighbours    UMAP, LLE: how many a point has
    start         t-SNE, UMAP: points (n, p) to go on from, as from the epoch before
    measure       whether `quality` is found out; it takes up to a second
    """
    rows = checked_embeddings(embeddings)
    _possible(method, dimensions)
    whole("neighbours", neighbours, 2, 10_000, "that a point has in UMAP and LLE")
    settings: dict[str, Any] = {"dimensions": dimensions, "seed": seeded(seed)}
    if start is not None:
        start = _start(start, method, (rows.shape[0], dimensions))
    if method == "pca":
        linear = leading_directions(rows, dimensions, seed)
        picture = Projection("PCA", linear.points, linear.shown, None, method, settings, basis=linear.basis)
    else:
        if not varies(rows):
            raise ValueError(
                f"embeddings has {rows.shape[0]} rows that are all the same, expected two that differ for "
                f"{NAMES[method]}; choose other sentences, or look whether the method has collapsed"
            )
        kl = None
        if method == "tsne":
            from labkit.projection.t_sne import arrange  # needs numba, which takes half a second to import

            points, kl, used = arrange(rows, perplexity, seed=seed, start=start, progress=progress)
        elif method == "umap":
            points, used = manifold.by_umap(rows, neighbours, dimensions, seed=seed, start=start, progress=progress)
        else:
            points, used = manifold.by_lle(rows, neighbours, seed=seed, progress=progress)
        picture = Projection(NAMES[method], points, None, kl, method, settings | used)
    if not measure:
        return picture
    progress(0, None, "quality of the picture")
    return replace(picture, quality=quality(rows, picture.points, seed=seed, kl=picture.kl, shown=picture.shown))


def pca(vectors: Any, *, seed: int = 0) -> Projection:
    """The plane along which the vectors spread most, at once: linear, so that far apart means far apart."""
    return project(vectors, "pca", seed=seed, measure=False)


def tsne(vectors: Any, *, seed: int = 0) -> Projection:
    """Neighbours stay neighbours. Of the vectors at unit length, so that near means a large cosine; unmeasured."""
    return project(unit(checked_embeddings(vectors)), "tsne", seed=seed, measure=False)


PROJECTIONS: dict[str, Callable[..., Projection]] = {"PCA": pca, "t-SNE": tsne}


def _possible(method: str, dimensions: int) -> None:
    if method not in NAMES:
        raise ValueError(f"method is {method!r}, expected one of {', '.join(NAMES)}")
    if dimensions not in (2, 3):
        raise ValueError(f"dimensions is {dimensions!r}, expected 2 or 3; an eye sees no more")
    if dimensions == 3 and method not in SOLID:
        raise ValueError(f"dimensions is 3 with method {method!r}, expected 2; in 3 there are {' and '.join(SOLID)}")


def _start(start: Any, method: str, shape: tuple[int, int]) -> np.ndarray:
    if method not in STARTED:
        raise ValueError(
            f"start is given with method {method!r}, expected none; only {' and '.join(STARTED)} go on from a picture"
        )
    points = np.asarray(start, dtype=np.float64)
    if points.shape != shape or not np.isfinite(points).all():
        raise ValueError(f"start has shape {points.shape}, expected {shape} of finite numbers; one point a sentence")
    return points
