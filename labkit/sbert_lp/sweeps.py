"""Compare transforms of the same vectors: locality preservation with the best k and p on dev, and the alternatives.

    raw                                the unchanged vectors
    pca, whitening, all-but-the-top    with each size given
    lp                                 locality preserving, every k with every p

LP applies only to sentences that are embedded together, so a choice made on dev is applied to the test rows again with
`transformed`, as are the alternatives. (Section 4.6.1 of the paper finds k by grid search without naming the split; the
best of twenty, chosen on test, is optimistic.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from labkit.arrays import unit, vectors, whole
from labkit.baselines.base import base_rows
from labkit.baselines.transforms import Affine, all_but_the_top, pca, principal_axes, whitening
from labkit.corpora.records import Corpus, Groups, Pairs, Sentences, Triplets
from labkit.evaluation import clustering_agreement, correlation, hit_at, kmeans, spearman_error, triplet_accuracy
from labkit.evaluation.scores import require_labels, scored_part
from labkit.method import Method
from labkit.progress import Progress, silent
from labkit.sbert_lp.estimator import LocalityPreserving

Judge: TypeAlias = Callable[[np.ndarray], float]  # vectors of all compared sentences -> a score, larger is better

RAW, LP = "raw", "lp"
AFFINE: dict[str, Callable[[np.ndarray, int], Affine]]
AFFINE = {"pca": pca, "whitening": whitening, "all-but-the-top": all_but_the_top}
TRANSFORMS = (RAW, *AFFINE, LP)


@dataclass(frozen=True)
class Point:
    """A transform of vectors with its score. `size`: the dimensions kept, or the top directions removed."""

    transform: str
    value: float
    size: int = 0
    neighbours: int = 0


@dataclass(frozen=True)
class Grid:
    """The sizes to try."""

    neighbours: Sequence[int] = (10, 15, 30, 60)
    dimensions: Sequence[int] = (16, 32, 64, 128, 256)
    removed: Sequence[int] = (1, 2, 4, 8)
    reg: float = 1e-3


def sweep(
    rows: np.ndarray, judge: Judge, grid: Grid | None = None, *, seed: int = 0, progress: Progress = silent
) -> tuple[Point, ...]:
    """One point for each transform and size of the grid, except those that need more rows."""
    rows, grid = vectors("rows", rows, keep_single=True).astype(np.float32, copy=False), grid or Grid()
    points, directions = [Point(RAW, judge(rows))], principal_axes(rows)[1].size
    for name in AFFINE:
        for size in grid.removed if name == "all-but-the-top" else grid.dimensions:
            if size < directions:
                progress(len(points), None, f"{name} {size}")
                points.append(Point(name, judge(AFFINE[name](rows, size)(rows)), size))
    sizes = [p for p in grid.dimensions if p < len(rows) - 1]
    for k in grid.neighbours:
        if sizes and k < len(rows):
            progress(len(points), None, f"locality preserving, {k} neighbours")
            embedded = locality_preserving(rows, k, max(sizes), reg=grid.reg, seed=seed)
            # the embedding with p dimensions is the first p columns of a larger one
            points += [Point(LP, judge(embedded[:, :p]), p, k) for p in sizes if p <= embedded.shape[1]]
    return tuple(points)


def best(points: Iterable[Point], transform: str) -> Point:
    """The best point of one transform; for ties, the first."""
    of_transform = [point for point in points if point.transform == transform]
    if not of_transform:
        raise ValueError(f"points contains no transform {transform!r}; choose one of {', '.join(TRANSFORMS)}")
    return max(of_transform, key=lambda point: point.value)


def ways(points: Iterable[Point]) -> list[str]:
    """The transforms tried, in the order of the table."""
    found = {point.transform for point in points}
    return [name for name in TRANSFORMS if name in found]


def transformed(rows: np.ndarray, point: Point, *, reg: float = 1e-3, seed: int = 0) -> np.ndarray:
    """Apply the point's transform to other rows, all together, (n, p) float32."""
    rows = vectors("rows", rows, keep_single=True).astype(np.float32, copy=False)
    if point.transform == RAW:
        return rows
    if point.transform == LP:
        return locality_preserving(rows, point.neighbours, point.size, reg=reg, seed=seed)
    return AFFINE[point.transform](rows, point.size)(rows)


def locality_preserving(rows: np.ndarray, k: int, p: int, *, reg: float, seed: int) -> np.ndarray:
    """Embed all rows together, float32 (n, p); neighbours are found among normalised rows."""
    model = LocalityPreserving(n_neighbors=k, n_components=p, reg=reg, random_state=seed)
    return np.asarray(model.fit_transform(unit(rows)), dtype=np.float32)


# --- judges ------------------------------------------------------------------------------------------------------


def by_grades(a: Sequence[int], b: Sequence[int], gold: Sequence[float]) -> Judge:
    """Spearman's correlation of cosines with grades; `a` and `b` are the rows of each pair's sentences."""
    return lambda rows: correlation(pair_cosines(rows, a, b), gold).spearman


def by_clusters(labels: Sequence[str], *, seed: int = 0, restarts: int = 1) -> Judge:
    """Normalised mutual information of k-means with the classes, where k is their number."""
    k = len(set(labels))
    return lambda rows: clustering_agreement(labels, kmeans(rows, k, seed=seed, restarts=restarts)).nmi


def pair_cosines(rows: np.ndarray, a: Sequence[int], b: Sequence[int]) -> np.ndarray:
    """The cosine of each pair of rows, (pairs,); 0 if either row is all zeros."""
    lengths = unit(np.asarray(rows, dtype=np.float64))
    return np.einsum("nd,nd->n", lengths[a], lengths[b])


# --- scores by the shape of a corpus -----------------------------------------------------------------------------


class Compared:
    """The `rows` of one split, their distinct `sentences`, and the index of each row's texts there, (n, texts)."""

    def __init__(self, rows: Corpus) -> None:
        self.rows, (self.sentences, self.places) = rows, rows.numbered()

    @property
    def measure(self) -> str:
        """The name of the judge's score."""
        if isinstance(self.rows, Pairs):
            return f"Spearman of cosine and {'grade' if self.rows.graded else 'label'}"
        return "triplet accuracy" if isinstance(self.rows, Triplets) else "Hit@1"

    def judge(self) -> Judge:
        """Spearman's correlation for pairs, triplet accuracy, or Hit@1 within the sentences that have a vector."""
        require_labels(self.rows)
        if isinstance(self.rows, Pairs):
            return by_grades(self.places[:, 0].tolist(), self.places[:, 1].tolist(), self.rows.values)
        if isinstance(self.rows, Triplets):
            anchor, near, far = self.places.T.tolist()
            return lambda vectors: triplet_accuracy(*(pair_cosines(vectors, anchor, other) for other in (near, far)))
        of_text = dict(zip(*self.rows.classified(), strict=True))
        labels = np.array([of_text[text] for text in self.sentences])

        def hits(vectors: np.ndarray) -> float:
            known = np.asarray(vectors).any(axis=1)
            return hit_at(vectors[known], labels[known].tolist(), (1,))[1]

        return hits

    def noise(self, value: float) -> float:
        """The standard error of the judge's score over other rows of the same kind: √(v (1 - v) / n) for a share."""
        n = len(self.rows)
        if isinstance(self.rows, Pairs):
            return spearman_error(value, n)
        return float(np.sqrt(max(value * (1 - value), 0.0) / n))

    def known(self, vectors: np.ndarray) -> tuple[Compared, np.ndarray]:
        """The sample without rows that have a zero vector and hence no neighbours, and the remaining vectors."""
        known = np.asarray(vectors.any(axis=1))
        if known.all():
            return self, vectors
        kept = np.flatnonzero(known[self.places].all(axis=1))
        if not len(kept):
            raise ValueError("all vectors are zero, because the base knows none of the words; use another base")
        left = Compared(self.rows.take(kept.tolist()))
        number = {text: row for row, text in enumerate(self.sentences)}
        return left, vectors[[number[text] for text in left.sentences]]


def compared(corpus: Corpus, *, split: str = "test", most: int = 1200) -> Compared:
    """The sentences of a split that are embedded together, with their labels; for `Sentences`, of all splits.

    A large split is thinned to at most `most` sentences, evenly spaced over its rows, because all of them are embedded
    together. Groups stay whole.

    >>> from labkit.corpora import load
    >>> sample = compared(load("relatedness"), split="dev", most=100)
    >>> len(sample.sentences), sample.measure
    (100, 'Spearman of cosine and grade')
    """
    whole("most", most, 4, 20_000, "sentences embedded together")
    part = corpus if isinstance(corpus, Sentences) else scored_part(corpus.part(split))
    if isinstance(part, Groups):  # the first groups that fit, at least one
        number = {group: place for place, group in enumerate(dict.fromkeys(part.groups))}
        of_row = np.array([number[group] for group in part.groups])
        ends = np.bincount(of_row).cumsum()
        count = ends[max(0, int((ends <= most).sum()) - 1)]
        return Compared(part.take(np.argsort(of_row, kind="stable")[:count].tolist()))
    fit = min(len(part), max(1, most // len(part.TEXTS)))
    return Compared(part.take((np.arange(fit) * len(part) // fit).tolist()))


# --- does it help? -----------------------------------------------------------------------------------------------


SMALL = Grid(neighbours=(5, 10, 20, 40), dimensions=(8, 16, 32, 64, 128))


@dataclass(frozen=True)
class Tried:
    """Every transform on dev, and the best point of each transform on test."""

    measure: str
    points: tuple[Point, ...]
    chosen: tuple[Point, ...]
    test: tuple[float, ...]
    noise: float  # standard error of the raw vectors' score on test

    @property
    def verdict(self) -> str:
        """Whether locality preservation helped, in a sentence."""
        figure = {point.transform: value for point, value in zip(self.chosen, self.test, strict=True)}
        if LP not in figure:
            return "There are too few sentences for any of the requested neighbourhoods."
        gap = figure[LP] - figure[RAW]
        way = "makes no difference beyond chance" if abs(gap) <= self.noise else "helps" if gap > 0 else "hurts"
        return (
            f"On test, locality preserving {way} here: {figure[LP]:.3f} against {figure[RAW]:.3f} for the "
            f"unchanged vectors ({gap:+.3f}; differences within ± {self.noise:.3f} may be chance)."
        )


def tried(
    base: Method, corpus: Corpus, grid: Grid = SMALL, *, most: int = 800, seed: int = 0, progress: Progress = silent
) -> Tried:
    """Score every transform of the grid on dev, and the best of each on test, on at most `most` sentences each."""
    (dev, rows), (test, others) = (
        sample.known(unit(base_rows(base, sample.sentences, 256, silent)))
        for sample in (compared(corpus, split=split, most=most) for split in ("dev", "test"))
    )
    points = sweep(rows, dev.judge(), grid, seed=seed, progress=progress)
    names, judge = ways(points), test.judge()
    chosen = tuple(best(points, name) for name in names)
    progress(len(points), len(points), "scoring the chosen transforms on test")
    values = tuple(judge(transformed(others, point, reg=grid.reg, seed=seed)) for point in chosen)
    return Tried(dev.measure, points, chosen, values, test.noise(values[names.index(RAW)]))
