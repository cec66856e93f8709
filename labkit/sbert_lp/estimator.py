"""Locally linear embedding for scikit-learn's form: rows in, rows out that each stay where their neighbours put them.

    x_i ≈ Σ_j w_ij x_j, Σ_j w_ij = 1        min Σ_i |y_i - Σ_j w_ij y_j|²,  YᵀY/n = I,  Σ_i y_i = 0        (eq. 2-17)

Copies share one row of Y: left in, a hundred of them make fifty eigenvectors that say nothing else. Against
`sklearn.manifold.LocallyLinearEmbedding`: copies, graphs in parts, and the constant are dealt with; large graphs are
solved without factorising; weights in batches. In: (m, d) dense or CSR. Out: float64 (m, p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from labkit.arrays import Vectors, array_of
from labkit.device import cuda_or_cpu
from labkit.progress import Progress, note, silent
from labkit.sbert_lp.eigenvectors import DENSE, Spectrum, bottom
from labkit.sbert_lp.graph import COPY, EXACT_UP_TO, copies, neighbour_graph, radius, weight_matrix
from labkit.sbert_lp.weights import Mixtures, Weights, mixtures, reconstruction_weights

# --- record ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Mixture:
    """A row, the rows that rebuild it, the largest weight first; `error` is |x - Σ w x_j|², what they leave out."""

    row: int
    neighbours: np.ndarray
    weights: np.ndarray
    error: float


@dataclass(frozen=True, eq=False)
class FitRecord:
    """What a fit has found out of m rows, n of them distinct, numbered as they were given; copies share all of it.

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

    def neighbourhood(self, row: int) -> Mixture:
        """The rows that rebuild this one."""
        if row not in range(len(self.copy_of)):
            raise ValueError(f"row is {row}, expected a row number from 0 to {len(self.copy_of) - 1}")
        place = int(np.searchsorted(self.kept, self.copy_of[row]))
        order = np.argsort(-np.abs(self.weights[place]), kind="stable")
        near = self.kept[self.neighbours[place][order]]
        return Mixture(row, near, self.weights[place][order], float(self.errors[place]))

    def __str__(self) -> str:
        parts = [
            f"{len(self.copy_of):,} rows, {self.copies:,} of them copies",
            f"{self.components} components, {self.terminal} terminal, {self.zeros} eigenvalues 0",
            f"mean error {self.errors.mean():.3g}, residual {self.residual:.1g}",
        ]
        if self.raised:
            parts.append(f"{self.raised} rows needed more regularisation than {self.reg:g}")
        if not self.exact:
            parts.append(f"{self.recall:.1%} of the true neighbours found")
        return "; ".join(parts)


# --- notes that a fit gives --------------------------------------------------------------------------------------

EXACT = 1e-5  # the largest |M v - λ v| that is not spoken of
LARGE = 200_000  # rows from which on a word is said beforehand
#: what users of the method sbert-lp call it, and what scikit-learn's do
_SAID = {"n_components": "dimension (n_components)", "n_neighbors": "neighbours (n_neighbors)"}
_CALLER = 3  # frames up: whoever called `fit`


def at_most(name: str, value: int, most: int, what: str) -> int:
    """The size asked for, or the largest there is, and then a note that says so."""
    if value > most:
        note(
            f"{_SAID.get(name, name)} is {value}, but {most + 1} distinct rows have only {most} {what}: {most} are "
            "used",
            stacklevel=_CALLER,
        )
    return min(value, most)


def say_afterwards(spectrum: Spectrum, weights: Weights, reg: float) -> None:
    """Give notes of all that makes the embedding say less than it seems to."""
    if weights.raised:
        note(
            f"{weights.raised} rows could not be reconstructed with reg {reg:g}; it was raised for them, up to "
            f"{weights.largest_reg:g}",
            stacklevel=_CALLER,
        )
    if spectrum.residual > EXACT:
        note(
            f"eigenvectors are exact to {spectrum.residual:.2g} only, expected below {EXACT:g}; a smaller "
            f"{_SAID['n_components']} or a larger reg makes them so",
            stacklevel=_CALLER,
        )
    sizes = np.bincount(spectrum.component)
    used = np.bincount(spectrum.owner[spectrum.owner >= 0], minlength=len(sizes))
    full = np.flatnonzero((used == sizes - 1) & (sizes > 2))
    if len(full) and len(sizes) > 1:
        note(
            f"{len(full)} of {len(sizes)} parts of the neighbour graph, the smallest of {sizes[full].min()} rows, have "
            "all their directions in use: within them every row is as far from every other; ask for a smaller "
            f"{_SAID['n_components']}, or for more {_SAID['n_neighbors']}, which joins parts",
            stacklevel=_CALLER,
        )


def say_beforehand(rows: int, count: int) -> None:
    """Give a note of a large fit's time and memory, by what 20,000 and 100,000 rows were measured to take
    (`benchmarks`): with 100 dimensions 10 to 19 s and 80 to 108 s of a busy core, and eight numbers a row and
    dimension."""
    if rows < LARGE:
        return
    gigabytes = rows * (8 * count + 60) * 8 / 1e9
    minutes = 2 * (rows / 100_000) ** 1.3 * (count / 100)
    note(
        f"{rows:,} rows in {count} dimensions take about {gigabytes:.0f} GB of memory and {minutes:.0f} minutes of one "
        "core, beside the search for neighbours; Ctrl-C stops it, fewer dimensions take less",
        stacklevel=_CALLER,
    )


# --- estimator ---------------------------------------------------------------------------------------------------


class LocalityPreserving(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k neighbours, p dimensions. `reg`: added to the diagonal of each Gram matrix, as a share of its trace.

    `device`: cuda brings neighbours, weights and dense eigenvectors onto a GPU. `exact_up_to`: rows up to which all
    distances are computed; above, pynndescent's graph.

    After `fit`: `embedding_` (m, p), `record_` (`labkit.sbert_lp.estimator.FitRecord`), `n_features_in_`.
    """

    def __init__(
        self,
        n_neighbors: int = 15,
        n_components: int = 100,
        *,
        reg: float = 1e-3,
        exact_up_to: int = EXACT_UP_TO,
        dense_up_to: int = DENSE,
        device: str = "cpu",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.exact_up_to = exact_up_to
        self.dense_up_to = dense_up_to
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, progress: Progress = silent) -> Self:
        """Embed the rows of X together."""
        rows = self._rows(X, ensure_min_samples=2)
        self._check()
        device = cuda_or_cpu(self.device)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        say_beforehand(rows.shape[0], self.n_components)
        copy_of = copies(rows, seed=seed)
        kept = np.flatnonzero(copy_of == np.arange(len(copy_of)))
        base = rows[kept]
        if len(kept) < 2:
            raise ValueError(
                f"the {rows.shape[0]} vectors (rows of X) are all the same, expected two that differ (n_samples = 1 "
                "would be no different); give others"
            )
        k = at_most("n_neighbors", self.n_neighbors, len(kept) - 1, "others")
        p = at_most("n_components", self.n_components, len(kept) - 1, "directions beside the constant one")
        graph = neighbour_graph(base, k, exact_up_to=self.exact_up_to, seed=seed, device=device, progress=progress)
        weights = reconstruction_weights(base, base, graph.neighbours, reg=self.reg, device=device, progress=progress)
        W = weight_matrix(graph.neighbours, weights.values)
        spectrum = bottom(W, p, dense_up_to=self.dense_up_to, seed=seed, device=device, progress=progress)
        say_afterwards(spectrum, weights, self.reg)
        place = np.searchsorted(kept, copy_of)
        self.embedding_ = (spectrum.vectors * np.sqrt(len(kept)))[place]
        self.record_ = FitRecord(
            copy_of=copy_of,
            kept=kept,
            component=spectrum.component[place],
            terminal=spectrum.terminal,
            neighbours=graph.neighbours,
            weights=weights.values,
            errors=weights.errors,
            reg=self.reg,
            raised=weights.raised,
            eigenvalues=spectrum.values,
            zeros=spectrum.zeros,
            residual=spectrum.residual,
            exact=graph.exact,
            recall=graph.recall,
        )
        self._base, self._copy_within = base, COPY * radius(rows)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, progress: Progress = silent) -> np.ndarray:
        """The rows of X, embedded together, (m, p)."""
        return self.fit(X, y, progress=progress).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """New rows where their neighbours among the fitted ones put them, y = Σ w_j y_j, (n, p). (The paper has none.)

        A copy of a fitted row is where that row is.
        """
        return self._mixtures(X).of(self.embedding_[self.record_.kept])

    def _mixtures(self, X: Any) -> Mixtures:
        """New rows as mixtures of the distinct fitted ones."""
        check_is_fitted(self)
        rows = self._rows(X, reset=False)
        base = self._base if sparse.issparse(rows) == sparse.issparse(self._base) else _as(self._base, rows)
        rows, k = rows.astype(base.dtype, copy=False), self.record_.neighbours.shape[1]
        within, device = self._copy_within, cuda_or_cpu(self.device)
        return mixtures(rows, base, k, copy_within=within, reg=self.reg, device=device)

    def _rows(self, X: Any, **checks: Any) -> Vectors:
        """The rows of X in float32 or float64, checked as scikit-learn does."""
        if not sparse.issparse(X):
            array_of("X", X)  # of a bfloat16 tensor scikit-learn says only that it cannot
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), **checks)
        return sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check(self) -> None:
        for name, value in (("n_neighbors", self.n_neighbors), ("n_components", self.n_components)):
            if not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} is {value!r}, expected a whole number of at least 1")
        if not self.reg > 0:
            raise ValueError(f"reg is {self.reg!r}, expected above 0: where k exceeds the dimension, 0 has no answer")


def _as(base: Vectors, rows: Vectors) -> Vectors:
    """The fitted rows, sparse or dense as the new ones are."""
    return sparse.csr_matrix(base) if sparse.issparse(rows) else sparse.csr_matrix(base).toarray()
