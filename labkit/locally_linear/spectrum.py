"""The bottom eigenvectors of M = (I - W)ᵀ(I - W) after the constant one, whatever the neighbour graph is made of.

    split        M is block diagonal over the graph's weak components: each is solved by itself, the spectra are merged
    contrasts    indicators of C components span 1 and C - 1 vectors orthogonal to it with eigenvalue 0: they come first
    within       in each component the constant is an eigenvector; it is moved away exactly, before the search

In: W (m, m). Out: a `Spectrum`: eigenvalues (p,), rising, vectors (m, p) orthonormal and orthogonal to 1. Which basis
spans an eigenvalue with several vectors is free; here it follows from the seed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy import linalg, sparse

from labkit.locally_linear.components import terminal_components, weak_components
from labkit.locally_linear.filtered import ZERO, Found, smallest
from labkit.progress import Progress, silent

DENSE = 2_500  # rows of a component up to which all of M is held
DENSE_CUDA = 20_000


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues and vectors; of each vector its component, -1 for contrasts; of each row its component; and counts:
    `zeros` eigenvalues 0 of M among those found, the constant's included, `terminal` strongly connected components that
    no edge leaves, which is how many zeros M has where no row is reconstructed without error."""

    values: np.ndarray
    vectors: np.ndarray
    owner: np.ndarray
    component: np.ndarray
    terminal: int
    residual: float
    searches: int = 0

    @property
    def zeros(self) -> int:
        return 1 + int((self.values < ZERO).sum())


def bottom(
    W: sparse.csr_array,
    count: int,
    *,
    dense_up_to: int = DENSE,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress = silent,
) -> Spectrum:
    """The `count` smallest eigenpairs of M orthogonal to the constant; count is below the number of rows."""
    component = weak_components(W)
    sizes = np.bincount(component)
    terminal = len(terminal_components(W))
    contrasts = _contrasts(component, sizes, min(len(sizes) - 1, count))
    values, owner = [np.zeros(contrasts.shape[1])], [np.full(contrasts.shape[1], -1)]
    blocks: list[tuple[np.ndarray, np.ndarray]] = []
    residual, searches = 0.0, 0
    wanted = count - contrasts.shape[1]
    rows_of = np.split(np.argsort(component, kind="stable"), np.cumsum(sizes)[:-1])
    for number, rows in enumerate(rows_of):
        within = min(wanted, len(rows) - 1)
        if within < 1:
            continue
        progress(number, len(sizes), "eigenvectors")
        found = _of_component(W[rows][:, rows], within, dense_up_to, seed, device, progress)
        values.append(found.values)
        owner.append(np.full(within, number))
        blocks.append((rows, found.vectors))
        residual, searches = max(residual, found.residual), searches + found.passes
    joined, of = np.concatenate(values), np.concatenate(owner)
    order = np.argsort(joined, kind="stable")[:count]  # contrasts stand first, and 0 is the least there is
    vectors = np.zeros((len(component), count))
    place = np.concatenate([np.arange(len(part)) for part in values])
    vectors[:, : contrasts.shape[1]] = contrasts
    by_owner = dict(zip((own[0] for own in owner[1:]), blocks, strict=True))
    for column, index in enumerate(order):
        if of[index] >= 0:
            rows, found_vectors = by_owner[of[index]]
            vectors[rows, column] = found_vectors[:, place[index]]
    return Spectrum(joined[order], _signed(vectors), of[order], component, terminal, residual, searches)


def _contrasts(component: np.ndarray, sizes: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal vectors that are constant on each component and orthogonal to 1, (m, count), of C - 1 there are.

    The first tells the largest component from all others, the next the second largest from those that are left, ...
    """
    found = np.zeros((len(component), count))
    for number in range(count):
        here, later = component == number, component > number
        found[here, number] = 1 / sizes[number]
        found[later, number] = -1 / later.sum()
    return found / np.linalg.norm(found, axis=0)


def _of_component(
    W: sparse.csr_array, count: int, dense_up_to: int, seed: int, device: str, progress: Progress
) -> Found:
    """The bottom of one component's M, its own constant moved away."""
    size = W.shape[0]
    if size <= (DENSE_CUDA if device == "cuda" else dense_up_to):
        return _dense(W, count, device)
    away = sparse.csr_array(sparse.eye_array(size, format="csr") - W)
    back = away.T.tocsr()

    def product(x: np.ndarray) -> np.ndarray:
        # in row order: scipy's sparse product with columns in memory order takes many times as long
        return back @ (away @ np.ascontiguousarray(x))

    constant = np.full((size, 1), size**-0.5)
    zeros = len(terminal_components(W)) - 1
    found = smallest(product, size, count, apart=constant, zeros=zeros, seed=seed, progress=progress)
    return replace(found, values=np.maximum(found.values, 0.0))


def _dense(W: sparse.csr_array, count: int, device: str) -> Found:
    size = W.shape[0]
    away = sparse.csr_array(sparse.eye_array(size, format="csr") - W)
    M = (away.T @ away).toarray()
    # + t 1 1ᵀ/m with t beyond every other eigenvalue: the constant goes from the bottom to the top
    above = float(np.abs(M).sum(axis=0).max()) + 1.0
    if device == "cuda":
        moved = torch.from_numpy(M).to(device) + above / size
        values, vectors = (part.cpu().numpy() for part in torch.linalg.eigh(moved))
        values, vectors = values[:count], np.ascontiguousarray(vectors[:, :count])
    else:
        values, vectors = linalg.eigh(M + above / size, subset_by_index=[0, count - 1], check_finite=False)
    residual = np.linalg.norm(M @ vectors - vectors * values, axis=0).max()
    return Found(np.maximum(values, 0.0), vectors, float(residual))


def _signed(vectors: np.ndarray) -> np.ndarray:
    """The largest entry of each column positive, so that a seed gives one answer on every machine."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0, keepdims=True), 0)
    return vectors * np.where(largest < 0, -1.0, 1.0)
