"""Means of word vectors: by hand from a file, and from PPMI vectors made outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labkit.corpora import Groups, load
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.runs import read_run
from labkit.text import words
from labkit.vectors import ppmi_vectors

FILE = "cat 1 0\ndog 0 2\nParis 3 3\nunused 9 9\n"
CORPUS = Groups(["A cat and a dog", "paris", "zyx cat"], ["g"] * 3, splits=("train", "train", "test"))


@pytest.fixture
def file(tmp_path: Path) -> str:
    (tmp_path / "vectors.txt").write_text(FILE)
    return str(tmp_path / "vectors.txt")


def test_by_hand_from_a_file(file: str) -> None:
    method = METHODS["mean-vectors"](vectors=file)
    method.fit(CORPUS)
    rows = method.encode(["cat", "The cat, the dog.", "cat cat dog", "dog Paris", "zyx", "", "unused"])
    expected = [[1, 0], [0.5, 1], [2 / 3, 2 / 3], [1.5, 2.5], [0, 0], [0, 0], [0, 0]]
    np.testing.assert_allclose(rows, expected, rtol=1e-6)
    assert method.similarity(["cat"], ["dog", "zyx"]).tolist() == [[0, 0]]


def test_the_run_needs_the_file_no_more(file: str, tmp_path: Path) -> None:
    method = METHODS["mean-vectors"](vectors=file)
    method.fit(CORPUS)
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


def test_what_is_no_file() -> None:
    with pytest.raises(ValueError, match="there is no file 'nowhere.txt', expected one of word vectors"):
        METHODS["mean-vectors"](vectors="nowhere.txt").fit(CORPUS)
    with pytest.raises(ValueError, match="words that occur 2 times or more"):
        METHODS["mean-vectors"]().fit(CORPUS)
