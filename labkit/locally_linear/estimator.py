"""Locally linear embedding for scikit-learn's form: rows in, rows out that each stay where their neighbours put them.

    x_i ≈ Σ_j w_ij x_j, Σ_j w_ij = 1        min Σ_i |y_i - Σ_j w_ij y_j|²,  YᵀY/n = I,  Σ_i y_i = 0        (eq. 2-17)

Copies share one row of Y: left in, a hundred of them make fifty eigenvectors that say nothing else. Against
`sklearn.manifold.LocallyLinearEmbedding`: copies, graphs in parts, and the constant are dealt with; large graphs are
solved without factorising; weights in batches. In: (m, d) dense or CSR. Out: float64 (m, p).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from labkit.evaluation.inputs import Vectors, array_of, exponent, scaled
from labkit.evaluation.neighbours import nearest_rows
from labkit.locally_linear.components import weight_matrix
from labkit.locally_linear.neighbours import COPY, EXACT_UP_TO, copies, neighbour_graph, radius
from labkit.locally_linear.record import Record
from labkit.locally_linear.remarks import say_afterwards, say_beforehand, within
from labkit.locally_linear.spectrum import DENSE, bottom
from labkit.locally_linear.weights import reconstruction_weights
from labkit.progress import Progress, silent
from labkit.training.settings import cuda_or_cpu


class LocalityPreserving(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """k neighbours, p dimensions. `reg`: added to the diagonal of each Gram matrix, as a share of its trace.

    `device`: cuda brings neighbours, weights and dense eigenvectors onto a GPU. `exact_up_to`: rows up to which all
    distances are computed; above, pynndescent's graph.

    After `fit`: `embedding_` (m, p), `record_` (`labkit.locally_linear.record.Record`), `n_features_in_`.
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
        rows = _rows(validate_data(self, _readable(X), accept_sparse="csr", dtype=_FLOATS, ensure_min_samples=2))
        self._check()
        device = cuda_or_cpu(self.device)
        self._size = exponent(rows)
        rows = scaled(rows, self._size)
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
        k = within("n_neighbors", self.n_neighbors, len(kept) - 1, "others")
        p = within("n_components", self.n_components, len(kept) - 1, "directions beside the constant one")
        graph = neighbour_graph(base, k, exact_up_to=self.exact_up_to, seed=seed, device=device, progress=progress)
        weights = reconstruction_weights(base, base, graph.neighbours, reg=self.reg, device=device, progress=progress)
        W = weight_matrix(graph.neighbours, weights.values)
        found = bottom(W, p, dense_up_to=self.dense_up_to, seed=seed, device=device, progress=progress)
        say_afterwards(found, weights, self.reg)
        with np.errstate(over="ignore"):
            errors = np.ldexp(weights.errors, 2 * self._size)
        place = np.searchsorted(kept, copy_of)
        self.embedding_ = (found.vectors * np.sqrt(len(kept)))[place]
        self.record_ = Record(
            copy_of=copy_of,
            kept=kept,
            component=found.component[place],
            terminal=found.terminal,
            neighbours=graph.neighbours,
            weights=weights.values,
            errors=errors,
            reg=self.reg,
            raised=weights.raised,
            eigenvalues=found.values,
            zeros=found.zeros,
            residual=found.residual,
            searches=found.searches,
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
        neighbours, weights = self.reconstruct(X)
        return np.einsum("nk,nkp->np", weights, self.embedding_[neighbours])

    def reconstruct(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """New rows by fitted ones: their row numbers (n, k), and weights (n, k) that sum to 1."""
        check_is_fitted(self)
        rows = _rows(validate_data(self, _readable(X), accept_sparse="csr", dtype=_FLOATS, reset=False))
        rows = scaled(rows, self._size)
        base = self._base if sparse.issparse(rows) == sparse.issparse(self._base) else _as(self._base, rows)
        rows = rows.astype(base.dtype, copy=False)
        found, distances = nearest_rows(rows, base, self.record_.neighbours.shape[1])
        weights = reconstruction_weights(rows, base, found, reg=self.reg, device=cuda_or_cpu(self.device)).values
        copied = distances[:, 0] <= self._copy_within
        weights[copied] = np.eye(weights.shape[1])[0]
        return self.record_.kept[found], weights

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


_FLOATS = (np.float64, np.float32)  # others become the first


def _readable(X: Any) -> Any:
    """X, if numpy can read it: scikit-learn says of a bfloat16 tensor only that it cannot."""
    if not sparse.issparse(X):
        array_of("X", X)
    return X


def _rows(X: Any) -> Vectors:
    return sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)


def _as(base: Vectors, rows: Vectors) -> Vectors:
    """The fitted rows, sparse or dense as the new ones are."""
    return sparse.csr_matrix(base) if sparse.issparse(rows) else sparse.csr_matrix(base).toarray()
