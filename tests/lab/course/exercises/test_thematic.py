"""Notebook 03: each check takes every form of the right answer, refuses wrong ones and names typical ones."""

from __future__ import annotations

import re

import numpy as np
import torch
import torch.nn.functional as F

from labkit.lab.course.notebooks import NOTEBOOKS
from labkit.text import words
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)

sigma = torch.sigmoid


def scores(h, W, b, u):  # type: ignore[no-untyped-def]
    return torch.tanh(h @ W.T + b) @ u


def summed(weights, h):  # type: ignore[no-untyped-def]
    return (weights[:, :, None] * h).sum(1)


def over(score, m):  # type: ignore[no-untyped-def]
    return score.masked_fill(~m, -torch.inf).softmax(1)


def sums(S, labels):  # type: ignore[no-untyped-def]
    names, sizes = np.unique(labels, return_counts=True)
    return np.array([S[np.ix_(labels == c, labels == c)].sum() for c in names]), sizes


def by_autograd(x):  # type: ignore[no-untyped-def]
    x.requires_grad_()
    return torch.autograd.grad((2 * sigma(x)).sum(), x)[0]


def one_by_one(h, there, W, b, u):  # type: ignore[no-untyped-def]
    """By loops over what is there; nothing is filled."""
    found = []
    for states, mask in zip(h, there, strict=True):
        score = torch.stack([u @ torch.tanh(W @ state + b) for state in states[mask]])
        found.append(sum(a * state for a, state in zip(score.softmax(0), states[mask], strict=True)))
    return torch.stack(found)


def changed(h, there, W, b, u):  # type: ignore[no-untyped-def]
    h[~there] = 0
    return summed(over(scores(h, W, b, u), there), h)


def renormed(h, m, W, b, u):  # type: ignore[no-untyped-def]
    cut = scores(h, W, b, u).exp() * m
    return summed(cut / cut.sum(1, keepdim=True), h)


def blocks(S, labels):  # type: ignore[no-untyped-def]
    return [S[labels == c][:, labels == c] for c in np.unique(labels)]


RIGHT = {
    "03.1": [
        lambda text: 5 <= len(words(text)) <= 50,
        lambda text: np.bool_(4 < len(words(text)) < 51),
        lambda text: int(len(words(text)) in range(5, 51)),
        lambda text: torch.tensor(len(words(text)) >= 5) & (len(words(text)) <= 50),
    ],
    "03.2": [5, 5.0, torch.tensor([5]), np.int64(5)],
    "03.3": [
        lambda near, far: torch.softmax(torch.stack([near, far]), 0)[0] * 2,
        lambda near, far: (2 / (1 + torch.exp(far - near))).numpy(),
        lambda near, far: [2 * sigma(a - b).item() for a, b in zip(near, far, strict=True)],
        lambda near, far: abs(sigma(near - far)) + abs(1 - sigma(far - near)),
        lambda near, far: 2 * sigma(near.float() - far.float()),
    ],
    "03.4": [
        lambda x: 2 * sigma(x) * sigma(-x),
        by_autograd,
        lambda x: 0.5 / torch.cosh(x / 2) ** 2,
        lambda x: (2 * sigma(x) * (1 - sigma(x))).numpy(),
    ],
    "03.5": [
        lambda h, m, W, b, u: summed(over(scores(h, W, b, u), m), h),
        lambda h, m, W, b, u: summed(scores(h, W, b, u).masked_fill(~m, -1e9).softmax(1), h).numpy(),
        one_by_one,
        renormed,
        lambda h, m, W, b, u: summed((scores(h, W, b, u) + torch.where(m, 0.0, -torch.inf)).softmax(1), h),
    ],
    "03.6": [
        lambda S, labels: (sums(S, labels)[0] / sums(S, labels)[1]).sum() / len(S),
        lambda S, labels: sum(block.mean() * len(block) for block in blocks(S, labels)) / len(labels),
        lambda S, labels: np.trace(np.linalg.pinv(np.eye(9)[labels]) @ S @ np.eye(9)[labels]) / len(S),
        lambda S, labels: [sum(block.sum() / len(block) for block in blocks(S, labels)) / len(labels)],
    ],
    "03.7": [
        lambda value, n: n * (1 - value),
        lambda value, n: n - n * value,
        lambda value, n: torch.tensor([n - value * n]),
        lambda value, n: np.float32(n * (1 - value)),
    ],
}  # fmt: skip
WRONG = {
    "03.1": [
        (lambda text: 5 < len(words(text)) < 50, "borders count"),
        (lambda text: 5 < len(words(text)) <= 50, "lower border counts"),
        (lambda text: 5 <= len(words(text)) < 50, "upper border counts"),
        (lambda text: len(words(text)) <= 50, "where is the lower border"),
        (lambda text: len(words(text)) >= 5, "where is the upper border"),
        (lambda text: 4 <= len(words(text)) <= 50, "4 tokens are too few"),
        (lambda text: 5 <= len(text) <= 50, "counts letters"),
        (lambda text: 5 <= len(text.split()) <= 50, "use `words"),
        (lambda text: 5 <= len(re.findall(r"\w+|[^\w\s]", text)) <= 50, "commas and full stops, too"),
        (lambda text: 5 <= len(set(words(text))) <= 50, "a set loses it"),
        (lambda text: not 5 <= len(words(text)) <= 50, "just the sentences that are to be left out"),
        (lambda text: True, "whatever sentence is"),
        (lambda text: len(words(text)), "True or False was expected"),
        (words, "True or False was expected"),
        (lambda text: 5 <= sum(word.isalpha() for word in words(text)) <= 50, "expected"),
    ],
    "03.2": [
        (10, "all pairs, or the right ones"),
        (4, "one is missing"),
        (3, "direct neighbours"),
        (7, "four apart"),
        (9, "five apart"),
        (8, "whatever its order"),
        (6, "one too many"),
        (2, "too few"),
        (1, "exactly three apart"),
        (20, "both orders"),
        (17, "write the ten pairs down"),
        ([(0, 1), (0, 2)], "one number was expected"),
    ],
    "03.3": [
        (lambda near, far: sigma(near - far), "p(d⁺) alone"),
        (lambda near, far: 2 * sigma(far - near), "sign is wrong"),
        (lambda near, far: 2 * sigma(near**2 - far**2), "squares"),
        (lambda near, far: F.softplus(near - far), "softplus"),
        (lambda near, far: (1 + near - far).clamp(min=0), "hinge"),
        (lambda near, far: 2 * near / (near + far), "e to the power"),
        (lambda near, far: near.softmax(0) + 1 - far.softmax(0), "not over the triplets"),
        (lambda near, far: (2 * sigma(near - far)).mean(), "no mean"),
        (lambda near, far: sigma(near - far) + sigma(far - near), "whatever the distances"),
        (lambda near, far: sigma(near - far) ** 2 + (1 - sigma(far - near)) ** 2, "not squared"),
        (lambda near, far: near - far, "the softmax comes next"),
        (lambda near, far: sigma(2 * (near - far)), "not within it"),
        (lambda near, far: 2 * sigma(near), "whatever far is"),
        (lambda near, far: 2 * sigma(near.sub_(far)), "changes near"),
    ],
    "03.4": [
        (lambda x: sigma(x) * sigma(-x), "factor 2"),
        (lambda x: 2 * sigma(x), "loss itself"),
        (sigma, "does not give up"),
        (lambda x: -2 * sigma(x) * sigma(-x), "slope is positive"),
        (lambda x: 2 * (1 - sigma(x)), "both factors"),
        (lambda x: 2 * sigma(x) ** 2, "not σ once more"),
        (lambda x: 2 * sigma(x) * (1 - 2 * sigma(x)), "in front only"),
        (lambda x: 4 * sigma(x) * sigma(-x), "one factor 2 too many"),
        (lambda x: 2 * sigma(x) * sigma(-x) * (1 - 2 * sigma(x)), "second derivative"),
        (lambda x: 2 * x * (1 - x), "torch.sigmoid(x)"),
        (lambda x: (2 * sigma(x) * sigma(-x)).sum(), "no sum"),
        (lambda x: 0.5 + 0 * x, "whatever is asked"),
    ],
    "03.5": [
        (lambda h, m, W, b, u: summed(scores(h, W, b, u).softmax(1), h), "padding takes part"),
        (lambda h, m, W, b, u: summed(scores(h, W, b, u).softmax(1) * m, h), "no longer sum to 1"),
        (lambda h, m, W, b, u: summed((scores(h, W, b, u) * m).softmax(1), h), "e⁰ = 1"),
        (lambda h, m, W, b, u: summed(over(scores(h, W, b, u), ~m), h), "wrong way round"),
        (lambda h, m, W, b, u: summed(m.double() / m.sum(1, keepdim=True), h), "plain mean"),
        (lambda h, m, W, b, u: over(scores(h, W, b, u), m), "these are the weights"),
        (lambda h, m, W, b, u: summed(over((h @ W.T + b) @ u, m), h), "tanh is missing"),
        (lambda h, m, W, b, u: summed(over(torch.tanh(h @ W.T) @ u, m), h), "b is missing"),
        (lambda h, m, W, b, u: summed(over(torch.tanh(h @ W.T + b).sum(2), m), h), "u is missing"),
        (lambda h, m, W, b, u: summed(scores(h, W, b, u).softmax(0), h), "over a sentence's words"),
        (lambda h, m, W, b, u: (over(scores(h, W, b, u), m)[:, :, None] * h).mean(1), "take no mean"),
        (lambda h, m, W, b, u: over(scores(h, W, b, u), m)[:, :, None] * h, "still to be added"),
        (lambda h, m, W, b, u: summed(sigma(scores(h, W, b, u)) * m, h), "no softmax"),
        (changed, "changes h"),
    ],
    "03.6": [
        (lambda S, labels: (sums(S, labels)[0] / sums(S, labels)[1]).sum(), "divide by n"),
        (lambda S, labels: sums(S, labels)[0].sum() / len(S), "divided by its size"),
        (lambda S, labels: S[labels[:, None] == labels].mean(), "all pairs"),
        (lambda S, labels: sum((each.sum() - np.trace(each)) / len(each) for each in blocks(S, labels)) / len(S),
         "diagonal"),
        (lambda S, labels: sum(block.mean() for block in blocks(S, labels)) / len(S), "does it twice"),
        (lambda S, labels: np.mean([block.mean() for block in blocks(S, labels)]), "once, not twice"),
        (lambda S, labels: blocks(S, labels)[0].sum() / len(blocks(S, labels)[0]) / len(S), "first cluster"),
        (lambda S, labels: blocks(S, labels)[-1].sum() / len(blocks(S, labels)[-1]) / len(S), "last cluster"),
        (lambda S, labels: sum(S[labels == c].sum() / (labels == c).sum() for c in set(labels)) / len(S), "both i"),
        (lambda S, labels: sum(np.trace(each) / len(each) for each in blocks(S, labels)) / len(S), "np.ix_"),
        (lambda S, labels: sum(np.triu(each, 1).sum() / len(each) for each in blocks(S, labels)) / len(S), "twice"),
        (lambda S, labels: S.mean(), "whatever the clusters"),
        (lambda S, labels: sum(S[labels == c][:, labels == c].sum() / max(1, (labels == c).sum())
                               for c in range(len(set(labels)))) / len(S), "expected"),
        (lambda S, labels: 0.4221, "whatever S is"),
    ],
    "03.7": [
        (lambda value, n: 1 - value, "times n"),
        (lambda value, n: n - value, "n <s>"),
        (lambda value, n: 2 * n * (1 - value), "twice too much"),
        (lambda value, n: n * value, "shrinks"),
        (lambda value, n: n * (value - 1), "not negative"),
        (lambda value, n: (1 - value) / n, "multiply by n"),
        (lambda value, n: n - value / n, "already divided by n"),
        (lambda value, n: n * (1 - value**2), "not squared"),
        (lambda value, n: (n * (1 - value)) ** 0.5, "no root"),
        (lambda value, n: n * (1 + value), "taken off"),
        (lambda value, n: 26 * (1 - value), "whatever n is"),
        (lambda value, n: 7.7347, "whatever"),
    ],
}  # fmt: skip


def test_the_notebook_says_what_the_paper_found_on_negatives() -> None:
    """Section 5.1: a random section of the same article does as well as the neighbouring one."""
    told = " ".join((NOTEBOOKS / "src" / "03_thematic_triplets.py").read_text("utf-8").replace("\n# ", " ").split())
    assert "found adjacent negatives best" not in told
    assert "a random section of the *same* article does as well as the neighbouring one" in told
