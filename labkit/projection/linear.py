"""PCA: the directions along which the rows spread most, by scikit-learn. The only picture that is linear.

In: rows (n, d), dense or CSR. Out: points (n, p), the share of the variance they show, and the `Basis` that places any
new row exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labkit.evaluation.inputs import Vectors
from labkit.evaluation.neighbours import squares
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
    if not isinstance(rows, np.ndarray) and count >= min(rows.shape):
        rows = rows.toarray()  # the sparse solver must leave a direction out
    centre = np.asarray(rows.mean(axis=0), dtype=np.float64).ravel()
    directions = np.zeros((rows.shape[1], dimensions))
    if _varies(rows):
        from sklearn.decomposition import PCA  # takes a second, and stored pictures need none

        solver = "auto" if isinstance(rows, np.ndarray) else "arpack"
        model = PCA(count, svd_solver=solver, random_state=seed).fit(rows)
        directions[:, :count] = model.components_.T
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
    if isinstance(rows, np.ndarray):
        return float(rows.astype(np.float64).var(axis=0).sum())
    mean = np.asarray(rows.mean(axis=0)).ravel()
    return float(squares(rows).mean() - mean @ mean)
