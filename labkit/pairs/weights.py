"""What a loss makes of each pair, `w = m · |dL/dS|`, of any loss and in the formulas of the three.

    pair_weights          of any loss, by automatic differentiation
    ..._weights           of each of the three as one would write it on a board: nothing is checked, and large exponents
                          overflow
    weight_parts          own and relative similarity, the two parts that a weight of the locality loss consists of

In: a loss and (S, P, N), or the settings of the loss. Out: (m, m) tensors, 0 outside the masks. A test holds the
formulas to the derivatives of the losses that trainings use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from labkit.pairs.losses import check_locality
from labkit.pairs.masks import checked_triple

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


class WeightParts(NamedTuple):
    """The denominator of a weight in two parts, float64 (m, m), both 0 where a pair is in neither mask.

    `own`: `e^(β(λ - S_ij))` of a negative, `e^(α(S_ij - λ))` of a positive: how similar the pair is by itself.
    `relative`: `Σ_k e^(β(S_ik - S_ij))` or `Σ_k e^(α(S_ij - S_ik))`: how it stands among the anchor's, itself included.
    """

    own: Tensor
    relative: Tensor

    @property
    def weight(self) -> Tensor:
        """`1 / (own + relative)`, eq. 9 (negatives) and eq. 10 (positives); 0 where a pair is in neither mask."""
        total = self.own + self.relative
        return torch.where(total > 0, 1 / total, 0.0)


def pair_weights(loss: Loss, similarity: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """`m · |dL/dS|` (eq. 1-3) by automatic differentiation, for any loss of the three; 0 outside the masks.

    Settings go in through `functools.partial`.
    """
    S, P, N = checked_triple(similarity, positive, negative, cosine=False)
    with torch.inference_mode(False), torch.enable_grad():
        # what was made in inference mode cannot be differentiated, only its copy
        S, P, N = (part.clone() if part.is_inference() else part for part in (S, P, N))
        leaf = S.detach().requires_grad_()
        value = loss(leaf, P, N)
        if not isinstance(value, Tensor) or value.ndim:
            kind = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(f"loss returns {kind}, expected a scalar tensor; take the mean over the anchors")
        slope = torch.autograd.grad(value, leaf, allow_unused=True)[0] if value.requires_grad else None
    return torch.zeros_like(S) if slope is None else slope.abs() * len(S) * (P | N)


def contrastive_weights(S: Tensor, P: Tensor, N: Tensor, *, margin: float = 0.5) -> Tensor:
    """Weight 1 for every positive, and 1 for every negative beyond the margin (eq. 7): never more, never less."""
    return (P | (N & (margin < S))).to(S.dtype)  # (m, m)


def soft_triplet_weights(S: Tensor, P: Tensor, N: Tensor) -> Tensor:
    """Sum of `σ(S_n - S_p)` over the triplets that a pair is part of; eq. 5 prints 1 for each triplet."""
    share = (S[:, None, :] - S[:, :, None]).sigmoid()  # (m, m, m): [i, p, n] is σ(S_in - S_ip)
    share = share * (P[:, :, None] & N[:, None, :])  # triplets only
    return share.sum(2) + share.sum(1)  # of a pair as the positive, and as the negative


def locality_weights(
    S: Tensor, P: Tensor, N: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> Tensor:
    """`e^L / (1 + Σ_k e^L_k)` among the anchor's negatives (eq. 9, L = β(S - λ)) and positives (eq. 10, L = -α(S - λ)).

    Both are the paper's `1 / (own + relative)`, multiplied through by `e^L`.
    """
    push = (beta * (S - base)).exp() * N  # (m, m)
    pull = (-alpha * (S - base)).exp() * P  # (m, m)
    return push / (1 + push.sum(1, keepdim=True)) + pull / (1 + pull.sum(1, keepdim=True))


def weight_parts(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> WeightParts:
    """Own and relative similarity, the two parts of the denominator in eq. 9 (negatives) and eq. 10 (positives).

    In float64, finite at S = -1 and λ = 0.5 up to β = 350; beyond that a part may be infinite and its weight 0.
    """
    S, P, N = checked_triple(similarity, positive, negative)
    S = S.detach().double()
    check_locality(alpha, beta, base)
    own, relative = torch.zeros_like(S), torch.zeros_like(S)
    for mask, scale in ((P, -alpha), (N, beta)):
        logits = scale * (S - base)
        total = logits.masked_fill(~mask, -torch.inf).logsumexp(1, keepdim=True)
        own[mask] = torch.exp(-logits)[mask]
        relative[mask] = torch.exp(total - logits)[mask]
    return WeightParts(own, relative)
