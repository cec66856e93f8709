"""All sentences of an embedding at once: how well each is rebuilt, what the neighbour graph is made of, what was done.

In: an `Embedded`, fitted now or taken from a run. Out: `Structure`. Eigenvalues are had again from the vectors:

    λ_j = y_jᵀ M y_j / n = mean over i of (y_i - Σ_l w_il y_l)_j²,  since YᵀY/n = I
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.locally_linear.components import terminal_components, weak_components, weight_matrix
from labkit.methods.neighbourhoods import Embedded

ZERO = 1e-9  # eigenvalues below are taken for 0: vectors are kept in float32


@dataclass(frozen=True, eq=False)
class Structure:
    """m sentences, of which n have vectors of their own.

    errors (m,)     |d - Σ w d_j|² / |d|² in the base        kept (m,)          the same weights in the new space
    copies          sentences that share a vector, in groups component (m,)     part of the graph, 0 is the largest
    terminal        parts of it that no edge leaves          eigenvalues (p,)   rising, the constant's left out
    """

    sentences: tuple[str, ...]
    errors: np.ndarray
    kept: np.ndarray
    copies: tuple[tuple[str, ...], ...]
    component: np.ndarray
    terminal: int
    eigenvalues: np.ndarray

    @property
    def components(self) -> tuple[int, ...]:
        """How many sentences each part has, the largest first."""
        return tuple(np.bincount(self.component).tolist())

    @property
    def zeros(self) -> int:
        """Eigenvalues that are 0, beside the constant's."""
        return int((self.eigenvalues < ZERO).sum())

    def told(self) -> tuple[str, ...]:
        """What was found, and what was done about it, a sentence each."""
        return (self._copies_told(), self._parts_told(), self._zeros_told())

    def _copies_told(self) -> str:
        if not self.copies:
            return f"All {len(self.sentences)} sentences have vectors of their own: nothing was set aside."
        return (
            f"{sum(map(len, self.copies))} of {len(self.sentences)} sentences share a vector with another, in "
            f"{len(self.copies)} groups: each group was embedded as one. Copies rebuild each other exactly, and would "
            "fill the bottom of the spectrum with directions that say nothing else."
        )

    def _parts_told(self) -> str:
        sizes = self.components
        if len(sizes) == 1:
            return "The neighbour graph hangs together: it was embedded as a whole."
        shown = ", ".join(map(str, sizes[:6])) + (f" and {len(sizes) - 6} more" if len(sizes) > 6 else "")
        return (
            f"The neighbour graph has {len(sizes)} parts with nothing between them, of {shown} sentences: each was "
            f"embedded by itself, and the spectra were merged. {len(sizes) - 1} of the directions say only in which "
            "part a sentence is: the cosine of two sentences from different parts says little."
        )

    def _zeros_told(self) -> str:
        return (
            f"{self.terminal} sets of sentences have no edge that leads out (terminal components), {self.terminal - 1} "
            f"beyond the one there always is. Each of these makes an eigenvalue 0; {self.zeros} of the "
            f"{len(self.eigenvalues)} directions have one. The constant was taken out exactly, not as “the first”."
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """A row a sentence."""
        columns = (self.sentences, self.errors.tolist(), self.kept.tolist(), self.component.tolist())
        for number, (text, error, kept, part) in enumerate(zip(*columns, strict=True)):
            yield {"no.": number, "sentence": text, "error before": error, "error after": kept, "part": part}


def structure(space: Embedded) -> Structure:
    """Of the sentences that were embedded together."""
    W = weight_matrix(space.neighbours, space.weights.astype(np.float64))
    d, y = (rows.astype(np.float64) for rows in (space.rows, space.embedding))
    left = y - W @ y
    groups: dict[int, list[str]] = {}
    for text, place in zip(space.sentences, space.place.tolist(), strict=True):
        groups.setdefault(place, []).append(text)
    return Structure(
        sentences=tuple(space.sentences),
        errors=_shares(d - W @ d, d)[space.place],
        kept=_shares(left, y)[space.place],
        copies=tuple(tuple(texts) for texts in groups.values() if len(texts) > 1),
        component=weak_components(W)[space.place],
        terminal=len(terminal_components(W)),
        eigenvalues=np.square(left).mean(axis=0),
    )


def _shares(left: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """|left|² / |whole|² row by row."""
    return np.square(left).sum(axis=1) / np.maximum(np.square(whole).sum(axis=1), 1e-300)
