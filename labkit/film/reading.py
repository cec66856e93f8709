"""Explain L: the words that move each row (`word_rows`), the classes that it separates (`classes_apart`), the parts of
a similarity (`film_explanation`), and the words that make up a pair's numbers on each row (`rows_of_pair`).

`L[l, w]` is the change of y_l per unit of word w's TF-IDF. This favours rare words, which seldom reach one unit, so
words are ranked by their effect `L[l, w] · rms(x_w)`, and only words in enough sentences count.

Warning: rows are determined only up to their sign, and their error grows with 1 / (gap between neighbouring scales). As
these gaps are tiny, a refit on other anchors gives nearly the same similarities but often different rows. Each row
therefore has a stability, and `varimax` makes the rows easier to read without changing any similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse, stats
from scipy.optimize import linear_sum_assignment

from labkit.arrays import unit
from labkit.explanation import Explanation, Parts

# --- the rows of L -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Terms:
    """The words of the columns, the number of sentences with each (D,), and `rms(x_w)` over all sentences (D,)."""

    names: Sequence[str]
    documents: np.ndarray
    rms: np.ndarray

    @classmethod
    def of(cls, names: Sequence[str], X: sparse.csr_matrix) -> Terms:
        """Count the words over rows X (n, D)."""
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return cls(names, np.bincount(X.indices, minlength=X.shape[1]), np.sqrt(squares))


@dataclass(frozen=True)
class WordRow:
    """One row of L in words.

    Its share of `‖L diag(rms)‖²`, the words at its two ends with their effects, its effective number of words, and its
    stability (NaN: not measured).
    """

    number: int
    share: float
    positive: tuple[tuple[str, float], ...]
    negative: tuple[tuple[str, float], ...]
    effective_words: float
    stability: float = float("nan")

    def __str__(self) -> str:
        ends = [" ".join(word for word, _ in end) or "-" for end in (self.positive, self.negative)]
        stable = "" if np.isnan(self.stability) else f", stability {self.stability:.2f}"
        size = f"{100 * self.share:.1f} %, about {self.effective_words:.0f} words{stable}"
        return f"row {self.number} ({size}): + {ends[0]} | - {ends[1]}"


LEVEL = 0.05  # of the tests of all classes on all rows together
FEWEST = 5  # sentences of a class that can be tested
COMPARABLE = 1 / 3  # share of the largest distance from the other classes that a named class has at least


def classes_apart(Y: np.ndarray, classes: Sequence[str]) -> tuple[tuple[tuple[str, float], ...], ...]:
    """For each column of Y (n, d), the classes that are apart from the other sentences, the farthest first.

    Each comes with its mean minus the mean of all others. A class counts if Welch's t-test finds it significantly
    apart, at a level of 5 % divided by the number of tests, and if it is at least a third as far away as the farthest
    one. Give it sentences that were not used to learn L, because the classes of training sentences are always apart.
    """
    labels, found = np.asarray(classes), list[list[tuple[str, float]]]([] for _ in range(Y.shape[1]))
    tested = [(name, labels == name) for name in dict.fromkeys(classes)]
    tested = [(name, mask) for name, mask in tested if FEWEST <= mask.sum() <= len(labels) - FEWEST]
    for name, mask in tested:
        (one, *own), (rest, *others) = ((S.mean(axis=0), S.std(axis=0, ddof=1), len(S)) for S in (Y[mask], Y[~mask]))
        with np.errstate(all="ignore"):  # a constant row gives NaN, which is not below the level
            chance = stats.ttest_ind_from_stats(one, *own, rest, *others, equal_var=False).pvalue
        apart = one - rest
        for row in np.flatnonzero(chance < LEVEL / (len(tested) * Y.shape[1])):
            found[row].append((name, float(apart[row])))
    ranked = [sorted(each, key=lambda entry: -abs(entry[1])) for each in found]
    return tuple(tuple(one for one in each if abs(one[1]) >= COMPARABLE * abs(each[0][1])) for each in ranked)


def row_ends(
    Y: np.ndarray, texts: Sequence[str], *, count: int = 2
) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """The `count` sentences with the highest and lowest values in each column of Y (n, d), above and below 0."""

    def end(values: np.ndarray) -> tuple[str, ...]:
        return tuple(texts[i] for i in np.argsort(-values, kind="stable")[:count] if values[i] > 0)

    return tuple((end(values), end(-values)) for values in Y.T)


def effects(L: np.ndarray, words: Terms) -> np.ndarray:
    """The effects of words on rows, `L[l, w] · rms(x_w)`: (d, D)."""
    return L * words.rms


def word_rows(
    L: np.ndarray, words: Terms, *, top: int = 8, min_count: int = 5, stability: np.ndarray | None = None
) -> tuple[WordRow, ...]:
    """Every row of L with its `top` words at each end; words in fewer than `min_count` sentences are skipped."""
    effect = effects(L, words)  # (d, D)
    size, counts = (effect**2).sum(axis=1), effective_words(effect)
    effect = np.where(words.documents >= min_count, effect, 0)
    stable = np.full(len(L), np.nan) if stability is None else stability

    def end(values: np.ndarray) -> tuple[tuple[str, float], ...]:
        order = np.argsort(-values, kind="stable")[:top]
        return tuple((words.names[w], float(values[w])) for w in order if values[w] > 0)

    return tuple(
        WordRow(row, float(size[row] / size.sum()), end(each), end(-each), float(counts[row]), float(stable[row]))
        for row, each in enumerate(effect)
    )


def effective_words(effect: np.ndarray) -> np.ndarray:
    """`(Σ e²)² / Σ e⁴` of each row (d,): k for k equal entries, near 1 if one word dominates."""
    squares = effect**2
    return squares.sum(axis=1) ** 2 / np.maximum((squares**2).sum(axis=1), 1e-300)


def varimax(A: np.ndarray) -> np.ndarray:
    """The rotation R (d, d) for which the columns of `A R` (D, d) have few large entries and many small ones.

    It maximises `Σ_l Var_w((A R)_wl²)`: each step sets R to the rotation nearest to its gradient.
    """
    R = np.eye(A.shape[1])
    before = 0.0
    for _ in range(200):
        B = A @ R
        U, sizes, Vt = np.linalg.svd(A.T @ (B**3 - B * (B**2).mean(axis=0)))
        R = U @ Vt
        if sizes.sum() <= before * (1 + 1e-8):
            break
        before = sizes.sum()
    return R


def readable(L: np.ndarray, words: Terms) -> np.ndarray:
    """Rotate L by the varimax of `diag(rms) Lᵀ` and put the largest row first. This keeps LᵀL: `(RᵀL)ᵀ(RᵀL) = LᵀL`."""
    rotated = varimax(effects(L, words).T).T @ L
    order = np.argsort(-(effects(rotated, words) ** 2).sum(axis=1), kind="stable")
    return rotated[order]


def row_stability(L: np.ndarray, others: Sequence[np.ndarray], words: Terms) -> np.ndarray:
    """The mean |cosine| between each row's effects and its partner's effects in the other fits, (d,).

    Partners maximise the total. 1: the row recurs in every fit.
    """
    own = unit(effects(L, words))
    returned = np.zeros((len(others), len(L)))
    for number, other in enumerate(others):
        cosines = np.abs(own @ unit(effects(other, words)).T)
        rows, partners = linear_sum_assignment(cosines, maximize=True)
        returned[number, rows] = cosines[rows, partners]
    return returned.mean(axis=0)


# --- the similarity of two sentences -----------------------------------------------------------------------------


def film_parts(counts: Parts, L: np.ndarray, share: float) -> Parts:
    """Split FILM's vector of a sentence into parts, one per word, from the parts of its TF-IDF (D,) and L (d, D).

    (√share x/|x|, √(1 - share) y/|y|) with y = L x, so that the dot product of two such vectors is their similarity.
    """
    weights, columns, (d, D) = counts.rows.data, counts.rows.indices, L.shape  # one number per row
    learned = weights[:, None] * L.T[columns].astype(np.float64)  # (words, d), the sum is y
    length_x, length_y = (float(np.linalg.norm(each)) or np.inf for each in (weights, learned.sum(axis=0)))
    plain = np.sqrt(share) / length_x * weights
    numbers = np.column_stack([plain, np.sqrt(1 - share) / length_y * learned])
    places = np.column_stack([columns, np.broadcast_to(np.arange(D, D + d), learned.shape)])
    ends = np.arange(0, numbers.size + 1, d + 1)
    rows = sparse.csr_array((numbers.ravel(), places.ravel(), ends), (len(weights), D + d))
    return Parts.of_sum(counts.names, rows, unknown=counts.unknown)


@dataclass(frozen=True)
class RowOfPair:
    """One row of L for a pair: the numbers of a and b, whose product is the row's part of their similarity.

    A number is the sum over the words of its sentence; `words` are those of a and of b, the largest first.
    """

    number: int
    numbers: tuple[float, float]
    words: tuple[tuple[tuple[str, float], ...], tuple[tuple[str, float], ...]]

    @property
    def part(self) -> float:
        """The part of the similarity."""
        return self.numbers[0] * self.numbers[1]

    def turned(self) -> RowOfPair:
        """The row times -1, which leaves its part unchanged."""
        a, b = (tuple((word, -value) for word, value in side) for side in self.words)
        return RowOfPair(self.number, (-self.numbers[0], -self.numbers[1]), (a, b))


def rows_of_pair(counts_a: Parts, counts_b: Parts, L: np.ndarray, share: float) -> tuple[RowOfPair, ...]:
    """All rows of L for a pair, those with the largest parts first.

    The number of a on row l is `√(1 - share) ŷ_al`, to which word u adds `√(1 - share) L_lu x_au / |y_a|`.
    """
    sides = [film_parts(counts, L, share) for counts in (counts_a, counts_b)]
    tables = [parts.rows.tocsc()[:, L.shape[1] :].toarray() for parts in sides]  # (words, d)

    def ranked(side: int, row: int) -> tuple[tuple[str, float], ...]:
        values = zip(sides[side].names, tables[side][:, row].tolist(), strict=True)
        return tuple(sorted(values, key=lambda entry: -abs(entry[1])))

    numbers = zip(*(table.sum(axis=0).tolist() for table in tables), strict=True)
    rows = [RowOfPair(row, pair, (ranked(0, row), ranked(1, row))) for row, pair in enumerate(numbers)]
    return tuple(sorted(rows, key=lambda row: -abs(row.part)))


def film_explanation(
    texts: tuple[str, str], counts_a: Parts, counts_b: Parts, L: np.ndarray, share: float
) -> Explanation:
    """Explain a pair by the parts of its TF-IDF, and give the part of each row of L and of the shared words.

        similarity = share · x̂_a·x̂_b + (1 - share) · ŷ_a·ŷ_b          y = L x; a hat marks unit length

    is bilinear in the words of both sentences: the words u of a and v of b contribute

        C_uv = x_au [ share δ_uv / |x_a||x_b| + (1 - share) (LᵀL)_uv / |y_a||y_b| ] x_bv

    whose sum is exactly the similarity. A word's part is half of its row or column; a row's part is `ŷ_al ŷ_bl`. Unlike
    the rows of L, C hardly changes from fit to fit, which makes it FILM's most reliable explanation.
    """
    a, b = (film_parts(counts, L, share) for counts in (counts_a, counts_b))
    length = float(np.linalg.norm(a.vector) * np.linalg.norm(b.vector)) or np.inf  # 0 for a sentence of unknown words
    both = a.vector * b.vector / length  # (D + d,)
    rows = sorted(enumerate(both[L.shape[1] :].tolist()), key=lambda row: -abs(row[1]))
    return Explanation.of_parts(texts, "exact", a, b, rows=tuple(rows), shared=float(both[: L.shape[1]].sum()))
