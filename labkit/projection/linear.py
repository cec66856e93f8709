"""PCA: the directions along which the rows spread most, by scikit-learn. The only picture that is linear.

In: rows (n, d), dense or CSR. Out: points (n, p), the share of the variance they show, and the `Basis` that places any
new row exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA

from labkit.evaluation.inputs import Vectors
from labkit.projection.record import Basis


@dataclass(frozen=True, eq=False)
class Linear:
    """Points float32 (n, p); `shown` is None where nothing varies."""

    points: np.ndarray
    shown: float | None
    basis: Basis


def principal(rows: Vectors, dimensions: int, seed: int) -> Linear:
    """The `dimensions` principal directions; where the rows have fewer, the rest of the picture is 0."""
    count = min(dimensions, *rows.shape)
    sparsely = not isinstance(rows, np.ndarray)
    if sparsely and count >= min(rows.shape):
        rows, sparsely = rows.toarray(), False  # the sparse solver must leave a direction out
    centre = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    directions = np.zeros((rows.shape[1], dimensions))
    if _varies(rows):
        model = PCA(count, svd_solver="arpack" if sparsely else "auto", random_state=seed).fit(rows)
        directions[:, :count] = _signed(model.components_.T)
    basis = Basis(centre, directions, np.zeros(dimensions))
    points = basis(rows)
    return Linear(points, variance_shown(rows, points), basis)


def variance_shown(rows: Vectors, points: np.ndarray) -> float | None:
    """var(points) / var(rows), each summed over its columns; None where nothing varies."""
    total = _variance(rows)
    return float(points.astype(np.float64).var(axis=0).sum() / total) if total > 0 and _varies(rows) else None


def _varies(rows: Vectors) -> bool:
    return bool(abs(rows - rows[[0] * rows.shape[0]]).max() > 0)


def _variance(rows: Vectors) -> float:
    if not sparse.issparse(rows):
        return float(rows.astype(np.float64).var(axis=0).sum())
    mean = np.asarray(rows.mean(axis=0)).ravel()
    return float((rows.multiply(rows).sum() / rows.shape[0]) - mean @ mean)


def _signed(directions: np.ndarray) -> np.ndarray:
    """The largest entry of each column positive, so that a picture is not mirrored from machine to machine."""
    largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0, keepdims=True), 0)
    return directions * np.where(largest < 0, -1.0, 1.0)
