"""Locally linear embedding as a scikit-learn estimator: each row keeps its mixture of neighbours.

    x_i ≈ Σ_j w_ij x_j, Σ_j w_ij = 1        min Σ_i |y_i - Σ_j w_ij y_j|²,  YᵀY/n = I,  Σ_i y_i = 0        (eq. 2-17)

Copies share one row of Y; otherwise a hundred of them would fill fifty eigenvectors. Unlike
`sklearn.manifold.LocallyLinearEmbedding` this handles copies, disconnected graphs and the constant, solves large graphs
without factorising, and solves weights in batches. In: (m, d) dense or CSR. Out: float64 (m, p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from labkit.arrays import Vectors, array_of, whole
from labkit.device import cuda_or_cpu
from labkit.progress import Progress, note, silent
from labkit.sbert_lp.eigenvectors import DENSE, ZERO, Spectrum, bottom
from labkit.sbert_lp.graph import COPY, EXACT_UP_TO, copies, neighbour_graph, radius, weight_matrix
from labkit.sbert_lp.weights import Weights, mixtures, reconstruction_weights

CALLER = 3  # stack frames up: the caller of `fit`


@dataclass(frozen=True, eq=False)
class FitRecord:
    """The result of a fit on m rows, n of them distinct, in the order given; copies share their results.

    copy_of (m,)         the first equal row of each              kept (n,)         the distinct rows
    component (m,)       weak component of the neighbour graph    terminal          its terminal strong components
    neighbours (n, k)    places in `kept`                         weights (n, k)    rows sum to 1
    errors (n,)          |x - Σ w x_j|²                           eigenvalues (p,)  of M, rising, without the constant's
    residual             the largest |M v - λ v|                  recall            share of true neighbours found
    """

    copy_of: np.ndarray
    kept: np.ndarray
    component: np.ndarray
    terminal: int
    neighbours: np.ndarray
    weights: np.ndarray
    errors: np.ndarray
    eigenvalues: np.ndarray
    residual: float
    recall: float

    @property
    def components(self) -> int:
        """The number of connected components of the graph."""
        return int(self.component.max()) + 1

    @property
    def zeros(self) -> int:
        """The number of zero eigenvalues of M among those found, including the constant's."""
        return 1 + int((self.eigenvalues < ZERO).sum())


class LocalityPreserving(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k neighbours, p dimensions. `reg` is added to the diagonal of each Gram matrix, as a share of its trace.

    `device`: with cuda, neighbours, weights and dense eigenvectors are computed on a GPU. `exact_up_to`: rows up to
    which all distances are computed; above, pynndescent's graph is used. `dense_up_to`: rows up to which M is dense.

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
        rows = self._validated(X, ensure_min_samples=2)
        whole("n_neighbors", self.n_neighbors, 1, 2**31, "neighbours of a row")
        whole("n_components", self.n_components, 1, 2**31, "dimensions")
        if not self.reg > 0:
            raise ValueError(f"reg is {self.reg!r}, expected a number above 0; with 0, k may not exceed the dimension")
        device = cuda_or_cpu(self.device)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        copy_of = copies(rows, seed=seed)
        kept = np.flatnonzero(copy_of == np.arange(len(copy_of)))
        base = rows[kept]
        if len(kept) < 2:
            raise ValueError(
                f"the {rows.shape[0]} vectors (rows of X) are all the same (this is also so with n_samples = 1); give "
                "different ones"
            )
        k = _at_most("neighbours (n_neighbors)", self.n_neighbors, len(kept))
        p = _at_most("dimension (n_components)", self.n_components, len(kept))
        graph = neighbour_graph(base, k, exact_up_to=self.exact_up_to, seed=seed, device=device, progress=progress)
        weights = reconstruction_weights(base, base, graph.neighbours, reg=self.reg, device=device, progress=progress)
        W = weight_matrix(graph.neighbours, weights.values)
        spectrum = bottom(W, p, dense_up_to=self.dense_up_to, seed=seed, device=device, progress=progress)
        _warn(spectrum, weights, self.reg)
        place = np.searchsorted(kept, copy_of)  # (m,), each row's index among the distinct ones
        self.embedding_ = (spectrum.vectors * np.sqrt(len(kept)))[place]
        self.record_ = FitRecord(
            copy_of=copy_of,
            kept=kept,
            component=spectrum.component[place],
            terminal=spectrum.terminal,
            neighbours=graph.neighbours,
            weights=weights.values,
            errors=weights.errors,
            eigenvalues=spectrum.values,
            residual=spectrum.residual,
            recall=graph.recall,
        )
        self._base, self._copy_within = base, COPY * radius(rows)
        return self

    def fit_transform(self, X: Any, y: Any = None, *, progress: Progress = silent) -> np.ndarray:
        """Embed the rows of X together and return them, (m, p)."""
        return self.fit(X, y, progress=progress).embedding_

    def transform(self, X: Any) -> np.ndarray:
        """Place new rows by their neighbours among the fitted ones, y = Σ w_j y_j, (n, p). (Not in the paper.)

        A copy of a fitted row gets that row's position.
        """
        check_is_fitted(self)
        rows, base = self._validated(X, reset=False), self._base
        if sparse.issparse(rows) != sparse.issparse(base):
            base = sparse.csr_matrix(base) if sparse.issparse(rows) else sparse.csr_matrix(base).toarray()
        rows, k, device = (
            rows.astype(base.dtype, copy=False),
            self.record_.neighbours.shape[1],
            cuda_or_cpu(self.device),
        )
        mixed = mixtures(rows, base, k, copy_within=self._copy_within, reg=self.reg, device=device)
        return mixed.of(self.embedding_[self.record_.kept])

    def _validated(self, X: Any, **checks: Any) -> Vectors:
        """The rows of X in float32 or float64, validated like scikit-learn."""
        if not sparse.issparse(X):
            array_of("X", X)  # scikit-learn gives no reason for refusing a bfloat16 tensor
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), **checks)
        return sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _at_most(name: str, value: int, distinct: int) -> int:
    """The requested size, or with a note the largest that this many distinct rows allow."""
    if value >= distinct:
        note(f"{name} is {value}, but {distinct} distinct rows allow only {distinct - 1}", stacklevel=CALLER)
    return min(value, distinct - 1)


def _warn(spectrum: Spectrum, weights: Weights, reg: float) -> None:
    """Note everything that limits the embedding."""
    if weights.raised:
        note(
            f"{weights.raised} rows could not be reconstructed with reg {reg:g}; for them it was raised, up to "
            f"{weights.largest_reg:g}",
            stacklevel=CALLER,
        )
    if spectrum.residual > 1e-5:
        note(
            f"eigenvectors are accurate only to {spectrum.residual:.2g}; a smaller dimension (n_components) or a "
            "larger reg makes them accurate to 1e-5",
            stacklevel=CALLER,
        )
    sizes = np.bincount(spectrum.component)
    used = np.bincount(spectrum.owner[spectrum.owner >= 0], minlength=len(sizes))
    full = np.flatnonzero((used == sizes - 1) & (sizes > 2))
    if len(full) and len(sizes) > 1:
        note(
            f"{len(full)} of {len(sizes)} parts of the neighbour graph, the smallest with {sizes[full].min()} rows, "
            "use all their directions, so all their rows are equally far apart; choose a smaller dimension "
            "(n_components), or more neighbours (n_neighbors), which joins parts",
            stacklevel=CALLER,
        )
