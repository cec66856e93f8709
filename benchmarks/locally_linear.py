"""How fast is the locally linear embedding, and how much memory does it take, compared with scikit-learn and scipy?

    fit        LocalityPreserving.fit / scikit-learn's LocallyLinearEmbedding.fit (arpack), neighbours included
    weights    reconstruction_weights / scikit-learn's barycenter_weights
    solver     eigenvectors.bottom / scipy's eigsh with shift-invert at 0 (a sparse LU, as in arpack above)

Unit vectors in 384 dimensions, float32, from a mixture of 50 topics; p = 100; CPU time on one thread. Exact neighbours
are timed in their own row. The solvers run in turn, each in its own process; their memory is what they need in addition
to W. At 100,000 rows the LU would need tens of GB and is not run.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh
from sklearn.manifold import LocallyLinearEmbedding
from sklearn.manifold._locally_linear import barycenter_weights
from threadpoolctl import threadpool_limits

from benchmarks.machine import alternate, describe, fresh_process, measured, seconds
from labkit.evaluation.neighbours import nearest_others
from labkit.sbert_lp import LocalityPreserving
from labkit.sbert_lp.eigenvectors import bottom
from labkit.sbert_lp.graph import reconstruction_weights, weight_matrix

WIDTH, TOPICS, INSIDE = 384, 50, 30
P, NEIGHBOURS = 100, (15, 30)
WHOLE, LU = 2_000, 20_000  # most rows for scikit-learn's fit, and for scipy's LU
ROUNDS = {2_000: 3, 20_000: 1, 100_000: 1}
HEAD = "| rows, k | task | labkit | other | other is | ratio | wanted | details |\n" + "| --- " * 8 + "|"


@dataclass(frozen=True, eq=False)
class Solved:
    """Bytes in addition to W, CPU seconds, the largest |M v - λ v|, and the eigenvalues."""

    bytes: int
    seconds: float
    residual: float
    values: np.ndarray


def main() -> str:
    """One table with all sizes, below a line that describes the machine."""
    with threadpool_limits(1):
        lines = [line for m in ROUNDS for line in of_size(m)]
    return "\n".join([f"Locally linear embedding, one thread, p = {P}. {describe()}", "", HEAD, *lines])


def of_size(m: int) -> list[str]:
    """The table rows for `m` vectors."""
    rows = data(m)
    found: list[np.ndarray] = []
    spent = seconds(lambda: found.append(nearest_others(rows, max(NEIGHBOURS))))
    lines = [f"| {m:,}, {max(NEIGHBOURS)} | exact neighbours | {spent:.1f} s | | | | | not in weights and solver |"]
    for k in NEIGHBOURS:
        near = np.ascontiguousarray(found[0][:, :k])  # nearest first
        if m <= WHOLE:
            lines.append(whole(rows, k))
        lines.append(weights(rows, near))
        lines.append(solvers(rows, near))
    return lines


def data(m: int) -> np.ndarray:
    """Unit rows (m, 384) in float32: topics in 30 dimensions, mapped to 384, with noise."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((TOPICS, INSIDE))
    inside = centres[random.integers(0, TOPICS, m)] + 0.8 * random.standard_normal((m, INSIDE))
    rows = inside @ random.standard_normal((INSIDE, WIDTH)) / np.sqrt(INSIDE) + 0.3 * random.standard_normal((m, WIDTH))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def whole(rows: np.ndarray, k: int) -> str:
    ours = LocalityPreserving(k, P, random_state=0)
    theirs = LocallyLinearEmbedding(n_neighbors=k, n_components=P, eigen_solver="arpack", random_state=0)
    found = alternate(lambda: theirs.fit(rows), lambda: ours.fit(rows), ROUNDS[len(rows)])
    return _row(len(rows), k, "fit", found.b, found.a, "scikit-learn, arpack", found.ratio, "1", "")


def weights(rows: np.ndarray, near: np.ndarray) -> str:
    found = alternate(
        lambda: barycenter_weights(rows, rows, near),
        lambda: reconstruction_weights(rows, rows, near),
        3 if len(rows) <= LU else 1,
    )
    return _row(len(rows), near.shape[1], "weights", found.b, found.a, "scikit-learn", found.ratio, "1.8", "")


def solvers(rows: np.ndarray, near: np.ndarray) -> str:
    """Our solver and the LU in turn, each in its own process, and the largest difference of their eigenvalues."""
    m, k = near.shape
    W = weight_matrix(near, reconstruction_weights(rows, rows, near))
    both = (_bottom, _shift_invert) if m <= LU else (_bottom,)
    runs = [[fresh_process(_solved, solver, W) for solver in both] for _ in range(ROUNDS[m])]
    own, *other = (statistics.median(run.seconds for run in of_one) for of_one in zip(*runs, strict=True))
    ours, *theirs = runs[0]
    about = f"residual {ours.residual:.0e}, {ours.bytes / 2**20:.0f} MB"
    if not theirs:
        wanted = "< 240 s, < 2,000 MB" if k == NEIGHBOURS[0] else ""
        return f"| {m:,}, {k} | solver | {own:.1f} s | not run | shift-invert | | {wanted} | {about} |"
    ratio = statistics.median(b.seconds / a.seconds for a, b in runs)
    apart = np.abs(ours.values - theirs[0].values).max()
    times = theirs[0].bytes / ours.bytes
    about += f" to {theirs[0].bytes / 2**20:.0f} MB ({times:.1f}x), eigenvalues differ by {apart:.0e}"
    wanted = "4, a third of its memory" if (m, k) == (LU, NEIGHBOURS[0]) else ""
    return _row(m, k, "solver", own, other[0], "scipy, shift-invert", ratio, wanted, about)


def _row(m: int, k: int, task: str, own: float, other: float, what: str, times: float, wanted: str, more: str) -> str:
    return f"| {m:,}, {k} | {task} | {own:.2f} s | {other:.2f} s | {what} | {times:.1f}x | {wanted} | {more} |"


def _solved(solve: Callable[[sparse.csr_array], tuple[np.ndarray, np.ndarray]], W: sparse.csr_array) -> Solved:
    solve(_ring(600))  # allocates thread pools and work spaces
    found: list[tuple[np.ndarray, np.ndarray]] = []
    before, peak, spent = measured(lambda: found.append(solve(W)))
    values, vectors = found[0]
    away = sparse.csr_array(sparse.eye_array(W.shape[0], format="csr") - W)
    residual = np.linalg.norm(away.T @ (away @ vectors) - vectors * values, axis=0).max()
    return Solved(peak - before, spent, float(residual), values)


def _bottom(W: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    found = bottom(W, P)
    return found.values, found.vectors


def _shift_invert(W: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    away = sparse.csr_array(sparse.eye_array(W.shape[0], format="csr") - W)
    M = (away.T @ away).tocsc()
    start = np.random.default_rng(0).standard_normal(W.shape[0])
    # sigma is just below 0, because M is singular there; the first vector is constant
    values, vectors = eigsh(M, P + 1, sigma=-1e-8, tol=1e-6, v0=start)
    order = np.argsort(values)[1:]
    return values[order], vectors[:, order]


def _ring(m: int) -> sparse.csr_array:
    """W of rows on a circle, each between its two neighbours; a third neighbour keeps eigenvalues from being double."""
    at = np.arange(m)[:, None]
    near = np.concatenate([at - 1, at + 1, at * 7 + 5], axis=1) % m
    return weight_matrix(near, np.tile([0.45, 0.45, 0.1], (m, 1)))
