"""Vectors in many dimensions to points in the plane, for the eye only.

In: vectors (n, d), dense or sparse. Out: a `Projection`, float32 (n, 2), with the name of how it was made and, for PCA,
how much of the spread it shows. Figures are measured in the space of the vectors, never in the picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD

LEAST = 4  # points: below this neither method has anything to arrange


@dataclass(frozen=True, eq=False)
class Projection:
    """Points of the plane; `shown` is the share of the vectors' spread that they keep, where that can be said."""

    name: str
    points: np.ndarray
    shown: float | None = None


def pca(vectors: np.ndarray, *, seed: int = 0) -> Projection:
    """The two directions along which the vectors spread most: linear, so that far apart means far apart."""
    dense = _dense(vectors, seed)
    model = PCA(2, random_state=seed).fit(dense)
    return Projection("PCA", model.transform(dense).astype(np.float32), float(model.explained_variance_ratio_.sum()))


def tsne(vectors: np.ndarray, *, seed: int = 0, perplexity: float = 30.0) -> Projection:
    """Neighbours stay neighbours: within a cluster distances speak, between clusters they do not.

    Distances are those of the unit vectors, so that near means a large cosine.
    """
    from openTSNE import TSNE  # heavy to import, and not every page needs it

    dense = _dense(vectors, seed)
    unit = dense / np.maximum(np.linalg.norm(dense, axis=1, keepdims=True), 1e-12)
    fitting = min(perplexity, (len(unit) - 1) / 3)
    model = TSNE(perplexity=fitting, random_state=seed, n_jobs=1, neighbors="exact", initialization="pca")
    return Projection("t-SNE", np.asarray(model.fit(unit), dtype=np.float32))


PROJECTIONS: dict[str, Callable[..., Projection]] = {"PCA": pca, "t-SNE": tsne}


def _dense(vectors: Any, seed: int) -> np.ndarray:
    """Dense rows; sparse ones go through their 50 strongest directions first."""
    if vectors.shape[0] < LEAST:
        raise ValueError(f"vectors has {vectors.shape[0]} rows, expected at least {LEAST}; choose more sentences")
    if sparse.issparse(vectors):
        rank = min(50, min(vectors.shape) - 1)
        if rank >= 2:
            return TruncatedSVD(rank, random_state=seed).fit_transform(vectors)
        vectors = vectors.toarray()
    dense = np.asarray(vectors, dtype=np.float64)
    if not np.isfinite(dense).all():
        row = int(np.argwhere(~np.isfinite(dense))[0, 0])
        raise ValueError(f"vectors has a value in row {row} that is not finite; embed that sentence again")
    return dense if dense.shape[1] >= 2 else np.hstack([dense, np.zeros((len(dense), 1))])
