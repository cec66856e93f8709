"""Notebook 03: articles, the ratio loss, attention and Iclust."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from labkit.corpora.article_rules import too_long, too_short
from labkit.course.exercise import Unnamed, check, find_mistake, known_mistake, number, yes_or_no
from labkit.course.exercises.draws import cosines, in_classes, lengths_of, tensor
from labkit.evaluation.iclust import mean_similarity
from labkit.text import tokens, words


@check("03.1")
def check_long_enough(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """5 to 50 tokens, the borders count, punctuation is none."""
    known = ["".join(random.choice(list("abcdefgh"), 6)) for _ in range(70)]
    cases = [(" ".join(random.choice(known, count)) + ".",) for count in (3, 4, 5, 6, 30, 49, 50, 51, 60)]
    cases += [(f"{word}, {word} , {word}; {word}",) for word in random.choice(known, 2)]  # blanks and commas
    cases += [(", ".join(known[:50]),), (" ".join([*known[:3], known[0], known[1]]),), ("",)]

    def counted(least: int, most: int, count: Callable[[str], int] = lambda text: len(words(text))) -> Any:
        return lambda sentence: least <= count(sentence) <= most

    def right(sentence: str) -> bool:
        return not (too_short(sentence) or too_long(sentence))

    mistakes = (
        (counted(6, 49), counted(6, 50), counted(5, 49), "5 and 50 tokens are allowed: the borders count"),
        (counted(0, 50), counted(5, 999), "a sentence may be too short, and it may be too long: a border is missing"),
        (lambda sentence: not right(sentence), "yours takes just the sentences that are to be left out"),
        (counted(5, 50, len), "that counts letters; `words(sentence)` gives the tokens"),
        (counted(5, 50, lambda text: len(text.split())), counted(5, 50, lambda text: len(tokens(text))),
         "a comma is no token: use `words(sentence)`"),
    )  # fmt: skip

    def read(given: Any) -> np.ndarray:
        return yes_or_no(given, "compare the number of tokens with 5 and 50")

    return find_mistake(answer, right, cases, mistakes, read=read)


@check("03.2")
def check_near_pairs(answer: Any, random: np.random.Generator) -> str | None:
    """Pairs of the paragraphs 0, 1, 2, 5 and 6 that are at most three apart."""
    given = number(answer)
    mistakes = (
        (10.0, "10 are all pairs, or the right ones and as many again: a pair counts once, and only if it is near"),
        (4.0, "one is missing: have you counted 0 with 2, which are two apart, and 2 with 5, exactly three?"),
        (3.0, "these are the direct neighbours; two or three apart is near enough, too"),
        (6.0, "one too many: check 1 with 5 and 2 with 6, which are four apart"),
        (7.0, "you have taken some that are four apart, 1 with 5 and 2 with 6: three paragraphs lie between these"),
    )
    general = Unnamed("write the ten pairs down and cross out those over 3 apart")
    return None if given == 5 else known_mistake(given, mistakes) or general


@check("03.3")
def check_ratio_loss(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """|p(d⁺)| + |1 - p(d⁻)| = 2 σ(d⁺ - d⁻)."""
    cases = [tuple(torch.from_numpy(random.uniform(0, reach, n)) for _ in range(2))
             for n, reach in ((5, 2.0), (1, 3.0), (8, 6.0))]  # fmt: skip
    cases.append((cases[0][0], cases[0][0].clone()))  # a tie

    def right(near: Any, far: Any) -> Any:
        return 2 * torch.sigmoid(near - far)

    mistakes = (
        (lambda near, far: torch.sigmoid(near - far),
         "that is p(d⁺) alone; |1 - p(d⁻)| is just as large, and belongs to it"),
        (lambda near, far: right(far, near),
         "yours is small where the positive is farther than the negative: the sign is wrong"),
        (lambda near, far: F.softplus(near - far), "that is softplus, another loss of a triplet; here is no logarithm"),
        (lambda near, far: (near - far).clamp(min=0), lambda near, far: (1 + near - far).clamp(min=0),
         "that is a hinge, another loss of a triplet; here a softmax comes first"),
        (lambda near, far: 2 * near / (near + far), lambda near, far: near / (near + far),
         "the softmax is taken of e to the power of the distances, not of the distances"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("03.4")
def check_ratio_slope(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The derivative with respect to d⁺: 2 σ (1 - σ)."""
    cases = [(3 * tensor(random, n),) for n in (6, 1, 9)]
    s = torch.sigmoid
    mistakes = (
        (lambda x: s(x) * (1 - s(x)), "the factor 2 is missing: the loss is 2σ"),
        (lambda x: 2 * s(x), "that is the loss itself"),
        (lambda x: 2 * (1 - s(x)), lambda x: 1 - s(x), "the chain rule gives both factors, σ and 1 - σ"),
        (lambda x: 2 * s(x) ** 2, "the second factor is 1 - σ, not σ once more"),
        (lambda x: 2 * x * (1 - x), "σ is `torch.sigmoid(x)`, and not x itself"),
    )
    return find_mistake(answer, lambda x: 2 * s(x) * (1 - s(x)), cases, mistakes)


@check("03.5")
def check_attention(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ_t a_t h_t with a = softmax(u · tanh(W h_t + b)) over the words that are there."""
    cases = []
    for n, longest, d, k in ((3, 4, 3, 5), (3, 6, 4, 2), (4, 5, 2, 3)):
        there = torch.arange(longest) < lengths_of(random, n, longest)[:, None]
        cases.append((tensor(random, n, longest, d), there, tensor(random, k, d), tensor(random, k),
                      2 * tensor(random, k)))  # fmt: skip

    def weighted(
        weights: Callable[..., Any], scores: Callable[..., Any] = lambda h, W, b, u: torch.tanh(h @ W.mT + b) @ u
    ) -> Callable[..., Any]:
        """The sentence's vector by other weights, made of the scores and what is there, or by other scores."""
        return lambda h, there, W, b, u: torch.einsum("nt,ntd->nd", weights(scores(h, W, b, u), there), h)

    def over(score: Any, there: Any) -> Any:
        return score.masked_fill(~there, -torch.inf).softmax(1)

    def right(h: Any, there: Any, W: Any, b: Any, u: Any) -> Any:
        return weighted(over)(h, there, W, b, u)

    mistakes = (
        (weighted(lambda g, m: g.softmax(1)), "padding takes part: its scores must be -∞ before the softmax"),
        (weighted(lambda g, m: g.softmax(1) * m),
         "weights that are cut after the softmax no longer sum to 1: mask before it"),
        (weighted(lambda g, m: (g * m).softmax(1)),
         "a score of 0 is a score like others, e⁰ = 1: what is not there needs -∞"),
        (weighted(lambda g, m: g.masked_fill(~m, -torch.inf).softmax(0).nan_to_num()),
         weighted(lambda g, m: g.masked_fill(~m, -torch.inf).softmax(0)),
         "the softmax is over a sentence's words, not over the sentences"),
        (weighted(over, lambda h, W, b, u: (h @ W.mT + b) @ u), "tanh is missing: without it b changes nothing"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("03.6")
def check_iclust_objective(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """1/n · Σ_C S_C / |C|, with each element's similarity to itself."""
    S, labels = cosines(random, (2, 5, 3, 2), 4)
    rows, others = in_classes(random, (4, 5), 4)  # not of length 1, as the formula allows
    cases = [cosines(random, (6, 4, 2), 4), (S, 2 * labels + 1), (rows @ rows.T, others)]

    def right(S: Any, labels: Any) -> Any:
        return mean_similarity(S, (labels[:, None] == np.unique(labels)).astype(float))

    def by(share: Callable[..., Any]) -> Callable[..., Any]:
        """Another share of each cluster, from its square of S and all of its rows."""

        def made(S: Any, labels: Any) -> Any:
            inside = [labels == name for name in np.unique(labels)]
            return sum(share(S[np.ix_(own, own)], S[own]) for own in inside) / len(labels)

        return made

    mistakes = (
        (by(lambda block, rows: block.sum()), "each cluster's sum is to be divided by its size"),
        (by(lambda block, rows: block.mean()), "a cluster's sum is divided by its size once, not by its square"),
        (by(lambda block, rows: rows.sum() / len(block)), "both must be in the cluster: rows and columns, `np.ix_`"),
        (by(lambda block, rows: (block.sum() - block.trace()) / len(block)),
         "an element's similarity to itself is in the sum, too"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number)


@check("03.7")
def check_inertia(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ ‖x - μ‖² = n (1 - <s>) for vectors of length 1."""
    cases = [(float(random.uniform(0.05, 0.95)), int(n)) for n in random.choice(np.arange(4, 150), 5, replace=False)]
    mistakes = (
        (lambda objective, n: 1 - objective, "for the sum over all elements, that times n"),
        (lambda objective, n: n - objective, "<s> is a mean: the sum over all elements is n <s>"),
        (lambda objective, n: n * objective, "that grows as clusters get better; k-means' sum of squares shrinks"),
        (lambda objective, n: 2 * n * (1 - objective), "twice too much: ‖x - μ‖² is no ‖x - y‖²"),
    )
    return find_mistake(answer, lambda objective, n: n * (1 - objective), cases, mistakes, read=number)
