"""Notebook 04: weights, eigenvectors and new sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.course.exercise import Cases, Unnamed, array, check, compared, exercise


@exercise(
    "04.1",
    (" / w.sum()", "", "the weights do not sum to 1 yet: divide by their sum"),
    (" / w.sum()", " / np.linalg.norm(w)", "the weights must sum to 1; yours have length 1 instead"),
    ("near - x", "near", "subtract x first: G is made of the differences x_j - x"),
    (" * np.trace(G)", "", "reg is a share of the trace: add reg times tr(G)"),
)
def neighbours(random: np.random.Generator) -> Cases:
    cases = [
        (random.normal(size=d), random.normal(size=(k, d)) + random.normal(size=d), reg)
        for k, d, reg in ((3, 4, 0.1), (4, 7, 0.02), (2, 3, 0.5))  # k <= d: without reg G has an inverse
    ]
    x, near, _ = cases[0]
    return [*cases, (x, np.array([near[0], near[0] + 1e-3 * near[1], near[2]]), 1e-8)]  # two of them are nearly equal


@exercise(
    "04.2",
    ("        distances[i] = np.inf\n", "", "each sentence is its own neighbour: leave it out"),
    ("distances[i] = np.inf\n        near = distances.argsort()[:k]", "near = distances.argsort()[-k:]",
     "those are the farthest: take the first entries of `argsort`"),
    ("W[i, near]", "W[near, i]", "row i must hold the weights of sentence i; yours are in column i"),
    ("rebuild(x, X[near], reg)", "1", "1 / k",
     "all your neighbours have the same weight: use the weights of `rebuild`"),
)  # fmt: skip
def spaces(random: np.random.Generator) -> Cases:
    for m, d, k, reg in ((7, 4, 3, 0.1), (9, 3, 4, 0.02), (6, 5, 2, 0.3)):
        yield random.normal(size=(m, d)) + random.normal(size=d), k, reg


def rings(random: np.random.Generator, *sizes: int) -> np.ndarray:
    """Weights of sentences in rings, each rebuilt from the one before and the one after: one component per ring."""
    W, start = np.zeros((sum(sizes), sum(sizes))), 0
    for size in sizes:
        here, share = np.arange(size), random.uniform(0.3, 0.7, size=size)
        W[start + here, start + here - 1 + size * (here == 0)] = share
        W[start + here, start + (here + 1) % size] = 1 - share
        start += size
    return W


def embedded(key: str, answer: Callable[..., Any], cases: list[tuple[Any, ...]], *mistakes: Any) -> str | None:
    """What is wrong with Y, which is determined only up to signs and rotations of its columns."""
    for W, p in cases:
        shape = array(answer(W.copy(), p)).shape
        if shape == (p, len(W)):
            return "the shape is (p, m): `eigh` returns eigenvectors as columns, and a sentence is a row"
        if shape != (len(W), p):
            return Unnamed(f"the shape is {shape}, expected {(len(W), p)}: p numbers for each sentence")
    return compared(
        key, answer, cases, *mistakes,
        read=lambda given: array(given) @ array(given).T,  # blind to rotations
        otherwise="either your YᵀY/m is not I, or other eigenvectors of M cost less: `eigh` returns them as "
        "columns of length 1, the cheapest first",
    )  # fmt: skip


@check("04.3")
def check_embedded(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The p smallest eigenvectors after the constant, times √m."""
    return embedded(
        "04.3", answer, [(rings(random, m), p) for m, p in ((9, 3), (12, 2), (7, 4))],
        ("np.sqrt(len(W)) * ", "",
         "the columns have length 1, so YᵀY = I: which factor is missing for YᵀY/m = I?"),
        ("np.sqrt(len(W))", "len(W)", "your YᵀY/m is m I: the factor squared must be m"),
        ("np.sqrt(len(W)) * vectors[:, 1 : p + 1]", "np.sqrt(len(W)) * vectors[:, :p]", "vectors[:, :p]",
         "the first column is the constant, the same for every sentence: leave it out"),
        ("1 : p + 1", "-p:", "these have the largest eigenvalues: take the smallest"),
        ("away.T @ away", "away @ away.T", "M is (I - W)ᵀ (I - W), with the ᵀ on the left"),
    )  # fmt: skip


@check("04.4")
def check_centred(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The p smallest eigenvectors once the constant has the largest eigenvalue, times √m."""
    cases = [(rings(random, *sizes), p) for sizes, p in (((5, 6), 3), ((4, 5, 6), 4), ((9,), 3))]
    return embedded(
        "04.4", answer, cases,
        ("    M = M + np.trace(M) * np.ones((m, m)) / m\n    values, vectors = np.linalg.eigh(M)",
         "    vectors = np.roll(np.linalg.eigh(M)[1], -1, axis=1)",
         "that drops the first eigenvector, as before; make the constant expensive instead"),
        (":p]", "1 : p + 1]", "drop no column now: begin at column 0"),
        ("np.sqrt(m) * ", "", "the columns have length 1: the factor √m is missing"),
        ("    M = M + np.trace(M) * np.ones((m, m)) / m\n", "",
         "the constant is still cheap: add tr(M) 1 1ᵀ / m to M"),
        (":p]", "-p:]", "the constant has the largest eigenvalue: take the smallest ones"),
    )  # fmt: skip


@exercise(
    "04.5",
    ("[:k]", "[-k:]", "these are the farthest: `argsort` begins with the smallest"),
    ("[:k]", "[1 : k + 1]", "you leave out the nearest, but x is not in X"),
    ("rebuild(x, X[near], reg)", "np.full(k, 1 / k)",
     "that is the plain mean of the neighbours: use the weights of exercise 04.1"),
    ("w @ Y[near]", "w @ X[near]", "that rebuilds x in the old space: mix the rows of Y"),
    ("w @ Y[near]", "Y[near[0]]", "that is the vector of the nearest neighbour alone: mix k neighbours"),
)  # fmt: skip
def new_sentences(random: np.random.Generator) -> Cases:
    cases = []
    for m, d, p, k, reg in ((9, 4, 2, 3, 1e-3), (12, 5, 3, 4, 0.05), (11, 3, 4, 5, 0.2)):  # rows of other lengths
        X = (2 * random.normal(size=(m, d)) + 1) * random.uniform(0.3, 2.5, size=(m, 1))
        cases.append((2 * random.normal(size=d), X, random.normal(size=(m, p)), k, reg))
    return [*cases, (cases[1][1][2].copy(), *cases[1][1:])]  # a new sentence may be the copy of a known one
