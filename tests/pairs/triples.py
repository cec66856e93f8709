"""Similarities and masks that the tests of pairs share, as functions of a size and a seed."""

from __future__ import annotations

import torch
from torch import Tensor


def cosines(rows: int, width: int, seed: int) -> Tensor:
    """S (m, m) in float64 of random directions that lean to one side, so that similarities spread over [-1, 1]."""
    X = torch.randn(rows, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) + 0.5
    V = X / X.norm(dim=1, keepdim=True)
    return V @ V.T


def random_masks(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Masks with unknown pairs, rows without a positive and rows without a negative."""
    kind = torch.randint(0, 3, (rows, rows), generator=torch.Generator().manual_seed(seed)).fill_diagonal_(0)
    kind[0] = kind[0].clamp(max=1)  # no negative
    kind[-1][kind[-1] == 1] = 2  # no positive
    return kind == 1, kind == 2
