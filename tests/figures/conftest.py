"""Shared by the tests of figures: a small examined batch, and a class of thirty."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.sentpwnet.method import PairSettings
from labkit.sentpwnet.view import Examined, SentenceBatch, cosines, examine
from tests.course.thirty import thirty as thirty
from tests.figures.examples import EVIL

CLASSES = (EVIL, EVIL, "y", "y")


@pytest.fixture
def found() -> Examined:
    same = np.array([[a == b for b in CLASSES] for a in CLASSES])
    batch = SentenceBatch((EVIL, "two", EVIL, "four"), CLASSES, same & ~np.eye(4, dtype=bool), ~same)
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.8, 0.6], [0.0, 1.0]])
    return examine(batch, cosines(vectors), PairSettings(beta=5.0, base=0.5, epsilon=0.1))
