"""Reconstruct each row from its neighbours: the best weights that add up to one.

    G = (x 1ᵀ - D)ᵀ (x 1ᵀ - D)     D = (x_1 ... x_k), the neighbours of x as columns
    (G + reg tr(G) I) w = 1,  then  w / Σ w          eq. 2-9

The paper's eq. 9 inverts G; here one Cholesky factorisation per row solves it, for many rows at a time. G is singular
if k exceeds the dimension of the neighbours' span, hence reg. In: queries (m, d), base (n, d), neighbours (m, k) as
rows of base. Out: float64 (m, k). Gram matrices have the rows' precision. `mixtures` describes new rows by known ones.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from labkit.arrays import Vectors
from labkit.evaluation.neighbours import nearest_rows
from labkit.progress import Progress, silent

CHUNK, SPARSE_CHUNK = 256, 32  # rows at a time: few enough to stay in the cache


def reconstruction_weights(
    queries: Vectors,
    base: Vectors,
    neighbours: np.ndarray,
    *,
    reg: float = 1e-3,
    device: str = "cpu",
    progress: Progress = silent,
) -> np.ndarray:
    """The weights of every query over its neighbours in base, (m, k)."""
    m, k = neighbours.shape
    values = np.empty((m, k))
    chunk = CHUNK if isinstance(base, np.ndarray) else SPARSE_CHUNK
    for start in range(0, m, chunk):
        rows = slice(start, min(start + chunk, m))
        values[rows] = weights_of_grams(_grams(queries, base, neighbours[rows], rows, device), reg).cpu().numpy()
        if start % (16 * chunk) == 0 or rows.stop == m:
            progress(rows.stop, m, "reconstruction weights")
    return values


def weights_of_grams(G: Tensor, reg: float) -> Tensor:
    """Gram matrices (m, k, k) float64 to weights (m, k). If G is singular, reg is raised tenfold for that row.

    If tr(G) = 0, all neighbours equal x; any weights are right, and equal ones are returned.
    """
    if not G.isfinite().all():  # no reg would help
        raise ValueError("vectors contain NaN or values so large that their products are infinite; drop these rows")
    m, k, _ = G.shape
    used = torch.full((m,), float(reg), dtype=G.dtype, device=G.device)
    trace = G.diagonal(dim1=1, dim2=2).sum(dim=1)  # (m,)
    trace = torch.where(trace > 0, trace, torch.ones_like(trace))
    eye, ones = torch.eye(k, dtype=G.dtype, device=G.device), torch.ones((m, k, 1), dtype=G.dtype, device=G.device)
    w = torch.empty_like(ones)  # (m, k, 1)
    todo = torch.arange(m, device=G.device)
    while len(todo):
        lower, failed = torch.linalg.cholesky_ex(G[todo] + (used[todo] * trace[todo])[:, None, None] * eye)
        w[todo] = torch.cholesky_solve(ones[todo], lower)
        todo = todo[(failed != 0) | ~w[todo].isfinite().all(dim=1)[:, 0]]
        used[todo] = torch.clamp(10 * used[todo], min=1e-12)
    w = w[..., 0]
    return w / w.sum(dim=1, keepdim=True)


def _grams(queries: Vectors, base: Vectors, neighbours: np.ndarray, rows: slice, device: str) -> Tensor:
    """G of these rows, (m, k, k) float64."""
    if not isinstance(base, np.ndarray):
        return torch.from_numpy(_sparse_grams(queries[rows], base, neighbours)).to(device)
    away = torch.from_numpy(base[neighbours] - queries[rows, None]).to(device)  # (m, k, d)
    return (away @ away.mT).double()


def _sparse_grams(queries: sparse.csr_matrix, base: sparse.csr_matrix, neighbours: np.ndarray) -> np.ndarray:
    """(x_j - x)·(x_l - x) = x_j·x_l - x_j·x - x_l·x + x·x: only the products of sparse rows are dense."""
    used, place = np.unique(neighbours, return_inverse=True)
    place = place.reshape(neighbours.shape)
    among = (base[used] @ base[used].T).toarray()
    across = np.take_along_axis((queries @ base[used].T).toarray(), place, axis=1)
    own = np.asarray(queries.multiply(queries).sum(axis=1)).reshape(-1, 1, 1)
    return among[place[:, :, None], place[:, None, :]] - across[:, :, None] - across[:, None, :] + own


# --- new rows ----------------------------------------------------------------------------------------------------


def mixtures(
    rows: Vectors,
    base: Vectors,
    k: int,
    *,
    copy_within: float,
    weigh: Callable[[np.ndarray], np.ndarray] | None = None,
    reg: float = 1e-3,
) -> tuple[np.ndarray, np.ndarray]:
    """Describe every new row by its k nearest in base: their numbers and weights, (n, k) each, nearest first.

    The weights rebuild the row best, or are `weigh` of squared distances (n, k). A row within `copy_within` of a base
    row is that row alone.
    """
    neighbours, distances = nearest_rows(rows, base, k)
    weights = reconstruction_weights(rows, base, neighbours, reg=reg) if weigh is None else weigh(distances**2)
    weights[distances[:, 0] <= copy_within] = np.eye(k)[0]
    return neighbours, weights


def mixed(points: np.ndarray, neighbours: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The same mixtures of the known rows' points (m, p): y = Σ_j w_j y_j, (n, p)."""
    return np.einsum("nk,nkp->np", weights, points[neighbours])
