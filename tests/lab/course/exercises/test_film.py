"""Notebook 06: each check takes every right form and no wrong answer, and names typical ones."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import sparse
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import roc_auc_score

from labkit.film.stiefel import cayley_woodbury, stationarity
from labkit.lab.course.exercises import film
from tests.lab.course.exercises.judging import *  # noqa: F403 (the tests that all notebooks share)


def each(Y, triplets, m):  # type: ignore[no-untyped-def]
    i, j, k = triplets.T
    return (Y[i] * Y[k]).sum(1) + m - (Y[i] * Y[j]).sum(1)


def summed(Y, triplets, values):  # type: ignore[no-untyped-def]
    return np.bincount(triplets[:, 0], values, len(Y))


def size(Y, triplets):  # type: ignore[no-untyped-def]
    return np.bincount(triplets[:, 0], minlength=len(Y))


def anchors(Y, T, m):  # type: ignore[no-untyped-def]
    return np.maximum(0, summed(Y, T, each(Y, T, m)) / (size(Y, T) + 1))


def by_loops(Y, triplets, m):  # type: ignore[no-untyped-def]
    total = 0.0
    for anchor in range(len(Y)):
        own = [(i, j, k) for i, j, k in triplets if i == anchor]
        inner = sum(Y[i] @ Y[k] + m - Y[i] @ Y[j] for i, j, k in own)
        total += max(0, inner / (len(own) + 1))
    return total


def in_torch(Y, triplets, m):  # type: ignore[no-untyped-def]
    Y, T = torch.tensor(Y, dtype=torch.float32), torch.tensor(triplets)
    values = (Y[T[:, 0]] * (Y[T[:, 2]] - Y[T[:, 1]])).sum(1) + m
    sums, counts = torch.zeros(len(Y)), torch.ones(len(Y))
    sums.index_add_(0, T[:, 0], values)
    counts.index_add_(0, T[:, 0], torch.ones(len(T)))
    return (sums / counts).relu().sum().reshape(1)


def shifted(Y, triplets, m):  # type: ignore[no-untyped-def]
    Y -= Y.mean(0) * 0
    Y *= 2
    loss = anchors(Y / 2, triplets, m).sum()
    return loss


def grown(m, size):  # type: ignore[no-untyped-def]
    size += 1
    return m * (size - 1) / size


def skew(P, G):  # type: ignore[no-untyped-def]
    return G @ P.T - P @ G.T


def turned(P, G, up, down):  # type: ignore[no-untyped-def]
    unit = np.eye(len(P))
    return np.linalg.solve(unit + up * skew(P, G), (unit - down * skew(P, G)) @ P)


def by_inverse(P, gradient, length):  # type: ignore[no-untyped-def]
    A, unit = skew(P, gradient), np.identity(P.shape[0])
    return np.linalg.inv(unit + length / 2 * A).dot(unit - length / 2 * A).dot(P)


def in_place(P, gradient, length):  # type: ignore[no-untyped-def]
    P[:] = turned(P, gradient, length / 2, length / 2)
    return P


def in_loops(a, b, L):  # type: ignore[no-untyped-def]
    return [[a[u] * sum(L[:, u] * L[:, v]) * b[v] for v in range(len(b))] for u in range(len(a))]


def in_sparse(a, b, L):  # type: ignore[no-untyped-def]
    return sparse.diags(a) @ sparse.csr_matrix(L.T @ L) @ sparse.diags(b)


def rank(S, a, b, self_too=False):  # type: ignore[no-untyped-def]
    return 1 + sum(S[a, c] > S[a, b] for c in range(len(S)) if self_too or c != a)


def by_sorting(S, a, b):  # type: ignore[no-untyped-def]
    def place(a, b):  # type: ignore[no-untyped-def]
        return [c for c in np.argsort(-S[a]) if c != a].index(b) + 1

    return max(place(a, b), place(b, a))


def by_filling(S, a, b):  # type: ignore[no-untyped-def]
    np.fill_diagonal(S, -np.inf)
    return max((S[a] > S[a, b]).sum(), (S[b] > S[a, b]).sum()) + 1


def on_a_copy(S, a, b):  # type: ignore[no-untyped-def]
    return by_filling(S.copy(), a, b)


def mixed(plain, learned, share):  # type: ignore[no-untyped-def]
    return share * plain + (1 - share) * learned


def auc_of(plain, learned, labels):  # type: ignore[no-untyped-def]
    return lambda share: roc_auc_score(labels, mixed(plain, learned, share))


def chosen(worth):  # type: ignore[no-untyped-def]
    """A choice by another worth of (labels, scores)."""
    return lambda p, q, labels, shares: max(shares, key=lambda share: worth(labels, mixed(p, q, share)))


def by_position(plain, learned, labels, shares):  # type: ignore[no-untyped-def]
    return np.array(shares)[[np.argmax([auc_of(plain, learned, labels)(share) for share in shares])]]


def by_looping(plain, learned, labels, shares):  # type: ignore[no-untyped-def]
    best, most = None, -1.0
    for share in shares:
        value = roc_auc_score(labels, learned + share * (plain - learned))
        if value >= most:
            best, most = share, value
    return best


RIGHT = {
    "06.1": [lambda Y, T, m: anchors(Y, T, m).sum(), by_loops, in_torch],
    "06.2": [
        lambda m, size: m * size / (size + 1),
        lambda m, size: [m * each / (each + 1) for each in size],
        lambda m, size: torch.tensor(size).float() * m / torch.tensor(size + 1),
        lambda m, size: m - m / (size + 1),
    ],
    "06.3": [math.log(1 + math.exp(0.01)) / 0.01, 69, 70, 69.8, "69.82", torch.tensor([69.816]), np.float32(69.82)],
    "06.4": [
        lambda P, G, length: turned(P, G, length / 2, length / 2),
        by_inverse,
        cayley_woodbury,
        lambda P, G, length: turned(P, G, length / 2, length / 2).tolist(),
        lambda P, G, length: torch.tensor(turned(P, G, length / 2, length / 2)),
    ],
    "06.5": [
        lambda dP, dF: (dP * dP).sum() / abs((dP * dF).sum()),
        lambda dP, dF: np.linalg.norm(dP) ** 2 / np.abs(np.trace(dP.T @ dF)),
        lambda dP, dF: np.array([np.vdot(dP, dP) / abs(np.vdot(dF, dP))]),
        lambda dP, dF: torch.tensor(dP).square().sum() / (torch.tensor(dP) * torch.tensor(dF)).sum().abs(),
    ],
    "06.6": [
        lambda a, b, L: a[:, None] * (L.T @ L) * b,
        in_loops,
        in_sparse,
        lambda a, b, L: np.diag(a) @ L.T @ L @ np.diag(b),
        lambda a, b, L: torch.tensor((a * L).T @ (b * L)),
        lambda a, b, L: np.outer(a, b) * L.T.dot(L),
    ],
    "06.7": [lambda S, a, b: max(rank(S, a, b), rank(S, b, a)), by_sorting, on_a_copy],
    "06.8": [
        lambda plain, learned, labels, shares: max(shares, key=auc_of(plain, learned, labels)),
        by_position,
        by_looping,
        chosen(lambda labels, scores: spearmanr(labels, scores)[0]),  # the same order as AUC's
    ],
}  # fmt: skip
WRONG = {
    "06.1": [
        (lambda Y, T, m: np.maximum(0, each(Y, T, m)).mean(), "eq. 3"),
        (lambda Y, T, m: (summed(Y, T, np.maximum(0, each(Y, T, m))) / (size(Y, T) + 1)).sum(), "each triplet"),
        (lambda Y, T, m: np.maximum(0, summed(Y, T, each(Y, T, m)) / np.maximum(size(Y, T), 1)).sum(),
         "divides by |T_i|"),
        (lambda Y, T, m: anchors(Y, T, m).mean(), "mean over"),
        (lambda Y, T, m: anchors(Y, T, m).max(), "largest loss"),
        (lambda Y, T, m: anchors(Y, T, m)[T[0, 0]], "one anchor alone"),
        (lambda Y, T, m: anchors(Y, T, m)[0], "one anchor alone"),
        (anchors, "their sum is still missing"),
        (lambda Y, T, m: anchors(Y, T, 0).sum(), "margin m is missing"),
        (lambda Y, T, m: anchors(Y, T, 0.3).sum(), "whatever m is"),
        (lambda Y, T, m: anchors(Y, T[:, [0, 2, 1]], m).sum(), "swapped"),
        (lambda Y, T, m: (summed(Y, T, each(Y, T, m)) / (size(Y, T) + 1)).sum(), "hinge is missing"),
        (lambda Y, T, m: max(0, (summed(Y, T, each(Y, T, m)) / (size(Y, T) + 1)).sum()), "one hinge of everything"),
        (lambda Y, T, m: np.maximum(0, m * (size(Y, T) > 0) + summed(Y, T, each(Y, T, 0)) / (size(Y, T) + 1)).sum(),
         "once for each anchor"),
        (lambda Y, T, m: 643.0857, "whatever Y is"),
        (lambda Y, T, m: anchors(Y / np.linalg.norm(Y, axis=1)[:, None], T, m).sum(), "lengths of the rows"),
        (shifted, "changes Y itself"),
    ],
    "06.2": [
        (lambda m, size: m * np.minimum(size, 9) / (np.minimum(size, 9) + 1), "expected"),
        (lambda m, size: m, "as it is printed"),
        (lambda m, size: m + 0 * size, "as it is printed"),
        (lambda m, size: np.where(size > 0, m, 0), "how many there are"),
        (lambda m, size: m / (size + 1), "|T_i| times"),
        (lambda m, size: m * size, "divided"),
        (lambda m, size: 0.3 * size / (size + 1), "whatever m is"),
        (lambda m, size: size / (size + 1), "m is missing"),
        (lambda m, size: m * size / (size.max() + 1), "its own"),
        (lambda m, size: m * size / (len(size) + 1), "not that of the anchors"),
        (lambda m, size: m * size.mean() / (size.mean() + 1), "one margin for all"),
        (lambda m, size: m * np.array([0, 0.5, 0.75]), "whatever size is"),
        (grown, "changes size itself"),
    ],
    "06.3": [
        (math.log(1 + math.exp(0.01)), "divide it by"),
        (math.log(1 + math.exp(-0.01)) / 0.01, "σ(x)"),
        (68.8, "1 too small"),
        (1.0, "should give"),
        (0.01 / math.log(1 + math.exp(0.01)), "upside down"),
        (12.0, "compute log"),
        (6982, "percent"),
        (math.log10(1 + math.exp(0.01)) / 0.01, "base 10"),
        (np.log(1 / (1 + np.exp(-0.01))) / 0.01, "sign"),
        (1 / (1 + math.exp(-0.01)) / 0.01, "logarithm is missing"),
        (math.log(1 + math.exp(0.1)) / 0.1, "x = 0.1"),
        (0.00698, "multiplies"),
        (0.5, "above 1"),
        (-3, "above 0"),
    ],
    "06.4": [
        (lambda P, G, length: P - length * stationarity(P, G), "eq. 22"),
        (lambda P, G, length: P - length * G, "gradient step of school"),
        (lambda P, G, length: turned(P, G, length, length), "τ/2 in both"),
        (lambda P, G, length: turned(P, G, 0.5, 0.5), "τ is missing"),
        (lambda P, G, length: turned(P, G, 0.3, 0.3), "whatever length is"),
        (lambda P, G, length: turned(P, G, -length / 2, -length / 2), "uphill"),
        (lambda P, G, length: turned(P, G, length / 2, 0), "(I - τ/2 A) is missing"),
        (lambda P, G, length: turned(P, G, 0, length / 2), "inverse of (I + τ/2 A) is missing"),
        (lambda P, G, length: turned(P, G, length / 2, -length / 2), "cancel"),
        (lambda P, G, length: turned(P, stationarity(P, G), length / 2, length / 2), "F(P)"),
        (lambda P, G, length: np.linalg.qr(P - length * G)[0], "repair"),
        (lambda P, G, length: turned(np.eye(len(P)), G @ P.T, length / 2, length / 2), "applies it to P"),
        (in_place, "changes P itself"),
    ],
    "06.5": [
        (lambda dP, dF: (dP * dP).sum() / (abs((dP * dF).sum()) + 1e-6), "expected"),
        (lambda dP, dF: (dP * dP).sum() / (dP * dF).sum(), "below 0 goes uphill"),
        (lambda dP, dF: -(dP * dP).sum() / (dP * dF).sum(), "no size"),
        (lambda dP, dF: (dP * dP).sum() / abs(dP * dF).sum(), "round the sum"),
        (lambda dP, dF: abs((dP * dF).sum()) / (dF * dF).sum(), "eq. 27"),
        (lambda dP, dF: abs((dP * dF).sum()) / (dP * dP).sum(), "upside down"),
        (lambda dP, dF: np.linalg.norm(dP) / abs((dP * dF).sum()), "the square"),
        (lambda dP, dF: np.linalg.norm(dP) / np.linalg.norm(dF), "between"),
        (lambda dP, dF: (dP * dP).sum() / (dF * dF).sum(), "below the line"),
        (lambda dP, dF: (dP.T @ dP) / abs(dP.T @ dF), "tr is missing"),
        (lambda dP, dF: ((dP * dP).sum(0) / abs((dP * dF).sum(0))).sum(), "each column"),
        (lambda dP, dF: (dF * dF).sum() / abs((dP * dF).sum()), "above the line"),
        (lambda dP, dF: 14.58, "whatever is asked"),
    ],
    "06.6": [
        (lambda a, b, L: np.outer(a, b) * (L[:10].T @ L[:10]), "expected"),
        (lambda a, b, L: b[:, None] * (L.T @ L) * a, "exchanged"),
        (lambda a, b, L: np.outer(a, b), "L is missing"),
        (lambda a, b, L: np.diag(a * b), "plain TF-IDF"),
        (lambda a, b, L: float(a @ L.T @ L @ b), "one number"),
        (lambda a, b, L: (L @ a) * (L @ b), "each row of L"),
        (lambda a, b, L: a[:, None] * (L.T @ L), "words of b are missing"),
        (lambda a, b, L: (L.T @ L) * b, "words of a are missing"),
        (lambda a, b, L: a * (L.T @ L) * b, "multiply the columns"),
        (lambda a, b, L: np.diag(np.diag(L.T @ L) * a * b), "different words are missing"),
        (lambda a, b, L: np.outer(a, L.T @ (L @ b)), "added up one"),
        (lambda a, b, L: L.T @ L, "in general"),
        (lambda a, b, L: L @ L.T, "pairs of rows"),
        (lambda a, b, L: sparse.csr_matrix(np.abs(in_sparse(a, b, L).toarray())), "signs"),
    ],
    "06.7": [
        (lambda S, a, b: min(rank(S, a, b), rank(S, b, a)), "smaller"),
        (lambda S, a, b: max(rank(S, a, b, True), rank(S, b, a, True)), "1 too many"),
        (lambda S, a, b: max(rank(S, a, b), rank(S, b, a)) - 1, "not 0"),
        (lambda S, a, b: rank(S, a, b), "a's neighbours only"),
        (lambda S, a, b: rank(S, b, a), "b's neighbours only"),
        (lambda S, a, b: rank(S, a, b) + rank(S, b, a), "not added"),
        (lambda S, a, b: (rank(S, a, b) + rank(S, b, a)) / 2, "not averaged"),
        (lambda S, a, b: max(rank(-S, a, b), rank(-S, b, a)), "from the farthest"),
        (lambda S, a, b: max(np.argsort(-S[a])[b], np.argsort(-S[b])[a]), "argsort"),
        (lambda S, a, b: max(rank(S, a, b, True), rank(S, b, a)), "in a's list"),
        (lambda S, a, b: S[a, b], "similarity"),
        (lambda S, a, b: 3, "whatever S is"),
        (by_filling, "changes S itself"),
        (lambda S, a, b: max(rank(S, a, b), rank(S, b, a)) <= 10, "True or False"),
        (lambda S, a, b: max((S[a] > S[a, b]).sum(), (S[b] > S[a, b]).sum()), "expected"),
        (lambda S, a, b: min(55, max(rank(S, a, b), rank(S, b, a))), "expected"),
    ],
    "06.8": [
        (lambda p, q, labels, shares: max(shares, key=auc_of(q, p, labels)), "of TF-IDF"),
        (lambda p, q, labels, shares: min(shares, key=auc_of(p, q, labels)), "smallest"),
        (lambda p, q, labels, shares: max(map(auc_of(p, q, labels), shares)), "the share that has it"),
        (lambda p, q, labels, shares: np.argmax([*map(auc_of(p, q, labels), shares)]), "its place"),
        (lambda p, q, labels, shares: [*map(auc_of(p, q, labels), shares)], "AUCs of all shares"),
        (chosen(lambda labels, scores: abs(roc_auc_score(labels, scores) - 0.5)), "farthest from 0.5"),
        (chosen(lambda labels, scores: ((scores > 0.5) == labels).mean()), "no threshold"),
        (chosen(lambda labels, scores: pearsonr(labels, scores)[0]), "best correlation"),
        (chosen(lambda labels, scores: scores[labels == 1].mean() - scores[labels == 0].mean()), "two means"),
        (lambda p, q, labels, shares: max(shares, key=lambda s: roc_auc_score(labels, s * p + q)), "other part"),
        (lambda p, q, labels, shares: max(np.linspace(0, 1, 11), key=auc_of(p, q, labels)), "whatever shares is"),
        (lambda p, q, labels, shares: 0.5, "whatever shares is"),
        (lambda p, q, labels, shares: shares[0], "first share"),
        (lambda p, q, labels, shares: shares[-1], "keep the one with the best AUC"),
        (lambda p, q, labels, shares: max(shares, key=lambda share: max(0.5, auc_of(p, q, labels)(share))), "expected"),
        (lambda p, q, labels, shares: shares.sort() or max(shares, key=auc_of(p, q, labels)), "changes shares itself"),
    ],
}  # fmt: skip


def test_several_anchors_are_active_and_some_are_not() -> None:
    for Y, T, m in film._of_triplets()[:3]:
        assert 3 <= (anchors(Y, T, m) > 0).sum() < len(Y)
        assert (size(Y, T) == 0).any()
        assert len(set(size(Y, T))) > 3 or len(Y) < 9


def test_no_two_cosines_are_alike() -> None:
    for S in map(film._cosines, (8, 5)):
        assert len(np.unique(S.round(6))) == len(S) * (len(S) - 1) // 2 + 1  # no ties but the diagonal


def test_the_best_share_is_ahead_of_the_next() -> None:
    for plain, learned, labels, shares in film._pairs_scored():
        assert np.diff(sorted(map(auc_of(plain, learned, labels), shares)))[-1] > 1e-4
