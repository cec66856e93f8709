"""Losses of large batches: embeddings (m, d) -> a scalar and batch statistics, without an m x m matrix.

    by_anchors            any loss, miner and masks that treat each anchor separately
    streaming_locality    the locality loss with its miner, from labelled rows

S is computed one strip of anchors at a time, with its part of the gradient: `S_ij = x_i · x_j`, so a pair moves both of
its rows by its weight. Memory is proportional to m · d, time to m² · d.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from labkit.pairs.losses import locality
from labkit.pairs.masks import checked_labels, unit_rows
from labkit.pairs.mining import informative

_STRIP = 1 << 22  # similarities in a strip of anchors: 16 MB

Masks = tuple[Tensor, Tensor]


def streaming_locality(
    embeddings: Tensor,
    labels: Tensor | Sequence[int],
    *,
    alpha: float = 2.0,
    beta: float = 50.0,
    base: float = 0.5,
    epsilon: float = 0.1,
) -> Tensor:
    """The loss of the rows, normalised here, mined with margin `epsilon` (∞: all pairs of anchors with both kinds).

    >>> import torch
    >>> rows = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> round(streaming_locality(rows, [0, 0, 1], epsilon=1.0).item(), 3)
    0.179
    """
    with torch.autocast(embeddings.device.type if isinstance(embeddings, Tensor) else "cpu", enabled=False):
        V = unit_rows(embeddings)
        codes = checked_labels(labels, len(V)).to(V.device)

        def masks(anchors: slice) -> Masks:
            same = codes[anchors, None] == codes  # (k, m)
            return same.diagonal_scatter(same.new_zeros(len(same)), anchors.start), ~same

        mined, loss = partial(informative, epsilon=epsilon), partial(locality, alpha=alpha, beta=beta, base=base)
        return by_anchors(V, masks, mined, loss)[0]


def by_anchors(
    embeddings: Tensor,
    masks: Callable[[slice], Masks],
    miner: Callable[[Tensor, Tensor, Tensor], Masks],
    loss: Callable[..., Tensor],
    temperature: Tensor | None = None,
) -> tuple[Tensor, dict[str, float]]:
    """`loss(S, *miner(S, P, N))` and batch statistics, for losses and miners that treat each anchor separately.

    Rows (m, d) have unit length; `masks` gives P and N (k, m) for a slice of anchors. A random miner draws its share
    from each strip. A learned temperature is passed to the loss as a fourth argument and gets its gradient, too.
    """
    X, m = embeddings.detach(), len(embeddings)
    learned = [] if temperature is None else [temperature.detach().requires_grad_()]
    warmer = [torch.zeros_like(each) for each in learned]
    value, slope, sums = X.new_zeros(()), torch.zeros_like(X), torch.zeros(6, dtype=torch.float64)
    height = max(1, _STRIP // m)
    for start in range(0, m, height):
        anchors = slice(start, min(m, start + height))
        S = (X[anchors] @ X.T).requires_grad_()  # (k, m)
        P, N = masks(anchors)
        kept_P, kept_N = miner(S.detach().clamp(-1, 1), P, N)
        with torch.enable_grad():
            part = loss(S, kept_P, kept_N, *learned) * (len(S) / m)  # a part of the mean over m
            weights, *warmth = torch.autograd.grad(part, [S, *learned])  # (k, m), signed
        value += part.detach()
        warmer = [total + each for total, each in zip(warmer, warmth, strict=True)]
        slope[anchors] += weights @ X  # S_ij = x_i · x_j: a pair moves both rows
        slope.addmm_(weights.T, X[anchors])
        weights = weights.abs_() * m
        of_strip = P.sum(), N.sum(), kept_P.sum(), kept_N.sum(), (weights * kept_P).sum(), (weights * kept_N).sum()
        sums += torch.tensor([float(number) for number in of_strip], dtype=torch.float64)
    # the value now, the gradient in the backward pass: the second part is 0
    value = value + (slope * (embeddings - X)).sum()
    if temperature is not None:
        value = value + warmer[0] * (temperature - learned[0].detach())
    return value, _figures(X, sums)


def _figures(X: Tensor, sums: Tensor) -> dict[str, float]:
    """Batch statistics from its rows, of any length, and from sums over its pairs.

    `sums` (6,): the numbers of positives and negatives, of kept positives and negatives, and the kept weights.
    """
    positives, negatives, kept_P, kept_N, pull, push = sums.tolist()
    return {
        "kept_positives": kept_P / positives if positives else 1.0,  # without pairs none is dropped
        "kept_negatives": kept_N / negatives if negatives else 1.0,
        "weight_positives": pull / max(1.0, kept_P),
        "weight_negatives": push / max(1.0, kept_N),
        "spread": _spread(X.detach()),
    }


def _spread(X: Tensor) -> float:
    """Standard deviation of the cosines of all pairs of rows, from the d x d products of columns.

    `Σ_ij S_ij = |Σ_i v_i|²` and `Σ_ij S_ij² = ‖VᵀV‖²`. Both are near m² where rows are alike, hence float64.
    """
    V = torch.nn.functional.normalize((X.cpu() if X.device.type == "mps" else X).double(), dim=1)
    lengths = (V**2).sum(1)  # the diagonal of S: 1, or 0 for a row of zeros
    pairs = max(1, len(V) * (len(V) - 1))
    mean = (V.sum(0).square().sum() - lengths.sum()) / pairs
    squares = sum((V.T @ columns).square().sum() for columns in V.split(512, dim=1)) - lengths.square().sum()
    return float((squares / pairs - mean**2).clamp(min=0).sqrt())
