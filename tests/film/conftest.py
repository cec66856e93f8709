"""Small problems for the tests of FILM."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.film.objective import TripletHinge


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def triplets(random: np.random.Generator) -> np.ndarray:
    """0 to 3 triplets for each of 40 anchors; some have none."""
    found = [
        (i, *random.choice(np.delete(np.arange(40), i), 2, replace=False))
        for i in range(40)
        for _ in range(random.integers(4))
    ]
    return np.array(found)


@pytest.fixture
def objective(random: np.random.Generator, triplets: np.ndarray) -> TripletHinge:
    """40 rows of 9 features; the margin leaves some hinges inactive, some in the smooth part, some fully active."""
    V = np.linalg.qr(random.standard_normal((40, 9)))[0]
    return TripletHinge.of(V, triplets, margin=0.03, softness=0.8)
