"""Where a new sentence lands in a picture that is already drawn, and how that was found.

In: a projection, the embeddings (n, d) it was made of, new embeddings (m, d). Out: `Placement`, points (m, p).

PCA          its own basis, exactly: y = (x - centre) directions + offset
t-SNE, UMAP  y = Σ_j w_j y_j over the k nearest embeddings. w_j = exp(-β d_j²) / Σ, with β such that about three of them
             count (`affinities.conditional`): the conditional similarity of t-SNE, with a small perplexity
LLE          y = Σ_j w_j y_j with the weights that rebuild x from its neighbours best, Σ w = 1, as LLE places its own

A sentence whose embedding is in the picture lands where that one is. All of it holds after turning and scaling, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from labkit.evaluation.inputs import Vectors, vectors
from labkit.evaluation.neighbours import nearest_rows
from labkit.projection.affinities import conditional
from labkit.projection.record import Projection
from labkit.projection.rows import checked

NEIGHBOURS = 10
COUNTING = 3.0  # perplexity of the weights: more would draw every sentence into the middle of its cluster
COPY = 1e-6  # of the largest embedding's length: nearer is the same


@dataclass(frozen=True, eq=False)
class Placement:
    """Points float32 (m, p), `how` in words, and whose weighted mean they are: (m, k) each, None for PCA."""

    points: np.ndarray
    how: str
    neighbours: np.ndarray | None = None
    weights: np.ndarray | None = None


def place(projection: Projection, embeddings: Any, new: Any) -> Placement:
    """New embeddings in a picture. `embeddings` are those it was made of, in the order of its points."""
    rows = checked(embeddings)
    if rows.shape[0] != len(projection.points):
        raise ValueError(
            f"embeddings has {rows.shape[0]} rows, expected {len(projection.points)} like the picture; "
            "give those it was made of"
        )
    fresh = vectors("new", new, like=rows, keep_single=True)
    if projection.basis is not None:
        return Placement(projection.basis(fresh), "PCA's own basis, exactly")
    wanted = projection.settings["neighbours"] if projection.method == "lle" else NEIGHBOURS
    k = min(int(wanted), rows.shape[0])
    found, distances = nearest_rows(fresh, rows, k)
    if projection.method == "lle":
        weights = _rebuilding(fresh, rows, found)
        how = f"the mixture of its {k} nearest embeddings that rebuilds it best"
    else:
        weights = conditional(distances**2, min(COUNTING, (k + 1) / 2))
        how = f"the mean of its {k} nearest embeddings' points, the nearer the more (about {COUNTING:g} count)"
    copied = distances[:, 0] <= COPY * np.sqrt(abs(rows).max() ** 2 * rows.shape[1])
    weights[copied] = np.eye(k)[0]
    points = np.einsum("mk,mkp->mp", weights, projection.points[found])
    return Placement(points.astype(np.float32), how, found, weights)


def _rebuilding(fresh: Vectors, rows: Vectors, found: np.ndarray) -> np.ndarray:
    from labkit.locally_linear.weights import reconstruction_weights

    return reconstruction_weights(fresh, rows, found).values
