"""Use our losses in pytorch-metric-learning, and in its wrappers, such as `CrossBatchMemory`.

In: a loss (S, P, N) -> scalar. Out: a module that is called in the same way as that library's losses, (embeddings,
labels, indices_tuple, ref_emb, ref_labels) -> scalar.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from labkit.pairs.masks import checked_labels, masks_from_labels, unit_rows
from labkit.pairs.weights import Loss


def as_pml(loss: Loss) -> nn.Module:
    """`as_pml(locality)(embeddings, labels, miner(embeddings, labels))`; set hyperparameters with `functools.partial`.

    Without mined indices every pair counts. The result has the embeddings' type but is computed in float32 or higher
    precision.

    >>> import torch
    >>> from labkit.pairs import locality
    >>> rows = torch.tensor([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> round(as_pml(locality)(rows, torch.tensor([0, 0, 1])).item(), 3)
    0.213
    """
    if not callable(loss):
        raise ValueError(
            f"loss is {type(loss).__name__}, expected a function of (similarity, positive, negative), such as "
            "labkit.pairs.locality"
        )
    return _pml_class()(loss)


class _PairLoss(nn.Module):
    def __init__(self, loss: Loss) -> None:
        super().__init__()
        self.loss = loss

    def __repr__(self) -> str:
        return f"as_pml({getattr(self.loss, '__name__', self.loss)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_pml, (self.loss,)

    def forward(
        self,
        embeddings: Tensor,
        labels: Tensor | None = None,
        indices_tuple: Sequence[Tensor] | None = None,
        ref_emb: Tensor | None = None,
        ref_labels: Tensor | None = None,
    ) -> Tensor:
        """Anchors are `embeddings`; positives and negatives come from `ref_emb` if given, else from `embeddings`."""
        others = embeddings if ref_emb is None else ref_emb
        with torch.autocast(embeddings.device.type, enabled=False):
            V = unit_rows(embeddings)
            U = V if others is embeddings else unit_rows(others, "ref_emb")
            S = V @ U.T
            masks = _mined(indices_tuple, S) if indices_tuple else _masks(labels, ref_labels, embeddings, others)
            return self.loss(S, *masks).to(embeddings.dtype)


@cache
def _pml_class() -> type[_PairLoss]:
    """The module class that pytorch-metric-learning's wrappers accept, if the library is installed.

    One wrapper accepts only subclasses of its base class, two accept only class names on a list. MultiSimilarityLoss is
    the name on that list with the same inputs as our losses.
    """
    try:
        from pytorch_metric_learning.losses import BaseMetricLossFunction
    except ImportError:
        return _PairLoss
    return type("MultiSimilarityLoss", (_PairLoss, BaseMetricLossFunction), {"__doc__": _PairLoss.__doc__})


def _masks(
    labels: Tensor | None, ref_labels: Tensor | None, embeddings: Tensor, others: Tensor
) -> tuple[Tensor, Tensor]:
    """Masks (m, n) from labels; if the anchors are also the references, no row is paired with itself."""
    if labels is None:
        raise ValueError("labels and indices_tuple are both None; give the labels of the rows")
    own = checked_labels(labels, len(embeddings)).to(embeddings.device)
    if others is embeddings:
        return masks_from_labels(own)
    if ref_labels is None:
        raise ValueError("ref_labels is None, but ref_emb is given; give one label for each row of ref_emb")
    same = own[:, None] == checked_labels(ref_labels, len(others), "ref_labels").to(own.device)
    return same, ~same


def _mined(indices: Sequence[Tensor], S: Tensor) -> tuple[Tensor, Tensor]:
    """Masks from a miner's indices: (anchor, positive, anchor, negative), or triplets (anchor, positive, negative)."""
    if len(indices) not in (3, 4):
        raise ValueError(f"indices_tuple has {len(indices)} parts, expected 3 or 4; give what a miner returns")
    a, p, b, n = indices if len(indices) == 4 else (indices[0], indices[1], indices[0], indices[2])
    positive, negative = torch.zeros(2, *S.shape, dtype=torch.bool, device=S.device)
    positive[a, p] = True
    negative[b, n] = True
    return positive, negative
