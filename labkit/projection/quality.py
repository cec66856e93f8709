"""How much of the embedding space a picture keeps: neighbours there against neighbours here, both Euclidean.

In: embeddings (n, d), their picture (n, p). Out: `Quality`. Every pair is looked at, so that above SAMPLE points a
sample of them is measured, among themselves: the record says so.
"""

from __future__ import annotations

import numpy as np

from labkit.evaluation import trustworthiness
from labkit.evaluation.inputs import Vectors
from labkit.evaluation.neighbours import nearest_others
from labkit.projection.record import Quality

SAMPLE = 2_000  # points measured: under a second
NEIGHBOURS = 5


def quality(
    rows: Vectors,
    points: np.ndarray,
    *,
    seed: int = 0,
    kl: float | None = None,
    shown: float | None = None,
) -> Quality:
    """Trustworthiness and preserved neighbours; `kl` and `shown` are handed through."""
    n = len(points)
    taken = np.arange(n)
    if n > SAMPLE:
        taken = np.sort(np.random.default_rng(seed).choice(n, SAMPLE, replace=False))
    k = min(NEIGHBOURS, (len(taken) - 1) // 2)
    original, picture = rows[taken], points[taken]
    return Quality(
        trustworthiness=trustworthiness(original, picture, k),
        preserved=preserved(original, picture, k),
        k=k,
        points=len(taken),
        of=n,
        kl=kl,
        shown=shown,
    )


def preserved(original: Vectors, picture: np.ndarray, k: int) -> float:
    """Σ_i |N_k(x_i) ∩ N_k(y_i)| / (n k): the share of neighbours that both spaces name."""
    there, here = nearest_others(original, k), nearest_others(picture, k)
    return float((there[:, :, None] == here[:, None, :]).any(axis=2).mean())
