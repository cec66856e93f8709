"""Descent on the Stiefel manifold: matrices P (r, d) with orthonormal columns, `PᵀP = I`.

    objective(P) -> (φ, ∇φ)          any function of P with its ordinary gradient, (r, d)
    minimise(objective, P) -> the minimum, and a history row for each step

A step moves along a Cayley curve (eq. 24, 25), which stays on the manifold. Its length is Barzilai and Borwein's (eq.
26, 27), limited by a line search in which φ may rise but its running mean may not (Zhang and Hager).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]

DRIFT = 1e-13  # above this the columns are made orthonormal again
SHORTEST, FIRST, LONGEST_STEP = 1e-15, 1e-3, 1e15  # lengths of a step
DECREASE = 1e-4  # ρ: the share of the decrease predicted by the slope that a step must achieve
SHRINK = 0.2  # factor on a step that is too long
MEMORY = 0.85  # γ: decay of past values of φ in their average


def stationarity(P: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """`F(P) = ∇φ - P ∇φᵀ P` (eq. 21), (r, d). Zero if φ is stationary on the manifold, unlike ∇φ."""
    return gradient - P @ (gradient.T @ P)


def cayley_direct(P: np.ndarray, gradient: np.ndarray, length: float) -> np.ndarray:
    """`(I + τ/2 A)⁻¹ (I - τ/2 A) P` with `A = ∇φ Pᵀ - P ∇φᵀ` (eq. 24): solves r equations.

    The paper prints `A = φ Pᵀ - P φᵀ` but means the gradient.
    """
    A = gradient @ P.T - P @ gradient.T
    unit = np.eye(len(P))
    return np.linalg.solve(unit + length / 2 * A, P - length / 2 * (A @ P))


def cayley_woodbury(P: np.ndarray, gradient: np.ndarray, length: float) -> np.ndarray:
    """`P - τ F (I + τ/2 GᵀF)⁻¹ GᵀP` with `F = [∇φ, P]`, `G = [P, -∇φ]` (eq. 25): the same point from 2d equations."""
    F, G = np.hstack([gradient, P]), np.hstack([P, -gradient])
    unit = np.eye(F.shape[1])
    return P - length * (F @ np.linalg.solve(unit + length / 2 * (G.T @ F), G.T @ P))


def cayley(P: np.ndarray, gradient: np.ndarray, length: float) -> np.ndarray:
    """The point at distance `length` along the Cayley curve from P, downhill, using the smaller system."""
    rows, columns = P.shape
    return (cayley_woodbury if 2 * columns < rows else cayley_direct)(P, gradient, length)


def bb_length(dP: np.ndarray, dF: np.ndarray, *, long: bool) -> float | None:
    """`⟨dP, dP⟩ / |⟨dP, dF⟩|` (eq. 26, the long step) or `|⟨dP, dF⟩| / ⟨dF, dF⟩` (eq. 27); None if it is 0/0."""
    mixed = abs(float(np.vdot(dP, dF)))
    over, under = (float(np.vdot(dP, dP)), mixed) if long else (mixed, float(np.vdot(dF, dF)))
    if over <= 0 or under <= 0:
        return None
    return min(max(over / under, SHORTEST), LONGEST_STEP)


def minimise(
    objective: Objective,
    start: np.ndarray,
    *,
    iterations: int = 300,
    tolerance: float = 1e-6,
    report: Callable[[int, float], None] = lambda step, value: None,
) -> tuple[np.ndarray, list[dict[str, float]]]:
    """Descend from `start` until `‖F(P)‖ <= tolerance * ‖F(start)‖`, or `iterations` steps are done.

    A step of length τ is accepted when `φ(P_τ) <= C - ρ τ ‖A‖²/2`, where C is an average of past values; else τ
    shrinks. The slope of φ at the start of the curve is `-‖A‖²/2`. `report(number, φ)` is called after each step.
    A row of the history has φ, `‖F(P)‖`, and the largest entry of `|PᵀP - I|`.
    """
    P = np.asarray(start, dtype=np.float64)
    value, gradient = objective(P)
    F = stationarity(P, gradient)
    goal, length = tolerance * np.linalg.norm(F), FIRST
    mean, weight = value, 1.0
    rows: list[dict[str, float]] = []

    def record() -> float:
        size = float(np.linalg.norm(F))
        rows.append({"epoch": len(rows), "objective": value, "stationarity": size, "drift": drift(P)})
        return size

    while record() > goal and len(rows) <= iterations:
        fall = DECREASE * _squared_skew(P, gradient) / 2  # for a step of length 1
        while True:  # shorten the step until it is accepted
            after = cayley(P, gradient, length)
            if drift(after) > DRIFT:
                after = _orthonormal(after)
            new_value, new_gradient = objective(after)
            if new_value <= mean - length * fall or length <= SHORTEST:
                break
            length *= SHRINK
        if length <= SHORTEST:  # rounding hides any remaining descent
            break
        new_F = stationarity(after, new_gradient)
        next_length = bb_length(after - P, new_F - F, long=len(rows) % 2 == 1)
        P, value, gradient, F = after, new_value, new_gradient, new_F
        report(len(rows), value)
        length = next_length or FIRST  # no length follows from two steps to the same point
        mean = (MEMORY * weight * mean + value) / (MEMORY * weight + 1)
        weight = MEMORY * weight + 1
    return P, rows


def drift(P: np.ndarray) -> float:
    """The largest entry of `|PᵀP - I|`."""
    return float(np.abs(P.T @ P - np.eye(P.shape[1])).max())


def random_point(rows: int, columns: int, seed: int) -> np.ndarray:
    """A point of the manifold, uniformly at random: (rows, columns)."""
    return _orthonormal(np.random.default_rng(seed).standard_normal((rows, columns)))


def _squared_skew(P: np.ndarray, gradient: np.ndarray) -> float:
    """`‖A‖²_F` without forming A (r, r): `2 (‖∇φ‖² - ⟨Pᵀ∇φ, (Pᵀ∇φ)ᵀ⟩)`."""
    inner = P.T @ gradient
    return 2 * float(np.vdot(gradient, gradient) - np.vdot(inner, inner.T))


def _orthonormal(P: np.ndarray) -> np.ndarray:
    """Make the columns of P orthonormal without flipping their directions."""
    Q, R = np.linalg.qr(P)
    return Q * np.where(np.diag(R) < 0, -1, 1)
