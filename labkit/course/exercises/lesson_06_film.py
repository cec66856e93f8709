"""Notebook 06: a similarity read word by word, and a metric learned in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from labkit.course.exercise import Cases, Unfit, array, exercise, number, several


@exercise(
    "06.1",
    ("y_a, y_b = L @ x_a, L @ x_b\n    lengths = np.linalg.norm(y_a) * np.linalg.norm(y_b)",
     "lengths = 1", "lengths = np.linalg.norm(x_a) * np.linalg.norm(x_b)",
     "your parts do not add up to the cosine: divide by the lengths of both y, which are L @ x_a and L @ x_b"),
    ("-abs(row[2])", "-row[2]", "a large part below 0 is large, too: sort by the size, `abs(part)`"),
    ("-abs(row[2])", "abs(row[2])", "the order is reversed: the largest must come first"),
    ("np.flatnonzero", "(lambda x: range(len(x)))",
     "you list words that a sentence does not contain: their x is 0"),
)  # fmt: skip
def two_sentences(random: np.random.Generator) -> Cases:
    for d, words, empty in ((2, 5, 2), (4, 3, 0), (3, 7, 3)):
        x_a, x_b = random.uniform(0.2, 1, size=(2, words))
        x_a[random.permutation(words)[:empty]] = x_b[random.permutation(words)[:empty]] = 0
        yield x_a, x_b, random.normal(size=(d, words))


@exercise(
    "06.2",
    ("(A + A.T) / 2", "A", "that is A itself; return its symmetric part (A + Aᵀ) / 2"),
    ("1 / (np.bincount(anchors, minlength=len(X))[anchors] + 1)",
     "1 / np.bincount(anchors, minlength=len(X))[anchors]", "np.ones(len(anchors))",
     "divide each triplet by |T_i| + 1: the number of triplets of its anchor, plus 1"),
    ("for row, (i, j, k) in enumerate(triplets):\n        D[i] += share[row]",
     "i, j, k = triplets.T\n    D[i] += share[:, None]",
     "`D[i] += …` with an array i adds only once to a repeated row: loop over the triplets, or use `np.add.at`"),
    ("(X[j] - X[k])", "X[j]", "x_k is missing: a triplet also wants the anchor to be far from k"),
)  # fmt: skip
def triplets(random: np.random.Generator) -> Cases:
    for n, words, count in ((7, 4, 20), (5, 6, 9), (9, 3, 30)):
        i = random.integers(0, n - 2, count)  # the last two are not anchors
        others = (i + random.integers(1, n, (2, count))) % n
        yield random.uniform(size=(n, words)), np.stack([i, *others], axis=1)


def gram(answer: Any) -> np.ndarray:
    """LᵀL, which determines all similarities: rows may be rotated and have any sign."""
    L = array(answer)
    if L.ndim != 2:
        raise Unfit(f"expected L with rows and columns, got shape {L.shape}")
    return np.asarray(L.T @ L)


@exercise(
    "06.3",
    ("np.sqrt(s)[:, None]", "s[:, None]", "np.ones((len(s), 1))",
     "G holds s, so L holds its root: multiply each eigenvector by √s"),
    ("np.argsort(-values)", "np.argsort(values)", "those are the smallest eigenvalues: `eigh` sorts upwards"),
    ("np.argsort(-values)", "np.argsort(-abs(values))",
     "you take the largest by absolute value: sort the eigenvalues themselves, then take the d largest"),
    ("order = order[values[order] > 0]\n    s, P = values[order]", "s, P = abs(values[order])",
     "you use an eigenvalue below 0: s must not be negative, so leave that direction out"),
    ("[:d]", "", "your L has more than d rows"),
    read=gram,
)  # fmt: skip
def spectra(random: np.random.Generator) -> Cases:
    for size, d, positive in ((5, 2, 3), (6, 4, 2), (4, 1, 4)):
        vectors = np.linalg.qr(random.normal(size=(size, size)))[0]
        values = random.uniform(0.5, 3, size) * np.where(np.arange(size) < positive, 1, -1)
        yield vectors * values @ vectors.T, d


@exercise(
    "06.4",
    ("L @ inverse", "L", "step 3 is missing: L has to act on x, so go back with @ inverse"),
    ("L @ inverse", "L @ inverse.T", "L @ R", "the way back is L̃ R⁻¹, not L̃ R⁻ᵀ or L̃ R"),
    ("np.linalg.cholesky(C + ridge * np.eye(len(C)))", "C + ridge * np.eye(len(C))",
     "you scale by C + ε I itself; scale by its Cholesky factor R"),
    ("L = closed_form(scaled, d)\n    return L @ inverse", "return closed_form(A, d)",
     "that is the closed form without a change of scale"),
    read=gram,
)  # fmt: skip
def scales(random: np.random.Generator) -> Cases:
    for n, words, d, ridge in ((9, 4, 2, 1.0), (7, 5, 3, 0.4), (8, 3, 1, 2.5)):
        A = random.normal(size=(words, words))
        yield random.normal(size=(n, words)), A + A.T, d, ridge


@exercise(
    "06.5",
    ("best, best_auc = None, -1\n", "best, best_auc = None, -1\n    plain_dev, learned_dev = learned_dev, plain_dev\n"
     "    plain_test, learned_test = learned_test, plain_test\n",
     "the share belongs to TF-IDF; you give it to the learned score"),
    ("return best,", "return best_auc,", "the first thing you return is the best AUC; return the share that has it"),
    ("plain_test + (1 - best) * learned_test", "plain_dev + (1 - best) * learned_dev",
     "those are the dev scores; mix the test scores with the share that dev chose"),
    ("(1 - ", "(1 + 0 * ", "the learned score's part is (1 - share)"),
    ("roc_auc_score(dev_labels, scores)", "np.mean((scores > 0.5) == dev_labels)",
     "that share has the best accuracy; AUC needs no threshold and looks at the order of all pairs"),
    read=several("expected two things, as in `return best, scores`", number, array),
)  # fmt: skip
def mixtures(random: np.random.Generator) -> Cases:
    """Scores, labels and shares with one clear best share, so that rounding cannot change the answer."""

    def drawn(strength: tuple[float, float], width: float) -> tuple[Any, ...]:
        while True:
            labels = (random.random(450) < 0.35).astype(int)
            plain, learned = (each * labels + random.standard_t(2, 450) for each in strength)
            shares = [0.0, 1.0, *random.choice(np.arange(5, 95, 5) / 100, 8, replace=False).tolist()]
            values = sorted(roc_auc_score(labels, share * plain + (1 - share) * width * learned) for share in shares)
            if values[-1] > values[-2] + 1e-4:
                shares = [shares[at] for at in random.permutation(10)]
                return plain, width * learned, labels, shares, *random.normal(size=(2, 6))

    return [drawn((0.5, 1.0), 0.6), drawn((1.0, 0.5), 1.5), drawn((0.9, 0.8), 3.0)]
