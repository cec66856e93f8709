"""How well classes stand apart, in three figures that are measured alike in an embedding space and in a picture of it.

    ratio        inter / intra: the centres' distance over the classes' width                          (`inter_intra`)
    silhouette   mean of (b - a) / max(a, b): a to the own class, b to the nearest other, both mean distances
    hit          Hit@1: share of sentences whose nearest neighbour is of their class; ties never flatter

In: rows (n, d) or (n, 2) or (n, 3), and labels. Out: `Separation`. All distances are Euclidean: between rows of length
one the nearest is the one of largest cosine. What is not defined for these classes is NaN. Of many rows silhouette and
Hit@1 are those of a sample; of many sparse rows the ratio is, too, since their centres' distances fill up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labkit.evaluation.geometry import inter_intra
from labkit.evaluation.inputs import Vectors, classes, exponent, scaled, seeded, vectors
from labkit.evaluation.neighbours import nearest_rows

MOST = 2_000  # sentences for silhouette and Hit@1: all their distances are looked at
TIES = 8  # neighbours that may be equally near and are looked at
EQUAL = 1e-9  # distances this close to each other, relatively, are a tie


@dataclass(frozen=True)
class Separation:
    """The three figures, and on how many rows silhouette and Hit@1 were measured."""

    ratio: float
    silhouette: float
    hit: float
    sample: int


def separation(rows: ArrayLike, labels: ArrayLike, *, most: int = MOST, seed: int = 0) -> Separation:
    """The three figures. Above `most` rows a sample is drawn by `seed`."""
    found = vectors("rows", rows, keep_single=True)
    found = scaled(found, exponent(found))
    codes = classes("labels", labels, count=found.shape[0])
    taken = np.arange(len(codes))
    if len(codes) > most:
        taken = np.sort(np.random.default_rng(seeded(seed)).choice(len(codes), most, replace=False))
    within = taken if not isinstance(found, np.ndarray) else np.arange(len(codes))
    ratio = inter_intra(found[within], codes[within]).ratio if len(np.unique(codes[within])) > 1 else float("nan")
    return Separation(ratio, _silhouette(found[taken], codes[taken]), _hit(found, codes, taken), len(taken))


def _silhouette(rows: Vectors, codes: np.ndarray) -> float:
    """Defined from two classes up, as long as they are fewer than the rows."""
    from sklearn.metrics import silhouette_score  # takes a second, and a picture comes before its figures

    if not 2 <= len(np.unique(codes)) < len(codes):
        return float("nan")
    return float(silhouette_score(rows, codes))


def _hit(rows: Vectors, codes: np.ndarray, asking: np.ndarray) -> float:
    """Those alone in their class are not asked."""
    asking = asking[np.bincount(codes)[codes[asking]] > 1]
    if not len(asking):
        return float("nan")
    found, distances = nearest_rows(rows[asking], rows, min(TIES + 1, len(codes)))
    distances = np.where(found == asking[:, None], np.inf, distances)
    nearest = distances.min(axis=1, keepdims=True)
    tied = distances <= nearest * (1 + EQUAL)
    return float(np.where(tied, codes[found] == codes[asking][:, None], True).all(axis=1).mean())
