"""Locally linear embedding as a scikit-learn estimator: each row keeps its mixture of neighbours.

    x_i ≈ Σ_j w_ij x_j, Σ_j w_ij = 1        min Σ_i |y_i - Σ_j w_ij y_j|²,  YᵀY/n = I,  Σ_i y_i = 0        (eq. 2-17)

Copies share one row of Y; otherwise a hundred copies would fill fifty eigenvectors. Unlike
`sklearn.manifold.LocallyLinearEmbedding`, this handles copies, disconnected graphs and the constant eigenvector, solves
large graphs without factorising, and solves weights in batches. In: (m, d) dense or CSR. Out: float64 (m, p).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from labkit.arrays import array_of, whole
from labkit.device import cuda_or_cpu
from labkit.evaluation.neighbours import foreseen, nearest_others
from labkit.progress import Progress, note, silent
from labkit.sbert_lp.eigenvectors import Spectrum, bottom
from labkit.sbert_lp.graph import copies, reconstruction_weights, weight_matrix

CALLER = 3  # stack frames up to the caller of `fit`


class LocalityPreserving(BaseEstimator):
    """k neighbours, p dimensions. `reg` is added to the diagonal of each Gram matrix, as a share of its trace.

    `device`: with cuda, weights and dense eigenvectors are computed on a GPU.

    After `fit` of m rows, n of them distinct:

    embedding_ (m, p)     the new rows                           kept_ (n,)        the distinct rows, in order
    place_ (m,)           each row's place in `kept_`            components_       number of parts of the graph
    neighbours_ (n, k)    places in `kept_`                      weights_ (n, k)   rows sum to 1
    eigenvalues_ (p,)     of M, ascending, without the constant's
    """

    def __init__(
        self,
        n_neighbors: int = 15,
        n_components: int = 100,
        *,
        reg: float = 1e-3,
        device: str = "cpu",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.device = device
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, progress: Progress = silent) -> Self:
        """Embed the rows of X together."""
        if not sparse.issparse(X):
            array_of("X", X)  # scikit-learn gives no reason for refusing a bfloat16 tensor
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), ensure_min_samples=2)
        rows = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)
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
                f"the {rows.shape[0]} vectors (rows of X) are all equal (as they are with n_samples = 1); give "
                "different ones"
            )
        k = _at_most("neighbours (n_neighbors)", self.n_neighbors, len(kept))
        p = _at_most("dimension (n_components)", self.n_components, len(kept))
        progress(0, None, f"{k} neighbours of {len(kept):,} rows")
        foreseen(len(kept), base, remedy="embed fewer sentences together")
        neighbours = nearest_others(base, k)
        weights = reconstruction_weights(base, base, neighbours, reg=self.reg, device=device, progress=progress)
        W = weight_matrix(neighbours, weights)
        spectrum = bottom(W, p, seed=seed, device=device, progress=progress)
        _warn(spectrum)
        self.place_ = np.searchsorted(kept, copy_of)
        self.embedding_ = (spectrum.vectors * np.sqrt(len(kept)))[self.place_]
        self.kept_, self.neighbours_, self.weights_ = kept, neighbours, weights
        self.eigenvalues_, self.components_ = spectrum.values, int(spectrum.component.max()) + 1
        return self

    def fit_transform(self, X: Any, y: Any = None, *, progress: Progress = silent) -> np.ndarray:
        """Embed the rows of X together and return them, (m, p)."""
        return self.fit(X, y, progress=progress).embedding_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _at_most(name: str, value: int, distinct: int) -> int:
    """The requested size or, with a note, the largest size that this many distinct rows allow."""
    if value >= distinct:
        note(f"{name} is {value}, but {distinct} distinct rows allow only {distinct - 1}", stacklevel=CALLER)
    return min(value, distinct - 1)


def _warn(spectrum: Spectrum) -> None:
    """Note everything that limits the embedding."""
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
