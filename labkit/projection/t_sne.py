"""t-SNE: neighbours stay neighbours. Distances are meaningful within clusters, but not between them.

In: rows (n, d). Out: points (n, 2) and KL(P||Q). Up to EXACT points, our own exact descent is used, whose time grows
with n². Above EXACT points, openTSNE is used: its repulsive forces are approximate, and its time grows with n.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from labkit.arrays import Vectors
from labkit.evaluation.neighbours import nearest_rows
from labkit.extras import require
from labkit.progress import Progress, silent
from labkit.projection.picture import dense, leading_directions

# --- affinities: how near is near --------------------------------------------------------------------------------

BISECTIONS = 60  # the maximum: enough for the last digit from any start
CLOSE = 1e-5  # tolerance of the entropy


def affinities(rows: Vectors, perplexity: float) -> sparse.csr_array:
    """Return P as CSR (n, n) over the 3 · perplexity nearest neighbours; farther points weigh almost nothing.

        p_ij = (p_{j|i} + p_{i|j}) / 2n    symmetric, Σ_ij p_ij = 1 (van der Maaten & Hinton 2008, eq. 1)

    The perplexity must be below n - 1.
    """
    n = rows.shape[0]
    k = min(n - 1, math.ceil(3 * perplexity))
    nearest, distances = nearest_rows(rows, rows, k + 1)
    others = nearest != np.arange(n)[:, None]
    others[others.all(axis=1), -1] = False  # if a row has more than k copies, its own index may be missing
    p = conditional(distances[others].reshape(n, k) ** 2, perplexity)
    one_sided = sparse.csr_array((p.ravel(), nearest[others], np.arange(0, n * k + 1, k)), shape=(n, n))
    return sparse.csr_array((one_sided + one_sided.T) / (2 * n))


def conditional(squared: np.ndarray, perplexity: float) -> np.ndarray:
    """Weight each row's neighbours so that about `perplexity` of them count: p_{j|i} (n, k) of squared distances (n,
    k).

        p_{j|i} = exp(-β_i d_ij²) / Σ_l exp(-β_i d_il²)    β_i such that -Σ_j p_{j|i} ln p_{j|i} = ln perplexity

    Distances are in ascending order; β is found by bisection for all rows at once. k copies of a row share equally.
    """
    beyond = squared - squared[:, :1]  # gives the same p, and exp never underflows for a whole row
    scale = beyond.mean(axis=1, keepdims=True)
    beyond = beyond / np.where(scale > 0, scale, 1)
    wanted = math.log(perplexity)
    low, high = np.zeros((len(squared), 1)), np.full((len(squared), 1), np.inf)
    beta = np.ones_like(low)
    for _ in range(BISECTIONS):
        p = np.exp(-beta * beyond)
        total = p.sum(axis=1, keepdims=True)
        entropy = np.log(total) + beta * (p * beyond).sum(axis=1, keepdims=True) / total
        if (np.abs(entropy - wanted) < CLOSE).all():
            break
        wide = entropy > wanted
        low, high = np.where(wide, beta, low), np.where(wide, high, beta)
        beta = np.where(np.isinf(high), 2 * beta, (low + np.where(np.isinf(high), low, high)) / 2)
    return p / total


# --- forces: neighbours pull each other, all points push each other ----------------------------------------------

Forces = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, float]]  # points -> pull, push, Z

_ONE = np.float32(1)


def forces(P: sparse.csr_array) -> Forces:
    """Return the exact forces for this P (n, n), as a function of points float32 (n, 2).

        q_ij = 1 / (1 + |y_i - y_j|²)                       Z = Σ_{i≠j} q_ij
        ∂KL/∂y_i = 4 Σ_j (p_ij - q_ij / Z) q_ij (y_i - y_j) = 4 (pull_i - push_i / Z)    (van der Maaten & Hinton: 5)

    The sums are plain loops, compiled by numba once per machine; the inner loop is vectorised over j, and the q_ij are
    not stored.
    """
    starts, columns, p = P.indptr.astype(np.int64), P.indices.astype(np.int64), P.data.astype(np.float32)

    def at(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        push, Z = _compiled(_push)(points)
        return _compiled(_pull)(points, starts, columns, p), push, Z

    return at


def divergence(P: sparse.csr_array, points: np.ndarray, Z: float) -> float:
    """Return KL(P||Q) = Σ p_ij ln(p_ij Z / q_ij) in float64; pairs with p_ij = 0 add nothing."""
    rows = np.repeat(np.arange(P.shape[0]), np.diff(P.indptr))
    apart = (points[P.indices] - points[rows]).astype(np.float64)
    p, q = P.data, 1 / (1 + (apart**2).sum(axis=1))
    held = p > 0
    return float((p[held] * np.log(p[held] * Z / q[held])).sum())


@cache
def _compiled(loops: Callable[..., Any]) -> Any:
    """Compile the loops with numba at the first call, and cache them on disk if possible.

    Sums may be reordered, so that a processor can add many terms at once; `nogil` lets other threads run meanwhile.
    """
    require("projection", "numba")
    from numba import njit

    compiled = njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})(loops)
    with suppress(RuntimeError):  # no folder is writable, so each process compiles for itself
        compiled.enable_caching()
    return compiled


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


# --- the descent -------------------------------------------------------------------------------------------------

LONGEST_STEP = 5.0  # the limit for a point, in the picture's units, so that no point leaves the picture


@dataclass(frozen=True)
class Phase:
    """Iterations in which attraction is multiplied by `exaggeration`; a step is `rate` · n · gain · gradient / 4."""

    iterations: int
    exaggeration: float
    rate: float
    momentum: float


def phases_for(count: int, *, near: bool = False) -> tuple[Phase, ...]:
    """Return the phases for `count` points; `near`: the start is nearly right and must not be torn apart.

    With a phase of small steps after the exaggeration, 300 iterations of long steps reach a lower KL than 1,000 usual
    ones. Above 10,000 points, each further 100 points need one more iteration to converge.
    """
    last = Phase(300 + max(0, count - 10_000) // 100, 1.0, 1.0, 0.9)
    release = Phase(50, 1.0, 1 / 4, 0.5)
    return (release, last) if near else (Phase(50, 12.0, 1 / 12, 0.8), release, last)


def descend(
    P: sparse.csr_array, start: np.ndarray, phases: Sequence[Phase] | None = None, *, progress: Progress = silent
) -> tuple[np.ndarray, float]:
    """Run gradient descent with momentum and a gain per coordinate from a start (n, 2); return the points and their KL.

    The default `phases` are those for a distant start. A gain falls to 0.8 of its value if its coordinate has overshot
    the minimum; otherwise it grows by 0.2 (Jacobs 1988).
    """
    phases = phases_for(len(start)) if phases is None else phases
    at = forces(P)
    Y: np.ndarray = start.astype(np.float32)
    total, done = sum(phase.iterations for phase in phases), 0
    for phase in phases:
        speed, gain = np.zeros_like(Y), np.ones_like(Y)
        for _ in range(phase.iterations):
            pull, push, Z = at(Y)
            gradient = phase.exaggeration * pull - push / Z
            gain = np.maximum(np.where(gradient * speed > 0, gain * 0.8, gain + 0.2), 0.01)
            speed = phase.momentum * speed - phase.rate * len(Y) * gain * gradient
            speed /= np.maximum(np.hypot(speed[:, :1], speed[:, 1:]) / LONGEST_STEP, 1)
            Y = Y + speed
            Y -= Y.mean(axis=0)
            done += 1
            progress(done, total, "t-SNE")
    return Y, divergence(P, Y, at(Y)[2])


# --- exact or approximate ----------------------------------------------------------------------------------------

EXACT = 20_000  # maximum of points for the exact form; `benchmarks.projection` compares both
SMALL = 1e-4  # spread of a start; it is so small that clusters can still pass through one another
EARLY, LATE = 250, 500  # openTSNE's iterations


def arrange(
    rows: Vectors, perplexity: float, *, seed: int, start: np.ndarray | None = None, progress: Progress = silent
) -> tuple[np.ndarray, float, dict[str, Any]]:
    """Return the points, their KL, and the settings used. With `start` (n, 2), the descent starts from this picture."""
    perplexity = fitting(perplexity, rows.shape[0])
    first = from_afar(rows, seed) if start is None else start
    progress(0, None, "neighbours")
    if rows.shape[0] <= EXACT:
        phases = phases_for(len(first), near=start is not None)
        form, iterations = "exact", sum(phase.iterations for phase in phases)
        points, kl = descend(affinities(rows, perplexity), first, phases, progress=progress)
    else:
        form, iterations = "openTSNE", LATE + (EARLY if start is None else 0)
        points, kl = _opentsne(dense(rows, seed), perplexity, first, start is None, seed, progress)
    return points, kl, {"perplexity": perplexity, "form": form, "iterations": iterations}


def fitting(perplexity: float, count: int) -> float:
    """Lower the perplexity if needed: three times as many neighbours are used, and only count - 1 exist."""
    if not perplexity >= 1:
        raise ValueError(f"perplexity is {perplexity}, expected at least 1, usually 5 to 50")
    return max(1.0, min(float(perplexity), (count - 1) / 3))


def from_afar(rows: Vectors, seed: int) -> np.ndarray:
    """Return the PCA picture scaled down, with a little noise that separates points on the same line."""
    points = leading_directions(rows, 2, seed).points.astype(np.float64)
    noise = np.random.default_rng(seed).standard_normal(points.shape)
    spread = points[:, 0].std()
    return SMALL * (points / (spread if spread > 0 else 1.0) + 0.01 * noise)


def _opentsne(
    rows: np.ndarray, perplexity: float, first: np.ndarray, afresh: bool, seed: int, progress: Progress
) -> tuple[np.ndarray, float]:
    require("projection", "openTSNE")
    from openTSNE import TSNEEmbedding, affinity  # slow to import, and few pictures are so large

    P = affinity.PerplexityBasedNN(rows, perplexity=perplexity, n_jobs=1, random_state=seed)
    model = TSNEEmbedding(first.astype(np.float64), P, n_jobs=1, random_state=seed)
    rounds = ([(EARLY, 12)] if afresh else []) + [(LATE, 1)]
    total, done = sum(count for count, _ in rounds), 0
    for count, exaggeration in rounds:

        def report(iteration: int, error: float, embedding: Any, done: int = done) -> None:
            progress(min(done + iteration, total), total, "t-SNE")

        how: dict[str, Any] = {"callbacks": report, "callbacks_every_iters": 50, "inplace": True}
        model.optimize(count, exaggeration=exaggeration, momentum=0.8, **how)
        done += count
    return np.asarray(model, dtype=np.float32), float(model.kl_divergence)
