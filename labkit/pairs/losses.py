"""Three pair losses as functions (S, P, N) -> scalar: contrastive, soft-margin triplet, locality.

Each is the mean over all m anchors of the anchor's own term, so that `pair_weights` (m · |dL/dS|) gives the weights of
the paper. S is (m, m) of cosines, float16 and bfloat16 are computed in float32; P and N are masks of the same shape.
An anchor without positives or negatives just adds nothing for them.
"""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from labkit.pairs.masks import check_number, checked, highest, lowest

_TRIPLETS_AT_ONCE = 1 << 22


def contrastive(similarity: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.5) -> Tensor:
    """Anchor's term `Σ_N [S - margin]₊ - Σ_P S` (eq. 6): every positive pulls alike, negatives push beyond the margin.

    Eq. 7 prints `S = 1` for the weights and means `w = 1`.
    """
    S, P, N = checked(similarity, positive, negative)
    check_number("margin", margin)
    return ((S - margin).relu() * N - S * P).sum(1).mean()


def soft_triplet(similarity: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    """Anchor's term `Σ_{p∈P, n∈N} log(1 + e^(S_n - S_p))` (eq. 4), over all its triplets.

    Eq. 5 gives each triplet the weight 1; the derivative is `σ(S_n - S_p)`, between 0.119 and 0.881 for cosines.
    """
    S, P, N = checked(similarity, positive, negative)
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
    """Anchor's term `1/α log(1 + Σ_P e^(-α(S - λ))) + 1/β log(1 + Σ_N e^(β(S - λ)))` (eq. 8), λ = `base`.

    It is the multi-similarity loss (Wang et al. 2019), and the defaults are usual for it. The paper prints the second
    half outside the sum over anchors; it belongs inside. The derivative is known in closed form (eq. 9, 10) and is what
    the way back uses: one (m, m) tensor instead of autograd's six, no second derivative.
    """
    S, P, N = checked(similarity, positive, negative)
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


def check_locality(alpha: float, beta: float, base: float) -> None:
    """The settings of the locality loss: two positive scales and a finite base."""
    for name, value in (("alpha", alpha), ("beta", beta)):
        check_number(name, value)
        if value <= 0:
            raise ValueError(f"{name} is {value}, expected a number above 0; the paper's kind of value is 2 or 50")
    check_number("base", base)


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
