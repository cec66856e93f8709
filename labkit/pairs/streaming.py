"""The locality loss with mining for large batches: from embeddings (m, d) to the same scalar, never an m x m matrix.

Dense form: `locality(S, *informative(S, P, N))` with S of the normalised rows. Here S is only ever seen in tiles, and
four things make it quick: rows sorted by class (positives are small blocks, so the mining floor is known before the
sweep), symmetry (half the tiles), the derivative in closed form, and short lists of the pairs that count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from labkit.pairs.losses import check_locality
from labkit.pairs.masks import checked_labels, single_or_double
from labkit.pairs.mining import check_epsilon
from labkit.pairs.negatives import add_negative_gradient, sweep
from labkit.pairs.positives import add_positive_gradient, classes_of, lowest_positive, positive_terms
from labkit.pairs.unit import row_lengths


@dataclass(frozen=True)
class _Settings:
    alpha: float
    beta: float
    base: float
    epsilon: float


def streaming_locality(
    embeddings: Tensor,
    labels: Tensor | Sequence[int],
    *,
    alpha: float = 2.0,
    beta: float = 50.0,
    base: float = 0.5,
    epsilon: float = 0.1,
) -> Tensor:
    """Loss of the rows, normalised here, after mining with margin `epsilon` (∞: all pairs of anchors with both kinds).

    Negatives that together weigh less than rounding are left out of an anchor's sum.
    """
    lengths = row_lengths(embeddings.detach() if isinstance(embeddings, Tensor) else embeddings)
    found = checked_labels(labels, len(embeddings)).to(embeddings.device)
    check_locality(alpha, beta, base)
    check_epsilon(epsilon)
    with torch.autocast(embeddings.device.type, enabled=False):
        loss: Tensor = _Streaming.apply(embeddings, lengths, found, _Settings(alpha, beta, base, epsilon))
    return loss


class _Streaming(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, lengths: Tensor, labels: Tensor, settings: _Settings) -> Tensor:
        classes = classes_of(labels)
        lengths = lengths[classes.order]
        V = single_or_double(X)[classes.order].div_(lengths)
        floor = _floor(lowest_positive(V, classes), settings)
        negatives = sweep(V, classes, floor, settings.beta, settings.base)
        ceiling = negatives.highest + settings.epsilon  # NaN where there is no negative and ε = ∞: keeps nothing
        pull = positive_terms(V, classes, ceiling, settings.alpha, settings.base)
        ctx.save_for_backward(V, lengths, floor, ceiling, pull)
        ctx.rest = classes, negatives, settings, X.dtype
        return (pull / settings.alpha + negatives.total / settings.beta).mean()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        V, lengths, floor, ceiling, pull = ctx.saved_tensors
        classes, negatives, settings, dtype = ctx.rest
        with torch.autocast(V.device.type, enabled=False):
            slope = torch.zeros_like(V)
            add_positive_gradient(slope, V, classes, ceiling, pull, settings.alpha, settings.base)
            add_negative_gradient(slope, V, classes, floor, negatives, settings.beta, settings.base)
            slope.addcmul_(V, torch.linalg.vecdot(slope, V)[:, None], value=-1)  # what would only lengthen a row
            slope.mul_(upstream / len(V) / lengths)
            unsorted = torch.empty_like(slope, dtype=dtype)
            unsorted[classes.order] = slope.to(dtype)
        return unsorted, None, None, None


def _floor(lowest: Tensor, settings: _Settings) -> Tensor:
    """Above it a negative counts: the mining margin below the lowest positive, or where its weight begins to show.

    At the second floor even m negatives weigh no more than rounding: `m e^(β(floor - λ)) = eps`.
    """
    rounding = math.log(torch.finfo(lowest.dtype).eps / len(lowest))
    floor = (lowest - settings.epsilon).clamp_(min=settings.base + rounding / settings.beta)
    return floor.masked_fill_(lowest == math.inf, math.inf)
