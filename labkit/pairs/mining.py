"""Miners: (S, P, N) -> (P', N'), the subsets of the masks that the loss uses, without gradient.

`informative` keeps pairs that violate the order or keep it by less than a margin, `hardest` one positive and one
negative per anchor, `random_pairs` a random share of the pairs as a control.
"""

from __future__ import annotations

import math
from numbers import Real

import torch
from torch import Tensor

from labkit.pairs.masks import checked_triple, highest, lowest


def informative(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, epsilon: float = 0.1
) -> tuple[Tensor, Tensor]:
    """Keep negatives with `S_ij > min_{k∈P_i} S_ik - ε` and positives with `S_ij < max_{k∈N_i} S_ik + ε`.

    This is eq. 11 and 12, the miner of the multi-similarity loss (Wang et al. 2019). An anchor without positives keeps
    no negatives, and vice versa.

    >>> S, P = torch.tensor([[0.8, 0.3, 0.75]]), torch.tensor([[True, False, False]])  # a positive, two negatives
    >>> informative(S, P, ~P)[1]  # the negative that is far is left out
    tensor([[False, False,  True]])
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_epsilon(epsilon)
    S = S.detach()
    # NaN if ε = ∞ and the anchor has no such pair: every comparison is false, and nothing is kept
    floor = lowest(S, P) - epsilon  # (m, 1): a negative below it is easy: every positive is nearer
    ceiling = highest(S, N) + epsilon  # (m, 1): a positive above it is easy: every negative is farther
    return P & S.lt(ceiling), N & S.gt(floor)  # (m, m)


def hardest(similarity: Tensor, positive: Tensor, negative: Tensor) -> tuple[Tensor, Tensor]:
    """Keep each anchor's least similar positive and its most similar negative, the first among equals.

    An anchor that lacks one of the two keeps neither.

    >>> S, P = torch.tensor([[0.8, 0.3, 0.75]]), torch.tensor([[True, False, False]])  # a positive, two negatives
    >>> hardest(S, P, ~P)[1]
    tensor([[False, False,  True]])
    """
    S, P, N = checked_triple(similarity, positive, negative)
    complete = (P.any(1) & N.any(1))[:, None]  # (m, 1): anchors with both kinds
    far = S.masked_fill(~P, math.inf).argmin(1, keepdim=True)  # (m, 1): index of the hardest positive
    near = S.masked_fill(~N, -math.inf).argmax(1, keepdim=True)  # (m, 1): index of the hardest negative
    nothing = torch.zeros_like(P)
    return nothing.scatter(1, far, complete), nothing.scatter(1, near, complete)


def random_pairs(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, share: float, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Keep this share of all positives and of all negatives, to the nearest whole pair, drawn without looking at S.

    >>> S, P = torch.tensor([[0.8, 0.3, 0.75]]), torch.tensor([[True, False, False]])  # a positive, two negatives
    >>> kept, _ = random_pairs(S, P, ~P, share=0.5, generator=torch.Generator().manual_seed(0))
    >>> kept.shape
    torch.Size([1, 3])
    """
    _, P, N = checked_triple(similarity, positive, negative)
    if not isinstance(share, Real) or not 0 <= share <= 1:
        raise ValueError(f"share is {share!r}, expected a number from 0 to 1; 0.5 keeps half of the pairs")
    if not isinstance(generator, torch.Generator):
        raise ValueError(f"generator is {type(generator).__name__}, expected torch.Generator().manual_seed(...)")
    return _draw(P, share, generator), _draw(N, share, generator)


def check_epsilon(epsilon: float) -> None:
    """Raise ValueError unless the margin is a number; infinity keeps every pair of an anchor with both kinds."""
    if not isinstance(epsilon, Real) or math.isnan(epsilon):
        raise ValueError(f"epsilon is {epsilon!r}, expected a number; 0.1 is the paper's")


def _draw(mask: Tensor, share: float, generator: torch.Generator) -> Tensor:
    pairs = mask.nonzero()  # (pairs, 2)
    chosen = torch.randperm(len(pairs), generator=generator, device=generator.device)[: round(share * len(pairs))]
    rows, columns = pairs[chosen.to(mask.device)].unbind(1)
    drawn = torch.zeros_like(mask)
    drawn[rows, columns] = True
    return drawn
