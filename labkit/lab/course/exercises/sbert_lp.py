"""Notebook 04: weights, eigenvectors, choosing, new sentences and reversals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.lab.course.exercise import Unfit, Unnamed, array, check, close, find_mistake, known_mistake, number

GRAPH = np.array([[1, 2], [0, 2], [0, 1], [4, 5], [3, 5], [3, 4], [2, 3]])  # sentence -> those it is rebuilt from


def gram(x: Any, near: Any) -> Any:
    """The dot products of the differences between a sentence and its neighbours."""
    return (near - x) @ (near - x).T


def unsummed(x: Any, near: Any, reg: float) -> Any:
    """The weights before they are made to sum to 1."""
    G = gram(x, near)
    return np.linalg.solve(G + reg * np.trace(G) * np.eye(len(G)), np.ones(len(G)))


@check("04.1")
def check_weights(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(G + reg tr(G) I) w = 1, then w / Σ w."""
    draw = np.random.default_rng(0)
    cases = [
        (draw.normal(size=d), draw.normal(size=(k, d)) + draw.normal(size=d), reg)
        for k, d, reg in ((3, 4, 0.1), (4, 7, 0.02), (2, 3, 0.5))  # k <= d: without reg G has an inverse
    ]
    x, near, _ = cases[0]
    cases.append((x, np.array([near[0], near[0] + 1e-3 * near[1], near[2]]), 1e-8))  # two of them hardly differ

    def filled(added: Callable[..., Any], matrix: Callable[..., Any] = gram) -> Callable[..., Any]:
        """The weights with something else added to G, or from another matrix."""

        def weights(x: Any, near: Any, reg: float) -> Any:
            G = matrix(x, near)
            return _to_one(np.linalg.solve(G + added(G, reg), np.ones(len(G))))

        return weights

    def system(matrix: Callable[..., Any], *, share: Callable[..., Any] = np.trace) -> Callable[..., Any]:
        """The weights from another matrix, or with another share of it on the diagonal."""
        return filled(lambda G, reg: reg * share(G) * np.eye(len(G)), matrix)

    def after(turn: Callable[..., Any]) -> Callable[..., Any]:
        return lambda x, near, reg: turn(unsummed(x, near, reg))

    def distances(x: Any, near: Any) -> Any:
        return np.linalg.norm(near - x, axis=1)

    def straight(x: Any, near: Any, reg: float) -> Any:
        """The inverse, entry by entry, in place of the inverse of the matrix."""
        G = gram(x, near)
        return _to_one((1 / (G + reg * np.trace(G) * np.eye(len(G)))).sum(1))

    mistakes = (
        (lambda x, near, reg: np.linalg.inv(gram(x, near) + reg * np.trace(gram(x, near)) * np.eye(len(near))),
         "that is the whole inverse; times the vector of ones it gives the weights, before the last step"),
        (unsummed, "the weights do not sum to 1 yet: divide by their sum"),
        (after(lambda w: w / np.linalg.norm(w)), "the sum of the weights is to be 1, not their length"),
        (after(lambda w: w / abs(w).sum()), "a negative weight stays negative in the sum: divide by Σ w, not by Σ |w|"),
        (after(lambda w: abs(w) / abs(w).sum()), "a weight may be negative: yours loses the sign"),
        (after(lambda w: w.clip(0) / w.clip(0).sum()), "a weight may be negative: yours cuts it off at 0"),
        (after(lambda w: w / len(w)), "divide by the sum of the weights, not by their number"),
        (after(lambda w: w / w.max()), "divide by the sum of the weights, not by the largest"),
        (after(lambda w: np.exp(w) / np.exp(w).sum()), "no softmax: dividing by the sum makes the sum 1"),
        (system(gram, share=lambda G: 0),
         "reg is missing on the diagonal: there alone it helps, and without it G may have no inverse"),
        (system(gram, share=lambda G: 1), "reg is a share of the trace of G: times tr(G)"),
        (system(gram, share=lambda G: np.trace(G) / len(G)), "the trace is the diagonal's sum; yours takes its mean"),
        (system(gram, share=lambda G: G.sum()), "the trace is the sum of the diagonal, not of all of G"),
        (system(gram, share=np.linalg.norm), "that is the norm of G; the trace is the sum of its diagonal"),
        (system(gram, share=lambda G: -np.trace(G)), "what goes on the diagonal is added, not taken off"),
        (filled(lambda G, reg: np.diag(reg * np.trace(G) - np.diag(G))),
         "reg tr(G) is added to the diagonal; yours writes over what stood there"),
        (filled(lambda G, reg: reg * G * np.eye(len(G))), "each of the diagonal gets the same, reg tr(G), not its own"),
        (filled(lambda G, reg: np.trace(G) * np.eye(len(G))),
         "reg is missing: only a small share of the trace goes on the diagonal"),
        (system(lambda x, near: near @ near.T), "take x off first: G is of the differences x_j - x"),
        (system(lambda x, near: (near - x).T @ (near - x)),
         "G is k by k, a row for each neighbour: turn the other factor, `(near - x) @ (near - x).T`"),
        (system(lambda x, near: distances(x, near)[:, None] * distances(x, near)), "G has dot products, not distances"),
        (straight, "1 / G turns each entry upside down; what is asked is the solution of G w = 1, `np.linalg.solve`"),
        (lambda x, near, reg: np.linalg.lstsq(near.T, x, rcond=None)[0],
         "that rebuilds x as well as can be, but nothing makes these sum to 1"),
        (lambda x, near, reg: _to_one(np.linalg.lstsq(near.T, x, rcond=None)[0]),
         "these rebuild x before they are made to sum to 1, and not after: let differences come first"),
        (lambda x, near, reg: np.full(len(near), 1 / len(near)), "that is the plain mean of the neighbours"),
        (lambda x, near, reg: np.ones(len(near)), "that is only the right-hand side of the system"),
        (lambda x, near, reg: _to_one(1 / distances(x, near)),
         lambda x, near, reg: _to_one(np.exp(-distances(x, near))),
         "these say only how near each is, not what rebuilds x"),
        (lambda x, near, reg: weights_of(x, near, reg) @ near, "that is x rebuilt; the weights were asked for"),
    )  # fmt: skip
    return find_mistake(answer, weights_of, cases, mistakes)


@check("04.2")
def check_freedom(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """k weights, d + 1 equations: max(0, k - d - 1) are free."""
    cases = [(5, 2), (15, 10), (6, 4), (4, 3), (3, 50), (40, 16), (1, 1), (7, 6), (9, 1), (6, 6)]

    mistakes = (
        (lambda k, d: k - d - 1, "there are never fewer than 0 free directions"),
        (lambda k, d: abs(k - d - 1),
         "with fewer neighbours than equations nothing is free: 0, not a size without its sign"),
        (lambda k, d: max(0, k - d), "that the weights sum to 1 is an equation too"),
        (lambda k, d: k - d, "that the weights sum to 1 is an equation too, and never fewer than 0 are free"),
        (lambda k, d: abs(k - d),
         "that the weights sum to 1 is an equation too, and a size without its sign is no count"),
        (lambda k, d: max(0, k - 1), "each of the d numbers of x is an equation too"),
        (lambda k, d: k, "these are the unknowns; each equation takes one of them away"),
        (lambda k, d: max(0, k - d + 1), lambda k, d: k - d + 1,
         "a further equation takes freedom away, it does not give any"),
        (lambda k, d: max(0, k - d - 2), "one equation too many: d for x, and one for the sum"),
        (lambda k, d: max(1, k - d - 1), "it may be none: one set of weights at most leaves 0 directions"),
        (lambda k, d: d + 1, "that is the number of equations; unknowns less equations are free"),
        (lambda k, d: min(k, d + 1), "that is how many are fixed; unknowns less equations are free"),
        (lambda k, d: max(0, d + 1 - k), "the other way round: unknowns, k, less equations"),
        (lambda k, d: d + 1 - k, "the other way round: unknowns, k, less equations, and never fewer than 0"),
        (lambda k, d: max(0, d - k), "the other way round: unknowns, k, less equations, of which the sum is one"),
        (lambda k, d: k > d + 1, "whether something is free was not asked, but how much"),
    )  # fmt: skip
    return find_mistake(answer, lambda k, d: max(0, k - d - 1), cases, mistakes, read=number)


@check("04.3")
def check_embedded(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The p smallest eigenvectors after the constant, times √m; up to signs, or any turn among them."""
    cases = [(_matrix_of_a_ring(seed, m), p) for seed, m, p in ((7, 9, 3), (8, 12, 2), (9, 7, 4))]

    def vectors(M: Any) -> Any:
        return np.linalg.eigh(M)[1]

    def right(M: Any, p: int) -> Any:
        return np.sqrt(len(M)) * vectors(M)[:, 1 : p + 1]

    def chosen(columns: Callable[[int], slice], power: float = 0.5) -> Callable[..., Any]:
        """Other columns, times another power of m."""
        return lambda M, p: len(M) ** power * vectors(M)[:, columns(p)]

    after = lambda p: slice(1, p + 1)  # noqa: E731
    shapes = (
        (chosen(lambda p: slice(1, p)), "one column is missing: 1:p ends before p"),
        (chosen(lambda p: slice(1, p), 0), "one column is missing: 1:p ends before p; and YᵀY/m is not I yet"),
        (chosen(lambda p: slice(0, p + 1)), "one column too many: the first is the constant, take it out"),
        (chosen(lambda p: slice(1, p + 2)), "one column too many: p are asked for, and 1:p+1 takes p"),
        (chosen(lambda p: slice(1, None)), "these are all directions but the constant; the p cheapest are asked for"),
        (chosen(lambda p: slice(None)), "these are all directions; the p cheapest are asked for, without the constant"),
        (lambda M, p: vectors(M)[1 : p + 1], lambda M, p: np.sqrt(len(M)) * vectors(M)[1 : p + 1],
         "eigenvectors are the columns of what `eigh` gives, not the rows"),
        (lambda M, p: np.sqrt(len(M)) * vectors(M)[:, p], "that is one direction; p of them are asked for"),
        (lambda M, p: np.linalg.eigh(M)[0][1 : p + 1], "these are the eigenvalues; Y is made of the eigenvectors"),
    )  # fmt: skip
    mistakes = (
        (chosen(after, 0), "the columns have length 1, so YᵀY = I; for YᵀY/m = I, which factor is missing?"),
        (chosen(after, 1), "YᵀY/m is m here: squared, the factor should give m"),
        (chosen(after, -0.5), chosen(after, -1), "the factor makes the columns shorter; YᵀY/m = I needs longer ones"),
        (lambda M, p: np.sqrt(p) * vectors(M)[:, 1 : p + 1], "the factor is of m, the number of sentences, not of p"),
        (lambda M, p: np.sqrt(len(M) - 1) * vectors(M)[:, 1 : p + 1], "YᵀY/m is asked for, with m and not m - 1 below"),
        (chosen(lambda p: slice(0, p)), "the first column is the constant: it says the same of every sentence"),
        (chosen(lambda p: slice(0, p), 0),
         "the first column is the constant: it says the same of every sentence; and YᵀY/m is not I yet"),
        (chosen(lambda p: slice(2, p + 2)), "only one column is taken out: yours begins one too late"),
        (chosen(lambda p: slice(2, p + 2), 0),
         "only one column is taken out: yours begins one too late; and YᵀY/m is not I"),
        (chosen(lambda p: slice(-p, None)), chosen(lambda p: slice(-p, None), 0),
         "these are the largest eigenvalues, the worst reconstruction: the cost is to be small"),
        (chosen(lambda p: slice(-p - 1, -1)), "`eigh` gives the eigenvalues rising: yours are from the wrong end"),
        (lambda M, p: np.sqrt(len(M)) * vectors(M)[1 : p + 1].T, lambda M, p: vectors(M)[1 : p + 1].T,
         "eigenvectors are the columns of what `eigh` gives, not the rows"),
        (lambda M, p: right(M, p) * np.linalg.eigh(M)[0][1 : p + 1],
         lambda M, p: right(M, p) * np.sqrt(abs(np.linalg.eigh(M)[0][1 : p + 1])),
         "the eigenvalues are what a direction costs; they are no factors of Y"),
        (lambda M, p: right(M, p) / np.linalg.norm(right(M, p), axis=1, keepdims=True),
         "it is the columns whose size is fixed, YᵀY/m = I; yours makes each row of length 1"),
    )  # fmt: skip
    if shape := _of_another_shape(answer, cases, shapes):
        return shape
    complaint = find_mistake(answer, right, cases, mistakes, read=_up_to_a_turn)
    return _of_another_size(answer, cases, right) if isinstance(complaint, Unnamed) else complaint


def _of_another_size(answer: Callable[..., Any], cases: Any, right: Callable[..., Any]) -> str:
    """What a Y is whose numbers are those of no known mistake."""
    given = [array(answer(M.copy(), p)) for M, p in cases]
    sized = [Y / np.maximum(np.linalg.norm(Y, axis=0), 1e-12) * np.sqrt(len(Y)) for Y in given]
    wanted = [right(M, p) for M, p in cases]
    if all(np.allclose(Y @ Y.T, true @ true.T, atol=1e-5) for Y, true in zip(sized, wanted, strict=True)):
        return "the directions are right, their size is not: with YᵀY/m = I, how long is a column?"
    if not all(np.allclose(Y.T @ Y / len(Y), np.eye(Y.shape[1]), atol=1e-5) for Y in given):
        return "YᵀY/m is not I in yours: take eigenvectors of M, and mind their size"
    if not all(np.allclose(Y.sum(axis=0), 0, atol=1e-4) for Y in given):
        return "a column of yours has a part of the constant: its sum is not 0"
    return "YᵀY/m is I, but other directions are cheaper: `eigh` gives the eigenvalues rising, take columns 1 to p"


def _of_another_shape(answer: Callable[..., Any], cases: Any, shapes: Any) -> str | None:
    """What a Y that is not (m, p) is."""
    given = [array(answer(M.copy(), p)) for M, p in cases]
    if all(each.shape == (len(M), p) for each, (M, p) in zip(given, cases, strict=True)):
        return None
    for *functions, says in shapes:
        for wrong in functions:
            if all(close(abs(Y), abs(wrong(*case)), 1e-6) for Y, case in zip(given, cases, strict=True)):
                return str(says)
    off, M, p = next((Y, M, p) for Y, (M, p) in zip(given, cases, strict=True) if Y.shape != (len(M), p))
    if off.shape == (p, len(M)):
        return "the shape is (p, m): a sentence is a row, so no transposing at the end"
    return Unnamed(
        f"the shape is {off.shape}, expected {(len(M), p)}: a row of {p} numbers for each of {len(M)} sentences"
    )


def _up_to_a_turn(answer: Any) -> np.ndarray:
    """Y Yᵀ: what it is does not depend on the sign of a column, nor on a turn of the axes."""
    Y = array(answer)
    return Y @ Y.T


@check("04.4")
def check_zeros(answer: Any, random: np.random.Generator) -> str | None:
    """The graph of seven sentences has two sets that nothing leaves."""
    given = number(answer)
    mistakes = (
        (1.0, "the graph hangs together, but that is not asked: which sets of sentences does no arrow leave?"),
        (3.0, "from sentence 6 arrows lead away, and none comes back: it is no set that nothing leaves"),
        (0.0, "the constant is always one of them"),
        (4.0, "too many: find the sets that no arrow leaves; a value may be chosen once in each"),
        (5.0, "these are the eigenvalues that are not 0: the others are asked for"),
        (6.0, "within a set the sentences rebuild each other: one value for each *set*, not for each sentence"),
        (7.0, "no sentence stands alone: each has arrows to two others"),
    )  # fmt: skip
    general = Unnamed("follow the arrows until you cannot get out any more: how many such places are there?")
    return None if given == 2 else known_mistake(given, mistakes) or general


@check("04.5")
def check_chosen(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The figure on test of the cell that is best on dev."""
    draw = np.random.default_rng(3)
    cases = [
        tuple(low + draw.uniform(0, 0.4, size=shape) for _ in range(2))
        for shape, low in (((4, 5), 0.5), ((3, 2), 0.1), ((2, 6), -0.6), ((5, 3), 0.3), ((1, 4), 0.2))
    ]

    def right(dev: Any, test: Any) -> Any:
        return test.flat[dev.argmax()]

    def of_the_best_row(dev: Any, test: Any) -> Any:
        """k by dev, p by test."""
        return test[dev.max(axis=1).argmax()].max()

    mistakes = (
        (lambda d, t: t.max(), "that is the best on test: chosen there, the best of many flatters itself"),
        (lambda d, t: d.max(), "that is its figure on dev, where it was chosen; report what it is on test"),
        (lambda d, t: d.flat[t.argmax()], "the other way round: dev chooses, test reports"),
        (of_the_best_row, "the row is chosen on dev, but the column on test; dev chooses both"),
        (lambda dev, test: test[:, dev.max(axis=0).argmax()].max(),
         "the column is chosen on dev, but the row on test; dev chooses both"),
        (lambda d, t: t[d.mean(axis=1).argmax(), d.mean(axis=0).argmax()],
         "best row and best column on average need not meet in the best cell: look for the largest of all"),
        (lambda d, t: t.flat[(d + t).argmax()], "test has a say in the choice in yours; only dev chooses"),
        (lambda d, t: (d + t).max() / 2, "no mean of dev and test: dev chooses, test reports"),
        (lambda d, t: (d.max() + t.flat[d.argmax()]) / 2,
         "no mean of dev and test: dev chooses, and only the figure on test is reported"),
        (lambda d, t: t.flat[d.argmin()], "larger is better: yours takes the worst on dev"),
        (lambda d, t: t.mean(), "that is the mean of all cells; dev chooses one"),
        (lambda d, t: d.mean(), "that is the mean of all cells on dev; dev chooses one, test reports it"),
        (lambda d, t: t.min(), "that is the worst on test; dev chooses"),
        (lambda d, t: d.argmax(), "that is the place of the best on dev; what stands there in test?"),
        (lambda d, t: t.argmax(), "that is a place, not a figure, and test does not choose"),
        (lambda d, t: d.max() - t.flat[d.argmax()], "that is how far dev flatters; the figure on test is asked"),
        (lambda d, t: t.T.flat[d.argmax()], "the place is counted along the rows of dev, and test is turned"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number) or _test_has_chosen(answer)


def _test_has_chosen(answer: Callable[..., Any]) -> str | None:
    """Two cells are best on dev, and test differs: whichever is taken, it must not be for its figure on test."""
    dev = np.array([[0.5, 0.7, 0.6], [0.7, 0.4, 0.3]])
    tests = [np.array([[0.3, one, 0.9], [other, 0.2, 0.4]]) for one, other in ((0.5, 0.6), (0.6, 0.5))]
    if all(number(answer(dev.copy(), test.copy())) == 0.6 for test in tests):
        return "where two cells are equally good on dev, yours takes the better one on test: so test has chosen, too"
    return None


@check("04.6")
def check_placed(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Weights in the old space, sums in the new one."""
    draw = np.random.default_rng(5)
    cases = [
        (2 * draw.normal(size=d), _uneven(draw, m, d), draw.normal(size=(m, p)), k, reg)
        for m, d, p, k, reg in ((9, 4, 2, 3, 1e-3), (12, 5, 3, 4, 0.05), (7, 3, 4, 5, 0.2))
    ]
    cases.append((cases[1][1][2].copy(), *cases[1][1:]))  # a new sentence may be the copy of a known one

    def right(x: Any, X: Any, Y: Any, k: int, reg: float) -> Any:
        near = np.linalg.norm(X - x, axis=1).argsort()[:k]
        return weights_of(x, X[near], reg) @ Y[near]

    def among(rows: Callable[..., Any], *, mean: bool = False) -> Callable[..., Any]:
        """Other sentences in the place of the k nearest; `mean`: all with one weight."""

        def made(x: Any, X: Any, Y: Any, k: int, reg: float) -> Any:
            near = rows(x, X, k)
            return Y[near].mean(axis=0) if mean else weights_of(x, X[near], reg) @ Y[near]

        return made

    def order(x: Any, X: Any) -> Any:
        return np.linalg.norm(X - x, axis=1).argsort()

    def nearest(x: Any, X: Any, k: int) -> Any:
        return order(x, X)[:k]

    def shares(weigh: Callable[..., Any]) -> Callable[..., Any]:
        """Other weights of the k nearest."""

        def made(x: Any, X: Any, Y: Any, k: int, reg: float) -> Any:
            near = nearest(x, X, k)
            return weigh(x, X[near], reg) @ Y[near]

        return made

    mistakes = (
        (lambda x, X, Y, k, reg: weights_of(x, X[nearest(x, X, k)], reg),
         "these are the weights; the rows of Y are still to be summed with them"),
        (lambda x, X, Y, k, reg: weights_of(x, X[nearest(x, X, k)], reg)[:, None] * Y[nearest(x, X, k)],
         "the weighted rows of Y are still to be added up"),
        (lambda x, X, Y, k, reg: right(x, X, Y, k, reg) / k,
         "the weights sum to 1 already: add the weighted rows, take no mean of them"),
        (lambda x, X, Y, k, reg: weights_of(x, X[nearest(x, X, k)], reg) @ Y[:k],
         "the weights are those of the nearest, and the rows of Y those of the first k"),
        (among(nearest, mean=True), "that is the plain mean of the neighbours: take the weights of exercise 04.1"),
        (lambda x, X, Y, k, reg: Y[order(x, X)[0]], "that is where the nearest alone is; there are k neighbours"),
        (lambda x, X, Y, k, reg: Y[order(x, X)[-1]], "that is where the farthest is; k neighbours are asked for"),
        (among(lambda x, X, k: slice(None)), "these are the weights over all sentences: take the k nearest"),
        (lambda x, X, Y, k, reg: weights_of(x, X[nearest(x, X, k)], reg) @ X[nearest(x, X, k)],
         "that rebuilds x in the old space; sum the rows of Y"),
        (among(lambda x, X, k: order(x, X)[::-1][:k]), among(lambda x, X, k: order(x, X)[-k:]),
         "these are the farthest: `argsort` rises"),
        (among(lambda x, X, k: order(x, X)[1 : k + 1]),
         "x is new, so the nearest is not x itself: yours leaves the nearest out"),
        (among(lambda x, X, k: order(x, X)[1:k]), "x is new: yours leaves the nearest out, and has one too few"),
        (among(lambda x, X, k: order(x, X)[: k + 1]), "that is one neighbour too many: `[:k]` takes k"),
        (among(lambda x, X, k: order(x, X)[: k - 1]), "that is one neighbour too few: `[:k]` takes k"),
        (among(lambda x, X, k: slice(k)), "these are the first k sentences, not the nearest"),
        (among(lambda x, X, k: (-(X @ x)).argsort()[:k]),
         "the largest dot product is not the nearest where lengths differ: take distances"),
        (among(lambda x, X, k: (X @ x).argsort()[:k]),
         "the smallest dot products are no neighbours: take the smallest distances"),
        (among(lambda x, X, k: (-(X @ x) / np.linalg.norm(X, axis=1)).argsort()[:k]),
         "the largest cosine is not the nearest where lengths differ: take distances"),
        (among(lambda x, X, k: abs(X - x).sum(axis=1).argsort()[:k]),
         "that is the L1 distance; near here is by the ordinary one, `np.linalg.norm`"),
        (shares(unsummed), "the weights must sum to 1: `rebuild` of exercise 04.1 sees to it"),
        (shares(lambda x, near, reg: np.ones(len(near))), "that is the neighbours' plain sum: take their weights"),
        (shares(lambda x, near, reg: _to_one(1 / np.linalg.norm(near - x, axis=1))),
         "these weights say only how near each is: take those of exercise 04.1"),
        (shares(lambda x, near, reg: weights_of(x, near, 1e-3)), "reg is an argument here: hand it on to `rebuild`"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("04.7")
def check_both_ways(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(mended, spoilt) among all couples with different grades."""
    draw = np.random.default_rng(8)
    cases = [  # whole numbers, so that there are ties in each of the three
        tuple(draw.integers(-span, span + 1, size=n).astype(float) for span in (2, 3, 2)) for n in (6, 11, 9, 60)
    ]
    cases[1] = 0.4 * cases[1][0], *cases[1][1:]  # grades may have a fraction

    def tables(gold: Any, before: Any, after: Any) -> tuple[Any, Any, Any]:
        asked, old, new = (each[:, None] > each[None, :] for each in (gold, before, after))
        return asked, old, new

    def counted(asked: Any, old: Any, new: Any) -> Any:
        return np.array([(asked & ~old & new).sum(), (asked & old & ~new).sum()])

    def right(gold: Any, before: Any, after: Any) -> Any:
        return counted(*tables(gold, before, after))

    def of_tables(count: Callable[..., Any]) -> Callable[..., Any]:
        return lambda gold, before, after: count(*tables(gold, before, after))

    def loose(gold: Any, before: Any, after: Any) -> Any:
        asked, _, _ = tables(gold, before, after)
        return counted(asked, before[:, None] >= before, after[:, None] >= after)

    mistakes = (
        (of_tables(lambda asked, old, new: np.array([(asked & ~old).sum(), (asked & old).sum()])),
         "that is wrong and right before; what is it after?"),
        (of_tables(lambda *t: counted(*t)[::-1]), "they have changed places: mended is wrong before and right after"),
        (of_tables(lambda *t: 2 * counted(*t)), "each couple is counted twice: let i be the one with the higher grade"),
        (of_tables(lambda *t: counted(*t) / 2),
         "halved once too often: where i has the higher grade, a couple comes once"),
        (of_tables(lambda *t: counted(*t) / t[0].sum()), of_tables(lambda *t: counted(*t) / t[0].size),
         "the numbers were asked for, not the shares"),
        (of_tables(lambda asked, old, new: counted(asked | True, old, new)),
         "a couple counts only where the grades differ, and i has the higher one"),
        (lambda gold, before, after: counted(gold[:, None] >= gold, *tables(gold, before, after)[1:]),
         "equal grades ask for no order: i has the higher one, strictly"),
        (lambda gold, before, after: counted(gold[:, None] < gold, *tables(gold, before, after)[1:]),
         "yours looks at the couples where i has the *lower* grade"),
        (of_tables(lambda asked, old, new: counted(np.triu(asked, 1), old, new)),
         "i may come after j in the list as well: yours looks at those before it only"),
        (of_tables(lambda asked, old, new: counted(np.tril(asked, -1), old, new)),
         "i may come before j in the list as well: yours looks at those after it only"),
        (loose, "in order means strictly higher: a tie of two scores is not in order"),
        (of_tables(lambda asked, old, new: np.array([(asked & new).sum(), (asked & old).sum()])),
         "those that are right in both have not changed: mended was wrong before"),
        (of_tables(lambda asked, old, new: np.array([(asked & new).sum(), (asked & ~new).sum()])),
         "that is right and wrong after; what was it before?"),
        (of_tables(lambda asked, old, new: np.array([(asked & old & new).sum(), (asked & ~old & ~new).sum()])),
         "these are the couples that stayed as they were: right in both, wrong in both"),
        (of_tables(lambda asked, old, new: np.array([(~old & new).sum(), (asked & old & ~new).sum()])),
         "the grades are asked for on both sides of the account: yours forgets them in mended"),
        (lambda gold, before, after: counted(*(each[1:] > each[:-1] for each in (gold, before, after))),
         "all couples are asked for, not only those that stand next to each other"),
        (of_tables(lambda *t: np.array([counted(*t)[0]] * 2)), "yours says twice how many were mended"),
        (lambda gold, before, after: np.array([(after > before).sum(), (after < before).sum()]),
         "that asks which items rose; a couple is two items and their order"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=_two_counts)


def _two_counts(answer: Any) -> np.ndarray:
    found = array(answer)
    if found.size != 2:
        raise Unfit(
            "two numbers were expected, how many were mended and how many were spoilt, and "
            f"{'one' if found.size == 1 else found.size} came"
        )
    return found.ravel()


def weights_of(x: np.ndarray, near: np.ndarray, reg: float) -> np.ndarray:
    """What exercise 04.1 asks for."""
    return _to_one(unsummed(x, near, reg))


def _uneven(draw: np.random.Generator, m: int, d: int) -> np.ndarray:
    """Rows of lengths that differ, so that the nearest, the largest product and the largest cosine are others."""
    return np.asarray((2 * draw.normal(size=(m, d)) + 1) * draw.uniform(0.3, 2.5, size=(m, 1)))


def _to_one(found: np.ndarray) -> np.ndarray:
    return np.asarray(found / found.sum())


def _matrix_of_a_ring(seed: int, m: int) -> np.ndarray:
    """M of m sentences, each rebuilt from the one before and the one after, with shares that differ."""
    share = np.random.default_rng(seed).uniform(0.3, 0.7, size=m)
    W = np.zeros((m, m))
    here = np.arange(m)
    W[here, here - 1], W[here, (here + 1) % m] = share, 1 - share
    away = np.eye(m) - W
    return np.asarray(away.T @ away)
