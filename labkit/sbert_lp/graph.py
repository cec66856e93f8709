"""The neighbour graph: copies, which are set aside, and the components of the rest.

    rows (m, d)  ->  copies (m,), the first row that each is a copy of
    neighbours (m, k), weights  ->  W (m, m), and its components: an edge i -> j means that row i is rebuilt from row j

Weak components are not connected to each other: M is block diagonal, and each can be embedded
separately. No edge leads out of a terminal component: with k below the dimension of the rows, M = (I - W)ᵀ(I - W) has
as many zero eigenvalues as there are terminal strongly connected components, because each has one free value, which
determines all other rows. (With larger k, rows reconstructed without error add more.)
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from labkit.arrays import Vectors
from labkit.evaluation.neighbours import squares

# : rows nearer than this share of the cloud's radius are copies. A float32 encoder repeats a text with a difference of
# : about 1e-6, and two such rows reconstruct each other so well that they spoil the eigenvectors.
COPY = 1e-5


# --- copies ------------------------------------------------------------------------------------------------------


def radius(rows: Vectors) -> float:
    """Root mean square distance of the rows to their mean."""
    centre = np.asarray(rows.mean(axis=0, dtype=np.float64)).ravel()
    return float(np.sqrt(max(squares(rows).astype(np.float64).mean() - centre @ centre, 0.0)))


def copies(rows: Vectors, *, seed: int = 0) -> np.ndarray:
    """The first row of each row's group of copies, (m,): pairs nearer than COPY · radius are connected.

    Equal rows are found by digest. For the others, projections to a random line are never farther apart than the rows,
    so only rows within the tolerance on that line are compared. O(m log m).
    """
    first = _first_equal(rows)
    kept = np.flatnonzero(first == np.arange(len(first)))
    return kept[_first_near(rows[kept], COPY * radius(rows), seed)][np.searchsorted(kept, first)]


def _first_equal(rows: Vectors) -> np.ndarray:
    """The first row with the same bytes as each, (m,); `_first_near` handles 0 and -0."""
    if isinstance(rows, np.ndarray):
        parts = (row.tobytes() for row in rows)
    else:
        spans = zip(rows.indptr, rows.indptr[1:], strict=False)
        parts = (rows.indices[a:b].tobytes() + rows.data[a:b].tobytes() for a, b in spans)
    seen: dict[bytes, int] = {}
    return np.array([seen.setdefault(blake2b(part, digest_size=16).digest(), at) for at, part in enumerate(parts)])


def _first_near(rows: Vectors, tolerance: float, seed: int) -> np.ndarray:
    """The first row that is connected to each by steps within the tolerance, (m,)."""
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
    """The sparsity pattern of W, in which a weight of exactly zero is an edge, too."""
    return sparse.csr_array((np.ones(W.nnz, np.int8), W.indices, W.indptr), shape=W.shape)
