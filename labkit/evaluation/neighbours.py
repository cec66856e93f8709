"""The k nearest rows by Euclidean distance, exactly, a block of queries at a time.

    queries (m, d), base (n, d)  ->  indices (m, k), distances (m, k), nearest first, equals by index

Never (m, n) in memory. Dense rows are sifted in float32 by one matrix product and the survivors settled in
float64; where the sieve's rounding could have hidden a neighbour, the row is done again in float64. Cosine
neighbours are the Euclidean neighbours of unit rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from labkit.evaluation.inputs import Vectors, vectors, whole

BLOCK = 2**22  # entries of a block of scores: 64 MB in float32
SPARE = 8  # candidates beyond k, so that the k-th is rarely within rounding of the first one left out
FOLD = 16  # columns of scores that share one maximum in the first pass of the search


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of `rows` that keep rows x columns within BLOCK entries."""
    step = max(1, BLOCK // max(columns, 1))
    yield from (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def dots(a: Vectors, b: Vectors) -> np.ndarray:
    """a bᵀ as a dense array, for dense and sparse rows alike."""
    product = a @ b.T
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


def squares(rows: Vectors) -> np.ndarray:
    """|x|² of every row, (n,)."""
    if sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
    return np.einsum("nd,nd->n", rows, rows)


def nearest(queries: ArrayLike, base: ArrayLike, k: int) -> tuple[np.ndarray, np.ndarray]:
    """For every query its k nearest rows of `base`: indices (m, k) and distances (m, k) in float64."""
    base = vectors("base", base)
    queries = vectors("queries", queries, like=base)
    whole("k", k, 1, base.shape[0], "the number of rows of base")
    return nearest_rows(queries, base, k)


def nearest_others(rows: Vectors, k: int) -> np.ndarray:
    """For every row its k nearest other rows, (n, k); itself is left out by index, a copy of it is not."""
    found, _ = nearest_rows(rows, rows, k + 1)
    self_at = found == np.arange(len(found))[:, None]
    # among more than k copies the row itself may be missing: then the last one goes
    self_at[~self_at.any(axis=1), -1] = True
    return found[~self_at].reshape(len(found), k)


def nearest_rows(queries: Vectors, base: Vectors, k: int) -> tuple[np.ndarray, np.ndarray]:
    """`nearest` for rows already checked."""
    if sparse.issparse(queries) or sparse.issparse(base):
        return _search(queries, base, k, np.float64)[:2]
    indices, distances, certain = _search(queries, base, k, np.float32)
    if not certain.all():
        indices[~certain], distances[~certain], _ = _search(queries[~certain], base, k, np.float64)
    return indices, distances


def _search(
    queries: Vectors, base: Vectors, k: int, precision: type[np.floating]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sift by q·x - |x|²/2 in `precision`, settle in float64; indices, distances, and which rows are certain (m,)."""
    (m, d), n = queries.shape, base.shape[0]
    keep = min(k + SPARE, n)
    # around the mean: a common offset would cost the digits that tell neighbours apart
    centre = 0 if sparse.issparse(queries) or sparse.issparse(base) else base.mean(axis=0)
    asked, sieve = _around(centre, queries, precision), _around(centre, base, precision)
    halves = squares(sieve) / 2
    indices, distances, certain = np.empty((m, k), np.int64), np.empty((m, k)), np.ones(m, bool)
    BUF=np.empty((BLOCK//n,n),precision)
    for block in blocks(m, max(n, keep * d)):
        scores = np.matmul(asked[block], sieve.T, out=BUF[:block.stop-block.start])
        scores -= halves
        found = _largest(scores, keep)
        sifted = squares(asked[block])[:, None] - 2 * np.take_along_axis(scores, found, 1)
        exact = _squared_distances(queries[block], base, found, sifted)
        order = np.lexsort((found, exact))[:, :k]
        indices[block] = np.take_along_axis(found, order, 1)
        chosen = np.take_along_axis(exact, order, 1)
        distances[block] = np.sqrt(chosen)
        if keep < n:
            # |rounding of |q|² - 2 q·x + |x|²| <= (d + 4) u (|q| + |x|)², u the unit roundoff
            reach = np.sqrt(squares(asked[block])) + np.sqrt(2 * halves.max())
            unseen = sifted.max(axis=1) - (d + 4) * np.finfo(precision).eps / 2 * reach**2
            certain[block] = chosen[:, -1] <= unseen
    return indices, distances, certain


def _around(centre: np.ndarray | int, rows: Vectors, precision: type[np.floating]) -> Vectors:
    if sparse.issparse(rows):
        return rows
    return np.subtract(rows, centre, out=np.empty(rows.shape, precision), casting="same_kind")


def _largest(scores: np.ndarray, keep: int) -> np.ndarray:
    """Columns of the `keep` largest scores of each row, in any order: (b, n) to (b, keep).

    Columns are folded into groups; the largest scores lie in the groups of largest maximum, so that only those
    are looked at one by one.
    """
    b, n = scores.shape
    width = n // FOLD
    if width < 4 * keep:
        return np.argpartition(scores, n - keep, axis=1)[:, n - keep :]
    peaks = scores[:, : width * FOLD].reshape(b, FOLD, width).max(axis=1)
    groups = np.argpartition(peaks, width - keep, axis=1)[:, width - keep :]
    members = (groups[:, None, :] + width * np.arange(FOLD)[:, None]).reshape(b, -1)
    rest = np.broadcast_to(np.arange(width * FOLD, n), (b, n - width * FOLD))
    members = np.concatenate([members, rest], axis=1)
    inside = np.take_along_axis(scores, members, 1)
    best = np.argpartition(inside, inside.shape[1] - keep, axis=1)[:, -keep:]
    return np.take_along_axis(members, best, 1)


def _squared_distances(queries: Vectors, base: Vectors, found: np.ndarray, sifted: np.ndarray) -> np.ndarray:
    """|q - x|² of the candidates (b, keep) in float64: by difference where rows are dense, else as sifted."""
    if sparse.issparse(queries) or sparse.issparse(base):
        return np.maximum(sifted, 0)
    difference = base[found] - queries[:, None, :]
    return np.einsum("bkd,bkd->bk", difference, difference)
