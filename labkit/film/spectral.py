"""FILM at full rank: the closed form without the truncated SVD that throws rare words away.

X is n x D here, a sentence a row, sparse, and stays so. In: X and triplets. Out: W (D, r), the top eigenvectors of

    (Xᵀ M_s X) w = k (Xᵀ X + ε I) w        Wᵀ (Xᵀ X + ε I) W = I        M_s = (C T + (C T)ᵀ) / 2

and their k. `L = √k Wᵀ` is the closed form of rank r; the hinge may follow on the features `X W`. The ridge ε does what
truncation did, gently: directions of X that occur seldom are damped, not dropped.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, lobpcg

from labkit.progress import Progress, silent

SPARE = 0.1  # further vectors in the block, so that the last ones wanted settle too
DENSE = 400  # columns up to which LAPACK is quicker and exact


@dataclass(frozen=True, eq=False)
class Directions:
    """W (D, r) and k (r,), falling."""

    W: np.ndarray
    k: np.ndarray


def directions(
    X: sparse.csr_matrix,
    M: sparse.csr_matrix,
    rank: int,
    *,
    ridge: float = 0.3,
    iterations: int = 12,
    seed: int = 0,
    progress: Progress = silent,
) -> Directions:
    """The `rank` top generalised eigenvectors of X (n, D) and M = C T (n, n): those with k > 0, and at least the best.

    LOBPCG with the diagonal as preconditioner. So few iterations leave the smaller k unsettled, which costs the
    similarity nothing that can be measured.
    """
    X = sparse.csr_matrix(X)
    columns = X.shape[1]
    pencil = Pencil(X, ((M + M.T) / 2).tocsr(), ridge)
    if columns <= max(DENSE, 4 * rank):
        return _settled(pencil, np.eye(columns), rank)
    progress(0, None, "directions that keep what belongs together")
    single = pencil.astype(np.float32)  # the products are bound by memory: half of it, twice the pace and more
    A, B = (
        LinearOperator((columns, columns), matvec=product, matmat=product, dtype=np.float64)
        for product in (single.supervised, single.spread)
    )
    start = np.random.default_rng(seed).standard_normal((columns, rank + int(SPARE * rank) + 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it stops before its tolerance is what we ask of it
        _, W = lobpcg(A, start, B=B, M=sparse.diags(1 / pencil.diagonal()), largest=True, maxiter=iterations, tol=1e-5)
    return _settled(pencil, W, rank)


@dataclass(frozen=True, eq=False)
class Pencil:
    """The two sides of the eigenproblem as products with blocks Q (D, c); neither D x D matrix is ever made."""

    X: sparse.csr_matrix
    Ms: sparse.csr_matrix
    ridge: float

    @cached_property
    def _Xt(self) -> sparse.csr_matrix:
        return self.X.T.tocsr()

    def supervised(self, Q: np.ndarray) -> np.ndarray:
        """`Xᵀ M_s X Q`."""
        return self._Xt @ (self.Ms @ self._rows(Q))

    def spread(self, Q: np.ndarray) -> np.ndarray:
        """`(Xᵀ X + ε I) Q`."""
        return self._Xt @ self._rows(Q) + self.ridge * Q

    def diagonal(self) -> np.ndarray:
        """The diagonal of `Xᵀ X + ε I`."""
        return np.asarray(self.X.multiply(self.X).sum(axis=0)).ravel() + self.ridge

    def astype(self, precision: type[np.floating]) -> Pencil:
        """The same with products in another precision."""
        return Pencil(self.X.astype(precision), self.Ms.astype(precision), self.ridge)

    def _rows(self, Q: np.ndarray) -> np.ndarray:
        # in row order: scipy's sparse product with columns in memory order takes fifteen times as long
        return self.X @ np.ascontiguousarray(Q, dtype=self.X.dtype)


def _settled(pencil: Pencil, Q: np.ndarray, rank: int) -> Directions:
    """The best W and k within the space of Q's columns (Rayleigh, Ritz), in double precision; as `directions` says."""
    A, B = Q.T @ pencil.supervised(Q), Q.T @ pencil.spread(Q)
    size = len(A)
    k, within = linalg.eigh((A + A.T) / 2, (B + B.T) / 2, subset_by_index=[max(0, size - rank), size - 1])
    order = np.flatnonzero((k > 1e-12 * max(k.max(), 0.0)) | (np.arange(len(k)) == k.argmax()))[::-1]
    W = Q @ within[:, order]
    largest = np.take_along_axis(W, np.abs(W).argmax(axis=0, keepdims=True), 0)
    return Directions(np.ascontiguousarray(W * np.where(largest < 0, -1.0, 1.0)), k[order])
