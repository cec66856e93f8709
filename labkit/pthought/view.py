"""P-coherence with its companion scores, which warn of a collapsed encoder, and groups of paraphrases to plot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import numpy as np
from scipy import sparse

from labkit.arrays import unit
from labkit.corpora import Labelled
from labkit.evaluation import Coherence, p_coherence

# --- companions --------------------------------------------------------------------------------------------------

MEANINGS = {
    "within": "P-coherence: mean cosine of two sentences of the same group",
    "between": "mean cosine of two sentences of different groups",
    "lift": "within minus between: how much closer paraphrases are than other sentences",
    "retrieval": "share of sentences whose nearest other sentence is in their group",
    "distance": "mean distance within groups, each dimension divided by its spread over the whole set",
}
CLOSE = 0.9  # mean cosine of unrelated sentences above which a warning appears


@dataclass(frozen=True, eq=False)
class Companions:
    """The scores; the cosines of pairs within groups and, up to a limit, between groups."""

    figures: Coherence
    within: np.ndarray
    between: np.ndarray

    @property
    def warning(self) -> str | None:
        """The warning for a collapsed encoder."""
        if self.figures.between < CLOSE:
            return None
        return (
            "Nearly all sentences point the same way: the mean cosine between groups is "
            f"{self.figures.between:.3f}. P-coherence ({self.figures.within:.3f}) is then high for any encoder and "
            "says nothing. Use lift and retrieval instead."
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row for each score, with its meaning."""
        for name, meaning in MEANINGS.items():
            yield {"figure": name, "value": float(getattr(self.figures, name)), "meaning": meaning}


def companions(vectors: Any, groups: Sequence[Any], *, most: int = 20_000, seed: int = 0) -> Companions:
    """Score vectors (n, d) with their groups; sentences with a vector of zeros are skipped.

    >>> beside = companions([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0]], "xxyy")
    >>> round(beside.figures.within, 2), beside.warning
    (1.0, None)
    """
    rows = vectors.toarray() if sparse.issparse(vectors) else np.asarray(vectors, dtype=np.float64)
    known = np.flatnonzero(rows.any(axis=1))
    rows, names = unit(rows[known].astype(np.float64)), [groups[row] for row in known.tolist()]
    figures = p_coherence(rows, names)
    codes = np.unique(np.asarray(names, dtype=str), return_inverse=True)[1]
    squares = [rows[codes == code] @ rows[codes == code].T for code in dict.fromkeys(codes.tolist())]
    within = [square[np.triu_indices(len(square), 1)] for square in squares]  # every pair once
    random = np.random.default_rng(seed)
    a, b = random.integers(len(rows), size=(2, 2 * most))
    other = np.flatnonzero(codes[a] != codes[b])[:most]
    between = np.einsum("nd,nd->n", rows[a[other]], rows[b[other]])
    return Companions(figures, np.concatenate(within), between)


# --- groups in the plane -----------------------------------------------------------------------------------------


def groups_with(
    groups: Sequence[Sequence[str]], sentence: str, *, count: int = 6, most: int = 8, seed: int = 0
) -> Labelled:
    """Return the first group that contains this sentence, as A, and other random groups as B, C, …: at most `count` in
    all.

    A group has two or more different sentences, and at most `most` of them are shown.

    >>> groups_with([["a b", "b a"], ["c"], ["d e", "e d", "d e"]], "e d").texts
    ('e d', 'd e', 'a b', 'b a')
    """
    several = [distinct for group in groups if len(distinct := list(dict.fromkeys(group))) > 1]
    own = next((group for group in several if sentence in group), None)
    if own is None:
        raise ValueError(f"sentence {sentence[:60]!r} is in no group of two different sentences; choose another")
    others = [group for group in several if group is not own]
    drawn = np.random.default_rng(seed).permutation(len(others))[: count - 1]
    shown = [sorted(own, key=lambda text: text != sentence), *(others[number] for number in drawn)]
    rows = [(text, name) for name, group in zip(ascii_uppercase, shown, strict=False) for text in group[:most]]
    return Labelled(tuple(text for text, _ in rows), tuple(name for _, name in rows), splits="test")
