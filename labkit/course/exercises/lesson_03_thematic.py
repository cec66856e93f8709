"""Notebook 03: triplets of an article, the ratio loss, attention and clustering by similarities."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.course.exercise import Unfit, Unnamed, array, blocked, check, find_mistake, learnable, number
from labkit.course.exercises.draws import cosines, in_classes, padded, tensor
from labkit.evaluation.iclust import mean_similarity

Section = list[tuple[int, str]]  # paragraph numbers, and first sentences


@check("03.1")
def check_triplets(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """All pairs of a section at most `apart` paragraphs apart, with each sentence of the sections beside it."""
    cases = []
    for sizes, apart in (((3, 2, 4, 1), 3), ((2, 4), 1), ((1, 3, 2), 2)):
        names = iter(random.permutation(1000).tolist())
        numbers = (np.sort(random.choice(8, size, replace=False)).tolist() for size in sizes)
        cases.append(([[(one, f"sentence {next(names)}") for one in section] for section in numbers], apart))

    def by(
        near: Callable[[int, int, int], bool] = lambda one, two, apart: one != two and abs(one - two) <= apart,
        beside: Callable[[list[Section], int], list[Section]] = lambda all, at: (
            all[max(0, at - 1) : at] + all[at + 1 :][:1]
        ),
    ) -> Callable[..., Any]:
        def found(sections: list[Section], apart: int) -> Iterator[tuple[str, str, str]]:
            for at, section in enumerate(sections):
                pairs = [(a, p) for one, a in section for two, p in section if near(one, two, apart)]
                yield from ((a, p, n) for a, p in pairs for other in beside(sections, at) for _, n in other)

        return lambda sections, apart: list(found(sections, apart))

    mistakes = (
        (by(lambda one, two, apart: one < two <= one + apart), "each pair counts twice: either may be the anchor"),
        (by(lambda one, two, apart: abs(one - two) <= apart), "a sentence is not its own positive"),
        (by(lambda one, two, apart: one != two and abs(one - two) < apart),
         "sentences exactly `apart` paragraphs apart are a pair, too"),
        (by(lambda one, two, apart: one != two), "some of your pairs are too far apart: compare paragraph numbers"),
        (by(beside=lambda all, at: all[at + 1 : at + 2]), by(beside=lambda all, at: all[max(0, at - 1) : at]),
         by(beside=lambda all, at: [*all[:at], *all[at + 1 :]]),
         by(beside=lambda all, at: [all[at - 1], *all[at + 1 : at + 2]]),
         "negatives come from the section before and the section after, if there is one: `sections[-1]` is the last"),
    )  # fmt: skip
    return find_mistake(answer, by(), cases, mistakes, read=_triplets)


def _triplets(answer: Any) -> np.ndarray:
    """Triplets in any order."""
    if not isinstance(answer, list | tuple) or any(
        not isinstance(each, list | tuple) or len(each) != 3 for each in answer
    ):
        raise Unfit("expected a list of (anchor, positive, negative)")
    return np.array(sorted(map(" / ".join, answer)))


@check("03.2")
def check_ratio_loss(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """|p(d⁺)| + |1 - p(d⁻)| = 2 σ(d⁺ - d⁻), with d = scale · (1 - cos)."""
    cases: list[tuple[Any, ...]] = [
        (*(tensor(random, m, d) for _ in range(3)), scale) for m, d, scale in ((5, 3, 2.0), (1, 4, 5.0), (8, 2, 1.5))
    ]

    def by(
        loss: Callable[[Tensor], Tensor] = lambda gap: 2 * torch.sigmoid(gap),
        near: Callable[[Tensor, Tensor], Tensor] = F.cosine_similarity,
        scaled: bool = True,
    ) -> Callable[..., Tensor]:
        return lambda a, p, n, scale: loss((scale if scaled else 1.0) * (near(a, n) - near(a, p)))

    mistakes = (
        (by(torch.sigmoid), "that is p(d⁺) alone; |1 - p(d⁻)| is part of the loss, too"),
        (by(lambda gap: 2 * torch.sigmoid(-gap)), "yours is large when the positive is nearer: a distance is 1 - cos"),
        (by(scaled=False), "the distances must be multiplied by `scale` before the softmax"),
        (by(near=lambda a, b: (a * b).sum(1)), "those are dot products: a cosine divides by both lengths"),
        (lambda *given: by()(*given).mean(), "one loss for each triplet is wanted, not their mean"),
    )
    complaint = find_mistake(answer, by(), cases, mistakes, read=learnable)
    return complaint or blocked(lambda rows: answer(rows, *cases[0][1:]), cases[0][0])


@check("03.3")
def check_attention(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ_t a_t h_t with a = softmax(u · tanh(W h_t + b)) over the words, without padding."""
    cases = []
    for n, longest, d, k in ((3, 4, 3, 5), (3, 6, 4, 2), (4, 5, 2, 3)):
        with torch.random.fork_rng():
            torch.manual_seed(int(random.integers(2**31)))
            score = nn.Linear(k, 1, bias=False)
            score.weight.data *= 4
            net = nn.ModuleDict({"words": nn.Embedding(9, d), "hidden": nn.Linear(d, k), "score": score})
        cases.append((net, padded(random, n, longest, 9)[0]))

    def by(weights: Callable[[Tensor, Tensor], Tensor], squash: Callable[[Tensor], Tensor] = torch.tanh) -> Any:
        def vectors(net: Any, numbers: Tensor) -> Tensor:
            h = net["words"](numbers)
            shares = weights(net["score"](squash(net["hidden"](h)))[:, :, 0], numbers != 0)
            return torch.einsum("nt,ntd->nd", shares, h)

        return vectors

    def masked(scores: Tensor, there: Tensor) -> Tensor:
        return scores.masked_fill(~there, -torch.inf)

    mistakes = (
        (by(lambda g, m: g.softmax(1)), "padding takes part: its scores must be -∞ before the softmax"),
        (by(lambda g, m: g.softmax(1) * m), "the weights no longer sum to 1: mask the scores before the softmax"),
        (by(lambda g, m: (g * m).softmax(1)), "a score of 0 is a score like any other, e⁰ = 1: padding needs -∞"),
        (by(lambda g, m: masked(g, m).softmax(0).nan_to_num()), by(lambda g, m: masked(g, m).softmax(0)),
         "the softmax is over the words of a sentence (axis 1), not over the sentences"),
        (by(lambda g, m: masked(g, m).softmax(1), lambda x: x), "tanh is missing"),
    )  # fmt: skip
    return find_mistake(answer, by(lambda g, m: masked(g, m).softmax(1)), cases, mistakes, read=learnable)


@check("03.4")
def check_objective(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """1/n · Σ_C S_C / |C|, with each element's similarity to itself."""
    S, labels = cosines(random, (2, 5, 3, 2), 4)
    rows, others = in_classes(random, (4, 5), 4)  # not of length 1, as the formula allows
    cases = [cosines(random, (6, 4, 2), 4), (S, 2 * labels + 1), (rows @ rows.T, others)]

    def by(share: Callable[..., Any]) -> Callable[..., Any]:
        """Another share of each cluster, from its square of S and its full rows."""

        def made(S: Any, labels: Any) -> Any:
            inside = [labels == name for name in np.unique(labels)]
            return sum(share(S[np.ix_(own, own)], S[own]) for own in inside) / len(labels)

        return made

    mistakes = (
        (by(lambda block, rows: block.sum()), "the sum of each cluster must be divided by its size"),
        (by(lambda block, rows: block.mean()), "the sum of a cluster is divided by its size, not by its size squared"),
        (by(lambda block, rows: rows.sum() / len(block)), "both sentences must be in the cluster: use `np.ix_`"),
        (by(lambda block, rows: (block.sum() - block.trace()) / len(block)),
         "the similarity of a sentence to itself is part of the sum"),
        (lambda S, labels: len(labels) * mean_of(S, labels), "divide by the number of sentences at the end"),
    )  # fmt: skip
    return find_mistake(answer, mean_of, cases, mistakes, read=number)


def mean_of(S: Any, labels: Any) -> float:
    return mean_similarity(S, (labels[:, None] == np.unique(labels)).astype(float))


@check("03.5")
def check_regroup(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Labels that no single move improves; the result of a search depends on the order of its moves."""
    for sizes in ((4, 5, 3), (6, 6), (3, 4, 2, 5)):
        S, truth = cosines(random, sizes, 4, apart=0.7)
        start = random.permutation(truth)
        own = start.copy()
        found = array(answer(S.copy(), own))
        if not np.array_equal(own, start):
            return "your function changes labels itself: work on a copy"
        if found.shape != start.shape or not set(found.tolist()) <= set(start.tolist()):
            return "expected a label for each sentence, each one of the labels at the start"
        value = mean_of(S, found)
        if value < mean_of(S, start) - 1e-6:
            return "⟨s⟩ is smaller than at the start: it should become as large as possible"
        better = [(row, name) for row in range(len(S)) for name in np.unique(start)
                  if mean_of(S, np.where(np.arange(len(S)) == row, name, found)) > value + 1e-6]  # fmt: skip
        if better and np.array_equal(found, start):
            return "nothing has moved, though some moves would raise ⟨s⟩"
        if better:
            row, name = better[0]
            return Unnamed(f"moving sentence {row} to cluster {name} would still raise ⟨s⟩: go through all sentences "
                           "again until a whole pass moves nothing")  # fmt: skip
    return None
