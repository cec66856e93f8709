"""Notebook 12: explaining why two sentences are alike, and testing an explanation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.linalg import norm

from labkit.course.exercise import Unnamed, check, close, find_mistake, known_mistake, number, several

Alike = Callable[[Sequence[str]], float]
SENTENCES = (
    ("the", "cat", "sees", "the", "dog"),
    ("how", "do", "I", "feed", "my", "old", "cat"),
    ("a", "cat", "a", "dog"),
)


def likeness(random: np.random.Generator) -> Alike:
    """A similarity of some words to a sentence that stays the same: no sum over words, and their order counts."""
    known = sorted({word for sentence in SENTENCES for word in sentence})
    worth = dict(zip(known, random.uniform(0.1, 0.6, len(known)) * random.choice([-1, 1], len(known)), strict=True))

    def alike(words: Sequence[str]) -> float:
        return float(np.tanh(0.2 + sum(worth[word] * (1 + 0.1 * place) for place, word in enumerate(words))))

    return alike


@check("12.1")
def check_pairs_of_words(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """A Bᵀ over the lengths of the two sums."""
    cases = [
        (random.normal(size=(n, d)) + 0.4, random.normal(size=(m, d)) + 0.4)
        for n, m, d in ((3, 4, 5), (5, 2, 4), (4, 6, 3))
    ]

    def right(A: np.ndarray, B: np.ndarray) -> Any:
        return A @ B.T / norm(A.sum(0)) / norm(B.sum(0))

    mistakes = (
        (lambda A, B: A @ B.T, "those are parts of a dot product: divide by the lengths of the two sentences' vectors"),
        (lambda A, B: A @ B.T / norm(A, axis=1)[:, None] / norm(B, axis=1),
         "those are cosines of the words: divide by the lengths of the two sentences, one number each"),
        (lambda A, B: A @ B.T / norm(A) / norm(B.sum(0)), lambda A, B: A @ B.T / norm(A) / norm(B),
         "`np.linalg.norm(A)` takes the whole table as one row of numbers: the length of `A.sum(0)` is meant"),
        (lambda A, B: A @ B.T / norm(A.sum(0)), lambda A, B: A @ B.T / norm(B.sum(0)),
         "only one of the two lengths is there"),
        (lambda A, B: A @ B.T / norm(A.mean(0)) / norm(B.mean(0)),
         "sums above the line, and means below: take the same of both"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.2")
def check_left_out(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """s(words) - s(words without the one at each place)."""
    cases = [(likeness(random), list(words)) for words in SENTENCES]

    def each(how: Callable[[Alike, list[str], int], float]) -> Callable[..., Any]:
        return lambda alike, words: np.array([how(alike, words, at) for at in range(len(words))])

    def right(alike: Alike, words: list[str]) -> Any:
        return each(lambda alike, words, at: alike(words) - alike(words[:at] + words[at + 1 :]))(alike, words)

    mistakes = (
        (lambda alike, words: alike(words) - right(alike, words),
         "that is what is left without the word; take it off the whole, and you have what is lost"),
        (each(lambda alike, words, at: alike([words[at]])),
         each(lambda alike, words, at: alike(words) - alike([words[at]])),
         "that is the word alone; leave one word out of the whole"),
        (each(lambda alike, words, at: alike(words) - alike([word for word in words if word != words[at]])),
         "where a word stands twice, its copies go with it in yours: leave out by place, not by name"),
        (each(lambda alike, words, at: alike(words) - alike(words[at + 1 :])),
         each(lambda alike, words, at: alike(words) - alike(words[:at])),
         "yours leaves out more than one word: `words[:at] + words[at + 1:]`"),
        (each(lambda alike, words, at: alike(words) - alike(words[:at] + words[at:])),
         "nothing is left out in yours: go on after the word, `words[at + 1:]`"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.3")
def check_integrated(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ_d x ∫ slope(t x) dt, by any rule that is close with this many steps."""

    def bent(d: int) -> Callable[[np.ndarray], np.ndarray]:
        """The slope of f(x) = tanh(Σ_i w · x_i + ½ Σ_k u_k (Σ_i x_ik)²) for word vectors x (n, d), which is bent."""
        w, u = random.uniform(0.2, 0.6, size=(2, d))

        def slope(x: np.ndarray) -> np.ndarray:
            whole = np.asarray(x).sum(-2, keepdims=True)
            height = np.tanh((whole * w).sum((-1, -2)) + (u * whole**2).sum((-1, -2)) / 2)
            return np.asarray((1 - height[..., None, None] ** 2) * (w + u * whole) + 0 * x)

        return slope

    cases = [
        (bent(d), random.permutation(np.linspace(-0.6, 0.9, n * d)).reshape(n, d), steps)
        for n, d, steps in ((4, 3, 400), (3, 5, 500), (5, 2, 450))
    ]

    def mean(slope: Any, x: np.ndarray, steps: int) -> np.ndarray:
        return np.mean([slope(t * x) for t in (np.arange(steps) + 0.5) / steps], axis=0)

    def right(slope: Any, x: np.ndarray, steps: int) -> Any:
        return (mean(slope, x, steps) * x).sum(1)

    mistakes = (
        (lambda f, x, steps: (f(x) * x).sum(1),
         "that is gradient times input, the slope at the end alone: take the mean of those on the way"),
        (lambda f, x, steps: right(f, x, steps) * steps,
         "a sum over the steps; each is 1/steps wide, so take the mean"),
        (lambda f, x, steps: mean(f, x, steps).sum(1), "the slopes are right; times x is missing"),
        (lambda f, x, steps: (mean(f, x, steps) * x).sum(0), "a word is a row: add up over d, axis 1"),
        (lambda f, x, steps: right(f, x, steps) / x.shape[1], "a part is the sum over d, not the mean"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=0.01)


@check("12.4")
def check_falling(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """s of the words left when the first 0, 1, ... n - 1 of the order by parts are out."""
    cases = [
        (likeness(random), list(words), random.permutation(np.linspace(-0.4, 0.3, len(words)))) for words in SENTENCES
    ]

    def curve(out: Callable[[Any, int], Any], counts: Callable[[int], Any] = range) -> Callable[..., Any]:
        """The similarity with the places that `out` gives of the parts and a count taken out."""
        return lambda alike, words, parts: np.array(
            [
                alike([word for at, word in enumerate(words) if at not in out(parts, count)])
                for count in counts(len(words))
            ]
        )

    def largest(parts: Any, count: int) -> list[int]:
        return np.argsort(-parts)[:count].tolist()

    def right(alike: Alike, words: list[str], parts: np.ndarray) -> Any:
        return curve(largest)(alike, words, parts)

    mistakes = (
        (curve(lambda parts, count: largest(-parts, count)),
         "the smallest parts first: turn it round, `np.argsort(-parts)`"),
        (curve(lambda parts, count: largest(parts, count)[-1:]), curve(lambda parts, at: [np.argsort(-parts)[at]]),
         "only one word is out at a time in yours: the second goes while the first stays out"),
        (curve(largest, lambda n: range(1, n + 1)), curve(largest, lambda n: range(1, n)),
         "begin with nothing taken out: the first number is the whole sentence's"),
        (curve(largest, lambda n: range(n + 1)), curve(largest, lambda n: range(n - 1)),
         "as many numbers as words: the last is that of all but one taken out"),
        (curve(lambda parts, count: largest(abs(parts), count)),
         "a word with a negative part keeps the two apart: it goes last, not first; do not take sizes"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.5")
def check_interval(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """mean(one - other) ∓ 1.96 std / √n."""
    cases = []
    for n, middle in ((400, 1.5), (500, -0.8), (450, 0.6)):
        hard = random.normal(0, 30, size=n)
        cases.append((20 + middle + hard + random.normal(0, 9, size=n), 20 + hard + random.normal(0, 4, size=n)))

    def by(half: Callable[..., Any]) -> Callable[..., Any]:
        """An interval with another half of its width, of both and of their gaps."""
        return lambda one, other: tuple(
            (one - other).mean() + side * half(one, other, (one - other).std() / np.sqrt(len(one))) for side in (-1, 1)
        )

    def right(one: np.ndarray, other: np.ndarray) -> Any:
        return by(lambda one, other, error: 1.96 * error)(one, other)

    mistakes = (
        (by(lambda one, other, error: 1.96 * np.sqrt((one.var() + other.var()) / len(one))),
         "unpaired: the pairs are the same for both, so look at the differences alone"),
        (lambda one, other: right(other, one), "that is of other less one; one less other is asked for"),
        (by(lambda one, other, error: 1.96 * error * np.sqrt(len(one))),
         "that is where single pairs lie; the error of their mean is smaller by the root of n"),
        (by(lambda one, other, error: 1.96 * error / np.sqrt(len(one))),
         "divided by n; the error of a mean goes down with the root of n"),
        (by(lambda one, other, error: 1.645 * error), by(lambda one, other, error: error),
         "95 % lie within 1.96 standard errors, 2.5 % beyond either end"),
    )  # fmt: skip
    read = several(2, number, "two things were expected, as in `return low, high`")
    return find_mistake(answer, right, cases, mistakes, read=read, tolerance=0.02)


@check("12.6")
def check_hits(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of sentences whose largest part stands at the planted place."""
    cases = []
    for count in (9, 11, 13):
        parts = [random.uniform(-0.3, 0.5, size=int(size)) for size in random.integers(7, 11, size=count)]
        planted = []
        for row, each in enumerate(parts):  # hits, misses, and a part that is large and negative
            order = random.permutation(len(each))
            each[order[:3]] = 1.4, 1.0, -2.0 if row % 3 else -0.5
            planted.append(int(order[(0, 1, 0, 3, 2)[row % 5]]))
        cases.append((parts, planted))

    def of(how: Callable[[np.ndarray, int], Any]) -> Callable[..., Any]:
        return lambda parts, planted: np.mean([how(each, at) for each, at in zip(parts, planted, strict=True)])

    def right(parts: list[np.ndarray], planted: list[int]) -> Any:
        return of(lambda part, at: part.argmax() == at)(parts, planted)

    mistakes = (
        (of(lambda part, at: abs(part).argmax() == at),
         "a negative part keeps the two apart: the largest is meant, not the one of the largest size"),
        (of(lambda part, at: part.argmin() == at), "that is the smallest part"),
        (lambda parts, planted: right(parts, planted) * len(parts),
         "that is how many; divide by the number of sentences"),
        (of(lambda part, at: part.argmax() + 1 == at), "places are counted from 0 in both: add nothing"),
        (of(lambda part, at: part[at] > 0), "that its part is above 0 is not enough: is it the largest?"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("12.7")
def check_all_hit(answer: Any, random: np.random.Generator) -> str | None:
    """p²⁰ = 0.05."""
    given = number(answer)
    mistakes = (
        (1.0, "that is the share that was seen; a smaller rate can have given it, too"),
        (0.95, "that is the level of the interval, or a rate of one miss in 20: which p has p²⁰ = 0.05?"),
        (0.05, "that is the chance of what was seen; the rate that has it is asked for"),
        (0.95 ** (1 / 20), "hits in a row multiply: p times itself, 20 times, is 0.05, and not 0.95"),
        (1 - 0.05 ** (1 / 20), "that is the share of misses: 1 less it"),
    )
    general = Unnamed("solve p²⁰ = 0.05 for p")
    return None if close(given, 0.05 ** (1 / 20), 2e-3) else known_mistake(given, mistakes, 4e-4) or general
