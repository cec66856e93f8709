"""Reading: units, truncation, empty sentences, and initial vectors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from labkit.corpora import load
from labkit.corpora.records import Labelled
from labkit.pretrained import distilled_vectors
from labkit.text import PAD, Vocabulary, normalise
from labkit.training.reader import Reader, Rows, in_pieces, learned_pieces, reader_and_vectors, unit_of
from tests.tiny_sbert import tiny_sbert

TEXTS = ["the cat sleeps", "the dog sleeps", "the cat eats fish", "the dog eats meat"]


def corpus(texts: list[str] = TEXTS, extra: tuple[str, ...] = ()) -> Labelled:
    labels = ["a", "b"] * (len(texts) // 2) + ["a"] * len(extra)
    return Labelled(
        name="mine", texts=[*texts, *extra], labels=labels, splits=["train"] * len(texts) + ["test"] * len(extra)
    )


def test_words_and_characters_by_hand_and_the_choice_between_them() -> None:
    vocabulary = Vocabulary((PAD, "<UNK>", "the", "cat", "c", "a", "t"))
    assert Reader(vocabulary).numbers("The cat, the bird!") == [2, 3, 2, 1]
    assert Reader(vocabulary, "characters").numbers(f"cat {PAD} a") == [4, 5, 6, 0, 5]
    assert Reader(vocabulary, max_length=2).numbers("the cat the cat") == [2, 3]
    assert Reader(vocabulary).numbers("...") == Reader(vocabulary).numbers("") == [1]
    numbers, lengths = Reader.batch([[2, 0], [2, 2, 2]])  # only lengths distinguish padding from a separator
    assert numbers.tolist() == [[2, 0, 0], [2, 2, 2]]
    assert lengths.tolist() == [2, 3]
    assert unit_of([f"Mill Lane {PAD} Inn {PAD} 51", f"a {PAD} b", "plain"]) == "characters"
    assert unit_of([f"a {PAD} b", "plain"]) == "words"
    with pytest.raises(ValueError, match="'syllables'"):
        Reader(Vocabulary((PAD, "<UNK>")), "syllables")


def test_pieces_are_the_longest_matches_from_the_left() -> None:
    vocabulary = Vocabulary((PAD, "<UNK>", "un", "unl", "##learn", "##earn", "##ed", "##e", "?"))
    reader = Reader(vocabulary, "pieces")
    assert reader.units("Unlearned?") == ["unl", "##earn", "##ed", "?"]
    assert reader.numbers("Unlearned?") == [3, 5, 6, 8]
    assert reader.units("unlearnt") == ["<UNK>"]  # a partly unknown word is unknown as a whole
    assert Reader(vocabulary, "pieces", max_length=2).numbers("Unlearned?") == [3, 5]
    assert reader.numbers("") == [1]
    assert in_pieces("un" * 51, {"un": 2, "##un": 3}) == ["<UNK>"]
    for number in range(70_000):  # the cache of words is limited, so that large uploads do not exhaust memory
        reader.units(f"un{number}")
    assert reader._cut.cache_info().currsize < 70_000


def test_pieces_agree_with_the_tokenizers_library() -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    texts = [*load("questions").part("train").sentences(), "naïve zzzzq, ünd?!"]
    vocabulary = learned_pieces(texts[:-1], 800)
    theirs = Tokenizer(models.WordPiece(vocabulary.numbers, unk_token="<UNK>"))
    theirs.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    reader = Reader(vocabulary, "pieces")
    assert [reader.units(text) for text in texts] == [theirs.encode(normalise(text)).tokens for text in texts]


@pytest.mark.whole
def test_learned_pieces_are_the_same_in_every_process() -> None:
    code = (
        "from labkit.corpora import load; from labkit.training.reader import learned_pieces; "
        "import hashlib; words = learned_pieces(load('questions').sentences(), 1500).words; "
        "print(len(words), hashlib.md5(repr(words).encode()).hexdigest())"
    )
    told = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(told) == 1
    assert told.pop().startswith(b"1500 ")


def test_vectors_are_distilled_for_pieces_or_words() -> None:
    distilled = f"distilled:{tiny_sbert()}"
    reader, vectors = reader_and_vectors(corpus(), unit="pieces", vectors=distilled, dimension=3)
    assert reader.units("The cats sleeps qq") == ["the", "cat", "##s", "sleeps", "<UNK>"]
    assert vectors.matrix.shape == (len(reader.vocabulary), 3)
    reader, vectors = reader_and_vectors(corpus(), unit="words", vectors=distilled, dimension=3)
    assert set(reader.vocabulary.words) == {PAD, "<UNK>", "the", "cat", "dog", "sleeps", "eats"}
    assert vectors.known.sum() == 5
    with pytest.raises(ValueError, match="setting unit"):
        reader_and_vectors(corpus(), unit="characters", vectors=distilled, dimension=3)


def test_a_word_with_too_many_pieces_for_the_model_is_truncated() -> None:
    """Each s after `cat` is one piece; the model reads at most 32 pieces."""
    long = Vocabulary((PAD, "<UNK>", "cat" + "s" * 60, "cat" + "s" * 50, "cat", "cats"))
    matrix = distilled_vectors(tiny_sbert(), 2, long).matrix
    assert np.isfinite(matrix).all()
    np.testing.assert_allclose(matrix[2] / np.linalg.norm(matrix[2]), matrix[3] / np.linalg.norm(matrix[3]), atol=1e-5)
    assert np.abs(matrix[4] / np.linalg.norm(matrix[4]) - matrix[5] / np.linalg.norm(matrix[5])).max() > 0.01


def test_few_sentences_give_fewer_pieces_than_requested() -> None:
    vocabulary = learned_pieces(TEXTS, 1000)
    assert {"the", "cat", "dog", "s", "##t"} <= set(vocabulary.words)
    assert all(Reader(vocabulary, "pieces").numbers(text) for text in TEXTS)
    with pytest.raises(ValueError, match="setting vectors"):
        reader_and_vectors(corpus(), unit="pieces", vectors="ppmi")


def test_ppmi_vectors_cover_repeated_training_words() -> None:
    reader, vectors = reader_and_vectors(corpus(extra=("zebra zebra",)), dimension=3)
    assert set(reader.vocabulary.words) == {PAD, "<UNK>", "the", "cat", "dog", "sleeps", "eats"}
    assert vectors.matrix.shape == (7, 3)
    assert vectors.known[2:].all()


def test_a_file_adds_the_words_it_knows(tmp_path: Path) -> None:
    path = tmp_path / "glove.txt"
    path.write_text("cat 1 0\nzebra 0 1\nunseen 1 1\n")
    reader, vectors = reader_and_vectors(corpus(extra=("zebra runs",)), vectors=str(path))
    assert "zebra" in reader.vocabulary.numbers  # in the test split and in the file
    assert "runs" not in reader.vocabulary.numbers
    assert "unseen" not in reader.vocabulary.numbers
    assert vectors.matrix[reader.vocabulary.numbers["zebra"]].tolist() == [0, 1]
    assert vectors.known[reader.vocabulary.numbers["cat"]]
    assert not vectors.known[reader.vocabulary.numbers["sleeps"]]


def test_rows_return_the_lists_they_were_made_from() -> None:
    lists = [[3, 1, 4], [], [1], [70_000, 2]]
    rows = Rows(iter(lists))
    assert rows.lengths.tolist() == [3, 0, 1, 2]
    for which in ([3, 0, 2], [2], [0, 1, 2, 3]):
        for found, expected in zip(rows.batch(which), Reader.batch([lists[row] for row in which]), strict=True):
            assert torch.equal(found, expected)
