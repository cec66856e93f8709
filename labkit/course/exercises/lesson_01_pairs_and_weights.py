"""Notebook 01: similarities and masks, weights as slopes, two derived weights, training with weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from labkit.course.exercise import Unfit, array, check, find_mistake, mask
from labkit.course.exercises.draws import cosines, tensor
from labkit.pairs import contrastive, locality, masks_from_labels, pair_weights, soft_triplet
from labkit.pairs.losses import LOSSES

Masks = tuple[Tensor, Tensor]
Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


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


def three(answer: Any) -> tuple[np.ndarray, ...]:
    """S, P and N."""
    if not isinstance(answer, tuple | list) or len(answer) != 3:
        raise Unfit("three matrices were expected, as in `return S, P, N`")
    return array(answer[0]), mask(answer[1]), mask(answer[2])


@check("01.1")
def check_three_matrices(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Cosines; P: same class, but not itself; N: another class."""
    classes = ((0, 1, 0, 2, 1, 0), (7, 3, 3, 7, 7, 12, 3, 0, 3), (2, 2, 1, 2))
    labels = [torch.from_numpy(random.permutation(np.array(each) + random.integers(9))) for each in classes]
    cases = [(tensor(random, len(each), 4), each) for each in labels]

    def right(V: Tensor, labels: Tensor) -> Any:
        unit = F.normalize(V, dim=1)
        return unit @ unit.T, *masks_from_labels(labels)

    def changed(how: Callable[[Tensor, Tensor, Tensor], Any]) -> Callable[..., Any]:
        return lambda V, labels: (right(V, labels)[0], *how(*masks_from_labels(labels), torch.eye(len(V)).bool()))

    mistakes = (
        (lambda V, labels: (V @ V.T, *masks_from_labels(labels)),
         lambda V, labels: ((V / V.norm(dim=0)) @ (V / V.norm(dim=0)).T, *masks_from_labels(labels)),
         "your rows do not have length 1: divide each row by its own length, `V.norm(dim=1, keepdim=True)`"),
        (changed(lambda P, N, own: (P | own, N)),
         "the diagonal of P is set: a sentence is not its own positive"),
        (changed(lambda P, N, own: (P, N | own)), changed(lambda P, N, own: (P, ~P)),
         "the diagonal of N is set: a sentence is not its own negative"),
        (changed(lambda P, N, own: (N, P)), "P and N are swapped: positives have the same label"),
        (changed(lambda P, N, own: (P.triu(), N.triu())), changed(lambda P, N, own: (P.tril(), N.tril())),
         "yours has each pair once; both (i, j) and (j, i) are needed: every sentence is an anchor"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=three)


@check("01.2")
def check_measured_weights(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """m · |∂L/∂S|, one entry at a time."""
    losses = (partial(contrastive, margin=0.1), soft_triplet, partial(locality, beta=6.0, base=0.2))
    cases = [(loss, *batch(random, sizes)) for loss, sizes in zip(losses, ((3, 3, 2), (4, 1, 2), (2, 3)), strict=True)]

    def slope(loss: Loss, S: Tensor, P: Tensor, N: Tensor) -> Tensor:
        S = S.clone().requires_grad_()
        return torch.autograd.grad(loss(S, P, N), S)[0]

    def right(loss: Loss, S: Tensor, P: Tensor, N: Tensor) -> Tensor:
        return len(S) * slope(loss, S, P, N).abs()

    def signed(loss: Loss, S: Tensor, P: Tensor, N: Tensor) -> Tensor:
        return len(S) * slope(loss, S, P, N)

    def one_copy(loss: Loss, S: Tensor, P: Tensor, N: Tensor) -> Tensor:
        """Nudges accumulate in one copy, so that changes add up from entry to entry."""
        return signed(loss, S, P, N).flatten().cumsum(0).abs().view_as(S)

    mistakes = (
        (signed, lambda *case: -signed(*case), "a weight is the size of the slope: yours has a sign"),
        (lambda loss, S, *masks: right(loss, S, *masks) / len(S),
         "the factor m is missing: the loss is a mean over the anchors, the weight is of one anchor's term"),
        (lambda *case: (signed(*case) + signed(*case).T).abs(),
         "you nudge (i, j) and (j, i) together; they are two entries, because each sentence is an anchor"),
        (lambda loss, S, *masks: torch.zeros_like(S),
         "yours are all 0 or nearly 0: fill in every W[i, j], and divide the change of the loss by h"),
        (one_copy, "your nudges add up: start each entry from a new copy of S, inside both loops"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, tolerance=1e-3)


@check("01.3")
def check_triplet_weights(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """σ(S_n - S_p), summed over the triplets of a pair."""
    cases = [batch(random), batch(random, (4, 1, 3, 2), 4), batch(random, (2, 5, 2), 3, 0.7)]

    def by(weight: Callable[[Tensor], Tensor]) -> Callable[..., Tensor]:
        """A weight of the difference S_n - S_p, summed over the triplets."""

        def weights(S: Tensor, P: Tensor, N: Tensor) -> Tensor:
            each = weight(S[:, None, :] - S[:, :, None]) * (P[:, :, None] & N[:, None, :])  # [i, p, n]
            return each.sum(2) + each.sum(1)

        return weights

    def only(mask_of: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., Tensor]:
        return lambda S, P, N: by(torch.sigmoid)(S, P, N) * mask_of(P, N)

    def last_triplet(S: Tensor, P: Tensor, N: Tensor) -> Tensor:
        """The result of `=` where `+=` is needed."""
        W = torch.zeros_like(S)
        for i, p, n in (P[:, :, None] & N[:, None, :]).nonzero().tolist():
            W[i, p] = W[i, n] = torch.sigmoid(S[i, n] - S[i, p])
        return W

    mistakes = (
        (by(torch.ones_like), "every triplet weighs 1 in yours, as eq. 5 of the paper prints it"),
        (by(lambda x: torch.sigmoid(-x)), "yours is large where the triplet is in order: it is σ(S_n - S_p)"),
        (by(F.softplus), "that is the loss of a triplet; its weight is the derivative"),
        (last_triplet, "each pair has the weight of its last triplet only: add up with `+=`"),
        (only(lambda P, N: P), only(lambda P, N: N),
         "a triplet gives its weight to two pairs, the positive and the negative: yours leaves one of them at 0"),
    )  # fmt: skip
    return find_mistake(answer, by(torch.sigmoid), cases, mistakes)


@check("01.4")
def check_locality_weights(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Eq. 9 and 10: 1 / (e^(β(λ - S_ij)) + Σ_k e^(β(S_ik - S_ij))) of a negative, with -α of a positive."""
    cases = [
        (*batch(random), 2.0, 10.0, 0.5),
        (*batch(random, (4, 1, 3, 2), 4, 0.7), 5.0, 4.0, -0.2),
        (*batch(random, (2, 5, 2), 3, 0.6), 0.7, 6.5, 0.8),
    ]

    def by(relative: Callable[..., Tensor], of_positives: float = -1.0, of_own: float = 1.0) -> Callable[..., Tensor]:
        """Weights whose relative part uses gaps [i, j, k] = e^(scale (S_ik - S_ij)) and the mask of competing pairs."""

        def weights(S: Tensor, P: Tensor, N: Tensor, alpha: float, beta: float, base: float) -> Tensor:
            W = torch.zeros_like(S)
            for mask_, scale in ((N, beta), (P, of_positives * alpha)):
                gaps = torch.exp(scale * (S[:, None, :] - S[:, :, None]))
                part = 1 / (torch.exp(of_own * scale * (base - S)) + relative(gaps, mask_))
                W = torch.where(mask_, part, W)
            return W

        return weights

    def among_rivals(gaps: Tensor, mask_: Tensor) -> Tensor:
        return (gaps * mask_[:, None, :]).sum(2)

    mistakes = (
        (by(among_rivals, 1.0), "positives have the wrong sign: a far positive weighs much, so it is -α, not α"),
        (by(lambda gaps, mask_: gaps.sum(2)), "your sum runs over the whole row; its rivals are pairs of its own kind"),
        (by(lambda gaps, mask_: among_rivals(1 / gaps, mask_)), by(among_rivals, of_own=-1.0),
         "a difference is the wrong way round: own has λ - S_ij, and the sum has S_ik - S_ij"),
        (by(lambda gaps, mask_: among_rivals(gaps, mask_) - 1), "the pair itself, k = j, belongs to the sum, too"),
        (lambda S, P, N, a, b, t: (P | N) * by(among_rivals)(S, P, N, a, b, t) * torch.where(P, a, b),
         "yours has a factor α or β too many: 1/α and 1/β in front of the logarithms cancel it"),
    )  # fmt: skip
    return find_mistake(answer, by(among_rivals), cases, mistakes)


@check("01.5")
def check_step(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """One step of gradient descent on the sphere, using only the weights."""
    cases = []
    for sizes, name, rate in (((3, 3, 2), "contrastive", 0.5), ((4, 1, 3), "soft-triplet", 0.1), ((2, 4), "supcon", 1)):
        V = F.normalize(tensor(random, sum(sizes), 4), dim=1)
        _, P, N = batch(random, sizes, kept=0.8)
        cases.append((V, P, N, partial(pair_weights, LOSSES[name].function), float(rate)))

    def by(
        way: float = 1.0, tangent: bool = True, unit: bool = True, anchors: bool = True, m: bool = True
    ) -> Callable[..., Tensor]:
        """A step; each argument is a possible mistake."""

        def step(V: Tensor, P: Tensor, N: Tensor, weights_of: Any, rate: float) -> Tensor:
            signed = weights_of(V @ V.T, P, N) * (N.double() - P.double())
            gradient = (signed + signed.T if anchors else signed) @ V / (len(V) if m else 1)
            along = gradient - (gradient * V).sum(1, keepdim=True) * V if tangent else gradient
            moved = V - way * rate * along
            return F.normalize(moved, dim=1) if unit else moved

        return step

    mistakes = (
        (by(way=-1), "yours goes uphill: positives are pushed apart. Check the signs"),
        (by(tangent=False), "the part of the gradient along the vector itself is still there"),
        (by(unit=False), "the rows do not have length 1 any more: divide each by its length"),
        (by(anchors=False), "a sentence is an anchor and the pair of other anchors: add the transpose of the weights"),
        (by(m=False), "the gradient is a mean over the m anchors: divide by len(V)"),
    )  # fmt: skip
    return find_mistake(answer, by(), cases, mistakes)
