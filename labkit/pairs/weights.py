"""The weight of each pair in a loss, `w = m · |dL/dS|`.

    pair_weights     the weights of any loss, by automatic differentiation
    weight_parts     own and relative similarity, the two parts of a weight of the locality loss (eq. 9 and 10)

In: a loss and (S, P, N), or the hyperparameters of the locality loss. Out: (m, m) tensors, 0 outside the masks.
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
    """The denominator of a weight in two parts, float64 (m, m), both 0 for a pair in neither mask.

    `own`: `e^(β(λ - S_ij))` of a negative, `e^(α(S_ij - λ))` of a positive: how similar the pair is by itself.
    `relative`: `Σ_k e^(β(S_ik - S_ij))` or `Σ_k e^(α(S_ij - S_ik))`: how it compares with the anchor's other pairs.
    """

    own: Tensor
    relative: Tensor

    @property
    def weight(self) -> Tensor:
        """`1 / (own + relative)`, eq. 9 (negatives) and eq. 10 (positives); 0 for a pair in neither mask."""
        total = self.own + self.relative
        return torch.where(total > 0, 1 / total, 0.0)


def pair_weights(loss: Loss, similarity: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """`m · |dL/dS|` (eq. 1-3) by automatic differentiation; 0 outside the masks.

    `loss` is any function of (S, P, N), such as those of `labkit.pairs`; set its hyperparameters with
    `functools.partial`.

    >>> from labkit.pairs import contrastive
    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> pair_weights(contrastive, S, P, ~P)
    tensor([[1., 0.]])
    """
    S, P, N = checked_triple(similarity, positive, negative, cosine=False)
    with torch.inference_mode(False), torch.enable_grad():
        # inference tensors cannot be differentiated, but their copies can
        S, P, N = (part.clone() if part.is_inference() else part for part in (S, P, N))
        leaf = S.detach().requires_grad_()
        value = loss(leaf, P, N)
        if not isinstance(value, Tensor) or value.ndim:
            kind = f"shape {tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
            raise ValueError(f"loss returns {kind}, expected a scalar tensor; take the mean over the anchors")
        slope = torch.autograd.grad(value, leaf, allow_unused=True)[0] if value.requires_grad else None
    return torch.zeros_like(S) if slope is None else slope.abs() * len(S) * (P | N)


def weight_parts(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> WeightParts:
    """Own and relative similarity, the two parts of the denominator in eq. 9 (negatives) and eq. 10 (positives).

    In float64, finite at S = -1 and λ = 0.5 up to β = 350; beyond that a part may be infinite and its weight 0.

    >>> S, P = torch.tensor([[0.8, 0.3]]), torch.tensor([[True, False]])  # an anchor with a positive and a negative
    >>> weight_parts(S, P, ~P).own
    tensor([[1.8221e+00, 2.2026e+04]], dtype=torch.float64)
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
