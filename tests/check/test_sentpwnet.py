"""Notebook 02: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

from statistics import fmean, pstdev, stdev, variance

import numpy as np
import pytest
import torch
from s2cell import cell_id_to_parent_cell_id
from torch import Tensor

from labkit.check.exercise import judge
from labkit.check.lessons import exercise
from labkit.evaluation import best_threshold


def verdict(key: str, given):  # type: ignore[no-untyped-def]
    return judge(exercise(key), given)


def beside(rows: Tensor, lengths: Tensor) -> Tensor:
    """True on padding, (n, length), for answers (n, filters, length) or logits (n, length)."""
    return torch.arange(rows.shape[-1]) >= lengths[:, None]


def filled(rows: Tensor, lengths: Tensor, value: float = -torch.inf) -> Tensor:
    outside = beside(rows, lengths)
    return rows.masked_fill(outside[:, None, :] if rows.ndim == 3 else outside, value)


def summed(shares: Tensor, states: Tensor) -> Tensor:
    return (shares[:, :, None] * states).sum(1)


def ruled(spread):  # type: ignore[no-untyped-def]
    def rule(a, b):  # type: ignore[no-untyped-def]
        gap = fmean(a) - fmean(b)
        return "tie" if abs(gap) <= spread(a, b) else "first" if gap > 0 else "second"

    return rule


def accuracy(threshold, scores, labels):  # type: ignore[no-untyped-def]
    return ((scores > threshold) == (labels == 1)).mean()


def noise(count: int) -> float:
    random, labels = np.random.default_rng(1), np.arange(count) % 2
    draws = [random.random(count) for _ in range(400)]
    return float(np.mean([accuracy(best_threshold(scores, labels), scores, labels) for scores in draws]))


def marker(level: int) -> int:
    return 1 << 2 * (30 - level)


RIGHT = {
    "02.1": lambda answers, lengths: filled(answers, lengths).amax(2),
    "02.2": lambda states, logits, lengths: summed(filled(logits, lengths).softmax(1), states),
    "02.4": lambda alpha, beta, base: (alpha * base + beta * base) / (alpha + beta),
    "02.3": ruled(lambda a, b: max(stdev(a), stdev(b))),
    "02.5": lambda d, dl, t, tl: accuracy(best_threshold(d, dl), t, tl),
    "02.6": noise(50),
    "02.7": lambda cell, level: (cell & -marker(level)) | marker(level),
    "02.8": lambda q, n: (q + n, q * n),
}
WRONG = [
    ("02.1", lambda answers, lengths: answers.amax(2), "padding takes part"),
    ("02.1", lambda answers, lengths: filled(answers, lengths, 0.0).amax(2), "no floor"),
    ("02.1", lambda answers, lengths: filled(answers, lengths).amax(1), "over the filters"),
    ("02.1", lambda answers, lengths: filled(answers, lengths, 0.0).sum(2) / lengths[:, None], "the mean"),
    ("02.1", lambda answers, lengths: filled(answers, lengths, torch.inf).amin(2), "the smallest"),
    ("02.1", lambda answers, lengths: filled(answers, lengths), "the shape is"),
    ("02.2", lambda states, logits, lengths: summed(logits.softmax(1), states), "padding takes part"),
    ("02.2", lambda states, logits, lengths: summed(filled(logits.softmax(1), lengths, 0), states), "no longer sums"),
    ("02.2", lambda states, logits, lengths: summed(filled(logits, lengths, 0.0).softmax(1), states), "e^0"),
    (
        "02.2",
        lambda states, logits, lengths: summed(filled(logits, lengths).softmax(0), states),
        "between the sentences",
    ),
    ("02.2", lambda states, logits, lengths: summed(filled(logits, lengths, 0.0), states), "softmax is missing"),
    ("02.4", lambda alpha, beta, base: 0.5, "0.5 is the weight"),
    ("02.4", lambda alpha, beta, base: 1.0, "not equal"),
    ("02.4", lambda alpha, beta, base: base * beta / (alpha + beta), "αλ is lost"),
    ("02.4", lambda alpha, beta, base: base * (beta - alpha) / (alpha + beta), "a sign is lost"),
    ("02.4", lambda alpha, beta, base: base + 0.1, "a positive at your 1.00 weighs 0.45"),
    ("02.3", ruled(lambda a, b: 0.0), "never says tie"),
    ("02.3", ruled(lambda a, b: max(pstdev(a), pstdev(b))), "divides by n"),
    ("02.3", ruled(lambda a, b: min(stdev(a), stdev(b))), "the smaller"),
    ("02.3", ruled(lambda a, b: stdev(a) + stdev(b)), "adds the spreads"),
    ("02.3", lambda a, b: ruled(lambda a, b: max(stdev(a), stdev(b)))(b, a), "exchanged"),
    ("02.3", lambda a, b: True, "was expected"),
    ("02.5", lambda d, dl, t, tl: accuracy(best_threshold(t, tl), t, tl), "Algorithm 1"),
    ("02.5", lambda d, dl, t, tl: accuracy(best_threshold(d, dl), d, dl), "on dev"),
    ("02.5", lambda d, dl, t, tl: accuracy(0.5, t, tl), "nobody's best"),
    ("02.5", lambda d, dl, t, tl: 1 - accuracy(best_threshold(d, dl), t, tl), "share of errors"),
    ("02.5", lambda d, dl, t, tl: 100 * accuracy(best_threshold(d, dl), t, tl), "percent"),
    ("02.6", 0.5, "what noise is worth"),
    ("02.6", noise(20), "what 20 pairs give"),
    ("02.6", noise(50) - 0.5, "how much it leaks"),
    ("02.6", 0.9, "too many"),
    ("02.6", 58.0, "between 0 and 1"),
    ("02.7", lambda cell, level: cell, "the cell itself"),
    ("02.7", lambda cell, level: cell & -marker(level) & ~marker(level), "marker is missing"),
    ("02.7", lambda cell, level: (cell & -(1 << 30 - level)) | 1 << 30 - level, "two bits"),
    ("02.7", lambda cell, level: int(str(cell)[: level + 1].ljust(19, "0")), "cutting decimal digits"),
    ("02.7", lambda cell, level: cell_id_to_parent_cell_id(cell, level + 1), "one level finer"),
    ("02.8", lambda q, n: (q * n, q + n), "exchanged"),
    ("02.8", lambda q, n: (q, q * n), "somebody must encode"),
    ("02.8", lambda q, n: (q + n, q + n), "nothing to keep"),
    ("02.8", lambda q, n: (q * n, q * n), "keeps the sentences' vectors"),
    ("02.8", lambda q, n: q * n, "two counts"),
]


@pytest.mark.parametrize("key", RIGHT)
def test_the_right_answer_is_taken(key: str) -> None:
    found = verdict(key, RIGHT[key])
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = verdict(key, given)
    assert not found.right
    assert word in found.says


def test_variance_is_no_spread() -> None:
    assert "variance" in verdict("02.3", ruled(lambda a, b: max(variance(a), variance(b)))).says


def test_each_exercise_has_three_wrong_answers() -> None:
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)
