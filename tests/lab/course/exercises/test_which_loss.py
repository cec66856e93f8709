"""Notebook 10: each check takes the right answer in every form and names typical wrong ones."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import torch

from labkit.pairs import cosent, infonce, margin_triplet, pair_weights
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


def short(p: np.ndarray, n: np.ndarray, margin: float) -> np.ndarray:
    return n[None, :] - p[:, None] + margin > 0


def one_anchor(p, n):  # type: ignore[no-untyped-def]
    """S (m, m) and the masks of an anchor in row 0 with these positives and negatives."""
    row = torch.tensor(np.concatenate([[1.0], np.atleast_1d(p), n]))
    S = row.expand(len(row), -1)
    P, N = torch.zeros(S.shape, dtype=torch.bool), torch.zeros(S.shape, dtype=torch.bool)
    P[0, 1 : 1 + np.size(p)] = N[0, 1 + np.size(p) :] = True
    return S, P, N


def counts_by_autograd(p, n, margin):  # type: ignore[no-untyped-def]
    weights = pair_weights(partial(margin_triplet, margin=margin), *one_anchor(p, n))[0]
    return weights[1 : 1 + len(p)], weights[1 + len(p) :]


def counts_by_loops(p, n, margin):  # type: ignore[no-untyped-def]
    of_p, of_n = [0] * len(p), [0] * len(n)
    for i, s in enumerate(p):
        for j, t in enumerate(n):
            if t - s + margin > 0:
                of_p[i] += 1
                of_n[j] += 1
    return of_p, of_n


def push(p, n, tau):  # type: ignore[no-untyped-def]
    e = np.exp(n / tau)
    return e / (np.exp(p / tau) + e.sum()) / tau


def push_by_autograd(p, n, tau):  # type: ignore[no-untyped-def]
    return pair_weights(partial(infonce, temperature=tau), *one_anchor(p, n))[0, 2:]


def ranked(s, grades, tau):  # type: ignore[no-untyped-def]
    return (np.exp((s[None, :] - s[:, None]) / tau) * (grades[:, None] > grades[None, :])).sum()


def ranked_by_loops(s, grades, tau):  # type: ignore[no-untyped-def]
    total = 1.0
    for a, g in zip(s, grades, strict=True):
        for b, h in zip(s, grades, strict=True):
            if g > h:
                total += math.exp((b - a) / tau)
    return math.log(total)


def ranked_by_the_package(s, grades, tau):  # type: ignore[no-untyped-def]
    n = len(s) + 1
    S, G, P = torch.ones(n, n).double(), torch.zeros(n, n).double(), torch.zeros(n, n, dtype=torch.bool)
    S[0, 1:], G[0, 1:], P[0, 1:] = torch.tensor(s), torch.tensor(grades), True
    return cosent(S, P, torch.zeros_like(P), temperature=tau, grades=G)


RIGHT = {
    "10.1": [
        lambda p, n, margin: (short(p, n, margin).sum(1), short(p, n, margin).sum(0)),
        counts_by_autograd,
        counts_by_loops,
        lambda p, n, margin: [[(n > s - margin).sum() for s in p], [(p < s + margin).sum() for s in n]],
    ],
    "10.2": [
        push,
        push_by_autograd,
        lambda p, n, tau: torch.softmax(torch.tensor([p, *n]) / tau, 0)[1:] / tau,
        lambda p, n, tau: [1 / tau / sum(math.exp((other - s) / tau) for other in (p, *n)) for s in n],
    ],
    "10.3": [math.log(64), 4.159, -np.log(np.array([1 / 64])), torch.tensor(64.0).log()],
    "10.4": [lambda s, grades, tau: np.log1p(ranked(s, grades, tau)), ranked_by_loops, ranked_by_the_package],
}
WRONG = {
    "10.1": [
        (lambda p, n, margin: (short(p, n, margin).sum(0), short(p, n, margin).sum(1)), "changed places"),
        (lambda p, n, margin: (short(p, n, margin).any(1), short(p, n, margin).any(0)), "*each* of its triplets"),
        (lambda p, n, margin: ((n - p[:, None] + margin).clip(0).sum(1), (n - p[:, None] + margin).clip(0).sum(0)),
         "what the triplets cost"),
        (lambda p, n, margin: (short(p, n, 0).sum(1), short(p, n, 0).sum(0)), "without the margin"),
        (lambda p, n, margin: (short(p, n, -margin).sum(1), short(p, n, -margin).sum(0)), "wrong sign"),
        (lambda p, n, margin: ((~short(p, n, margin)).sum(1), (~short(p, n, margin)).sum(0)), "turned round"),
        (lambda p, n, margin: (np.full(len(p), len(n)), np.full(len(n), len(p))), "every triplet counts"),
        (lambda p, n, margin: (short(p, n, margin).mean(1), short(p, n, margin).mean(0)), "those are shares"),
        (lambda p, n, margin: (-short(p, n, margin).sum(1), short(p, n, margin).sum(0)), "without its sign"),
        (lambda p, n, margin: (p < n.max() + margin, n > p.min() - margin), "*each* of its triplets"),
        (lambda p, n, margin: (np.ones(len(p)), n > margin), "contrastive"),
        (lambda p, n, margin: short(p, n, margin).sum(), "two things were expected"),
        (lambda p, n, margin: (short(p, n, margin).sum(1) + 1, short(p, n, margin).sum(0)), "yours is"),
    ],
    "10.2": [
        (lambda p, n, tau: tau * push(p, n, tau), "factor 1/τ"),
        (lambda p, n, tau: np.exp(n / tau) / np.exp(n / tau).sum() / tau, "one of those that share"),
        (lambda p, n, tau: np.exp(n / tau) / np.exp(n / tau).sum(), "missing below the line"),
        (lambda p, n, tau: push(p, n, 1), "where is the temperature"),
        (lambda p, n, tau: push(p, n, 1 / tau), "not multiplied"),
        (lambda p, n, tau: tau**2 * push(p, n, tau), "do not multiply"),
        (lambda p, n, tau: -push(p, n, tau), "without its sign"),
        (lambda p, n, tau: -np.log(tau * push(p, n, tau)), "that is a loss"),
        (lambda p, n, tau: push(p, n, tau).sum(), "the positive's weight"),
        (lambda p, n, tau: 1 / (1 + np.exp((p - n) / tau)), "soft triplet"),
        (lambda p, n, tau: np.exp((n - p) / tau) / tau, "only the positive"),
        (lambda p, n, tau: push(p, n, tau) / push(p, n, tau).sum(), "missing below the line"),
        (lambda p, n, tau: n, "use positive"),
    ],
    "10.3": [
        (math.log(63), "64 in all"),
        (6, "in bits"),
        (math.log10(64), "base 10"),
        (-math.log(64), "the sign"),
        (1 / 64, "-log of it"),
        (64, "the logarithm of it"),
        (63, "how many negatives"),
        (0, "one share in 64"),
        (math.log(2), "against one negative"),
        (math.log(64) / 0.05, "falls out"),
        (math.log(64) / 64, "nothing is divided"),
        (17, "work out the share"),
        ("large", "numbers were expected"),
    ],
    "10.4": [
        (lambda s, grades, tau: np.log1p(ranked(s, -grades, tau)), "turned round"),
        (lambda s, grades, tau: np.log1p((np.exp((s - s[:, None]) / tau) * (grades[:, None] >= grades)).sum()),
         "compared with itself"),
        (lambda s, grades, tau: np.log1p(ranked(s, grades, tau) + ranked(s, -grades, tau)), "count twice"),
        (lambda s, grades, tau: np.log(ranked(s, grades, tau)), "the 1 is missing"),
        (lambda s, grades, tau: ranked(s, grades, tau), "that is the sum"),
        (lambda s, grades, tau: np.log1p(ranked(s, grades, 1)), "where is the temperature"),
        (lambda s, grades, tau: tau * np.log1p(ranked(s, grades, tau)), "not multiplied by τ"),
        (lambda s, grades, tau: (np.log1p(np.exp((s - s[:, None]) / tau)) * (grades[:, None] > grades)).sum(),
         "RankNet"),
        (lambda s, grades, tau: np.log1p(ranked(s, grades, tau) / (grades[:, None] > grades).sum()), "not a mean"),
        (lambda s, grades, tau: np.log1p((np.exp((s - s[:, None]) / tau) * (grades[:, None] - grades).clip(0)).sum()),
         "by how much"),
        (lambda s, grades, tau: np.log1p(np.exp(np.diff(s[np.argsort(-grades, kind="stable")]) / tau).sum()),
         "only neighbours"),
        (lambda s, grades, tau: np.corrcoef(s, grades)[0, 1], "use tau"),
        (lambda s, grades, tau: ((s - grades) ** 2).mean(), "use tau"),
    ],
}  # fmt: skip
