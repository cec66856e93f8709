"""Notebook 09: how a training run breaks, and how to see it."""

from __future__ import annotations

from typing import Any

import numpy as np

from labkit.arrays import unit
from labkit.course.exercise import Cases, Unnamed, check, close, exercise, number


def leaning_rows(random: np.random.Generator) -> list[tuple[np.ndarray]]:
    """More rows than columns, of different lengths, that lean in one direction."""
    return [
        (random.normal(size=(n, d)) * random.uniform(0.5, 2.0, size=(n, 1)) + random.normal(size=d),)
        for n, d in ((6, 3), (8, 4), (9, 2))
    ]


exercise(
    "09.1",
    ("(S.sum() - n) / (n * (n - 1))", "S.mean()",
     "your mean includes the diagonal: each row has cosine 1 with itself"),
    (" / np.linalg.norm(V, axis=1, keepdims=True)\n    S = unit @ unit.T", "\n    S = unit @ unit.T",
     "\n    S = unit @ unit.T\n    S += np.diag(1 - S.diagonal())",
     "those are dot products: divide each row by its length first"),
    ("(S.sum() - n) / (n * (n - 1))", "S.sum() - n", "(S.sum() - n) / 2",
     "that is the sum over all pairs, not their mean"),
    ("(n * (n - 1))", "n**2", "you left the diagonal out of the sum, but not out of the count"),
    ("S.sum()", "abs(S).sum()", "a cosine has a sign, and the sign matters"),
)(leaning_rows)  # fmt: skip


@exercise(
    "09.2",
    (" - unit.mean(axis=0)", "", "subtract the mean of the rows before you take singular values"),
    (" / np.linalg.norm(V, axis=1, keepdims=True)", "", "divide each row by its length first"),
    ("compute_uv=False)", "compute_uv=False) ** 2",
     "those are shares of the squares, the variances; take shares of σ itself"),
)  # fmt: skip
def spread_rows(random: np.random.Generator) -> Cases:
    four = random.normal(size=(4, 6)) + 0.5  # centred, one σ is 0 up to rounding
    flat = np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])  # one σ is exactly 0
    return [*leaning_rows(random), (four,), (flat,)]


@check("09.3")
def check_loss_of_a_point(answer: Any, random: np.random.Generator) -> str | None:
    """[1 - 1 + 0.2]₊ = 0.2."""
    given = number(answer)
    mistakes = (
        (0.0, "S_n - S_p is 0, but the margin is added: the loss asks for a lead of 0.2, and there is none"),
        (1.2, "S_n is 1, and so is S_p: one is subtracted from the other"),
        (-0.2, "[x]₊ is never below 0, and the margin is added, not subtracted"),
        (1.0, "that is the cosine of the pairs: put both of them into [S_n - S_p + margin]₊"),
        (0.4, "the hardest pairs of both kinds form one triplet, not two"),
    )
    if close(given, 0.2):
        return None
    general = Unnamed("put the two cosines into [S_n - S_p + margin]₊")
    return next((says for wrong, says in mistakes if close(given, wrong, 0.004)), general)


@exercise(
    "09.4",
    ("pull - (pull", "(pull", "that is the part along v itself: return what remains without it"),
    ("pull - (pull", "pull + (pull", "subtract the part along v instead of adding it"),
    ("(1, keepdims=True)", "(0)", "()",
     "each row has its own dot product: sum along the rows, `.sum(1, keepdims=True)`"),
    ("True) * v", "True)", "the dot product is a number: it goes along v, so multiply it by v"),
    ("pull - (pull * v).sum(1, keepdims=True) * v", "v - (pull * v).sum(1, keepdims=True) * pull",
     "pull - (pull * v).sum(1, keepdims=True) * pull", "the pull must lose its part along v: g - (g · v) v"),
)  # fmt: skip
def pulls(random: np.random.Generator) -> Cases:
    return [(unit(random.normal(size=shape)), random.normal(size=shape)) for shape in ((3, 3), (4, 3), (2, 5))]
