"""Are a sentence's neighbours from the same class? In: rows and labels. Out: ranks, votes and shares of correct
answers.

Either every sentence of a set queries all others (`hit_at`, `precision_at_r` by cosine; `own_retrieved`), or its
nearest neighbours in another set vote on its class (`knn_right` by Euclidean distance; `voted`). `own_retrieved` and
`voted` use the method's own similarity, which may be a cosine, a negative distance, or a mixture. Ties never improve a
score, and no (n, n) matrix is held in memory.

MAP@R and R-precision (Musgrave, Belongie and Lim 2020, section 3.2) use the R nearest neighbours of a sentence whose
class has R other sentences. R-precision is the share with the same class; MAP@R also takes their order into account.

    MAP@R = mean over queries of  1/R · sum over i = 1..R of  P(i)      P(i): the precision at i if the i-th has the
                                                                        same class, else 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labkit.arrays import Vectors, classes, same_length, unit, vectors, whole
from labkit.evaluation.neighbours import BLOCK, MOST_ASKING, blocks, dots, majority, nearest_rows, sampled
from labkit.progress import Progress, silent

ROUNDING = 1e-12  # cosines in float64 that differ by less are tied
VOTERS = 3
DEEPEST = MOST_ASKING  # above this many other members of a class, the R nearest are neither kept nor sorted

# --- embeddings, by cosine and distance --------------------------------------------------------------------------


def hit_at(
    embeddings: ArrayLike,
    labels: ArrayLike,
    ks: Iterable[int] = (1, 3, 10),
    *,
    most: int | None = None,
    progress: Progress = silent,
) -> dict[int, float]:
    """Return Hit@k by cosine: for each k, the share of queries with a sentence of their class among the k nearest.

    In: embeddings (n, d) and labels (n,). A sentence alone in its class is not a query. In a tie, a sentence of another
    class ranks before the nearest one of the query's own class, so identical vectors hit nothing. Above `most` queries,
    a sample is used.

    >>> hit_at([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], [0, 0, 1, 1], [1])
    {1: 1.0}
    """
    if not isinstance(ks, Iterable):
        raise ValueError(f"ks is {ks!r}, expected a tuple of whole numbers, such as (1, 3, 10)")
    ks = [whole("ks", k, 1, 2**31, "the number of neighbours that count") for k in ks]
    found = _by_cosine(embeddings, labels, most, progress, deep=False)
    return {k: float((found.ranks <= k).mean()) for k in ks}


def precision_at_r(embeddings: ArrayLike, labels: ArrayLike) -> dict[str, float]:
    """Return `map@r` and `r_precision` by cosine for embeddings (n, d) and labels (n,), as in `hit_at`.

    >>> precision_at_r([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], [0, 0, 1, 1])
    {'map@r': 1.0, 'r_precision': 1.0}
    """
    found = _by_cosine(embeddings, labels, None, silent, deep=True)
    return {"map@r": float(found.average.mean()), "r_precision": float(found.right.mean())}


def _by_cosine(
    embeddings: ArrayLike, labels: ArrayLike, most: int | None, progress: Progress, *, deep: bool
) -> Retrieved:
    rows = directed(embeddings)
    codes = classes("labels", labels, count=rows.shape[0])
    return retrieved(partial(_among, _cosines, rows, rows), codes, _with_company(codes, most), progress, deep=deep)


def _cosines(a: Vectors, b: Vectors) -> np.ndarray:
    return dots(unit(a), unit(b))


def _among(similarity: Any, asked: Any, rows: Any, these: Any, others: Any) -> np.ndarray:
    """Return the similarities of some rows to others, in float64 so that copies of one row are equally near."""
    return np.asarray(similarity(*(side.astype(np.float64, copy=False) for side in (asked[these], rows[others]))))


def _with_company(codes: np.ndarray, most: int | None) -> np.ndarray:
    """Return the rows whose class has another member, or a sample of `most` of them."""
    having = np.flatnonzero(np.bincount(codes)[codes] > 1)
    if not len(having):
        raise ValueError(
            f"each of the {len(codes)} sentences is the only one of its class; label more sentences, or evaluate "
            "pairs instead"
        )
    return sampled(having, most)


@dataclass(frozen=True, eq=False)
class Retrieved:
    """What each row in `asking` finds among all other rows, (m,) each; the last two are 0 unless `deep` is set."""

    asking: np.ndarray
    ranks: np.ndarray  # 1 + the number of rows of other classes at least as near as the nearest of its own class
    average: np.ndarray  # 1/R · the sum of P(i) over its R nearest; MAP@R is the mean over all rows
    right: np.ndarray  # the share of its own class among its R nearest


def retrieved(
    similarity: Callable[[np.ndarray, slice], np.ndarray],
    codes: np.ndarray,
    asking: np.ndarray,
    progress: Progress = silent,
    *,
    deep: bool,
) -> Retrieved:
    """Find the neighbours of each row in `asking` by a `similarity` between row numbers.

    A block of rows searches the other rows one tile at a time. With `deep`, the R nearest of each row are kept from
    tile to tile.
    """
    sizes = np.bincount(codes)
    found = Retrieved(asking, np.ones(len(asking), np.int64), *np.zeros((2, len(asking))))
    for at in blocks(len(asking), min(len(codes), MOST_ASKING), BLOCK // 4):
        others = sizes[codes[asking[at]]] - 1
        found.ranks[at], own = _asked(similarity, codes, asking[at], int(others.max()) if deep else 0)
        if deep:
            found.average[at], found.right[at] = _at_r(own, others)
        progress(at.stop, len(asking), "looking for neighbours")
    return found


def _asked(
    similarity: Callable[[np.ndarray, slice], np.ndarray], codes: np.ndarray, rows: np.ndarray, deepest: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the rank of the nearest row of the same class (b,), and whether each of the `deepest` nearest rows has it,
    too."""
    look = lru_cache(maxsize=1)(lambda start: similarity(rows, slice(start, start + MOST_ASKING)))
    tiles = [(at.start, np.arange(at.start, at.stop)) for at in blocks(len(codes), 1, MOST_ASKING)]
    own = codes[rows][:, None]
    best = np.full((len(rows), 1), -np.inf)
    for start, columns in tiles:
        mine = (own == codes[columns]) & (rows[:, None] != columns)
        best = np.maximum(best, np.where(mine, look(start), -np.inf).max(axis=1, keepdims=True))
    ranks = np.ones(len(rows), np.int64)
    far, of_own = np.empty((len(rows), 0)), np.empty((len(rows), 0), bool)
    for start, columns in tiles:
        same = own == codes[columns]
        ranks += np.count_nonzero((look(start) >= best - ROUNDING) & ~same, axis=1)
        if deepest:
            here = -np.asarray(look(start), np.float64)
            # rows of the same class are moved away by the width of a tie, so that other rows come first
            here += same * (ROUNDING + 4e-16 * np.abs(here))  # the second term is relative, for long distances
            here[rows[:, None] == columns] = np.inf
            far, of_own = _nearest(np.hstack([far, here]), np.hstack([of_own, same]), deepest)
    return ranks, of_own


def _nearest(far: np.ndarray, own: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k smallest values of each row in order, and the entries of `own` at their places: (b, k) each."""
    if 4 * k < far.shape[1]:  # sorting the whole row would take longer
        some = np.argpartition(far, k - 1, axis=1)[:, :k]
        far, own = np.take_along_axis(far, some, 1), np.take_along_axis(own, some, 1)
    order = np.argsort(far, axis=1)[:, :k]
    return np.take_along_axis(far, order, 1), np.take_along_axis(own, order, 1)


def _at_r(own: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return average precision at R and R-precision, (b,) each; `own` marks neighbours of the class, in order."""
    places = np.arange(1, own.shape[1] + 1)
    hits = own & (places <= others[:, None])
    precision = np.where(hits, hits.cumsum(axis=1) / places, 0)  # P(i)
    return precision.sum(axis=1) / others, hits.sum(axis=1) / others


def knn_accuracy(
    train: ArrayLike, train_labels: ArrayLike, test: ArrayLike, test_labels: ArrayLike, k: int = 3
) -> float:
    """Return the share of test rows whose class wins the vote of their k nearest training rows.

    >>> rows, classes = [[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], [0, 0, 1, 1]
    >>> knn_accuracy(rows, classes, [[0.8, 0.2], [0.3, 0.7]], [0, 0])
    0.5
    """
    return float(knn_right(train, train_labels, test, test_labels, k).mean())


def knn_right(
    train: ArrayLike, train_labels: ArrayLike, test: ArrayLike, test_labels: ArrayLike, k: int = 3
) -> np.ndarray:
    """Return for each test row (m, d) whether its class wins the vote of its k nearest training rows (n, d): bool (m,).

    Distances are Euclidean. If classes have equal votes, the one with the nearest voter wins; if rows are equally near,
    the earlier one counts as nearer.

    >>> rows, classes = [[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], [0, 0, 1, 1]
    >>> knn_right(rows, classes, [[0.8, 0.2], [0.3, 0.7]], [0, 0])
    array([ True, False])
    """
    base = vectors("train", train)
    queries = vectors("test", test, like=base)
    codes, asked = classes("train_labels", train_labels, count=base.shape[0]), np.asarray(test_labels)
    same_length("test_labels", asked, queries.shape[0])
    whole("k", k, 1, base.shape[0], "the number of training rows")
    first = np.unique(codes, return_index=True)[1]
    return np.asarray(train_labels)[first[majority(codes[nearest_rows(queries, base, k)[0]])]] == asked


# --- rows of a method, by its own similarity ---------------------------------------------------------------------


def own_retrieved(
    method: Any,
    rows: Any,
    labels: Sequence[Any],
    *,
    most: int | None = MOST_ASKING,
    progress: Progress = silent,
    deep: bool = True,
) -> Retrieved:
    """Return what the rows of a method retrieve by the method's own similarity.

    A row of zeros finds nothing. `deep` also examines the R nearest rows, unless a class has more than DEEPEST other
    members, because that many rows would have to be kept.
    """
    codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)[1:]
    asking, deep = _with_company(codes, most), deep and sizes.max() <= DEEPEST + 1
    found = retrieved(partial(_among, method.similarity, rows, rows), codes, asking, progress, deep=deep)
    known = not_zero(rows[asking])
    ranks = np.where(known, found.ranks, len(codes))
    return Retrieved(asking, ranks, found.average * known, found.right * known)


def voted(method: Any, train: Any, labels: Sequence[Any], test: Any, *, progress: Progress = silent) -> np.ndarray:
    """Return, for each test row, the class that wins the vote of its VOTERS nearest training rows: labels (n,).

    If classes have equal votes, the one with the nearest voter wins; if rows are equally near, the earlier one.
    """
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    won = np.empty(test.shape[0], np.int64)
    for block in blocks(test.shape[0], min(len(codes), MOST_ASKING), BLOCK // 4):
        near, values = [], []
        for tile in blocks(len(codes), 1, MOST_ASKING):
            found = _among(method.similarity, test, train, block, tile)
            columns, largest = _first_largest(np.round(found, 12), VOTERS)
            near.append(columns + tile.start)
            values.append(largest)
        kept, _ = _first_largest(np.hstack(values), VOTERS)
        won[block] = majority(codes[np.take_along_axis(np.hstack(near), kept, 1)])
        progress(block.stop, test.shape[0], "looking for neighbours")
    return names[won]


def _first_largest(values: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns and values of each row's k largest entries, (m, k) each, in order; overwrites `values`."""
    rows = np.arange(len(values))
    columns = np.empty((len(values), min(k, values.shape[1])), np.int64)
    largest = np.empty(columns.shape)
    for place in range(columns.shape[1]):
        columns[:, place] = values.argmax(axis=1)  # the first of a tie
        largest[:, place] = values[rows, columns[:, place]]
        values[rows, columns[:, place]] = -np.inf
    return columns, largest


def not_zero(rows: Any) -> np.ndarray:
    """Return for each row, dense or sparse, whether it contains a number other than zero: bool (n,)."""
    if isinstance(rows, np.ndarray):
        return np.asarray(rows.any(axis=1))
    return np.asarray(abs(rows).sum(axis=1)).ravel() > 0


def directed(embeddings: ArrayLike) -> Vectors:
    """Check embeddings (n, d); every row must have a direction. float32 rows stay float32 to save memory."""
    rows = vectors("embeddings", embeddings, keep_single=True)
    if not not_zero(rows).all():
        unit(rows, refuse="embeddings")  # names the row
    return rows
