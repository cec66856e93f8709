"""Notebook 09: how a training breaks, and how to see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.arrays import unit
from labkit.course.exercise import Unnamed, check, close, find_mistake, known_mistake, number
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
    """exp(-Σ p log p) with p = σ / Σ σ, the singular values of centred rows of length 1."""
    four = random.normal(size=(4, 6)) + 0.5  # centred, one σ is 0 up to rounding
    flat = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])  # one σ is exactly 0
    cases = [*leaning_rows(random), (four,), (flat,)]

    def centred(V: np.ndarray) -> np.ndarray:
        return unit(V) - unit(V).mean(0)

    def of(rows: Callable[[np.ndarray], np.ndarray], power: int = 1) -> Callable[[np.ndarray], Any]:
        def rank(V: np.ndarray) -> Any:
            sigma = np.linalg.svd(rows(V), compute_uv=False) ** power
            p = sigma[sigma > 1e-12] / sigma.sum()
            return np.exp(-(p * np.log(p)).sum())

        return rank

    right = of(centred)
    mistakes = (
        (of(unit), "the mean is still in: subtract the mean of the rows before you take singular values"),
        (of(lambda V: V - V.mean(0)), "divide each row by its length first"),
        (of(centred, 2), "those are shares of the squares, the variances; here σ itself is shared out"),
        (lambda V: np.log(right(V)), "that is the entropy; its exponential is a number of directions"),
        (lambda V: 1 / right(V), "the sign: the entropy is -Σ p log p, above 0"),
    )
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
def check_across(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """g - (g · v) v, row by row."""
    cases = [(unit(random.normal(size=shape)), random.normal(size=shape)) for shape in ((3, 3), (4, 3), (2, 5))]

    def dot(v: np.ndarray, pull: np.ndarray) -> np.ndarray:
        return (v * pull).sum(1, keepdims=True)

    mistakes = (
        (lambda v, g: dot(v, g) * v, "that is the part along v itself: what is left when it is taken off is asked for"),
        (lambda v, g: g + dot(v, g) * v, "take the part along v off, do not add it"),
        (lambda v, g: g - (v * g).sum(0) * v, lambda v, g: g - (v * g).sum() * v,
         "each row has its own dot product: sum along the rows, `.sum(1, keepdims=True)`"),
        (lambda v, g: g - dot(v, g), "the dot product is a number: it goes along v, so multiply it by v"),
        (lambda v, g: v - dot(v, g) * g, lambda v, g: g - dot(v, g) * g,
         "it is the pull that loses its part along v: g - (g · v) v"),
    )  # fmt: skip
    return find_mistake(answer, lambda v, pull: pull - dot(v, pull) * v, cases, mistakes)
