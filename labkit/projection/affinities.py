"""How near is near, for t-SNE: each row's neighbours weighed so that about `perplexity` of them count.

    p_{j|i} = exp(-β_i d_ij²) / Σ_l exp(-β_i d_il²)    β_i such that the entropy -Σ_j p_{j|i} ln p_{j|i} = ln perplexity
    p_ij    = (p_{j|i} + p_{i|j}) / 2n                 symmetric, Σ_ij p_ij = 1 (van der Maaten & Hinton 2008, eq. 1)

In: rows (n, d). Out: P as CSR (n, n) over the 3 · perplexity nearest neighbours; what is farther weighs next to
nothing.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from labkit.evaluation.inputs import Vectors
from labkit.evaluation.neighbours import nearest_rows

STEPS = 60  # of bisection: from any start to the last digit
CLOSE = 1e-5  # entropies this near the wanted one will do


def affinities(rows: Vectors, perplexity: float) -> sparse.csr_array:
    """P of the rows. With n rows, perplexity is below n - 1."""
    n = rows.shape[0]
    neighbours, squared = _others(rows, min(n - 1, math.ceil(3 * perplexity)))
    given = conditional(squared, perplexity)
    starts = np.arange(0, given.size + 1, given.shape[1])
    one_sided = sparse.csr_array((given.ravel(), neighbours.ravel(), starts), shape=(n, n))
    return sparse.csr_array((one_sided + one_sided.T) / (2 * n))


def conditional(squared: np.ndarray, perplexity: float) -> np.ndarray:
    """p_{j|i} (n, k) of squared distances (n, k), nearest first: bisection on β, all rows at once.

    Where k copies of a row leave no choice, they share equally.
    """
    beyond = squared - squared[:, :1]  # the same p, and exp never underflows for all of a row
    scale = beyond.mean(axis=1, keepdims=True)
    beyond = beyond / np.where(scale > 0, scale, 1)
    wanted = math.log(perplexity)
    low, high = np.zeros((len(squared), 1)), np.full((len(squared), 1), np.inf)
    beta = np.ones_like(low)
    for _ in range(STEPS):
        p = np.exp(-beta * beyond)
        total = p.sum(axis=1, keepdims=True)
        entropy = np.log(total) + beta * (p * beyond).sum(axis=1, keepdims=True) / total
        if (np.abs(entropy - wanted) < CLOSE).all():
            break
        wide = entropy > wanted
        low, high = np.where(wide, beta, low), np.where(wide, high, beta)
        beta = np.where(np.isinf(high), 2 * beta, (low + np.where(np.isinf(high), low, high)) / 2)
    return p / total


def _others(rows: Vectors, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other rows, and their squared distances, (n, k) each."""
    found, distances = nearest_rows(rows, rows, k + 1)
    own = found == np.arange(len(found))[:, None]
    own[~own.any(axis=1), -1] = True  # among more than k copies the row itself may be missing
    return found[~own].reshape(-1, k), distances[~own].reshape(-1, k) ** 2
