"""Notebook 03: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labkit.check.exercise import judge
from labkit.check.lessons.thematic import LESSON
from labkit.text import words

EACH = {exercise.key: exercise for exercise in LESSON.exercises.values()}


def sigma(x):  # type: ignore[no-untyped-def]
    return torch.sigmoid(x)


def scores(h, W, b, u):  # type: ignore[no-untyped-def]
    return torch.tanh(h @ W.T + b) @ u


def summed(weights, h):  # type: ignore[no-untyped-def]
    return (weights[:, :, None] * h).sum(1)


def sums(S, labels):  # type: ignore[no-untyped-def]
    return np.array([S[np.ix_(labels == c, labels == c)].sum() for c in np.unique(labels)]), np.bincount(labels)


RIGHT = {
    "03.1": lambda text: 5 <= len(words(text)) <= 50,
    "03.2": 5,
    "03.3": lambda near, far: torch.softmax(torch.stack([near, far]), 0)[0] * 2,
    "03.4": lambda x: 2 * sigma(x) * sigma(-x),
    "03.5": lambda h, m, W, b, u: summed(scores(h, W, b, u).masked_fill(~m, -torch.inf).softmax(1), h),
    "03.6": lambda S, labels: (sums(S, labels)[0] / sums(S, labels)[1]).sum() / len(S),
    "03.7": lambda value, n: n * (1 - value),
}
WRONG = [
    ("03.1", lambda text: 5 < len(words(text)) < 50, "borders count"),
    ("03.1", lambda text: len(words(text)) <= 50, "lower border"),
    ("03.1", lambda text: len(words(text)) >= 5, "51 tokens"),
    ("03.2", 10, "every pair"),
    ("03.2", 4, "exactly 3"),
    ("03.2", 3, "neighbours"),
    ("03.3", lambda near, far: sigma(near - far), "p(d⁺) alone"),
    ("03.3", lambda near, far: 2 * sigma(far - near), "sign is wrong"),
    ("03.3", lambda near, far: 2 * sigma(near**2 - far**2), "squares"),
    ("03.3", lambda near, far: torch.nn.functional.softplus(near - far), "softplus"),
    ("03.4", lambda x: sigma(x) * sigma(-x), "factor 2"),
    ("03.4", lambda x: 2 * sigma(x), "loss itself"),
    ("03.4", sigma, "does not give up"),
    ("03.4", lambda x: -2 * sigma(x) * sigma(-x), "slope is positive"),
    ("03.5", lambda h, m, W, b, u: summed(scores(h, W, b, u).softmax(1), h), "padding takes part"),
    ("03.5", lambda h, m, W, b, u: summed(scores(h, W, b, u).softmax(1) * m, h), "no longer sum to 1"),
    ("03.5", lambda h, m, W, b, u: summed(m.double() / m.sum(1, keepdim=True), h), "plain mean"),
    ("03.5", lambda h, m, W, b, u: scores(h, W, b, u).masked_fill(~m, -torch.inf).softmax(1), "these are the weights"),
    ("03.6", lambda S, labels: (sums(S, labels)[0] / sums(S, labels)[1]).sum(), "divide by n"),
    ("03.6", lambda S, labels: sums(S, labels)[0].sum() / len(S), "divided by its size"),
    ("03.6", lambda S, labels: S[labels[:, None] == labels].mean(), "all pairs"),
    ("03.6", lambda S, labels: ((sums(S, labels)[0] - sums(S, labels)[1]) / sums(S, labels)[1]).sum() / 12, "diagonal"),
    ("03.7", lambda value, n: 1 - value, "times n"),
    ("03.7", lambda value, n: n - value, "n <s>"),
    ("03.7", lambda value, n: 2 * n * (1 - value), "twice too much"),
    ("03.7", lambda value, n: n * value, "shrinks"),
]


@pytest.mark.parametrize("key", RIGHT)
def test_the_right_answer_is_taken(key: str) -> None:
    found = judge(EACH[key], RIGHT[key])
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = judge(EACH[key], given)
    assert not found.right
    assert word in found.says


def test_each_exercise_has_three_wrong_answers() -> None:
    assert set(RIGHT) == set(EACH)
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)
