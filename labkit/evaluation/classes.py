"""Find classes and clusters of embeddings, compare two labellings, and measure how well classes are separated.

In: rows (n, d), the embeddings themselves or a 2-D or 3-D picture of them, and labels (n,). All distances are
Euclidean: among rows of length 1, the nearest row is the one with the largest cosine. scikit-learn takes a second to
import, so each function imports it when needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from labkit.arrays import Vectors, classes, seeded, unit, vectors, whole
from labkit.evaluation.neighbours import (
    BLOCK,
    MOST_ASKING,
    blocks,
    filled,
    nearest_others,
    nearest_rows,
    sampled,
    squares,
)

# --- clusters ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """Mutual information in nats, its adjusted and normalised forms, the Rand indices, and purity."""

    mi: float
    ami: float
    nmi: float
    ri: float
    ari: float
    purity: float


def clustering_agreement(truth: ArrayLike, found: ArrayLike) -> Agreement:
    """Compare true classes (n,) with found clusters (n,). All scores except purity are symmetric.

    purity = 1/n · sum over found clusters of the size of their largest class. It is 1 when every cluster is pure, and
    also when every sentence is its own cluster, so read it together with the adjusted scores.

    >>> clustering_agreement([0, 0, 1, 1], [0, 0, 0, 1]).purity
    0.75
    """
    from sklearn import metrics

    codes = classes("truth", truth)
    clusters = classes("found", found, count=len(codes))
    return Agreement(
        mi=float(metrics.mutual_info_score(codes, clusters)),
        ami=float(metrics.adjusted_mutual_info_score(codes, clusters)),
        nmi=float(metrics.normalized_mutual_info_score(codes, clusters)),
        ri=float(metrics.rand_score(codes, clusters)),
        ari=float(metrics.adjusted_rand_score(codes, clusters)),
        purity=float(metrics.cluster.contingency_matrix(codes, clusters).max(axis=0).sum() / len(codes)),
    )


def kmeans(embeddings: ArrayLike, k: int, *, seed: int, restarts: int) -> np.ndarray:
    """Return labels 0..k-1 (n,), the best of `restarts` k-means++ runs; embeddings (n, d) are not normalised."""
    from sklearn.cluster import KMeans

    rows = vectors("embeddings", embeddings)
    whole("k", k, 1, rows.shape[0], "the number of rows")
    whole("restarts", restarts, 1, 10_000, "the number of runs of which the best is returned")
    return KMeans(k, n_init=restarts, random_state=seeded(seed)).fit_predict(rows).astype(np.int64)


DIRECTIONS = 15  # principal directions that hdbscan uses; in more dimensions, distances say little about density
AROUND = 5  # neighbours that define the density around a row
CLUSTERED = 10_000  # this many rows take seconds; the time grows with the square of their number
OUTLIER = -1  # the label of rows in no dense region
NO_CLASS = "none"  # the class name of outliers


def hdbscan(embeddings: ArrayLike) -> np.ndarray:
    """Return the label 0, 1, ... of the dense region of each row (n, d), and OUTLIER for rows in no region: (n,).

    scikit-learn's HDBSCAN runs on the first principal directions and keeps the innermost regions, each with at least
    ten rows and at least 1 % of all rows. Above CLUSTERED rows, a fixed sample is clustered, and every other row takes
    the label of its nearest sampled row.
    """
    from sklearn.cluster import HDBSCAN
    from sklearn.decomposition import PCA

    rows = vectors("embeddings", embeddings, keep_single=True)
    asking = sampled(np.arange(rows.shape[0]), CLUSTERED)
    least = max(10, len(asking) // 100)
    if len(asking) <= max(least, AROUND):
        return np.full(rows.shape[0], OUTLIER)
    if min(rows.shape) > DIRECTIONS:
        rows = np.asarray(PCA(DIRECTIONS, svd_solver="arpack", random_state=0).fit_transform(rows))
    rows = rows if isinstance(rows, np.ndarray) else rows.toarray()
    model = HDBSCAN(least, min_samples=AROUND, cluster_selection_method="leaf", copy=True)
    found = np.asarray(model.fit_predict(rows[asking]), np.int64)
    return found if len(asking) == len(rows) else found[nearest_rows(rows, rows[asking], 1)[0][:, 0]]


def seconds_of_hdbscan(count: int) -> float:
    """Estimate the seconds that one core needs to find the dense regions of `count` rows."""
    return 10 * (min(count, CLUSTERED) / CLUSTERED) ** 2


WAYS = {"kmeans": "k-means", "density": "density"}  # ways of finding classes


def found_clusters(embeddings: ArrayLike, way: str, k: int, *, seed: int = 0) -> np.ndarray:
    """Return labels (n,) of the normalised rows: the best of three k-means runs, or dense regions.

    With fewer rows than k, each row is its own cluster.
    """
    if way not in WAYS:
        raise ValueError(f"way is {way!r}, expected one of {', '.join(WAYS)}")
    rows = unit(vectors("embeddings", embeddings, keep_single=True))
    return hdbscan(rows) if way == "density" else kmeans(rows, min(k, rows.shape[0]), seed=seed, restarts=3)


# --- classes learned from fixed rows -----------------------------------------------------------------------------

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # scikit-learn's C: the larger, the weaker the penalty


def tuned_logistic(train: ArrayLike, train_labels: ArrayLike, dev: ArrayLike, dev_labels: ArrayLike) -> Any:
    """Fit scikit-learn's logistic regression to the training rows (n, d). The strength C is the value in STRENGTHS with
    the best accuracy on dev; the smallest wins a tie. Rows are not normalised: pass unit rows if only their direction
    matters. The result is deterministic.
    """
    from sklearn.linear_model import LogisticRegression

    models = [LogisticRegression(C=strength, max_iter=2_000).fit(train, train_labels) for strength in STRENGTHS]
    return max(models, key=lambda model: model.score(dev, dev_labels))  # the first wins a tie


def logistic_right(
    train: ArrayLike,
    train_labels: ArrayLike,
    dev: ArrayLike,
    dev_labels: ArrayLike,
    test: ArrayLike,
    test_labels: ArrayLike,
) -> np.ndarray:
    """Return for each test row (m, d) whether the `tuned_logistic` regression predicts its class."""
    best = tuned_logistic(train, train_labels, dev, dev_labels)
    return np.asarray(best.predict(test) == np.asarray(test_labels))


# --- how far apart, how wide -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InterIntra:
    """The distance between class centres, the width of the classes, and their ratio."""

    inter: float
    intra: float
    ratio: float


def inter_intra(embeddings: ArrayLike, labels: ArrayLike, *, most: int | None = None) -> InterIntra:
    """Measure embeddings (n, d) with labels (n,) as in section 4.4 of the pair-weighting paper.

    intra: mean over sentences of the distance to the centre of their class (0 for a sentence alone in its class).
    inter: mean over classes of the distance to the nearest other class centre; above `most` classes, the mean over a
    sample of them. The ratio is inf if every class is a point. It is 0 if all centres coincide, whatever the width.

    >>> rows, classes = [[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], [0, 0, 1, 1]
    >>> round(inter_intra(rows, classes).ratio, 6)
    18.0
    """
    rows = vectors("embeddings", embeddings, keep_single=True)
    codes = classes("labels", labels, count=rows.shape[0])
    if codes.max() == 0:
        raise ValueError(
            f"all {len(codes)} rows belong to one class, but at least two are needed; add rows of another class"
        )
    centres = _centres(rows, codes)
    asking = sampled(np.arange(centres.shape[0]), most)
    nearest = nearest_others(centres, 1, asking)[:, 0]
    # rounding makes the mean of equal vectors differ from them, which must not count as a distance
    floor = 1e-14 * float(max(rows.max(), -rows.min()))
    intra = _mean_distance(floor, rows, np.arange(len(codes)), centres, codes)
    inter = _mean_distance(floor, centres, asking, centres, nearest)
    ratio = 0.0 if inter == 0 else np.inf if intra == 0 else inter / intra
    return InterIntra(inter=inter, intra=intra, ratio=ratio)


def class_sums(rows: Vectors, codes: np.ndarray, *, directions: bool = False) -> Vectors:
    """Return the sum of each class's rows, normalised first with `directions`: (C, d) float64, dense or sparse."""
    sums: Any = 0
    for block in blocks(len(codes), 1, MOST_ASKING):  # so that the float32 rows are never copied to float64 all at once
        here = rows[block].astype(np.float64, copy=False)
        count = here.shape[0]
        one_hot = np.ones(count), (codes[block], np.arange(count))
        members = sparse.csr_matrix(one_hot, shape=(int(codes.max()) + 1, count))
        sums = sums + members @ (unit(here, refuse="embeddings") if directions else here)
    return sums if isinstance(sums, np.ndarray) else sparse.csr_matrix(sums)


def _centres(rows: Vectors, codes: np.ndarray) -> Vectors:
    sums, sizes = class_sums(rows, codes), np.bincount(codes)
    return sums / sizes[:, None] if isinstance(sums, np.ndarray) else sparse.csr_matrix(sparse.diags(1 / sizes) @ sums)


def _mean_distance(floor: float, a: Vectors, i: np.ndarray, b: Vectors, j: np.ndarray) -> float:
    """Return the mean |a_i - b_j| over n pairs in float64; a distance of at most `floor` times √n counts as 0.

    The rounding error of a mean grows with the square root of the number of rows.
    """
    parts = blocks(len(i), filled(b), BLOCK // 4)
    distances = np.sqrt(np.concatenate([squares(a[i[part]] - b[j[part]]) for part in parts]))
    return float(np.where(distances > floor * np.sqrt(len(distances)), distances, 0).mean())


# --- separation, in a space and in its picture -------------------------------------------------------------------

SAMPLE = 2_000  # sentences for silhouette and Hit@1, which need all their distances
TIES = 8  # number of equally near neighbours that are examined
EQUAL = 1e-9  # distances with a smaller relative difference are tied


@dataclass(frozen=True)
class Separation:
    """The ratio, the silhouette and Hit@1 (NaN if undefined), the number of rows used for the last two, and the Hit@1
    of each class for which it is defined.
    """

    ratio: float
    silhouette: float
    hit: float
    sample: int
    by_class: Mapping[Any, float] = field(default_factory=dict)


def separation(rows: ArrayLike, labels: ArrayLike) -> Separation:
    """Measure how well the classes of rows (n, d) separate. Above SAMPLE rows, silhouette and Hit@1 come from a sample.

    hit: the share of sentences whose nearest neighbour is from the same class. A tie with another class counts as a
    miss.
    """
    every = vectors("rows", rows, keep_single=True)
    codes = classes("labels", labels, count=every.shape[0])
    asking = sampled(np.arange(len(codes)), SAMPLE)
    ratio = inter_intra(every, codes).ratio if codes.max() else float("nan")
    queries, right = _right(every, codes, asking)
    counts = np.bincount(codes[queries], right), np.bincount(codes[queries])
    names = dict(zip(codes.tolist(), np.asarray(labels).tolist(), strict=True))
    by_class = {names[code]: float(counts[0][code] / counts[1][code]) for code in np.flatnonzero(counts[1]).tolist()}
    hit = float(right.mean()) if len(right) else float("nan")
    silhouette = float("nan")
    if 2 <= len(np.unique(codes[asking])) < len(asking):
        from sklearn.metrics import silhouette_score

        silhouette = float(silhouette_score(every[asking], codes[asking]))
    return Separation(ratio, silhouette, hit, len(asking), by_class)


def _right(rows: Vectors, codes: np.ndarray, asking: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the sampled rows whose class has another row, and whether the nearest neighbour of each has its class."""
    asking = asking[np.bincount(codes)[codes[asking]] > 1]
    if not len(asking):
        return asking, np.zeros(0, bool)
    near, distances = nearest_rows(rows[asking], rows, min(TIES + 1, len(codes)))
    distances = np.where(near == asking[:, None], np.inf, distances)
    tied = distances <= distances.min(axis=1, keepdims=True) * (1 + EQUAL)
    return asking, (~tied | (codes[near] == codes[asking][:, None])).all(axis=1)
