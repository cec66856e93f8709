"""Clusters of embeddings by k-means, and how far two labellings of one set agree.

k-means and all figures but purity are scikit-learn's, which takes a second to import and so is imported when it is
called; Iclust, which clusters a similarity matrix, has a module of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labkit.evaluation.inputs import classes, exponent, scaled, seeded, vectors, whole


@dataclass(frozen=True)
class Agreement:
    """mi in nats; ami and nmi normalised by the arithmetic mean; ri and ari over pairs; purity of what was found."""

    mi: float
    ami: float
    nmi: float
    ri: float
    ari: float
    purity: float

    def __str__(self) -> str:
        return (
            f"MI {self.mi:.4f} nats, AMI {self.ami:.4f}, NMI {self.nmi:.4f}, "
            f"RI {self.ri:.4f}, ARI {self.ari:.4f}, purity {self.purity:.4f}"
        )


def clustering_agreement(truth: ArrayLike, found: ArrayLike) -> Agreement:
    """True classes (n,) and found clusters (n,), names of any kind, to the record. Only purity is not symmetric:

    purity = 1/n · sum over found clusters of the size of their largest class (1 when every cluster is pure, and
    also when every sentence is a cluster of its own: read it with the adjusted figures).
    """
    from sklearn.metrics import (
        adjusted_mutual_info_score,
        adjusted_rand_score,
        mutual_info_score,
        normalized_mutual_info_score,
        rand_score,
    )
    from sklearn.metrics.cluster import contingency_matrix

    codes = classes("truth", truth)
    clusters = classes("found", found, count=len(codes))
    return Agreement(
        mi=float(mutual_info_score(codes, clusters)),
        ami=float(adjusted_mutual_info_score(codes, clusters)),
        nmi=float(normalized_mutual_info_score(codes, clusters)),
        ri=float(rand_score(codes, clusters)),
        ari=float(adjusted_rand_score(codes, clusters)),
        purity=float(contingency_matrix(codes, clusters).max(axis=0).sum() / len(codes)),
    )


def kmeans(embeddings: ArrayLike, k: int, *, seed: int, restarts: int) -> np.ndarray:
    """Labels 0..k-1 (n,) of the best of `restarts` runs (k-means++ starts) on embeddings (n, d) as they are."""
    from sklearn.cluster import KMeans

    rows = vectors("embeddings", embeddings)
    whole("k", k, 1, rows.shape[0], "the number of rows")
    whole("restarts", restarts, 1, 10_000, "how many runs to choose the best of")
    rows = scaled(rows, exponent(rows))
    return KMeans(k, n_init=restarts, random_state=seeded(seed)).fit_predict(rows).astype(np.int64)
