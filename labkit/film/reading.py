"""L in words: the words that move each row (`word_rows`), and the parts of a similarity (`explain_pair`).

In: L (d, D), and what is known of the words. Out: records.

`L[l, w]` is the change of y_l per unit of the TF-IDF of word w. That favours rare words, which hardly ever have a
unit of it; so words are ranked by their effect `L[l, w] · rms(x_w)`, and only those that enough sentences have.

A warning: rows are unique up to sign and 1/gap of neighbouring scales, and the gaps are tiny. Refitted on other
anchors, similarities return and rows often do not. So each row comes with its stability, and `varimax` offers another
view that is easier to read and gives exactly the same similarities: a rotation, nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

# --- the rows of L -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Terms:
    """The words of the columns, how many sentences have them (D,), and `rms(x_w)` over all sentences (D,)."""

    names: Sequence[str]
    documents: np.ndarray
    rms: np.ndarray

    @classmethod
    def of(cls, names: Sequence[str], X: sparse.csr_matrix) -> Terms:
        """The words counted over rows X (n, D)."""
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        return cls(names, np.bincount(X.indices, minlength=X.shape[1]), np.sqrt(squares))


@dataclass(frozen=True)
class WordRow:
    """One row of L in words.

    Its share of `‖L diag(rms)‖²`, the words at its two ends with their effects, the number of words it effectively has,
    and its stability (NaN: not measured).
    """

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
        """The row's words with their effects, a line of a table each; those that pull it down are below 0."""
        ends = (*self.positive, *((word, -effect) for word, effect in self.negative))
        return [{"word": word, "effect": effect} for word, effect in ends]

    def __str__(self) -> str:
        ends = [" ".join(word for word, _ in end) or "-" for end in (self.positive, self.negative)]
        stable = "" if np.isnan(self.stability) else f", stability {self.stability:.2f}"
        size = f"{self.share:.1%}, about {self.effective_words:.0f} words{stable}"
        return f"row {self.number} ({size}): + {ends[0]} | - {ends[1]}"


def effects(L: np.ndarray, words: Terms) -> np.ndarray:
    """The effects of words on rows, `L[l, w] · rms(x_w)`: (d, D)."""
    return L * words.rms


def word_rows(
    L: np.ndarray, words: Terms, *, top: int = 8, least: int = 5, stability: np.ndarray | None = None
) -> tuple[WordRow, ...]:
    """Every row of L with its `top` words at each end; words of fewer than `least` sentences are passed over."""
    effect = effects(L, words)
    size = (effect**2).sum(axis=1)
    counts = effective_words(effect)
    effect = np.where(words.documents >= least, effect, 0)
    stable = np.full(len(L), np.nan) if stability is None else stability

    def end(values: np.ndarray) -> tuple[tuple[str, float], ...]:
        order = np.argsort(-values, kind="stable")[:top]
        return tuple((words.names[w], float(values[w])) for w in order if values[w] > 0)

    return tuple(
        WordRow(row, float(size[row] / size.sum()), end(each), end(-each), float(counts[row]), float(stable[row]))
        for row, each in enumerate(effect)
    )


def effective_words(effect: np.ndarray) -> np.ndarray:
    """`(Σ e²)² / Σ e⁴` of each row (d,): k for k equal entries, near 1 where one word is all."""
    squares = effect**2
    return squares.sum(axis=1) ** 2 / np.maximum((squares**2).sum(axis=1), 1e-300)


def varimax(A: np.ndarray) -> np.ndarray:
    """The rotation R (d, d) for which the columns of `A R` (D, d) have few large entries and many small ones.

    It maximises `Σ_l Var_w((A R)_wl²)`: again and again R becomes the rotation nearest to the slope of that.
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
    """L rotated by varimax of `diag(rms) Lᵀ`, the largest row first; `(RᵀL)ᵀ(RᵀL) = LᵀL`."""
    rotated = varimax(effects(L, words).T).T @ L
    order = np.argsort(-(effects(rotated, words) ** 2).sum(axis=1), kind="stable")
    return rotated[order]


def row_stability(L: np.ndarray, others: Sequence[np.ndarray], words: Terms) -> np.ndarray:
    """The mean |cosine| of each row's effects with those of its partner in the other fits, (d,).

    Partners are those of the assignment with the largest sum. 1: the row returns in every fit.
    """

    def directions(L: np.ndarray) -> np.ndarray:
        effect = effects(L, words)
        return effect / np.maximum(np.linalg.norm(effect, axis=1, keepdims=True), 1e-300)

    own = directions(L)
    returned = np.zeros((len(others), len(L)))
    for number, other in enumerate(others):
        cosines = np.abs(own @ directions(other).T)
        rows, partners = linear_sum_assignment(cosines, maximize=True)
        returned[number, rows] = cosines[rows, partners]
    return returned.mean(axis=0)


def refits(
    fit: Callable[[np.ndarray], np.ndarray], triplets: np.ndarray, *, rounds: int = 3, share: float = 0.8, seed: int = 0
) -> Iterator[np.ndarray]:
    """L of `rounds` fits, each to the triplets of a random `share` of the anchors."""
    anchors = np.unique(triplets[:, 0])
    random = np.random.default_rng(seed)
    for _ in range(rounds):
        kept = random.choice(anchors, max(1, int(share * len(anchors))), replace=False)
        yield fit(triplets[np.isin(triplets[:, 0], kept)])


# --- the similarity of two sentences -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Explanation:
    """The parts of a similarity, the largest first. `shared` is the part of the TF-IDF cosine, which belongs to no row.

    `sum(rows) + shared`, `sum(words_a) + sum(words_b)` and `sum(word_pairs)` are each the similarity. `unknown` are
    words that training never met: they contribute nothing.
    """

    text_a: str
    text_b: str
    similarity: float
    shared: float
    rows: tuple[tuple[int, float], ...]
    words_a: tuple[tuple[str, float], ...]
    words_b: tuple[tuple[str, float], ...]
    word_pairs: tuple[tuple[str, str, float], ...]
    unknown: tuple[str, ...] = ()

    def table(self) -> list[dict[str, float | str]]:
        """All parts as lines of one table; the lines of one kind, with what is shared, add up to the similarity."""
        named = [("row of L", f"row {row}", part) for row, part in self.rows]
        named += [("shared", "words in common (TF-IDF)", self.shared)]
        for side, parts in (("a", self.words_a), ("b", self.words_b)):
            named += [(f"word of {side}", word, part) for word, part in parts]
        named += [("pair of words", f"{s} ~ {t}", part) for s, t, part in self.word_pairs]
        return [{"kind": kind, "name": name, "part": part} for kind, name, part in named]

    def __str__(self) -> str:
        return explanation_text(self)


def explain_pair(
    texts: tuple[str, str],
    x_a: sparse.csr_matrix,
    x_b: sparse.csr_matrix,
    L: np.ndarray,
    words: Sequence[str],
    *,
    share: float = 0.0,
    unknown: Sequence[str] = (),
) -> Explanation:
    """Explain the similarity of two sentences by their TF-IDF rows (1, D), L (d, D) and the words of the columns.

        similarity = share · x̂_a·x̂_b + (1 - share) · ŷ_a·ŷ_b          y = L x, a hat for length one

    is bilinear in the words of both sentences: the words u of a and v of b contribute

        C_uv = x_au [ share δ_uv / |x_a||x_b| + (1 - share) (LᵀL)_uv / |y_a||y_b| ] x_bv

    whose sum is the similarity, exactly. A word's part is half of its row or column; a row's part is `ŷ_al ŷ_bl`.
    Unlike the rows of L, C hardly changes from fit to fit: of all that can be said of FILM this is the firmest.

    >>> x = sparse.csr_matrix([[0.6, 0.8]])
    >>> explanation = explain_pair(("red car", "red car"), x, x, np.array([[1.0, 0.0], [0.0, 0.5]]), ("red", "car"))
    >>> [(word, round(part, 3)) for word, part in explanation.words_a]
    [('red', 0.346), ('car', 0.154)]
    """
    (u, a), (v, b) = ((row.indices, row.data) for row in (x_a, x_b))
    A, B = L[:, u] * a, L[:, v] * b  # (d, words): what each word adds to y
    y_a, y_b = A.sum(axis=1), B.sum(axis=1)
    learned = (1 - share) * _inverse(float(np.linalg.norm(y_a) * np.linalg.norm(y_b)))
    plain = share * _inverse(float(np.linalg.norm(a) * np.linalg.norm(b)))
    same = plain * np.outer(a, b) * (u[:, None] == v)
    C = same + learned * (A.T @ B)
    return Explanation(
        text_a=texts[0],
        text_b=texts[1],
        similarity=float(C.sum()),
        shared=float(same.sum()),
        rows=_ranked((row, part) for row, part in enumerate((learned * y_a * y_b).tolist())),
        words_a=_ranked((words[w], part) for w, part in zip(u, (C.sum(axis=1) / 2).tolist(), strict=True)),
        words_b=_ranked((words[w], part) for w, part in zip(v, (C.sum(axis=0) / 2).tolist(), strict=True)),
        word_pairs=_ranked(
            (words[s], words[t], part)
            for s, line in zip(u, C, strict=True)
            for t, part in zip(v, line.tolist(), strict=True)
        ),
        unknown=tuple(unknown),
    )


def explanation_text(explanation: Explanation, *, top: int = 8) -> str:
    """The explanation in lines a person can read; the largest parts of each kind, and what the rest adds up to."""
    lines = [f"a: {explanation.text_a}", f"b: {explanation.text_b}", f"similarity {explanation.similarity:+.3f}"]
    if explanation.unknown:
        lines.append(f"words never met in training, which say nothing: {', '.join(explanation.unknown)}")
    if not explanation.word_pairs:
        lines.append("no word of one of the sentences was met in training: the similarity is 0 by definition")
        return "\n".join(lines)
    lines += ["", "which words of a meet which of b"]
    lines += _table([(f"{s} ~ {t}" if s != t else s, part) for s, t, part in explanation.word_pairs], top)
    for name, parts in (("a", explanation.words_a), ("b", explanation.words_b)):
        lines += ["", f"words of {name}, each with half of what it takes part in", *_table(parts, top)]
    lines += ["", "by row of L", *_table([(f"row {row}", part) for row, part in explanation.rows], top)]
    if explanation.shared:
        lines += _table([("words in common (TF-IDF)", explanation.shared)], 1)
    return "\n".join(lines)


def _table(parts: Sequence[tuple[str, float]], top: int) -> list[str]:
    rest = sum(part for _, part in parts[top:])
    shown = [*parts[:top], *([(f"{len(parts) - top} more", rest)] if len(parts) > top else [])]
    return [f"  {part:+.3f}  {name}" for name, part in shown]


def _ranked(parts: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(sorted(parts, key=lambda part: -abs(part[-1])))


def _inverse(length: float) -> float:
    """1 / length; 0 for a sentence without a known word, whose similarity is 0."""
    return 1 / length if length > 0 else 0.0
