"""The bottom of a large spectrum by Lanczos on a filtered operator: nothing is factorised, so nothing fills in.

    T_deg((M - c) / e)    a Chebyshev polynomial, |.| <= 1 on [cut, highest] and steep below: there lies what is wanted

Lanczos finds the largest eigenvalues of the filter within a few hundred steps, where on M itself it would take many
thousands. A single start cannot see two copies of one eigenvalue: so what was found is deflated and the search begun
again, until nothing smaller turns up. In: M as a product with a vector or a block, its size. Out: the eigenvectors of
the smallest eigenvalues among those orthogonal to given ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from labkit.locally_linear.density import Product, cut_for
from labkit.progress import Progress, silent

SPARE = 2.5  # the cut is placed where so many times the wanted eigenvalues lie below it
DEGREES = (8, 120)
AGAIN, MOST = 4, 40  # eigenvectors that a search for what was missed asks for
GLANCE = 1e-4  # tolerance of the look whether anything was missed at all; its square is what the look may overlook
SAME = 1e-6  # relative: what lies below the last one found by no more than this is not smaller
ZERO = 1e-10  # an eigenvalue below this is one of the null space


@dataclass(frozen=True, eq=False)
class Found:
    """Eigenvalues (p,), rising, and vectors (n, p); |M v - λ v| of the worst; how they were found."""

    values: np.ndarray
    vectors: np.ndarray
    residual: float
    degree: int = 0
    passes: int = 0


def smallest(
    product: Product,
    size: int,
    count: int,
    *,
    apart: np.ndarray,
    zeros: int = 0,
    tolerance: float = 1e-7,
    seed: int = 0,
    progress: Progress = silent,
) -> Found:
    """The `count` smallest eigenpairs of a positive semidefinite M, orthogonal to the orthonormal columns of `apart`.

    `apart` (size, a) must be eigenvectors themselves; `zeros` eigenvalues 0 beside them are expected.
    """
    random = np.random.default_rng(seed)
    progress(0, None, "the spectrum's shape")
    cut, highest = cut_for(product, size, SPARE * count, random)
    found, cut = _until_below(product, size, count, cut, highest, apart, tolerance, random, progress)
    while True:
        progress(found.passes, None, f"searching for what was missed, below {found.values[-1]:.3g}")
        known = np.concatenate([apart, found.vectors], axis=1)
        missing = min(zeros, count) - int((found.values < ZERO).sum())
        more = min(max(AGAIN, missing + 4), MOST, size - known.shape[1] - 1)
        if more < 1:
            break
        filtered = _filter_of(found.degree, cut, highest)
        bound = found.values[-1] * (1 - SAME) - ZERO
        if not _below(product, bound, filtered, known, random):
            break
        new = _lanczos(product, more, filtered, known, tolerance, random)
        if new.values[0] >= bound:
            break
        joined = np.concatenate([found.vectors, new.vectors], axis=1)
        found = _settled(product, joined, count, found.degree, found.passes + 1)
    return _polished(product, found, cut, highest, apart, tolerance)


# --- the search ------------------------------------------------------------------------------------------------


def _until_below(
    product: Product,
    size: int,
    count: int,
    cut: float,
    highest: float,
    apart: np.ndarray,
    tolerance: float,
    random: np.random.Generator,
    progress: Progress,
) -> tuple[Found, float]:
    """Once with the guessed cut, and with a higher one while an eigenvalue that was wanted lies above it; that cut."""
    while True:
        degree = degree_for(cut, highest)
        progress(0, None, f"{count} eigenvectors of {size:,} rows, filter of degree {degree}")
        found = _lanczos(product, count, _filter_of(degree, cut, highest), apart, tolerance, random)
        if found.values[-1] < cut or cut >= highest / 2:
            return found, cut
        cut = min(2 * cut, highest / 2)


def degree_for(cut: float, highest: float) -> int:
    """As low as still tells 0 from the cut: the filter's slope at 0 is about deg² / highest."""
    return int(np.clip(np.ceil(1.5 * np.sqrt(highest / cut)), *DEGREES))


@dataclass(frozen=True)
class _Filter:
    degree: int
    centre: float
    half: float

    def __call__(self, product: Product, x: np.ndarray) -> np.ndarray:
        """T_deg((M - c)/e) x / T_deg(-c/e), by the three-term recurrence, scaled so that it stays finite."""
        sigma = first = -self.half / self.centre
        before, now = x, (product(x) - self.centre * x) * (sigma / self.half)
        for _ in range(2, self.degree + 1):
            after = 1 / (2 / first - sigma)
            before, now = now, (product(now) - self.centre * now) * (2 * after / self.half) - (sigma * after) * before
            sigma = after
        return now


def _filter_of(degree: int, cut: float, highest: float) -> _Filter:
    return _Filter(degree, (highest + cut) / 2, (highest - cut) / 2)


def _lanczos(
    product: Product, count: int, filtered: _Filter, apart: np.ndarray, tolerance: float, random: np.random.Generator
) -> Found:
    """`count` eigenpairs orthogonal to `apart`, the smallest of M up to copies that one search cannot see."""
    _, vectors = _largest(product, count, filtered, apart, tolerance, random)
    if vectors.shape[1] < count:
        filler = random.standard_normal((len(apart), count - vectors.shape[1]))
        vectors = np.concatenate([vectors, filtered(product, filler)], axis=1)
    return _settled(product, vectors - apart @ (apart.T @ vectors), count, filtered.degree, 0)


def _below(product: Product, bound: float, filtered: _Filter, known: np.ndarray, random: np.random.Generator) -> bool:
    """Whether M has an eigenvalue below the bound beside the known ones.

    The filter's value tells, not a Rayleigh quotient of M: there, what little the vector still holds of large
    eigenvalues would hide a small one.
    """
    if bound <= 0:
        return False
    values, _ = _largest(product, 1, filtered, known, GLANCE, random)
    return not len(values) or bool(values[-1] > filtered(lambda x: bound * x, np.ones(1))[0])


def _largest(
    product: Product, count: int, filtered: _Filter, apart: np.ndarray, tolerance: float, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """The filter's largest eigenvalues, rising, and vectors, orthogonal to `apart`; as many as have converged."""
    size = len(apart)

    def applied(x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        x = x - apart @ (apart.T @ x)
        x = filtered(product, x)
        return x - apart @ (apart.T @ x)

    operator = LinearOperator((size, size), matvec=applied, dtype=np.float64)
    room = min(size - 1, 2 * count + 30)
    start = random.standard_normal(size)
    try:
        return eigsh(operator, count, which="LA", ncv=room, tol=tolerance, v0=start, maxiter=300)
    except ArpackNoConvergence as stopped:  # what has converged is used; the next search brings the rest
        return stopped.eigenvalues, stopped.eigenvectors


def _settled(product: Product, vectors: np.ndarray, count: int, degree: int, passes: int) -> Found:
    """The best eigenpairs within the span of some vectors (Rayleigh, Ritz)."""
    basis = linalg.qr(vectors, mode="economic", check_finite=False)[0]
    image = product(basis)
    small = basis.T @ image
    values, within = linalg.eigh((small + small.T) / 2, subset_by_index=[0, count - 1])
    found = basis @ within
    residual = np.linalg.norm(image @ within - found * values, axis=0).max()
    return Found(values, found, float(residual), degree, passes)


def _polished(product: Product, found: Found, cut: float, highest: float, apart: np.ndarray, tolerance: float) -> Found:
    """Once more through the filter, all together, until no residual exceeds the tolerance."""
    for _ in range(5):
        if found.residual <= 10 * tolerance:
            break
        vectors = _filter_of(found.degree, max(cut, 1.5 * found.values[-1]), highest)(product, found.vectors)
        vectors -= apart @ (apart.T @ vectors)
        better = _settled(product, vectors, len(found.values), found.degree, found.passes)
        if better.residual >= found.residual:
            break
        found = better
    return found
