"""How vectors are spread over the sphere: whether they collapse or crowd together, and how many directions they use.

    alignment         mean |x - y|² over positive pairs (Wang and Isola 2020, α = 2); 0: positives coincide
    uniformity        log of the mean of exp(-2 |x - y|²) over all pairs (t = 2); 0: all vectors coincide; lower is more
                      even (about -4 if vectors are uniform on a high-dimensional sphere)
    mean_cosine       mean cosine over all pairs; 1: all vectors point the same way
    effective_rank    exp of the entropy of the normalised singular values (Roy and Vetterli 2007): the number of
                      directions in use

In: rows (n, d), dense or sparse, normalised to length 1. Out: floats and arrays in float64; a pair is two different
rows. The spectrum is that of the centred rows: `mean_cosine` already measures what all rows share, and without
centring, that one direction would hide the rest. None of these scores says how good the vectors are: a collapsed space
has the best alignment, and noise has the best uniformity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from labkit.arrays import Vectors, classes, unit, vectors
from labkit.evaluation.classes import class_sums
from labkit.evaluation.neighbours import BLOCK, MOST_ASKING, blocks, dots, filled, sampled, squares
from labkit.evaluation.retrieval import directed, not_zero, precision_at_r
from labkit.figure_names import OF_PROBE
from labkit.progress import Progress, silent
from labkit.runs import Snapshots

SIDE = 2_048  # rows of the largest square matrix whose eigenvalues are computed, which takes seconds
ALIKE = 1e-14  # a smaller mean square along a direction is float32 rounding

# --- scores of a space -------------------------------------------------------------------------------------------


def alignment(a: ArrayLike, b: ArrayLike) -> float:
    """Return E |x - y|² over positive pairs: each row x of a (m, d), and the row y of b with the same number."""
    left = vectors("a", a)
    right = vectors("b", b, like=left)
    if left.shape != right.shape:
        raise ValueError(f"b has {right.shape[0]} rows, expected {left.shape[0]} as in a; give both sides of each pair")
    x, y = unit(left, refuse="a"), unit(right, refuse="b")
    parts = (squares(x[block] - y[block]).sum() for block in blocks(x.shape[0], filled(y)))
    return float(sum(parts) / x.shape[0])


def class_alignment(embeddings: ArrayLike, labels: ArrayLike) -> float:
    """Return E |x - y|² over all pairs of rows in the same class; every pair has equal weight.

    For a class of m rows, Σ |x - y|² = 2 m² - 2 |Σ x|² over both orders of each pair.
    """
    rows = _several(embeddings)
    codes = classes("labels", labels, count=rows.shape[0])
    sizes = np.bincount(codes)
    pairs = (sizes * (sizes - 1)).sum()
    if not pairs:
        raise ValueError(
            f"each of the {len(codes)} rows is the only one of its class; label more rows, or give `alignment` the "
            "pairs"
        )
    return max(0.0, float(2 * (sizes**2 - squares(class_sums(rows, codes, directions=True))).sum() / pairs))


def uniformity(embeddings: ArrayLike, *, most: int | None = None, progress: Progress = silent) -> float:
    """Return log E exp(-2 |x - y|²) over all pairs of rows (n, d), or of a sample of `most` rows if there are more.

    |x - y|² = 2 - 2 cos, so only cosines are needed: one half of the n², computed block by block.
    """
    rows = _several(embeddings)
    asking = sampled(np.arange(rows.shape[0]), most)
    rows = _directions(rows if len(asking) == rows.shape[0] else rows[asking])
    n, total = rows.shape[0], 0.0
    for block in blocks(n, n, BLOCK // 4):
        # (b, n - start): no pair occurs twice, except in the square on its left
        near = np.exp(4 * dots(rows[block], rows[block.start :]) - 4)
        square = near[:, : len(near)]
        total += float(near.sum() - (square.sum() + np.trace(square)) / 2)
        progress(block.stop, n, "measuring the space")
    return min(0.0, float(np.log(total / (n * (n - 1) / 2))))


def mean_cosine(embeddings: ArrayLike) -> float:
    """Return the exact mean cosine over all pairs of different rows: (|Σ x|² - n) / (n (n - 1))."""
    rows = _several(embeddings)
    n = rows.shape[0]
    total = class_sums(rows, np.zeros(n, np.int64), directions=True)
    return float((squares(total)[0] - n) / (n * (n - 1)))


def singular_shares(embeddings: ArrayLike) -> np.ndarray:
    """Return σ_k / Σ σ of the centred rows, (min(n, d),), the largest first; zeros if all rows are equal.

    The σ come from the eigenvalues of the smaller of XᵀX (d, d) and XXᵀ (n, n), so sparse rows stay sparse.
    """
    rows = _several(embeddings)
    n, d = rows.shape
    total = class_sums(rows, np.zeros(n, np.int64), directions=True)
    mean = np.asarray(total.mean(axis=0), np.float64).ravel() / n
    if n > d:
        parts = (_directions(rows[block]).T for block in blocks(n, filled(rows)))
        gram = sum(dots(part, part) for part in parts) - n * np.outer(mean, mean)
    else:
        rows = _directions(rows)
        across = dots(rows, mean[None])  # x · mean, (n, 1)
        gram = dots(rows, rows) - across - across.T + mean @ mean
    values = np.linalg.eigvalsh(gram)[::-1]
    values = np.sqrt(np.where(values > n * ALIKE, values, 0))
    return np.asarray(values / (values.sum() or 1))


def effective_rank(embeddings: ArrayLike) -> float:
    """Return exp(-Σ p log p) of the `singular_shares` p, from 1 to min(n - 1, d); 0 if all rows are equal."""
    shares = singular_shares(embeddings)
    held = shares[shares > 0]
    return float(np.exp(-(held * np.log(held)).sum())) if len(held) else 0.0


def _several(embeddings: ArrayLike) -> Vectors:
    """Check the rows: at least two must have a direction."""
    rows = directed(embeddings)
    if rows.shape[0] < 2:
        raise ValueError("embeddings has 1 row, but a pair needs two; give more sentences")
    return rows


def _directions(rows: Vectors) -> Vectors:
    directions: Vectors = unit(rows.astype(np.float64, copy=False), refuse="embeddings")
    return directions


def space_figures(rows: Any, *, most: int | None = MOST_ASKING, progress: Progress = silent) -> dict[str, float]:
    """Return `uniformity`, `mean_cosine` and `effective_rank` of the rows that have a direction; {} for fewer than two.

    The effective rank is omitted if both n and d exceed SIDE, as for the TF-IDF vectors of many sentences: a sample
    would have a different rank, and the exact value takes minutes.
    """
    known = np.flatnonzero(not_zero(rows))
    if len(known) < 2:
        return {}
    rows = rows if len(known) == rows.shape[0] else rows[known]
    figures = {"uniformity": uniformity(rows, most=most, progress=progress), "mean_cosine": mean_cosine(rows)}
    return figures | ({"effective_rank": effective_rank(rows)} if min(rows.shape) <= SIDE else {})


# --- the probe of a run, epoch by epoch --------------------------------------------------------------------------

BINS = 40  # number of bins for cosines from -1 to 1


def probe_figures(labels: Sequence[str], embeddings: np.ndarray) -> dict[str, float]:
    """Return the scores of the probe's vectors (n, d) for one row of a history: `probe_map@r`, `probe_uniformity`, ...

    Scores that need classes are included if every sentence has a class and at least one class has two sentences.
    """
    known = np.flatnonzero(not_zero(embeddings))
    if len(known) < 2 or not np.isfinite(embeddings).all():
        return {}
    rows, own = embeddings[known], [labels[row] for row in known.tolist()]
    figures: dict[str, float] = {}
    if all(own) and len(set(own)) < len(own):
        figures = precision_at_r(rows, own) | {"alignment": class_alignment(rows, own)}
    return {OF_PROBE + name: value for name, value in (figures | space_figures(rows)).items()}


@dataclass(frozen=True, eq=False)
class EpochCosines:
    """For each epoch (e,), the share of the probe's positive and negative pairs whose cosine falls into each bin.

    Without classes, all pairs count as negative, and the shares and the mean of the positives are NaN.
    """

    epochs: tuple[int, ...]
    edges: np.ndarray  # (BINS + 1,)
    positive: np.ndarray  # (e, BINS), adding up to 1
    negative: np.ndarray
    means: np.ndarray  # (e, 2), of positives and of negatives

    def rows(self) -> list[dict[str, float]]:
        """Return a table row for each epoch and bin."""
        bins = list(zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True))
        return [
            {"epoch": epoch, "cosine from": low, "to": high, "share of positives": near, "share of negatives": far}
            for epoch, *shares in zip(self.epochs, self.positive.tolist(), self.negative.tolist(), strict=True)
            for (low, high), near, far in zip(bins, *shares, strict=True)
        ]


def cosines_over_epochs(snapshots: Snapshots, *, low: float = -1.0) -> EpochCosines:
    """Return the cosines of all pairs of a run's probe at each kept epoch: positive within a class, negative across.

    The bins begin at `low`; the first one also counts all smaller cosines. A collapsed space needs bins near 1.
    """
    if not len(snapshots.epochs) or len(snapshots.texts) < 2:
        raise ValueError(
            "the run has no snapshots of at least two sentences; train a method that learns in epochs, such as `labkit "
            "train sentpwnet --corpus topics`"
        )
    labels = np.array(snapshots.labels)
    upper = np.triu_indices(len(labels), 1)
    same = (labels[upper[0]] == labels[upper[1]]) & (labels[upper[0]] != "")
    edges = np.linspace(low, 1, BINS + 1)
    shares, means = [], []
    for embeddings in snapshots.vectors:
        rows = unit(embeddings.astype(np.float64))
        cosines = np.clip((rows @ rows.T)[upper], -1, 1)
        kinds = [kind if len(kind) else np.array([np.nan]) for kind in (cosines[same], cosines[~same])]
        counts = [np.histogram(kind.clip(low), edges)[0] for kind in kinds]
        shares.append([count / count.sum() if count.any() else np.full(BINS, np.nan) for count in counts])
        means.append([kind.mean() for kind in kinds])
    positive, negative = np.array(shares).transpose(1, 0, 2)
    return EpochCosines(tuple(snapshots.epochs.tolist()), edges, positive, negative, np.array(means))
