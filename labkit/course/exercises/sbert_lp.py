"""Notebook 04: weights, eigenvectors, choosing, new sentences and reversals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.course.exercise import Unnamed, array, check, find_mistake, known_mistake, number, several


def unsummed(G: np.ndarray, added: float) -> np.ndarray:
    """The weights before they are made to sum to 1, with a number added to the diagonal of G."""
    return np.asarray(np.linalg.solve(G + added * np.eye(len(G)), np.ones(len(G))))


def to_one(found: np.ndarray) -> np.ndarray:
    return np.asarray(found / found.sum())


def gram(x: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The dot products of the differences between a sentence and its neighbours."""
    return np.asarray((near - x) @ (near - x).T)


def weights_of(x: np.ndarray, near: np.ndarray, reg: float) -> np.ndarray:
    """What exercise 04.1 asks for."""
    G = gram(x, near)
    return to_one(unsummed(G, reg * np.trace(G)))


@check("04.1")
def check_weights(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(G + reg tr(G) I) w = 1, then w / Σ w."""
    cases = [
        (random.normal(size=d), random.normal(size=(k, d)) + random.normal(size=d), reg)
        for k, d, reg in ((3, 4, 0.1), (4, 7, 0.02), (2, 3, 0.5))  # k <= d: without reg G has an inverse
    ]
    x, near, _ = cases[0]
    cases.append((x, np.array([near[0], near[0] + 1e-3 * near[1], near[2]]), 1e-8))  # two of them hardly differ

    def raw(x: Any, near: Any, reg: float) -> Any:
        return unsummed(gram(x, near), reg * np.trace(gram(x, near)))

    mistakes = (
        (raw, "the weights do not sum to 1 yet: divide by their sum"),
        (lambda *case: raw(*case) / np.linalg.norm(raw(*case)),
         "the sum of the weights is to be 1, not their length"),
        (lambda x, near, reg: to_one(unsummed(gram(x, near), 0)),
         "reg is missing on the diagonal: there alone it helps, and without it G may have no inverse"),
        (lambda x, near, reg: to_one(unsummed(gram(x, near), reg)), "reg is a share of the trace of G: times tr(G)"),
        (lambda x, near, reg: weights_of(0 * x, near, reg), "take x off first: G is of the differences x_j - x"),
    )  # fmt: skip
    return find_mistake(answer, weights_of, cases, mistakes)


@check("04.2")
def check_freedom(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """k weights, d + 1 equations: max(0, k - d - 1) are free."""
    dimensions = random.choice(np.arange(2, 40), 8, replace=False)
    cases = [(max(1, int(d) + more), int(d)) for d, more in zip(dimensions, (9, 4, 3, 2, 1, 0, -3, -9), strict=True)]
    mistakes = (
        (lambda k, d: k - d - 1, "there are never fewer than 0 free directions"),
        (lambda k, d: max(0, k - d), lambda k, d: k - d, "that the weights sum to 1 is an equation too"),
        (lambda k, d: max(0, k - 1), "each of the d numbers of x is an equation too"),
        (lambda k, d: max(0, k - d + 1), "a further equation takes freedom away, it does not give any"),
        (lambda k, d: max(0, d - k), lambda k, d: d - k, "the other way round: unknowns, k, less equations"),
    )
    return find_mistake(answer, lambda k, d: max(0, k - d - 1), cases, mistakes, read=number)


@check("04.3")
def check_embedded(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The p smallest eigenvectors after the constant, times √m; up to signs, or any turn among them."""
    cases = []
    for m, p in ((9, 3), (12, 2), (7, 4)):  # each sentence is rebuilt from the one before and the one after
        share, here = random.uniform(0.3, 0.7, size=m), np.arange(m)
        away = np.eye(m)
        away[here, here - 1], away[here, (here + 1) % m] = -share, share - 1
        cases.append((away.T @ away, p))

    def chosen(columns: Callable[[int], slice], power: float = 0.5) -> Callable[..., Any]:
        """Other columns, times another power of m."""
        return lambda M, p: len(M) ** power * np.linalg.eigh(M)[1][:, columns(p)]

    def after(p: int) -> slice:
        return slice(1, p + 1)

    def right(M: Any, p: int) -> Any:
        return chosen(after)(M, p)

    mistakes = (
        (chosen(after, 0), "the columns have length 1, so YᵀY = I; for YᵀY/m = I, which factor is missing?"),
        (chosen(after, 1), "YᵀY/m is m here: squared, the factor should give m"),
        (chosen(lambda p: slice(0, p)), chosen(lambda p: slice(0, p), 0),
         "the first column is the constant: it says the same of every sentence"),
        (chosen(lambda p: slice(-p, None)), "these are the largest eigenvalues: the cost is to be small"),
    )  # fmt: skip
    for M, p in cases:
        shape = array(answer(M.copy(), p)).shape
        if shape == (p, len(M)):
            return "the shape is (p, m): eigenvectors are the columns of what `eigh` gives, and a sentence is a row"
        if shape != (len(M), p):
            return Unnamed(f"the shape is {shape}, expected {(len(M), p)}: a row of p numbers for each sentence")

    def up_to_a_turn(given: Any) -> np.ndarray:
        return np.asarray(array(given) @ array(given).T)

    complaint = find_mistake(answer, right, cases, mistakes, read=up_to_a_turn)
    if isinstance(complaint, Unnamed):
        given = [array(answer(M.copy(), p)) for M, p in cases]
        if not all(np.allclose(Y.T @ Y / len(Y), np.eye(Y.shape[1]), atol=1e-5) for Y in given):
            return "YᵀY/m is not I in yours: take eigenvectors of M, and mind their size"
        return "YᵀY/m is I, but other directions are cheaper: `eigh` gives the eigenvalues rising, take columns 1 to p"
    return complaint


@check("04.4")
def check_zeros(answer: Any, random: np.random.Generator) -> str | None:
    """The graph of seven sentences has two sets that nothing leaves."""
    given = number(answer)
    mistakes = (
        (1.0, "the graph hangs together, but that is not asked: which sets of sentences does no arrow leave?"),
        (3.0, "from sentence 6 arrows lead away, and none comes back: it is no set that nothing leaves"),
        (0.0, "the constant is always one of them"),
        (5.0, "these are the eigenvalues that are not 0: the others are asked for"),
        (6.0, "within a set the sentences rebuild each other: one value for each *set*, not for each sentence"),
    )
    general = Unnamed("follow the arrows until you cannot get out any more: how many such places are there?")
    return None if given == 2 else known_mistake(given, mistakes) or general


@check("04.5")
def check_chosen(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The figure on test of the cell that is best on dev."""
    cases = []
    for shape, low in (((4, 5), 0.5), ((3, 4), 0.1), ((2, 6), -0.6), ((5, 3), 0.3)):
        dev, test = random.uniform(low, low + 0.4, size=(2, *shape))
        test.flat[dev.argmax()] = low + 0.2  # neither the best nor the worst
        cases.append((dev, test))
    best = np.array([[0.5, 0.7, 0.6], [0.7, 0.4, 0.3]])  # two cells are best on dev, and test differs
    mistakes = (
        (lambda dev, test: test.max(), "that is the best on test: chosen there, the best of many flatters itself"),
        (lambda dev, test: dev.max(), "that is its value on dev, where it was chosen; report what it is on test"),
        (lambda dev, test: dev.flat[test.argmax()], "the other way round: dev chooses, test reports"),
        (lambda dev, test: test.flat[dev.argmin()], "larger is better: yours takes the worst on dev"),
        (lambda dev, test: test[dev.max(axis=1).argmax()].max(),
         "the row is chosen on dev, but the column on test; dev chooses both"),
    )  # fmt: skip
    complaint = find_mistake(answer, lambda dev, test: test.flat[dev.argmax()], cases, mistakes, read=number)
    ties = [np.array([[0.3, one, 0.9], [1.1 - one, 0.2, 0.4]]) for one in (0.5, 0.6)]
    if complaint is None and all(np.isclose(number(answer(best.copy(), test.copy())), 0.6) for test in ties):
        return "where two cells are equally good on dev, yours takes the better one on test: so test has chosen, too"
    return complaint


@check("04.6")
def check_placed(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Weights in the old space, sums in the new one."""
    cases = []
    for m, d, p, k, reg in ((9, 4, 2, 3, 1e-3), (12, 5, 3, 4, 0.05), (11, 3, 4, 5, 0.2)):  # rows of other lengths
        X = (2 * random.normal(size=(m, d)) + 1) * random.uniform(0.3, 2.5, size=(m, 1))
        cases.append((2 * random.normal(size=d), X, random.normal(size=(m, p)), k, reg))
    cases.append((cases[1][1][2].copy(), *cases[1][1:]))  # a new sentence may be the copy of a known one

    def among(rows: Callable[..., Any], weigh: Callable[..., Any] = weights_of) -> Callable[..., Any]:
        """Replace the k nearest with other sentences, or weight them differently."""

        def made(x: Any, X: Any, Y: Any, k: int, reg: float) -> Any:
            near = rows(np.linalg.norm(X - x, axis=1).argsort(), k)
            return weigh(x, X[near], reg) @ Y[near]

        return made

    def nearest(order: Any, k: int) -> Any:
        return order[:k]

    def right(x: Any, X: Any, Y: Any, k: int, reg: float) -> Any:
        return among(nearest)(x, X, Y, k, reg)

    mistakes = (
        (among(lambda order, k: order[-k:]), "these are the farthest: `argsort` rises"),
        (among(lambda order, k: order[1 : k + 1]), "x is new, so the nearest is not x itself: yours leaves it out"),
        (among(nearest, lambda x, near, reg: np.full(len(near), 1 / len(near))),
         "that is the plain mean of the neighbours: take the weights of exercise 04.1"),
        (lambda x, X, Y, k, reg: right(x, X, X, k, reg), "that rebuilds x in the old space; sum the rows of Y"),
        (among(lambda order, k: order[:1], lambda x, near, reg: np.ones(1)),
         "that is where the nearest alone is; there are k neighbours"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("04.7")
def check_both_ways(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(mended, spoilt) among all couples with different grades."""
    cases = [  # whole numbers, so that there are ties in each of the three
        tuple(random.integers(-span, span + 1, size=n).astype(float) for span in (2, 3, 2)) for n in (12, 20, 60)
    ]

    def by(count: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *three: np.array(count(*(each[:, None] > each[None, :] for each in three)))

    def right(gold: Any, before: Any, after: Any) -> Any:
        return by(lambda asked, old, new: [(asked & ~old & new).sum(), (asked & old & ~new).sum()])(gold, before, after)

    mistakes = (
        (lambda *three: right(*three)[::-1], "they have changed places: mended is wrong before and right after"),
        (by(lambda asked, old, new: [(~old & new).sum(), (old & ~new).sum()]),
         "a couple counts only where the grades differ, and i has the higher one"),
        (by(lambda asked, old, new: [(asked & new).sum(), (asked & ~new).sum()]),
         "that is right and wrong after; what was it before?"),
        (by(lambda asked, old, new: [(asked & ~old & new).mean(), (asked & old & ~new).mean()]),
         "the numbers were asked for, not the shares"),
        (by(lambda asked, old, new: [(asked & old.T & new).sum(), (asked & old & new.T).sum()]),
         "in order means strictly higher: a tie of two scores is not in order"),
    )  # fmt: skip
    read = several(2, number, "two numbers were expected: how many were mended, and how many were spoilt")
    return find_mistake(answer, right, cases, mistakes, read=read)
