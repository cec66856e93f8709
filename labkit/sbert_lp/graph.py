"""The neighbour graph: copies (set aside), the weights that reconstruct each row, and the components of the graph.

    rows (m, d)  ->  copies (m,): for each row, the first of its copies
    queries (m, d), base (n, d), neighbours (m, k)  ->  weights (m, k), which add up to one
    neighbours, weights  ->  W (m, m), and its components: an edge i -> j means that row i is rebuilt from row j

    G = (x 1ᵀ - D)ᵀ (x 1ᵀ - D)     D = (x_1 ... x_k), the neighbours of x as columns
    (G + reg tr(G) I) w = 1,  then  w / Σ w          eq. 2-9

The paper's eq. 9 inverts G; here one Cholesky factorisation per row solves it, for many rows at a time. G is singular
if k exceeds the dimension of the neighbours' span, hence reg. Gram matrices have the rows' precision.

Weak components are not connected to each other: M is block diagonal, and each component can be embedded separately. No
edge leads out of a terminal component: with k below the dimension of the rows, M = (I - W)ᵀ(I - W) has as many zero
eigenvalues as there are terminal strongly connected components, because each has one free value, which determines all
other rows. (With larger k, rows reconstructed without error add more.)
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from labkit.arrays import Vectors
from labkit.evaluation.neighbours import nearest_rows, squares
from labkit.progress import Progress, silent

# : rows nearer than this share of the cloud's radius are copies. A float32 encoder repeats a text with a difference of
# : about 1e-6, and two such rows reconstruct each other so well that they spoil the eigenvectors.
COPY = 1e-5
CHUNK, SPARSE_CHUNK = 256, 32  # rows at a time, few enough to fit in the cache


# --- copies ------------------------------------------------------------------------------------------------------


def radius(rows: Vectors) -> float:
    """Root mean square distance of the rows from their mean."""
    centre = np.asarray(rows.mean(axis=0, dtype=np.float64)).ravel()
    return float(np.sqrt(max(squares(rows).astype(np.float64).mean() - centre @ centre, 0.0)))


def copies(rows: Vectors, *, seed: int = 0) -> np.ndarray:
    """The first row of each row's group of copies, (m,): pairs nearer than COPY · radius are connected.

    Equal rows are found by digest. For other rows, projections to a random line are never farther apart than the rows,
    so only rows within the tolerance on that line are compared: O(m log m).
    """
    first = _first_equal(rows)
    kept = np.flatnonzero(first == np.arange(len(first)))
    return kept[_first_near(rows[kept], COPY * radius(rows), seed)][np.searchsorted(kept, first)]


def _first_equal(rows: Vectors) -> np.ndarray:
    """For each row, the first row with the same bytes, (m,); `_first_near` handles 0 and -0."""
    if isinstance(rows, np.ndarray):
        parts = (row.tobytes() for row in rows)
    else:
        spans = zip(rows.indptr, rows.indptr[1:], strict=False)
        parts = (rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in spans)
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(blake2b(part, digest_size=16).digest(), at) for at, part in enumerate(parts)])


def _first_near(rows: Vectors, tolerance: float, seed: int) -> np.ndarray:
    """For each row, the first row connected to it by steps within the tolerance, (m,)."""
    m, d = rows.shape
    line = np.random.default_rng(seed).standard_normal(d)
    place = np.asarray(rows @ (line / np.linalg.norm(line)), dtype=np.float64)
    order = np.argsort(place, kind="stable")
    # positions are rounded in proportion to the row's length
    slack = 8 * np.finfo(rows.dtype).eps * np.sqrt(float(squares(rows).max()))
    edges = [np.zeros((2, 0), np.int64)]
    for lag in range(1, m):
        near = np.flatnonzero(place[order[lag:]] - place[order[:-lag]] <= tolerance + slack)
        if not len(near):
            break
        a, b = order[near], order[near + lag]
        alike = np.sqrt(squares(rows[a] - rows[b]).astype(np.float64)) <= tolerance
        edges.append(np.stack([a[alike], b[alike]]))
    a, b = np.concatenate(edges, axis=1)
    pairs = sparse.csr_array((np.ones(len(a)), (a, b)), shape=(m, m))
    group = connected_components(pairs, directed=False)[1]
    _, first = np.unique(group, return_index=True)
    return first[group]


# --- weights -----------------------------------------------------------------------------------------------------


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


# --- components --------------------------------------------------------------------------------------------------


def weight_matrix(neighbours: np.ndarray, weights: np.ndarray) -> sparse.csr_array:
    """W (m, m), eq. 11: row i has its k weights at its neighbours."""
    m, k = neighbours.shape
    return sparse.csr_array((weights.ravel(), neighbours.ravel(), np.arange(0, m * k + 1, k)), shape=(m, m))


def weak_components(W: sparse.csr_array) -> np.ndarray:
    """The component of every row, (m,), numbered by size, then by first row."""
    component = connected_components(_edges(W), directed=True, connection="weak")[1]
    _, first, sizes = np.unique(component, return_index=True, return_counts=True)
    rank = np.empty(len(sizes), np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[component]


def terminal_components(W: sparse.csr_array) -> int:
    """The number of strongly connected components that no edge leaves."""
    edges = _edges(W).tocoo()
    count, strong = connected_components(edges, directed=True, connection="strong")
    return count - len(np.unique(strong[edges.row[strong[edges.row] != strong[edges.col]]]))


def _edges(W: sparse.csr_array) -> sparse.csr_array:
    """The sparsity pattern of W, in which a weight of exactly zero is also an edge."""
    return sparse.csr_array((np.ones(W.nnz, np.int8), W.indices, W.indptr), shape=W.shape)


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

    The weights reconstruct the row best, or are `weigh` of squared distances (n, k). A row within `copy_within` of a
    base row gets only that row.
    """
    neighbours, distances = nearest_rows(rows, base, k)
    weights = reconstruction_weights(rows, base, neighbours, reg=reg) if weigh is None else weigh(distances**2)
    weights[distances[:, 0] <= copy_within] = np.eye(k)[0]
    return neighbours, weights


def mixed(points: np.ndarray, neighbours: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The same mixtures of the known rows' points (m, p): y = Σ_j w_j y_j, (n, p)."""
    return np.einsum("nk,nkp->np", weights, points[neighbours])
