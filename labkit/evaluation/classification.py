"""Does a score separate same from not same? Scores in (larger is closer), a threshold and figures out.

The rule, everywhere: a pair is called positive iff score > t. Candidates for t are the midpoints between
neighbouring distinct scores, -inf (all positive) and +inf (all negative); the lowest of the equally good wins.
The threshold comes from one set and the figures from another: a threshold chosen on the test set flatters.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labkit.evaluation.inputs import binary, numbers


@dataclass(frozen=True)
class PairClassification:
    """A threshold from one set of pairs, and what it is worth on another."""

    threshold: float
    accuracy: float
    f1: float
    precision: float
    recall: float

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.4f}, F1 {self.f1:.4f} (precision {self.precision:.4f}, "
            f"recall {self.recall:.4f}) at score > {self.threshold:.4f}"
        )


def best_threshold(scores: ArrayLike, labels: ArrayLike) -> float:
    """The threshold of highest accuracy: scores (n,) and 0/1 labels (n,) to t, exactly, in O(n log n).

    >>> best_threshold([0.1, 0.4, 0.6, 0.9], [0, 0, 1, 1])
    0.5
    """
    scores = numbers("scores", scores)
    return _best_cut(scores, binary("labels", labels, count=len(scores)))


def _best_cut(scores: np.ndarray, positive: np.ndarray) -> float:
    """With the scores sorted, a threshold cuts them in two: below it every negative is right, above it every
    positive. One running sum values all n + 1 cuts at once."""
    order = np.argsort(scores)
    ranked = scores[order]
    # right decisions when the lowest `cut` pairs are called negative, less the constant number of positives
    correct = np.zeros(len(scores) + 1, np.int64)
    np.cumsum(1 - 2 * positive[order].view(np.int8), out=correct[1:])
    # equal scores cannot be parted
    correct[1:-1][ranked[:-1] == ranked[1:]] = -len(scores) - 1
    cut = int(correct.argmax())
    if cut == 0:
        return -np.inf
    return np.inf if cut == len(scores) else _midpoint(ranked[cut - 1], ranked[cut])


def _midpoint(below: np.floating, above: np.floating) -> float:
    """A float t with below <= t < above that still holds when t is rounded to the scores' own precision."""
    middle = float(below) / 2 + float(above) / 2
    rounded = type(below)(middle)
    # between neighbouring floats the midpoint rounds onto one of them; on the upper one it would lose it
    return middle if below <= rounded < above and middle < above else float(below)


def pair_classification(
    dev_scores: ArrayLike, dev_labels: ArrayLike, test_scores: ArrayLike, test_labels: ArrayLike
) -> PairClassification:
    """Threshold of best accuracy on dev, accuracy, F1, precision and recall of the positives on test.

    Precision is 0 when nothing is called positive. (Dev and test the same set is the leak of the paper's
    Algorithm 1; show it only beside the honest figure.)
    """
    dev_scores = numbers("dev_scores", dev_scores)
    threshold = _best_cut(dev_scores, binary("dev_labels", dev_labels, count=len(dev_scores)))
    # float64, or numpy would round the threshold to the precision of the scores
    test_scores = numbers("test_scores", test_scores).astype(np.float64)
    truth = binary("test_labels", test_labels, count=len(test_scores))
    if not truth.any():
        raise ValueError(
            f"none of the {len(truth)} test pairs is labelled 1, expected at least one, or recall and F1 do not "
            "exist; test on pairs of both kinds"
        )
    called = test_scores > threshold
    hits = int((called & truth).sum())
    return PairClassification(
        threshold=threshold,
        accuracy=float((called == truth).mean()),
        f1=2 * hits / int(called.sum() + truth.sum()),
        precision=hits / max(int(called.sum()), 1),
        recall=hits / int(truth.sum()),
    )


def triplet_accuracy(positive_scores: ArrayLike, negative_scores: ArrayLike) -> float:
    """Share of triplets with s(anchor, positive) > s(anchor, negative), both (n,). A tie is an error of the method.

    >>> triplet_accuracy([0.9, 0.5, 0.2], [0.1, 0.5, 0.6]) == 1 / 3
    True
    """
    positive_scores = numbers("positive_scores", positive_scores)
    negative_scores = numbers("negative_scores", negative_scores, like=positive_scores)
    return float((positive_scores > negative_scores).mean())
