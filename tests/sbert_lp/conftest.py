"""Rows whose neighbour graph has one component, or several."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture(scope="session")
def connected() -> np.ndarray:
    """300 rows in 40 dimensions, near a 6-dimensional plane: one weak component for 10 neighbours."""
    random = np.random.default_rng(0)
    rows = random.standard_normal((300, 6)) @ random.standard_normal((6, 40)) + 0.3 * random.standard_normal((300, 40))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="session")
def clusters() -> np.ndarray:
    """Four clusters of 90, 70, 50, 40 rows in 40 dimensions, far from each other."""
    random = np.random.default_rng(1)
    sizes = (90, 70, 50, 40)
    centres = 10 * random.standard_normal((4, 40))
    return np.concatenate([centre + random.standard_normal((n, 40)) for n, centre in zip(sizes, centres, strict=True)])
