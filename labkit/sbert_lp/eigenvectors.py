"""The bottom eigenvectors of M = (I - W)ᵀ(I - W) after the constant one, for any neighbour graph.

    split        M is block diagonal over the graph's weak components: each is solved separately; spectra are merged
    contrasts    indicators of C components span 1 and C - 1 orthogonal vectors with eigenvalue 0, which come first
    within       in each component the constant is an eigenvector, which is removed exactly before the search

In: W (m, m). Out: a `Spectrum`: eigenvalues (p,), ascending, vectors (m, p), orthonormal and orthogonal to 1. For a
repeated eigenvalue the basis is arbitrary and determined by the seed.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import torch
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from labkit.arrays import positive_peaks
from labkit.progress import Progress, silent
from labkit.sbert_lp.graph import terminal_components, weak_components

Product: TypeAlias = Callable[[np.ndarray], np.ndarray]  # M times a vector or a block of vectors

# --- the density of eigenvalues ----------------------------------------------------------------------------------

PROBES, LANCZOS_STEPS = 4, 60  # random vectors, and Lanczos steps from each


def cut_for(product: Product, size: int, below: float, random: np.random.Generator) -> tuple[float, float]:
    """A cut with about `below` eigenvalues below it, and a bound on the largest, by stochastic Lanczos quadrature.

        number of eigenvalues below t  ≈  m/P Σ_probes Σ_{θ < t} (first entry of θ's vector)²

    θ are the Ritz values of a few dozen steps of Lanczos from each of P random vectors. It is accurate to a few tenths,
    enough to place the filter's cut.
    """
    nodes, masses, highest = [], [], 0.0
    for _ in range(PROBES):
        start = random.standard_normal(size)
        values, first, rest = _tridiagonal(product, start / np.linalg.norm(start), min(LANCZOS_STEPS, size - 1))
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
        if beside[step] < 1e-12:  # the whole space spanned by `start` is known
            steps = step + 1
            break
        basis[step + 1] = new / beside[step]
    values, vectors = linalg.eigh_tridiagonal(diagonal[:steps], beside[: steps - 1])
    return values, vectors[0], float(beside[steps - 1])


# --- the bottom of one large M, filtered -------------------------------------------------------------------------

SPARE = 2.5  # the cut is placed where this many times the requested number of eigenvalues are below it
DEGREES = (8, 120)
AGAIN = (4, 40)  # minimum and maximum number of eigenvectors to request when searching for missed ones
TOLERANCE = 1e-7  # tolerance of the search
GLANCE = 1e-4  # tolerance of the check for missed eigenvalues; values up to its square may be missed
SAME = 1e-6  # relative: a value is smaller than the last one found only if it differs by more than this
ZERO = 1e-10  # an eigenvalue below this belongs to the null space


@dataclass(frozen=True, eq=False)
class Eigenpairs:
    """Eigenvalues (p,), ascending, and vectors (n, p); the largest |M v - λ v|."""

    values: np.ndarray
    vectors: np.ndarray
    residual: float


def smallest(
    product: Product,
    size: int,
    count: int,
    *,
    apart: np.ndarray,
    zeros: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> Eigenpairs:
    """The `count` smallest eigenpairs of a positive semidefinite M, orthogonal to the orthonormal columns of `apart`.

        T_deg((M - c) / e)    a Chebyshev polynomial, |.| <= 1 on [cut, highest], steep below, where the wanted ones lie

    Lanczos finds the largest eigenvalues of this filter in a few hundred steps, where M itself would need many
    thousands; nothing is factorised. The cut is a guess, and is raised while a wanted eigenvalue is above it. A single
    start cannot find two copies of one eigenvalue, so found copies are deflated and the search repeated until nothing
    smaller is found.

    `apart` (size, a) must be eigenvectors; `zeros` further eigenvalues of 0 are expected.
    """
    random = np.random.default_rng(seed)
    progress(0, None, "the spectrum's shape")
    cut, highest = cut_for(product, size, SPARE * count, random)
    while True:
        filtered = ChebyshevFilter(product, degree_for(cut, highest), cut, highest)
        progress(0, None, f"{count} eigenvectors of {size:,} rows, filter of degree {filtered.degree}")
        pairs = _lanczos(filtered, count, apart, random)
        if pairs.values[-1] < cut or cut >= highest / 2:
            break
        cut = min(2 * cut, highest / 2)
    for passes in itertools.count():
        progress(passes, None, f"searching for missed eigenvalues below {pairs.values[-1]:.3g}")
        known = np.concatenate([apart, pairs.vectors], axis=1)
        missing = min(zeros, count) - int((pairs.values < ZERO).sum())
        more = min(max(AGAIN[0], missing + 4), AGAIN[1], size - known.shape[1] - 1)
        bound = pairs.values[-1] * (1 - SAME) - ZERO
        if more < 1 or not _below(filtered, bound, known, random):
            break
        new = _lanczos(filtered, more, known, random)
        if new.values[0] >= bound:
            break
        pairs = _settled(product, np.concatenate([pairs.vectors, new.vectors], axis=1), count)
    return _polished(filtered, pairs, apart)


def degree_for(cut: float, highest: float) -> int:
    """The lowest degree that separates 0 from the cut: the filter's slope at 0 is about deg² / highest."""
    return int(np.clip(np.ceil(1.5 * np.sqrt(highest / cut)), *DEGREES))


@dataclass(frozen=True)
class ChebyshevFilter:
    """The polynomial of M that stays within ±1 on [cut, highest] and grows steeply below."""

    product: Product
    degree: int
    cut: float
    highest: float

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """T_deg((M - c)/e) x / T_deg(-c/e), by the three-term recurrence, scaled to stay finite."""
        c, e = (self.highest + self.cut) / 2, (self.highest - self.cut) / 2
        sigma = first = -e / c
        before, now = x, (self.product(x) - c * x) * (sigma / e)
        for _ in range(2, self.degree + 1):
            after = 1 / (2 / first - sigma)
            before, now = now, (self.product(now) - c * now) * (2 * after / e) - (sigma * after) * before
            sigma = after
        return now


def _lanczos(filtered: ChebyshevFilter, count: int, apart: np.ndarray, random: np.random.Generator) -> Eigenpairs:
    """`count` eigenpairs orthogonal to `apart`, the smallest of M except for copies that one search cannot find."""
    _, vectors = _largest(filtered, count, apart, TOLERANCE, random)
    if vectors.shape[1] < count:
        filler = random.standard_normal((len(apart), count - vectors.shape[1]))
        vectors = np.concatenate([vectors, filtered(filler)], axis=1)
    return _settled(filtered.product, vectors - apart @ (apart.T @ vectors), count)


def _below(filtered: ChebyshevFilter, bound: float, known: np.ndarray, random: np.random.Generator) -> bool:
    """Whether M has a further eigenvalue below the bound.

    The filter's value decides, not a Rayleigh quotient of M, in which remnants of large eigenvalues would hide a small
    one.
    """
    if bound <= 0:
        return False
    values, _ = _largest(filtered, 1, known, GLANCE, random)
    return not len(values) or bool(values[-1] > replace(filtered, product=lambda x: bound * x)(np.ones(1))[0])


def _largest(
    filtered: ChebyshevFilter, count: int, apart: np.ndarray, tolerance: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The converged largest eigenvalues of the filter, ascending, and their vectors, orthogonal to `apart`."""
    size = len(apart)

    def applied(x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        x = filtered(x - apart @ (apart.T @ x))
        return x - apart @ (apart.T @ x)

    operator = LinearOperator((size, size), matvec=applied, dtype=np.float64)
    room = min(size - 1, 2 * count + 30)
    start = random.standard_normal(size)
    try:
        return eigsh(operator, count, which="LA", ncv=room, tol=tolerance, v0=start, maxiter=300)
    except ArpackNoConvergence as stopped:  # converged pairs are used; the next search finds the rest
        return stopped.eigenvalues, stopped.eigenvectors


def _settled(product: Product, vectors: np.ndarray, count: int) -> Eigenpairs:
    """The best eigenpairs within the span of some vectors (Rayleigh-Ritz)."""
    basis = linalg.qr(vectors, mode="economic", check_finite=False)[0]
    image = product(basis)
    small = basis.T @ image
    values, within = linalg.eigh((small + small.T) / 2, subset_by_index=[0, count - 1])
    best = basis @ within
    residual = np.linalg.norm(image @ within - best * values, axis=0).max()
    return Eigenpairs(values, best, float(residual))


def _polished(filtered: ChebyshevFilter, pairs: Eigenpairs, apart: np.ndarray) -> Eigenpairs:
    """Apply the filter to all vectors again, up to five times, while residuals are too large and still fall."""
    for _ in range(5):
        if pairs.residual <= 10 * TOLERANCE:
            break
        vectors = replace(filtered, cut=max(filtered.cut, 1.5 * pairs.values[-1]))(pairs.vectors)
        vectors -= apart @ (apart.T @ vectors)
        better = _settled(filtered.product, vectors, len(pairs.values))
        if better.residual >= pairs.residual:
            break
        pairs = better
    return pairs


# --- the bottom of any M, by components --------------------------------------------------------------------------

DENSE = 2_500  # rows of a component up to which M is dense
DENSE_CUDA = 20_000


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues (p,), vectors (m, p), the component of each vector (`owner` (p,), -1 for contrasts), and the
    component of each row.

    `residual` is the largest |M v - λ v|.
    """

    values: np.ndarray
    vectors: np.ndarray
    owner: np.ndarray
    component: np.ndarray
    residual: float


def bottom(
    W: sparse.csr_array,
    count: int,
    *,
    seed: int = 0,
    device: str = "cpu",
    progress: Progress = silent,
) -> Spectrum:
    """The `count` smallest eigenpairs of M orthogonal to the constant; count must be below the number of rows."""
    component = weak_components(W)
    sizes = np.bincount(component)
    every, residual = np.arange(len(component)), 0.0
    contrasts = _contrasts(component, sizes, min(len(sizes) - 1, count))
    # eigenvalue, component, its rows, and the vector on these; zero elsewhere
    found = [(0.0, -1, every, contrast) for contrast in contrasts.T]
    for number, rows in enumerate(np.split(np.argsort(component, kind="stable"), np.cumsum(sizes)[:-1])):
        within = min(count - contrasts.shape[1], len(rows) - 1)
        if within < 1:
            continue
        progress(number, len(sizes), "eigenvectors")
        pairs = _of_component(W[rows][:, rows], within, seed, device, progress)
        found += [(value, number, rows, v) for value, v in zip(pairs.values.tolist(), pairs.vectors.T, strict=True)]
        residual = max(residual, pairs.residual)
    found = sorted(found, key=lambda pair: pair[0])[:count]  # a stable sort keeps contrasts, whose value is 0, first
    vectors = np.zeros((len(component), count))
    for column, (_, _, rows, vector) in enumerate(found):
        vectors[rows, column] = vector
    values, owner = np.array([pair[0] for pair in found]), np.array([pair[1] for pair in found])
    return Spectrum(values, positive_peaks(vectors), owner, component, residual)


def _contrasts(component: np.ndarray, sizes: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal vectors that are constant on each component and orthogonal to 1: `count` (of C - 1), (m, count).

    The first vector separates the largest component from all others, the next the second largest from the rest, etc.
    """
    vectors = np.zeros((len(component), count))
    for number in range(count):
        here, later = component == number, component > number
        vectors[here, number] = 1 / sizes[number]
        vectors[later, number] = -1 / later.sum()
    return vectors / np.linalg.norm(vectors, axis=0)


def _of_component(W: sparse.csr_array, count: int, seed: int, device: str, progress: Progress) -> Eigenpairs:
    """The bottom eigenvectors of one component's M, without the constant one."""
    size = W.shape[0]
    if size <= (DENSE_CUDA if device == "cuda" else DENSE):
        return _dense(W, count, device)
    away = sparse.csr_array(sparse.eye_array(size, format="csr") - W)
    back = away.T.tocsr()

    def product(x: np.ndarray) -> np.ndarray:
        # in row order: scipy's sparse product is many times slower with contiguous columns
        return back @ (away @ np.ascontiguousarray(x))

    constant = np.full((size, 1), size**-0.5)
    zeros = terminal_components(W) - 1
    pairs = smallest(product, size, count, apart=constant, zeros=zeros, seed=seed, progress=progress)
    return replace(pairs, values=np.maximum(pairs.values, 0.0))


def _dense(W: sparse.csr_array, count: int, device: str) -> Eigenpairs:
    size = W.shape[0]
    away = sparse.csr_array(sparse.eye_array(size, format="csr") - W)
    M = (away.T @ away).toarray()
    # + t 1 1ᵀ/m with t beyond every other eigenvalue moves the constant from the bottom to the top
    above = float(np.abs(M).sum(axis=0).max()) + 1.0
    if device == "cuda":
        moved = torch.from_numpy(M).to(device) + above / size
        values, vectors = (part.cpu().numpy() for part in torch.linalg.eigh(moved))
        values, vectors = values[:count], np.ascontiguousarray(vectors[:, :count])
    else:
        values, vectors = linalg.eigh(M + above / size, subset_by_index=[0, count - 1], check_finite=False)
    residual = np.linalg.norm(M @ vectors - vectors * values, axis=0).max()
    return Eigenpairs(np.maximum(values, 0.0), vectors, float(residual))
