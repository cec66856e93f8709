"""Similarities and masks that the tests of pairs share, as functions of a size and a seed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor


@pytest.fixture(scope="session")
def cosines() -> Callable[[int, int, int], Tensor]:
    return _cosines


@pytest.fixture(scope="session")
def random_masks() -> Callable[[int, int], tuple[Tensor, Tensor]]:
    return _random_masks


def _cosines(rows: int, width: int, seed: int) -> Tensor:
    """S (m, m) in float64 of random directions that lean to one side, so that similarities spread over [-1, 1]."""
    generator = torch.Generator().manual_seed(seed)
    X = torch.randn(rows, width, generator=generator, dtype=torch.float64) + 0.5
    V = X / X.norm(dim=1, keepdim=True)
    return V @ V.T


def _random_masks(rows: int, seed: int) -> tuple[Tensor, Tensor]:
    """Masks with unknown pairs, rows without a positive and rows without a negative."""
    generator = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 3, (rows, rows), generator=generator).fill_diagonal_(0)
    kind[0] = kind[0].clamp(max=1)  # no negative
    kind[-1][kind[-1] == 1] = 2  # no positive
    return kind == 1, kind == 2
