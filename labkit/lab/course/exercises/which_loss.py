"""Notebook 10: what the losses of the gallery make of pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit, logsumexp, softmax

from labkit.lab.course.exercise import Unnamed, array, check, close, find_mistake, known_mistake, number, several

SHARED = ((0.6, 3, 4, 0.2), (0.2, 4, 6, 0.5), (0.75, 5, 3, 0.1))  # a case's S_p, seed, number of negatives, τ


def drawn_cosines(seed: int, *counts: int) -> list[np.ndarray]:
    """So many similarities of each kind, no two alike."""
    draw = np.random.default_rng(seed)
    return [draw.uniform(-0.3, 0.9, size=count) for count in counts]


@check("10.1")
def check_triplet_counts(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """A pair weighs as many as it has triplets that are short."""
    cases = [(*drawn_cosines(1, 3, 4), 0.2), (*drawn_cosines(2, 2, 6), 0.5), (*drawn_cosines(9, 4, 3), 0.1)]

    def gaps(p: np.ndarray, n: np.ndarray, m: float) -> np.ndarray:
        return n[None, :] - p[:, None] + m

    def of(how: Callable[[np.ndarray], Any]) -> Callable[..., Any]:
        """A mistake with the gaps S_n - S_p + margin, a row a positive."""
        return lambda p, n, m: (how(gaps(p, n, m)).sum(1), how(gaps(p, n, m)).sum(0))

    def right(positives: np.ndarray, negatives: np.ndarray, margin: float) -> Any:
        short = gaps(positives, negatives, margin) > 0
        return short.sum(1).astype(float), short.sum(0).astype(float)

    def changed(how: Callable[[Any, Any], Any]) -> Callable[..., Any]:
        return lambda p, n, m: how(*right(p, n, m))

    mistakes = (
        (changed(lambda a, b: (b, a)), "the two have changed places: those of the positives come first"),
        (changed(lambda a, b: (a > 0, b > 0)),
         "a pair counts once for *each* of its triplets that is short, not once in all"),
        (of(lambda g: g.clip(0)), "that is what the triplets cost; a weight is the slope, 1 or 0 of each"),
        (of(lambda g: g), "that is the loss without its hinge; a weight is the slope, 1 or 0 of each triplet"),
        (lambda p, n, m: right(p, n, 0.0),
         "without the margin: a triplet in order, but not by the margin, counts, too"),
        (lambda p, n, m: right(p, n, -m), "the margin has the wrong sign: S_n - S_p + margin"),
        (of(lambda g: g < 0), "turned round: those are the triplets in order"),
        (of(lambda g: np.ones_like(g)), "every triplet counts in yours; those in order by the margin have the slope 0"),
        (lambda p, n, m: (right(p, n, m)[0] / len(n), right(p, n, m)[1] / len(p)),
         "those are shares; the loss is a sum over the triplets, and so is a weight"),
        (changed(lambda a, b: (a / a.sum(), b / b.sum())), "those are shares of 1; a weight is the slope itself"),
        (changed(lambda a, b: (a / (a.size * b.size), b / (a.size * b.size))),
         "you divide by the number of triplets; the loss is their sum"),
        (changed(lambda a, b: (-a, b)), changed(lambda a, b: (a, -b)),
         "a weight is the size of the slope, without its sign"),
        (lambda p, n, m: (expit(gaps(p, n, m)).sum(1), expit(gaps(p, n, m)).sum(0)),
         lambda p, n, m: (expit(gaps(p, n, 0)).sum(1), expit(gaps(p, n, 0)).sum(0)),
         "that is the soft triplet's, with σ; the hinge has the slope 1 or 0"),
        (lambda p, n, m: (np.ones_like(p), (n > m).astype(float)),
         "those are the contrastive loss's: there a pair is compared with the margin, here with other pairs"),
    )  # fmt: skip
    read = several(2, array, "two things were expected, as in `return of_positives, of_negatives`")
    return find_mistake(answer, right, cases, mistakes, read=read)


@check("10.2")
def check_infonce_push(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """e^(S_n/τ) / (e^(S_p/τ) + Σ e^(S/τ)) / τ."""
    cases = [(s, drawn_cosines(seed, count)[0], tau) for s, seed, count, tau in SHARED]

    def shares(p: float, n: np.ndarray, t: float) -> np.ndarray:
        found: np.ndarray = softmax(np.append(p, n) / t)
        return found

    def right(positive: float, negatives: np.ndarray, tau: float) -> Any:
        return shares(positive, negatives, tau)[1:] / tau

    mistakes = (
        (lambda p, n, t: shares(p, n, t)[1:],
         "the shares are right; the slope in S has a factor 1/τ, from the exponent"),
        (lambda p, n, t: softmax(n / t) / t,
         "the positive is one of those that share: add its e^(S_p/τ) below the line"),
        (lambda p, n, t: softmax(n / t), "the positive is missing below the line, and the factor 1/τ"),
        (lambda p, n, t: shares(p, n, 1)[1:], "where is the temperature? It divides every S"),
        (lambda p, n, t: shares(p, n, 1)[1:] / t, "the temperature divides every S in the exponent, too"),
        (lambda p, n, t: shares(p, n, 1 / t)[1:] / t, lambda p, n, t: shares(p, n, 1 / t)[1:],
         lambda p, n, t: shares(p, n, 1 / t)[1:] * t, "S is divided by τ, not multiplied"),
        (lambda p, n, t: shares(p, n, t)[1:] * t, "the slope of S/τ is 1/τ: divide by τ, do not multiply"),
        (lambda p, n, t: shares(p, n, t) / t,
         "the positive's share stands first in yours; only the negatives are asked for"),
        (lambda p, n, t: -right(p, n, t), "a weight is the size of the slope, without its sign"),
        (lambda p, n, t: -np.log(shares(p, n, t)[1:]), lambda p, n, t: -np.log(shares(p, n, t)[0]),
         "that is a loss, -log of a share; its slope is asked for"),
        (lambda p, n, t: (1 - shares(p, n, t)[0]) / t,
         "that is the positive's weight, which is that of all negatives together"),
        (lambda p, n, t: (1 - shares(p, n, t)[1:]) / t,
         "1 - share is the slope of what is to be picked; a negative's is its share"),
        (lambda p, n, t: expit((n - p) / t), lambda p, n, t: expit((n - p) / t) / t,
         "each negative alone with the positive: that is the soft triplet's; here all share one sum"),
        (lambda p, n, t: np.exp((n - p) / t) / t, lambda p, n, t: np.exp((n - p) / t),
         "only the positive stands below the line; all negatives do, too"),
        (lambda p, n, t: np.exp(n / t) / (np.exp(p / t) + np.exp(n / t).mean()) / t,
         "below the line is the sum over the negatives, not their mean"),
        (lambda p, n, t: np.exp(n / t), "divide by the sum over the positive and all negatives"),
        (lambda p, n, t: right(p, n, t) / len(n), "a mean over the negatives is not asked for: they share as they are"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("10.3")
def check_loss_of_guessing(answer: Any, random: np.random.Generator) -> str | None:
    """-log(1/64) = log 64."""
    given = number(answer)
    mistakes = (
        (np.log(63), "the positive is one of those that share: 64 in all"),
        (np.log(65), "one positive and 63 negatives: 64 in all"),
        (6.0, "that is in bits; the loss has the natural logarithm"),
        (np.log10(64), "that is the logarithm to the base 10; the loss has the natural one"),
        (-np.log(64), "the sign: -log of a share is above 0"),
        (1 / 64, "that is the positive's share, or -log of the negatives'; the loss is -log of the positive's share"),
        (63 / 64, "that is what the negatives share; the loss is -log of the positive's share"),
        (64.0, "that is how many share; the loss is the logarithm of it"),
        (63.0, "that is how many negatives there are; the loss is -log of the positive's share"),
        (0.0, "the loss is 0 where the positive has all; here it has one share in 64"),
        (np.log(2), "that is one positive against one negative; here there are 63"),
        (np.log(64) / 0.05, "the temperature falls out: all S/τ are the same"),
        (np.log(64) / 64, "the loss of one anchor is asked for: nothing is divided by 64"),
        (1.0, "that is the sum of all shares; the loss is -log of the positive's"),
    )  # fmt: skip
    if close(given, np.log(64), 2e-3):
        return None
    return known_mistake(given, mistakes, 2e-3) or Unnamed("work out the share of the positive, and take -log of it")


@check("10.4")
def check_cosent(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """log(1 + Σ e^((s_kl - s_ij)/τ)) over pairs ij graded above kl."""
    grades = ([4.0, 1.0, 3.5, 0.0, 3.5], [2.0, 5.0, 0.5, 2.0], [1.0, 1.0, 0.0, 4.0, 3.0, 0.0])
    cases = [
        (drawn_cosines(seed, len(g))[0], np.array(g), t)
        for seed, g, t in zip((6, 7, 8), grades, (0.5, 0.2, 1.0), strict=True)
    ]

    def sums(s: np.ndarray, keep: np.ndarray, tau: float) -> Any:
        return (np.exp((s[None, :] - s[:, None]) / tau) * keep).sum()

    def higher(g: np.ndarray) -> np.ndarray:
        return g[:, None] > g[None, :]

    def right(s: np.ndarray, grades: np.ndarray, tau: float) -> Any:
        return np.log1p(sums(s, higher(grades), tau))

    def adjacent(s: np.ndarray, g: np.ndarray, t: float) -> Any:
        order = np.argsort(-g, kind="stable")
        return np.log1p(np.exp(np.diff(s[order]) / t).sum())

    mistakes = (
        (lambda s, g, t: right(s, -g, t), lambda s, g, t: right(-s, g, t),
         "turned round: yours is small where pairs of a *low* grade are near"),
        (lambda s, g, t: np.log1p(sums(s, (g[:, None] >= g[None, :]) & ~np.eye(len(g), dtype=bool), t)),
         "two pairs of the same grade have no order: > and not >="),
        (lambda s, g, t: np.log1p(sums(s, g[:, None] >= g[None, :], t)),
         "a pair is compared with itself, and with pairs of the same grade: > and not >="),
        (lambda s, g, t: np.log1p(sums(s, g[:, None] != g[None, :], t)),
         "every two grades that differ count twice, once in the wrong order: only the higher one goes first"),
        (lambda s, g, t: np.log(sums(s, higher(g), t)), "the 1 is missing: log(1 + Σ)"),
        (lambda s, g, t: sums(s, higher(g), t), "that is the sum; the loss is log(1 + Σ)"),
        (lambda s, g, t: 1 + sums(s, higher(g), t), "the logarithm is missing"),
        (lambda s, g, t: right(s, g, 1.0), lambda s, g, t: right(s, g, 1 / t),
         "where is the temperature? It divides the difference"),
        (lambda s, g, t: t * right(s, g, t), "the loss is not multiplied by τ"),
        (lambda s, g, t: (np.log1p(np.exp((s[None, :] - s[:, None]) / t)) * higher(g)).sum(),
         "a logarithm for every two pairs: that is another loss (RankNet); here one logarithm holds the whole sum"),
        (lambda s, g, t: np.log1p(sums(s, higher(g), t) / higher(g).sum()),
         lambda s, g, t: np.log1p(sums(s, higher(g), t) / len(s)),
         lambda s, g, t: np.log1p(sums(s, higher(g), t) / len(s) ** 2),
         "the sum, not a mean"),
        (lambda s, g, t: np.log1p(sums(s, higher(g) * (g[:, None] - g[None, :]), t)),
         "by how much two grades differ does not count, only which is higher"),
        (lambda s, g, t: np.log1p(sums(s, (g[:, None] >= 0.8 * g.max()) & (g[None, :] < 0.4 * g.max()), t)),
         "only the ends of the scale: every two grades that differ count"),
        (adjacent, "only neighbours in the order: every two grades that differ count"),
        (lambda s, g, t: np.log1p(np.exp(s[:, None] - s[None, :]).T[higher(g)].sum() / t),
         "τ belongs into the exponent"),
        (lambda s, g, t: logsumexp(s / t), "the grades are not looked at"),
        (lambda s, g, t: right(s, g, t) / len(s), "there is no mean over the pairs: one number for the whole batch"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)
