"""Notebook 09: how a training breaks, and how it is seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.arrays import unit
from labkit.course.exercise import Unfit, Unnamed, array, check, close, find_mistake, known_mistake, number
from labkit.evaluation import geometry


def leaning_rows(random: np.random.Generator) -> list[tuple[np.ndarray]]:
    """Rows of different lengths that point more one way than others, more of them than columns."""
    return [
        (random.normal(size=(n, d)) * random.uniform(0.5, 2.0, size=(n, 1)) + random.normal(size=d),)
        for n, d in ((6, 3), (8, 4), (9, 2))
    ]


@check("09.1")
def check_mean_cosine(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """(|Σ x|² - n) / (n (n - 1)) of rows of length 1."""

    def of(how: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
        """A mistake with the square of cosines."""
        return lambda V: how(unit(V) @ unit(V).T)

    mistakes = (
        (of(np.mean), "the diagonal is in your mean: each row has the cosine 1 with itself"),
        (lambda V: (V @ V.T)[~np.eye(len(V), dtype=bool)].mean(),
         lambda V: ((V @ V.T).sum() - len(V)) / (len(V) * (len(V) - 1)),
         "those are dot products: divide each row by its length first"),
        (of(lambda S: S.sum() - len(S)), of(lambda S: np.triu(S, 1).sum()),
         "that is the sum over all pairs, not their mean"),
        (of(lambda S: (S.sum() - len(S)) / S.size), "the diagonal is out of your sum, but not out of the count"),
        (of(lambda S: abs(S[np.triu_indices(len(S), 1)]).mean()), "a cosine has a sign, and it counts"),
    )  # fmt: skip
    return find_mistake(answer, lambda V: geometry.mean_cosine(V), leaning_rows(random), mistakes)


@check("09.2")
def check_effective_rank(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """exp(-Σ p log p) with p = σ / Σ σ."""
    cases = []
    for zeros, count in ((0, 4), (1, 3), (2, 5)):
        cases.append((np.append(-np.sort(-random.uniform(0.1, 5, count)), np.zeros(zeros)),))

    def entropy(p: np.ndarray) -> Any:
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    def right(sigma: np.ndarray) -> Any:
        return np.exp(entropy(sigma / sigma.sum()))

    mistakes = (
        (lambda sigma: np.log(right(sigma)), "that is the entropy; its exponential says it as a number of directions"),
        (lambda sigma: 1 / right(sigma), "the sign: the entropy is -Σ p log p, above 0"),
        (lambda sigma: np.exp(np.log2(right(sigma))), lambda sigma: 2 ** np.log(right(sigma)),
         "exp and log do not belong together: exp with the natural logarithm, or 2 ** with log2"),
        (lambda sigma: right(sigma**2), "those are shares of the squares, the variance; here σ itself is shared out"),
        (lambda sigma: np.exp(entropy(sigma)), "make them shares first: they must add up to 1"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("09.3")
def check_loss_of_a_point(answer: Any, random: np.random.Generator) -> str | None:
    """[1 - 1 + 0.2]₊ = 0.2."""
    given = number(answer)
    mistakes = (
        (0.0, "S_n - S_p is 0, but the margin is added: the loss asks for a lead of 0.2, and there is none"),
        (1.2, "S_n is 1, and so is S_p: the one is taken off the other"),
        (-0.2, "[x]₊ is never below 0, and the margin is added, not taken off"),
        (1.0, "that is the cosine of the pairs: put both of them into [S_n - S_p + margin]₊"),
        (0.4, "the hardest pair of each kind make one triplet, not two"),
    )
    general = Unnamed("put the two cosines into [S_n - S_p + margin]₊")
    return None if close(given, 0.2) else known_mistake(given, mistakes, 0.004) or general


@check("09.4")
def check_along(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """g - (g · v) v, row by row."""
    cases = [(unit(random.normal(size=shape)), random.normal(size=shape)) for shape in ((3, 3), (4, 3), (2, 5))]

    def dot(v: np.ndarray, pull: np.ndarray) -> np.ndarray:
        return (v * pull).sum(1, keepdims=True)

    mistakes = (
        (lambda v, g: dot(v, g) * v, "that is the part along v itself: what is left when it is taken off is asked for"),
        (lambda v, g: g + dot(v, g) * v, "take the part along v off, do not add it"),
        (lambda v, g: g - (v * g).sum(0) * v,
         "the dot product is a sum along a row, axis 1; yours goes down the columns"),
        (lambda v, g: g - dot(v, g), "the dot product is a number: it goes along v, so multiply it by v"),
        (lambda v, g: v - dot(v, g) * g, lambda v, g: g - dot(v, g) * g,
         "it is the pull that loses its part along v: g - (g · v) v"),
    )  # fmt: skip
    return find_mistake(answer, lambda v, pull: pull - dot(v, pull) * v, cases, mistakes)


@check("09.5")
def check_whiten(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Centred rows times directions over the roots of the variances; any turn of it is as right."""

    def scaled(power: float, off: float = 1.0) -> Callable[[np.ndarray], Any]:
        """The directions of rows less so much of their mean, each scaled by a power of its variance."""

        def by(X: np.ndarray) -> Any:
            rows = X - off * X.mean(0)
            values, directions = np.linalg.eigh(rows.T @ rows / len(X))
            return rows @ directions * values**power

        return by

    def right(X: np.ndarray) -> Any:
        return scaled(-0.5)(X)

    mistakes = (
        (scaled(-0.5, 0.0), "the mean is still in: take it off before the covariance is made"),
        (scaled(0), "no direction is scaled: divide each by the root of its variance"),
        (scaled(-1), "divided by the variance; its root is the size of a direction"),
        (scaled(0.5), scaled(1), "multiplied by the size of each direction: divide by it"),
        (lambda X: (X - X.mean(0)) / X.std(0),
         "each column has variance 1 now, but two columns still go together: turn to the eigenvectors first"),
    )  # fmt: skip

    def products(given: Any) -> np.ndarray:
        """What stays of rows (n, d) however they are turned: their dot products (n, n)."""
        rows = array(given)
        if rows.ndim != 2:
            raise Unfit(f"rows (n, d) were expected, and something of shape {rows.shape} came")
        return np.asarray(rows @ rows.T)

    return find_mistake(answer, right, leaning_rows(random), mistakes, read=products)


@check("09.6")
def check_false_share(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean of meaning[anchor] == meaning[negative]."""
    cases = []
    for rows, kinds, count, false in ((9, 3, 12, 3), (6, 2, 9, 2), (12, 4, 25, 8)):
        meaning, triplets = random.permutation(np.arange(rows) % kinds) + 5, []
        for row in range(count):
            anchor = int(random.integers(rows))
            alike = meaning == meaning[anchor]
            own, other = np.flatnonzero(alike & (np.arange(rows) != anchor)), np.flatnonzero(~alike)
            positive, negative = other if row < 2 else own, own if row < false else other
            triplets.append((anchor, random.choice(positive), random.choice(negative)))
        cases.append((random.permutation(np.array(triplets)), meaning))

    def same(one: int, other: int) -> Callable[[np.ndarray, np.ndarray], Any]:
        return lambda triplets, meaning: (meaning[triplets[:, one]] == meaning[triplets[:, other]]).mean()

    def right(triplets: np.ndarray, meaning: np.ndarray) -> Any:
        return same(0, 2)(triplets, meaning)

    mistakes = (
        (same(0, 1), "column 1 has the positives; the negatives stand in column 2"),
        (same(1, 2), "a negative is one of its anchor, column 0: yours is compared with the positive"),
        (lambda t, m: 1 - right(t, m),
         "that is the share of true negatives: a false one means the *same* as its anchor"),
        (lambda t, m: right(t, m) * len(t), "that is how many; divide by the number of triplets"),
        (lambda t, m: (t[:, 0] == t[:, 2]).mean(),
         "those are row numbers, and two sentences have two of them: compare what `meaning` says of them"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)
