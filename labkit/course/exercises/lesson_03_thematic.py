"""Notebook 03: triplets of an article, the ratio loss, attention and clustering by similarities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from labkit.course.exercise import Cases, Unfit, Unnamed, array, blocked, check, compared, exercise, learnable, number
from labkit.course.exercises.draws import cosines, in_classes, padded, tensor
from labkit.evaluation.iclust import mean_similarity


def _triplets(answer: Any) -> np.ndarray:
    """Triplets in any order."""
    if not isinstance(answer, list | tuple) or any(
        not isinstance(each, list | tuple) or len(each) != 3 for each in answer
    ):
        raise Unfit("expected a list of (anchor, positive, negative)")
    return np.array(sorted(map(" / ".join, answer)))


@exercise(
    "03.1",
    ("one != two and abs(one - two) <=", "0 < two - one <=", "each pair counts twice: either may be an anchor"),
    ("one != two and ", "", "a sentence is not its own positive"),
    ("<= apart", "< apart", "sentences exactly `apart` paragraphs apart are a pair, too"),
    (" and abs(one - two) <= apart", "", "some of your pairs are too far apart: compare paragraph numbers"),
    ("sections[max(0, place - 1) : place] + sections[place + 1 : place + 2]",
     "sections[place + 1 : place + 2]", "sections[max(0, place - 1) : place]",
     "sections[:place] + sections[place + 1 :]", "[sections[place - 1]] + sections[place + 1 : place + 2]",
     "negatives come from the section before and the section after, if there is one: `sections[-1]` is the last"),
    read=_triplets,
)  # fmt: skip
def articles(random: np.random.Generator) -> Cases:
    for sizes, apart in (((3, 2, 4, 1), 3), ((2, 4), 1), ((1, 3, 2), 2)):
        names = iter(random.permutation(1000).tolist())
        numbers = [np.sort(random.choice(8, size, replace=False)).tolist() for size in sizes]
        yield [[(one, f"sentence {next(names)}") for one in section] for section in numbers], apart


@check("03.2")
def check_ratio_loss(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """|p(d⁺)| + |1 - p(d⁻)| = 2 σ(d⁺ - d⁻), with d = scale · (1 - cos)."""
    cases: list[tuple[Any, ...]] = [
        (*(tensor(random, m, d) for _ in range(3)), scale) for m, d, scale in ((5, 3, 2.0), (1, 4, 5.0), (8, 2, 1.5))
    ]
    complaint = compared(
        "03.2", answer, cases,
        (" + (1 - shares[1]).abs()", "", "that is p(d⁺) alone; |1 - p(d⁻)| is part of the loss, too"),
        ("shares[0].abs() + (1 - shares[1])", "2 * shares[1]",
         "your loss is large when the positive is nearer: a distance is 1 - cos"),
        ("F.cosine_similarity", "torch.linalg.vecdot", "those are dot products: a cosine divides by both lengths"),
        read=learnable,
    )  # fmt: skip
    rows = cases[0][0].requires_grad_()
    return complaint or blocked(answer(*cases[0]), rows)


@exercise(
    "03.3",
    ("    scores = scores.masked_fill(numbers == 0, -torch.inf)\n", "",
     "padding takes part: its scores must be -∞ before the softmax"),
    ("scores = scores.masked_fill(numbers == 0, -torch.inf)\n    weights = scores.softmax(1)",
     "weights = scores.softmax(1) * (numbers != 0)",
     "the weights no longer sum to 1: mask the scores before the softmax"),
    ("-torch.inf", "0.0", "a score of 0 is a score like any other, e⁰ = 1: padding needs -∞"),
    ("softmax(1)", "softmax(0)", "softmax(0).nan_to_num()",
     "the softmax is over the words of a sentence (axis 1), not over the sentences"),
    ("torch.tanh", "", "tanh is missing"),
    read=learnable,
)  # fmt: skip
def networks(random: np.random.Generator) -> Cases:
    for n, longest, d, k in ((3, 4, 3, 5), (3, 6, 4, 2), (4, 5, 2, 3)):
        with torch.random.fork_rng():
            torch.manual_seed(int(random.integers(2**31)))
            score = nn.Linear(k, 1, bias=False)
            score.weight.data *= 4
            net = nn.ModuleDict({"words": nn.Embedding(9, d), "hidden": nn.Linear(d, k), "score": score})
        yield net, padded(random, n, longest, 9)[0]


@exercise(
    "03.4",
    (" / inside.sum()", "", "the sum of each cluster must be divided by its size"),
    (" / inside.sum()", " / inside.sum() ** 2",
     "divide the sum of a cluster by its size, not by its size squared"),
    ("S[np.ix_(inside, inside)]", "S[inside]", "both sentences must be in the cluster: use `np.ix_`"),
    ("S[np.ix_(inside, inside)].sum()", "(S[np.ix_(inside, inside)].sum() - S[inside, inside].sum())",
     "the similarity of a sentence to itself is part of the sum"),
    read=number,
)  # fmt: skip
def clustered(random: np.random.Generator) -> Cases:
    S, labels = cosines(random, (2, 5, 3, 2), 4)
    rows, others = in_classes(random, (4, 5), 4)  # not of length 1, as the formula allows
    return [cosines(random, (6, 4, 2), 4), (S, 2 * labels + 1), (rows @ rows.T, others)]


@check("03.5")
def check_regroup(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Labels that no single move improves; the result of a search depends on the order of its moves."""

    def mean_of(S: Any, labels: Any) -> float:
        return mean_similarity(S, (labels[:, None] == np.unique(labels)).astype(float))

    for sizes in ((4, 5, 3), (6, 6), (3, 4, 2, 5)):
        S, truth = cosines(random, sizes, 4, apart=0.7)
        start = random.permutation(truth)
        own = start.copy()
        found = array(answer(S.copy(), own))
        if not np.array_equal(own, start):
            return "your function changes `labels` itself: work on a copy"
        if found.shape != start.shape or not set(found.tolist()) <= set(start.tolist()):
            return "expected a label for each sentence, taken from the labels at the start"
        value = mean_of(S, found)
        if value < mean_of(S, start) - 1e-6:
            return "⟨s⟩ is smaller than at the start: it should become as large as possible"
        better = [(row, name) for row in range(len(S)) for name in np.unique(start)
                  if mean_of(S, np.where(np.arange(len(S)) == row, name, found)) > value + 1e-6]  # fmt: skip
        if better and np.array_equal(found, start):
            return "no sentence has moved, though some moves would raise ⟨s⟩"
        if better:
            row, name = better[0]
            return Unnamed(f"moving sentence {row} to cluster {name} would still raise ⟨s⟩: go through all sentences "
                           "again until a whole pass moves nothing")  # fmt: skip
    return None
