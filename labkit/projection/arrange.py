"""Turn embeddings into a picture and measure its quality. Methods: PCA, t-SNE, UMAP (umap-learn), and LLE.

In: embeddings (n, d), dense or CSR. Out: `Projection`. Distances are Euclidean between the embeddings as given: pass
unit rows if nearby points should have a large cosine. `pca` and `tsne` are fast enough for a page. UMAP and LLE are
imported only when needed, and the first UMAP picture in a process takes seconds to compile.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from operator import attrgetter
from typing import Any

import numpy as np

from labkit.arrays import Vectors, seeded, unit, whole
from labkit.evaluation.neighbours import nearest_rows, sampled
from labkit.extras import require
from labkit.progress import Progress, collected, silent
from labkit.projection import t_sne
from labkit.projection.picture import (
    LEAST,
    NAMES,
    Projection,
    checked_embeddings,
    dense,
    leading_directions,
    quality,
    varies,
)
from labkit.projection.placement import place

SOLID = ("pca", "umap")  # methods that also work in 3 dimensions
STARTED = ("tsne", "umap")  # methods that can start from a picture, and place other rows in it


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
    landmarks: int | None = None,
    measure: bool = True,
) -> Projection:
    """Return a picture of the embeddings.

    perplexity    t-SNE: how many neighbours count; at most a third of the other points
    neighbours    UMAP, LLE: how many neighbours a point has
    start         t-SNE, UMAP: points (n, p) to start from, such as those of the previous epoch
    landmarks     t-SNE, UMAP: above this number of rows, only a random sample of this size is arranged, and all other
                  rows are placed among them (`labkit.projection.placement`)
    measure       whether to compute `quality`, which takes up to a second

    >>> rows = np.random.default_rng(0).normal(size=(30, 5))
    >>> picture = project(rows, "tsne", perplexity=5)
    >>> picture.points.shape, picture.quality.k
    ((30, 2), 5)
    """
    rows = checked_embeddings(embeddings)
    n = rows.shape[0]
    if method not in NAMES:
        raise ValueError(f"method is {method!r}, expected one of {', '.join(NAMES)}")
    if dimensions not in ((2, 3) if method in SOLID else (2,)):
        raise ValueError(
            f"dimensions is {dimensions!r}, but method {method!r} supports only 2; for 3 use {' or '.join(SOLID)}"
        )
    if (start is not None) + (landmarks is not None) > (method in STARTED):
        raise ValueError(f"method is {method!r}: give start or landmarks, not both, and only to {' or '.join(STARTED)}")
    whole("neighbours", neighbours, 2, 10_000, "the neighbours of a point in UMAP and LLE")
    settings: dict[str, Any] = {"dimensions": dimensions, "seed": seeded(seed)}
    if landmarks is not None and n > whole("landmarks", landmarks, LEAST, 1_000_000, "rows that are arranged first"):
        chosen = sampled(np.arange(n), landmarks, seed)
        how: Any = {"perplexity": perplexity, "neighbours": neighbours, "measure": False}
        picture = project(rows[chosen], method, dimensions, seed, progress, **how)
        progress(0, None, "placing")
        points = place(picture, rows[chosen], rows).points
        points[chosen] = picture.points
        picture = replace(picture, points=points, kl=None, settings={**picture.settings, "landmarks": landmarks})
    elif method == "pca":
        picture = replace(leading_directions(rows, dimensions, seed), settings=settings)
    else:
        if not varies(rows):
            raise ValueError(
                f"embeddings has {n} identical rows, which {NAMES[method]} cannot arrange; choose other sentences, or "
                "check whether the method has collapsed"
            )
        kl, first = None, None if start is None else np.asarray(start, np.float64)
        if first is not None and (first.shape != (n, dimensions) or not np.isfinite(first).all()):
            raise ValueError(f"start has shape {first.shape}, expected {(n, dimensions)} of finite numbers")
        if method == "tsne":
            points, kl, used = t_sne.arrange(rows, perplexity, seed=seed, start=first, progress=progress)
        elif method == "umap":
            points, used = by_umap(rows, neighbours, dimensions, seed, first, progress)
        else:
            points, used = by_lle(rows, neighbours, seed, progress)
        picture = Projection(NAMES[method], points, None, kl, method, settings | used)
    if not measure:
        return picture
    progress(0, None, "quality of the picture")
    return replace(picture, quality=quality(rows, picture.points, seed=seed, kl=picture.kl, shown=picture.shown))


def pca(vectors: Any, *, seed: int = 0) -> Projection:
    """Return the plane of largest variance, quickly; the map is linear, so points that are far apart are far apart in
    the space, too.

    >>> rows = np.random.default_rng(0).normal(size=(30, 5))
    >>> pca(rows).points.shape
    (30, 2)
    """
    return project(vectors, "pca", seed=seed, measure=False)


def tsne(vectors: Any, *, seed: int = 0) -> Projection:
    """Return a t-SNE picture of the normalised vectors, so that nearby points have a large cosine; its quality is not
    measured.

    >>> rows = np.random.default_rng(0).normal(size=(30, 5))
    >>> tsne(rows).points.shape
    (30, 2)
    """
    return project(unit(checked_embeddings(vectors)), "tsne", seed=seed, measure=False)


PROJECTIONS: dict[str, Callable[..., Projection]] = {"PCA": pca, "t-SNE": tsne}


# --- UMAP and LLE ------------------------------------------------------------------------------------------------

COMPILED = (  # compiled by UMAP, in every process
    "utils.fast_knn_indices",
    "umap_.smooth_knn_dist",
    "umap_.compute_membership_strengths",
    "layouts._nb_optimize_layout_euclidean_single_epoch",
)
APPROXIMATE = 4_096  # from this number of points, UMAP's own neighbour search would take half a minute to compile
EXACT = 50_000  # up to this number of points, an exact search takes no longer than that

_ONE_AT_A_TIME = threading.Lock()


@contextmanager
def _alone() -> Iterator[None]:
    """Run the block alone: two threads in code compiled by numba abort the process.

    Torch's number of threads, which umap-learn may change and which affects the last digits of results, is restored.
    """
    torch = import_module("torch") if "torch" in sys.modules else None  # another thread may be importing it
    with _ONE_AT_A_TIME:
        threads = torch.get_num_threads() if torch else 0
        try:
            yield
        finally:
            if torch:
                torch.set_num_threads(threads)


def by_umap(
    rows: Vectors, neighbours: int, dimensions: int, seed: int, start: np.ndarray | None, progress: Progress
) -> tuple[np.ndarray, dict[str, Any]]:
    """Run UMAP from `start`, or from PCA's picture; its spectral start fails on a disconnected neighbour graph.

    Between APPROXIMATE and EXACT points, UMAP is given each row's nearest rows, in the dtypes for which it is compiled.
    """
    filled = dense(rows, seed).astype(np.float32)
    count = min(neighbours, len(filled) - 1)
    first = leading_directions(rows, dimensions, seed).points if start is None else start
    near: tuple[Any, ...] = (None, None, None)
    if APPROXIMATE <= len(filled) <= EXACT:
        indices, distances = nearest_rows(filled, filled, count)
        near = indices.astype(np.int32), distances.astype(np.float32)
    progress(0, None, "UMAP (its first picture in a process takes longer)")
    require("projection", "umap", "pynndescent")
    with _alone():
        import umap

        for name in COMPILED:
            with suppress(AttributeError, RuntimeError):  # not compiled in this release, or no writable folder
                attrgetter(name)(umap).enable_caching()
        model = umap.UMAP(
            n_neighbors=count,
            n_components=dimensions,
            init=_umap_start(first, seed),
            random_state=seed,
            n_jobs=1,
            precomputed_knn=near,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of its own dependencies
            points = model.fit_transform(filled)
    progress(1, 1, "UMAP")
    return np.asarray(points, dtype=np.float32), {"neighbours": count, "min_distance": model.min_dist}


def _umap_start(points: np.ndarray, seed: int) -> np.ndarray:
    """Scale the start to a square of side 20, as UMAP expects; noise separates coinciding points."""
    centred = points - points.mean(axis=0)
    largest = np.abs(centred).max()
    noise = np.random.default_rng(seed).normal(scale=1e-3, size=points.shape)
    return (centred * (10 / largest if largest > 0 else 1.0) + noise).astype(np.float32)


def by_lle(rows: Vectors, neighbours: int, seed: int, progress: Progress) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the two directions after the constant one.

    If the neighbour graph is disconnected, they would only separate its parts, one dot each. The number of neighbours
    is therefore doubled until the graph is connected, and the settings report the number used.
    """
    from labkit.sbert_lp import LocalityPreserving

    most = rows.shape[0] - 1
    count = min(neighbours, most)
    while True:
        with collected():  # notes about copies, which leave fewer neighbours: `used` says so
            model = LocalityPreserving(count, 2, random_state=seed).fit(rows, progress=progress)
        used = int(model.neighbours_.shape[1])
        if model.components_ == 1 or used < count or count == most:
            break
        count = min(2 * count, most)
    points = np.zeros((rows.shape[0], 2), np.float32)
    points[:, : model.embedding_.shape[1]] = model.embedding_
    return points, {"neighbours": used, "parts": model.components_}
