"""Classes look different."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist

from labkit.palette import COLOURS, style


def test_classes_look_different_and_colours_stay_apart_for_eyes_that_do_not_tell_red_from_green() -> None:
    assert len({style(number) for number in range(36)}) == 36
    assert style(36) == style(0)
    # deuteranopia as Machado, Oliveira and Fernandes (2009) simulate it, on linear RGB
    seen = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
    rgb = np.array([[int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)] for colour in COLOURS])
    shown = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ seen.T
    assert pdist(shown.clip(0, 1)).min() > 0.1
