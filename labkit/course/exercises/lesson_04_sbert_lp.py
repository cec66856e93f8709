"""Notebook 04: weights, eigenvectors and new sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.course.exercise import Unnamed, array, check, find_mistake


def unsummed(G: np.ndarray, added: float) -> np.ndarray:
    """The weights before they are made to sum to 1, with a number added to the diagonal of G."""
    return np.asarray(np.linalg.solve(G + added * np.eye(len(G)), np.ones(len(G))))


def to_one(found: np.ndarray) -> np.ndarray:
    return np.asarray(found / found.sum())


def gram(x: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The dot products of the differences between a sentence and its neighbours."""
    return np.asarray((near - x) @ (near - x).T)


def weights_of(x: np.ndarray, near: np.ndarray, reg: float) -> np.ndarray:
    """The solution of exercise 04.1."""
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
    cases.append((x, np.array([near[0], near[0] + 1e-3 * near[1], near[2]]), 1e-8))  # two of them are nearly equal

    def raw(x: Any, near: Any, reg: float) -> Any:
        return unsummed(gram(x, near), reg * np.trace(gram(x, near)))

    mistakes = (
        (raw, "the weights do not sum to 1 yet: divide by their sum"),
        (lambda *case: raw(*case) / np.linalg.norm(raw(*case)),
         "the weights must sum to 1; in yours their length is 1"),
        (lambda x, near, reg: to_one(unsummed(gram(x, near), 0)),
         "reg is missing on the diagonal of G: without it G may have no inverse"),
        (lambda x, near, reg: to_one(unsummed(gram(x, near), reg)), "reg is a share of the trace: add reg times tr(G)"),
        (lambda x, near, reg: weights_of(0 * x, near, reg), "subtract x first: G is made of the differences x_j - x"),
    )  # fmt: skip
    return find_mistake(answer, weights_of, cases, mistakes)


def mixed(X: np.ndarray, k: int, reg: float, weigh: Any = weights_of, first: int = 1, farthest: bool = False) -> Any:
    """The solution of exercise 04.2, with other weights or other neighbours."""
    W = np.zeros((len(X), len(X)))
    for i, x in enumerate(X):
        order = np.linalg.norm(X - x, axis=1).argsort(kind="stable")
        near = order[-k:] if farthest else order[first : first + k]
        W[i, near] = weigh(x, X[near], reg)
    return W


@check("04.2")
def check_mixtures(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The weights of each row's k nearest others, in its row."""
    cases = [
        (random.normal(size=(m, d)) + random.normal(size=d), k, reg)
        for m, d, k, reg in ((7, 4, 3, 0.1), (9, 3, 4, 0.02), (6, 5, 2, 0.3))
    ]

    def nearest_alone(X: Any, k: int, reg: float) -> Any:
        return (mixed(X, k, reg) != 0).astype(float)

    mistakes = (
        (lambda X, k, reg: mixed(X, k, reg, first=0), "a sentence is its own neighbour in yours: leave it out"),
        (lambda X, k, reg: mixed(X, k, reg, farthest=True), "those are the farthest: take the first of `argsort`"),
        (lambda X, k, reg: mixed(X, k, reg).T, "row i must hold the weights of sentence i; in yours column i does"),
        (nearest_alone, lambda X, k, reg: nearest_alone(X, k, reg) / k,
         "all neighbours have the same weight in yours: use the weights of `rebuild`"),
        (lambda X, k, reg: mixed(X, k, 1e-3), "pass `reg` on to `rebuild`"),
    )  # fmt: skip
    return find_mistake(answer, lambda X, k, reg: mixed(X, k, reg), cases, mistakes)


def rings(random: np.random.Generator, *sizes: int) -> np.ndarray:
    """Weights of sentences in rings, each rebuilt from the one before and the one after: one component per ring."""
    W, start = np.zeros((sum(sizes), sum(sizes))), 0
    for size in sizes:
        here, share = np.arange(size), random.uniform(0.3, 0.7, size=size)
        W[start + here, start + here - 1 + size * (here == 0)] = share
        W[start + here, start + (here + 1) % size] = 1 - share
        start += size
    return W


def eigenrows_of(W: np.ndarray, chosen: slice, power: float = 0.5, dear: float = 0.0, turned: bool = False) -> Any:
    """Columns of the eigenvectors of M, times a power of m; `dear`: the constant's penalty as a share of tr(M)."""
    m, away = len(W), np.eye(len(W)) - W
    M = away @ away.T if turned else away.T @ away
    return m**power * np.linalg.eigh(M + dear * np.trace(M) / m)[1][:, chosen]


def embedded(answer: Callable[..., Any], cases: list[tuple[Any, ...]], right: Any, mistakes: Any) -> str | None:
    """The complaint about Y, which is right up to signs and rotations of its columns."""
    for W, p in cases:
        shape = array(answer(W.copy(), p)).shape
        if shape == (p, len(W)):
            return "the shape is (p, m): `eigh` returns eigenvectors as columns, and a sentence is a row"
        if shape != (len(W), p):
            return Unnamed(f"the shape is {shape}, expected {(len(W), p)}: p numbers for each sentence")

    def up_to_a_rotation(given: Any) -> np.ndarray:
        return np.asarray(array(given) @ array(given).T)

    complaint = find_mistake(answer, right, cases, mistakes, read=up_to_a_rotation)
    if isinstance(complaint, Unnamed):
        given = [array(answer(W.copy(), p)) for W, p in cases]
        if not all(np.allclose(Y.T @ Y / len(Y), np.eye(Y.shape[1]), atol=1e-5) for Y in given):
            return "YᵀY/m is not I in yours: take eigenvectors of M, and check their size"
        return "YᵀY/m is I, but other eigenvectors cost less: `eigh` returns them as columns, the cheapest first"
    return complaint


@check("04.3")
def check_embedded(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The p smallest eigenvectors after the constant, times √m."""
    cases: list[tuple[Any, ...]] = [(rings(random, m), p) for m, p in ((9, 3), (12, 2), (7, 4))]
    mistakes = (
        (lambda W, p: eigenrows_of(W, slice(1, p + 1), 0),
         "the columns have length 1, so YᵀY = I: which factor is missing for YᵀY/m = I?"),
        (lambda W, p: eigenrows_of(W, slice(1, p + 1), 1), "YᵀY/m is m I in yours: the factor squared must be m"),
        (lambda W, p: eigenrows_of(W, slice(0, p)), lambda W, p: eigenrows_of(W, slice(0, p), 0),
         "the first column is the constant, the same for every sentence: leave it out"),
        (lambda W, p: eigenrows_of(W, slice(-p, None)), "these have the largest eigenvalues: take the smallest"),
        (lambda W, p: eigenrows_of(W, slice(1, p + 1), turned=True), "M is (I - W)ᵀ (I - W), with the ᵀ on the left"),
    )  # fmt: skip
    return embedded(answer, cases, lambda W, p: eigenrows_of(W, slice(1, p + 1)), mistakes)


@check("04.4")
def check_centred(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The p smallest eigenvectors once the constant has the largest eigenvalue, times √m."""
    cases: list[tuple[Any, ...]] = [(rings(random, *sizes), p) for sizes, p in (((5, 6), 3), ((4, 5, 6), 4), ((9,), 3))]
    mistakes = (
        (lambda W, p: eigenrows_of(W, slice(1, p + 1)),
         "that drops the first eigenvector, as before; make the constant expensive instead"),
        (lambda W, p: eigenrows_of(W, slice(1, p + 1), dear=1), "drop no column now: begin at column 0"),
        (lambda W, p: eigenrows_of(W, slice(0, p), 0, dear=1), "the columns have length 1: the factor √m is missing"),
        (lambda W, p: eigenrows_of(W, slice(0, p)), "the constant is still cheap: add tr(M) 1 1ᵀ / m to M"),
        (lambda W, p: eigenrows_of(W, slice(-p, None), dear=1), "the constant has the largest: take the smallest"),
    )  # fmt: skip
    return embedded(answer, cases, lambda W, p: eigenrows_of(W, slice(0, p), dear=1), mistakes)


@check("04.5")
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
        (among(lambda order, k: order[-k:]), "these are the farthest: `argsort` begins with the smallest"),
        (among(lambda order, k: order[1 : k + 1]), "yours leaves out the nearest, but x is not in X"),
        (among(nearest, lambda x, near, reg: np.full(len(near), 1 / len(near))),
         "that is the plain mean of the neighbours: use the weights of exercise 04.1"),
        (lambda x, X, Y, k, reg: right(x, X, X, k, reg), "that rebuilds x in the old space: mix the rows of Y"),
        (among(lambda order, k: order[:1], lambda x, near, reg: np.ones(1)),
         "that is the place of the nearest alone: mix k neighbours"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)
