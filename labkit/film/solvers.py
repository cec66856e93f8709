"""The ways to L: from rows X (n, D) and triplets (t, 3) by `learn`, from an objective by the solvers it calls.

`learn` makes features `X R` for some R (D, r), a solver gives B (d, r), and `L = B Rᵀ` (d, D). It has three settings:

    paper         features V of a truncated SVD `X ≈ V Σ Uᵀ`; P on the Stiefel manifold by Cayley steps
    closed-form   the same features; the exact minimum of the objective in which every hinge is active
    full-rank     features X W of the generalised eigenproblem, which keeps rare words; then the hinge by L-BFGS

With `batch` the features are made a batch at a time and only G is kept (M-FILM): it saves memory, not time.

The solvers go from a `TripletHinge` and d, or a start, to a `Solution`, a G of rank d:

    closed_form   exact if every hinge is active: the top d positive eigenpairs of -(K + Kᵀ)/2
    cayley_bb     the paper's: P on the Stiefel manifold, s eliminated                        (the lesson)
    factorised    the same objective over B, by L-BFGS from the exact minimum of a first model   (what wins)
    averaged      M-FILM, from batches of anchors

All but the last end in the same gauge: s falling, the largest entry of each column of P positive.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from scipy import linalg, optimize, sparse
from scipy.sparse.linalg import LinearOperator, lobpcg
from sklearn.utils.extmath import randomized_svd

from labkit.arrays import positive_peaks, whole
from labkit.device import cuda_or_cpu
from labkit.film import stiefel
from labkit.film.objective import TripletHinge, hinge, supervision
from labkit.film.stiefel import drift
from labkit.progress import Progress, note, silent

# --- from an objective -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Solution:
    """P (r, d) with orthonormal columns, s (d,) >= 0, so that `G = P diag(s) Pᵀ`; and what happened on the way.

    Each row has the objective; `stationarity` the size of its gradient; `drift` the largest entry of |PᵀP - I|; `gap`
    how far, at most, the objective lies above that of the best G of any rank.
    """

    P: np.ndarray
    s: np.ndarray
    rows: tuple[dict[str, float], ...] = ()

    @property
    def B(self) -> np.ndarray:
        """`√S Pᵀ` (d, r), with `G = BᵀB`."""
        return np.sqrt(self.s)[:, None] * self.P.T


def closed_form(objective: TripletHinge, d: int) -> Solution:
    """The minimum of F when no hinge is inactive (Λ = I)."""
    return nearest_of_rank(-objective.K(), d)


def calibrated(objective: TripletHinge, d: int, *, margin: float = 3.0, softness: float = 0.5) -> TripletHinge:
    """The objective with m = `margin` times the median |z_i| of the closed form, over the anchors with triplets."""
    z = objective.z(objective.V @ closed_form(objective, d).B.T)
    size = float(np.median(np.abs(z[objective.margins > 0])))
    return objective.rescaled(margin * max(size, 1e-12), softness)


def cayley_bb(
    objective: TripletHinge,
    start: Solution,
    *,
    iterations: int = 300,
    tolerance: float = 1e-5,
    progress: Progress = silent,
) -> Solution:
    """`min_P f(P)`, `f(P) = min_{s >= 0} F(P, s)`, by the Cayley steps of `labkit.film.stiefel`.

    A weakness of this form: the gradient in a column of P has its s as a factor, so that a column whose s has fallen to
    zero no longer moves. Start with many more features than columns.
    """
    s = start.s

    def reduced(P: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal s
        value, gradient, s = objective.by_stiefel(P, s)
        return value, gradient

    descent = stiefel.minimise(
        reduced,
        start.P,
        iterations=iterations,
        tolerance=tolerance,
        report=lambda number, step: progress(number, iterations, f"Stiefel descent, objective {step.value:.6g}"),
    )
    s = objective.by_stiefel(descent.point, s)[2]
    rows = [
        {"epoch": number, "objective": step.value, "stationarity": step.stationarity, "drift": step.drift}
        for number, step in enumerate(descent.steps)
    ]
    order = np.argsort(-s, kind="stable")
    return _with_gap(objective, Solution(positive_peaks(descent.point[:, order]), s[order], tuple(rows)))


def factorised(
    objective: TripletHinge,
    start: Solution,
    *,
    iterations: int = 100,
    tolerance: float = 1e-9,
    model: bool = True,
    device: str = "cpu",
    progress: Progress = silent,
) -> Solution:
    """L-BFGS over B, until an iteration gains less than `tolerance` of the objective.

    `model`: first replace each hinge by its tangent at the start. What is left is quadratic in G and has a closed
    form; where that is better than the start, descend from there. `device` is where the products are made.
    """
    evaluate = _evaluator(objective, device)
    B = start.B
    if model:
        B = min(B, nearest_of_rank(-objective.K(objective.slopes(B)), len(B)).B, key=lambda B: evaluate(B)[0])
    latest = evaluate(B)
    rows: list[dict[str, float]] = []

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal latest
        latest = evaluate(x.reshape(B.shape))
        return latest[0], latest[1].ravel()

    def record() -> None:
        value, gradient = latest
        rows.append({"epoch": len(rows), "objective": value, "stationarity": float(np.linalg.norm(gradient))})

    def report(x: np.ndarray) -> None:
        record()
        progress(len(rows) - 1, iterations, f"descent on B, objective {latest[0]:.6g}")

    record()
    x = B.ravel()
    if iterations:
        options = {"maxiter": iterations, "maxcor": 10, "ftol": tolerance, "gtol": 0.0, "maxfun": 4 * iterations}
        x = optimize.minimize(flat, x, jac=True, method="L-BFGS-B", callback=report, options=options).x
    _, roots, Pt = np.linalg.svd(x.reshape(B.shape), full_matrices=False)
    P = positive_peaks(Pt.T)
    rows[-1] |= {"drift": drift(P)}
    return _with_gap(objective, Solution(P, roots**2, tuple(rows)))


def nearest_of_rank(A: np.ndarray, d: int) -> Solution:
    """The G of rank d, positive semidefinite, nearest to a symmetric A (r, r)."""
    r = len(A)
    roots, P = linalg.eigh(A, subset_by_index=[r - d, r - 1], check_finite=False)
    return Solution(positive_peaks(P[:, ::-1]), np.maximum(roots[::-1], 0))


def _evaluator(objective: TripletHinge, device: str) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """F and its gradient at B, computed in the precision of the features and on the device, given in float64."""
    precision = objective.V.dtype
    there = objective if device == "cpu" else objective.on(device)

    def evaluate(B: np.ndarray) -> tuple[float, np.ndarray]:
        if device == "cpu":
            value, gradient = objective.by_factor(B.astype(precision))
            return value, gradient.astype(np.float64)
        value, gradient = there.by_factor(torch.as_tensor(B.astype(precision)).to(device))
        return value, gradient.cpu().numpy().astype(np.float64)

    return evaluate


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
    softness: float = 0.5,
    seed: int = 0,
    progress: Progress = silent,
) -> Solution:
    """M-FILM: `Ḡ ← (1 - γ) Ḡ - γ K_batch N/b`, `γ = 2/(t + 1)`, and `G` the nearest of rank d to Ḡ.

    What is averaged is G, which is one matrix; P and L are known only up to a rotation, and their averages mean
    nothing. The first epoch takes every hinge as active, which ends in the closed form and sets the margin; the
    following take the slopes of the G before them. `objective.V` may be anything that gives features for rows:
    features that are made anew for each batch never lie in memory together.
    """
    anchors = np.flatnonzero(objective.margins > 0)
    count = -(-len(anchors) // batch)
    random = np.random.default_rng(seed)

    def shuffled() -> Iterator[TripletHinge]:
        for part in np.array_split(random.permutation(anchors), count):
            yield objective.batch(part)

    mean = -np.sum([part.K() for part in shuffled()], axis=0)
    G = nearest_of_rank(mean, d)
    sizes = np.concatenate([np.abs(part.z(part.V @ G.B.T))[part.margins > 0] for part in shuffled()])
    objective = objective.rescaled(margin * max(float(np.median(sizes)), 1e-12), softness)
    rows: list[dict[str, float]] = [{"epoch": 0, "objective": _value(shuffled(), G)}]
    for t in range(count + 1, count * (epochs + 1) + 1):
        part = objective.batch(random.choice(anchors, min(batch, len(anchors)), replace=False))
        share = 2 / (t + 1)
        scale = len(anchors) / min(batch, len(anchors))
        mean = (1 - share) * mean - share * scale * part.K(part.slopes(G.B))
        G = nearest_of_rank(mean, d)
        if (t - count) % count == 0:
            rows.append({"epoch": len(rows), "objective": _value(shuffled(), G), "drift": drift(G.P)})
            progress(len(rows) - 1, epochs, f"batches, objective {rows[-1]['objective']:.6g}")
    return Solution(G.P, G.s, tuple(rows))


def _value(parts: Iterator[TripletHinge], G: Solution) -> float:
    """F of all batches together."""
    losses = (hinge(part.margins + part.z(part.V @ G.B.T), part.softness)[0].sum() for part in parts)
    return float(sum(losses) + G.s @ G.s / 2)


# --- features of full rank, which keep the rare words that a truncated SVD throws away ---------------------------

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

        (Xᵀ M_s X) w = k (Xᵀ X + ε I) w        Wᵀ (Xᵀ X + ε I) W = I        M_s = (M + Mᵀ) / 2

    X stays sparse. `L = √k Wᵀ` is the closed form of rank r; the hinge may follow on the features `X W`. The ridge ε
    does what truncation did, gently: directions of X that occur seldom are damped, not dropped.

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
    return Directions(np.ascontiguousarray(positive_peaks(W)), k[order])


# --- rows and triplets to L --------------------------------------------------------------------------------------


SOLVERS = ("full-rank", "closed-form", "paper")
_WHOLE = (
    ("dimensions", 1, "rows of L"),
    ("rank", 0, "features before L"),
    ("iterations", 0, "steps of the descent"),
    ("batch", 0, "anchors at a time, 0 for all at once"),
    ("epochs", 1, "how often each anchor is met in batches"),
)


@dataclass(frozen=True)
class Plan:
    """The way to learn L. `rank` 0: as many features as dimensions at full rank, three times as many for an SVD."""

    solver: str = "full-rank"
    dimensions: int = 100
    rank: int = 0
    ridge: float = 1.0
    margin: float = 1.0
    softness: float = 0.5
    iterations: int = 12
    batch: int = 0
    epochs: int = 3

    def __post_init__(self) -> None:
        if self.solver not in SOLVERS:
            raise ValueError(f"solver is {self.solver!r}, expected one of {', '.join(SOLVERS)}")
        for name, least, what in _WHOLE:
            whole(name, getattr(self, name), least, 2**31, what)
        for name in ("ridge", "margin", "softness"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise ValueError(
                    f"{name} is {value!r}, expected a number above 0; leave it out for {getattr(Plan, name)}"
                )
        if self.rank and self.rank < self.dimensions:
            raise ValueError(
                f"there are {self.dimensions} dimensions for a rank of {self.rank}, expected at most as many: a map of "
                "features onto more dimensions than there are features adds none; lower them or raise the rank"
            )


@dataclass(frozen=True, eq=False)
class Learned:
    """The map L (d, D) in float64, the strongest row first, and a row of figures for each step of the descent.

    L may have fewer rows than asked for, where the rank allows no more, and zeros in the last ones.
    """

    L: np.ndarray
    rows: tuple[dict[str, float], ...]


def learn(
    X: sparse.csr_matrix,
    triplets: np.ndarray,
    plan: Plan | None = None,
    *,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress = silent,
) -> Learned:
    """Learn L from rows and triplets; `rows` tell of the descent, and end with the optimality gap."""
    plan, device = plan or Plan(), cuda_or_cpu(device)
    R = _projection(X, triplets, plan, seed, progress)
    d = min(plan.dimensions, R.shape[1])
    if plan.batch:
        objective = TripletHinge.of(Projected(X, R), triplets, margin=1.0)
        solution = averaged(
            objective,
            d,
            batch=plan.batch,
            epochs=plan.epochs,
            margin=plan.margin,
            softness=plan.softness,
            seed=seed,
            progress=progress,
        )
    else:
        # at full rank the descent is short and bound by memory: single precision is enough and halves it
        precision = np.float32 if plan.solver == "full-rank" else np.float64
        V = X.astype(precision) @ np.ascontiguousarray(R, dtype=precision)
        objective = calibrated(TripletHinge.of(V, triplets, margin=1.0), d, margin=plan.margin, softness=plan.softness)
        solution = _solved(objective, plan, d, seed, device, progress)
    if not solution.s.any():
        note(
            f"in no direction of the {X.shape[1]} words (columns) are the {X.shape[0]} sentences closer to those that "
            "mean the same than to others: what was learned is zero, and so is every similarity; give sentences that "
            "differ in more words, or check their labels",
            stacklevel=2,
        )
    return Learned(solution.B @ R.T, solution.rows)


def _projection(X: sparse.csr_matrix, triplets: np.ndarray, plan: Plan, seed: int, progress: Progress) -> np.ndarray:
    """R (D, r), such that the features are X R."""
    if plan.solver == "full-rank":
        M, _ = supervision(triplets, X.shape[0])
        return directions(X, M, plan.rank or plan.dimensions, ridge=plan.ridge, seed=seed, progress=progress).W
    rank = min(plan.rank or 3 * plan.dimensions, *X.shape)
    progress(0, None, f"singular value decomposition, rank {rank}")
    _, sizes, Ut = randomized_svd(X, rank, n_iter=4, random_state=seed)
    known = sizes > 1e-9 * sizes[0]  # beyond the rank of X there is only rounding, which 1/Σ would blow up
    return Ut[known].T / sizes[known]


def _solved(objective: TripletHinge, plan: Plan, d: int, seed: int, device: str, progress: Progress) -> Solution:
    start = closed_form(objective, d)
    if plan.solver == "paper":
        random = stiefel.random_point(objective.V.shape[1], d, seed)
        begin = Solution(random, np.full(d, start.s.mean()))
        return cayley_bb(objective, begin, iterations=plan.iterations, progress=progress)
    iterations = 0 if plan.solver == "closed-form" else plan.iterations
    return factorised(
        objective, start, iterations=iterations, tolerance=1e-5, model=False, device=device, progress=progress
    )


@dataclass(frozen=True, eq=False)
class Projected:
    """The features X R, made for the rows that are asked for and kept nowhere."""

    X: sparse.csr_matrix
    R: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.R.shape[1]

    @property
    def dtype(self) -> Any:
        return self.R.dtype

    def __getitem__(self, rows: np.ndarray) -> np.ndarray:
        return self.X[rows] @ np.ascontiguousarray(self.R)
