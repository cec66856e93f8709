"""What a fit has found out, to be read and shown: who reconstructs whom, how well, and what the graph is made of.

Rows are numbered as they were given; copies of a row share all that is said of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """A row, the rows that reconstruct it, the largest weight first; `error` is |x - Σ w x_j|², what they leave out."""

    row: int
    neighbours: np.ndarray
    weights: np.ndarray
    error: float


@dataclass(frozen=True, eq=False)
class Record:
    """A fit. m rows, of which n are distinct.

    copy_of (m,)         the first row each is a copy of          kept (n,)         the rows that are none
    component (m,)       weak component of the neighbour graph    terminal          its terminal strong components
    neighbours (n, k)    places in `kept`                         weights (n, k)    rows sum to 1
    errors (n,)          |x - Σ w x_j|²                           raised            rows that needed more than reg
    eigenvalues (p,)     of M, rising, the constant's left out    zeros             eigenvalues 0, the constant's too
    residual             the largest |M v - λ v|                  recall            share of true neighbours found
    """

    copy_of: np.ndarray
    kept: np.ndarray
    component: np.ndarray
    terminal: int
    neighbours: np.ndarray
    weights: np.ndarray
    errors: np.ndarray
    reg: float
    raised: int
    eigenvalues: np.ndarray
    zeros: int
    residual: float
    searches: int
    exact: bool
    recall: float

    @property
    def copies(self) -> int:
        """Rows that are a copy of an earlier one."""
        return len(self.copy_of) - len(self.kept)

    @property
    def components(self) -> int:
        """Parts of the graph with nothing between them."""
        return int(self.component.max()) + 1

    def neighbourhood(self, row: int) -> Neighbourhood:
        """Who reconstructs this row."""
        if row not in range(len(self.copy_of)):
            raise ValueError(f"row is {row}, expected a row number from 0 to {len(self.copy_of) - 1}")
        place = int(np.searchsorted(self.kept, self.copy_of[row]))
        order = np.argsort(-np.abs(self.weights[place]), kind="stable")
        return Neighbourhood(
            row,
            self.kept[self.neighbours[place][order]],
            self.weights[place][order],
            float(self.errors[place]),
        )

    def across(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Which pairs of rows lie in two components, bool: the graph says nothing of how near they are."""
        return self.component[np.asarray(a)] != self.component[np.asarray(b)]

    def __str__(self) -> str:
        told = [
            f"{len(self.copy_of):,} rows, {self.copies:,} of them copies",
            f"{self.components} components, {self.terminal} terminal, {self.zeros} eigenvalues 0",
            f"mean error {self.errors.mean():.3g}, residual {self.residual:.1g}",
        ]
        if self.raised:
            told.append(f"{self.raised} rows needed more regularisation than {self.reg:g}")
        if not self.exact:
            told.append(f"{self.recall:.1%} of the true neighbours found")
        return "; ".join(told)
