"""Why are two sentences similar? Exact parts that add up to the similarity: by row, by word, by pair of words.

    similarity = share · x̂_a·x̂_b + (1 - share) · ŷ_a·ŷ_b          y = L x, a hat for length one

is bilinear in the words of both sentences: the words u of a and v of b contribute

    C_uv = x_au [ share δ_uv / |x_a||x_b| + (1 - share) (LᵀL)_uv / |y_a||y_b| ] x_bv

whose sum is the similarity, exactly. A word's part is half of its row or column; a row's part is `ŷ_al ŷ_bl`. Unlike
the rows themselves, C hardly changes from one fit to the next: of all that can be said of FILM this is the firmest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse


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
        return described(self)


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
    """From the two sentences' TF-IDF rows (1, D), L (d, D), and the words of the columns.

    >>> x = sparse.csr_matrix([[0.6, 0.8]])
    >>> found = explain_pair(("red car", "red car"), x, x, np.array([[1.0, 0.0], [0.0, 0.5]]), ("red", "car"))
    >>> [(word, round(part, 3)) for word, part in found.words_a]
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


def described(found: Explanation, *, top: int = 8) -> str:
    """The explanation in lines a person can read; the largest parts of each kind, and what the rest adds up to."""
    lines = [f"a: {found.text_a}", f"b: {found.text_b}", f"similarity {found.similarity:+.3f}"]
    if found.unknown:
        lines.append(f"words never met in training, which say nothing: {', '.join(found.unknown)}")
    if not found.word_pairs:
        return "\n".join(
            [*lines, "no word of one of the sentences was met in training: the similarity is 0 by definition"]
        )
    lines += ["", "which words of a meet which of b"]
    lines += _table([(f"{s} ~ {t}" if s != t else s, part) for s, t, part in found.word_pairs], top)
    for name, parts in (("a", found.words_a), ("b", found.words_b)):
        lines += ["", f"words of {name}, each with half of what it takes part in", *_table(parts, top)]
    lines += ["", "by row of L", *_table([(f"row {row}", part) for row, part in found.rows], top)]
    if found.shared:
        lines += _table([("words in common (TF-IDF)", found.shared)], 1)
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
