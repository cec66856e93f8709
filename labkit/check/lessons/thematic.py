"""Notebook 03: what is asked of articles, the ratio loss, attention and clusters, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import thematic as looks

PREDICTIONS = ("03.a", "03.b", "03.c")

EXERCISES = (
    Exercise(
        "03.1",
        "Write the rule for a sentence's length.",
        looks.long_enough,
        (
            "`words(sentence)` gives the tokens.",
            "5 is long enough, 50 not too long.",
            "`5 <= len(words(sentence)) <= 50`",
        ),
        "a rule's border is part of the rule: with < in place of <= another benchmark would come out",
    ),
    Exercise(
        "03.2",
        "How many pairs of these paragraphs may be anchor and positive?",
        looks.near_pairs,
        (
            "Five paragraphs make ten pairs. Which of them are more than three apart?",
            "0 with 5, 0 with 6, 1 with 5, 1 with 6, 2 with 6.",
            "5 are left.",
        ),
        "what stands near in a section is more surely of one theme",
    ),
    Exercise(
        "03.3",
        "Write the ratio loss.",
        looks.ratio_loss,
        (
            "softmax of two numbers: p(d⁺) = e^{d⁺} / (e^{d⁺} + e^{d⁻}). Divide above and below by e^{d⁻}.",
            "p(d⁺) = σ(d⁺ - d⁻), and 1 - p(d⁻) is the same.",
            "`2 * torch.sigmoid(near - far)`",
        ),
        "two terms in the paper, one sigmoid in truth",
    ),
    Exercise(
        "03.4",
        "Write its slope with respect to d⁺, as a function of x = d⁺ - d⁻.",
        looks.ratio_slope,
        (
            "The derivative of σ is σ(1 - σ).",
            "Twice that.",
            "`s = torch.sigmoid(x); return 2 * s * (1 - s)`",
        ),
        "it is largest at a tie and vanishes on both sides: the loss gives up on triplets that are hopelessly wrong",
    ),
    Exercise(
        "03.5",
        "Write additive attention: the sentence's vector from the states of its words.",
        looks.attention,
        (
            "First a score for each word, u · tanh(W h_t + b); then a softmax over the words that are there.",
            "`scores.masked_fill(~there, -torch.inf).softmax(1)` gives padding the weight 0.",
            "`(weights[:, :, None] * h).sum(1)`",
        ),
        "padding has no weight: a sentence's vector does not depend on its neighbours in the batch",
    ),
    Exercise(
        "03.6",
        "Write the objective of Iclust at T = 0.",
        looks.iclust_objective,
        (
            "For each cluster: the sum of all similarities within it, each element with itself too, over its size.",
            "Add these up over the clusters, and divide by the number of elements.",
            "`sum(S[np.ix_(labels == c, labels == c)].sum() / (labels == c).sum() for c in set(labels)) / len(labels)`",
        ),
        "it asks for similarities only: no vectors, no centres",
    ),
    Exercise(
        "03.7",
        "Write k-means' sum of squared distances from Iclust's objective, for n vectors of length 1.",
        looks.inertia,
        (
            "Σ ‖x - μ‖² over a cluster is Σ ‖x‖² - |C| ‖μ‖². What are the two parts for vectors of length 1?",
            "Σ ‖x‖² = |C|, and |C| ‖μ‖² = S_C / |C|.",
            "`n * (1 - objective)`",
        ),
        "the one is as large as the other is small: at T = 0 both look for the same partition",
    ),
)
