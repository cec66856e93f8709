"""What can be learned about people's grades of relatedness from two embeddings? Pairs and grades in, a record out.

Logistic regression from |u - v| and u · v onto a distribution over the integer grades; its mean is the prediction.
Correlating a score with the grades, without learning, is `correlations`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

from labkit.evaluation.correlations import correlation
from labkit.evaluation.inputs import Vectors, exponent, numbers, same_length, scaled, vectors
from labkit.evaluation.neighbours import squares

STRENGTHS = tuple(10.0**-power for power in range(1, 7))  # of the L2 penalty, tried from strong to weak
HELD_OUT = 5  # every fifth training pair, in order, chooses among them


@dataclass(frozen=True)
class Relatedness:
    """Of predicted with gold grades; `predicted` (m,) are those of the test pairs."""

    pearson: float
    spearman: float
    mse: float
    predicted: np.ndarray = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    def __str__(self) -> str:
        return f"Pearson {self.pearson:.4f}, Spearman {self.spearman:.4f}, MSE {self.mse:.4f}"


def relatedness(
    train_a: ArrayLike,
    train_b: ArrayLike,
    train_scores: ArrayLike,
    test_a: ArrayLike,
    test_b: ArrayLike,
    test_scores: ArrayLike,
    *,
    grades: Iterable[int],
) -> Relatedness:
    """Learn grades from the training pairs (n, d) each, predict and compare on the test pairs (m, d) each.

    `grades` are the integers of the scale, such as range(1, 6); its first and last, (1, 5), will do. The penalty
    is chosen by the squared error on every fifth training pair, then all are fitted with it. Nothing is random.
    """
    scale = _scale(grades)
    u, v, gold = _pairs("train", train_a, train_b, train_scores, scale)
    test_u, test_v, test_gold = _pairs("test", test_a, test_b, test_scores, scale, like=u)
    if len(gold) < 2 * HELD_OUT:
        raise ValueError(
            f"there are {len(gold)} training pairs with a score, expected at least {2 * HELD_OUT}; give more of them"
        )
    size = exponent(u, v, test_u, test_v)
    u, v, test_u, test_v = (scaled(rows, size) for rows in (u, v, test_u, test_v))
    features, test_features = _features((u, v), (u, v)), _features((test_u, test_v), (u, v))
    target = grade_distribution(gold, scale)
    weights = _fit(features, target, _best_strength(features, target, gold, scale))
    predicted = _predict(test_features, weights, scale)
    found = correlation(predicted, test_gold)
    return Relatedness(found.pearson, found.spearman, float(((predicted - test_gold) ** 2).mean()), predicted)


def _scale(grades: Iterable[int]) -> np.ndarray:
    given = sorted(set(grades)) if isinstance(grades, Iterable) else []
    whole_numbers = all(float(grade).is_integer() for grade in given)
    if len(given) < 2 or not whole_numbers or len(given) not in (2, given[-1] - given[0] + 1):
        raise ValueError(
            f"grades is {grades!r}, expected the consecutive integers of the scale or its first and last; "
            "give range(1, 6) for grades 1 to 5"
        )
    return np.arange(int(given[0]), int(given[-1]) + 1)


def _pairs(
    split: str, a: ArrayLike, b: ArrayLike, scores: ArrayLike, scale: np.ndarray, like: Vectors | None = None
) -> tuple[Vectors, Vectors, np.ndarray]:
    u = vectors(f"{split}_a", a, like=like)
    v = vectors(f"{split}_b", b, like=u)
    if v.shape[0] != u.shape[0]:
        raise ValueError(f"{split}_b has {v.shape[0]} rows, expected {u.shape[0]} like {split}_a; give both of a pair")
    gold = numbers(f"{split}_scores", scores).astype(np.float64)
    same_length(f"{split}_scores", gold, u.shape[0])
    if gold.min() < scale[0] or gold.max() > scale[-1]:
        raise ValueError(
            f"{split}_scores goes from {gold.min()} to {gold.max()}, expected grades from {scale[0]} to {scale[-1]}; "
            "change grades or rescale the scores"
        )
    return u, v, gold


def _features(pair: tuple[Vectors, Vectors], train: tuple[Vectors, Vectors]) -> Vectors:
    """[|u - v|, u · v] (n, 2d), each half divided by its mean length in training: the unit of an embedding is free."""
    halves = [
        half / (np.sqrt(squares(seen).mean()) or 1.0)
        for half, seen in zip(_halves(*pair), _halves(*train), strict=True)
    ]
    return sparse.hstack(halves, format="csr") if sparse.issparse(halves[0]) else np.hstack(halves)


def _halves(u: Vectors, v: Vectors) -> tuple[Vectors, Vectors]:
    if sparse.issparse(u) or sparse.issparse(v):
        u, v = sparse.csr_matrix(u), sparse.csr_matrix(v)
        return abs(u - v), u.multiply(v).tocsr()
    return np.abs(u - v), u * v


def grade_distribution(scores: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(n, r): a score y puts y - ⌊y⌋ on the grade above and ⌊y⌋ - y + 1 on the one below, so that its mean is y.

    (The second line is misprinted in eq. 11 of the P-thought paper.)

    >>> grade_distribution(np.array([3.25]), np.arange(1, 6))
    array([[0.  , 0.  , 0.75, 0.25, 0.  ]])
    """
    return np.maximum(1 - np.abs(scores[:, None] - scale), 0)


def _best_strength(features: Vectors, target: np.ndarray, gold: np.ndarray, scale: np.ndarray) -> float:
    held = np.arange(len(gold)) % HELD_OUT == HELD_OUT - 1
    errors: list[float] = []
    weights = None
    # from strong to weak, each from where the last one ended, until it gets worse
    for strength in STRENGTHS:
        weights = _fit(features[~held], target[~held], strength, weights)
        errors.append(((_predict(features[held], weights, scale) - gold[held]) ** 2).mean())
        if errors[-1] > min(errors):
            break
    return STRENGTHS[int(np.argmin(errors))]


def _fit(features: Vectors, target: np.ndarray, strength: float, start: np.ndarray | None = None) -> np.ndarray:
    """Minimise -mean_i sum_g target_ig log p_ig + strength/2 |W|²; returns (2d + 1, r), the last row the biases."""
    n, width = features.shape
    shape = (width + 1, target.shape[1])

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(shape)
        log_p = log_softmax(features @ weights[:-1] + weights[-1], axis=1)
        error = (np.exp(log_p) - target) / n
        slope = np.vstack([features.T @ error + strength * weights[:-1], error.sum(axis=0)])
        loss = -(target * log_p).sum() / n + strength / 2 * (weights[:-1] ** 2).sum()
        return loss, slope.ravel()

    start = np.zeros(shape) if start is None else start
    options = {"maxiter": 1000, "maxfun": 2000, "gtol": 1e-6}
    return minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(shape)


def _predict(features: Vectors, weights: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The mean grade of the predicted distribution, (n,)."""
    return np.exp(log_softmax(features @ weights[:-1] + weights[-1], axis=1)) @ scale
