"""Notebook 03: articles, the ratio loss, attention and Iclust."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from labkit.articles.rules import too_long, too_short
from labkit.check.exercise import Lesson
from labkit.check.trying import array, close, number, slip, wrong_entries
from labkit.evaluation.information_clustering import mean_similarity

LESSON = Lesson("03", predictions=("03.a", "03.b", "03.c"))

SENTENCES = {  # tokens -> a sentence with so many; a comma is none
    4: "Four words stand here.",
    5: "Five words, and no more.",
    6: "This one has a sixth word.",
    50: " ".join(["word"] * 49) + " end.",
    51: " ".join(["word"] * 50) + " end.",
}


@LESSON.exercise(
    "03.1",
    "Write the rule for a sentence's length.",
    (
        "`words(sentence)` gives the tokens.",
        "5 is long enough, 50 not too long.",
        "`5 <= len(words(sentence)) <= 50`",
    ),
    "a rule's border is part of the rule: with < in place of <= another benchmark would come out",
)
def long_enough(answer: Callable[..., Any]) -> str | None:
    """5 to 50 tokens, the borders count, punctuation is none."""
    given = {tokens: bool(answer(text)) for tokens, text in SENTENCES.items()}
    right = {tokens: not (too_short(text) or too_long(text)) for tokens, text in SENTENCES.items()}
    if given == right:
        return None
    if not given[5] or not given[50]:
        return "5 and 50 tokens are allowed: the borders count"
    if given[4]:
        return "'Four words stand here.' has four tokens: a full stop is none, and is there a lower border at all?"
    if given[51]:
        return "a sentence of 51 tokens is too long"
    return "count tokens with `words(sentence)`: characters and commas are none"


@LESSON.exercise(
    "03.2",
    "How many pairs of these paragraphs may be anchor and positive?",
    (
        "Five paragraphs make ten pairs. Which of them are more than three apart?",
        "0 with 5, 0 with 6, 1 with 5, 1 with 6, 2 with 6.",
        "5 are left.",
    ),
    "what stands near in a section is more surely of one theme",
)
def near_pairs(answer: Any) -> str | None:
    """Of paragraphs 0, 1, 2, 5, 6: pairs at most three apart."""
    given = number(answer)
    slips = (
        (10.0, "that is every pair: some stand more than three paragraphs apart"),
        (4.0, "'at most 3 apart' takes in exactly 3: paragraphs 2 and 5"),
        (3.0, "these are the neighbours; up to three paragraphs may lie between two numbers"),
        (8.0, "check the pairs of 2 with 6 and of 1 with 5: they are four apart"),
    )
    return None if given == 5 else slip(given, slips) or "write the ten pairs down and cross out those over 3 apart"


@LESSON.exercise(
    "03.3",
    "Write the ratio loss.",
    (
        "softmax of two numbers: p(d⁺) = e^{d⁺} / (e^{d⁺} + e^{d⁻}). Divide above and below by e^{d⁻}.",
        "p(d⁺) = σ(d⁺ - d⁻), and 1 - p(d⁻) is the same.",
        "`2 * torch.sigmoid(near - far)`",
    ),
    "two terms in the paper, one sigmoid in truth",
)
def ratio_loss(answer: Callable[..., Any]) -> str | None:
    """|p(d⁺)| + |1 - p(d⁻)| = 2 σ(d⁺ - d⁻)."""
    near, far = torch.tensor([0.2, 1.0, 3.0, 1.0]).double(), torch.tensor([1.0, 0.4, 0.5, 1.0]).double()
    gap = near - far
    right = 2 * torch.sigmoid(gap)
    given = array(answer(near, far))
    slips = (
        (torch.sigmoid(gap), "that is p(d⁺) alone; |1 - p(d⁻)| is just as large, and belongs to it"),
        (2 * torch.sigmoid(-gap), "yours is small where the positive is farther than the negative: the sign is wrong"),
        (2 * torch.sigmoid(near**2 - far**2), "the paper takes the distances, not their squares"),
        (torch.nn.functional.softplus(gap), "that is softplus, the triplet loss it is compared with"),
        (torch.ones(4), "p(d⁺) + p(d⁻) is 1 whatever the distances: it is 1 - p(d⁻) that goes in"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "03.4",
    "Write its slope with respect to d⁺, as a function of x = d⁺ - d⁻.",
    (
        "The derivative of σ is σ(1 - σ).",
        "Twice that.",
        "`s = torch.sigmoid(x); return 2 * s * (1 - s)`",
    ),
    "it is largest at a tie and vanishes on both sides: the loss gives up on triplets that are hopelessly wrong",
)
def ratio_slope(answer: Callable[..., Any]) -> str | None:
    """The derivative with respect to d⁺: 2 σ (1 - σ)."""
    gap = torch.tensor([-3.0, -0.5, 0.0, 2.0, 9.0]).double()
    sigma = torch.sigmoid(gap)
    right = 2 * sigma * (1 - sigma)
    given = array(answer(gap))
    slips = (
        (sigma * (1 - sigma), "the factor 2 is missing: the loss is 2σ"),
        (2 * sigma, "that is the loss itself"),
        (sigma, "that is the slope of softplus, which does not give up"),
        (-right, "the loss grows with d⁺: its slope is positive"),
        (2 * (1 - sigma), "the chain rule gives both factors, σ and 1 - σ"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "03.5",
    "Write additive attention: the sentence's vector from the states of its words.",
    (
        "First a score for each word, u · tanh(W h_t + b); then a softmax over the words that are there.",
        "`scores.masked_fill(~there, -torch.inf).softmax(1)` gives padding the weight 0.",
        "`(weights[:, :, None] * h).sum(1)`",
    ),
    "padding has no weight: a sentence's vector does not depend on its neighbours in the batch",
)
def attention(answer: Callable[..., Any]) -> str | None:
    """Σ_t a_t h_t with a = softmax(u · tanh(W h_t + b)) over the words that are there."""
    draw = torch.Generator().manual_seed(0)
    h, W = torch.randn(2, 4, 3, generator=draw).double(), torch.randn(5, 3, generator=draw).double()
    b, u = torch.randn(5, generator=draw).double(), torch.randn(5, generator=draw).double()
    there = torch.tensor([[True, True, True, True], [True, True, False, False]])
    score = torch.tanh(h @ W.T + b) @ u

    def mean_of(weights: torch.Tensor) -> torch.Tensor:
        return torch.einsum("nt,ntd->nd", weights.double(), h)

    weights = score.masked_fill(~there, -torch.inf).softmax(1)
    plain, linear = score.softmax(1), (h @ W.T @ u).masked_fill(~there, -torch.inf).softmax(1)
    right = mean_of(weights)
    given = array(answer(h, there, W, b, u))
    slips = (
        (mean_of(plain), "the padding takes part: set its scores to -∞ before the softmax"),
        (mean_of(plain * there), "weights that are cut after the softmax no longer sum to 1: mask before it"),
        (mean_of(linear), "tanh and b are missing"),
        (mean_of(there.double() / there.sum(1, keepdim=True)), "that is the plain mean of the words"),
        (weights, "these are the weights: the sentence's vector is the sum of the weighted h"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "03.6",
    "Write the objective of Iclust at T = 0.",
    (
        "For each cluster: the sum of all similarities within it, each element with itself too, over its size.",
        "Add these up over the clusters, and divide by the number of elements.",
        "`sum(S[np.ix_(labels == c, labels == c)].sum() / (labels == c).sum() for c in set(labels)) / len(labels)`",
    ),
    "it asks for similarities only: no vectors, no centres",
)
def iclust_objective(answer: Callable[..., Any]) -> str | None:
    """1/n · Σ_C S_C / |C|, with each element's similarity to itself."""
    S, labels = _clustered()
    right = mean_similarity(S, np.eye(3)[labels])
    given = number(answer(S.copy(), labels.copy()))
    inside = labels[:, None] == labels
    sums = np.array([S[np.ix_(labels == c, labels == c)].sum() for c in range(3)])
    sizes = np.bincount(labels)
    without = np.array([S[np.ix_(labels == c, labels == c)].sum() - sizes[c] for c in range(3)])
    slips = (
        (right * len(S), "divide by n at the end: it is a mean over the elements"),
        (sums.sum() / len(S), "each cluster's sum is divided by its size |C|, or one large cluster would always win"),
        ((sums / sizes**2).mean(), "clusters count by their size, P(C) = |C|/n: divide S_C by |C| once, not twice"),
        ((without / sizes).sum() / len(S), "each element is its own neighbour too: the diagonal belongs to S_C"),
        (S[inside].mean(), "that is the mean over all pairs: pairs of large clusters count too much in it"),
    )
    return None if close(given, right) else slip(given, slips) or wrong_entries([given], [right])


@LESSON.exercise(
    "03.7",
    "Write k-means' sum of squared distances from Iclust's objective, for n vectors of length 1.",
    (
        "Σ ‖x - μ‖² over a cluster is Σ ‖x‖² - |C| ‖μ‖². What are the two parts for vectors of length 1?",
        "Σ ‖x‖² = |C|, and |C| ‖μ‖² = S_C / |C|.",
        "`n * (1 - objective)`",
    ),
    "the one is as large as the other is small: at T = 0 both look for the same partition",
)
def inertia(answer: Callable[..., Any]) -> str | None:
    """Σ ‖x - μ‖² = n (1 - <s>) for vectors of length 1."""
    S, labels = _clustered()
    value, n = mean_similarity(S, np.eye(3)[labels]), len(S)
    given = number(answer(value, n))
    slips = (
        (1 - value, "for the sum over all elements, that times n"),
        (n - value, "<s> is a mean: the sum over all elements is n <s>"),
        (2 * n * (1 - value), "twice too much: ‖x - μ‖² sums to Σ ‖x‖² - |C| ‖μ‖², and |C| ‖μ‖² is S_C / |C|"),
        (n * value, "that grows as clusters get better; k-means' sum of squares shrinks"),
    )
    return None if close(given, n * (1 - value)) else slip(given, slips) or wrong_entries([given], [n * (1 - value)])


def _clustered() -> tuple[np.ndarray, np.ndarray]:
    rows = np.random.default_rng(4).normal(size=(12, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T, np.repeat(np.arange(3), [6, 4, 2])
