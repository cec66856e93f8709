"""Notebook 01: similarities and masks, weights as slopes, two derived weights, training with weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from labkit.course.exercise import Cases, array, exercise, mask, several
from labkit.course.exercises.draws import cosines, tensor
from labkit.pairs import contrastive, locality, masks_from_labels, pair_weights, soft_triplet
from labkit.pairs.losses import LOSSES


def batch(
    random: np.random.Generator, sizes: Sequence[int] = (3, 3, 2), d: int = 3, kept: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    """Cosines (m, m) and both masks of vectors whose classes have these sizes.

    `kept` below 1 keeps only that share of the pairs in the masks, which are then not symmetric or complementary.
    """
    S, labels = cosines(random, sizes, d, apart=0.3)
    P, N = masks_from_labels(torch.from_numpy(labels))
    if kept < 1:
        stays = torch.from_numpy(random.random(S.shape) < kept)
        P, N = P & stays, N & stays
    return torch.from_numpy(S), P, N


@exercise(
    "01.1",
    ("V / V.norm(dim=1, keepdim=True)", "V", "V / V.norm(dim=0)",
     "your rows do not have length 1: divide each row by its own length, `V.norm(dim=1, keepdim=True)`"),
    (" & ~itself", "", "the diagonal of P is set: a sentence is not its own positive"),
    ("N = ~same", "N = ~same | itself", "N = ~P", "the diagonal of N is set: a sentence is not its own negative"),
    ("S, P, N", "S, N, P", "P and N are swapped: positives have the same label"),
    ("S, P, N", "S, P.triu(), N.triu()", "S, P.tril(), N.tril()",
     "your masks contain each pair once; both (i, j) and (j, i) are needed: every sentence is an anchor"),
    read=several("expected three matrices, as in `return S, P, N`", array, mask, mask),
)  # fmt: skip
def three_matrices(random: np.random.Generator) -> Cases:
    classes = ((0, 1, 0, 2, 1, 0), (7, 3, 3, 7, 7, 12, 3, 0, 3), (2, 2, 1, 2))
    labels = [torch.from_numpy(random.permutation(np.array(each) + random.integers(9))) for each in classes]
    return [(tensor(random, len(each), 4), each) for each in labels]


@exercise(
    "01.2",
    ("abs(loss(nudged, P, N) - before)", "(loss(nudged, P, N) - before)", "(before - loss(nudged, P, N))",
     "a weight is the size of the slope: yours has a sign"),
    ("len(S) * abs", "abs",
     "the factor m is missing: the loss is a mean over the anchors, but a weight belongs to one anchor's term"),
    ("nudged[i, j] += h", "nudged[i, j] += h; nudged[j, i] += h",
     "you nudge (i, j) and (j, i) together; they are two entries, because each sentence is an anchor"),
    ("for i in range(len(S)):\n        for j in range(len(S)):\n            nudged = S.clone()",
     "nudged = S.clone()\n    for i in range(len(S)):\n        for j in range(len(S)):",
     "your nudges add up: start each entry from a new copy of S, inside both loops"),
    tolerance=1e-3,
)  # fmt: skip
def measured_weights(random: np.random.Generator) -> Cases:
    losses = (partial(contrastive, margin=0.1), soft_triplet, partial(locality, beta=6.0, base=0.2))
    return [(loss, *batch(random, sizes)) for loss, sizes in zip(losses, ((3, 3, 2), (4, 1, 2), (2, 3)), strict=True)]


@exercise(
    "01.3",
    ("torch.sigmoid(S[i, n] - S[i, p])", "1.0", "all your triplets weigh 1, as printed in eq. 5 of the paper"),
    ("S[i, n] - S[i, p]", "S[i, p] - S[i, n]", "your weight is large if the triplet is in order: use σ(S_n - S_p)"),
    ("torch.sigmoid", "torch.nn.functional.softplus", "that is the loss of a triplet; its weight is the derivative"),
    ("+= w", "= w", "each pair has the weight of its last triplet only: add weights up with `+=`"),
    ("W[i, p] += w\n                W[i, n] += w", "W[i, p] += w", "W[i, n] += w",
     "a triplet gives its weight to two pairs, the positive and the negative: you leave one of them at 0"),
)  # fmt: skip
def triplet_weights(random: np.random.Generator) -> Cases:
    return [batch(random), batch(random, (4, 1, 3, 2), 4), batch(random, (2, 5, 2), 3, 0.7)]


@exercise(
    "01.4",
    ("-alpha", "alpha", "positives have the wrong sign: a far positive has a large weight, so use -α, not α"),
    ("S[i, mask[i]]", "S[i]", "your sum runs over the whole row; the rivals of a pair are pairs of its own kind"),
    ("base - S[i, j]))\n                relative = torch.exp(scale * (rivals - S[i, j]",
     "S[i, j] - base))\n                relative = torch.exp(scale * (rivals - S[i, j]",
     "base - S[i, j]))\n                relative = torch.exp(scale * (S[i, j] - rivals",
     "a difference is the wrong way round: own has λ - S_ij, and the sum has S_ik - S_ij"),
    (").sum()", ").sum() - 1", "the pair itself, k = j, belongs in the sum, too"),
    ("1 / (own", "abs(scale) / (own",
     "your weight has an extra factor α or β: 1/α and 1/β in front of the logarithms cancel it"),
)  # fmt: skip
def locality_weights(random: np.random.Generator) -> Cases:
    yield *batch(random), 2.0, 10.0, 0.5
    yield *batch(random, (4, 1, 3, 2), 4, 0.7), 5.0, 4.0, -0.2
    yield *batch(random, (2, 5, 2), 3, 0.6), 0.7, 6.5, 0.8


@exercise(
    "01.5",
    ("V - rate", "V + rate", "your step goes uphill: positives are pushed apart. Check the signs"),
    ("gradient - (gradient * V).sum(dim=1, keepdim=True) * V", "gradient",
     "the part of the gradient along the vector itself is still there"),
    (" / V.norm(dim=1, keepdim=True)", "", "the rows no longer have length 1: divide each by its length"),
    ("(signed + signed.T)", "signed",
     "each sentence is an anchor, and is also paired with other anchors: add the transpose of the weights"),
    (" / len(V)", "", "the gradient is a mean over the m anchors: divide by len(V)"),
)  # fmt: skip
def steps(random: np.random.Generator) -> Cases:
    for sizes, name, rate in (((3, 3, 2), "contrastive", 0.5), ((4, 1, 3), "soft-triplet", 0.1), ((2, 4), "supcon", 1)):
        V = F.normalize(tensor(random, sum(sizes), 4), dim=1)
        _, P, N = batch(random, sizes, kept=0.8)
        yield V, P, N, partial(pair_weights, LOSSES[name].function), float(rate)
