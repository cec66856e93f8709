"""Clouds of rows whose neighbour graphs are of the kinds that matter, and a base whose vectors are written down here,
so that every neighbour can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from labkit.baselines.base import Matrix, MatrixSettings
from labkit.corpora import Labelled
from labkit.method import Method


@pytest.fixture
def base(tmp_path: Path) -> Callable[[dict[str, list[float]]], Method]:
    """sentence -> vector, as a fitted method."""

    def made(vectors: dict[str, list[float]]) -> Method:
        path = tmp_path / "base.npz"
        np.savez(path, vectors=np.array(list(vectors.values()), np.float32), sentences=np.array(list(vectors)))
        method = Matrix(MatrixSettings(file=str(path)))
        method.fit(Labelled(list(vectors), ["x"] * len(vectors), splits="train"))
        return method

    return made


@pytest.fixture
def circle() -> Callable[..., dict[str, list[float]]]:
    """Sentences around a part of a circle, each between its neighbours."""

    def made(count: int, turn: float = 1.0, start: float = 0.0) -> dict[str, list[float]]:
        angles = start + np.linspace(0, turn, count)
        return {f"sentence {row}": [float(np.cos(t)), float(np.sin(t)), 0.2] for row, t in enumerate(angles)}

    return made


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
