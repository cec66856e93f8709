"""How densely eigenvalues lie: a guess of the whole spectrum's shape from a few random vectors.

    number of eigenvalues below t  ≈  m/P Σ_probes Σ_{θ < t} (first entry of θ's vector)²

θ are the Ritz values of a few dozen steps of Lanczos from each probe (stochastic Lanczos quadrature). It is right to
some tenths, which is enough to place the filter's cut (`filtered`). In: M as a product with a vector, its size.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy import linalg

Product: TypeAlias = Callable[[np.ndarray], np.ndarray]

PROBES, STEPS = 4, 60  # random vectors, and Lanczos steps from each


def cut_for(product: Product, size: int, below: float, random: np.random.Generator) -> tuple[float, float]:
    """Where about `below` eigenvalues lie beneath, and a bound on the largest: stochastic Lanczos quadrature."""
    nodes, masses, highest = [], [], 0.0
    for _ in range(PROBES):
        start = random.standard_normal(size)
        values, first, rest = _tridiagonal(product, start / np.linalg.norm(start), min(STEPS, size - 1))
        nodes.append(values)
        masses.append(first**2 * size / PROBES)
        highest = max(highest, values[-1] + rest)
    order = np.argsort(np.concatenate(nodes))
    values, counted = np.concatenate(nodes)[order], np.cumsum(np.concatenate(masses)[order])
    place = min(int(np.searchsorted(counted, below)), len(values) - 1)
    return float(np.clip(values[place], 1e-6 * highest, highest / 2)), 1.01 * highest


def _tridiagonal(product: Product, start: np.ndarray, steps: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Ritz values, the first entries of their vectors, and the last off-diagonal, after `steps` of Lanczos."""
    basis = np.zeros((steps + 1, len(start)))
    basis[0] = start
    diagonal, beside = np.zeros(steps), np.zeros(steps)
    for step in range(steps):
        new = product(basis[step])
        diagonal[step] = basis[step] @ new
        for _ in range(2):
            new -= basis[: step + 1].T @ (basis[: step + 1] @ new)
        beside[step] = np.linalg.norm(new)
        if beside[step] < 1e-12:  # the whole space that `start` spans is known
            steps = step + 1
            break
        basis[step + 1] = new / beside[step]
    values, vectors = linalg.eigh_tridiagonal(diagonal[:steps], beside[: steps - 1])
    return values, vectors[0], float(beside[steps - 1])
