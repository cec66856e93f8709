"""Notebook 04: each check takes every form of the right answer, refuses wrong ones and names typical ones."""

from __future__ import annotations

import numpy as np
import scipy.linalg
import torch

from labkit.lab.course.exercises.sbert_lp import GRAPH
from labkit.lab.course.notebooks import NOTEBOOKS
from labkit.sbert_lp.graph import terminal_components, weight_matrix
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


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


def gram(x, near):  # type: ignore[no-untyped-def]
    return (near - x) @ (near - x).T


def solved(G, added):  # type: ignore[no-untyped-def]
    w = np.linalg.solve(G + added, np.ones(len(G)))
    return w / w.sum()


def scaled_first(x, near, reg):  # type: ignore[no-untyped-def]
    """In place: what it was given is changed."""
    near -= x
    G = near @ near.T
    return solved(G, reg * np.trace(G) * np.eye(len(G)))


def by_torch(x, near, reg):  # type: ignore[no-untyped-def]
    away = torch.tensor(near) - torch.tensor(x)
    G = away @ away.T
    w = torch.linalg.solve(G + reg * G.trace() * torch.eye(len(G)), torch.ones(len(G), dtype=G.dtype))
    return w / w.sum()


def as_constrained(x, near, reg):  # type: ignore[no-untyped-def]
    """The minimum with its Lagrange multiplier, in one larger system."""
    G = gram(x, near)
    n = len(G)
    edge = np.block([[G + reg * np.trace(G) * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    return np.linalg.solve(edge, np.eye(n + 1)[n])[:n]


def Y_of(M, p):  # type: ignore[no-untyped-def]
    return vectors(M)[:, 1 : p + 1] * len(M) ** 0.5


def turned(M, p):  # type: ignore[no-untyped-def]
    """Another basis of the same directions: as orthonormal, as cheap."""
    return Y_of(M, p) @ np.linalg.qr(np.random.default_rng(1).normal(size=(p, p)))[0]


def without_constant(M, p):  # type: ignore[no-untyped-def]
    """The constant made dear, and then the p smallest."""
    return scipy.linalg.eigh(M + 9 / len(M), subset_by_index=[0, p - 1])[1] * np.sqrt(len(M))


def rows_first(dev, test):  # type: ignore[no-untyped-def]
    return test[dev.max(1).argmax()].max()


def by_tables(gold, before, after):  # type: ignore[no-untyped-def]
    asked, old, new = (np.subtract.outer(each, each) > 0 for each in (gold, before, after))
    return asked, old, new


RIGHT = {
    "04.1": [weights, by_torch, as_constrained, lambda x, near, reg: weights(x, near, reg).astype(np.float32)],
    "04.2": [
        lambda k, d: max(0, k - (d + 1)),
        lambda k, d: np.clip(k - d - 1, 0, None),
        lambda k, d: [max(k - d, 1) - 1],
    ],
    "04.3": [
        lambda M, p: -Y_of(M, p),  # a sign is free
        turned,
        without_constant,
        lambda M, p: torch.tensor(Y_of(M, p)).float(),
        lambda M, p: Y_of(M, p)[:, ::-1],
    ],
    "04.4": [2, 2.0, np.array([2]), torch.tensor(2)],
    "04.5": [
        lambda dev, test: test[np.unravel_index(dev.argmax(), dev.shape)],
        lambda dev, test: test[dev == dev.max()][-1:],
        lambda dev, test: max(zip(dev.ravel(), test.ravel(), strict=True), key=lambda both: both[0])[1],
        lambda dev, test: test[dev == dev.max()].mean(),
    ],
    "04.6": [
        placed,
        lambda x, X, Y, k, reg: torch.tensor(placed(x, X, Y, k, reg)),
        lambda x, X, Y, k, reg: sum(
             w * Y[n] for w, n in zip(weights(x, X[nearest(x, X, k)], reg), nearest(x, X, k), strict=True)
         ),
    ],
    "04.7": [
        counted,
        lambda *given: tuple(counted(*given)),
        lambda *given: torch.tensor(counted(*given)),
        lambda *given: np.array(counted(*given)).reshape(2, 1),
    ],
}  # fmt: skip
WRONG = {
    "04.1": [
        (rebuilt, "divide by their sum"),
        (lambda x, near, reg: solved(gram(x, near), 0), "reg is missing"),
        (of_the_trace, "times tr(G)"),
        (lambda x, near, reg: weights(0 * x, near, reg), "take x off"),
        (lambda x, near, reg: np.linalg.lstsq(near.T, x, rcond=None)[0], "nothing makes these sum to 1"),
        (lambda x, near, reg: np.full(len(near), 1 / len(near)), "plain mean"),
        (lambda x, near, reg: rebuilt(x, near, reg) / np.linalg.norm(rebuilt(x, near, reg)), "not their length"),
        (lambda x, near, reg: abs(rebuilt(x, near, reg)) / abs(rebuilt(x, near, reg)).sum(), "loses the sign"),
        (lambda x, near, reg: solved(gram(x, near), reg * np.trace(gram(x, near))), "reg is missing on the diagonal"),
        (lambda x, near, reg: weights(x, near, reg / len(near)), "takes its mean"),
        (lambda x, near, reg: solved((near - x).T @ (near - x), reg * np.trace(gram(x, near)) * np.eye(len(x))),
         "k by k"),
        (lambda x, near, reg: weights(x, near, 0.1), "whatever reg is"),
        (lambda x, near, reg: weights(x, near, reg) @ near, "the weights were asked for"),
        (scaled_first, "changes near"),
        (lambda x, near, reg: weights(*(each.astype(np.float32) for each in (x, near)), reg), "expected"),
    ],
    "04.2": [
        (lambda k, d: k - d - 1, "fewer than 0"),
        (lambda k, d: max(0, k - d), "is an equation too"),
        (lambda k, d: k - 1, "each of the d numbers"),
        (lambda k, d: max(0, k - 1), "each of the d numbers"),
        (lambda k, d: d + 1, "number of equations"),
        (lambda k, d: abs(k - d - 1), "without its sign"),
        (lambda k, d: max(0, k - d + 1), "does not give any"),
        (lambda k, d: max(1, k - d - 1), "it may be none"),
        (lambda k, d: max(0, d + 1 - k), "other way round"),
        (lambda k, d: min(k, d + 1), "how many are fixed"),
        (lambda k, d: k > d + 1, "how much"),
        (lambda k, d: 2, "whatever"),
        (lambda k, d: k - d - 1 if k > d + 2 else 0, "expected"),
        (lambda k, d: k - d - 1 if k > d else None, "every way through it"),
        (lambda k, d: max(0, k - 3), "whatever d is"),
    ],
    "04.3": [
        (lambda M, p: vectors(M)[:, 1 : p + 1], "which factor"),
        (lambda M, p: vectors(M)[:, :p] * len(M) ** 0.5, "constant"),
        (lambda M, p: vectors(M)[:, -p:] * len(M) ** 0.5, "largest eigenvalues"),
        (lambda M, p: vectors(M)[:, 1 : p + 1].T, "no transposing"),
        (lambda M, p: vectors(M)[:, 1 : p + 1] * len(M), "squared"),
        (lambda M, p: vectors(M)[1 : p + 1].T, "columns of what"),
        (lambda M, p: vectors(M)[:, 1:p] * len(M) ** 0.5, "ends before p"),
        (lambda M, p: vectors(M)[:, 2 : p + 2] * len(M) ** 0.5, "one too late"),
        (lambda M, p: vectors(M)[:, 1:] * len(M) ** 0.5, "p cheapest"),
        (lambda M, p: vectors(M)[:, : p + 1] * len(M) ** 0.5, "take it out"),
        (lambda M, p: vectors(M)[:, 1 : p + 1] / len(M) ** 0.5, "longer ones"),
        (lambda M, p: vectors(M)[:, 1 : p + 1] * 3, "how long is a column"),
        (lambda M, p: Y_of(M, p) * np.linalg.eigvalsh(M)[1 : p + 1], "no factors of Y"),
        (lambda M, p: Y_of(M, 3), "expected"),
        (lambda M, p: np.random.default_rng(0).normal(size=(len(M), p)), "not I in yours"),
        (lambda M, p: Y_of(M, p + 1)[:, [*range(p - 1), p]], "other directions are cheaper"),
    ],
    "04.4": [
        (1, "hangs together"),
        (3, "sentence 6"),
        (0, "the constant"),
        (7, "stands alone"),
        (6, "one value for each *set*"),
        (5, "not 0"),
        (4, "too many"),
        (2.5, "follow the arrows"),
        (-2, "follow the arrows"),
        ([0, 1], "one number"),
    ],
    "04.5": [
        (lambda dev, test: test.max(), "flatters itself"),
        (lambda dev, test: dev.max(), "figure on dev"),
        (lambda dev, test: dev.flat[test.argmax()], "dev chooses"),
        (rows_first, "the column on test"),
        (lambda dev, test: test[:, dev.max(0).argmax()].max(), "the row on test"),
        (lambda dev, test: test[dev.mean(1).argmax(), dev.mean(0).argmax()], "need not meet"),
        (lambda dev, test: test.flat[(dev + test).argmax()], "has a say"),
        (lambda dev, test: test.flat[dev.argmin()], "the worst on dev"),
        (lambda dev, test: test.mean(), "mean of all cells"),
        (lambda dev, test: dev.argmax(), "that is the place"),
        (lambda dev, test: test[dev.argmax(0), np.arange(dev.shape[1])], "one number"),
        (lambda dev, test: 0.8, "whatever"),
        (lambda dev, test: test[dev == dev.max()].max(), "equally good on dev"),
        (lambda dev, test: max(zip(dev.ravel(), test.ravel(), strict=True))[1], "equally good on dev"),
        (lambda dev, test: test[dev == dev.max()], "one number"),
    ],
    "04.6": [
        (lambda x, X, Y, k, reg: Y[nearest(x, X, k)].mean(0), "plain mean"),
        (lambda x, X, Y, k, reg: Y[nearest(x, X, 1)[0]], "nearest alone"),
        (lambda x, X, Y, k, reg: placed(x, X, Y, len(X), reg), "over all sentences"),
        (lambda x, X, Y, k, reg: placed(x, X, X, k, reg), "old space"),
        (lambda x, X, Y, k, reg: weights(x, X[:k], reg) @ Y[:k], "first k"),
        (lambda x, X, Y, k, reg: placed(x, X, Y, k + 1, reg), "too many"),
        (lambda x, X, Y, k, reg: placed(x, X, Y, k - 1, reg), "too few"),
        (lambda x, X, Y, k, reg: weights(x, X[nearest(x, X, k + 1)[1:]], reg) @ Y[nearest(x, X, k + 1)[1:]],
         "leaves the nearest out"),
        (lambda x, X, Y, k, reg: weights(x, X[(-X @ x).argsort()[:k]], reg) @ Y[(-X @ x).argsort()[:k]], "dot product"),
        (lambda x, X, Y, k, reg: rebuilt(x, X[nearest(x, X, k)], reg) @ Y[nearest(x, X, k)], "must sum to 1"),
        (lambda x, X, Y, k, reg: placed(x, X, Y, k, 1e-3), "reg is an argument"),
        (lambda x, X, Y, k, reg: placed(x, X, Y, 3, reg), "whatever k is"),
        (lambda x, X, Y, k, reg: placed(x, *(each[(X != x).any(1)] for each in (X, Y)), k, reg), "expected"),
    ],
    "04.7": [
        (lambda *given: counted(*given)[::-1], "changed places"),
        (lambda *given: counted(*given)[0], "and one came"),
        (lambda *given: [2 * each for each in counted(*given)], "twice"),
        (lambda *given: [each / by_tables(*given)[0].sum() for each in counted(*given)], "not the shares"),
        (lambda gold, before, after: counted(-gold, before, after), "*lower* grade"),
        (lambda *given: [
             (np.triu(by_tables(*given)[0]) & by_tables(*given)[a] & ~by_tables(*given)[b]).sum()
             for a, b in ((2, 1), (1, 2))
         ], "i may come after j"),
        (lambda *given: [(a & b).sum() for a, b in ((by_tables(*given)[0], by_tables(*given)[n]) for n in (2, 1))],
         "have not changed"),
        (lambda *given: [
             (by_tables(*given)[2] & ~by_tables(*given)[1]).sum(),
             (~by_tables(*given)[2] & by_tables(*given)[1]).sum(),
         ], "only where the grades differ"),
        (lambda gold, before, after: [
             ((gold[:, None] >= gold) & (a[:, None] > a) & ~(b[:, None] > b)).sum()
             for a, b in ((after, before), (before, after))
         ], "equal grades"),
        (lambda gold, before, after: [
             ((gold[:, None] > gold) & (a[:, None] >= a) & ~(b[:, None] >= b)).sum()
             for a, b in ((after, before), (before, after))
         ], "a tie of two scores"),
        (lambda *given: (12188, 14006), "expected"),
        (lambda gold, before, after: counted(gold.round(), before, after), "expected"),
        (lambda *given: np.array(counted(*given)).astype(np.int8), "expected"),
        (lambda *given: counted(*given)[0] - counted(*given)[1], "and one came"),
    ],
}  # fmt: skip


def test_the_graph_of_the_fourth_has_as_many_zeros_as_the_package_counts() -> None:
    W = weight_matrix(GRAPH, np.full(GRAPH.shape, 0.5))
    assert len(terminal_components(W)) == RIGHT["04.4"][0]
    away = np.eye(len(GRAPH)) - W.toarray()
    assert (np.linalg.eigvalsh(away.T @ away) < 1e-12).sum() == RIGHT["04.4"][0]


def test_nothing_claims_to_know_on_which_split_the_paper_chose() -> None:
    """Section 4.6.1 says "grid search", and no more."""
    root = NOTEBOOKS.parent
    pages = (
        "notebooks/src/04_sbert_lp.py",
        "app/neighbourhoods_page.py",
        "labkit/sbert_lp/sweeps.py",
        "docs/RESULTS.md",
    )
    told = {page: " ".join((root / page).read_text("utf-8").replace("\n# ", " ").split()) for page in pages}
    for claim in ("searches its grid on the test set", "| searched on test |", "a grid search on what is reported"):
        assert [page for page in pages if claim in told[page]] == []
    assert [page for page in pages if "grid search" not in told[page]] == []
