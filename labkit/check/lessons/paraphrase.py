"""Notebook 05: eq. 10, table B.9, P-coherence, collapse, distances and decoding."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.check.exercise import Lesson
from labkit.check.trying import array, close, number, slip, wrong_entries
from labkit.evaluation import p_coherence
from labkit.methods.contract import unit

LESSON = Lesson("05", predictions=("05.a", "05.b", "05.c", "05.d"))


@LESSON.exercise(
    "05.1",
    "Write eq. 10.",
    (
        "What the paraphrase counts more, the copy counts less.",
        "The copy has the factor 1 - λ. The two factors add up to 2.",
        "`(1 - emphasis) * copy + (1 + emphasis) * paraphrase`",
    ),
    "a weighted sum, and no more: nothing in it ever finds λ",
)
def objective(answer: Callable[..., Any]) -> str | None:
    """(1 - λ) copy + (1 + λ) paraphrase."""
    copy, paraphrase, emphasis = 0.7, 2.5, 0.3
    right = (1 - emphasis) * copy + (1 + emphasis) * paraphrase
    given = number(answer(copy, paraphrase, emphasis))
    slips = (
        ((1 + emphasis) * copy + (1 - emphasis) * paraphrase, "it is the paraphrase that counts more: exchange them"),
        ((1 - emphasis) * copy + emphasis * paraphrase, "these weights add up to 1; the paper's add up to 2"),
        (copy + (1 + emphasis) * paraphrase, "the copy must count less by as much: its factor is 1 - λ"),
        (right / 2, "that is half of it: the paper does not divide"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries([given], [right])


@LESSON.exercise(
    "05.2",
    "Fit a line: its value at 0 and its slope.",
    (
        "`np.polyfit(x, y, 1)` fits a line; in which order does it give its two numbers?",
        "The slope comes first. It is asked for second.",
        "`slope, start = np.polyfit(x, y, 1); return start, slope`",
    ),
    "a line says how eight experiments hang together, and which one does not",
)
def line(answer: Callable[..., Any]) -> str | None:
    """Least squares: value at 0, slope."""
    x, y = np.array([0.1, 0.2, 0.4, 0.7, 0.9]), np.array([1.3, 1.1, 1.9, 2.2, 2.1])
    slope, start = np.polyfit(x, y, 1)
    given = array(answer(x.copy(), y.copy()))
    ends = (y[-1] - y[0]) / (x[-1] - x[0])
    slips = (
        ([slope, start], "the value at 0 comes first, then the slope: np.polyfit gives them the other way round"),
        ([0.0, (x @ y) / (x @ x)], "your line goes through the origin: let it begin where it likes"),
        ([y[0] - ends * x[0], ends], "that is the line through the first and the last point; all points count"),
        ([slope], "two numbers are asked for: the value at 0, and the slope"),
    )
    right = [start, slope]
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "05.3",
    "Find both losses from the line's value at 0 and its slope.",
    (
        "Sort (1 - λ) copy + (1 + λ) paraphrase by powers of λ.",
        "The value at 0 is copy + paraphrase, the slope is paraphrase - copy.",
        "`(start - slope) / 2, (start + slope) / 2`",
    ),
    "an objective that is a line in λ comes from two losses that λ does not move",
)
def parts(answer: Callable[..., Any]) -> str | None:
    """copy = (start - slope) / 2, paraphrase = (start + slope) / 2."""
    start, slope = 3.0, 1.2
    right = [(start - slope) / 2, (start + slope) / 2]
    given = array(answer(start, slope))
    slips = (
        (right[::-1], "the copy comes first; the objective grows with λ, so the paraphrase is the larger one"),
        ([start - slope, start + slope], "each comes in twice when you add or subtract: halve them"),
        ([start, start + slope], "these are the line's values at λ = 0 and 1: at 0 both losses count alike"),
        ([start - slope, slope], "at λ = 0 the objective is the sum of both losses; at λ = 1, twice the paraphrase"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "05.4",
    "Write P-coherence.",
    (
        "Rows of length 1 first: then a product is a cosine. For each group, the mean over its pairs i < j.",
        "`np.triu_indices(len(S), 1)` gives each pair once, and no sentence with itself.",
        "`np.mean([(rows[g == c] @ rows[g == c].T)[np.triu_indices((g == c).sum(), 1)].mean() for c in set(g)])`",
    ),
    "it looks within groups only: what lies between them it never sees",
)
def coherence(answer: Callable[..., Any]) -> str | None:
    """The mean cosine over the pairs of a group, then over groups (eq. 4, 5)."""
    rows, groups = np.random.default_rng(2).normal(size=(9, 4)) + 0.5, np.repeat(np.arange(3), [2, 3, 4])
    right = p_coherence(rows, groups).within
    given = number(answer(rows.copy(), groups.copy()))
    cosines, products = unit(rows) @ unit(rows).T, rows @ rows.T

    def means(table: np.ndarray, first: int) -> list[np.ndarray]:
        """For each group, its entries above the diagonal (first = 1), or with it (0)."""
        own = [table[np.ix_(groups == c, groups == c)] for c in range(3)]
        return [each[np.triu_indices(len(each), first)] for each in own]

    squares = [cosines[np.ix_(groups == c, groups == c)].mean() for c in range(3)]
    slips = (
        (np.mean([each.mean() for each in means(products, 1)]), "divide rows by their lengths: these are no cosines"),
        (np.mean(squares), "a sentence is no paraphrase of itself: leave its cosine with itself, 1, out"),
        (np.mean([each.mean() for each in means(cosines, 0)]), "leave the diagonal out: triu_indices(len, 1)"),
        (np.concatenate(means(cosines, 1)).mean(), "large groups count too much: a mean for each group, then over all"),
        (cosines[np.triu_indices(9, 1)].mean(), "that is the mean over all pairs; only those of one group are asked"),
        (sum(each.mean() for each in means(cosines, 1)), "that is the sum over the groups: divide by how many"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries([given], [right])


@LESSON.exercise(
    "05.5",
    "Mix every vector, at length 1, with one common vector.",
    (
        "Divide each row by its length, so that t means the same for all.",
        "A share 1 - t of the row, a share t of the common vector.",
        "`(1 - t) * vectors / np.linalg.norm(vectors, axis=1, keepdims=True) + t * common`",
    ),
    "the same vector for every sentence, whatever it says: no one could call this understanding",
)
def mixed(answer: Callable[..., Any]) -> str | None:
    """(1 - t) v / |v| + t c; only the direction counts."""
    rows, share = np.random.default_rng(5).normal(size=(4, 3)) * [[1.0], [2.0], [3.0], [4.0]], 0.8
    common = np.array([0.6, 0.8, 0.0])
    right = (1 - share) * unit(rows) + share * common
    given = array(answer(rows.copy(), common.copy(), share))
    if given.shape != right.shape:
        return f"the shape is {given.shape}, expected {right.shape}: a row for each sentence"
    if np.allclose(given, given[:1]):
        return "all rows are alike: nothing of the sentence is left; keep a share 1 - t of it"
    directions = unit(given)
    slips = (
        (unit((1 - share) * rows + share * common), "bring the rows to length 1 first: long ones resist the mixing"),
        (unit(share * unit(rows) + (1 - share) * common), "t is the share of the common vector: exchange t and 1 - t"),
        (unit(unit(rows) + share * common), "the row keeps its whole length: its share is 1 - t"),
        (unit(rows), "nothing is mixed in: these are the rows as they were"),
    )
    wanted = unit(right)
    return None if close(directions, wanted) else slip(directions, slips) or wrong_entries(directions, wanted)


@LESSON.exercise(
    "05.6",
    "Write the root of the mean squared distance in a group of n, each of d dimensions divided by the group's own "
    "spread.",
    (
        "One dimension first: what is the mean of (x - y)² over all pairs of two different sentences?",
        "Over all n² ordered pairs it is 2 · variance = 2. The n pairs of a sentence with itself give 0.",
        "`math.sqrt(2 * n * d / (n - 1))`",
    ),
    "no vector stands in the answer: it is the same for every encoder",
)
def own_distance(answer: Callable[..., Any]) -> str | None:
    """√(2 n d / (n - 1))."""
    n, d = 5, 30
    right = math.sqrt(2 * n * d / (n - 1))
    given = number(answer(n, d))
    slips = (
        (math.sqrt(2 * d), "of the n² ordered pairs, n are a sentence with itself: over the others it is n/(n-1) more"),
        (right**2, "that is the mean square: take its root"),
        (math.sqrt(n * d / (n - 1)), "(x - y)² has a variance from x and one from y: 2, not 1"),
        (math.sqrt(2 * n / (n - 1)), "that is one dimension; there are d of them, and their squares add up"),
        (math.sqrt(2 * (n - 1) * d / n), "leaving out the pairs that give 0 makes the mean larger: turn n/(n-1) over"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries([given], [right])


NEXT = (  # by state, then by the word read: log p of the words 0 to 3; the state counts the steps
    ((-9.0, -1.0, -0.5, -2.0),) * 4,
    ((-9.0, -0.2, -3.0, -4.0), (-9.0, -3.0, -4.0, -0.2), (-9.0, -1.0, -4.0, -0.1), (-9.0, -1.0, -0.3, -2.0)),
    ((-9.0, -0.2, -3.0, -4.0), (-9.0, -3.0, -0.1, -4.0), (-2.0, -1.0, -4.0, -5.0), (-9.0, -0.1, -3.0, -4.0)),
    ((-0.1, -3.0, -4.0, -5.0),) * 4,
    ((-4.0, -0.1, -5.0, -6.0),) * 4,
)


@LESSON.exercise(
    "05.7",
    "Write greedy decoding.",
    (
        "Each step gives log p of all words and the next state. Take the word with the largest, and read it next.",
        "Word 0 is the end: stop there, and do not write it.",
        "`log_p, state = step(state, word); word = int(log_p.argmax())`; if it is 0, break; else append it.",
    ),
    "each word is the best one at its place; that does not make the best sentence",
)
def greedy(answer: Callable[..., Any]) -> str | None:
    """The likeliest word, read next, until the end or `longest`."""

    def step(state: int, word: int) -> tuple[np.ndarray, int]:
        return np.array(NEXT[min(state, len(NEXT) - 1)][word]), state + 1

    found = answer(step, 0, 6)
    given = [int(word) for word in found]
    if given == [2, 3, 1]:
        cut = [int(word) for word in answer(step, 4, 3)]
        return None if len(cut) == 3 else "a sentence that does not end is cut after `longest` words"
    if given == [2, 3, 1, 0]:
        return "word 0 is the end: it is not written"
    if given == [2] * 6:
        return "the state must go on: give step the one that it returned last"
    if given[:3] == [2, 1, 1]:
        return "the word that was written is read next; yours reads the beginning, 0, at every step"
    if len(given) == 6:
        return "your sentence goes on beyond its end: stop at word 0"
    if not given:
        return "nothing is written; is it the largest log p that you take? The largest is the one nearest to 0"
    return f"your words are {given}, expected [2, 3, 1]: at each step the word with the largest log p"
