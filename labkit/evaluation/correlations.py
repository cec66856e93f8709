"""How well do scores follow people's grades? Scores and gold grades in, Pearson's and Spearman's correlation out.

This is what the STS tasks report of the cosine, year by year. Learning the grades first is `regression`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labkit.evaluation.comparison import Parts
from labkit.evaluation.inputs import classes, numbers

_BLOCK = 2**24  # entries of a block of ranks


@dataclass(frozen=True)
class Correlation:
    """Of scores with gold grades: of the values, and of the ranks (equal values share their mean rank)."""

    pearson: float
    spearman: float

    def __str__(self) -> str:
        return f"Pearson {self.pearson:.4f}, Spearman {self.spearman:.4f}"


def correlation(scores: ArrayLike, gold: ArrayLike) -> Correlation:
    """Scores (n,) and gold (n,). A method that scores every pair alike orders nothing: its correlation is 0.

    >>> print(correlation([0.1, 0.4, 0.9], [1, 2, 4]))
    Pearson 0.9989, Spearman 1.0000
    """
    scores = numbers("scores", scores).astype(np.float64)
    gold = numbers("gold", gold, like=scores).astype(np.float64)
    if not np.ptp(gold):
        raise ValueError(
            f"all {len(gold)} grades are {gold[0]:g}, expected at least two different ones, or no correlation exists; "
            "take more pairs"
        )
    from scipy.stats import rankdata  # takes a second

    return Correlation(_pearson(scores, gold), _pearson(rankdata(scores), rankdata(gold)))


def correlation_by(scores: ArrayLike, gold: ArrayLike, parts: Sequence[str]) -> dict[str, Correlation]:
    """`correlation` within each part, such as the year of an STS task; part (n,), in order of first appearance."""
    scores, gold = numbers("scores", scores), numbers("gold", gold)
    codes = classes("parts", parts, count=len(scores))
    names = list(dict.fromkeys(parts))
    return {name: correlation(scores[codes == c], gold[codes == c]) for c, name in enumerate(names)}


def correlation_parts(scores: ArrayLike, gold: ArrayLike, units: ArrayLike | None = None) -> dict[str, Parts]:
    """Both correlations taken apart over the pairs, or over units of pairs: `pearson` and `spearman`.

    A pair's influence is (n - 1) times what the correlation loses without it (the jackknife).
    """
    from scipy.stats import rankdata  # takes a second

    x, y = (numbers(name, side).astype(np.float64) for name, side in (("scores", scores), ("gold", gold)))
    found = correlation(x, y)
    codes = np.arange(len(x)) if units is None else np.asarray(units)
    step = max(1, _BLOCK // len(x))
    parts = {}
    for name, whole, a, b in (("pearson", found.pearson, x, y), ("spearman", found.spearman, rankdata(x), rankdata(y))):
        without = np.empty(len(x))
        for start in range(0, len(x), step):
            left = np.arange(start, min(start + step, len(x)))
            without[left] = _without(a, b, left, ranks=name == "spearman")
        influence = (len(x) - 1) * (whole - without)
        parts[name] = Parts.by(codes, whole + influence - influence.mean())
    return parts


def _without(a: np.ndarray, b: np.ndarray, left: np.ndarray, *, ranks: bool) -> np.ndarray:
    """Pearson's correlation without each of the rows `left`; of ranks those above it close up."""
    kept = np.ones((len(left), len(a)))
    kept[np.arange(len(left)), left] = 0
    sides = []
    for side in (a, b):
        rows = np.broadcast_to(side, kept.shape)
        if ranks:
            own = side[left][:, None]
            rows = rows - (own < side) - 0.5 * (own == side)
        mean = (rows * kept).sum(axis=1, keepdims=True) / (len(a) - 1)
        sides.append((rows - mean) * kept)
    squares = [(side**2).sum(axis=1) for side in sides]
    below = np.sqrt(squares[0] * squares[1])
    return np.divide((sides[0] * sides[1]).sum(axis=1), below, out=np.zeros(len(left)), where=below > 0)


def spearman_error(value: float, pairs: int) -> float:
    """Standard error of Spearman's correlation: about how far it would move with as many other pairs of the same kind.

    `(1 - r²) √((1 + r²/2) / (n - 3))` (Bonett and Wright 2000). That is 15 % more at 0.8 than `(1 - r²) / √(n - 1)`,
    which holds for Pearson's of normal values, and is too little for ranks.

    >>> round(spearman_error(0.8, 1379), 4)
    0.0112
    """
    return float((1 - value**2) * np.sqrt((1 + value**2 / 2) / max(pairs - 3, 1)))


def _pearson(a: np.ndarray, b: np.ndarray) -> float:
    sides = []
    for side in (a, b):
        # by the largest first, or a square could overflow or vanish
        scaled = side / (np.abs(side).max() or 1.0)
        centred = scaled - scaled.mean()
        # the mean of equal values differs from them by rounding
        if np.abs(centred).max() < 1e-14:
            return 0.0
        sides.append(centred / np.linalg.norm(centred))
    return float(np.clip(sides[0] @ sides[1], -1, 1))
