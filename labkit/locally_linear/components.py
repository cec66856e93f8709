"""What the neighbour graph is made of: an edge i -> j says that row i is reconstructed from row j.

    weak components     nothing leads from one to another: M is block diagonal, and each can be embedded by itself
    terminal components strongly connected, and no edge leads out: each makes an eigenvalue of M zero

With k below the dimension of the rows, M = (I - W)ᵀ(I - W) has exactly as many zero eigenvalues as there are terminal
strongly connected components: on each of them one value may be chosen, all other rows follow from it. (Above that k,
rows that are reconstructed without error add more.) One weak component may hold several. In: neighbours (m, k) or W.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components


def weight_matrix(neighbours: np.ndarray, weights: np.ndarray) -> sparse.csr_array:
    """W (m, m), eq. 11: row i has its k weights at its neighbours."""
    m, k = neighbours.shape
    return sparse.csr_array((weights.ravel(), neighbours.ravel(), np.arange(0, m * k + 1, k)), shape=(m, m))


def weak_components(W: sparse.csr_array) -> np.ndarray:
    """Component of every row, (m,), numbered from the largest; of equals, the one with the earliest row first."""
    found = connected_components(_edges(W), directed=True, connection="weak")[1]
    _, first, sizes = np.unique(found, return_index=True, return_counts=True)
    rank = np.empty(len(sizes), np.int64)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return rank[found]


def terminal_components(W: sparse.csr_array) -> list[np.ndarray]:
    """The rows of every strongly connected component that no edge leaves."""
    edges = _edges(W).tocoo()
    count, strong = connected_components(edges, directed=True, connection="strong")
    leaves = strong[edges.row] != strong[edges.col]
    terminal = np.ones(count, bool)
    terminal[strong[edges.row[leaves]]] = False
    return [np.flatnonzero(strong == number) for number in np.flatnonzero(terminal)]


def _edges(W: sparse.csr_array) -> sparse.csr_array:
    """The pattern of W: a weight of exactly zero is an edge too."""
    return sparse.csr_array((np.ones(W.nnz, np.int8), W.indices, W.indptr), shape=W.shape)
