"""The losses of `losses.py` as trainings use them: checked, quick, and of any scale. The same names, the same values.

    contrastive                      as it is written there
    soft_triplet, margin_triplet     a portion of the triplets at a time, made again on the way back
    locality                         softmax shares for the derivative, the largest exponent taken out of each sum
    logistic, infonce, supcon        logarithms of sums and of 1 + e^x, which never overflow
    cosent                           the same, and pairs in the order of their grades: n log n for n pairs, not n²

In: S (m, m) of cosines, float16 and bfloat16 are computed in float32; P and N, masks of the same shape. Out: a scalar.
A temperature may be a tensor that learns, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.utils.checkpoint import checkpoint

from labkit.pairs import losses
from labkit.pairs.losses import Temperature, check_locality, check_temperature
from labkit.pairs.masks import check_number, checked_triple, highest, lowest

_TRIPLETS_AT_ONCE = 1 << 22


def contrastive(similarity: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.5) -> Tensor:
    """Compute the contrastive loss (eq. 6), its input checked."""
    S, P, N = checked_triple(similarity, positive, negative)
    check_number("margin", margin)
    return losses.contrastive(S, P, N, margin=margin)


def soft_triplet(similarity: Tensor, positive: Tensor, negative: Tensor, *, temperature: Temperature = 1.0) -> Tensor:
    """Compute the soft-margin triplet loss (eq. 4, with a temperature) from the triplets alone, never (m, m, m)."""
    S, P, N = checked_triple(similarity, positive, negative)
    check_temperature(temperature)
    return _over_triplets(S, P, N, lambda difference: temperature * _softplus(difference / temperature))


def margin_triplet(similarity: Tensor, positive: Tensor, negative: Tensor, *, margin: float = 0.5) -> Tensor:
    """Compute the triplet loss with a margin from the triplets alone, never (m, m, m)."""
    S, P, N = checked_triple(similarity, positive, negative)
    check_number("margin", margin)
    return _over_triplets(S, P, N, lambda difference: (difference + margin).relu())


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


def logistic(
    similarity: Tensor, positive: Tensor, negative: Tensor, *, base: float = 0.5, temperature: Temperature = 0.1
) -> Tensor:
    """Compute the logistic loss of each pair: one `log(1 + e^x)`, the sign of x by the kind of the pair."""
    S, P, N = checked_triple(similarity, positive, negative)
    check_number("base", base)
    check_temperature(temperature)
    sign = N.to(S.dtype) - P.to(S.dtype)
    return (temperature * _softplus(sign * (S - base) / temperature) * (P | N)).sum(1).mean()


def infonce(
    similarity: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    temperature: Temperature = 0.05,
    symmetric: bool = False,
) -> Tensor:
    """Compute InfoNCE (multiple negatives ranking): `log(1 + e^(log Σ_N e^(S_n/τ) - S_p/τ))` of each positive."""
    S, P, N = checked_triple(similarity, positive, negative)
    check_temperature(temperature)
    Z = S / temperature
    return (_infonce(Z, P, N) + _infonce(Z.T, P.T, N.T)) / 2 if symmetric else _infonce(Z, P, N)


def supcon(similarity: Tensor, positive: Tensor, negative: Tensor, *, temperature: Temperature = 0.1) -> Tensor:
    """Compute the supervised contrastive loss: `log Σ_{P∪N} e^(S/τ)` less the mean of the positives' `S/τ`."""
    S, P, N = checked_triple(similarity, positive, negative)
    check_temperature(temperature)
    Z, count = S / temperature, P.sum(1)
    terms = _log_sum(Z, P | N)[:, 0] - (Z * P).sum(1) / count.clamp(min=1)
    return terms.masked_fill(count == 0, 0).mean()


def cosent(
    similarity: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    temperature: Temperature = 0.05,
    grades: Tensor | None = None,
) -> Tensor:
    """Compute CoSENT from sums over the pairs in the order of their grades, never from every two pairs.

    With two grades the double sum is a product, `Σ_N e^(S/τ) · Σ_P e^(-S/τ)`.
    """
    S, P, N = checked_triple(similarity, positive, negative)
    check_temperature(temperature)
    if grades is None:
        Z = (S / temperature).reshape(1, -1)
        return _softplus(_log_sum(Z, N.reshape(1, -1)) + _log_sum(-Z, P.reshape(1, -1)))[0, 0]
    known = P | N
    grade, order = _checked_grades(grades, known).sort(stable=True)  # (n,)
    s = S[known][order] / temperature
    below = torch.searchsorted(grade, grade)  # (n,): how many pairs are graded lower
    higher = below > 0
    sums = torch.logcumsumexp(s, 0)[below[higher] - 1]  # of these pairs, log Σ e^(S/τ)
    return _softplus(torch.logsumexp(sums - s[higher], 0))


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


def _over_triplets(S: Tensor, P: Tensor, N: Tensor, cost: Callable[[Tensor], Tensor]) -> Tensor:
    """Mean over the anchors of the sum over their triplets of a cost of `S_n - S_p`."""
    anchors, positives = P.nonzero(as_tuple=True)
    few = max(1, _TRIPLETS_AT_ONCE // S.shape[1])  # (few, m) triplets at a time, made again on the way back
    if len(anchors) <= few:  # a checkpoint would save nothing, and the first one costs seconds of imports
        return _triplet_terms(S, N, anchors, positives, cost) / len(S)
    parts = [
        checkpoint(_triplet_terms, S, N, a, p, cost, use_reentrant=False, preserve_rng_state=False)
        for a, p in zip(anchors.split(few), positives.split(few), strict=True)
    ]
    return torch.stack(parts).sum() / len(S)


def _triplet_terms(
    S: Tensor, N: Tensor, anchors: Tensor, positives: Tensor, cost: Callable[[Tensor], Tensor]
) -> Tensor:
    """Sum over the given (anchor, positive) pairs and all negatives of the anchor."""
    differences = S.index_select(0, anchors) - S[anchors, positives][:, None]
    return (cost(differences) * N[anchors]).sum()


def _infonce(Z: Tensor, P: Tensor, N: Tensor) -> Tensor:
    terms = _softplus(_log_sum(Z, N) - Z) * P  # (m, m); without a negative log Σ is -∞, and the term 0
    return (terms.sum(1) / P.sum(1).clamp(min=1)).mean()


def _log_sum(Z: Tensor, mask: Tensor) -> Tensor:
    """`log Σ e^Z` of each row over the mask, (m, 1); -∞ where a row has none."""
    return Z.masked_fill(~mask, -math.inf).logsumexp(1, keepdim=True)


def _softplus(x: Tensor) -> Tensor:
    """`log(1 + e^x)`. torch takes x itself for it from 20 on, which in double precision is felt; not so from 40 on."""
    return F.softplus(x, threshold=40)


def _checked_grades(grades: Tensor, known: Tensor) -> Tensor:
    """The grades of the known pairs, (n,)."""
    if not isinstance(grades, Tensor) or grades.shape != known.shape:
        kind = f"shape {tuple(grades.shape)}" if isinstance(grades, Tensor) else type(grades).__name__
        raise ValueError(f"grades have {kind}, expected {tuple(known.shape)}, that of similarity; give each pair one")
    if not (chosen := grades[known]).isfinite().all():
        raise ValueError("grades hold NaN or ∞ where positive or negative has a pair, expected numbers; clear the mask")
    return chosen
