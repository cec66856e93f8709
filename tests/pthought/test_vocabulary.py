"""What is read and what is written: training's words, and further ones of a vector file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labkit.pthought.batches import at_unit_size, reading
from labkit.text import Vocabulary
from labkit.vectors import WordVectors, file_words

TEXTS = ["a red dog runs", "a red cat runs", "a dog sleeps", "red Dog, red cat!"]
FILE = "a 1 0 0\nwalrus 0 1 0\nDog 0 0 1\nred 1 1 0\nco-op. 5 5 5\nzebra 0 1 1\nWALRUS 9 9 9\nibex 2 2 2\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "vectors.txt").write_text(FILE)
    return tmp_path / "vectors.txt"


def made(vectors: object = "random", **changes: int):
    settings = {"dimension": 3, "least": 2, "longest": 5, "expansion": 100, "seed": 0, **changes}
    return reading(TEXTS, vectors=str(vectors), **settings)  # type: ignore[arg-type]


def test_a_file_adds_words_that_are_read_but_not_written(file: Path) -> None:
    found, vectors = made(file)
    words = found.reader.vocabulary.words
    assert words[:2] == ("<PAD>", "<UNK>")
    assert set(words[2 : found.writable]) == {"red", "a", "dog", "cat", "runs"}
    assert words[found.writable :] == ("walrus", "zebra", "ibex")  # as the file orders them, as sentences are read
    size = vectors.matrix[words.index("walrus")].max()
    np.testing.assert_allclose(vectors.matrix[words.index("walrus")], [0, size, 0])
    np.testing.assert_allclose(vectors.matrix[words.index("dog")], [0, 0, size])  # the file has it with a capital
    np.testing.assert_allclose(vectors.matrix[words.index("ibex")], [2 * size] * 3)
    assert not vectors.known[words.index("cat")]


def test_expansion_is_bounded(file: Path) -> None:
    assert made(file, expansion=1)[0].reader.vocabulary.words[-1] == "walrus"
    found, _ = made(file, expansion=0)
    assert found.writable == len(found.reader.vocabulary)


@pytest.mark.parametrize("vectors", ["random", "ppmi", "FILE"])
def test_training_words_have_numbers_of_mean_square_one(vectors: str, file: Path) -> None:
    found, matrix = made(file if vectors == "FILE" else vectors)
    assert np.square(matrix.matrix[2 : found.writable]).mean() == pytest.approx(1, rel=1e-5)
    assert not matrix.matrix[0].any()


def test_one_factor_by_hand() -> None:
    vocabulary = Vocabulary(("<PAD>", "<UNK>", "a", "b", "c"))
    matrix = np.array([[0, 0], [4, 4], [3, 1], [1, 3], [8, 0]], dtype=np.float32)  # of a and b: (9 + 1 + 1 + 9) / 4 = 5
    found = at_unit_size(WordVectors(vocabulary, matrix, np.ones(5, bool)), 4)
    np.testing.assert_allclose(found.matrix, matrix / np.sqrt(5), rtol=1e-6)


@pytest.mark.parametrize("vectors", ["random", "ppmi"])
def test_without_a_file_nothing_is_added(vectors: str) -> None:
    found, matrix = made(vectors)
    assert found.writable == len(found.reader.vocabulary) == len(matrix.matrix) == 7
    assert matrix.dimension == 3
    assert "sleeps" not in found.reader.vocabulary.numbers  # once is too rare
    assert "sleeps" in made(vectors, least=1)[0].reader.vocabulary.numbers


def test_what_is_told_of_a_sentence(file: Path) -> None:
    found, _ = made(file)
    sentence = "A zebra quux and a red Walrus."
    assert found.unknown(sentence) == ["quux", "and"]
    assert found.expanded(sentence) == ["zebra", "walrus"]
    assert found.cut(sentence) == 2
    assert found.cut("a red dog") == 0


def test_the_words_of_a_file(file: Path, tmp_path: Path) -> None:
    assert file_words(file) == ["a", "walrus", "Dog", "red", "co-op.", "zebra", "WALRUS", "ibex"]
    np.savez(tmp_path / "v.npz", words=np.array(["x", "y"]), vectors=np.eye(2))
    assert file_words(tmp_path / "v.npz") == ["x", "y"]
    with pytest.raises(ValueError, match="expected one of word vectors"):
        file_words(tmp_path / "none.txt")
