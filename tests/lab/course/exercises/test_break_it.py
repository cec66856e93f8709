"""Notebook 09: each check takes the right answer in every form and names typical wrong ones."""

from __future__ import annotations

import math

import numpy as np
import torch

from labkit import METHODS
from labkit.corpora import load
from labkit.evaluation import geometry
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def cosines(V: np.ndarray) -> np.ndarray:
    return unit(V) @ unit(V).T


def others(S: np.ndarray) -> np.ndarray:
    return S[~np.eye(len(S), dtype=bool)]


def mean_by_loops(V):  # type: ignore[no-untyped-def]
    found = []
    for i, a in enumerate(V.tolist()):
        for b in V.tolist()[i + 1 :]:
            dot = sum(x * y for x, y in zip(a, b, strict=True))
            found.append(dot / math.hypot(*a) / math.hypot(*b))
    return sum(found) / len(found)


def with_torch(V):  # type: ignore[no-untyped-def]
    rows = torch.nn.functional.normalize(torch.tensor(V), dim=1)
    S = rows @ rows.T
    return S[torch.triu(torch.ones_like(S), 1).bool()].mean()


def divided_in_place(V):  # type: ignore[no-untyped-def]
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    return others(V @ V.T).mean()


def entropy(p: np.ndarray, log=np.log) -> float:  # type: ignore[no-untyped-def]
    p = p[p > 0]
    return -(p * log(p)).sum()


def share(sigma: np.ndarray) -> np.ndarray:
    return sigma / sigma.sum()


def rank_by_loops(sigma):  # type: ignore[no-untyped-def]
    total, found = sum(sigma.tolist()), 0.0
    for value in sigma.tolist():
        if value:
            found -= value / total * math.log(value / total)
    return math.exp(found)


def dot(v: np.ndarray, pull: np.ndarray) -> np.ndarray:
    return (v * pull).sum(1, keepdims=True)


def along_by_loops(v, pull):  # type: ignore[no-untyped-def]
    found = []
    for own, row in zip(v.tolist(), pull.tolist(), strict=True):
        part = sum(a * b for a, b in zip(own, row, strict=True))
        found.append([g - part * x for g, x in zip(row, own, strict=True)])
    return found


def along_with_torch(v, pull):  # type: ignore[no-untyped-def]
    rows, pulls = torch.tensor(v), torch.tensor(pull)
    return pulls - torch.einsum("nd,nd->n", rows, pulls)[:, None] * rows


def centred(X: np.ndarray) -> np.ndarray:
    return X - X.mean(0)


def eigen(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.linalg.eigh(X.T @ X / len(X))  # type: ignore[return-value]


def by_eigenvectors(X, power=-0.5):  # type: ignore[no-untyped-def]
    values, directions = eigen(centred(X))
    return centred(X) @ directions * values**power


def zca(X):  # type: ignore[no-untyped-def]
    values, directions = eigen(centred(X))
    return centred(X) @ (directions / np.sqrt(values)) @ directions.T


def by_cholesky(X):  # type: ignore[no-untyped-def]
    C = np.cov(X, rowvar=False, bias=True)
    return centred(X) @ np.linalg.cholesky(np.linalg.inv(C))


def by_svd(X):  # type: ignore[no-untyped-def]
    return math.sqrt(len(X)) * torch.linalg.svd(torch.tensor(centred(X)), full_matrices=False)[0]


def of_np_cov(X):  # type: ignore[no-untyped-def]
    values, directions = np.linalg.eigh(np.cov(X, rowvar=False))
    return centred(X) @ directions / np.sqrt(values)


def uncentred(X):  # type: ignore[no-untyped-def]
    values, directions = eigen(X)
    return X @ directions / np.sqrt(values)


def false(triplets: np.ndarray, meaning: np.ndarray) -> np.ndarray:
    return meaning[triplets[:, 0]] == meaning[triplets[:, 2]]


def anchors_with_one(triplets, meaning):  # type: ignore[no-untyped-def]
    return len(set(triplets[false(triplets, meaning), 0])) / len(set(triplets[:, 0]))


RIGHT = {
    "09.1": [
        lambda V: (cosines(V).sum() - len(V)) / (len(V) * (len(V) - 1)),
        lambda V: others(cosines(V)).mean(),
        mean_by_loops,
        with_torch,
        lambda V: ((unit(V).sum(0) ** 2).sum() - len(V)) / len(V) / (len(V) - 1),
    ],
    "09.2": [
        lambda sigma: np.exp(entropy(share(sigma))),
        rank_by_loops,
        lambda sigma: torch.exp(torch.special.entr(torch.tensor(share(sigma))).sum()),
        lambda sigma: 2 ** entropy(share(sigma), np.log2),
    ],
    "09.3": [0.2, np.array([0.2]), torch.tensor(0.2)],
    "09.4": [
        lambda v, pull: pull - dot(v, pull) * v,
        along_by_loops,
        along_with_torch,
        lambda v, pull: np.stack([(np.eye(len(a)) - np.outer(a, a)) @ g for a, g in zip(v, pull, strict=True)]),
    ],
    "09.5": [by_eigenvectors, zca, by_cholesky, by_svd],
    "09.6": [
        lambda triplets, meaning: false(triplets, meaning).mean(),
        lambda triplets, meaning: sum(meaning[a] == meaning[n] for a, _, n in triplets) / len(triplets),
        lambda triplets, meaning: (torch.tensor(meaning[triplets[:, 0]] - meaning[triplets[:, 2]]) == 0).float().mean(),
    ],
}  # fmt: skip
WRONG = {
    "09.1": [
        (lambda V: cosines(V).mean(), "the diagonal is in your mean"),
        (lambda V: others(V @ V.T).mean(), "divide each row by its length first"),
        (lambda V: (V @ V.T).mean(), "and the diagonal is in"),
        (lambda V: others(cosines(V)).sum(), "that is the sum"),
        (lambda V: (cosines(V).sum() - len(V)) / len(V) ** 2, "not out of the count"),
        (lambda V: np.triu(cosines(V), 1).sum() / (len(V) * (len(V) - 1)), "your sum has each pair once"),
        (lambda V: np.triu(cosines(V), 1).mean(), "zeros of the other triangle"),
        (lambda V: np.diag(cosines(V), 1).mean(), "each row with the next"),
        (lambda V: (unit(V) @ unit(V.mean(0)[None]).T).mean(), "the mean vector"),
        (lambda V: abs(others(cosines(V))).mean(), "leave its sign"),
        (lambda V: 1 - others(cosines(V)).mean(), "that is a distance"),
        (lambda V: others(cosines(V - V.mean(0))).mean(), "take the mean off first"),
        (lambda V: others(cosines(V)).std(), "yours is"),
        (divided_in_place, "changes V itself"),
    ],
    "09.2": [
        (lambda sigma: entropy(share(sigma)), "that is the entropy;"),
        (lambda sigma: entropy(share(sigma), np.log2), "in bits"),
        (lambda sigma: np.exp(entropy(share(sigma), np.log2)), "do not belong together"),
        (lambda sigma: np.exp(-entropy(share(sigma))), "the sign"),
        (lambda sigma: np.exp(entropy(share(sigma**2))), "shares of the squares"),
        (lambda sigma: np.exp(entropy(sigma)), "make them shares"),
        (lambda sigma: np.exp(entropy(sigma / sigma.max())), "not by the largest"),
        (lambda sigma: (sigma > 0).sum(), "plain rank"),
        (lambda sigma: np.linalg.matrix_rank(np.diag(sigma)), "plain rank"),
        (lambda sigma: 1 / (share(sigma) ** 2).sum(), "participation ratio"),
        (lambda sigma: np.exp(-(share(sigma) * np.log(share(sigma) + 0.01)).sum()), "yours is"),
        (lambda sigma: (np.log(share(sigma)[share(sigma) > 0])).sum(), "yours is"),
        (lambda sigma: "four", "numbers were expected"),
    ],
    "09.3": [
        (0, "the margin is added"),
        (1.2, "taken off the other"),
        (-0.2, "never below 0"),
        (1, "cosine of the pairs"),
        (0.8, "S_n is 1, not 0"),
        (0.1, "nothing is halved"),
        (0.4, "one triplet, not two"),
        (0.04, "nothing is squared"),
        (0.693, "soft-margin"),
        (0.5, "where none is said"),
        (7, "put the two cosines"),
        ("the margin", "numbers were expected"),
    ],
    "09.4": [
        (lambda v, pull: dot(v, pull) * v, "along v itself"),
        (lambda v, pull: pull, "whole pull"),
        (lambda v, pull: pull + dot(v, pull) * v, "do not add it"),
        (lambda v, pull: pull - dot(v, pull), "multiply it by v"),
        (lambda v, pull: pull - v, "take that many v off"),
        (lambda v, pull: pull - (v * pull).sum() * v, "its own dot product"),
        (lambda v, pull: pull - (v * pull).sum(0) * v, "down the columns"),
        (lambda v, pull: pull - v * pull, "add the products of a row up"),
        (lambda v, pull: pull - dot(v, pull) * pull, "not along the pull"),
        (lambda v, pull: unit(pull - dot(v, pull) * v), "do not divide by it"),
        (lambda v, pull: unit(v + pull), "after the pull"),
        (lambda v, pull: pull - (pull @ v.T) @ v, "row with row"),
        (lambda v, pull: pull - (v * pull).sum(1)[:, None] / v.sum(1)[:, None] * v, "expected"),
        (lambda v, pull: pull - (v * pull).sum(1) * v, "rint the `.shape` of both"),
    ],
    "09.5": [
        (uncentred, "the mean is still in"),
        (lambda X: by_eigenvectors(X, 0), "no direction is scaled"),
        (lambda X: by_eigenvectors(X, -1), "divided by the variance"),
        (lambda X: by_eigenvectors(X, 0.5), "multiplied by the root"),
        (centred, "no direction is scaled"),
        (lambda X: centred(X) / X.std(0), "still go together"),
        (of_np_cov, "n - 1"),
        (lambda X: np.linalg.svd(centred(X), full_matrices=False)[0], "the root of n"),
        (lambda X: unit(X), "each row 1 long"),
        (lambda X: X @ eigen(centred(X))[1] / np.sqrt(eigen(centred(X))[0]), "not out of the rows"),
        (lambda X: by_eigenvectors(X)[:, 1:], "a direction is missing"),
        (lambda X: by_eigenvectors(X).T, "expected"),
        (lambda X: np.linalg.inv(np.cov(X.T)), "expected"),
        (lambda X: X.mean(), "rows (n, d) were expected"),
    ],
    "09.6": [
        (lambda triplets, meaning: (meaning[triplets[:, 0]] == meaning[triplets[:, 1]]).mean(), "has the positives"),
        (lambda triplets, meaning: (meaning[triplets[:, 1]] == meaning[triplets[:, 2]]).mean(), "with the positive"),
        (lambda triplets, meaning: (meaning[triplets[:, 0]] != meaning[triplets[:, 2]]).mean(), "true negatives"),
        (lambda triplets, meaning: false(triplets, meaning).sum(), "that is how many"),
        (lambda triplets, meaning: false(triplets, meaning).sum() / len(meaning), "not of sentences"),
        (lambda triplets, meaning: (triplets[:, 0] == triplets[:, 2]).mean(), "row numbers"),
        (lambda triplets, meaning: (meaning[triplets[:, 0]] == triplets[:, 2]).mean(), "with a row number"),
        (anchors_with_one, "share of anchors"),
        (lambda triplets, meaning: 100 * false(triplets, meaning).mean(), "per cent"),
        (lambda triplets, meaning: false(triplets, meaning), "one number is asked"),
        (lambda triplets, meaning: (meaning[:, None] == meaning).mean(), "all pairs of sentences"),
        (lambda triplets, meaning: false(triplets, meaning).std(), "yours is"),
        (lambda triplets, meaning: 0.25, "whatever"),
    ],
}  # fmt: skip


def test_the_figures_of_the_exercises_are_those_of_the_package() -> None:
    vectors = METHODS["mean-vectors"](dimension=20)
    vectors.fit(load("topics"))
    V = vectors.encode(load("topics").part("test").sentences())
    assert np.isclose(RIGHT["09.1"][0](V), geometry.mean_cosine(V), atol=1e-5)  # type: ignore[operator]
    sigma = np.linalg.svd(centred(unit(V)), compute_uv=False)
    assert np.isclose(RIGHT["09.2"][0](sigma), geometry.effective_rank(V), atol=1e-3)  # type: ignore[operator]
