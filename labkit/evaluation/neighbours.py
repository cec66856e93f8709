"""The k nearest rows by Euclidean distance, exactly, one block of queries at a time.

    queries (m, d), base (n, d)  ->  indices (m, k), distances (m, k), nearest first, ties by index

No (m, n) matrix is held in memory. Dense rows are preselected in float32 with one matrix product, and the candidates
are compared in float64. If rounding in the preselection could have hidden a neighbour, the query is repeated in
float64. Cosine neighbours are the Euclidean neighbours of unit rows. Two things are undetermined: which of more than
k + SPARE copies of one row are returned, and the order of distances that differ by less than about 1e-7 of the radius
of the whole cloud. `movement` compares the neighbours of the same sentences in two spaces to find which ones moved.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from labkit.arrays import Vectors, classes, vectors, whole
from labkit.progress import lasting, note

BLOCK = 2**24  # entries of a block of scores: 64 MB in float32
MOST_ASKING = 20_000  # maximum number of queries; above it, a sample of this size is used
SPARE = 8  # candidates beyond k, so that the k-th is rarely within rounding of the first candidate left out
LONGEST, SAID = 86_400.0, 60.0  # a longer exact search, in seconds, is refused (without `insist`) or announced
MOMENT = 2**28  # this many pairs of rows are compared before anybody would read a message
FOLD = 16  # columns of scores that share one maximum in the first pass of the search


def blocks(rows: int, columns: int, entries: int = BLOCK) -> Iterator[slice]:
    """Yield slices of `rows` that keep rows x columns within `entries`."""
    step = max(1, entries // max(columns, 1))
    yield from (slice(start, min(start + step, rows)) for start in range(0, rows, step))


def sampled(rows: np.ndarray, most: int | None, seed: int = 0) -> np.ndarray:
    """Return the row numbers; above `most`, a fixed sample of them in order. None takes all."""
    if most is None or len(rows) <= whole("most", most, 1, 2**31, "the maximum number of queries"):
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def filled(rows: Vectors) -> int:
    """Return the number of stored entries per row, on average for sparse rows."""
    return rows.shape[1] if isinstance(rows, np.ndarray) else int(rows.nnz) // rows.shape[0] + 1


def dots(a: Vectors, b: Vectors, out: np.ndarray | None = None) -> np.ndarray:
    """Return a bᵀ as a dense array for dense and sparse rows alike; dense products go into `out` if given."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.matmul(a, b.T, out=out)
    product = a @ b.T
    return product if isinstance(product, np.ndarray) else product.toarray()


def squares(rows: Vectors) -> np.ndarray:
    """Return |x|² of every row, (n,)."""
    if isinstance(rows, np.ndarray):
        return np.einsum("nd,nd->n", rows, rows)
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


def nearest(queries: ArrayLike, base: ArrayLike, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the k nearest rows of `base` for every query: indices (m, k) and distances (m, k) in float64.

    >>> rows = [[1, 0], [0.8, 0.6], [0, 1]]
    >>> numbers, distances = nearest(rows, rows, 2)  # each row is its own nearest neighbour
    >>> numbers
    array([[0, 1],
           [1, 0],
           [2, 1]])
    """
    base = vectors("base", base, keep_single=True)
    queries = vectors("queries", queries, like=base, keep_single=True)
    whole("k", k, 1, base.shape[0], "the number of rows of base")
    return nearest_rows(queries, base, k)


def nearest_others(rows: Vectors, k: int, asking: np.ndarray | None = None) -> np.ndarray:
    """Find the k nearest other rows of every row, or of each row in `asking`, (n, k).

    A row's own index is excluded; copies of the row are not.
    """
    every = np.arange(rows.shape[0])
    asking = every if asking is None else asking
    near, _ = nearest_rows(rows if len(asking) == len(every) else rows[asking], rows, k + 1)
    self_at = near == asking[:, None]
    # with more than k copies, the row itself may be missing; then the last copy is dropped
    self_at[~self_at.any(axis=1), -1] = True
    return near[~self_at].reshape(len(near), k)


def nearest_rows(queries: Vectors, base: Vectors, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Run `nearest` on rows that have already been checked."""
    if sparse.issparse(queries) or sparse.issparse(base):
        return _search(sparse.csr_matrix(queries), sparse.csr_matrix(base), k, np.float64)[:2]
    # rows that overflow float32 are uncertain and searched again
    with np.errstate(over="ignore", invalid="ignore"):
        indices, distances, certain = _search(queries, base, k, np.float32)
    if not certain.all():
        indices[~certain], distances[~certain], _ = _search(queries[~certain], base, k, np.float64)
    return indices, distances


def foreseen(
    asking: float, rows: Vectors, among: int | None = None, *, workers: int = 1, insist: bool = False, remedy: str
) -> None:
    """Announce the time of an exact search, estimated from a small block, or refuse a search of more than a day.

    `asking` queries search all `rows`, or `among` rows like these.
    """
    among = among or rows.shape[0]
    if asking * among <= MOMENT:
        return
    few, tile = rows[: 2**9], rows[: 2**14]
    dots(few, tile)  # warm up
    began = time.perf_counter()
    dots(few, tile)
    pace = few.shape[0] * tile.shape[0] / max(time.perf_counter() - began, 1e-9)
    seconds = 1.5 * asking * among / pace / workers  # plus half the time for selecting
    what = f"exact neighbours of {asking:,.0f} rows among {among:,} take about {lasting(seconds)}"
    if seconds > LONGEST and not insist:
        raise ValueError(f"{what}, but the limit is {lasting(LONGEST)}; {remedy}")
    if seconds > SAID:
        note(what, stacklevel=3)


def _search(
    queries: Vectors, base: Vectors, k: int, precision: type[np.floating]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return indices and distances (m, k), and which rows are certain (m,)."""
    near, unseen = _sift(queries, base, min(k + SPARE, base.shape[0]), precision)
    squared = _squared_distances(queries, base, near)
    order = np.lexsort((near, squared))[:, :k]
    squared = np.take_along_axis(squared, order, 1)
    return np.take_along_axis(near, order, 1), np.sqrt(squared), squared[:, -1] <= unseen


def _sift(queries: Vectors, base: Vectors, keep: int, precision: type[np.floating]) -> tuple[np.ndarray, np.ndarray]:
    """Return the `keep` rows with the largest q·x - |x|²/2 in `precision` (m, keep), and a bound for the rest (m,).

    No row outside this selection has a squared distance below the bound.
    """
    (m, d), n = queries.shape, base.shape[0]
    # centred, because a common offset would cost the digits that distinguish neighbours
    centre = 0.0 if sparse.issparse(base) else base.mean(axis=0, dtype=np.float64)
    asked, sieve = _around(centre, queries, precision), _around(centre, base, precision)
    halves = squares(sieve) / 2
    near, border = np.empty((m, keep), np.int64), np.empty(m)
    buffer: np.ndarray | None = None
    for block in blocks(m, n, BLOCK // 4 if sparse.issparse(sieve) else BLOCK):  # a sparse product needs more memory
        buffer = dots(asked[block], sieve, out=None if buffer is None else buffer[: block.stop - block.start])
        buffer -= halves
        near[block] = _largest(buffer, keep)
        border[block] = np.take_along_axis(buffer, near[block], 1).min(axis=1)
    if keep == n:
        return near, np.full(m, np.inf)
    # |rounding of |q|² - 2 q·x + |x|²| <= (d + 4) u (|q| + |x|)², u the unit roundoff
    lengths = squares(asked).astype(np.float64)
    rounding = (d + 4) * np.finfo(precision).eps / 2 * (np.sqrt(lengths) + np.sqrt(2 * halves.max())) ** 2
    return near, lengths - 2 * border - rounding


def _around(centre: np.ndarray | float, rows: Vectors, precision: type[np.floating]) -> Vectors:
    if sparse.issparse(rows):
        return rows
    return np.subtract(rows, centre, out=np.empty(rows.shape, precision), casting="same_kind")


def _largest(scores: np.ndarray, keep: int) -> np.ndarray:
    """Return the columns of the `keep` largest scores of each row, in any order: (b, n) to (b, keep).

    Columns are folded into groups. The largest scores are in the groups with the largest maxima, so only those groups
    are searched one by one.
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


def _squared_distances(queries: Vectors, base: Vectors, near: np.ndarray) -> np.ndarray:
    """Return |q - x|² of the near rows (m, keep) in float64, from differences, so that copies have equal distances."""
    squared = np.empty(near.shape)
    for block in blocks(len(near), near.shape[1] * filled(base), BLOCK // 16):
        rows = near[block]
        if sparse.issparse(base):
            pairs = base[rows.ravel()] - queries[np.repeat(np.arange(block.start, block.stop), rows.shape[1])]
            squared[block] = squares(pairs).reshape(rows.shape)
        else:
            difference = np.subtract(base[rows], queries[block, None, :], dtype=np.float64)
            squared[block] = np.einsum("bkd,bkd->bk", difference, difference)
    return squared


# --- who moved ---------------------------------------------------------------------------------------------------

OUTCOMES = WORSE, BETTER, NEITHER = "worse", "better", "neither"  # for a sentence that moved


@dataclass(frozen=True, eq=False)
class Movement:
    """The k nearest neighbours of n sentences in two spaces, (n, k) each, nearest first.

    change    how much the neighbourhood of each sentence changed, (n,): 1 - |A ∩ B| / |A ∪ B|, from 0 to 1
    """

    before: np.ndarray
    after: np.ndarray
    change: np.ndarray

    @property
    def k(self) -> int:
        """The number of neighbours of each sentence."""
        return self.before.shape[1]

    @property
    def new(self) -> np.ndarray:
        """For each sentence, the number of neighbours in the second space that were not neighbours in the first,
        (n,)."""
        return self.k - in_both(self.before, self.after)

    @property
    def ranked(self) -> np.ndarray:
        """The rows in order of decreasing change of their neighbourhood; ties by row."""
        return np.argsort(-self.change, kind="stable")


@dataclass(frozen=True, eq=False)
class Moves:
    """Which of n sentences moved: those whose nearest neighbour is of a different class than before.

    outcome   (n,): "better" if the new class is the sentence's own, "worse" if the old one was, "neither" if none is;
              "" for a sentence that did not move
    source    (n,): the class of its nearest neighbour before        target    (n,): and after
    own       (n, 2): how many of its k neighbours are of its own class, before and after
    """

    outcome: np.ndarray
    source: np.ndarray
    target: np.ndarray
    own: np.ndarray

    def rows(self, outcome: str) -> np.ndarray:
        """The sentences with this outcome, from the largest loss of neighbours of their own class, or from the largest
        gain if they moved for the better; ties by row.
        """
        gain = self.own[:, 1] - self.own[:, 0]
        order = np.argsort(-gain if outcome == BETTER else gain, kind="stable")
        return order[self.outcome[order] == outcome]


def movement(before: ArrayLike, after: ArrayLike, k: int = 10) -> Movement:
    """Compare the exact k nearest neighbours of each sentence in two spaces (n, d) and (n, e), with rows in the same
    order.

    >>> before, after = [[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], [[0.1, 0.8], [0.9, 0.1], [0, 1], [0.1, 0.9]]
    >>> movement(before, after, k=1).change
    array([1., 0., 0., 1.])
    """
    old, new = vectors("before", before, keep_single=True), vectors("after", after, keep_single=True)
    n = old.shape[0]
    if new.shape[0] != n:
        raise ValueError(f"after has {new.shape[0]} rows, expected {n}, as in before; use the same sentences")
    whole("k", k, 1, n - 1, "the number of other rows")
    near = [nearest_others(rows, k) for rows in (old, new)]
    both = in_both(*near)
    return Movement(near[0], near[1], 1 - both / (2 * k - both))


def in_both(there: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Count, for each row, the neighbours that both lists contain: (n, k) and (n, k) to (n,)."""
    return (there[:, :, None] == here[:, None, :]).any(axis=2).sum(axis=1)


def majority(seen: np.ndarray) -> np.ndarray:
    """Return the most frequent class of each row of classes (n, k), in order of distance; the nearest wins a tie."""
    often = (seen[:, :, None] == seen[:, None, :]).sum(axis=2)
    # argmax takes the first of a tie
    return np.asarray(np.take_along_axis(seen, often.argmax(axis=1)[:, None], 1)[:, 0])


def moves(moved: Movement, labels: Sequence[str]) -> Moves:
    """Find which sentences moved, and whether for the better or for the worse.

    >>> found = moves(Movement(np.array([[1], [0], [1]]), np.array([[2], [2], [1]]), np.ones(3)), ["a", "a", "b"])
    >>> found.outcome.tolist(), found.source.tolist(), found.target.tolist()
    (['worse', 'worse', ''], ['a', 'a', 'a'], ['b', 'b', 'a'])
    """
    codes = classes("labels", labels, count=len(moved.change))
    names = np.array([*dict.fromkeys(map(str, labels))], object)
    near = [codes[rows] for rows in (moved.before, moved.after)]
    source, target = near[0][:, 0], near[1][:, 0]
    outcome = np.select([source == target, source == codes, target == codes], ["", WORSE, BETTER], NEITHER)
    own = np.stack([(each == codes[:, None]).sum(axis=1) for each in near], axis=1)
    return Moves(outcome, names[source], names[target], own)


def moved_together(found: Moves) -> dict[tuple[str, str, str], np.ndarray]:
    """Group the sentences that moved: (outcome, old class, new class) -> rows.

    The groups that moved for the worse come first, then those that moved for the better, each from the largest to the
    smallest.
    """
    groups: dict[tuple[str, str, str], list[int]] = {}
    for outcome in OUTCOMES:
        for row in found.rows(outcome).tolist():
            groups.setdefault((outcome, found.source[row], found.target[row]), []).append(row)
    order = sorted(groups, key=lambda way: (OUTCOMES.index(way[0]), -len(groups[way]), way))
    return {way: np.array(groups[way]) for way in order}
