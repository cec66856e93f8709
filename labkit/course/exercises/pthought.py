"""Notebook 05: eq. 10, table B.9, P-coherence, collapse, distances and decoding."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.linalg import norm
from scipy.special import log_softmax

from labkit.arrays import unit
from labkit.course.exercise import Unfit, array, check, find_mistake
from labkit.course.exercises.draws import in_classes
from labkit.evaluation import p_coherence

ROUNDED = 1e-3  # an answer may be rounded to what is printed of it


@check("05.1")
def check_objective(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(1 - λ) copy + (1 + λ) paraphrase."""
    cases = [(*map(float, random.uniform(0.3, 6, 2)), float(random.uniform(0.1, 0.9))) for _ in range(5)]
    mistakes = (
        (lambda c, p, e: (1 + e) * c + (1 - e) * p, "it is the paraphrase that counts more: exchange the two factors"),
        (lambda c, p, e: (1 - e) * c + e * p, "these weights add up to 1; those of eq. 10 add up to 2"),
        (lambda c, p, e: c + e * p, "the copy must count less, 1 - λ, and the paraphrase more than 1"),
        (lambda c, p, e: c + (1 + e) * p, "the copy must count less by as much: its factor is 1 - λ"),
        (lambda c, p, e: (1 - e) * c - (1 + e) * p, "both losses are to be made small: add them, do not subtract"),
    )

    def right(copy: Any, paraphrase: Any, emphasis: Any) -> Any:
        return (1 - emphasis) * copy + (1 + emphasis) * paraphrase

    return find_mistake(answer, right, cases, mistakes, tolerance=ROUNDED)


@check("05.2")
def check_line(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Least squares: value at 0, slope."""
    cases = []
    for n, start, slope in ((5, 2.0, 1.5), (8, -1.0, 3.0), (12, 4.0, -2.5)):
        x = random.uniform(-0.5, 2.5, n)
        cases.append((x, start + slope * x + random.normal(size=n)))

    def right(x: Any, y: Any) -> Any:
        return np.polyfit(x, y, 1)[::-1]

    def between(x: Any, y: Any) -> Any:
        slope = (y[-1] - y[0]) / (x[-1] - x[0])
        return y[0] - slope * x[0], slope

    mistakes = (
        (lambda x, y: right(x, y)[::-1],
         "the value at 0 comes first, then the slope: np.polyfit gives them the other way round"),
        (lambda x, y: (0.0, x @ y / (x @ x)), "your line goes through the origin: let it begin where it likes"),
        (between, lambda x, y: (y[0], between(x, y)[1]),
         "that is the line through the first and last point; all points count"),
        (lambda x, y: np.polyfit(y, x, 1), lambda x, y: right(y, x),
         "x and y have changed places: y is what the line is to give"),
        (lambda x, y: (y.mean(), right(x, y)[1]), "y's mean is the line's value at the mean of x, not at 0"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_two, tolerance=ROUNDED)


def _two(answer: Any) -> np.ndarray:
    """Two numbers in a row or a column, each alone or in a list of one."""
    if isinstance(answer, tuple) and len(answer) == 4 and np.ndim(answer[0]):
        raise Unfit("np.linalg.lstsq gives four things: the first of them, `[0]`, has the two numbers")
    found = array(answer)
    return found.ravel() if found.size == 2 else found


@check("05.3")
def check_parts(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """copy = (start - slope) / 2, paraphrase = (start + slope) / 2."""
    cases = [(float(random.uniform(1, 6)), float(slope)) for slope in random.permutation([1.2, -0.7, 1.84, 0.31, 2.6])]

    def right(start: Any, slope: Any) -> Any:
        return (start - slope) / 2, (start + slope) / 2

    mistakes = (
        (lambda a, b: right(a, b)[::-1], "the copy comes first; where the line rises with λ the paraphrase is larger"),
        (lambda a, b: (a - b, a + b), "each comes in twice when you add or subtract: halve them"),
        (lambda a, b: (a - b / 2, a + b / 2), "brackets are missing: halve the whole difference and the whole sum"),
        (lambda a, b: (a, a + b), "these are the line's values at λ = 0 and 1: at 0 both losses count alike"),
        (lambda a, b: (a, b), "these are the line's numbers themselves: which losses make them?"),
    )
    return find_mistake(answer, right, cases, mistakes, read=_two, tolerance=ROUNDED)


@check("05.4")
def check_coherence(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean cosine over the pairs of a group, then over groups (eq. 3 to 5)."""
    cases = []
    for sizes, names, d in (((2, 3, 4), (2, 0, 1), 4), ((3, 6), ("sea", "hill"), 3), ((2, 4, 2, 5), (7, 3, 5, 4), 6)):
        rows, groups = in_classes(random, sizes, d)
        cases.append(((rows + 0.4) * random.uniform(0.3, 3, (len(rows), 1)), np.array(names)[groups]))

    def right(vectors: Any, groups: Any) -> Any:
        return p_coherence(vectors, groups.tolist()).within

    def over(how: Callable[[Any], Any], table: Callable[[Any], Any] = lambda v: unit(v) @ unit(v).T) -> Any:
        """The mean over the groups of something made of each one's cosines."""
        return lambda v, groups: np.mean([how(table(v[groups == name])) for name in np.unique(groups)])

    def above(S: Any) -> Any:
        return S[np.triu_indices(len(S), 1)]

    def all_pairs(vectors: Any, groups: Any) -> Any:
        S = unit(vectors) @ unit(vectors).T
        return S[(groups[:, None] == groups) & ~np.eye(len(S), dtype=bool)].mean()

    mistakes = (
        (over(lambda S: S.mean()), over(lambda S: S[np.triu_indices(len(S))].mean()),
         "a sentence is paired with itself in yours, where the cosine is 1: only pairs of two count"),
        (over(lambda S: above(S).mean(), lambda v: v @ v.T),
         "those are dot products: bring the rows to length 1 first"),
        (over(lambda S: above(S).sum()), "that is a group's sum; the mean over its pairs is asked"),
        (all_pairs, "yours is the mean over all pairs: large groups count more. Take each group's mean first"),
        (lambda v, groups: above(unit(v) @ unit(v).T).mean(), "yours pairs the sentences of different groups, too"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("05.5")
def check_mixed(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(1 - t) v / |v| + t c, and not brought to length 1 again."""
    cases = []
    for n, d, share in ((4, 3, 0.8), (6, 5, 0.3), (4, 3, 0.55)):
        rows = random.normal(size=(n, d)) * random.permutation(np.arange(1, n + 1))[:, None]
        cases.append((rows, unit(random.normal(size=(1, d)))[0], share))

    def right(vectors: Any, common: Any, t: Any) -> Any:
        return (1 - t) * unit(vectors) + t * common

    mistakes = (
        (lambda v, c, t: (1 - t) * v + t * c, "bring each row to length 1 first: a long one would be moved less"),
        (lambda v, c, t: unit(right(v, c, t)),
         "each row points the right way and has another length: give the sum as it is, without dividing it again"),
        (lambda v, c, t: right(v, c, 1 - t), "the shares are exchanged: t is that of the common vector"),
        (lambda v, c, t: unit(v) + t * c, "the row's share is 1 - t: together they are 1"),
        (lambda v, c, t: (1 - t) * v / norm(v) + t * c, lambda v, c, t: (1 - t) * v / norm(v, axis=0) + t * c,
         "each row has a length of its own: axis=1 and keepdims"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("05.6")
def check_own_distance(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """√(2 n d / (n - 1))."""
    sizes = random.choice(np.arange(2, 31), (2, 5), replace=False)
    cases = [(int(n), int(d)) for n, d in sizes.T]
    mistakes = (
        (lambda n, d: math.sqrt(2 * d),
         "of the n² ordered pairs, n are a sentence with itself: over the others it is n/(n-1) more"),
        (lambda n, d: 2 * n * d / (n - 1), "that is the mean square: take its root"),
        (lambda n, d: math.sqrt(n * d / (n - 1)), "(x - y)² has a variance from x and one from y: 2, not 1"),
        (lambda n, d: math.sqrt(2 * (n - 1) * d / n),
         "leaving out the pairs that give 0 makes the mean larger: turn n/(n-1) over"),
        (lambda n, d: math.sqrt(2 * n / (n - 1)), "that is one dimension; there are d, and their squares add up"),
    )  # fmt: skip
    return find_mistake(answer, lambda n, d: math.sqrt(2 * n * d / (n - 1)), cases, mistakes, tolerance=ROUNDED)


Step: TypeAlias = Callable[[Any, Any], tuple[np.ndarray, int]]
PATIENCE = 50_000  # calls of step: a loop that never stops is stopped


@check("05.7")
def check_greedy(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The likeliest word, read next, until the end or `max_length`."""
    cases = [  # flat distributions, in which whoever draws lots does not get the likeliest, and steep ones
        (_speaker(random, words=30, steep=0.05, end=9), 0, 50),
        (_speaker(random, words=7, steep=3, end=16), 5, 50),
        (_speaker(random, words=12, steep=0.2, end=60), 2, 4),
        (_speaker(random, words=9, steep=1, end=7), 1, 6),
        (_speaker(random, words=5, steep=1, end=63), 0, 55),
    ]
    if len({str(_sentence(answer(*cases[0]))) for _ in range(3)}) > 1:
        return "asked again, yours writes another sentence: do not draw lots, take the likeliest word"

    def wrong(**how: Any) -> Callable[..., Any]:
        return lambda step, state, max_length: _written(step, state, max_length, **how)

    def right(step: Step, state: int, max_length: int) -> list[int]:
        return _written(step, state, max_length)

    mistakes = (
        (wrong(end=True), "word 0 is the end: it is not written"),
        (wrong(forget=True), "the state must go on: give step the one that it returned last"),
        (wrong(blind=True), "the word that was written is read next; yours reads the beginning, 0, at every step"),
        (lambda *case: right(*case)[:-1], "the last word is missing"),
        (wrong(pick=np.argmin), "that is the least likely word: the largest log p is wanted, the one nearest to 0"),
    )
    return find_mistake(answer, right, cases, mistakes, read=_sentence)


def _speaker(random: np.random.Generator, *, words: int, steep: float, end: int) -> Step:
    """A decoder of so many words whose states are 0, 1, 2 and so on; in state `end` the end is the likeliest."""
    scores = steep * random.normal(size=(64, words, words))
    scores[:, :, 0] = np.median(scores, axis=2)
    scores[end, :, 0] = scores.max() + steep
    log_p, calls = log_softmax(scores, axis=2), count()

    def step(state: Any, word: Any) -> tuple[np.ndarray, int]:
        if next(calls) > PATIENCE:
            raise Unfit("your loop never stops: a sentence that does not end is cut after `max_length` words")
        if not isinstance(state, int) or np.size(word) != 1 or not 0 <= int(word) < words:
            raise Unfit(f"step reads the state that it returned last, then a word's number: it was given {word!r:.60}")
        return log_p[state % 64, int(word)].copy(), state + 1

    return step


def _written(
    step: Step,
    state: int,
    max_length: int,
    *,
    pick: Callable[[np.ndarray], Any] = np.argmax,
    end: bool = False,
    forget: bool = False,
    blind: bool = False,
) -> list[int]:
    """Greedy decoding; each argument after the star is a mistake that one can make in it."""
    words: list[int] = []
    word = 0
    for _ in range(max_length):
        log_p, after = step(state, 0 if blind else word)
        state = state if forget else after
        word = int(pick(log_p))
        if word == 0:
            return [*words, 0] if end else words
        words.append(word)
    return words


def _sentence(answer: Any) -> np.ndarray:
    """The words' numbers as one text, so that two sentences are shown side by side."""
    if isinstance(answer, str) or np.ndim(array(answer)) != 1 or (array(answer) % 1).any():
        raise Unfit("a list of the words' numbers was expected: whole numbers, one a word")
    return np.asarray(" ".join(f"{number:.0f}" for number in array(answer)) or "no word")
