"""Rows of unit length: from embeddings (m, d) to V (m, d), whose products are cosines.

In: embeddings of any float type. Out: float32 or float64. A zero row has no direction and is refused by its number.
"""

from __future__ import annotations

import torch
from torch import Tensor

from labkit.pairs.masks import single_or_double

_NAMED = 8


def unit_rows(embeddings: Tensor, name: str = "embeddings") -> Tensor:
    """Each row divided by its length, with gradient."""
    lengths = row_lengths(embeddings, name)
    return single_or_double(embeddings) / lengths


def row_lengths(embeddings: Tensor, name: str = "embeddings") -> Tensor:
    """Lengths of the rows (m, 1), all finite and above zero; otherwise the rows at fault are named."""
    if not isinstance(embeddings, Tensor) or not embeddings.is_floating_point():
        kind = embeddings.dtype if isinstance(embeddings, Tensor) else type(embeddings).__name__
        raise ValueError(
            f"{name} are {kind}, expected a tensor of floats; convert them with torch.as_tensor or .float()"
        )
    if embeddings.ndim != 2 or not embeddings.numel():
        raise ValueError(
            f"{name} have shape {tuple(embeddings.shape)}, expected (m, d), m and d at least 1; give each text a row"
        )
    lengths = torch.linalg.vector_norm(single_or_double(embeddings), dim=1, keepdim=True)
    if (zero := lengths == 0).any():
        raise ValueError(f"{name}: {_rows(zero)} zero, expected a direction; drop the empty texts behind them")
    if not lengths.isfinite().all():
        raise ValueError(f"{name}: {_rows(~lengths.isfinite())} not finite, expected numbers; lower the learning rate")
    return lengths


def _rows(wrong: Tensor) -> str:
    rows = wrong[:, 0].nonzero()[:, 0].tolist()
    named = ", ".join(map(str, rows[:_NAMED])) + (f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else "")
    return f"row {named} is" if len(rows) == 1 else f"rows {named} are"
