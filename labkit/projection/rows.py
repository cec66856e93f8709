"""Embeddings as the projections take them: checked once, dense or CSR, enough of them, and not all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from labkit.evaluation.inputs import Vectors, exponents, scaled, vectors
from labkit.evaluation.neighbours import squares

LEAST = 4  # points: below this no method has anything to arrange
STRONGEST = 50  # directions that sparse rows keep for the methods that want dense ones


def checked(embeddings: Any) -> Vectors:
    """(n, d), float32 kept, else float64; CSR stays CSR. ValueError for NaN, no columns, or fewer than LEAST rows."""
    rows = vectors("embeddings", embeddings, keep_single=True)
    if rows.shape[0] < LEAST:
        raise ValueError(f"embeddings has {rows.shape[0]} rows, expected at least {LEAST}; choose more sentences")
    return rows


def different(rows: Vectors, method: str) -> None:
    """ValueError where all rows are one: there are no neighbours to keep."""
    apart = abs(rows - rows[[0] * rows.shape[0]]).max()
    if apart == 0:
        raise ValueError(
            f"embeddings has {rows.shape[0]} rows that are all the same, expected two that differ for {method}; "
            "choose other sentences, or look whether the method has collapsed"
        )


def dense(rows: Vectors, seed: int) -> np.ndarray:
    """Dense rows as they are; sparse ones by their strongest directions, (n, at most STRONGEST)."""
    if isinstance(rows, np.ndarray):
        return rows
    from sklearn.decomposition import TruncatedSVD  # takes a second, and few rows are sparse

    rank = min(STRONGEST, min(rows.shape) - 1)
    return TruncatedSVD(rank, random_state=seed).fit_transform(rows) if rank >= 2 else rows.toarray()


def unit(rows: Vectors) -> Vectors:
    """Rows of length one, so that near means a large cosine; rows of zeros stay."""
    rows = scaled(rows, exponents(rows))
    lengths = np.sqrt(squares(rows)).reshape(-1, 1)
    lengths[lengths == 0] = 1
    return rows / lengths if isinstance(rows, np.ndarray) else sparse.csr_matrix(rows.multiply(1 / lengths))
