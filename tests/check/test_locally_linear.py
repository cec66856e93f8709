"""Notebook 04: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.check.exercise import judge
from labkit.check.lessons.locally_linear import GRAPH, LESSON
from labkit.locally_linear.components import terminal_components, weight_matrix

EACH = {exercise.key: exercise for exercise in LESSON.exercises.values()}


def rebuilt(x, near, share):  # type: ignore[no-untyped-def]
    """The weights before they are made to sum to 1, by the inverse that the notebook does without."""
    G = (near - x) @ (near - x).T
    return np.linalg.inv(G + share * np.trace(G) * np.eye(len(G))).sum(1)


def weights(x, near, share):  # type: ignore[no-untyped-def]
    return rebuilt(x, near, share) / rebuilt(x, near, share).sum()


def of_the_trace(x, near, reg):  # type: ignore[no-untyped-def]
    return weights(x, near, reg / np.trace((near - x) @ (near - x).T))


def vectors(M):  # type: ignore[no-untyped-def]
    return np.linalg.eigh(M)[1]


def nearest(x, X, k):  # type: ignore[no-untyped-def]
    return ((X - x) ** 2).sum(1).argsort()[:k]


def placed(x, X, Y, k, reg):  # type: ignore[no-untyped-def]
    near = nearest(x, X, k)
    return weights(x, X[near], reg) @ Y[near]


def counted(gold, before, after):  # type: ignore[no-untyped-def]
    """By loops, one couple at a time."""
    found = [0, 0]
    for i in range(len(gold)):
        for j in range(len(gold)):
            if gold[i] > gold[j]:
                old, new = before[i] > before[j], after[i] > after[j]
                found[0] += new and not old
                found[1] += old and not new
    return found


RIGHT = {
    "04.1": weights,
    "04.2": lambda k, d: max(0, k - (d + 1)),
    "04.3": lambda M, p: -vectors(M)[:, 1 : p + 1] * len(M) ** 0.5,  # a sign is free
    "04.4": 2,
    "04.5": lambda dev, test: test[np.unravel_index(dev.argmax(), dev.shape)],
    "04.6": placed,
    "04.7": counted,
}
WRONG = [
    ("04.1", rebuilt, "divide by their sum"),
    ("04.1", lambda x, near, reg: weights(x, near, 0.0), "reg is missing"),
    ("04.1", of_the_trace, "times tr(G)"),
    ("04.1", lambda x, near, reg: weights(0 * x, near, reg), "take x off"),
    ("04.1", lambda x, near, reg: np.linalg.lstsq(near.T, x, rcond=None)[0], "nothing makes these sum to 1"),
    ("04.1", lambda x, near, reg: np.full(len(near), 1 / len(near)), "plain mean"),
    ("04.2", lambda k, d: k - d - 1, "fewer than 0"),
    ("04.2", lambda k, d: max(0, k - d), "is an equation too"),
    ("04.2", lambda k, d: k - 1, "each of the d numbers"),
    ("04.2", lambda k, d: d + 1, "number of equations"),
    ("04.3", lambda M, p: vectors(M)[:, 1 : p + 1], "which factor"),
    ("04.3", lambda M, p: vectors(M)[:, :p] * len(M) ** 0.5, "constant"),
    ("04.3", lambda M, p: vectors(M)[:, -p:] * len(M) ** 0.5, "largest eigenvalues"),
    ("04.3", lambda M, p: vectors(M)[:, 1 : p + 1].T, "no transposing"),
    ("04.3", lambda M, p: vectors(M)[:, 1 : p + 1] * len(M), "squared"),
    ("04.3", lambda M, p: vectors(M)[1 : p + 1].T, "columns 1 to p"),
    ("04.4", 1, "hangs together"),
    ("04.4", 3, "sentence 6"),
    ("04.4", 0, "the constant"),
    ("04.5", lambda dev, test: test.max(), "flatters itself"),
    ("04.5", lambda dev, test: dev.max(), "figure on dev"),
    ("04.5", lambda dev, test: dev.flat[test.argmax()], "dev chooses"),
    ("04.6", lambda x, X, Y, k, reg: Y[nearest(x, X, k)].mean(0), "plain mean"),
    ("04.6", lambda x, X, Y, k, reg: Y[nearest(x, X, 1)[0]], "nearest alone"),
    ("04.6", lambda x, X, Y, k, reg: placed(x, X, Y, len(X), reg), "over all sentences"),
    ("04.6", lambda x, X, Y, k, reg: placed(x, X, X, k, reg), "old space"),
    ("04.6", lambda x, X, Y, k, reg: weights(x, X[:k], reg) @ Y[:k], "first k"),
    ("04.7", lambda *given: counted(*given)[::-1], "mended first"),
    ("04.7", lambda *given: counted(*given)[0], "what was spoilt"),
    ("04.7", lambda *given: [2 * each for each in counted(*given)], "twice"),
    ("04.7", lambda gold, before, after: [each / 14 for each in counted(gold, before, after)], "not the shares"),
]


@pytest.mark.parametrize("key", RIGHT)
def test_the_right_answer_is_taken(key: str) -> None:
    found = judge(EACH[key], RIGHT[key])
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = judge(EACH[key], given)
    assert not found.right
    assert word in found.says


def test_each_exercise_has_three_wrong_answers() -> None:
    assert set(RIGHT) == set(EACH)
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)


def test_the_graph_of_the_fourth_has_as_many_zeros_as_the_package_counts() -> None:
    W = weight_matrix(GRAPH, np.full(GRAPH.shape, 0.5))
    assert len(terminal_components(W)) == RIGHT["04.4"]
    away = np.eye(len(GRAPH)) - W.toarray()
    assert (np.linalg.eigvalsh(away.T @ away) < 1e-12).sum() == RIGHT["04.4"]
