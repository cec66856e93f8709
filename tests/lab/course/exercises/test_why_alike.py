"""Notebook 12: each check takes the right answer in every form and names typical wrong ones.

The wrong answers were listed before the checks were written.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import stats
from scipy.integrate import quad_vec

from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


def pairs_of_words(A, B):  # type: ignore[no-untyped-def]
    return A @ B.T / np.linalg.norm(A.sum(0)) / np.linalg.norm(B.sum(0))


def pairs_by_loops(A, B):  # type: ignore[no-untyped-def]
    a, b = A.mean(0), B.mean(0)
    length = len(A) * len(B) * np.sqrt((a @ a) * (b @ b))
    return [[sum(s * t for s, t in zip(u, v, strict=True)) / length for v in B] for u in A]


def without(words, at):  # type: ignore[no-untyped-def]
    return words[:at] + words[at + 1 :]


def lost(alike, words):  # type: ignore[no-untyped-def]
    return np.array([alike(words) - alike(without(words, at)) for at in range(len(words))])


def lost_by_popping(alike, words):  # type: ignore[no-untyped-def]
    whole, found = alike(words), []
    for at in range(len(words)):
        rest = list(words)
        rest.pop(at)
        found.append(whole - alike(rest))
    return found


def riemann(slope, x, way):  # type: ignore[no-untyped-def]
    return (np.mean([slope(t * x) for t in way], axis=0) * x).sum(1)


def middles(steps):  # type: ignore[no-untyped-def]
    return (np.arange(steps) + 0.5) / steps


def trapezoids(slope, x, steps):  # type: ignore[no-untyped-def]
    slopes = np.array([slope(t * x) for t in np.linspace(0, 1, steps + 1)])
    return ((slopes[1:] + slopes[:-1]) / 2 * x).mean(0).sum(1)


def falling(alike, words, parts, *, sign=-1, counts=None):  # type: ignore[no-untyped-def]
    order = np.argsort(sign * np.asarray(parts), kind="stable")
    counts = range(len(words)) if counts is None else counts
    return np.array([alike([word for at, word in enumerate(words) if at not in order[:count]]) for count in counts])


def falling_by_deleting(alike, words, parts):  # type: ignore[no-untyped-def]
    left, curve = list(zip(words, parts, strict=True)), []
    while left:
        curve.append(alike([word for word, _ in left]))
        left.pop(max(range(len(left)), key=lambda at: left[at][1]))
    return curve


def falling_by_keeping(alike, words, parts):  # type: ignore[no-untyped-def]
    kept = np.argsort(parts)
    return torch.tensor(
        [alike([words[at] for at in sorted(kept[: len(words) - count])]) for count in range(len(words))]
    )


def falling_in_turn(alike, words, parts):  # type: ignore[no-untyped-def]
    """Only one word is out at a time."""
    order = np.argsort(-parts)
    return [alike(words), *(alike(without(words, at)) for at in order[:-1])]


def falling_by_word(alike, words, parts):  # type: ignore[no-untyped-def]
    """Copies of a word go with it."""
    order = [words[at] for at in np.argsort(-parts)]
    return [alike([word for word in words if word not in order[:count]]) for count in range(len(words))]


def falling_in_the_order_of_parts(alike, words, parts):  # type: ignore[no-untyped-def]
    """What is left stands in another order than in the sentence."""
    order = np.argsort(-parts)
    return [alike([words[at] for at in order[count:]]) for count in range(len(words))]


def interval(one, other, quantile=1.96, ddof=1):  # type: ignore[no-untyped-def]
    gaps = np.asarray(one) - np.asarray(other)
    half = quantile * gaps.std(ddof=ddof) / np.sqrt(len(gaps))
    return gaps.mean() - half, gaps.mean() + half


def interval_by_student(one, other):  # type: ignore[no-untyped-def]
    return stats.ttest_rel(one, other).confidence_interval()


def unpaired(one, other):  # type: ignore[no-untyped-def]
    half = 1.96 * np.sqrt(one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other))
    return one.mean() - other.mean() - half, one.mean() - other.mean() + half


def hits(parts, planted):  # type: ignore[no-untyped-def]
    return np.mean([each.argmax() == at for each, at in zip(parts, planted, strict=True)])


def each(how):  # type: ignore[no-untyped-def]
    """A mean over the sentences of something else than hits."""
    return lambda parts, planted: np.mean([how(p, at) for p, at in zip(parts, planted, strict=True)])


def hits_by_loops(parts, planted):  # type: ignore[no-untyped-def]
    found = 0
    for each, at in zip(parts, planted, strict=True):
        found += all(each[at] >= part for part in each)
    return found / len(parts)


RIGHT = {
    "12.1": [
        pairs_of_words,
        pairs_by_loops,
        lambda A, B: (
            torch.tensor(A) @ torch.tensor(B).T / torch.tensor(A).sum(0).norm() / torch.tensor(B).sum(0).norm()
        ),
        lambda A, B: np.einsum("ud,vd->uv", A / np.linalg.norm(A.sum(0)), B / np.linalg.norm(B.sum(0))),
    ],
    "12.2": [
        lost,
        lost_by_popping,
        lambda alike, words: torch.tensor(
            [
                alike(words) - alike([word for place, word in enumerate(words) if place != at])
                for at in range(len(words))
            ]
        ),
    ],
    "12.3": [
        lambda slope, x, steps: riemann(slope, x, middles(steps)),
        lambda slope, x, steps: riemann(slope, x, np.arange(1, steps + 1) / steps),
        lambda slope, x, steps: riemann(slope, x, np.arange(steps) / steps),
        lambda slope, x, steps: riemann(slope, x, np.linspace(0, 1, steps)),
        trapezoids,
        lambda slope, x, steps: (quad_vec(lambda t: slope(t * x), 0, 1)[0] * x).sum(1),
    ],
    "12.4": [falling, falling_by_deleting, falling_by_keeping],
    "12.5": [
        interval,
        interval_by_student,
        lambda one, other: interval(torch.tensor(one), torch.tensor(other), ddof=0),
        lambda one, other: stats.norm.interval(0.95, (one - other).mean(), stats.sem(one - other)),
    ],
    "12.6": [
        hits,
        hits_by_loops,
        lambda parts, planted: sum(np.argmax(p) == at for p, at in zip(parts, planted, strict=True)) / len(parts),
    ],
    "12.7": [0.05 ** (1 / 20), 0.86, np.exp(np.log(0.05) / 20), torch.tensor(0.8609)],
}
WRONG = {
    "12.1": [
        (lambda A, B: A @ B.T, "lengths"),
        (lambda A, B: A @ B.T / len(A) / len(B), "lengths"),
        (lambda A, B: A @ B.T / np.linalg.norm(A, axis=1)[:, None] / np.linalg.norm(B, axis=1), "of the words"),
        (lambda A, B: A @ B.T / np.linalg.norm(A.mean(0)) / np.linalg.norm(B.mean(0)), "means"),
        (lambda A, B: B @ A.T / np.linalg.norm(A.sum(0)) / np.linalg.norm(B.sum(0)), "changed places"),
        (lambda A, B: pairs_of_words(A, B).sum(), "one number"),
        (lambda A, B: pairs_of_words(A, B).sum(1), "row"),
        (lambda A, B: A @ B.T / np.linalg.norm(A) / np.linalg.norm(B), "whole table"),
        (lambda A, B: A @ B.T / (A @ B.T).sum(), "shares"),
        (lambda A, B: A @ B.T / np.linalg.norm(A.sum(0)), "one of the two"),
        (lambda A, B: A @ B.T / (A.sum(0) ** 2).sum() / (B.sum(0) ** 2).sum(), "root"),
        (lambda A, B: np.abs(pairs_of_words(A, B)), "sign"),
        (lambda A, B: np.exp(A @ B.T) / np.exp(A @ B.T).sum(), "softmax"),
    ],
    "12.2": [
        (lambda alike, words: -lost(alike, words), "turned round"),
        (lambda alike, words: [alike(without(words, at)) for at in range(len(words))], "that is what is left"),
        (lambda alike, words: [alike([word]) for word in words], "alone"),
        (lambda alike, words: [alike(words) - alike([w for w in words if w != word]) for word in words], "copies"),
        (lambda alike, words: [alike(words) - alike([word]) for word in words], "all the others"),
        (lambda alike, words: np.abs(lost(alike, words)), "sign"),
        (lambda alike, words: lost(alike, words) / lost(alike, words).sum(), "share"),
        (lambda alike, words: lost(alike, words) / alike(words), "share of the similarity"),
        (lambda alike, words: lost(alike, words).sum(), "one number"),
        (lambda alike, words: [alike(words) - alike(words[at + 1 :]) for at in range(len(words) - 1)] + [alike(words)],
         "before it"),
        (lambda alike, words: [alike(words) - alike(words[:at]) for at in range(len(words))], "after it"),
        (lambda alike, words: lost(alike, words)[::-1], "order"),
        (lambda alike, words: [alike(words)] * len(words), "whole sentence"),
        (lambda alike, words: [alike(words[: at + 1]) - alike(words[:at]) for at in range(len(words))], "word by word"),
    ],
    "12.3": [
        (lambda slope, x, steps: (slope(x) * x).sum(1), "gradient times input"),
        (lambda slope, x, steps: (slope(0 * x) * x).sum(1), "at the start"),
        (lambda slope, x, steps: (slope(0.5 * x) * x).sum(1), "half way"),
        (lambda slope, x, steps: riemann(slope, x, middles(steps)) * steps, "mean"),
        (lambda slope, x, steps: np.mean([slope(t * x) for t in middles(steps)], axis=0).sum(1), "times x"),
        (lambda slope, x, steps: np.linalg.norm(np.mean([slope(t * x) for t in middles(steps)], axis=0), axis=1),
         "length of the slope"),
        (lambda slope, x, steps: np.abs(np.mean([slope(t * x) for t in middles(steps)], axis=0) * x).sum(1), "sign"),
        (lambda slope, x, steps: (np.mean([slope(t * x) for t in middles(steps)], axis=0) * x).sum(0), "of each word"),
        (lambda slope, x, steps: (np.mean([slope(t * x) for t in middles(steps)], axis=0) * x).sum(), "one number"),
        (lambda slope, x, steps: np.mean([slope(t * x) for t in middles(steps)], axis=0) * x, "add up"),
        (lambda slope, x, steps: (np.mean([slope(t * x) * t * x for t in middles(steps)], axis=0)).sum(1), "x itself"),
        (lambda slope, x, steps: -riemann(slope, x, middles(steps)), "turned round"),
        (lambda slope, x, steps: riemann(slope, x, np.arange(steps)), "from 0 to 1"),
        (lambda slope, x, steps: (np.mean([slope(t * x) for t in middles(steps)], axis=0) * x).mean(1), "sum"),
    ],
    "12.4": [
        (lambda alike, words, parts: falling(alike, words, parts, sign=1), "smallest parts first"),
        (falling_in_turn, "one word is out at a time"),
        (falling_by_word, "copies"),
        (falling_in_the_order_of_parts, "order of the sentence"),
        (lambda alike, words, parts: falling(alike, words, parts, counts=range(1, len(words))), "nothing taken out"),
        (lambda alike, words, parts: falling(alike, words, parts, counts=range(len(words) - 1)), "all but one"),
        (lambda alike, words, parts: falling(alike, words, np.abs(parts)), "negative"),
        (lambda alike, words, parts: falling(alike, words, -np.arange(len(words))), "from the left"),
        (lambda alike, words, parts: falling(alike, words, parts)[::-1], "backwards"),
        (lambda alike, words, parts: alike(words) - falling(alike, words, parts), "what is lost"),
        (lambda alike, words, parts: falling(alike, words, parts).mean(), "the curve"),
        (lambda alike, words, parts: alike(words) - np.cumsum(np.sort(parts)[::-1]), "promise"),
        (lambda alike, words, parts: falling(alike, words, parts) / alike(words), "not divided"),
        (lambda alike, words, parts: [alike([words[at] for at in sorted(np.argsort(-parts)[: count + 1])])
                                      for count in range(len(words))], "put in"),
    ],
    "12.5": [
        (unpaired, "paired"),
        (lambda one, other: (lambda low, high: (-high, -low))(*interval(one, other)), "other less one"),
        (lambda one, other: ((one - other).mean() - 1.96 * (one - other).std(ddof=1),
                             (one - other).mean() + 1.96 * (one - other).std(ddof=1)), "root of n"),
        (lambda one, other: interval(one, other, quantile=1.0), "1.96"),
        (lambda one, other: interval(one, other)[::-1], "changed places"),
        (lambda one, other: tuple(np.quantile(one - other, [0.025, 0.975])), "single pairs"),
        (lambda one, other: (one - other).mean(), "two things were expected"),
        (lambda one, other: (0.0, interval(one, other)[1] - (one - other).mean()), "mean"),
        (lambda one, other: interval(one, np.zeros(len(one))), "other"),
        (lambda one, other: interval(one, other, quantile=2.576), "99"),
        (lambda one, other: interval(one, other, quantile=1.645), "90"),
        (lambda one, other: ((one - other).mean() - 1.96 * (one - other).var(ddof=1) / np.sqrt(len(one)),
                             (one - other).mean() + 1.96 * (one - other).var(ddof=1) / np.sqrt(len(one))), "variance"),
        (lambda one, other: ((one - other).mean() - 1.96 * (one - other).std() / len(one),
                             (one - other).mean() + 1.96 * (one - other).std() / len(one)), "root of n"),
    ],
    "12.6": [
        (each(lambda p, at: abs(p).argmax() == at), "negative"),
        (each(lambda p, at: p.argmin() == at), "smallest"),
        (lambda parts, planted: len(parts) * hits(parts, planted), "how many"),
        (lambda parts, planted: 1 - hits(parts, planted), "missed"),
        (each(lambda p, at: p[at] > 0), "above 0"),
        (each(lambda p, at: p[at]), "mean of its parts"),
        (each(lambda p, at: at in np.argsort(-p)[:3]), "three"),
        (each(lambda p, at: (p > p[at]).sum() + 1), "rank"),
        (lambda parts, planted: 100 * hits(parts, planted), "per cent"),
        (each(lambda p, at: p[at] > p.mean()), "above the mean"),
        (lambda parts, planted: np.mean([p[at] == max(p) for p in parts for at in planted if at < len(p)]), "its own"),
        (lambda parts, planted: [p.argmax() == at for p, at in zip(parts, planted, strict=True)], "one number"),
        (lambda parts, planted: np.mean([p.argmax() for p in parts]), "use planted"),
    ],
    "12.7": [
        (1.0, "seen"),
        (0.95, "of the interval"),
        (0.05, "chance"),
        (0.05**20, "root"),
        (0.95 ** (1 / 20), "0.05"),
        (0.95**20, "0.05"),
        (1 - 0.05 ** (1 / 20), "misses"),
        (3 / 20, "misses"),
        (19 / 20, "one miss"),
        (86.1, "per cent"),
        (0.05 / 20, "times"),
        (1 - 0.05 / 20, "times"),
        (0.5, "p²⁰"),
        ("many", "numbers were expected"),
    ],
}  # fmt: skip
