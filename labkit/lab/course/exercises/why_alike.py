"""Notebook 12: explaining why two sentences are alike, and testing an explanation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from labkit.lab.course.exercise import Unnamed, check, close, find_mistake, known_mistake, number, several

Alike = Callable[[Sequence[str]], float]
SENTENCES = (
    ("the", "cat", "sees", "the", "dog"),
    ("how", "do", "I", "feed", "my", "old", "cat"),
    ("a", "cat", "a", "dog"),
)


def likeness(seed: int) -> Alike:
    """A similarity of some words to a sentence that stays the same: no sum over words, and their order counts."""
    draw = np.random.default_rng(seed)
    known = sorted({word for sentence in SENTENCES for word in sentence})
    worth = dict(zip(known, draw.uniform(-0.5, 0.9, size=len(known)), strict=True))

    def alike(words: Sequence[str]) -> float:
        found = sum(worth[word] * (1 + 0.1 * place) for place, word in enumerate(words))
        return float(np.tanh(0.2 + found))

    return alike


def all_but(words: Sequence[str], at: int) -> list[str]:
    """The words without the one at this place."""
    return [*words[:at], *words[at + 1 :]]


@check("12.1")
def check_pairs_of_words(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """A Bᵀ over the lengths of the two sums."""
    draw = np.random.default_rng(12)
    cases = [
        (draw.normal(size=(n, d)) + 0.4, draw.normal(size=(m, d)) + 0.4)
        for n, m, d in ((3, 4, 5), (5, 2, 4), (4, 6, 3))
    ]
    norm = np.linalg.norm

    def right(A: np.ndarray, B: np.ndarray) -> Any:
        return A @ B.T / norm(A.sum(0)) / norm(B.sum(0))

    mistakes = (
        (lambda A, B: A @ B.T, lambda A, B: A @ B.T / len(A) / len(B),
         "those are parts of a dot product: a cosine divides by the lengths of the two sentences' vectors"),
        (lambda A, B: A @ B.T / norm(A, axis=1)[:, None] / norm(B, axis=1),
         lambda A, B: A @ B.T / norm(A, axis=1)[:, None] / norm(B, axis=1) / len(A) / len(B),
         "those are cosines of the words: divide by the lengths of the two sentences, one number each"),
        (lambda A, B: A @ B.T / norm(A.mean(0)) / norm(B.mean(0)),
         "sums above the line, and means below: take the same of both"),
        (lambda A, B: right(A, B).T, "words of a and of b have changed places: a row is a word of a"),
        (lambda A, B: right(A, B).sum(), "that is the similarity, one number; its parts are asked for, (n, m)"),
        (lambda A, B: right(A, B).sum(1), lambda A, B: right(A, B).sum(0), lambda A, B: right(A, B).sum(1) / 2,
         "that is what a row or a column adds up to; each pair of words is asked for, (n, m)"),
        (lambda A, B: A @ B.T / norm(A) / norm(B),
         "`np.linalg.norm(A)` takes the whole table as one row of numbers: the length of `A.sum(0)` is meant"),
        (lambda A, B: A @ B.T / (A @ B.T).sum(),
         "those are shares of 1; their sum must be the similarity"),
        (lambda A, B: A @ B.T / norm(A.sum(0)), lambda A, B: A @ B.T / norm(B.sum(0)),
         "only one of the two lengths is there"),
        (lambda A, B: A @ B.T / norm(A.sum(0)) ** 2 / norm(B.sum(0)) ** 2,
         "a length is the root of the sum of the squares"),
        (lambda A, B: A @ B.T / np.sqrt(norm(A.sum(0)) * norm(B.sum(0))),
         "the root is taken twice: a length is a root already"),
        (lambda A, B: abs(right(A, B)), "a part has a sign: some pairs of words keep two sentences apart"),
        (lambda A, B: np.exp(A @ B.T) / np.exp(A @ B.T).sum(),
         "that is a softmax; nothing is turned into shares here"),
        (lambda A, B: right(A, B) / len(A) / len(B), lambda A, B: right(A, B) / (len(A) * len(B)) ** 0.5,
         "the numbers of words cancel: they stand above and below the line"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.2")
def check_left_out(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """s(words) - s(words without the one at each place)."""
    cases = [(likeness(seed), list(words)) for seed, words in enumerate(SENTENCES, 3)]

    def each(how: Callable[[Alike, list[str], int], float]) -> Callable[..., Any]:
        return lambda alike, words: np.array([how(alike, words, at) for at in range(len(words))])

    right_each = each(lambda alike, words, at: alike(words) - alike(all_but(words, at)))

    def right(alike: Alike, words: list[str]) -> Any:
        return right_each(alike, words)

    mistakes = (
        (lambda alike, words: -right(alike, words),
         "turned round: what is lost is the similarity with the word less that without it"),
        (each(lambda alike, words, at: alike(all_but(words, at))),
         "that is what is left without the word; take it off the whole, and you have what is lost"),
        (each(lambda alike, words, at: alike([words[at]])),
         "that is the word alone; what is asked for is the sentence without it"),
        (each(lambda alike, words, at: alike(words) - alike([word for word in words if word != words[at]])),
         "where a word stands twice, its copies go with it in yours: leave out by place, not by name"),
        (each(lambda alike, words, at: alike(words) - alike([words[at]])),
         "that is what is lost without all the others; leave out one word"),
        (lambda alike, words: abs(right(alike, words)),
         "a part has a sign: without some words two sentences are more alike"),
        (lambda alike, words: right(alike, words) / right(alike, words).sum(),
         "those are shares of their sum; it is no whole of which they could be shares: leave them as they are"),
        (lambda alike, words: right(alike, words) / alike(words),
         "that is a share of the similarity; a difference is asked for"),
        (lambda alike, words: right(alike, words).sum(), lambda alike, words: right(alike, words).mean(),
         "one number came; one for each word is asked for"),
        (each(lambda alike, words, at: alike(words) - (alike(words[at + 1 :]) if at < len(words) - 1 else 0.0)),
         each(lambda alike, words, at: alike(words) - alike(words[at + 1 :])),
         "yours leaves out what stands before it, too: add `words[:at]`"),
        (each(lambda alike, words, at: alike(words) - alike(words[:at])),
         "yours leaves out what stands after it, too: add `words[at + 1:]`"),
        (lambda alike, words: right(alike, words)[::-1], "the order of the words is turned round"),
        (each(lambda alike, words, at: alike(words)), "that is the whole sentence each time: leave a word out"),
        (each(lambda alike, words, at: alike(words[: at + 1]) - alike(words[:at])),
         "that is the sentence built up word by word; take one word out of the whole"),
        (each(lambda alike, words, at: alike(words) - alike(all_but(words, (at + 1) % len(words)))),
         each(lambda alike, words, at: alike(words) - alike(all_but(words, at - 1 if at else len(words) - 1))),
         "the word beside it is left out in yours: count places from 0"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


def bent(seed: int, d: int) -> Callable[[np.ndarray], np.ndarray]:
    """The slope of f(x) = tanh(Σ_i w · x_i + ½ Σ_k u_k (Σ_i x_ik)²) for word vectors x (n, d), which is bent."""
    draw = np.random.default_rng(seed)
    w, u = draw.uniform(0.1, 0.6, size=(2, d))

    def slope(x: np.ndarray) -> np.ndarray:
        whole = np.asarray(x).sum(-2, keepdims=True)
        height = np.tanh((whole * w).sum((-1, -2)) + (u * whole**2).sum((-1, -2)) / 2)
        along: np.ndarray = (1 - height[..., None, None] ** 2) * (w + u * whole) + 0 * x
        return along

    return slope


@check("12.3")
def check_integrated(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ_d x ∫ slope(t x) dt, by any rule that is close with this many steps."""
    draw = np.random.default_rng(31)
    sizes = ((4, 3, 400), (3, 5, 500), (5, 2, 450))
    cases = [
        (bent(seed, d), draw.uniform(-0.7, 0.9, size=(n, d)), steps) for seed, (n, d, steps) in enumerate(sizes, 20)
    ]

    def mean(slope: Any, x: np.ndarray, way: np.ndarray) -> np.ndarray:
        return np.mean([slope(t * x) for t in way], axis=0)

    def middles(steps: int) -> np.ndarray:
        return (np.arange(steps) + 0.5) / steps

    def right(slope: Any, x: np.ndarray, steps: int) -> Any:
        return (mean(slope, x, middles(steps)) * x).sum(1)

    mistakes = (
        (lambda f, x, steps: (f(x) * x).sum(1),
         "that is gradient times input, the slope at the end alone: take the mean of those on the way"),
        (lambda f, x, steps: (f(0 * x) * x).sum(1), "that is the slope at the start alone, at zeros"),
        (lambda f, x, steps: (f(0.5 * x) * x).sum(1),
         "that is the slope half way alone, at the mean place; the mean of many slopes is asked for"),
        (lambda f, x, steps: right(f, x, steps) * steps,
         "a sum over the steps; each is 1/steps wide, so take the mean"),
        (lambda f, x, steps: mean(f, x, middles(steps)).sum(1), "the slopes are right; times x is missing"),
        (lambda f, x, steps: np.linalg.norm(mean(f, x, middles(steps)), axis=1),
         "that is the length of the slope, which has no sign: multiply by x, and add up over d"),
        (lambda f, x, steps: np.abs(mean(f, x, middles(steps)) * x).sum(1),
         lambda f, x, steps: np.abs(right(f, x, steps)),
         "the sign is lost: some words make two sentences less alike"),
        (lambda f, x, steps: (mean(f, x, middles(steps)) * x).sum(0),
         "a part of each word is asked for: sum along axis 1, over the numbers of its vector"),
        (lambda f, x, steps: right(f, x, steps).sum(),
         "one number came, the sum of all; a part of each word is asked for"),
        (lambda f, x, steps: mean(f, x, middles(steps)) * x,
         "right for each number of each vector; add up each word's, `.sum(1)`"),
        (lambda f, x, steps: np.mean([f(t * x) * t * x for t in middles(steps)], axis=0).sum(1),
         "the slope is taken at t x, but the way is x itself: multiply by x, not by t x"),
        (lambda f, x, steps: -right(f, x, steps), "turned round: the way goes from zeros to x"),
        (lambda f, x, steps: (mean(f, x, np.arange(steps)) * x).sum(1),
         lambda f, x, steps: (mean(f, x, np.arange(1, steps + 1)) * x).sum(1),
         "the places run from 0 to 1, shares of the way: divide by steps"),
        (lambda f, x, steps: (mean(f, x, middles(steps)) * x).mean(1),
         "a sum over the numbers of a vector, not a mean"),
        (lambda f, x, steps: np.linalg.norm(mean(f, x, middles(steps)) * x, axis=1),
         "add up the numbers of each word, with their signs; no length is asked for"),
        (lambda f, x, steps: (mean(f, x, middles(steps)) * x**2).sum(1), "times x once"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=0.01)


@check("12.4")
def check_falling(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """s of the words left when the first 0, 1, ... n - 1 of the order by parts are out."""
    draw = np.random.default_rng(41)
    cases = [
        (likeness(seed), list(words), draw.permutation(np.linspace(-0.4, 0.3, len(words))))
        for seed, words in enumerate(SENTENCES, 5)
    ]

    def curve(alike: Alike, words: list[str], order: Any, counts: Any = None) -> np.ndarray:
        places = [int(at) for at in order]
        counts = range(len(words)) if counts is None else counts
        return np.array([alike([w for at, w in enumerate(words) if at not in places[:count]]) for count in counts])

    def right(alike: Alike, words: list[str], parts: np.ndarray) -> Any:
        return curve(alike, words, np.argsort(-parts))

    def by_name(alike: Alike, words: list[str], parts: np.ndarray) -> Any:
        names = [words[at] for at in np.argsort(-parts)]
        return [alike([word for word in words if word not in names[:count]]) for count in range(len(words))]

    def in_turn(alike: Alike, words: list[str], parts: np.ndarray) -> Any:
        return [alike(words), *(alike(all_but(words, int(at))) for at in np.argsort(-parts)[:-1])]

    mistakes = (
        (lambda f, w, p: curve(f, w, np.argsort(p)), "the smallest parts first: turn it round, `np.argsort(-parts)`"),
        (in_turn, "only one word is out at a time in yours: the second goes while the first stays out"),
        (by_name, "where a word stands twice, its copies go with it in yours: take out by place"),
        (lambda f, w, p: [f([w[at] for at in np.argsort(-p)[count:]]) for count in range(len(w))],
         lambda f, w, p: [f([w[at] for at in np.argsort(p)[: len(w) - count]]) for count in range(len(w))],
         "what is left must stand in the order of the sentence; yours stands in the order of the parts"),
        (lambda f, w, p: curve(f, w, np.argsort(-p), range(1, len(w))),
         lambda f, w, p: curve(f, w, np.argsort(-p), range(1, len(w) + 1)),
         "begin with nothing taken out: the first number is the whole sentence's"),
        (lambda f, w, p: curve(f, w, np.argsort(-p), range(len(w) - 1)),
         lambda f, w, p: curve(f, w, np.argsort(-p), range(len(w) + 1)),
         "as many numbers as words: the last is that of all but one taken out"),
        (lambda f, w, p: curve(f, w, np.argsort(-abs(p))),
         "a word with a negative part keeps the two apart: it goes last, not first; do not take sizes"),
        (lambda f, w, p: curve(f, w, np.arange(len(w))), "the parts are not looked at: words go from the left"),
        (lambda f, w, p: curve(f, w, np.argsort(np.argsort(-p))),
         "sorted twice: those are ranks; `np.argsort(-parts)` has the places"),
        (lambda f, w, p: right(f, w, p)[::-1], "backwards: the whole sentence comes first"),
        (lambda f, w, p: f(w) - right(f, w, p), "that is what is lost; the similarity that is left is asked for"),
        (lambda f, w, p: right(f, w, p).mean(), "one number came; the curve is asked for, a number for each count"),
        (lambda f, w, p: f(w) - np.cumsum(np.sort(p)[::-1]),
         lambda f, w, p: f(w) - np.concatenate([[0.0], np.cumsum(np.sort(p)[::-1])[:-1]]),
         "that is what the parts promise; ask `alike` what is left"),
        (lambda f, w, p: right(f, w, p) / f(w), "the similarity as it is, not divided by the first"),
        (lambda f, w, p: [f([w[at] for at in sorted(np.argsort(-p)[: count + 1])]) for count in range(len(w))],
         lambda f, w, p: [f([w[at] for at in sorted(np.argsort(-p)[:count])]) for count in range(len(w))],
         "yours has the words put in one by one; take them out"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.5")
def check_interval(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """mean(one - other) ∓ 1.96 std / √n."""
    draw = np.random.default_rng(51)
    cases = []
    for n, middle in ((400, 1.5), (500, -0.8), (450, 0.6)):
        hard = draw.normal(0, 30, size=n)
        cases.append((20 + middle + hard + draw.normal(0, 9, size=n), 20 + hard + draw.normal(0, 4, size=n)))

    def around(middle: Any, half: Any) -> tuple[Any, Any]:
        return middle - half, middle + half

    def by(how: Callable[[np.ndarray], Any]) -> Callable[..., Any]:
        """An interval with another half, of the gaps."""
        return lambda one, other: around((one - other).mean(), how(one - other))

    def right(one: np.ndarray, other: np.ndarray) -> Any:
        gaps = one - other
        return around(gaps.mean(), 1.96 * gaps.std(ddof=1) / np.sqrt(len(gaps)))

    def unpaired(one: np.ndarray, other: np.ndarray) -> Any:
        return around(one.mean() - other.mean(), 1.96 * np.sqrt(one.var() / len(one) + other.var() / len(other)))

    def flipped(one: np.ndarray, other: np.ndarray) -> Any:
        low, high = right(one, other)
        return -high, -low

    mistakes = (
        (unpaired, "unpaired: the pairs are the same for both, so look at the differences alone"),
        (flipped, "that is of other less one; one less other is asked for"),
        (by(lambda g: 1.96 * g.std()),
         "that is where single pairs lie; the error of their mean is smaller by the root of n"),
        (by(lambda g: 1.96 * g.std() / len(g)), "divided by n; the error of a mean goes down with the root of n"),
        (by(lambda g: g.std() / np.sqrt(len(g))), "that is one standard error; 95 % lie within 1.96 of them"),
        (lambda one, other: right(one, other)[::-1], "low and high have changed places"),
        (lambda one, other: tuple(np.quantile(one - other, [0.025, 0.975])),
         "that is where 95 % of the single pairs lie; the mean of all is known better"),
        (lambda one, other: (0.0, 1.96 * (one - other).std() / np.sqrt(len(one))),
         lambda one, other: around(0.0, 1.96 * (one - other).std() / np.sqrt(len(one))),
         "the interval lies around the mean difference, which is missing"),
        (lambda one, other: (lambda half: (half, half))(1.96 * (one - other).std() / np.sqrt(len(one))),
         lambda one, other: ((one - other).mean(), 1.96 * (one - other).std() / np.sqrt(len(one))),
         "two ends are asked for: mean - half and mean + half"),
        (lambda one, other: right(one, 0 * one), "the other is not looked at"),
        (by(lambda g: 2.576 * g.std() / np.sqrt(len(g))), "that is an interval of 99 %: 95 % has 1.96"),
        (by(lambda g: 1.645 * g.std() / np.sqrt(len(g))), "that is an interval of 90 %: 95 % has 1.96 to both sides"),
        (by(lambda g: 1.96 * g.var(ddof=1) / np.sqrt(len(g))), by(lambda g: 1.96 * g.var(ddof=1) / len(g)),
         "with the variance in the place of its root, the standard deviation"),
        (lambda one, other: around((one + other).mean(), 1.96 * (one + other).std() / np.sqrt(len(one))),
         "the difference of the two is asked for, and you add them"),
        (by(lambda g: 1.96 * abs(g).std() / np.sqrt(len(g))),
         "the differences have signs, and these count in their spread, too"),
    )  # fmt: skip
    read = several(2, number, "two things were expected, as in `return low, high`")
    return find_mistake(answer, right, cases, mistakes, read=read, tolerance=0.02)


@check("12.6")
def check_hits(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of sentences whose largest part stands at the planted place."""
    draw = np.random.default_rng(61)
    cases = []
    for count in (9, 11, 13):
        parts = [draw.uniform(-0.3, 0.5, size=int(size)) for size in draw.integers(7, 11, size=count)]
        planted = []
        for row, each in enumerate(parts):  # hits, and misses of several kinds
            order = draw.permutation(len(each))
            each[order[:4]] = np.sort(draw.uniform(0.6, 1.4, size=4))
            each[order[4:6]] = 0.05, -2.0 if row % 3 else -0.5
            planted.append(int(order[(3, 2, 5, 3, 0, 4, 1)[row % 7]]))
        cases.append((parts, planted))

    def of(how: Callable[[np.ndarray, int], Any]) -> Callable[..., Any]:
        return lambda parts, planted: np.mean([how(each, at) for each, at in zip(parts, planted, strict=True)])

    def right(parts: list[np.ndarray], planted: list[int]) -> Any:
        return np.mean([each.argmax() == at for each, at in zip(parts, planted, strict=True)])

    mistakes = (
        (of(lambda p, at: abs(p).argmax() == at),
         "a negative part keeps the two apart: the largest is meant, not the one of the largest size"),
        (of(lambda p, at: p.argmin() == at), "that is the smallest part"),
        (lambda p, at: right(p, at) * len(p), "that is how many; divide by the number of sentences"),
        (lambda p, at: 1 - right(p, at), "that is how often it is missed"),
        (of(lambda p, at: p[at] > 0), "that its part is above 0 is not enough: is it the largest?"),
        (of(lambda p, at: p[at]), "that is the mean of its parts; how often it is the largest is asked for"),
        (of(lambda p, at: at in np.argsort(-p)[:3]), of(lambda p, at: at in np.argsort(-p)[:2]),
         "among the first two or three is not enough: is it the largest?"),
        (of(lambda p, at: (p > p[at]).sum() + 1), of(lambda p, at: (p > p[at]).sum()),
         "that is its mean rank; how often it is the first is asked for"),
        (lambda p, at: 100 * right(p, at), "as a share between 0 and 1, please, not in per cent"),
        (of(lambda p, at: p[at] > p.mean()), of(lambda p, at: p[at] >= np.median(p)),
         "above the mean is not enough: is it the largest?"),
        (lambda parts, planted: np.mean([p[at] == p.max() for p in parts for at in planted if at < len(p)]),
         "each sentence has its own word: go through both lists together, with `zip`"),
        (lambda parts, planted: np.mean([p.argmax() == planted[0] for p in parts]),
         "yours has the first sentence's word for all: go through both lists together, with `zip`"),
        (lambda parts, planted: np.mean([p.argmax() for p in parts]),
         "that is the mean of the places; use planted: is each its own sentence's?"),
        (of(lambda p, at: np.argsort(-p)[at] == 0),
         "`np.argsort` gives places, the smallest first: `argmax` is what you need"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.7")
def check_all_hit(answer: Any, random: np.random.Generator) -> str | None:
    """p²⁰ = 0.05."""
    given = number(answer)
    mistakes = (
        (1.0, "that is the share that was seen; a smaller rate can have given it, too"),
        (0.05**20, "that is a chance to the power of 20; take the 20th root"),
        (0.95, "that is the level of the interval, or a rate of one miss in 20: which p has p²⁰ = 0.05?"),
        (0.05, "that is the chance of what was seen; the rate that has it is asked for"),
        (0.95 ** (1 / 20), "hits in a row multiply: p times itself, 20 times, is 0.05, and not 0.95"),
        (0.95**20, "that is the chance of twenty hits at a rate of .95; the rate at which it is 0.05 is asked for"),
        (1 - 0.05 ** (1 / 20), "that is the share of misses: 1 less it"),
        (3 / 20, "that is the rule of thumb for the share of misses: 1 less it"),
        (0.85, "that is the rule of thumb, 1 - 3/n; solve p²⁰ = 0.05 itself"),
        (86.1, "as a share, please, not in per cent"),
        (0.05 / 20, "hits in a row multiply: p times itself, 20 times, is 0.05; nothing is divided by 20"),
        (0.5, "at .5 twenty hits in a row are one in a million: solve p²⁰ = 0.05"),
        (0.025 ** (1 / 20), "5 % below are asked for, all on one side"),
    )  # fmt: skip
    if close(given, 0.05 ** (1 / 20), 2e-3):
        return None
    return known_mistake(given, mistakes, 4e-4) or Unnamed("solve p²⁰ = 0.05 for p")
