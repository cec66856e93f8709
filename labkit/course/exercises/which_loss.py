"""Notebook 10: how the losses of the gallery treat pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy.special import softmax
from torch import Tensor

from labkit.course.exercise import Unnamed, array, check, close, find_mistake, known_mistake, number, several


def drawn_cosines(random: np.random.Generator, count: int) -> np.ndarray:
    return random.uniform(-0.3, 0.9, size=count)


@check("10.1")
def check_triplet_counts(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The weight of a pair is its number of triplets that violate the margin."""
    cases = [
        (drawn_cosines(random, p), drawn_cosines(random, n), m) for p, n, m in ((3, 5, 0.2), (2, 6, 0.5), (4, 3, 0.1))
    ]

    def of(how: Callable[[np.ndarray], Any], margin: float = 1.0) -> Callable[..., Any]:
        """A mistake with the gaps S_n - S_p + margin, one row per positive."""

        def counts(p: np.ndarray, n: np.ndarray, m: float) -> Any:
            each = np.asarray(how(n[None, :] - p[:, None] + margin * m), dtype=float)
            return each.sum(1), each.sum(0)

        return counts

    def right(positives: np.ndarray, negatives: np.ndarray, margin: float) -> Any:
        return of(lambda gaps: gaps > 0)(positives, negatives, margin)

    mistakes = (
        (lambda *case: right(*case)[::-1], "the two have changed places: those of the positives come first"),
        (of(lambda gaps: gaps.clip(0)), "that is what the triplets cost; a weight is the slope, 1 or 0 of each"),
        (of(lambda gaps: gaps > 0, 0.0),
         "without the margin: a triplet in order, but not by the margin, counts, too"),
        (of(lambda gaps: gaps > 0, -1.0), "the margin has the wrong sign: S_n - S_p + margin"),
        (lambda p, n, m: (right(p, n, m)[0] / len(n), right(p, n, m)[1] / len(p)),
         "those are shares; the loss is a sum over the triplets, and so is a weight"),
    )  # fmt: skip
    read = several(2, array, "two things were expected, as in `return of_positives, of_negatives`")
    return find_mistake(answer, right, cases, mistakes, read=read)


@check("10.2")
def check_infonce_push(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """e^(S_n/τ) / (e^(S_p/τ) + Σ e^(S/τ)) / τ."""
    cases = [
        (float(random.uniform(0.1, 0.8)), drawn_cosines(random, n), tau) for n, tau in ((4, 0.2), (6, 0.5), (3, 0.1))
    ]

    def shares(p: float, n: np.ndarray, t: float) -> np.ndarray:
        return np.asarray(softmax(np.append(p, n) / t))

    mistakes = (
        (lambda p, n, t: shares(p, n, t)[1:],
         "the shares are right; the slope in S has a factor 1/τ, from the exponent"),
        (lambda p, n, t: softmax(n / t) / t, lambda p, n, t: softmax(np.append(0.0, n) / t)[1:] / t,
         "the positive is one of those that share: add its e^(S_p/τ) below the line"),
        (lambda p, n, t: np.exp(n * t) / (np.exp(p / t) + np.exp(n * t).sum()) / t,
         lambda p, n, t: shares(p, n, 1 / t)[1:] / t, "S is divided by τ, not multiplied"),
        (lambda p, n, t: shares(p, n, t)[0] / t, lambda p, n, t: shares(p, n, t) / t,
         "the positive's share is in yours; only the negatives are asked for"),
        (lambda p, n, t: -np.log(shares(p, n, t)[0]), "that is the loss, -log of a share; its slope is asked for"),
    )  # fmt: skip

    def right(positive: float, negatives: np.ndarray, tau: float) -> Any:
        return shares(positive, negatives, tau)[1:] / tau

    return find_mistake(answer, right, cases, mistakes)


@check("10.3")
def check_nearest_share(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The largest push of each anchor divided by the sum of pushes, averaged over the anchors that push."""
    cases = []
    for m, silent in ((5, 0), (6, 2), (4, 1)):
        N = random.random((m, m)) < 0.5
        N[:, :2] = True
        W = random.uniform(0.1, 3, size=(m, m))  # positives weigh, too
        quiet = random.permutation(m)[:silent]
        W[quiet] = np.where(N[quiet], 0, W[quiet])
        cases.append((torch.from_numpy(W), torch.from_numpy(N)))

    def by(share: Callable[[Tensor], Any], mask: Callable[[Tensor], Tensor] = lambda N: N) -> Callable[..., Any]:
        def mean(W: Tensor, N: Tensor) -> Any:
            pushes = [W[i, mask(N)[i]] for i in range(len(W))]
            return np.mean([float(share(push)) for push in pushes if push.sum() > 0])

        return mean

    def with_silent(W: Tensor, N: Tensor) -> Any:
        push = W * N
        return (push.max(1).values / push.sum(1).clamp(min=1e-300)).mean()

    mistakes = (
        (with_silent, "an anchor that pushes nothing is in your mean, with a share of 0: leave it out"),
        (by(lambda push: push.max() / push.sum(), lambda N: torch.ones_like(N)),
         "positives are in your row: only negatives are pushed, `W[i, N[i]]`"),
        (by(lambda push: push.max()), "that is the largest push; divide it by the sum of the anchor's pushes"),
        (by(lambda push: 1 / len(push)), "that is an equal share for all; what does the largest of them get?"),
        (lambda W, N: (W * N).max(1).values.sum() / (W * N).sum(),
         "yours divides two sums over the batch; take the share of each anchor first, then the mean"),
    )  # fmt: skip
    return find_mistake(answer, by(lambda push: push.max() / push.sum()), cases, mistakes, read=number)


@check("10.4")
def check_loss_of_guessing(answer: Any, random: np.random.Generator) -> str | None:
    """-log(1/64) = log 64."""
    given = number(answer)
    mistakes = (
        (np.log(63), "the positive is one of those that share: 64 in all"),
        (6.0, "that is in bits; the loss has the natural logarithm"),
        (1 / 64, "that is the positive's share; the loss is -log of it"),
        (0.0, "the loss is 0 where the positive has all; here it has one share in 64"),
        (-np.log(64), "the sign: -log of a share is above 0"),
    )
    general = Unnamed("work out the share of the positive, and take -log of it")
    return None if close(given, np.log(64), 2e-3) else known_mistake(given, mistakes, 2e-3) or general
