"""The two forces of t-SNE, both exact: neighbours pull each other, all points push each other.

    q_ij = 1 / (1 + |y_i - y_j|²)                        Z = Σ_{i≠j} q_ij
    ∂KL/∂y_i = 4 Σ_j (p_ij - q_ij / Z) q_ij (y_i - y_j)  = 4 (pull_i - push_i / Z)    (van der Maaten & Hinton, eq. 5)

In: points float32 (n, 2). Out: pull and push, (n, 2) each, and Z. The sums are plain loops that numba compiles, once
for a machine: the innermost runs over many j at a time, and no q_ij is ever stored. `on_device` has the same in torch.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numba import njit
from scipy import sparse

Forces = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, float]]  # points -> pull, push, Z

_ONE = np.float32(1)


def forces(P: sparse.csr_array) -> Forces:
    """Pull and push for this P (n, n), at any points."""
    starts, columns, p = P.indptr.astype(np.int64), P.indices.astype(np.int64), P.data.astype(np.float32)

    def at(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        push, Z = _push(points)
        return _pull(points, starts, columns, p), push, Z

    return at


def divergence(P: sparse.csr_array, points: np.ndarray, Z: float) -> float:
    """KL(P||Q) = Σ p_ij ln(p_ij Z / q_ij), in float64; pairs with p_ij = 0 add nothing."""
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    apart = (points[P.indices] - points[rows]).astype(np.float64)
    p, q = P.data, 1 / (1 + (apart**2).sum(axis=1))
    held = p > 0
    return float((p[held] * np.log(p[held] * Z / q[held])).sum())


def _compiled(loops: Callable[..., Any]) -> Any:
    """By numba at the first call, and kept on disk if there is a place to write.

    Sums in any order, so that a processor adds many terms at once; `nogil`: other threads go on meanwhile.
    """
    made = njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})(loops)
    with suppress(RuntimeError):  # nowhere to write: each process compiles for itself
        made.enable_caching()
    return made


@_compiled
def _pull(points, starts, columns, p):  # type: ignore[no-untyped-def]
    """pull_i = Σ_j p_ij q_ij (y_i - y_j), over P's entries."""
    x, y = points[:, 0].copy(), points[:, 1].copy()
    force = np.empty_like(points)
    for i in range(len(x)):
        right = up = np.float32(0)
        for entry in range(starts[i], starts[i + 1]):
            j = columns[entry]
            dx, dy = x[i] - x[j], y[i] - y[j]
            w = p[entry] / (_ONE + dx * dx + dy * dy)
            right += w * dx
            up += w * dy
        force[i, 0], force[i, 1] = right, up
    return force


@_compiled
def _push(points):  # type: ignore[no-untyped-def]
    """push_i = Σ_j q_ij² (y_i - y_j), over all pairs, and Z."""
    x, y = points[:, 0].copy(), points[:, 1].copy()
    force = np.empty_like(points)
    Z = 0.0
    for i in range(len(x)):
        near = right = up = np.float32(0)
        for j in range(len(x)):
            dx, dy = x[i] - x[j], y[i] - y[j]
            q = _ONE / (_ONE + dx * dx + dy * dy)
            near += q
            right += q * q * dx
            up += q * q * dy
        force[i, 0], force[i, 1] = right, up
        Z += near
    return force, Z - len(x)  # every q_ii is 1
