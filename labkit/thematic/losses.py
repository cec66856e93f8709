"""Losses of a triplet. In: d⁺, from the anchor to the sentence of its section, and d⁻, to the other one, (n,) each.
Out: a loss for each triplet, (n,).

    ratio       2 σ(d⁺ - d⁻)             the paper's; bounded, so it gives up on triplets that are hopelessly wrong
    softplus    log(1 + exp(d⁺ - d⁻))    pulls at these the hardest
    hinge       [1 + d⁺ - d⁻]₊           and leaves those alone that are right by a margin of 1

L1 distances of hundreds of numbers are large, and there the ratio is flat: multiply both distances by a scale first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def ratio(near: Tensor, far: Tensor) -> Tensor:
    """|p(d⁺)| + |1 - p(d⁻)| with p = softmax(d⁺, d⁻) (section 4). Both parts are σ(d⁺ - d⁻).

    >>> ratio(torch.tensor([1.0, 0.0]), torch.tensor([1.0, 50.0]))
    tensor([1.0000e+00, 3.8575e-22])
    """
    return 2 * torch.sigmoid(near - far)


def softplus(near: Tensor, far: Tensor) -> Tensor:
    """log(1 + exp(d⁺ - d⁻))."""
    return F.softplus(near - far)


def hinge(near: Tensor, far: Tensor) -> Tensor:
    """[1 + d⁺ - d⁻]₊, the triplet loss that the ratio is compared with."""
    return (1 + near - far).clamp(min=0)


LOSSES: dict[str, Loss] = {"ratio": ratio, "softplus": softplus, "hinge": hinge}


def l1(a: Tensor, b: Tensor) -> Tensor:
    """Σ |a - b| of each row, (n,): the paper's distance."""
    return (a - b).abs().sum(-1)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """1 - a · b of each row, (n,), for rows of length 1."""
    return 1 - (a * b).sum(-1)


DISTANCES: dict[str, Loss] = {"l1": l1, "cosine": cosine}
