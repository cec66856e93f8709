"""Notebook 01: what is asked of pairs, losses and weights, with three hints each."""

from __future__ import annotations

from labkit.check.exercise import Exercise
from labkit.check.looks import pairs_and_weights as looks

PREDICTIONS = ("01.a", "01.b", "01.c")

EXERCISES = (
    Exercise(
        "01.1",
        "Make the masks P and N from labels.",
        looks.masks,
        (
            "Compare the labels as a column with the labels as a row: one broadcast gives all pairs.",
            "`same = labels[:, None] == labels[None, :]` has the positives and the diagonal in it.",
            "`positive = same & ~torch.eye(len(labels), dtype=bool)` and `negative = ~same`.",
        ),
        "every pair is a positive, a negative, or the sentence with itself",
    ),
    Exercise(
        "01.2",
        "Write the weights of the contrastive loss, eq. 7.",
        looks.contrastive_weights,
        (
            "A weight is the size of the slope. What is the slope of -S? Of [S - λ]₊ below λ, and above it?",
            "All positives weigh 1, whatever their similarity; negatives weigh 1 above the margin and else 0.",
            "`(P | (N & (S > margin))).double()`",
        ),
        "all pairs that count at all count the same: that is what the other losses change",
    ),
    Exercise(
        "01.3",
        "Write the weight of one triplet under the soft-margin triplet loss.",
        looks.triplet_weight,
        (
            "Put x = S_n - S_p and differentiate log(1 + e^x).",
            "The derivative is e^x / (1 + e^x). It has a name.",
            "`torch.sigmoid(negative - positive)`",
        ),
        "so eq. 5 of the paper, which says 1, is a slip",
    ),
    Exercise(
        "01.4",
        "Between which two numbers does a triplet's weight lie, when S are cosines?",
        looks.triplet_range,
        (
            "A cosine lies in [-1, 1]. What are the smallest and the largest S_n - S_p?",
            "From -2 to 2.",
            "σ(-2) = 0.119 and σ(2) = 0.881.",
        ),
        "even a hopeless triplet weighs only seven times as much as one that is long since in order",
    ),
    Exercise(
        "01.5",
        "Write the locality loss, eq. 8 with its brace in place, as plain loops or in one line.",
        looks.locality_loss,
        (
            "Write the term of one anchor first: two logarithms. Then take the mean over the anchors.",
            "For a row i: `pull = log(1 + Σ_{j in P_i} exp(-α(S_ij - λ))) / α`, `push` with +β over N_i.",
            "`((1 + (exp(-α(S-λ)) * P).sum(1)).log()/α + (1 + (exp(β(S-λ)) * N).sum(1)).log()/β).mean()`",
        ),
        "with the brace as printed, the negatives of all anchors but one would be lost",
    ),
    Exercise(
        "01.6",
        "Write the weight of every negative pair in closed form, eq. 10.",
        looks.negative_weight,
        (
            "Two parts under the line: the pair's own, e^(β(λ - S_ij)), and a sum over the anchor's negatives k.",
            "`S[:, None, :] - S[:, :, None]` is S_ik - S_ij for all i, j, k: mask k with N, sum it away.",
            "`relative = (torch.exp(beta * (S[:, None, :] - S[:, :, None])) * N[:, None, :]).sum(2)`",
        ),
        "own and relative similarity, and it agrees with automatic differentiation to the last digits",
    ),
    Exercise(
        "01.7",
        "Find β at which the nearest negative has half of the anchor's negative weight.",
        looks.scale_for_half,
        (
            "With β near 0 all negatives share alike; with β large the nearest takes all. Try some values between.",
            "The weights of one anchor's negatives are a softmax of β S. Write its largest share as a function of β.",
            "Halve the interval from 1 to 100 again and again: the share rises with β.",
        ),
        "β is how much the loss listens to the nearest: half at a gap of a few hundredths of a cosine",
    ),
    Exercise(
        "01.8",
        "Write the keep rule, eq. 11 and 12.",
        looks.keep_rule,
        (
            "A negative is kept if it is nearer than the farthest positive, up to ε; a positive the same way round.",
            "The farthest positive of a row: S outside P filled with +∞, then the minimum. With no positive it is +∞.",
            "`N & (S > S.masked_fill(~P, inf).amin(1, keepdim=True) - epsilon)`, and P with the maximum over N plus ε.",
        ),
        "what is already in order by more than ε is left out of the loss",
    ),
)
