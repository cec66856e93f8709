"""A base whose vectors are written down here, so that every neighbour can be worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from labkit.corpora import Labelled
from labkit.methods.contract import Method
from labkit.methods.matrix import Matrix, MatrixSettings


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
