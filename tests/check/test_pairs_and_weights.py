"""Notebook 01: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from labkit.check.exercise import judge
from labkit.check.lessons import exercise


def verdict(key: str, given):  # type: ignore[no-untyped-def]
    return judge(exercise(key), given)


def eye(S: Tensor) -> Tensor:
    return torch.eye(len(S), dtype=torch.bool)


def same(labels: Tensor) -> Tensor:
    return labels[:, None] == labels[None, :]


def pull(S, P, a, b):  # type: ignore[no-untyped-def]
    return torch.log1p((torch.exp(-a * (S - b)) * P).sum(1)) / a


def push(S, N, a, b):  # type: ignore[no-untyped-def]
    return torch.log1p((torch.exp(a * (S - b)) * N).sum(1)) / a


def sums(S: Tensor, beta: float) -> Tensor:
    return torch.exp(beta * (S[:, None, :] - S[:, :, None]))


def floor(S, P, of="amin"):  # type: ignore[no-untyped-def]
    return getattr(S.masked_fill(~P, torch.inf if of == "amin" else -torch.inf), of)(1, keepdim=True)


RIGHT = {
    "01.1": lambda labels: (same(labels) & ~eye(labels), ~same(labels)),
    "01.2": lambda S, P, N, t: (P | (N & (S > t))).double(),
    "01.3": lambda n, p: torch.sigmoid(n - p),
    "01.4": (0.1192, 0.8808),
    "01.5": lambda S, P, N, a, b, t: (pull(S, P, a, t) + push(S, N, b, t)).mean(),
    "01.6": lambda S, N, b, t: N / (torch.exp(b * (t - S)) + (sums(S, b) * N[:, None, :]).sum(2)),
    "01.7": 13.3,
    "01.8": lambda S, P, N, e: (P & (S < floor(S, N, "amax") + e), N & (S > floor(S, P) - e)),
}
WRONG = [
    ("01.1", lambda labels: (same(labels), ~same(labels)), "no positive of itself"),
    ("01.1", lambda labels: (~same(labels), same(labels) & ~eye(labels)), "swapped"),
    ("01.1", lambda labels: (same(labels) & ~eye(labels), ~same(labels) | eye(labels)), "no negative of itself"),
    ("01.1", lambda labels: same(labels), "two masks"),
    ("01.1", lambda labels: (same(labels)[0], ~same(labels)[0]), "6 by 6"),
    ("01.2", lambda S, P, N, t: (P | (N & (S > t))) * S, "prints S = 1"),
    ("01.2", lambda S, P, N, t: P | N, "every negative"),
    ("01.2", lambda S, P, N, t: N & (S > t), "positives weigh nothing"),
    ("01.2", lambda S, P, N, t: (N & (S > t)).double() - P.double(), "has a sign"),
    ("01.2", lambda S, P, N, t: (P & (S > t)) | (N & (S > t)), "no margin for them"),
    ("01.3", lambda n, p: torch.ones(3), "eq. 5"),
    ("01.3", lambda n, p: 1, "eq. 5"),
    ("01.3", lambda n, p: torch.sigmoid(p - n), "the other way round"),
    ("01.3", lambda n, p: torch.nn.functional.softplus(n - p), "loss itself"),
    ("01.3", lambda n, p: (n > p).double(), "a step"),
    ("01.4", (0.0, 1.0), "no more than 2"),
    ("01.4", (0.2689, 0.7311), "from -1 to 1"),
    ("01.4", (0.8808, 0.1192), "other way round"),
    ("01.4", 0.5, "two numbers"),
    ("01.5", lambda S, P, N, a, b, t: (pull(S, P, a, t) + push(S, N, b, t)).sum(), "sum over the anchors"),
    ("01.5", lambda S, P, N, a, b, t: pull(S, P, a, t).mean() + push(S, N, b, t).sum(), "outside the mean"),
    ("01.5", lambda S, P, N, a, b, t: pull(S, P, a, t).mean() + push(S, N, b, t)[-1], "last anchor only"),
    ("01.5", lambda S, P, N, a, b, t: (pull(S, P, -a, t) * -1 + push(S, N, b, t)).mean(), "wrong sign"),
    ("01.5", lambda S, P, N, a, b, t: (pull(S, P, a, t) * a + push(S, N, b, t) * b).mean(), "1/α and 1/β"),
    ("01.5", lambda S, P, N, a, b, t: (pull(S, P | eye(S), a, t) + push(S, N, b, t)).mean(), "its own positives"),
    ("01.6", lambda S, N, b, t: N / (torch.exp(b * (t - S)) + sums(S, b).sum(2)), "whole row"),
    (
        "01.6",
        lambda S, N, b, t: N / (torch.exp(b * (t - S)) + (sums(S, b) * ~eye(S)[:, None, :]).sum(2)),
        "positives and negatives together",
    ),
    ("01.6", lambda S, N, b, t: N / torch.exp(b * (t - S)), "relative part is missing"),
    ("01.6", lambda S, N, b, t: N / (sums(S, b) * N[:, None, :]).sum(2), "own part"),
    (
        "01.6",
        lambda S, N, b, t: N / (torch.exp(b * (S - t)) + (sums(S, b) * N[:, None, :]).sum(2)),
        "wrong sign",
    ),
    (
        "01.6",
        lambda S, N, b, t: 1 / (torch.exp(b * (t - S)) + (sums(S, b) * N[:, None, :]).sum(2)),
        "outside N must weigh 0",
    ),
    ("01.7", 1.0, "take a larger one"),
    ("01.7", 60.0, "take a smaller one"),
    ("01.7", -3.0, "above 0"),
    ("01.8", lambda S, P, N, e: (P & (S < floor(S, N, "amax") - e), N & (S > floor(S, P) + e)), "wrong sign"),
    ("01.8", lambda S, P, N, e: (P & (S < floor(S, N, "amax")), N & (S > floor(S, P))), "ε is missing"),
    (
        "01.8",
        lambda S, P, N, e: (P & (S < floor(S, N, "amax") + e), N & (S > floor(S, P, "amax") - e)),
        "not the nearest",
    ),
    (
        "01.8",
        lambda S, P, N, e: (
            P & (S < floor(S, N, "amax") + e),
            N & ((S > floor(S, P) - e) | ~P.any(1, keepdim=True)),
        ),
        "no positive at all",
    ),
    ("01.8", lambda S, P, N, e: N & (S > floor(S, P) - e), "two masks"),
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


def test_each_exercise_has_three_wrong_answers() -> None:
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)
