"""Notebook 01: each check takes the right answer in every form and names typical wrong ones."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import Tensor

from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


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


def masks_by_loops(labels):  # type: ignore[no-untyped-def]
    m = len(labels)
    P, N = torch.zeros(m, m, dtype=torch.bool), torch.zeros(m, m, dtype=torch.bool)
    for i in range(m):
        for j in range(m):
            P[i, j] = bool(labels[i] == labels[j]) and i != j
            N[i, j] = bool(labels[i] != labels[j])
    return [P, N]


def contrastive_by_loops(S, P, N, margin):  # type: ignore[no-untyped-def]
    m = len(S)
    return [[1 if P[i, j] or (N[i, j] and S[i, j] > margin) else 0 for j in range(m)] for i in range(m)]


def contrastive_by_autograd(S, P, N, margin):  # type: ignore[no-untyped-def]
    leaf = S.clone().requires_grad_()
    ((leaf - margin).relu() * N - leaf * P).sum().backward()
    return leaf.grad.abs()


def locality_by_loops(S, P, N, a, b, t):  # type: ignore[no-untyped-def]
    total, m = 0.0, len(S)
    for i in range(m):
        near = sum(math.exp(-a * (S[i, j] - t)) for j in range(m) if P[i, j])
        far = sum(math.exp(b * (S[i, j] - t)) for j in range(m) if N[i, j])
        total += math.log(1 + near) / a + math.log(1 + far) / b
    return total / m


def negatives_by_loops(S, N, b, t):  # type: ignore[no-untyped-def]
    found = torch.zeros_like(S)
    for i, j in N.nonzero().tolist():
        under = math.exp(b * (t - S[i, j])) + sum(math.exp(b * (S[i, k] - S[i, j])) for k in range(len(S)) if N[i, k])
        found[i, j] = 1 / under
    return found


def negatives_as_shares(S, N, b, t):  # type: ignore[no-untyped-def]
    terms = torch.exp(b * (S - t)) * N
    return (terms / (1 + terms.sum(1, keepdim=True))).float()


def keep_by_loops(S, P, N, e):  # type: ignore[no-untyped-def]
    kept_P, kept_N = torch.zeros_like(P), torch.zeros_like(N)
    for i in range(len(S)):
        positives, negatives = S[i][P[i]], S[i][N[i]]
        for j in range(len(S)):
            if P[i, j] and len(negatives):
                kept_P[i, j] = S[i, j] < negatives.max() + e
            if N[i, j] and len(positives):
                kept_N[i, j] = S[i, j] > positives.min() - e
    return kept_P, kept_N


def shift(S, P, N, margin):  # type: ignore[no-untyped-def]
    S -= margin
    return (P | (N & (S > 0))).double()


def under(S, N, b, t):  # type: ignore[no-untyped-def]
    return torch.exp(b * (t - S)) + (sums(S, b) * N[:, None, :]).sum(2)


def zero_outside(S, N, b, t):  # type: ignore[no-untyped-def]
    weights = 1 / under(S, N, b, t)
    weights[~N] = 0
    N |= True
    return weights


def keeps(S, P, N, high, low):  # type: ignore[no-untyped-def]
    return P & (S < high), N & (S > low)


RIGHT = {
    "01.1": [
        lambda labels: (same(labels) & ~eye(labels), ~same(labels)),
        masks_by_loops,
        lambda labels: torch.stack([same(labels).fill_diagonal_(False), ~same(labels)]),
        lambda labels: (same(labels) ^ eye(labels), labels[:, None] != labels),
    ],
    "01.2": [
        lambda S, P, N, t: (P | (N & (S > t))).double(),
        lambda S, P, N, t: P.float() + N * (S > t),
        lambda S, P, N, t: (P | (N & (S > t))).int().numpy(),
        contrastive_by_loops,
        contrastive_by_autograd,
    ],
    "01.3": [
        lambda n, p: torch.sigmoid(n - p),
        lambda n, p: 1 / (1 + torch.exp(p - n)),
        lambda n, p: (torch.exp(n) / (torch.exp(n) + torch.exp(p))).numpy(),
        lambda n, p: torch.softmax(torch.stack([n, p]), 0)[0],
    ],
    "01.4": [
        (0.1192, 0.8808),
        [0.12, 0.88],
        torch.sigmoid(torch.tensor([-2.0, 2.0])),
        (torch.sigmoid(torch.tensor([-2.0])), torch.sigmoid(torch.tensor([2.0]))),
        np.array([[0.1192], [0.8808]]),
        (1 / (1 + math.exp(2)), 1 / (1 + math.exp(-2))),
    ],
    "01.5": [
        lambda S, P, N, a, b, t: (pull(S, P, a, t) + push(S, N, b, t)).mean(),
        locality_by_loops,
        lambda S, P, N, a, b, t: torch.tensor([locality_by_loops(S, P, N, a, b, t)]),
        lambda S, P, N, a, b, t: np.float64(locality_by_loops(S, P, N, a, b, t)),
    ],
    "01.6": [
        lambda S, N, b, t: N / under(S, N, b, t),
        negatives_by_loops,
        negatives_as_shares,
        lambda S, N, b, t: negatives_by_loops(S, N, b, t).numpy(),
    ],
    "01.7": [13.3, torch.tensor([13.0]), np.float64(13.6)],
    "01.8": [
        lambda S, P, N, e: keeps(S, P, N, floor(S, N, "amax") + e, floor(S, P) - e),
        lambda S, P, N, e: list(keeps(S, P, N, floor(S, N, "amax") + e, floor(S, P) - e)),
        keep_by_loops,
        lambda *given: tuple(each.numpy() for each in keep_by_loops(*given)),
        lambda S, P, N, e: (
             P & (S - e < torch.where(N, S, -9).max(1).values[:, None]),
             N & (S + e > torch.where(P, S, 9).min(1).values[:, None]),
         ),
    ],
}  # fmt: skip
WRONG = {
    "01.1": [
        (lambda labels: (same(labels), ~same(labels)), "no positive of itself"),
        (lambda labels: (~same(labels), same(labels) & ~eye(labels)), "swapped"),
        (lambda labels: (same(labels) & ~eye(labels), ~same(labels) | eye(labels)), "no negative of itself"),
        (lambda labels: same(labels), "two masks"),
        (lambda labels: (same(labels)[0], ~same(labels)[0]), "expected (6, 6)"),
        (lambda labels: (same(labels).triu(1), (~same(labels)).triu(1)), "stands in yours once"),
        (lambda labels: (same(labels) & ~eye(labels), ~eye(labels)), "hold the positives"),
        (lambda labels: ((same(labels) & ~eye(labels)).float(), (~same(labels)).float()), "torch.float32"),
        (lambda labels: ((same(labels) & ~eye(labels)).long(), (~same(labels)).long()), "torch.int64"),
        (lambda labels: ((same(labels) & ~eye(labels)).numpy(), (~same(labels)).numpy()), "ndarray"),
        (lambda labels: (eye(labels), ~eye(labels)), "places, not labels"),
        (lambda labels: (same(torch.tensor([0, 1, 0, 2, 1, 0])), ~same(labels)), "shape"),
    ],
    "01.2": [
        (lambda S, P, N, t: (P | (N & (S > t))) * S, "prints S = 1"),
        (lambda S, P, N, t: (P | N).double(), "every negative"),
        (lambda S, P, N, t: (N & (S > t)).double(), "positives weigh nothing"),
        (lambda S, P, N, t: (N & (S > t)).double() - P.double(), "has a sign"),
        (lambda S, P, N, t: ((P & (S > t)) | (N & (S > t))).int(), "no margin for them"),
        (lambda S, P, N, t: (P | (N & (S > 0.5))).double(), "whatever margin is"),
        (lambda S, P, N, t: P | (N & (S > t)), "True and False"),
        (lambda S, P, N, t: (P | (~P & (S > t))).double(), "never ask for N"),
        (lambda S, P, N, t: (P | (~P & (S > t) & ~eye(S))).double(), "never ask for N"),
        (lambda S, P, N, t: (P | (N & (S < t))).double(), "weigh below the margin"),
        (lambda S, P, N, t: (S - t).relu() * N - S * P, "loss itself"),
        (lambda S, P, N, t: (S - t).relu() * N + P, "its slope is 1 or 0"),
        (lambda S, P, N, t: (P | (N & (S > t))).double() / len(S), "divide by m"),
        (shift, "changes S itself"),
    ],
    "01.3": [
        (lambda n, p: torch.ones(3), "shape"),
        (lambda n, p: torch.ones_like(n), "eq. 5"),
        (lambda n, p: 1, "eq. 5"),
        (lambda n, p: torch.sigmoid(p - n), "the other way round"),
        (lambda n, p: torch.nn.functional.softplus(n - p), "loss itself"),
        (lambda n, p: (n > p).double(), "a step"),
        (lambda n, p: -torch.sigmoid(n - p), "without the sign"),
        (lambda n, p: torch.exp(n - p), "that is e^x"),
        (lambda n, p: torch.sigmoid(n), "positive is not in yours"),
        (lambda n, p: torch.tanh(n - p), "tanh"),
        (lambda n, p: torch.sigmoid(n - p) * torch.sigmoid(p - n), "second derivative"),
        (lambda n, p: torch.sigmoid(n - p).sum(), "sum over all"),
        (lambda n, p: torch.full_like(n, 0.5), "0.5"),
    ],
    "01.4": [
        ((0.0, 1.0), "no more than 2"),
        ((0.2689, 0.7311), "from -1 to 1"),
        ((0.8808, 0.1192), "other way round"),
        (0.5, "two numbers"),
        ((-1, 1), "difference of two"),
        ((-2, 2), "S_n - S_p"),
        ((0.5, 0.88), "below 0 as well"),
        ((0.1269, 2.1269), "the loss"),
        ((math.exp(-2), math.exp(2)), "e^x"),
        ((0.1, 0.9), "three places"),
        ((0.12, 0.73), "evaluate"),
        ((12, 88), "evaluate"),
    ],
    "01.5": [
        (lambda S, P, N, a, b, t: (pull(S, P, a, t) + push(S, N, b, t)).sum(), "sum over the anchors"),
        (lambda S, P, N, a, b, t: pull(S, P, a, t).mean() + push(S, N, b, t).sum(), "outside the mean"),
        (lambda S, P, N, a, b, t: pull(S, P, a, t).mean() + push(S, N, b, t)[-1], "last anchor only"),
        (lambda S, P, N, a, b, t: (pull(S, P, -a, t) * -1 + push(S, N, b, t)).mean(), "wrong sign"),
        (lambda S, P, N, a, b, t: (pull(S, P, a, t) * a + push(S, N, b, t) * b).mean(), "1/α and 1/β"),
        (lambda S, P, N, a, b, t: (pull(S, P | eye(S), a, t) + push(S, N, b, t)).mean(), "its own positives"),
        (lambda S, P, N, a, b, t: (pull(S, P, 2.0, t) + push(S, N, b, t)).mean(), "whatever alpha is"),
        (lambda S, P, N, a, b, t: (pull(S, P, a, 0.5) + push(S, N, b, 0.5)).mean(), "whatever base is"),
        (lambda S, P, N, a, b, t: (pull(S, P, a, 0) + push(S, N, b, 0)).mean(), "λ is missing"),
        (lambda S, P, N, a, b, t: (pull(S, P, 2.0, 0.5) + push(S, N, 50.0, 0.5)).mean(), "whatever alpha is"),
        (lambda S, P, N, a, b, t: (pull(S, P, b, t) + push(S, N, a, t)).mean(), "have changed places"),
        (lambda S, P, N, a, b, t: (pull(S, P.T, a, t) + push(S, N.T, b, t)).mean(), "axis 1"),
        (lambda S, P, N, a, b, t: pull(S, P, a, t) + push(S, N, b, t), "one number"),
        (lambda S, P, N, a, b, t: push(S, N, b, t).mean(), "positives are missing"),
        (lambda S, P, N, a, b, t: (
             torch.log1p(torch.exp(-a * (S - t) * P).sum(1)) / a + torch.log1p(torch.exp(b * (S - t) * N).sum(1)) / b
         ).mean(), "inside the exponent"),
    ],
    "01.6": [
        (lambda S, N, b, t: N / (torch.exp(b * (t - S)) + sums(S, b).sum(2)), "whole row"),
        (lambda S, N, b, t: N / (torch.exp(b * (t - S)) + (sums(S, b) * ~eye(S)[:, None, :]).sum(2)),
         "all others of the row"),
        (lambda S, N, b, t: N / torch.exp(b * (t - S)), "relative part is missing"),
        (lambda S, N, b, t: N / (sums(S, b) * N[:, None, :]).sum(2), "own part"),
        (lambda S, N, b, t: N / (torch.exp(b * (S - t)) + (sums(S, b) * N[:, None, :]).sum(2)), "wrong sign"),
        (lambda S, N, b, t: 1 / under(S, N, b, t), "outside N must weigh 0"),
        (lambda S, N, b, t: N / under(S, N, 50.0, t), "whatever beta is"),
        (lambda S, N, b, t: N / under(S, N, b, 0.5), "whatever base is"),
        (lambda S, N, b, t: N / under(S, N, b, 0.0), "λ is missing"),
        (lambda S, N, b, t: N / (1 + torch.exp(b * (t - S))), "as if the pair were alone"),
        (lambda S, N, b, t: N / (under(S, N, b, t) - 1), "k = j is missing"),
        (lambda S, N, b, t: N * under(S, N, b, t), "denominator"),
        (lambda S, N, b, t: N / (torch.exp(b * (t - S)) + (sums(S, b) * N[:, None, :]).sum(1)), "wrong axis"),
        (lambda S, N, b, t: N / under(S, N, b, t) / len(S), "divide by m"),
        (zero_outside, "changes N itself"),
    ],
    "01.7": [
        (1.0, "take a larger one"),
        (60.0, "take a smaller one"),
        (-3.0, "above 0"),
        (0.5, "that is the share"),
        (123, "place in a list"),
        (0.0, "above 0"),
        (11.9, "take a larger one"),
        (14.5, "take a smaller one"),
        ((13.3, 0.5), "one number"),
        ("large", "numbers were expected"),
    ],
    "01.8": [
        (lambda S, P, N, e: keeps(S, P, N, floor(S, N, "amax") - e, floor(S, P) + e), "wrong sign"),
        (lambda S, P, N, e: keeps(S, P, N, floor(S, N, "amax"), floor(S, P)), "ε is missing"),
        (lambda S, P, N, e: keeps(S, P, N, floor(S, N, "amax") + e, floor(S, P, "amax") - e), "not the nearest"),
        (lambda S, P, N, e: (P & (S < floor(S, N, "amax") + e), N & ((S > floor(S, P) - e) | ~P.any(1, keepdim=True))),
         "no positive at all"),
        (lambda S, P, N, e: N & (S > floor(S, P) - e), "two masks"),
        (lambda S, P, N, e: keep_by_loops(S.masked_fill_(~P, torch.inf), P, N, e), "changes S itself"),
        (lambda S, P, N, e: keeps(S, P, N, floor(S, N, "amax") + 0.1, floor(S, P) - 0.1), "whatever epsilon is"),
        (lambda S, P, N, e: keeps(S, P, N, floor(S, N, "amax").T + e, floor(S, P).T - e), "keepdim"),
        (lambda S, P, N, e: keeps(S, P, N, floor(S, N, "amax")[:, 0] + e, floor(S, P)[:, 0] - e), "keepdim"),
        (lambda S, P, N, e: keeps(S, P, N, floor(S, N, "amax") + e, floor(S, P) - e)[::-1], "swapped"),
        (lambda S, P, N, e: (S < floor(S, N, "amax") + e, S > floor(S, P) - e), "subsets"),
        (lambda S, P, N, e: keeps(S, P, N, S[N].max() + e, S[P].min() - e), "whole batch"),
        (lambda S, P, N, e: keeps(S, P, N, (S * N).amax(1, keepdim=True) + e, (S * P).amin(1, keepdim=True) - e),
         "masked_fill"),
        (lambda S, P, N, e: (P, N & (S > floor(S, P) - e)), "all positives are kept"),
        (lambda S, P, N, e: (P & (S <= floor(S, N, "amax") + e), N & (S >= floor(S, P) - e)), "just at its bound"),
        (lambda S, P, N, e: tuple(x.double() for x in keeps(S, P, N, floor(S, N, "amax") + e, floor(S, P) - e)),
         "torch.float64"),
    ],
}  # fmt: skip
