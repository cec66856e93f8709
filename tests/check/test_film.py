"""Notebook 06: each look takes the right answer and names typical wrong ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from labkit.check.exercise import judge
from labkit.check.lessons import exercise
from labkit.check.lessons import film as looks
from labkit.film.stiefel import stationarity


def verdict(key: str, given):  # type: ignore[no-untyped-def]
    return judge(exercise(key), given)


def each(Y, triplets, m):  # type: ignore[no-untyped-def]
    i, j, k = triplets.T
    return (Y[i] * Y[k]).sum(1) + m - (Y[i] * Y[j]).sum(1)


def summed(Y, triplets, values):  # type: ignore[no-untyped-def]
    return np.bincount(triplets[:, 0], values, len(Y))


def size(Y, triplets):  # type: ignore[no-untyped-def]
    return np.bincount(triplets[:, 0], minlength=len(Y))


def skew(P, G):  # type: ignore[no-untyped-def]
    return G @ P.T - P @ G.T


def turned(P, G, up, down):  # type: ignore[no-untyped-def]
    unit = np.eye(len(P))
    return np.linalg.solve(unit + up * skew(P, G), (unit - down * skew(P, G)) @ P)


def rank(S, a, b, self_too=False):  # type: ignore[no-untyped-def]
    return 1 + sum(S[a, c] > S[a, b] for c in range(len(S)) if self_too or c != a)


def mixed(plain, learned, share):  # type: ignore[no-untyped-def]
    return share * plain + (1 - share) * learned


def auc_of(plain, learned, labels):  # type: ignore[no-untyped-def]
    return lambda share: roc_auc_score(labels, mixed(plain, learned, share))


RIGHT = {
    "06.1": lambda Y, T, m: np.maximum(0, summed(Y, T, each(Y, T, m)) / (size(Y, T) + 1)).sum(),
    "06.2": lambda m, size: m * size / (size + 1),
    "06.3": math.log(1 + math.exp(0.01)) / 0.01,
    "06.4": lambda P, G, length: turned(P, G, length / 2, length / 2),
    "06.5": lambda dP, dF: (dP * dP).sum() / abs((dP * dF).sum()),
    "06.6": lambda a, b, L: a[:, None] * (L.T @ L) * b,
    "06.7": lambda S, a, b: max(rank(S, a, b), rank(S, b, a)),
    "06.8": lambda plain, learned, labels, shares: max(shares, key=auc_of(plain, learned, labels)),
}
WRONG = [
    ("06.1", lambda Y, T, m: np.maximum(0, each(Y, T, m)).mean(), "eq. 3"),
    ("06.1", lambda Y, T, m: (summed(Y, T, np.maximum(0, each(Y, T, m))) / (size(Y, T) + 1)).sum(), "each triplet"),
    (
        "06.1",
        lambda Y, T, m: np.maximum(0, summed(Y, T, each(Y, T, m)) / np.maximum(size(Y, T), 1)).sum(),
        "divides by |T_i|",
    ),
    ("06.1", lambda Y, T, m: np.maximum(0, summed(Y, T, each(Y, T, m)) / (size(Y, T) + 1)).mean(), "mean over"),
    ("06.1", lambda Y, T, m: np.maximum(0, summed(Y, T, each(Y, T, 0)) / (size(Y, T) + 1)).sum(), "margin m"),
    ("06.1", lambda Y, T, m: np.maximum(0, summed(Y, T, 2 * m - each(Y, T, m)) / (size(Y, T) + 1)).sum(), "swapped"),
    ("06.1", lambda Y, T, m: (summed(Y, T, each(Y, T, m)) / (size(Y, T) + 1)).sum(), "hinge is missing"),
    ("06.2", lambda m, size: m, "as it is printed"),
    ("06.2", lambda m, size: m + 0 * size, "as it is printed"),
    ("06.2", lambda m, size: m / (size + 1), "|T_i| times"),
    ("06.2", lambda m, size: m * size, "divided"),
    ("06.3", math.log(1 + math.exp(0.01)), "divide it by"),
    ("06.3", math.log(1 + math.exp(-0.01)) / 0.01, "minus inside"),
    ("06.3", 1.0, "should give"),
    ("06.3", 0.01 / math.log(1 + math.exp(0.01)), "upside down"),
    ("06.3", 12.0, "compute log"),
    ("06.4", lambda P, G, length: P - length * stationarity(P, G), "eq. 22"),
    ("06.4", lambda P, G, length: P - length * G, "gradient step of school"),
    ("06.4", lambda P, G, length: turned(P, G, length, length), "τ/2 in both"),
    ("06.4", lambda P, G, length: turned(P, G, -length / 2, -length / 2), "uphill"),
    ("06.4", lambda P, G, length: turned(P, G, length / 2, 0), "(I - τ/2 A) is missing"),
    ("06.4", lambda P, G, length: turned(P, G, 0, length / 2), "inverse of (I + τ/2 A) is missing"),
    ("06.5", lambda dP, dF: (dP * dP).sum() / (dP * dF).sum(), "below 0 goes uphill"),
    ("06.5", lambda dP, dF: abs((dP * dF).sum()) / (dF * dF).sum(), "eq. 27"),
    ("06.5", lambda dP, dF: abs((dP * dF).sum()) / (dP * dP).sum(), "upside down"),
    ("06.5", lambda dP, dF: np.linalg.norm(dP) / abs((dP * dF).sum()), "the square"),
    ("06.5", lambda dP, dF: np.linalg.norm(dP) / np.linalg.norm(dF), "between"),
    ("06.6", lambda a, b, L: b[:, None] * (L.T @ L) * a, "exchanged"),
    ("06.6", lambda a, b, L: np.outer(a, b), "L is missing"),
    ("06.6", lambda a, b, L: np.diag(a * b), "plain TF-IDF"),
    ("06.6", lambda a, b, L: float(a @ L.T @ L @ b), "one number"),
    ("06.6", lambda a, b, L: (L @ a) * (L @ b), "each row of L"),
    ("06.6", lambda a, b, L: a[:, None] * (L.T @ L), "words of b are missing"),
    ("06.7", lambda S, a, b: min(rank(S, a, b), rank(S, b, a)), "smaller"),
    ("06.7", lambda S, a, b: max(rank(S, a, b, True), rank(S, b, a, True)), "own nearest"),
    ("06.7", lambda S, a, b: max(rank(S, a, b), rank(S, b, a)) - 1, "not 0"),
    ("06.7", lambda S, a, b: rank(S, a, b), "a's neighbours only"),
    ("06.7", lambda S, a, b: rank(S, b, a), "b's neighbours only"),
    ("06.7", lambda S, a, b: rank(S, a, b) + rank(S, b, a), "not added"),
    ("06.8", lambda p, q, labels, shares: max(shares, key=auc_of(q, p, labels)), "of TF-IDF"),
    ("06.8", lambda p, q, labels, shares: min(shares, key=auc_of(p, q, labels)), "smallest"),
    ("06.8", lambda p, q, labels, shares: max(map(auc_of(p, q, labels), shares)), "the share that has it"),
    (
        "06.8",
        lambda p, q, labels, shares: max(shares, key=lambda s: ((mixed(p, q, s) > 0.5) == labels).mean()),
        "no threshold",
    ),
    ("06.8", lambda p, q, labels, shares: 0.5, "has the best AUC"),
]


@pytest.mark.parametrize("key", RIGHT)
def test_the_right_answer_is_taken(key: str) -> None:
    found = verdict(key, RIGHT[key])
    assert found.right, found.says


@pytest.mark.parametrize(("key", "given", "word"), WRONG)
def test_a_wrong_answer_is_named(key: str, given, word: str) -> None:  # type: ignore[no-untyped-def]
    found = verdict(key, given)
    assert not found.right
    assert word in found.says


def test_each_exercise_has_three_wrong_answers() -> None:
    assert all(sum(key == each for each, *_ in WRONG) >= 3 for key in RIGHT)


def test_no_case_is_blind_to_a_mistake() -> None:
    """Wrong answers differ from the right one in the cases of the looks, else they could not be told."""
    S = looks._cosines()
    assert any(looks._rank(S, a, b) != looks._rank(S, b, a) for a in range(8) for b in range(a))
    assert len(np.unique(S.round(6))) == 8 * 7 // 2 + 1  # no ties but the diagonal
