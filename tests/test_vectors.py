"""Word vectors: counts and PPMI against plain loops, the SVD against NumPy, vector files, and distilled vectors."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.decomposition import PCA

from labkit import vectors
from labkit.pretrained import distilled_vectors, opened_model
from labkit.text import PAD, UNKNOWN, Vocabulary
from labkit.vectors import cooccurrence, load_vectors, ppmi, ppmi_vectors
from tests.tiny_sbert import tiny_sbert

SENTENCES = [["the", "cat", "sat"], ["the", "dog", "sat"], ["the", "cat", "ran"], ["a", "dog", "ran", "far"]] * 5


def test_cooccurrence_by_hand() -> None:
    # 2 3 4: neighbours at distance 1 count 1, at distance 2 count 1/2; the second sentence does not touch the first
    counts = cooccurrence([[2, 3, 4], [2]], 5, window=2).toarray()
    assert counts[2, 3] == counts[3, 2] == counts[3, 4] == 1.0
    assert counts[2, 4] == counts[4, 2] == 0.5
    assert counts.sum() == 5.0
    assert cooccurrence([[2, 3, 4]], 5, window=1).toarray()[2, 4] == 0.0


def test_cooccurrence_equals_plain_loops_even_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [np.random.default_rng(i).integers(2, 12, size=i % 9).tolist() for i in range(60)]
    expected = np.zeros((12, 12))
    for row in rows:
        for i, left in enumerate(row):
            for j, right in enumerate(row):
                if i != j and abs(i - j) <= 3:
                    expected[left, right] += 1 / abs(i - j)
    monkeypatch.setattr(vectors, "TOKENS_AT_ONCE", 17)
    np.testing.assert_allclose(cooccurrence(rows, 12, window=3).toarray(), expected, atol=1e-12)


def test_ppmi_by_hand_and_against_plain_loops() -> None:
    counts = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 4.0]])
    found = ppmi(sparse.csr_array(counts), smoothing=1.0).toarray()
    assert math.isclose(found[0, 1], math.log(2 * 10 / (3 * 2)))
    assert found[0, 2] == 0.0  # log(1 * 10 / (3 * 5)) is below zero
    smooth = counts.sum(0) ** 0.75
    for i in range(3):
        for j in range(3):
            information = math.log(counts[i, j] * smooth.sum() / (counts[i].sum() * smooth[j])) if counts[i, j] else 0
            assert math.isclose(ppmi(sparse.csr_array(counts)).toarray()[i, j], max(0.0, information), abs_tol=1e-12)


def test_vectors_are_the_truncated_svd() -> None:
    tokenised = [*SENTENCES, ["the", "rare", "cat"]]
    made = ppmi_vectors(tokenised, dimension=3, min_count=2)
    counts = cooccurrence(map(made.vocabulary.encode, tokenised), len(made.vocabulary)).toarray()
    counts[1] = counts[:, 1] = 0  # an unknown word keeps its position but is no context
    u, sigma, _ = np.linalg.svd(ppmi(sparse.csr_array(counts)).toarray())
    expected = (u[:, :3] * np.sqrt(sigma[:3])) @ (u[:, :3] * np.sqrt(sigma[:3])).T  # signs and rotations cancel
    found = made.matrix @ made.matrix.T
    np.testing.assert_allclose(found[2:, 2:], expected[2:, 2:], atol=1e-4)
    assert not made.matrix[0].any()  # padding


def test_mean_is_over_known_words_only() -> None:
    made = ppmi_vectors(SENTENCES, dimension=3, min_count=1)
    cat, ran = (made.matrix[made.vocabulary.numbers[word]] for word in ("cat", "ran"))
    means = made.mean(["Cat ran!", "zebra", "cat zebra", ""])
    np.testing.assert_allclose(means[0], (cat + ran) / 2, rtol=1e-6)
    np.testing.assert_allclose(means[2], cat, rtol=1e-6)
    assert (means[[1, 3]] == 0).all()
    assert means.dtype == np.float32


def test_too_little_text_is_refused() -> None:
    with pytest.raises(ValueError, match="word"):
        ppmi_vectors([["one"]])
    with pytest.raises(ValueError, match="dimension"):
        ppmi_vectors(SENTENCES, dimension=0)


# --- files -----------------------------------------------------------------------------------------------------

GLOVE = "the 1 0 0\ncat 0 1 0\nNew York 0 0 1\nParis 0.5 0.5 0\n"


def test_glove_text(tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text(GLOVE)
    vocabulary = Vocabulary((PAD, UNKNOWN, "cat", "paris", "zebra"))
    loaded = load_vectors(tmp_path / "glove.txt", vocabulary, seed=1)
    assert loaded.matrix[2].tolist() == [0, 1, 0]
    assert loaded.matrix[3].tolist() == [0.5, 0.5, 0]  # only capitalised in the file
    assert loaded.known.tolist() == [False, False, True, True, False]
    assert loaded.matrix[4].any()  # unknown words get random vectors
    again = load_vectors(tmp_path / "glove.txt", vocabulary, seed=1)
    assert loaded.matrix.tobytes() == again.matrix.tobytes()
    assert (load_vectors(tmp_path / "glove.txt", vocabulary, seed=2).matrix[4] != loaded.matrix[4]).any()


def test_a_word_with_a_space_and_a_whole_file(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "glove.txt.gz", "wt") as file:
        file.write(GLOVE)
    loaded = load_vectors(tmp_path / "glove.txt.gz")
    assert loaded.vocabulary.words == (PAD, UNKNOWN, "the", "cat", "New York", "Paris")
    assert loaded.matrix[4].tolist() == [0, 0, 1]


def test_word2vec_text_has_a_header(tmp_path: Path) -> None:
    (tmp_path / "w2v.vec").write_text("2 3\nthe 1 0 0\ncat 0 1 0\n")
    loaded = load_vectors(tmp_path / "w2v.vec")
    assert loaded.vocabulary.words[2:] == ("the", "cat")
    assert loaded.dimension == 3


def test_npz(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", words=np.array(["the", "cat"]), vectors=np.eye(2, dtype=np.float32))
    assert load_vectors(tmp_path / "v.npz").matrix[3].tolist() == [0, 1]
    np.savez(tmp_path / "bad.npz", words=np.array(["the"]), vectors=np.eye(2))
    with pytest.raises(ValueError, match=r"bad\.npz"):
        load_vectors(tmp_path / "bad.npz")
    np.savez(tmp_path / "evil.npz", words=np.array([{"a": 1}], dtype=object), vectors=np.eye(1))
    with pytest.raises(ValueError, match="pickle"):
        load_vectors(tmp_path / "evil.npz")


@pytest.mark.parametrize("broken", ["the 1 0 0\ncat 0 1\n", "the 1 0 0\ncat 0 x 1\n", "the 1 0 0\ncat 0 nan 1\n"])
def test_a_broken_line_is_named(tmp_path: Path, broken: str) -> None:
    (tmp_path / "v.txt").write_text(broken)
    with pytest.raises(ValueError, match=r"v\.txt.*2"):
        load_vectors(tmp_path / "v.txt")


def test_no_word_found_and_no_file(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(GLOVE)
    with pytest.raises(ValueError, match=r"v\.txt"):
        load_vectors(tmp_path / "v.txt", Vocabulary((PAD, UNKNOWN, "zebra")))
    with pytest.raises(ValueError, match=tmp_path.name):
        load_vectors(tmp_path)


def test_padding_gets_no_vector_from_rounding_errors() -> None:
    tokenised = [[f"w{i}", f"v{j}"] for i in range(40) for j in range(40)]  # of rank 2: the rest is rounding
    found = ppmi_vectors(tokenised)
    assert not found.known[:2].any()
    assert found.known[2:].all()


class TestDistilled:
    def states(self, rows: list[list[int]]) -> np.ndarray:
        """The mean of the model's states over each row, one row at a time."""
        body = opened_model(tiny_sbert(), "cpu").eval()[0].auto_model
        with torch.no_grad():
            return np.array([body(torch.tensor([row])).last_hidden_state[0].mean(0).double().numpy() for row in rows])

    def expected(self, states: np.ndarray, dimension: int) -> np.ndarray:
        """The expected vectors, from scikit-learn's principal components and Zipf's law."""
        count = len(states)
        shares = np.array([1 / (rank * math.log(count + 2)) for rank in range(2, count + 2)])
        rows = PCA(dimension, svd_solver="full").fit_transform(states) * (1e-4 / (1e-4 + shares))[:, None]
        return rows * 0.1 / rows.std()

    def test_of_word_pieces(self) -> None:
        found = distilled_vectors(tiny_sbert(), 5)
        pieces = found.vocabulary.words[2:]
        assert pieces[:3] == ("the", "cat", "dog")  # without the model's special tokens
        numbers = opened_model(tiny_sbert(), "cpu").tokenizer.convert_tokens_to_ids(list(pieces))
        expected = self.expected(self.states([[2, number, 3] for number in numbers]), 5)
        np.testing.assert_allclose(np.abs(found.matrix[2:]), np.abs(expected), atol=1e-5)
        assert not found.matrix[:2].any()
        assert found.known.tolist() == [False, False, *[True] * len(expected)]

    def test_of_the_words_of_a_corpus(self) -> None:
        """A word of two pieces is read as a whole; a word outside the model's vocabulary is its unknown token."""
        vocabulary = Vocabulary((PAD, UNKNOWN, "cats", "the", "dog", "sleeps", "42"))
        found = distilled_vectors(tiny_sbert(), 3, vocabulary)
        tokenizer = opened_model(tiny_sbert(), "cpu").tokenizer
        rows = [tokenizer(word)["input_ids"] for word in vocabulary.words[2:]]
        assert [len(row) for row in rows] == [4, 3, 3, 3, 3]
        assert (rows[1], rows[2], rows[4]) == ([2, 5, 3], [2, 8, 3], [2, 1, 3])
        expected = self.expected(self.states(rows), 3)
        np.testing.assert_allclose(np.abs(found.matrix[2:]), np.abs(expected), atol=1e-5)

    def test_more_dimensions_than_the_model_has(self) -> None:
        with pytest.raises(ValueError, match="setting dimension"):
            distilled_vectors(tiny_sbert(), 17)
