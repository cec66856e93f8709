"""Compute L: `learn` takes rows X (n, D) and triplets (t, 3); the solvers that it calls take an objective.

`learn` makes features `V = X R` for some R (D, r), a solver gives B (d, r), and `L = B Rᵀ` (d, D):

    paper         features of a truncated SVD `X ≈ V Σ Uᵀ`; P on the Stiefel manifold by Cayley steps      `cayley_bb`
    closed-form   the same features; the minimum if every hinge is active: the top d positive eigenpairs of -(K + Kᵀ)/2
    full-rank     features X W of the generalised eigenproblem, which keep rare words; L-BFGS on the hinge  `factorised`

With `batch` the features are computed in batches and only G is kept (M-FILM, `averaged`): this saves memory, not time.
All solvers return s in decreasing order, and P with signs such that the largest entry of each column is positive.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import torch
from scipy import linalg, optimize, sparse
from scipy.sparse.linalg import LinearOperator, lobpcg
from sklearn.utils.extmath import randomized_svd

from labkit.arrays import positive_peaks
from labkit.device import cuda_or_cpu
from labkit.film import stiefel
from labkit.film.objective import TripletHinge, hinge, supervision
from labkit.film.stiefel import drift
from labkit.progress import Progress, note, silent

if TYPE_CHECKING:
    from labkit.film.method import FilmSettings

# --- from an objective -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Solution:
    """P (r, d) with orthonormal columns, s (d,) >= 0, so that `G = P diag(s) Pᵀ`; and the history of the solver.

    Each history row has the objective; `stationarity` is the size of its gradient; `drift` the largest entry of |PᵀP -
    I|; `gap` an upper bound on the distance to the best objective at any rank.
    """

    P: np.ndarray
    s: np.ndarray
    rows: tuple[dict[str, float], ...] = ()

    @property
    def B(self) -> np.ndarray:
        """`√S Pᵀ` (d, r), with `G = BᵀB`."""
        return np.sqrt(self.s)[:, None] * self.P.T


def nearest_of_rank(A: np.ndarray, d: int) -> Solution:
    """The G of rank d, positive semidefinite, nearest to a symmetric A (r, r): its d largest positive eigenpairs."""
    r = len(A)
    roots, P = linalg.eigh(A, subset_by_index=[r - d, r - 1], check_finite=False)
    return Solution(positive_peaks(P[:, ::-1]), np.maximum(roots[::-1], 0))


def closed_form(objective: TripletHinge, d: int) -> Solution:
    """The minimum of F if every hinge is active (Λ = I): then F is `⟨K, G⟩ + ½‖G‖²` plus a constant."""
    return nearest_of_rank(-objective.K(), d)


def calibrated(objective: TripletHinge, d: int, *, margin: float = 3.0) -> TripletHinge:
    """The objective with m = `margin` times the median |z_i| of the closed form, over the anchors with triplets."""
    z = objective.z(objective.V @ closed_form(objective, d).B.T)
    return objective.rescaled(margin * _typical(z[objective.margins > 0]))


def _typical(z: np.ndarray) -> float:
    return max(float(np.median(np.abs(z))), 1e-12)


def cayley_bb(
    objective: TripletHinge,
    start: Solution,
    *,
    iterations: int = 300,
    tolerance: float = 1e-5,
    progress: Progress = silent,
) -> Solution:
    """`min_P f(P)`, `f(P) = min_{s >= 0} F(P, s)`, by the Cayley steps of `labkit.film.stiefel`.

    Limitation: the gradient of a column of P is scaled by its s, so a column whose s has become zero no longer moves.
    Start with many more features than columns.
    """
    s = start.s

    def reduced(P: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal s  # the search for the next s* starts from the last one
        value, gradient, s = objective.by_stiefel(P, s)
        return value, gradient

    def report(step: int, value: float) -> None:
        progress(step, iterations, f"Stiefel descent, objective {value:.6g}")

    P, rows = stiefel.minimise(reduced, start.P, iterations=iterations, tolerance=tolerance, report=report)
    s = objective.by_stiefel(P, s)[2]
    order = np.argsort(-s, kind="stable")
    return _with_gap(objective, Solution(positive_peaks(P[:, order]), s[order], tuple(rows)))


def factorised(
    objective: TripletHinge,
    start: Solution,
    *,
    iterations: int = 100,
    tolerance: float = 1e-9,
    device: str = "cpu",
    progress: Progress = silent,
) -> Solution:
    """L-BFGS over B until an iteration gains less than `tolerance` of the objective; `device` computes the products."""
    there, precision, shape = objective if device == "cpu" else objective.on(device), objective.V.dtype, start.B.shape
    latest = 0.0, np.zeros(0)  # the last value and gradient
    rows: list[dict[str, float]] = []

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal latest
        B = x.reshape(shape).astype(precision)
        value, gradient = there.by_factor(B if device == "cpu" else torch.as_tensor(B).to(device))
        latest = value, (gradient if device == "cpu" else gradient.cpu().numpy()).astype(np.float64).ravel()
        return latest

    def record(x: np.ndarray) -> None:
        value, gradient = latest
        rows.append({"epoch": len(rows), "objective": value, "stationarity": float(np.linalg.norm(gradient))})
        progress(len(rows) - 1, iterations, f"descent on B, objective {value:.6g}")

    x = start.B.ravel()
    evaluate(x)
    record(x)
    if iterations:
        options = {"maxiter": iterations, "maxcor": 10, "ftol": tolerance, "gtol": 0.0, "maxfun": 4 * iterations}
        x = optimize.minimize(evaluate, x, jac=True, method="L-BFGS-B", callback=record, options=options).x
    _, roots, Pt = np.linalg.svd(x.reshape(shape), full_matrices=False)  # B = √S Pᵀ, up to a rotation of its rows
    P = positive_peaks(Pt.T)
    rows[-1] |= {"drift": drift(P)}
    return _with_gap(objective, Solution(P, roots**2, tuple(rows)))


def _with_gap(objective: TripletHinge, solution: Solution) -> Solution:
    """The solution with its optimality gap in the last row."""
    gap = solution.rows[-1]["objective"] - objective.bound(objective.slopes(solution.B))
    return replace(solution, rows=(*solution.rows[:-1], solution.rows[-1] | {"gap": gap}))


# --- from batches of anchors -------------------------------------------------------------------------------------


def averaged(
    objective: TripletHinge,
    d: int,
    *,
    batch: int = 2048,
    epochs: int = 3,
    margin: float = 3.0,
    seed: int = 0,
    progress: Progress = silent,
) -> Solution:
    """M-FILM: `Ḡ ← (1 - γ) Ḡ - γ K_batch N/b`, `γ = 2/(t + 1)`, and `G` the matrix of rank d nearest to Ḡ.

    G is averaged because it is unique; P and L are only determined up to a rotation. The first epoch treats every hinge
    as active, which gives the closed form and sets the margin; later epochs use the slopes of the previous G.
    `objective.V` may compute features for rows on demand, so that they are never all in memory.
    """
    anchors = np.flatnonzero(objective.margins > 0)
    batch, count = min(batch, len(anchors)), -(-len(anchors) // batch)
    random = np.random.default_rng(seed)

    def shuffled() -> Iterator[TripletHinge]:
        return map(objective.batch, np.array_split(random.permutation(anchors), count))

    mean = -np.sum([part.K() for part in shuffled()], axis=0)  # (r, r)
    G = nearest_of_rank(mean, d)
    sizes = np.concatenate([part.z(part.V @ G.B.T)[part.margins > 0] for part in shuffled()])
    objective = objective.rescaled(margin * _typical(sizes))
    rows: list[dict[str, float]] = [{"epoch": 0, "objective": _value(shuffled(), G)}]
    for t in range(count + 1, count * (epochs + 1) + 1):
        part = objective.batch(random.choice(anchors, batch, replace=False))
        share = 2 / (t + 1)
        mean = (1 - share) * mean - share * len(anchors) / batch * part.K(part.slopes(G.B))
        G = nearest_of_rank(mean, d)
        if t % count == 0:
            rows.append({"epoch": len(rows), "objective": _value(shuffled(), G), "drift": drift(G.P)})
            progress(len(rows) - 1, epochs, f"batches, objective {rows[-1]['objective']:.6g}")
    return Solution(G.P, G.s, tuple(rows))


def _value(parts: Iterator[TripletHinge], G: Solution) -> float:
    """F over all batches."""
    losses = (hinge(part.margins + part.z(part.V @ G.B.T), part.softness)[0].sum() for part in parts)
    return float(sum(losses) + G.s @ G.s / 2)


class Projected:
    """The features X R, computed for requested rows and not stored."""

    def __init__(self, X: sparse.csr_matrix, R: np.ndarray) -> None:
        self.X, self.R = X, R
        self.shape, self.dtype = (X.shape[0], R.shape[1]), R.dtype

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        return self.X[rows] @ np.ascontiguousarray(self.R)


# --- features of full rank, which keep the rare words that a truncated SVD drops ---------------------------------

DENSE = 400  # columns up to which LAPACK is faster, and exact
Product: TypeAlias = Callable[[np.ndarray], np.ndarray]


def directions(
    X: sparse.csr_matrix,
    M: sparse.csr_matrix,
    rank: int,
    *,
    ridge: float = 0.3,
    iterations: int = 12,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[np.ndarray, np.ndarray]:
    """The top `rank` generalised eigenvectors of X (n, D) and M = C T (n, n): W (D, r) and k (r,), in decreasing order.

        (Xᵀ M_s X) w = k (Xᵀ X + ε I) w        Wᵀ (Xᵀ X + ε I) W = I        M_s = (M + Mᵀ) / 2 Only k > 0 are kept, but
        always at least the largest. X stays sparse. `L = √k Wᵀ` is the closed form of rank r; the hinge
    can continue on the features `X W`. The ridge ε damps rare directions of X, where truncation would drop them.

    Solved by LOBPCG with the diagonal as preconditioner. The default number of iterations leaves the smaller k inexact,
    without a measurable effect on similarities.
    """
    X, Ms, columns = sparse.csr_matrix(X), ((M + M.T) / 2).tocsr(), X.shape[1]
    A, B = _products(X, Ms, ridge)
    if columns <= max(DENSE, 4 * rank):
        return _rayleigh_ritz(A, B, np.eye(columns), rank)
    progress(0, None, "directions that keep related sentences together")
    # single precision: the products are memory-bound, so halving the data more than doubles the speed
    supervised, spread = (
        LinearOperator((columns, columns), matvec=product, matmat=product, dtype=np.float64)
        for product in _products(X.astype(np.float32), Ms.astype(np.float32), ridge)
    )
    diagonal = np.asarray(X.multiply(X).sum(axis=0)).ravel() + ridge
    # a tenth more vectors than requested, so that the last requested ones converge too
    start = np.random.default_rng(seed).standard_normal((columns, rank + rank // 10 + 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # stopping before the tolerance is intended
        _, W = lobpcg(
            supervised, start, B=spread, M=sparse.diags(1 / diagonal), largest=True, maxiter=iterations, tol=1e-5
        )
    return _rayleigh_ritz(A, B, W, rank)


def _products(X: sparse.csr_matrix, Ms: sparse.csr_matrix, ridge: float) -> tuple[Product, Product]:
    """`Xᵀ M_s X Q` and `(Xᵀ X + ε I) Q` for blocks Q (D, c), without forming a D x D matrix."""
    Xt = X.T.tocsr()

    def rows(Q: np.ndarray) -> np.ndarray:
        # in row order: scipy's sparse product is fifteen times slower with contiguous columns
        return X @ np.ascontiguousarray(Q, dtype=X.dtype)

    return lambda Q: Xt @ (Ms @ rows(Q)), lambda Q: Xt @ rows(Q) + ridge * Q


def _rayleigh_ritz(A: Product, B: Product, Q: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The best W and k within the span of Q's columns, in double precision, filtered as in `directions`."""
    small_A, small_B = Q.T @ A(Q), Q.T @ B(Q)
    wanted = [max(0, len(small_A) - rank), len(small_A) - 1]
    k, within = linalg.eigh((small_A + small_A.T) / 2, (small_B + small_B.T) / 2, subset_by_index=wanted)
    order = np.flatnonzero((k > 1e-12 * max(k.max(), 0.0)) | (np.arange(len(k)) == k.argmax()))[::-1]
    return np.ascontiguousarray(positive_peaks(Q @ within[:, order])), k[order]


# --- rows and triplets to L --------------------------------------------------------------------------------------

SOLVERS = ("full-rank", "closed-form", "paper")


def learn(
    X: sparse.csr_matrix,
    triplets: np.ndarray,
    settings: FilmSettings,
    *,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[np.ndarray, tuple[dict[str, float], ...]]:
    """Learn L (d, D), the strongest row first, and a history row for each step; the last has the optimality gap.

    L has fewer rows than requested if the rank is too low, and its last rows may be zero.
    """
    if settings.rank and settings.rank < settings.dimension:
        raise ValueError(
            f"setting rank is {settings.rank}, but must be at least the dimension, {settings.dimension}; raise it or "
            "leave it at 0"
        )
    R = _projection(X, triplets, settings, seed, progress)
    d = min(settings.dimension, R.shape[1])
    if settings.batch:
        objective = TripletHinge.of(Projected(X, R), triplets, margin=1.0)
        sizes = {"batch": settings.batch, "epochs": settings.epochs}
        solution = averaged(objective, d, **sizes, margin=settings.margin, seed=seed, progress=progress)
    else:
        # at full rank the descent is short and memory-bound: single precision suffices and halves the time
        precision = np.float32 if settings.solver == "full-rank" else np.float64
        V = X.astype(precision) @ np.ascontiguousarray(R, dtype=precision)
        objective = calibrated(TripletHinge.of(V, triplets, margin=1.0), d, margin=settings.margin)
        solution = _solved(objective, settings, d, seed, progress)
    if not solution.s.any():
        note(
            f"no direction of the {X.shape[1]} words (columns) brings the {X.shape[0]} sentences closer to those "
            "with the same meaning than to others, so all similarities are zero. Use sentences that differ in more "
            "words, or check their labels",
            stacklevel=2,
        )
    return solution.B @ R.T, solution.rows


def _projection(
    X: sparse.csr_matrix, triplets: np.ndarray, settings: FilmSettings, seed: int, progress: Progress
) -> np.ndarray:
    """R (D, r) such that the features are X R."""
    if settings.solver == "full-rank":
        M, rank = supervision(triplets, X.shape[0])[0], settings.rank or settings.dimension
        return directions(X, M, rank, ridge=settings.ridge, seed=seed, progress=progress)[0]
    rank = min(settings.rank or 3 * settings.dimension, *X.shape)
    progress(0, None, f"singular value decomposition, rank {rank}")
    _, sizes, Ut = randomized_svd(X, rank, n_iter=4, random_state=seed)
    known = sizes > 1e-9 * sizes[0]  # beyond the rank of X there is only rounding error, which 1/Σ would amplify
    return Ut[known].T / sizes[known]


def _solved(objective: TripletHinge, settings: FilmSettings, d: int, seed: int, progress: Progress) -> Solution:
    start, iterations = closed_form(objective, d), settings.iterations
    if settings.solver == "paper":
        start = Solution(stiefel.random_point(objective.V.shape[1], d, seed), np.full(d, start.s.mean()))
        return cayley_bb(objective, start, iterations=iterations, progress=progress)
    iterations = 0 if settings.solver == "closed-form" else iterations
    device = cuda_or_cpu(settings.device)
    return factorised(objective, start, iterations=iterations, tolerance=1e-5, device=device, progress=progress)
