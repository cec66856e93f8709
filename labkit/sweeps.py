"""The same vectors, transformed in many ways: which neighbours k and dimension p are best on dev, what stands beside.

    raw                                the vectors as they are
    pca, whitening, all-but-the-top    of each size given
    lp                                 locality preserving, every k with every p

In: rows (n, d) of all sentences that are to be compared, no labels, and a judge: a function from transformed rows to a
figure, larger is better. Out: a `Point` for each way. LP knows only the sentences that were embedded together, so what
is chosen on the rows of dev is `transformed` anew on those of test; the comparators are given the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from labkit.evaluation import clustering_agreement, correlation, kmeans, knn_accuracy
from labkit.evaluation.inputs import vectors
from labkit.locally_linear import LocalityPreserving
from labkit.methods.affine import Affine, principal_axes
from labkit.methods.all_but_the_top import all_but_the_top
from labkit.methods.contract import unit
from labkit.methods.pca import pca
from labkit.methods.whitening import whitening
from labkit.progress import Progress, silent

Judge: TypeAlias = Callable[[np.ndarray], float]

RAW, LP = "raw", "lp"
AFFINE: dict[str, Callable[[np.ndarray, int], Affine]] = {
    "pca": pca,
    "whitening": whitening,
    "all-but-the-top": all_but_the_top,
}
TRANSFORMS = (RAW, *AFFINE, LP)


@dataclass(frozen=True)
class Point:
    """A way to transform vectors, and what the judge said of it. `size`: dimensions, kept or (the top's) taken away."""

    transform: str
    value: float
    size: int = 0
    neighbours: int = 0

    def __str__(self) -> str:
        known = [f"k={self.neighbours}"] * (self.neighbours > 0) + [f"p={self.size}"] * (self.size > 0)
        return f"{' '.join([self.transform, *known])}: {self.value:.4f}"


@dataclass(frozen=True)
class Grid:
    """What is tried."""

    neighbours: Sequence[int] = (10, 15, 30, 60)
    dimensions: Sequence[int] = (16, 32, 64, 128, 256)
    removed: Sequence[int] = (1, 2, 4, 8)
    reg: float = 1e-3


def sweep(
    rows: np.ndarray, judge: Judge, grid: Grid | None = None, *, seed: int = 0, progress: Progress = silent
) -> tuple[Point, ...]:
    """A point for each way of the grid; what the rows are too few for is left out."""
    rows, grid = _single(rows), grid or Grid()
    points, directions = [Point(RAW, judge(rows))], len(principal_axes(rows).variances)
    for name in AFFINE:
        for size in grid.removed if name == "all-but-the-top" else grid.dimensions:
            if size < directions:
                progress(len(points), None, f"{name} {size}")
                points.append(Point(name, judge(_affine(name, rows, size)), size))
    for k in grid.neighbours:
        progress(len(points), None, f"locality preserving, {k} neighbours")
        points += _of_neighbours(rows, judge, k, grid, seed)
    return tuple(points)


def _of_neighbours(rows: np.ndarray, judge: Judge, k: int, grid: Grid, seed: int) -> list[Point]:
    """Every p of one k: the embedding of p dimensions is the first p columns of that of more."""
    sizes = [p for p in grid.dimensions if p < len(rows) - 1]
    if not sizes or k >= len(rows):
        return []
    embedded = locality_preserving(rows, k, max(sizes), reg=grid.reg, seed=seed)
    return [Point(LP, judge(embedded[:, :p]), p, k) for p in sizes if p <= embedded.shape[1]]


def best(points: Iterable[Point], transform: str) -> Point:
    """The best point of one transformation; of equals the first."""
    found = [point for point in points if point.transform == transform]
    if not found:
        raise ValueError(f"points has none of transform {transform!r}, expected one of {', '.join(TRANSFORMS)}")
    return max(found, key=lambda point: point.value)


def transformed(rows: np.ndarray, point: Point, *, reg: float = 1e-3, seed: int = 0) -> np.ndarray:
    """Other rows in the same way: all of them together, (n, p) float32."""
    rows = _single(rows)
    if point.transform == RAW:
        return rows
    if point.transform == LP:
        return locality_preserving(rows, point.neighbours, point.size, reg=reg, seed=seed)
    return _affine(point.transform, rows, point.size)


def locality_preserving(rows: np.ndarray, k: int, p: int, *, reg: float, seed: int) -> np.ndarray:
    """All rows embedded together, float32 (n, p); neighbours are sought among rows of length 1."""
    found = LocalityPreserving(n_neighbors=k, n_components=p, reg=reg, random_state=seed)
    return np.asarray(found.fit_transform(unit(rows)), dtype=np.float32)


def _affine(name: str, rows: np.ndarray, size: int) -> np.ndarray:
    return AFFINE[name](rows, size)(rows)


def _single(rows: np.ndarray) -> np.ndarray:
    found = vectors("rows", rows, keep_single=True)
    if not isinstance(found, np.ndarray):
        raise ValueError("rows is sparse, expected a dense matrix; take LSA, which keeps the directions that matter")
    return found.astype(np.float32, copy=False)


# --- judges ----------------------------------------------------------------------------------------------------


def by_grades(a: Sequence[int], b: Sequence[int], gold: Sequence[float]) -> Judge:
    """Spearman's correlation of cosines with grades; `a` and `b` are the rows of each pair's sentences."""
    return lambda rows: correlation(cosines(rows, a, b), gold).spearman


def by_neighbours(base: Sequence[int], queries: Sequence[int], labels: Sequence[str], k: int = 3) -> Judge:
    """Accuracy of the vote of the k nearest rows of `base` on the rows of `queries`; `labels` is of all rows."""
    known = np.asarray(labels, dtype=object)
    return lambda rows: knn_accuracy(rows[base], known[base], rows[queries], known[queries], k)


def by_clusters(labels: Sequence[str], figure: str = "nmi", *, seed: int = 0, restarts: int = 1) -> Judge:
    """Agreement of k-means with the classes, k their number; `figure` is one of `Agreement`'s."""
    k = len(set(labels))
    return lambda rows: getattr(clustering_agreement(labels, kmeans(rows, k, seed=seed, restarts=restarts)), figure)


def cosines(rows: np.ndarray, a: Sequence[int], b: Sequence[int]) -> np.ndarray:
    """The cosine of each pair of rows, (pairs,); a row of zeros is as near to one as to another, 0."""
    lengths = unit(np.asarray(rows, dtype=np.float64))
    return np.einsum("nd,nd->n", lengths[a], lengths[b])
