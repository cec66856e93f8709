"""Mean word vectors and SIF against worked examples, PPMI vectors and plain loops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from labkit.baselines.averages import principal_directions
from labkit.corpora import Groups, load
from labkit.methods import METHODS, load_run
from labkit.runs import read_run
from labkit.text import words
from labkit.vectors import ppmi_vectors

FILE = "cat 1 0\ndog 0 2\nParis 3 3\nunused 9 9\n"
CORPUS = Groups(["A cat and a dog", "paris", "zyx cat"], ["g"] * 3, splits=("train", "train", "test"))


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "vectors.txt").write_text(FILE)
    return str(tmp_path / "vectors.txt")


def test_vectors_from_a_file_that_the_run_no_longer_needs(file: str, tmp_path: Path) -> None:
    method = METHODS["mean-vectors"](vectors=file)
    method.fit(CORPUS)
    rows = method.encode(["cat", "The cat, the dog.", "cat cat dog", "dog Paris", "zyx", "", "unused"])
    expected = [[1, 0], [0.5, 1], [2 / 3, 2 / 3], [1.5, 2.5], [0, 0], [0, 0], [0, 0]]
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
    assert method.similarity(["cat"], ["dog", "zyx"]).tolist() == [[0, 0]]
    method.save(tmp_path / "run")
    Path(file).unlink()
    np.testing.assert_array_equal(load_run(tmp_path / "run").encode(["cat dog"]), [[0.5, 1]])
    assert sorted(read_run(tmp_path / "run").words["words"]) == ["cat", "dog", "paris"]


def test_ppmi_vectors_of_the_training_sentences() -> None:
    corpus = load("questions")
    method = METHODS["mean-vectors"](dimension=20, window=3)
    method.fit(corpus, seed=4)
    made = ppmi_vectors([words(t) for t in corpus.part("train").sentences()], dimension=20, window=3, seed=4)
    asked = [*corpus.part("test").sentences()[:50], "zyx", ""]
    found = method.encode(asked)
    for row, text in zip(found, asked, strict=True):
        known = [made.matrix[n] for w in words(text) if made.known[n := made.vocabulary.numbers.get(w, 1)]]
        np.testing.assert_allclose(row, np.mean(known, axis=0) if known else np.zeros(20), atol=1e-6)


def test_missing_files_and_too_few_words_are_refused() -> None:
    with pytest.raises(ValueError, match=r"nowhere\.txt"):
        METHODS["mean-vectors"](vectors="nowhere.txt").fit(CORPUS)
    with pytest.raises(ValueError, match="words"):
        METHODS["mean-vectors"]().fit(CORPUS)


# --- sif -----------------------------------------------------------------------------------------------------------

SIF_CORPUS = Groups(["cat cat dog", "dog bird", "zyx"], ["g"] * 3, splits=("train", "train", "test"))


def test_worked_example_of_weights(file: str) -> None:
    Path(file).write_text("cat 1 0 0\ndog 0 1 0\nzyx 0 0 1\n")
    method = METHODS["sif"](vectors=file, a=0.2, components=0)
    method.fit(SIF_CORPUS)
    # two of five training words are cat, two dog (bird has no vector, but counts); zyx is only in test
    cat, dog, zyx = 0.2 / (0.2 + 0.4), 0.2 / (0.2 + 0.4), 1.0
    rows = method.encode(["cat", "cat dog bird", "zyx", "bird", ""])
    np.testing.assert_allclose(rows, [[cat, 0, 0], [cat / 2, dog / 2, 0], [0, 0, zyx], [0, 0, 0], [0, 0, 0]], rtol=1e-6)
    with pytest.raises(ValueError, match="setting components"):
        METHODS["sif"](vectors=file, components=3).fit(SIF_CORPUS)  # would remove everything


def test_worked_example_of_the_common_direction() -> None:
    rows = np.array([[3.0, 4.0, 0.0], [6.0, 8.0, 0.1], [3.0, 4.0, -0.2]])
    u = principal_directions(rows, 1)
    np.testing.assert_allclose(np.abs(u), [[0.6, 0.8, 0.0]], atol=1e-3)
    assert principal_directions(rows, 0).shape == (0, 3)


@pytest.mark.parametrize("components", [0, 3])
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
