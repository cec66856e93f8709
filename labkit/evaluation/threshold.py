"""The threshold above which two sentences count as a match, and the uncertainty of this threshold.

    threshold(model, corpus)         chosen on dev (else train), measured on test
    threshold(scores, labels)        chosen and measured on the same pairs, so the scores are too high

In: a model with `encode` and a corpus of pairs with 0/1 labels, or scores (n,) with labels (n,). Out: a `Threshold`.

The cut has the highest accuracy (`best_threshold`). Its interval contains the cuts whose accuracy is not significantly
lower. Two cuts decide differently only on the d pairs between them; if the best cut is right on g more of them, g / √d
is McNemar's statistic, and the interval contains the cuts up to its one-sided limit. (A bootstrap of the best cut would
be misleading, because the cut does not converge like a mean.) In simulations, a 95 % interval contained the true best
cut in 94 to 100 % of samples of 100 to 10,000 pairs: `python -m benchmarks.threshold`. Shares have Wilson intervals.
Pairs that share a sentence are treated as independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from labkit.arrays import binary, numbers, unit
from labkit.corpora.records import Pairs
from labkit.evaluation.pairs import best_threshold, cuts
from labkit.evaluation.scores import threshold_split
from labkit.figure_names import written

POINTS = 50  # points of the curve
BINS = 10  # bins of the calibration, with equally many pairs


class Share(NamedTuple):
    """A share of pairs, with Wilson's interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    @classmethod
    def of(cls, hits: np.ndarray, among: np.ndarray, level: float) -> Self:
        """The share of `among` (n,) that are `hits` (n,), both bool; 0 with the interval [0, 1] if `among` is empty."""
        from scipy.stats import binomtest

        count, total = int((hits & among).sum()), int(among.sum())
        if not total:
            return cls(0.0, 0.0, 1.0)
        interval = binomtest(count, total).proportion_ci(level, "wilson")
        return cls(count / total, float(interval.low), float(interval.high))


class CurvePoint(NamedTuple):
    """Precision and recall at one threshold."""

    threshold: float
    precision: Share
    recall: Share


class Bin(NamedTuple):
    """Pairs with similar scores: their mean score, their number, and the share of them that match."""

    score: float
    pairs: int
    same: Share


@dataclass(frozen=True)
class Threshold:
    """A cut with its interval and scores, precision and recall at other cuts, and the calibration of the scores.

    `chosen_on` and `measured_on` name the pairs; precision and recall are those of the class "same".

    >>> found = threshold([0.1, 0.2, 0.4, 0.6, 0.8, 0.9], [0, 0, 0, 1, 1, 1])
    >>> found.threshold, found.at_precision(1.0).recall.value
    (0.5, 1.0)
    """

    threshold: float
    low: float
    high: float
    accuracy: Share
    precision: Share
    recall: Share
    curve: tuple[CurvePoint, ...]
    calibration: tuple[Bin, ...]
    chosen_on: str
    measured_on: str

    def at_precision(self, wanted: float) -> CurvePoint:
        """The point of the curve with the highest recall among those with at least this precision."""
        good = [point for point in self.curve if point.precision.value >= wanted]
        if not good:
            best = max(point.precision.value for point in self.curve)
            raise ValueError(f"wanted is {wanted}, expected at most {best:.3f}, the highest precision of the curve")
        return max(good, key=lambda point: point.recall.value)

    def __str__(self) -> str:
        cut, low, high = (written(each, ".3f") for each in (self.threshold, self.low, self.high))
        return (
            f"The threshold {cut} is the most accurate on {self.chosen_on}; no threshold from {low} to {high} is "
            f"significantly worse. On {self.measured_on}: accuracy {self.accuracy}, precision {self.precision}, recall "
            f"{self.recall}."
        )


def threshold(model_or_scores: Any, pairs: Pairs | ArrayLike, *, level: float = 0.95) -> Threshold:
    """Choose a threshold, with its interval and scores; `level` applies to all intervals."""
    if not 0.5 < level < 1:
        raise ValueError(f"level is {level}, expected a number above 0.5 and below 1, usually 0.95")
    if not isinstance(pairs, Pairs):
        chosen = measured = _checked(model_or_scores, pairs)
        on = f"{len(chosen[0]):,} pairs"
        return _threshold(chosen, measured, level, on, f"the same {on}")
    if pairs.graded:
        raise ValueError("pairs have grades, expected labels 0 and 1; convert grades to labels first")
    if set(pairs.splits) == {"test"} or "test" not in pairs.splits:
        return threshold(_cosines(model_or_scores, pairs), pairs.labels, level=level)
    split = threshold_split(pairs)
    dev, test = (pairs.part(name) for name in (split, "test"))
    chosen, measured = (_checked(_cosines(model_or_scores, part), part.labels) for part in (dev, test))
    return _threshold(chosen, measured, level, f"{len(dev):,} pairs of {split}", f"{len(test):,} pairs of test")


def _threshold(
    chosen: tuple[np.ndarray, np.ndarray], measured: tuple[np.ndarray, np.ndarray], level: float, on: str, other: str
) -> Threshold:
    (cut, (low, high)), (scores, same) = (best_threshold(*chosen), interval(*chosen, level)), measured
    every, ranked = np.ones(len(same), bool), np.unique(scores)

    def point(at: float) -> CurvePoint:
        called = scores > at
        return CurvePoint(at, Share.of(same, called, level), Share.of(called, same, level))

    bins = np.array_split(np.argsort(scores, kind="stable"), min(BINS, len(scores)))
    places = np.unique(np.linspace(0, len(ranked) - 1, POINTS).astype(int))[:-1]
    return Threshold(
        threshold=float(np.clip(cut, np.nextafter(chosen[0].min(), -np.inf), chosen[0].max())),  # never infinite
        low=low,
        high=high,
        accuracy=Share.of((scores > cut) == same, every, level),
        precision=point(cut).precision,
        recall=point(cut).recall,
        curve=tuple(point(at) for at in ranked[places].tolist()),
        calibration=tuple(
            Bin(float(scores[rows].mean()), len(rows), Share.of(same[rows], every[rows], level)) for rows in bins
        ),
        chosen_on=on,
        measured_on=other,
    )


def interval(scores: np.ndarray, same: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """The lowest and the highest cut that are not significantly less accurate than the best one (one-sided)."""
    ranked, right = cuts(scores, same)
    best = int(right.argmax())
    between = np.abs(np.arange(len(right)) - best)
    first, last = np.flatnonzero(right[best] - right <= ndtri(level) * np.sqrt(between))[[0, -1]].tolist()
    # cut `k` is between the scores k - 1 and k
    return float(ranked[max(first - 1, 0)]), float(ranked[min(last, len(ranked) - 1)])


def _checked(scores: Any, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    scores = numbers("scores", scores).astype(np.float64)
    same = binary("labels", labels, count=len(scores))
    if same.all() or not same.any():
        raise ValueError(f"all {len(same)} labels are {int(same[0])}, but both 0 and 1 are needed")
    return scores, same


def _cosines(model: Any, pairs: Pairs) -> np.ndarray:
    if not hasattr(model, "encode"):
        raise ValueError(f"model has type {type(model).__name__}, expected one with `encode`, or scores with labels")
    a, b = (unit(model.encode(list(texts))) for texts in (pairs.text_a, pairs.text_b))
    return np.asarray((a * b).sum(axis=1)).ravel()
