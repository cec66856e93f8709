"""The losses of a triplet against the paper's words, PyTorch's own losses, and hands; gradients in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import cosine_similarity, normalize, triplet_margin_loss

from labkit.thematic.network import DISTANCES, LOSSES, cosine, hinge, l1, ratio, softplus

VALUES = torch.linspace(-30, 30, 241, dtype=torch.float64)
NEAR, FAR = (grid.ravel() for grid in torch.meshgrid(VALUES, VALUES, indexing="ij"))


def test_the_ratio_is_the_papers_loss_and_twice_a_sigmoid() -> None:
    p = torch.stack([NEAR, FAR]).softmax(0)
    as_printed = p[0].abs() + (1 - p[1]).abs()
    assert (ratio(NEAR, FAR) - as_printed).abs().max() < 1e-12
    by_hand = 2 / (1 + np.exp(-(NEAR - FAR).numpy()))
    assert np.abs(ratio(NEAR, FAR).numpy() - by_hand).max() < 1e-12


def test_by_hand() -> None:
    near, far = torch.tensor([2.0, 0.0], dtype=torch.float64), torch.tensor([2.0, np.log(3)], dtype=torch.float64)
    torch.testing.assert_close(ratio(near, far), torch.tensor([1.0, 0.5], dtype=torch.float64))
    torch.testing.assert_close(softplus(near, far), torch.tensor([2.0, 4 / 3], dtype=torch.float64).log())
    torch.testing.assert_close(hinge(near, far), torch.tensor([1.0, 0.0], dtype=torch.float64))
    torch.testing.assert_close(l1(torch.tensor([[1.0, -2.0]]), torch.tensor([[0.5, 1.0]])), torch.tensor([3.5]))
    torch.testing.assert_close(cosine(torch.tensor([[0.6, 0.8]]), torch.tensor([[1.0, 0.0]])), torch.tensor([0.4]))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("loss", LOSSES)
def test_gradients(loss: str, distance: str) -> None:
    random = torch.Generator().manual_seed(0)
    sides = [torch.randn(5, 4, dtype=torch.float64, generator=random, requires_grad=True) for _ in range(3)]

    def whole(a: torch.Tensor, p: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return LOSSES[loss](0.3 * DISTANCES[distance](a, p), 0.3 * DISTANCES[distance](a, n))

    assert gradcheck(whole, sides)


def test_hinge_on_l1_is_pytorchs_triplet_margin_loss() -> None:
    a, p, n = torch.randn(3, 50, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).unbind()
    ours = hinge(l1(a, p), l1(a, n))
    theirs = triplet_margin_loss(a, p, n, margin=1.0, p=1.0, eps=0.0, reduction="none")
    torch.testing.assert_close(ours, theirs)


def test_cosine_of_rows_of_length_one() -> None:
    a, b = normalize(torch.randn(2, 50, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2)), dim=-1)
    torch.testing.assert_close(cosine(a, b), 1 - cosine_similarity(a, b))


@pytest.mark.parametrize(("loss", "pull"), [("ratio", 0.0), ("softplus", 1.0), ("hinge", 1.0)])
def test_only_the_ratio_gives_up_on_a_hopeless_triplet(loss: str, pull: float) -> None:
    near = torch.tensor([60.0], dtype=torch.float64, requires_grad=True)
    LOSSES[loss](near, torch.tensor([0.0], dtype=torch.float64)).sum().backward()
    assert near.grad is not None
    assert float(near.grad) == pytest.approx(pull, abs=1e-12)


def test_a_scale_brings_the_slope_back() -> None:
    """The bare ratio is flat at a gap of 60; at a scale of 0.05 its slope is 0.05 · 2 σ'(3)."""
    near = torch.tensor([60.0], dtype=torch.float64, requires_grad=True)
    ratio(0.05 * near, torch.zeros(1, dtype=torch.float64)).sum().backward()
    sigmoid = 1 / (1 + np.exp(-3.0))
    assert near.grad is not None
    assert float(near.grad) == pytest.approx(0.05 * 2 * sigmoid * (1 - sigmoid), rel=1e-9)
