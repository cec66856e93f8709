"""Turning one picture onto another, so that points travel and do not jump.

    min_R |A R - B|_F,  RᵀR = I      R = U Vᵀ of the singular value decomposition U S Vᵀ = AᵀB      (Schönemann 1966)

In: points (n, p) of the same sentences. Rotation and reflection only: a scale fitted to each pair would hide that a
picture shrinks. What unit a picture has is settled once for all epochs, in `epochs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from labkit.projection.record import Basis, Projection


def procrustes(points: np.ndarray, onto: np.ndarray) -> np.ndarray:
    """The orthogonal R (p, p) that brings points (n, p) nearest to `onto` (n, p), both around their mean."""
    if points.shape != onto.shape:
        raise ValueError(
            f"points has shape {points.shape}, expected {onto.shape} like onto; give pictures of the same sentences"
        )
    A, B = (np.asarray(each, np.float64) - np.mean(each, axis=0, dtype=np.float64) for each in (points, onto))
    left, _, right = np.linalg.svd(A.T @ B)
    return left @ right


def aligned(projection: Projection, onto: Projection | None = None, *, scale: float = 1.0) -> Projection:
    """The picture around 0, times `scale`, turned onto the other one; PCA's basis is turned with it."""
    middle = projection.points.mean(axis=0, dtype=np.float64)
    R = np.eye(len(middle)) if onto is None else procrustes(projection.points, onto.points)
    points = scale * (projection.points - middle) @ R
    basis = projection.basis
    if basis is not None:
        basis = Basis(basis.centre, scale * basis.directions @ R, scale * (basis.offset - middle) @ R)
    return replace(projection, points=points.astype(np.float32), basis=basis)


def radius(points: np.ndarray) -> float:
    """The root mean square distance of points (n, p) from their mean."""
    centred = points - points.mean(axis=0, dtype=np.float64)
    return float(np.sqrt((centred**2).sum(axis=1).mean()))


def limits(projections: Sequence[Projection], *, margin: float = 0.05) -> np.ndarray:
    """Axes that hold every point of every picture, (p, 2) lowest and highest, with a margin: fixed over all epochs."""
    if not projections:
        raise ValueError("projections is empty, expected at least one picture")
    points = np.concatenate([each.points for each in projections])
    low, high = points.min(axis=0), points.max(axis=0)
    room = margin * np.where(high > low, high - low, 1)
    return np.stack([low - room, high + room], axis=1)
