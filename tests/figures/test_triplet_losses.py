"""The picture of triplet losses shows what the losses and their derivatives are."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.figures import triplet_losses
from labkit.thematic.network import LOSSES


def test_losses_and_slopes_are_those_of_the_package() -> None:
    figure = triplet_losses(reach=3)
    drawn = {(trace.name, trace.xaxis): (np.array(trace.x), np.array(trace.y)) for trace in figure.data}
    assert {name for name, _ in drawn} == set(LOSSES)
    x, y = drawn["ratio", "x"]
    np.testing.assert_allclose(y, 2 / (1 + np.exp(-x)))
    for name in LOSSES:
        x, y = drawn[name, "x"]
        slope = drawn[name, "x2"][1]
        away = np.abs(x + 1) > 0.1  # the hinge has its corner there
        np.testing.assert_allclose(np.gradient(y, x)[away], slope[away], atol=0.02)
    assert len({trace.line.dash for trace in figure.data}) == 3


def test_a_reach_is_above_nothing() -> None:
    with pytest.raises(ValueError, match="reach is 0"):
        triplet_losses(reach=0)
