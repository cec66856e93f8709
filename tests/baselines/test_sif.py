"""SIF: weights and the common direction by hand, and both by plain loops and numpy's singular value decomposition."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from labkit.baselines.averages import principal_directions
from labkit.corpora import Groups, load
from labkit.methods import METHODS
from labkit.text import words
from labkit.vectors import ppmi_vectors

CORPUS = Groups(["cat cat dog", "dog bird", "zyx"], ["g"] * 3, splits=("train", "train", "test"))


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "vectors.txt").write_text("cat 1 0 0\ndog 0 1 0\nzyx 0 0 1\n")
    return str(tmp_path / "vectors.txt")


def test_weights_by_hand(file: str) -> None:
    method = METHODS["sif"](vectors=file, a=0.2, components=0)
    method.fit(CORPUS)
    # of five training words, two are cat and two dog (bird has no vector, but is a word); zyx is in test alone
    cat, dog, zyx = 0.2 / (0.2 + 0.4), 0.2 / (0.2 + 0.4), 1.0
    rows = method.encode(["cat", "cat dog bird", "zyx", "bird", ""])
    np.testing.assert_allclose(rows, [[cat, 0, 0], [cat / 2, dog / 2, 0], [0, 0, zyx], [0, 0, 0], [0, 0, 0]], rtol=1e-6)


def test_the_common_direction_by_hand() -> None:
    rows = np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.1], [3.0, 4.0, -0.2]])
    u = principal_directions(rows, 1)
    np.testing.assert_allclose(np.abs(u), [[0.6, 0.8, 0.0]], atol=1e-3)
    assert principal_directions(rows, 0).shape == (0, 3)


@pytest.mark.parametrize("components", [0, 1, 3])
def test_equals_plain_loops(components: int) -> None:
    corpus = load("questions")
    method = METHODS["sif"](dimension=12, window=4, a=0.01, components=components)
    method.fit(corpus, seed=2)
    train = corpus.part("train").sentences()
    counts = Counter(word for text in train for word in words(text))
    made = ppmi_vectors([words(text) for text in train], dimension=12, window=4, seed=2)

    def weighted(text: str) -> np.ndarray:
        known = [word for word in words(text) if made.known[made.vocabulary.numbers.get(word, 1)]]
        parts = [
            0.01 / (0.01 + counts[word] / counts.total()) * made.matrix[made.vocabulary.numbers[word]].astype(float)
            for word in known
        ]
        return sum(parts) / len(known) if known else np.zeros(12)

    _, _, v = np.linalg.svd(np.array([weighted(text) for text in train]), full_matrices=False)
    asked = [*corpus.part("test").sentences()[:40], "zyx", ""]
    rows = np.array([weighted(text) for text in asked])
    expected = rows - rows @ v[:components].T @ v[:components]
    np.testing.assert_allclose(method.encode(asked), expected, atol=1e-5 * np.abs(rows).max())
    assert not method.encode(["zyx"]).any()


def test_taking_everything_away_is_refused(file: str) -> None:
    with pytest.raises(ValueError, match="setting components is 3, expected less than 3, the length of a word vector"):
        METHODS["sif"](vectors=file, components=3).fit(CORPUS)
