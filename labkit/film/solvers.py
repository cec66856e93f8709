"""Three ways to a G of rank d. In: a `TripletHinge` and d, or a start. Out: a `Solution`.

    closed_form   exact if every hinge is active: the top d positive eigenpairs of -(K + Kᵀ)/2
    cayley_bb     the paper's: P on the Stiefel manifold, s eliminated                        (the lesson)
    factorised    the same objective over B, by L-BFGS from the exact minimum of a first model   (what wins)

All end in the same gauge: s falling, the largest entry of each column of P positive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from labkit.film import stiefel
from labkit.film.objective import TripletHinge
from labkit.progress import Progress, silent


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
    return nearest(-objective.K(), d)


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

    found = stiefel.minimise(
        reduced,
        start.P,
        iterations=iterations,
        tolerance=tolerance,
        report=lambda number, step: progress(number, iterations, f"Stiefel descent, objective {step.value:.6g}"),
    )
    s = objective.by_stiefel(found.point, s)[2]
    rows = [
        {"epoch": number, "objective": step.value, "stationarity": step.stationarity, "drift": step.drift}
        for number, step in enumerate(found.steps)
    ]
    order = np.argsort(-s, kind="stable")
    return _with_gap(objective, Solution(_signed(found.point[:, order]), s[order], tuple(rows)))


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
        B = min(B, nearest(-objective.K(objective.slopes(B)), len(B)).B, key=lambda B: evaluate(B)[0])
    latest = evaluate(B)
    rows = [_row(0, *latest)]

    def flat(x: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal latest
        latest = evaluate(x.reshape(B.shape))
        return latest[0], latest[1].ravel()

    def report(x: np.ndarray) -> None:
        rows.append(_row(len(rows), *latest))
        progress(len(rows) - 1, iterations, f"descent on B, objective {latest[0]:.6g}")

    if not iterations:
        return _with_gap(objective, _of_factor(B, rows))
    options = {"maxiter": iterations, "maxcor": 10, "ftol": tolerance, "gtol": 0.0, "maxfun": 4 * iterations}
    found = optimize.minimize(flat, B.ravel(), jac=True, method="L-BFGS-B", callback=report, options=options)
    return _with_gap(objective, _of_factor(found.x.reshape(B.shape), rows))


def nearest(A: np.ndarray, d: int) -> Solution:
    """The G of rank d, positive semidefinite, nearest to a symmetric A (r, r)."""
    r = len(A)
    roots, P = linalg.eigh(A, subset_by_index=[r - d, r - 1], check_finite=False)
    return Solution(_signed(P[:, ::-1]), np.maximum(roots[::-1], 0))


def _of_factor(B: np.ndarray, rows: list[dict[str, float]]) -> Solution:
    """The gauge: from B (d, r) to P and s."""
    _, roots, Pt = np.linalg.svd(B, full_matrices=False)
    P = _signed(Pt.T)
    rows[-1] = rows[-1] | {"drift": stiefel.drift(P)}
    return Solution(P, roots**2, tuple(rows))


def _signed(P: np.ndarray) -> np.ndarray:
    """Each column with its largest entry positive."""
    largest = np.take_along_axis(P, np.abs(P).argmax(axis=0, keepdims=True), 0)
    return P * np.where(largest < 0, -1.0, 1.0)


def _evaluator(objective: TripletHinge, device: str) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """F and its gradient at B, computed in the precision of the features and on the device, given in float64."""
    precision = objective.V.dtype
    if device == "cpu":

        def evaluate(B: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = objective.by_factor(B.astype(precision))
            return value, gradient.astype(np.float64)

        return evaluate
    import torch

    there = objective.on(device)

    def evaluate_there(B: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = there.by_factor(torch.as_tensor(B.astype(precision)).to(device))
        return value, gradient.cpu().numpy().astype(np.float64)

    return evaluate_there


def _row(epoch: int, value: float, gradient: np.ndarray) -> dict[str, float]:
    return {"epoch": epoch, "objective": value, "stationarity": float(np.linalg.norm(gradient))}


def _with_gap(objective: TripletHinge, found: Solution) -> Solution:
    """The solution with its optimality gap in the last row."""
    last = dict(found.rows[-1])
    last["gap"] = last["objective"] - objective.bound(objective.slopes(found.B))
    return Solution(found.P, found.s, (*found.rows[:-1], last))
