"""The losses of `losses.py` as trainings use them: checked, quick, and of any scale. The same names, the same values.

    contrastive     as it is written there
    soft_triplet    a portion of the triplets at a time, made again on the way back
    locality        softmax shares for the derivative, and the largest exponent taken out of each sum

In: S (m, m) of cosines, float16 and bfloat16 are computed in float32; P and N, masks of the same shape. Out: a scalar.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from labkit.pairs import losses
from labkit.pairs.losses import check_locality
from labkit.pairs.masks import check_number, checked_triple, highest, lowest

_TRIPLETS_AT_ONCE = 1 << 22


def contrastive(similarity: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.5) -> Tensor:
    """Compute the contrastive loss (eq. 6), its input checked."""
    S, P, N = checked_triple(similarity, positive, negative)
    check_number("margin", margin)
    return losses.contrastive(S, P, N, margin=margin)


def soft_triplet(similarity: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """Compute the soft-margin triplet loss (eq. 4) from the triplets alone, never (m, m, m)."""
    S, P, N = checked_triple(similarity, positive, negative)
    anchors, positives = P.nonzero(as_tuple=True)
    few = max(1, _TRIPLETS_AT_ONCE // S.shape[1])  # (few, m) triplets at a time, made again on the way back
    if len(anchors) <= few:  # a checkpoint would save nothing, and the first one costs seconds of imports
        return _triplet_terms(S, N, anchors, positives) / len(S)
    parts = [
        checkpoint(_triplet_terms, S, N, a, p, use_reentrant=False, preserve_rng_state=False)
        for a, p in zip(anchors.split(few), positives.split(few), strict=True)
    ]
    return torch.stack(parts).sum() / len(S)


def locality(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, alpha: float = 2.0, beta: float = 50.0, base: float = 0.5
) -> Tensor:
    """Compute the locality loss (eq. 8) with its derivative in closed form.

    The derivative is that of eq. 9 and 10, for negatives and positives: one (m, m) tensor on the way back instead of
    autograd's six, and no second derivative. `losses.locality` has the formula.
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_locality(alpha, beta, base)
    loss: Tensor = _Locality.apply(S, P, N, alpha, beta, base)
    return loss


def soft_count(S: Tensor, mask: Tensor, scale: float, base: float) -> tuple[Tensor, Tensor]:
    """Row by row `log(1 + Σ e^L)` (m, 1), and `e^L / (1 + Σ e^L)` (m, m), over the mask, `L = scale · (S - base)`.

    The largest exponent is taken out first, so nothing overflows however large the scale.
    """
    inside = mask.to(S.dtype)
    shift = highest(S, inside).clamp_(min=base) if scale > 0 else lowest(S, inside).clamp_(max=base)
    # Outside the mask the exponent may be anything; far below, where e^x is 0 to rounding, exp is ten times slower.
    terms = torch.sub(S, shift).mul_(scale).clamp_(math.log(torch.finfo(S.dtype).tiny), 0).exp_().mul_(inside)
    largest = scale * (shift - base)
    rest = terms.sum(1, keepdim=True).add_(torch.expm1(-largest))  # 1 + rest = e^-largest + Σ terms
    return largest + rest.log1p(), terms.div_(1 + rest)


class _Locality(torch.autograd.Function):
    """The locality loss with its derivative in closed form: softmax shares, minus for positives, plus for negatives."""

    @staticmethod
    def forward(ctx: Any, S: Tensor, P: Tensor, N: Tensor, alpha: float, beta: float, base: float) -> Tensor:
        pull, pull_shares = soft_count(S, P, -alpha, base)
        push, push_shares = soft_count(S, N, beta, base)
        ctx.save_for_backward(push_shares.sub_(pull_shares))
        return (pull / alpha + push / beta).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        (slope,) = ctx.saved_tensors
        return slope * (upstream / len(slope)), None, None, None, None, None


def _triplet_terms(S: Tensor, N: Tensor, anchors: Tensor, positives: Tensor) -> Tensor:
    """Sum over the given (anchor, positive) pairs and all negatives of the anchor."""
    differences = S.index_select(0, anchors) - S[anchors, positives][:, None]
    return (F.softplus(differences) * N[anchors]).sum()
