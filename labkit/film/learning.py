"""Rows and triplets to L: the three settings of FILM in one place. In: X (n, D) sparse, triplets (t, 3). Out: L (d, D).

    paper         features V of a truncated SVD `X ≈ V Σ Uᵀ`; P on the Stiefel manifold by Cayley steps
    closed-form   the same features; the exact minimum of the objective in which every hinge is active
    full-rank     features X W of the generalised eigenproblem, which keeps rare words; then the hinge by L-BFGS

Whatever the setting, features are `X R` for some R (D, r), the solver gives B (d, r), and `L = B Rᵀ`.
With `batch` the features are made a batch at a time and only G is kept (M-FILM).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from labkit.evaluation.inputs import whole
from labkit.film import solvers, stiefel
from labkit.film.averaging import averaged
from labkit.film.objective import TripletHinge, supervision
from labkit.film.spectral import directions
from labkit.progress import Progress, silent
from labkit.training.settings import cuda_or_cpu

_NOWHERE = (
    "in no direction of the {1} words (columns) are the {0} sentences closer to those that mean the same than to "
    "others: what was learned is zero, and so is every similarity; give sentences that differ in more words, or check "
    "their labels"
)
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
    """How to learn. `rank` 0: as many features as dimensions at full rank, three times as many for an SVD."""

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
    """L (d, D) in float64, the strongest row first. Its rows may be fewer than asked where the rank allows no more, and
    the last ones zero where they would serve nothing."""

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
    """L from rows and triplets; `rows` tell of the descent, and end with the optimality gap."""
    plan, device = plan or Plan(), cuda_or_cpu(device)
    R = _projection(X, triplets, plan, seed, progress)
    d = min(plan.dimensions, R.shape[1])
    if plan.batch:
        objective = TripletHinge.of(Projected(X, R), triplets, margin=1.0)
        found = averaged(
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
        objective = solvers.calibrated(
            TripletHinge.of(V, triplets, margin=1.0), d, margin=plan.margin, softness=plan.softness
        )
        found = _solved(objective, plan, d, seed, device, progress)
    if not found.s.any():
        warnings.warn(_NOWHERE.format(*X.shape), UserWarning, stacklevel=2)
    return Learned(found.B @ R.T, found.rows)


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


def _solved(
    objective: TripletHinge, plan: Plan, d: int, seed: int, device: str, progress: Progress
) -> solvers.Solution:
    start = solvers.closed_form(objective, d)
    if plan.solver == "paper":
        random = stiefel.random_point(objective.V.shape[1], d, seed)
        begin = solvers.Solution(random, np.full(d, start.s.mean()))
        return solvers.cayley_bb(objective, begin, iterations=plan.iterations, progress=progress)
    iterations = 0 if plan.solver == "closed-form" else plan.iterations
    return solvers.factorised(
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
