"""Notebook 04: weights, eigenvectors, choosing, new sentences and reversals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.check.exercise import Lesson
from labkit.check.trying import array, close, number, slip, wrong_entries

LESSON = Lesson("04", predictions=("04.a", "04.b", "04.c", "04.d"))

GRAPH = np.array([[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4], [2, 3]])  # sentence -> those it is rebuilt from


@LESSON.exercise(
    "04.1",
    "Write the weights that rebuild one sentence from its neighbours.",
    (
        "Three steps: G from the differences, one linear system, one division.",
        "`G = (near - x) @ (near - x).T`, and `reg * np.trace(G)` goes on its diagonal.",
        "`w = np.linalg.solve(G + reg * np.trace(G) * np.eye(len(G)), np.ones(len(G)))`, then `w / w.sum()`.",
    ),
    "no inverse, no loop: one small linear system for each sentence",
)
def weights(answer: Callable[..., Any]) -> str | None:
    """(G + reg tr(G) I) w = 1, then w / Σ w."""
    draw = np.random.default_rng(0)
    x, near, reg = draw.normal(size=4), draw.normal(size=(3, 4)), 0.1
    G = (near - x) @ (near - x).T
    eye, one = np.eye(3), np.ones(3)
    solved = np.linalg.solve(G + reg * np.trace(G) * eye, one)
    right = solved / solved.sum()
    given = array(answer(x, near, reg))

    def summed(found: np.ndarray) -> np.ndarray:
        return np.asarray(found / found.sum())

    free = np.linalg.lstsq(near.T, x, rcond=None)[0]
    slips = (
        (solved, "the weights do not sum to 1 yet: divide by their sum"),
        (solved / np.linalg.norm(solved), "the sum of the weights is to be 1, not their length"),
        (summed(np.linalg.solve(G, one)), "reg is missing: without it G may have no inverse"),
        (summed(np.linalg.solve(G + reg * eye, one)), "reg is a share of the trace of G: times tr(G)"),
        (summed(np.linalg.solve(near @ near.T + reg * np.trace(near @ near.T) * eye, one)), "take x off first"),
        (free, "that rebuilds x as well as can be, but nothing makes these sum to 1"),
        (one / 3, "that is the plain mean of the neighbours"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "04.2",
    "Of how many free directions can the weights be changed while x is still rebuilt exactly?",
    (
        "Count the unknowns, then the equations.",
        "k unknowns; d equations from Σ w_j x_j = x, and one more from Σ w_j = 1.",
        "`max(0, k - d - 1)`",
    ),
    "where something is free, G has no inverse; reg settles it: of all such weights, nearly the smallest",
)
def freedom(answer: Callable[..., Any]) -> str | None:
    """k weights, d + 1 equations: max(0, k - d - 1) are free."""
    asked = ((5, 2), (15, 10), (4, 3), (3, 50), (40, 16))
    right = np.array([max(0, k - d - 1) for k, d in asked])
    given = array([number(answer(k, d)) for k, d in asked])
    both = np.array(asked)
    slips = (
        (both[:, 0] - both[:, 1] - 1, "there are never fewer than 0 free directions"),
        (np.maximum(0, both[:, 0] - both[:, 1]), "that the weights sum to 1 is an equation too"),
        (np.maximum(0, both[:, 0] - 1), "each of the d numbers of x is an equation too"),
        (np.maximum(0, both[:, 0] - both[:, 1] + 1), "a further equation takes freedom away, it does not give any"),
        (both[:, 1] + 1, "that is the number of equations; unknowns less equations are free"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "04.3",
    "Write the embedding: rows y with YᵀY/m = I, of the smallest cost, without the constant.",
    (
        "`np.linalg.eigh(M)` gives eigenvalues, rising, and eigenvectors as columns of length 1.",
        "The first column is the constant. The next p are wanted, times a factor.",
        "`np.sqrt(len(M)) * np.linalg.eigh(M)[1][:, 1 : p + 1]`",
    ),
    "no descent and no learning rate: the best Y is read off",
)
def embedded(answer: Callable[..., Any]) -> str | None:
    """The p smallest eigenvectors after the constant, times √m; each up to its sign."""
    M, p = _matrix_of_a_ring(), 3
    vectors = np.linalg.eigh(M)[1]
    m = len(M)
    given = array(answer(M.copy(), p))
    if given.shape == (p, m):
        return "the shape is (p, m): a sentence is a row, so no transposing at the end"
    if given.shape != (m, p):
        return f"the shape is {given.shape}, expected {(m, p)}: a row of p numbers for each of m sentences"

    def like(wrong: np.ndarray) -> bool:
        return close(abs(given), abs(wrong), 1e-6)

    if like(np.sqrt(m) * vectors[:, 1 : p + 1]):
        return None
    if like(vectors[:, 1 : p + 1]):
        return "the columns have length 1, so YᵀY = I; for YᵀY/m = I, which factor is missing?"
    if like(m * vectors[:, 1 : p + 1]):
        return "YᵀY/m is m here: squared, the factor should give m"
    if like(np.sqrt(m) * vectors[:, :p]) or like(vectors[:, :p]):
        return "the first column is the constant: it says the same of every sentence"
    if like(np.sqrt(m) * vectors[:, -p:]) or like(np.sqrt(m) * vectors[:, ::-1][:, :p]):
        return "these are the largest eigenvalues, the worst reconstruction: the cost is to be small"
    return "`np.linalg.eigh(M)` gives the values rising and the vectors as columns: take columns 1 to p"


@LESSON.exercise(
    "04.4",
    "How many eigenvalues of M are 0?",
    (
        "Find the sets of sentences that rebuild each other, and that no arrow leaves.",
        "Sentences 0, 1 and 2 know only each other. Who else does?",
        "{0, 1, 2} and {3, 4, 5}. Sentence 6 is rebuilt from both, and rebuilds nobody.",
    ),
    "on each such set one value may be chosen freely, and all other sentences follow from these values",
)
def zeros(answer: Any) -> str | None:
    """Of the graph of seven sentences: two sets that nothing leaves."""
    given = number(answer)
    slips = (
        (1.0, "the graph hangs together, but that is not asked: which sets of sentences does no arrow leave?"),
        (3.0, "from sentence 6 arrows lead away, and none comes back: it is no set that nothing leaves"),
        (0.0, "the constant is always one of them"),
        (7.0, "no sentence stands alone: each has arrows to two others"),
    )
    return None if given == 2 else slip(given, slips) or "follow the arrows until you cannot get out any more"


@LESSON.exercise(
    "04.5",
    "Write the honest figure: dev chooses, test reports.",
    (
        "Where is dev largest? What stands there in test?",
        "`dev.argmax()` is a number into the flattened table.",
        "`test.flat[dev.argmax()]`",
    ),
    "test is asked once, after everything has been chosen",
)
def chosen(answer: Callable[..., Any]) -> str | None:
    """The figure on test of the cell that is best on dev."""
    draw = np.random.default_rng(3)
    dev, test = draw.uniform(0.5, 0.9, size=(4, 5)), draw.uniform(0.5, 0.9, size=(4, 5))
    right = test.flat[dev.argmax()]
    given = number(answer(dev.copy(), test.copy()))
    slips = (
        (test.max(), "that is the best on test: chosen there, the best of twenty flatters itself"),
        (dev.max(), "that is its figure on dev, where it was chosen; report what it is on test"),
        (dev.flat[test.argmax()], "the other way round: dev chooses, test reports"),
        (test.mean(), "that is the mean of all cells; dev chooses one"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries([given], [right])


@LESSON.exercise(
    "04.6",
    "Write where a new sentence goes.",
    (
        "Its neighbours and its weights come from the old space, X.",
        "`near = np.linalg.norm(X - x, axis=1).argsort()[:k]`",
        "`rebuild(x, X[near], reg) @ Y[near]`",
    ),
    "the same mixture in the new space: nothing is solved anew",
)
def placed(answer: Callable[..., Any]) -> str | None:
    """Weights in the old space, sums in the new one."""
    draw = np.random.default_rng(5)
    x, X, Y, k, reg = draw.normal(size=4), draw.normal(size=(9, 4)), draw.normal(size=(9, 2)), 3, 1e-3
    far = np.linalg.norm(X - x, axis=1)
    near, farthest = far.argsort()[:k], far.argsort()[::-1][:k]
    right = _weights(x, X[near], reg) @ Y[near]
    given = array(answer(x, X, Y, k, reg))
    slips = (
        (Y[near].mean(axis=0), "that is the plain mean of the neighbours: take the weights of exercise 04.1"),
        (Y[near[0]], "that is where the nearest alone is; there are k neighbours"),
        (_weights(x, X, reg) @ Y, "these are the weights over all sentences: take the k nearest"),
        (_weights(x, X[near], reg) @ X[near], "that rebuilds x in the old space; sum the rows of Y"),
        (_weights(x, X[farthest], reg) @ Y[farthest], "these are the farthest: `argsort` rises"),
        (_weights(x, X[:k], reg) @ Y[:k], "these are the first k sentences, not the nearest"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "04.7",
    "Count what was mended and what was spoilt.",
    (
        "Couples (i, j) with gold[i] > gold[j]: right where score[i] > score[j].",
        "`asked = gold[:, None] > gold` is such a table; make one of each score too.",
        "`(asked & ~old & new).sum(), (asked & old & ~new).sum()`",
    ),
    "one example shows that something changed; only both counts show whether it was for the better",
)
def both_ways(answer: Callable[..., Any]) -> str | None:
    """(mended, spoilt) among all couples with different grades."""
    gold = np.array([1.0, 2.0, 2.0, 3.0, 5.0, 4.0])
    before, after = np.array([0.5, 0.2, 0.9, 0.8, 0.7, 0.1]), np.array([0.1, 0.6, 0.4, 0.5, 0.9, 0.2])
    asked = gold[:, None] > gold[None, :]
    old, new = (each[:, None] > each[None, :] for each in (before, after))
    right = np.array([(asked & ~old & new).sum(), (asked & old & ~new).sum()])
    given = array(answer(gold, before, after))
    every = np.array([(~old & new).sum(), (old & ~new).sum()])
    slips = (
        (right[::-1], "mended first: wrong before, right after"),
        (right[0], "that is what was mended; what was spoilt belongs beside it"),
        (2 * right, "each couple is counted twice: let i be the one with the higher grade"),
        (right / asked.sum(), "the numbers were asked for, not the shares"),
        (every, "a couple counts only where the grades differ, and i has the higher one"),
        (np.array([(asked & new).sum(), (asked & old).sum()]), "those that are right in both have not changed"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


def _weights(x: np.ndarray, near: np.ndarray, reg: float) -> np.ndarray:
    G = (near - x) @ (near - x).T
    w = np.linalg.solve(G + reg * np.trace(G) * np.eye(len(G)), np.ones(len(G)))
    return np.asarray(w / w.sum())


def _matrix_of_a_ring() -> np.ndarray:
    """M of nine sentences, each rebuilt from the one before and the one after, with shares that differ."""
    share = np.random.default_rng(7).uniform(0.3, 0.7, size=9)
    W = np.zeros((9, 9))
    here = np.arange(9)
    W[here, here - 1], W[here, (here + 1) % 9] = share, 1 - share
    away = np.eye(9) - W
    return np.asarray(away.T @ away)
