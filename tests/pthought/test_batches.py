"""Every ordered pair occurs once, and batches depend only on seed and epoch; the vocabulary of P-thought."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.pthought.batches import POOL, Paraphrases, at_unit_size, epoch_batches, reading
from labkit.pthought.method import PThoughtSettings
from labkit.text import Vocabulary
from labkit.vectors import WordVectors

GROUPS = [["a b", "c", "d e f"], ["g"], ["h i", "j", "h i"], ["k", "l m", "n", "o p", "q"]]


def source(groups: list[list[str]] = GROUPS, max_length: int = 50) -> Paraphrases:
    return Paraphrases.of(groups, max_length=max_length)


Batches = list[list[tuple[int, int]]]


def epoch(made: Paraphrases, batch: int = 4, *, partners: int = 0, number: int = 1, seed: int = 0) -> Batches:
    lengths = [len(text.split()) for text in made.texts]
    found = epoch_batches(made, lengths, batch, partners=partners, epoch=number, seed=seed)
    return [[tuple(pair) for pair in each.tolist()] for each in found]


def pairs(made: Batches) -> list[tuple[int, int]]:
    return [pair for batch in made for pair in batch]


def every_pair(made: Paraphrases) -> set[tuple[int, int]]:
    groups: dict[int, list[int]] = {}
    for row, first in enumerate(made.first.tolist()):
        groups.setdefault(first, []).append(row)
    return {pair for rows in groups.values() for pair in permutations(rows, 2)}


@given(
    sizes=st.lists(st.integers(1, 6), min_size=1, max_size=40).filter(lambda sizes: max(sizes) > 1),
    batch=st.integers(2, 7),
    seed=st.integers(0, 2**32 - 1),
)
def test_an_epoch_has_every_ordered_pair_once(sizes: list[int], batch: int, seed: int) -> None:
    made = source([[f"w{i} x{j}" for j in range(size)] for i, size in enumerate(sizes)])
    found = epoch(made, batch, seed=seed)
    assert Counter(pairs(found)) == Counter(every_pair(made))
    assert all(2 <= len(each) <= batch + 1 for each in found)


def test_several_pools_leave_no_single_pair_in_a_batch() -> None:
    made = source([[f"{i} a", f"{i} b"] for i in range(POOL)] + [["x", "y z"]])
    for batch in (2, 3):  # 102 sentences: with 2, a second pool of one batch
        found = epoch(made, batch)
        assert Counter(pairs(found)) == Counter(every_pair(made))
        assert min(map(len, found)) >= 2
    three = source([[f"{i} a", f"{i} b"] for i in range(POOL - 1)] + [["x", "y z", "u v w"]])  # 101: one is left over
    first_sweep = epoch(three, 2, partners=1)
    assert sorted(map(len, first_sweep)) == [2] * (POOL - 1) + [3]
    assert sorted(read for read, _ in pairs(first_sweep)) == list(range(101))


def test_partners_rotate_over_epochs() -> None:
    made = source()
    seen = [pairs(epoch(made, partners=1, number=number)) for number in (1, 2, 3, 4)]
    for found in seen:
        assert sorted(read for read, _ in found) == list(range(10))
    assert {pair for found in seen for pair in found} == every_pair(made)
    five = [pair for found in seen for pair in found if pair[0] >= 5]
    assert len(five) == len(set(five)) == 20
    assert len(pairs(epoch(made, partners=2))) == 6 + 2 + 10


def test_batches_depend_on_seed_and_epoch() -> None:
    made = source([[f"{i} {'a ' * (i % 7)}{j}" for j in range(4)] for i in range(60)])
    whole = epoch(made, 3)
    assert epoch(made, 3) == whole
    assert epoch(made, 3, seed=1) != whole
    assert epoch(made, 3, number=2) != whole


# --- vocabulary ----------------------------------------------------------------------------------------------------
# The words that are read and written: those of training, and further ones from a vector file.


TEXTS = ["a red dog runs", "a red cat runs", "a dog sleeps", "red Dog, red cat!"]
FILE = "a 1 0 0\nwalrus 0 1 0\nDog 0 0 1\nred 1 1 0\nco-op. 5 5 5\nzebra 0 1 1\nWALRUS 9 9 9\nibex 2 2 2\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "vectors.txt").write_text(FILE)
    return tmp_path / "vectors.txt"


def made(vectors: object = "random", **changes: int):
    settings = {"dimension": 3, "min_count": 2, "max_length": 5, "expansion": 100, **changes}
    return reading(TEXTS, PThoughtSettings(vectors=str(vectors), **settings), 0)


def test_words_from_a_file_are_read_but_not_written(file: Path) -> None:
    reader, writable, vectors = made(file)
    words = reader.vocabulary.words
    assert words[:2] == ("<PAD>", "<UNK>")
    assert set(words[2:writable]) == {"red", "a", "dog", "cat", "runs"}
    assert words[writable:] == ("walrus", "zebra", "ibex")  # in the file's order, spelt as sentences are read
    size = vectors.matrix[words.index("walrus")].max()
    np.testing.assert_allclose(vectors.matrix[words.index("walrus")], [0, size, 0])
    np.testing.assert_allclose(vectors.matrix[words.index("dog")], [0, 0, size])  # capitalised in the file
    np.testing.assert_allclose(vectors.matrix[words.index("ibex")], [2 * size] * 3)
    assert not vectors.known[words.index("cat")]
    assert made(file, expansion=1)[0].vocabulary.words[-1] == "walrus"
    reader, writable, _ = made(file, expansion=0)
    assert writable == len(reader.vocabulary)


def test_unit_size_by_hand() -> None:
    vocabulary = Vocabulary(("<PAD>", "<UNK>", "a", "b", "c"))
    matrix = np.array([[0, 0], [4, 4], [3, 1], [1, 3], [8, 0]], dtype=np.float32)  # of a and b: (9 + 1 + 1 + 9) / 4 = 5
    found = at_unit_size(WordVectors(vocabulary, matrix, np.ones(5, bool)), 4)
    np.testing.assert_allclose(found.matrix, matrix / np.sqrt(5), rtol=1e-6)


def test_groups_by_hand() -> None:
    made = source(max_length=2)
    assert made.texts == ("a b", "c", "d e f", "h i", "j", "k", "l m", "n", "o p", "q")
    assert made.first.tolist() == [0, 0, 0, 3, 3, 5, 5, 5, 5, 5]
    assert made.size.tolist() == [3, 3, 3, 2, 2, 5, 5, 5, 5, 5]
    assert (made.alone, made.cut) == (1, 1)
