"""From one point of the Stiefel manifold, two ways against the gradient: along the Cayley curve, and straight on.

    Cayley curve   P(τ) = (I + τ/2 A)⁻¹ (I - τ/2 A) P     (eq. 24), stays on the manifold
    straight on    P - τ A P                              (eq. 22), leaves it

In: an objective, a point, lengths τ. Out: a `Walk`: how the objective goes, and how far `PᵀP` is from I. `both_ways`
has the points themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from labkit.film.stiefel import Objective, cayley, drift, stationarity


@dataclass(frozen=True)
class Walk:
    """Lengths τ; φ after each, and the largest entry of `|PᵀP - I|`, along the curve and straight on."""

    lengths: tuple[float, ...]
    curve: tuple[float, ...]
    straight: tuple[float, ...]
    curve_drift: tuple[float, ...]
    straight_drift: tuple[float, ...]


def walk(objective: Objective, P: np.ndarray, lengths: Sequence[float]) -> Walk:
    """Both ways from P (r, d)."""
    curve, straight = both_ways(P, objective(P)[1], lengths)
    return Walk(
        tuple(float(length) for length in lengths),
        tuple(objective(point)[0] for point in curve),
        tuple(objective(point)[0] for point in straight),
        tuple(drift(point) for point in curve),
        tuple(drift(point) for point in straight),
    )


def both_ways(P: np.ndarray, gradient: np.ndarray, lengths: Iterable[float]) -> tuple[np.ndarray, np.ndarray]:
    """Where steps of these lengths lead from P (r, d), along the curve and straight on: (t, r, d) each."""
    F = stationarity(P, gradient)  # = A P
    curve = [cayley(P, gradient, length) for length in lengths]
    return np.array(curve), np.array([P - length * F for length in lengths])
