"""Notebook 03: articles, the ratio loss, attention and Iclust."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from labkit.corpora.article_rules import too_long, too_short
from labkit.evaluation.iclust import mean_similarity
from labkit.lab.course.exercise import Unnamed, check, find_mistake, known_mistake, number, yes_or_no
from labkit.text import tokens, words

_DISTINCT = ["".join(pair) for pair in product("abcdefgh", repeat=2)]  # 64 words
SENTENCES = (  # of 0, 4, 5, 5, 6, 5, 5, 50, 51, 50 and 60 tokens; a comma is none, and a word may come again
    "",
    "Four, words; stand (here).",
    "Five words , and no more !",
    "International organisations notwithstanding, governments negotiated.",
    "This one has a sixth word.",
    "No, no, no, no, no.",
    "In 1914 the war began.",
    " ".join(["word", "and"] * 25) + " .",
    " ".join(["word"] * 50) + " end.",
    ", ".join(_DISTINCT[:50]) + ".",
    " ".join(_DISTINCT[:60]),
)


@check("03.1")
def check_long_enough(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """5 to 50 tokens, the borders count, punctuation is none."""

    def counted(least: float, most: float, count: Callable[[str], int] = lambda text: len(words(text))) -> Any:
        return lambda sentence: least <= count(sentence) <= most

    def right(sentence: str) -> bool:
        return not (too_short(sentence) or too_long(sentence))

    mistakes = (
        (counted(5, 50, lambda text: text.count(" ")), "blanks are no tokens: use `words(sentence)`"),
        (counted(6, 49), "5 and 50 tokens are allowed: the borders count"),
        (counted(6, 50), "5 tokens are allowed: the lower border counts"),
        (counted(5, 49), "50 tokens are allowed: the upper border counts"),
        (counted(6, 51), "at both ends yours begins one too late: 5 tokens are allowed, 51 are not"),
        (counted(4, 51), "4 tokens are too few and 51 too many: yours takes one too many at both ends"),
        (counted(4, 50), "4 tokens are too few: 'Four, words; stand (here).' has no more"),
        (counted(5, 51), "51 tokens are too many"),
        (counted(0, 50), "a sentence may be too short as well: where is the lower border?"),
        (counted(5, np.inf), "a sentence may be too long as well, 51 tokens are: where is the upper border?"),
        (lambda sentence: not right(sentence), "yours takes just the sentences that are to be left out, and no other"),
        (lambda sentence: not 5 < len(words(sentence)) < 50, "yours takes the short and the long ones: the opposite"),
        (counted(5, 50, lambda text: len(tokens(text))),
         "that counts commas and full stops, too; `words(sentence)` gives words only"),
        (counted(5, 50, len), "that counts letters; `words(sentence)` gives the tokens"),
        (counted(5, 50, lambda text: len(text.split())), counted(5, 50, lambda text: len(text.split(" "))),
         "a comma between blanks is no token: use `words(sentence)`"),
        (counted(5, 50, lambda text: len(set(words(text)))), counted(5, 50, lambda text: len(set(text.split()))),
         "a word that comes twice counts twice: a set loses it"),
    )  # fmt: skip
    return find_mistake(answer, right, [(text,) for text in SENTENCES], mistakes, read=_length)


def _length(answer: Any) -> np.ndarray:
    return yes_or_no(answer, "compare the number of tokens with 5 and 50")


@check("03.2")
def check_near_pairs(answer: Any, random: np.random.Generator) -> str | None:
    """Pairs of the paragraphs 0, 1, 2, 5 and 6 that are at most three apart."""
    given = number(answer)
    mistakes = (
        (10.0, "10 are all pairs, or the right ones and as many again: a pair counts once, and only if it is near"),
        (4.0, "one is missing: have you counted 0 with 2, which are two apart, and 2 with 5, exactly three?"),
        (3.0, "these are the direct neighbours; two or three apart is near enough, too"),
        (7.0, "you have taken some that are four apart, 1 with 5 and 2 with 6: three paragraphs lie between these"),
        (9.0, "too many: of the ten pairs only 0 with 6 is missing there, but five apart is too far, too"),
        (8.0, "too many: a pair counts once, whatever its order, and 1 with 5 and 2 with 6 are four apart"),
        (6.0, "one too many: check 1 with 5 and 2 with 6, which are four apart"),
        (2.0, "too few: direct neighbours are near, and so are those two or three apart"),
        (1.0, "that is the number of pairs that are exactly three apart; nearer ones count, too"),
        (20.0, "that is every pair, in both orders; count each once, and only if it is near"),
        (25.0, "a paragraph makes no pair with itself, and each pair counts once, and only if it is near"),
        (15.0, "a paragraph makes no pair with itself, and each pair counts once"),
    )  # fmt: skip
    general = Unnamed("write the ten pairs down and cross out those over 3 apart")
    return None if given == 5 else known_mistake(given, mistakes) or general


@check("03.3")
def check_ratio_loss(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """|p(d⁺)| + |1 - p(d⁻)| = 2 σ(d⁺ - d⁻)."""
    draw = torch.Generator().manual_seed(3)
    cases = [
        (reach * torch.rand(n, generator=draw).double(), reach * torch.rand(n, generator=draw).double())
        for n, reach in ((5, 2.0), (1, 3.0), (8, 6.0))
    ]
    cases.append((torch.tensor([1.0, 2.5, 0.0]).double(), torch.tensor([1.0, 0.5, 3.0]).double()))  # one is a tie
    sigmoid = torch.sigmoid

    def right(near: Any, far: Any) -> Any:
        return 2 * sigmoid(near - far)

    mistakes = (
        (lambda p, n: p + 1 - n, "the distances themselves stand there: the softmax of both comes first"),
        (lambda p, n: sigmoid(p - n), "that is p(d⁺) alone; |1 - p(d⁻)| is just as large, and belongs to it"),
        (lambda p, n: 2 * sigmoid(n - p),
         "yours is small where the positive is farther than the negative: the sign is wrong"),
        (lambda p, n: sigmoid(n - p), "yours falls where the positive moves away, and one term is missing"),
        (lambda p, n: 2 * sigmoid(p**2 - n**2), "section 4 takes the distances themselves, not their squares"),
        (lambda p, n: F.softplus(p - n), "that is softplus, another loss of a triplet; here is no logarithm"),
        (lambda p, n: F.softplus(n - p), lambda p, n: 2 * F.softplus(p - n),
         "here is no logarithm: p(d⁺) and 1 - p(d⁻) are added as they are"),
        (lambda p, n: (1 + p - n).clamp(min=0), "that is the hinge, another loss of a triplet"),
        (lambda p, n: (p - n).clamp(min=0), "that is a hinge without a margin; here a softmax comes first"),
        (lambda p, n: p - n, "that is only d⁺ - d⁻; the softmax comes next"),
        (lambda p, n: torch.ones_like(p), "p(d⁺) + p(d⁻) is 1 whatever the distances: it is 1 - p(d⁻) that goes in"),
        (lambda p, n: torch.zeros_like(p), "p(d⁺) and 1 - p(d⁻) are the same number: add them"),
        (lambda p, n: 2 * sigmoid(p - n) ** 2, "p(d⁺) and 1 - p(d⁻) are added as they are, not squared"),
        (lambda p, n: sigmoid(p - n) ** 2, "p(d⁺) and 1 - p(d⁻) are neither squared nor multiplied: add"),
        (lambda p, n: sigmoid(2 * (p - n)), "the 2 stands before the sigmoid, not within it"),
        (lambda near, far: 2 * near / (near + far),
         "the softmax is taken of e to the power of the distances, not of the distances"),
        (lambda p, n: p / (p + n), "the softmax is taken of e to the power of the distances, and has two terms"),
        (lambda p, n: p.softmax(0) + 1 - n.softmax(0),
         "the softmax is over the two distances of one triplet, not over the triplets"),
        (lambda p, n: right(p, n).mean(), "the loss of each triplet is asked for: no mean yet"),
        (lambda p, n: right(p, n).sum(), "the loss of each triplet is asked for: no sum yet"),
        (lambda p, n: sigmoid(p) + 1 - sigmoid(n), "the softmax sees both distances: p(d⁺) = σ(d⁺ - d⁻)"),
        (lambda p, n: torch.tanh(p - n), "tanh goes from -1 to 1; a share goes from 0 to 1"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("03.4")
def check_ratio_slope(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The derivative with respect to d⁺: 2 σ (1 - σ)."""
    draw = torch.Generator().manual_seed(4)
    cases = [(3 * torch.randn(n, generator=draw).double(),) for n in (6, 1, 9)]
    cases.append((torch.tensor([-3.0, -0.5, 0.0, 2.0, 9.0]).double(),))
    s = torch.sigmoid

    def right(x: Any) -> Any:
        return 2 * s(x) * (1 - s(x))

    mistakes = (
        (lambda x: 2 * (1 - s(x) ** 2), "the derivative of σ is σ (1 - σ); 1 less the square is that of tanh"),
        (lambda x: x * (1 - x), "σ is `torch.sigmoid(x)`, and not x itself; and the loss is 2σ"),
        (lambda x: s(x) * (1 - s(x)), "the factor 2 is missing: the loss is 2σ"),
        (lambda x: 4 * s(x) * (1 - s(x)), "one factor 2 too many: the loss is 2σ"),
        (lambda x: 2 * s(x), "that is the loss itself"),
        (s, "that is the slope of softplus, which does not give up"),
        (lambda x: -right(x), "the loss grows with d⁺: its slope is positive"),
        (lambda x: -s(x) * (1 - s(x)), "the loss grows with d⁺: its slope is positive, and a factor 2 is missing"),
        (lambda x: 2 * (1 - s(x)), "the chain rule gives both factors, σ and 1 - σ"),
        (lambda x: 1 - s(x), "the chain rule gives both factors, σ and 1 - σ, and the loss is 2σ"),
        (lambda x: 2 * s(x) ** 2, "the second factor is 1 - σ, not σ once more"),
        (lambda x: 2 * s(x) * (1 - 2 * s(x)), "the second factor is 1 - σ: the 2 of the loss stands in front only"),
        (lambda x: 2 * s(x) * (1 + s(x)), "the second factor is 1 - σ, not 1 + σ"),
        (lambda x: 2 * x * (1 - x), "σ is `torch.sigmoid(x)`, and not x itself"),
        (lambda x: right(x) * (1 - 2 * s(x)), "that is the second derivative; the first was asked for"),
        (lambda x: 1 - torch.tanh(x) ** 2, "that is the slope of tanh(x): σ(x) is steep over twice that width"),
        (lambda x: torch.sign(x), "that is only the sign of x"),
        (lambda x: (x > 0).double(), "that is the slope of a hinge without a margin"),
        (lambda x: right(x).sum(), "the slope of each triplet is asked for: no sum"),
        (lambda x: right(x).mean(), "the slope of each triplet is asked for: no mean"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("03.5")
def check_attention(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ_t a_t h_t with a = softmax(u · tanh(W h_t + b)) over the words that are there."""
    draw = torch.Generator().manual_seed(0)

    def randn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=draw).double()

    cases = []
    for lengths, d, k in (((4, 2), 3, 5), ((1, 6, 3), 4, 2), ((5, 4, 2, 3), 2, 3)):
        there = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        cases.append((randn(*there.shape, d), there, randn(k, d), randn(k), 2 * randn(k)))

    def scores(h: Any, W: Any, b: Any, u: Any) -> Any:
        return torch.tanh(h @ W.mT + b) @ u

    def over(score: Any, there: Any, axis: int = 1) -> Any:
        return score.masked_fill(~there, -torch.inf).softmax(axis)

    def of(weights: Any, h: Any) -> Any:
        return torch.einsum("nt,ntd->nd", weights.double(), h)

    def right(h: Any, there: Any, W: Any, b: Any, u: Any) -> Any:
        return of(over(scores(h, W, b, u), there), h)

    def weighted(weights: Callable[..., Any]) -> Callable[..., Any]:
        """The sentence's vector by other weights, from the scores and what is there."""
        return lambda h, there, W, b, u: of(weights(scores(h, W, b, u), there), h)

    def scored(score: Callable[..., Any]) -> Callable[..., Any]:
        """... by other scores."""
        return lambda h, there, W, b, u: of(over(score(h, W, b, u), there), h)

    mistakes = (
        (weighted(lambda g, m: g.masked_fill(~m, -1).softmax(1)),
         "a score of -1 is a score like others, e⁻¹ is not 0: what is not there needs -∞"),
        (lambda h, m, W, b, u: (h * m[:, :, None]).mean(1),
         "that is a plain mean with padding as 0: nothing is weighted yet"),
        (weighted(lambda g, m: g.softmax(1)), "the padding takes part: its scores must be -∞ before the softmax"),
        (weighted(lambda score, there: score.softmax(1) * there),
         "weights that are cut after the softmax no longer sum to 1: mask before it"),
        (weighted(lambda g, m: (g * m).softmax(1)),
         "a score of 0 is a score like others, e⁰ = 1: what is not there needs -∞"),
        (weighted(lambda g, m: over(g, ~m)),
         weighted(lambda g, m: g.masked_fill(m, -torch.inf).softmax(1).nan_to_num()),
         "the mask is the wrong way round: `there` marks the words that are there"),
        (weighted(lambda g, m: over(g, m, 0)), weighted(lambda g, m: over(g, m, 0).nan_to_num()),
         "the softmax is over a sentence's words, not over the sentences"),
        (weighted(lambda g, m: g.softmax(0)), "the softmax is over a sentence's words, and only those there"),
        (weighted(lambda g, m: g * m), "these are the scores; the softmax makes weights of them"),
        (weighted(lambda g, m: g), "these are the scores; the softmax makes weights of them, without padding"),
        (weighted(lambda g, m: torch.sigmoid(g) * m), "σ is no softmax: a sentence's weights sum to 1"),
        (weighted(lambda g, m: torch.exp(g) * m),
         "e to the power of the scores is to be divided by its sum over the words"),
        (scored(lambda h, W, b, u: (h @ W.mT + b) @ u), "tanh is missing: without it b changes nothing, either"),
        (scored(lambda h, W, b, u: torch.tanh(h @ W.mT) @ u), "b is missing in the tanh; outside it changes nothing"),
        (scored(lambda h, W, b, u: torch.tanh(h @ W.mT + b).sum(2)), "u is missing: it says how much a number counts"),
        (scored(lambda h, W, b, u: torch.tanh((h @ W.mT + b) @ u)), "u comes after the tanh, not within it"),
        (scored(lambda h, W, b, u: torch.sigmoid(h @ W.mT + b) @ u), "that is a sigmoid where the formula has tanh"),
        (scored(lambda h, W, b, u: torch.relu(h @ W.mT + b) @ u), "that is a ReLU where the formula has tanh"),
        (scored(lambda h, W, b, u: -scores(h, W, b, u)), "your weights are largest at the smallest scores: the sign"),
        (weighted(lambda g, m: m / m.sum(1, keepdim=True)), "that is the plain mean of the words"),
        (weighted(lambda g, m: m), "that is the sum of the words: nothing is weighted yet"),
        (lambda h, m, W, b, u: h.mean(1), "that is the plain mean of all places, padding too: nothing is weighted yet"),
        (lambda h, m, W, b, u: over(scores(h, W, b, u), m),
         "these are the weights: the sentence's vector is the sum of the weighted h"),
        (lambda h, m, W, b, u: over(scores(h, W, b, u), m)[:, :, None] * h,
         "the weighted words are still to be added: one vector for each sentence"),
        (lambda h, m, W, b, u: right(h, m, W, b, u) / m.sum(1, keepdim=True),
         "the weights sum to 1 already: add the weighted words, without dividing by their number"),
        (lambda h, m, W, b, u: (over(scores(h, W, b, u), m)[:, :, None] * h).mean(1),
         "the weights sum to 1 already: add the weighted words, take no mean of them"),
        (lambda h, m, W, b, u: h[torch.arange(len(h)), over(scores(h, W, b, u), m).argmax(1)],
         "that is the heaviest word alone; all words count, each with its weight"),
        (lambda h, m, W, b, u: (over(scores(h, W, b, u), m)[:, :, None] * h).sum(2),
         "that adds up each word's numbers; the words are to be added, along the axis of t"),
        (lambda h, m, W, b, u: of(over(scores(h, W, b, u), m), torch.tanh(h)),
         "the tanh is for the scores only: what is added up is h itself"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("03.6")
def check_iclust_objective(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """1/n · Σ_C S_C / |C|, with each element's similarity to itself."""
    cases = [_clustered(4, (6, 4, 2)), _clustered(5, (2, 5, 3, 2)), _clustered(6, (4, 5), lengths=True)]
    cases[1] = cases[1][0], 2 * cases[1][1] + 1  # a label is a name: these are 1, 3, 5 and 7

    def right(S: Any, labels: Any) -> Any:
        return mean_similarity(S, (labels[:, None] == np.unique(labels)).astype(float))

    def by_cluster(share: Callable[..., Any], *, last: Callable[..., Any] = lambda shares, n: shares.sum() / n) -> Any:
        """Another share of each cluster, from its square of S and all of its rows; another end."""

        def made(S: Any, labels: Any) -> Any:
            inside = [labels == each for each in np.unique(labels)]
            shares = np.array([share(S[np.ix_(own, own)], S[own], len(S)) for own in inside])
            return last(shares, len(labels))

        return made

    def share(block: Any, rows: Any, n: int) -> Any:
        return block.sum() / len(block)

    mistakes = (
        (by_cluster(lambda block, rows, n: (rows.sum() - block.sum()) / len(rows)),
         "that is the similarity to the *other* clusters; both i and j are in C"),
        (by_cluster(share, last=lambda shares, n: shares.max()),
         by_cluster(share, last=lambda shares, n: shares.max() / n),
         "that is the best cluster alone: add up all of them"),
        (by_cluster(share, last=lambda shares, n: shares.sum()), "divide by n at the end: it is a mean of elements"),
        (by_cluster(share, last=lambda shares, n: shares.mean()),
         "divide by the number of elements n at the end, not by that of the clusters"),
        (by_cluster(share, last=lambda shares, n: shares[0] / n), "that is the first cluster alone: add up all"),
        (by_cluster(share, last=lambda shares, n: shares[-1] / n), "that is the last cluster alone: add up all"),
        (by_cluster(lambda block, rows, n: block.sum()),
         "each cluster's sum is divided by its size |C|, or one large cluster would always win"),
        (by_cluster(lambda block, rows, n: block.sum() / n), "a cluster's sum is divided by its own size |C|, not n"),
        (by_cluster(lambda block, rows, n: block.sum(), last=lambda shares, n: shares.sum()),
         "that is the sum within all clusters: it is still to be divided by sizes, first |C|, then n"),
        (by_cluster(lambda block, rows, n: block.mean()),
         "S_C is divided by |C| once: a mean over the square does it twice"),
        (by_cluster(lambda block, rows, n: block.mean(), last=lambda shares, n: shares.mean()),
         "clusters count by their size, P(C) = |C|/n: divide S_C by |C| once, not twice"),
        (by_cluster(lambda block, rows, n: block.mean(), last=lambda shares, n: shares.sum()),
         "divide S_C by |C| once, not twice, and the sum by n"),
        (by_cluster(lambda block, rows, n: (block.sum() - np.trace(block)) / len(block)),
         "each element is its own neighbour too: the diagonal belongs to S_C"),
        (by_cluster(lambda block, rows, n: (block.sum() - np.trace(block)) / (len(block) - 1)),
         "each element is its own neighbour too: the diagonal belongs to S_C, and |C| counts it"),
        (by_cluster(lambda block, rows, n: np.triu(block, 1).sum() / len(block)),
         "i and j run over all of the cluster: each pair comes twice, and the diagonal belongs to it"),
        (by_cluster(lambda block, rows, n: np.triu(block).sum() / len(block)),
         "i and j run over all of the cluster: a pair comes twice, as i, j and as j, i"),
        (by_cluster(lambda block, rows, n: np.trace(block) / len(block)),
         by_cluster(lambda block, rows, n: np.trace(block)),
         "`S[inside, inside]` is the diagonal only: `np.ix_` gives the square of rows and columns"),
        (by_cluster(lambda block, rows, n: rows.sum() / len(rows)),
         "both i and j are in C: yours adds up whole rows, with all other clusters"),
        (by_cluster(lambda block, rows, n: rows.mean()), "both i and j are in C: yours takes the mean of whole rows"),
        (by_cluster(lambda block, rows, n: rows.sum()), "both i and j are in C: yours adds up whole rows"),
        (lambda S, labels: S[labels[:, None] == labels].mean(),
         "that is the mean over all pairs: pairs of large clusters count too much in it"),
        (lambda S, labels: S.mean(), "that is the mean of all of S, whatever the clusters"),
        (lambda S, labels: 1 - right(S, labels), "a better partition must give more: yours is 1 less the right number"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number)


@check("03.7")
def check_inertia(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Σ ‖x - μ‖² = n (1 - <s>) for vectors of length 1."""
    cases = [(0.7025, 26), (0.25, 7), (0.913, 140), (1.0, 5), (0.0625, 16)]

    def right(objective: float, n: int) -> float:
        return n * (1 - objective)

    mistakes = (
        (lambda objective, n: 1 - objective / n, "<s> is already divided by n, and Σ ‖x‖² is n, not 1"),
        (lambda objective, n: 1 - objective, "for the sum over all elements, that times n"),
        (lambda objective, n: n - objective, "<s> is a mean: the sum over all elements is n <s>"),
        (lambda objective, n: 2 * right(objective, n),
         "twice too much: Σ ‖x - μ‖² is Σ ‖x‖² - |C| ‖μ‖² in each cluster"),
        (lambda objective, n: 2 - 2 * objective, "n is missing, and it is not twice: ‖x - μ‖² is no ‖x - y‖²"),
        (lambda objective, n: n * objective, "that grows as clusters get better; k-means' sum of squares shrinks"),
        (lambda objective, n: n * (objective - 1), "a sum of squares is not negative: the two parts are turned round"),
        (lambda objective, n: -n * objective, "a sum of squares is not negative: Σ ‖x‖² is missing, which is n"),
        (lambda objective, n: (1 - objective) / n, "<s> is a mean over the elements: for the sum multiply by n"),
        (lambda objective, n: n - objective / n, "<s> is already divided by n: the second part is n <s>, not <s> / n"),
        (lambda objective, n: n - n**2 * objective, "the second part is n <s>, one n and not two"),
        (lambda objective, n: n**2 * (1 - objective), "one n is enough: Σ ‖x‖² is n for vectors of length 1"),
        (lambda objective, n: n * (1 - objective**2), "<s> is not squared: |C| ‖μ‖² is S_C / |C| already"),
        (lambda objective, n: n * (1 - objective) ** 2, "nothing is squared once more: Σ ‖x‖² - |C| ‖μ‖² is the sum"),
        (lambda objective, n: n * np.sqrt(1 - objective), "no root: the squares themselves are added"),
        (lambda objective, n: np.sqrt(n * (1 - objective)), "no root: the sum of the squares was asked for"),
        (lambda objective, n: n * (1 + objective), "the second part is taken off: ‖μ‖² makes the sum smaller"),
        (lambda objective, n: 1 - n * objective, "Σ ‖x‖² is n, not 1: there are n vectors of length 1"),
        (lambda objective, n: n / objective, "better clusters make the sum smaller: a difference, not a quotient"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number)


def _clustered(seed: int, sizes: tuple[int, ...], *, lengths: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Similarities and the clusters of elements in no order; `lengths`: not of length 1, as the formula allows."""
    draw = np.random.default_rng(seed)
    labels = draw.permutation(np.repeat(np.arange(len(sizes)), sizes))
    rows = draw.normal(size=(len(labels), 4)) + draw.normal(size=(len(sizes), 4))[labels]
    if not lengths:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T, labels
