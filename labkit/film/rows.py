"""The rows of L in words. In: L (d, D), and what is known of the words. Out: records of the words that move each row.

`L[l, w]` is the change of y_l per unit of the TF-IDF of word w. That favours rare words, which hardly ever have a
unit of it; so words are ranked by their effect `L[l, w] · rms(x_w)`, and only those that enough sentences have.

A warning: rows are unique up to sign and 1/gap of neighbouring scales, and the gaps are tiny. Refitted on other
anchors, similarities return and rows often do not. So each row comes with its stability, and `varimax` offers another
view that is easier to read and gives exactly the same similarities: a rotation, nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment


@dataclass(frozen=True, eq=False)
class Words:
    """The words of the columns, how many sentences have them (D,), and `rms(x_w)` over all sentences (D,)."""

    names: Sequence[str]
    documents: np.ndarray
    rms: np.ndarray

    @classmethod
    def of(cls, names: Sequence[str], X: sparse.csr_matrix) -> Words:
        """Counted over rows X (n, D)."""
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return cls(names, np.bincount(X.indices, minlength=X.shape[1]), np.sqrt(squares))


@dataclass(frozen=True)
class Row:
    """One row of L: its share of `‖L diag(rms)‖²`, the words at its two ends with their effects, the number of words it
    effectively has, and its stability (NaN: not measured)."""

    number: int
    share: float
    positive: tuple[tuple[str, float], ...]
    negative: tuple[tuple[str, float], ...]
    effective_words: float
    stability: float = float("nan")

    def table(self) -> dict[str, float | str]:
        """The row as a line of a table, its words without their effects."""
        up, down = (" ".join(word for word, _ in end) for end in (self.positive, self.negative))
        numbers = {"share": self.share, "effective_words": self.effective_words, "stability": self.stability}
        return {"row": self.number, **numbers, "up": up, "down": down}

    def words(self) -> list[dict[str, float | str]]:
        """Its words with their effects, a line of a table each; those that pull it down are below 0."""
        ends = (*self.positive, *((word, -effect) for word, effect in self.negative))
        return [{"word": word, "effect": effect} for word, effect in ends]

    def __str__(self) -> str:
        ends = [" ".join(word for word, _ in end) or "-" for end in (self.positive, self.negative)]
        stable = "" if np.isnan(self.stability) else f", stability {self.stability:.2f}"
        size = f"{self.share:.1%}, about {self.effective_words:.0f} words{stable}"
        return f"row {self.number} ({size}): + {ends[0]} | - {ends[1]}"


def effects(L: np.ndarray, words: Words) -> np.ndarray:
    """`L[l, w] · rms(x_w)`, (d, D)."""
    return L * words.rms


def word_rows(
    L: np.ndarray, words: Words, *, top: int = 8, least: int = 5, stability: np.ndarray | None = None
) -> tuple[Row, ...]:
    """Every row with its `top` words at each end; words of fewer than `least` sentences are passed over."""
    effect = effects(L, words)
    size = (effect**2).sum(axis=1)
    counts = effective_words(effect)
    effect = np.where(words.documents >= least, effect, 0)
    stable = np.full(len(L), np.nan) if stability is None else stability

    def end(values: np.ndarray) -> tuple[tuple[str, float], ...]:
        order = np.argsort(-values, kind="stable")[:top]
        return tuple((words.names[w], float(values[w])) for w in order if values[w] > 0)

    return tuple(
        Row(row, float(size[row] / size.sum()), end(each), end(-each), float(counts[row]), float(stable[row]))
        for row, each in enumerate(effect)
    )


def effective_words(effect: np.ndarray) -> np.ndarray:
    """`(Σ e²)² / Σ e⁴` of each row (d,): k for k equal entries, near 1 where one word is all."""
    squares = effect**2
    return squares.sum(axis=1) ** 2 / np.maximum((squares**2).sum(axis=1), 1e-300)


def varimax(A: np.ndarray, *, iterations: int = 200, tolerance: float = 1e-8) -> np.ndarray:
    """The rotation R (d, d) for which the columns of `A R` (D, d) have few large entries and many small ones.

    It maximises `Σ_l Var_w((A R)_wl²)`: again and again R becomes the rotation nearest to the slope of that.
    """
    R = np.eye(A.shape[1])
    before = 0.0
    for _ in range(iterations):
        B = A @ R
        U, sizes, Vt = np.linalg.svd(A.T @ (B**3 - B * (B**2).mean(axis=0)))
        R = U @ Vt
        if sizes.sum() <= before * (1 + tolerance):
            break
        before = sizes.sum()
    return R


def readable(L: np.ndarray, words: Words) -> np.ndarray:
    """L rotated by varimax of `diag(rms) Lᵀ`, the largest row first; `(RᵀL)ᵀ(RᵀL) = LᵀL`."""
    rotated = varimax(effects(L, words).T).T @ L
    order = np.argsort(-(effects(rotated, words) ** 2).sum(axis=1), kind="stable")
    return rotated[order]


def row_stability(L: np.ndarray, others: Sequence[np.ndarray], words: Words) -> np.ndarray:
    """For each row of L the mean |cosine| of its effects with those of its partner in the other fits, (d,).

    Partners are those of the assignment with the largest sum. 1: the row returns in every fit.
    """

    def directions(L: np.ndarray) -> np.ndarray:
        effect = effects(L, words)
        return effect / np.maximum(np.linalg.norm(effect, axis=1, keepdims=True), 1e-300)

    own = directions(L)
    found = np.zeros((len(others), len(L)))
    for number, other in enumerate(others):
        match = np.abs(own @ directions(other).T)
        rows, partners = linear_sum_assignment(-match)
        found[number, rows] = match[rows, partners]
    return found.mean(axis=0)


def refits(
    fit: Callable[[np.ndarray], np.ndarray], triplets: np.ndarray, *, rounds: int = 3, share: float = 0.8, seed: int = 0
) -> Iterator[np.ndarray]:
    """L of `rounds` fits, each to the triplets of a random `share` of the anchors."""
    anchors = np.unique(triplets[:, 0])
    random = np.random.default_rng(seed)
    for _ in range(rounds):
        kept = random.choice(anchors, max(1, int(share * len(anchors))), replace=False)
        yield fit(triplets[np.isin(triplets[:, 0], kept)])
