"""Word vectors counted in parts: exactly those of all sentences at once, whoever counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest

from labkit.counted_vectors import counted_vectors
from labkit.executors import Local
from labkit.text import tokenised
from labkit.vectors import UNIT, cooccurrence, counted_units, ppmi_vectors

RANDOM = np.random.default_rng(0)
WORDS = np.array([f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(200)])
TEXTS = [" ".join(WORDS[np.minimum(RANDOM.zipf(1.3, 12), 200) - 1]) for _ in range(300)]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.parquet"
    parquet.write_table(arrow.table({"text": TEXTS}), path, row_group_size=44)
    return path


def test_counts_in_units_add_up_to_those_of_all(tmp_path: Path) -> None:
    rows = [RANDOM.integers(1, 9, RANDOM.integers(0, 30)).tolist() for _ in range(40)]
    for window in (1, 3, 25):
        plain = np.zeros((9, 9))
        for row in rows:
            for at, left in enumerate(row):
                for distance, right in enumerate(row[at + 1 : at + 1 + window], 1):
                    plain[left, right] += 1 / distance
                    plain[right, left] += 1 / distance
        np.testing.assert_allclose(cooccurrence(rows, 9, window=window).toarray(), plain, rtol=1e-7)
        parts = counted_units(rows[:13], 9, window=window) + counted_units(rows[13:], 9, window=window)
        whole = counted_units(rows, 9, window=window)
        assert (parts != whole).nnz == 0
        np.testing.assert_array_equal(parts.toarray() / UNIT, cooccurrence(rows, 9, window=window).toarray())
    assert all(UNIT % distance == 0 for distance in range(1, 21))


@pytest.mark.parametrize(("size", "entries"), [(7, 2**24), (1000, 400)])
def test_exactly_the_vectors_of_all_sentences_at_once(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, entries: int
) -> None:
    monkeypatch.setattr("labkit.counted_vectors.ENTRIES", entries)  # all words at once, one by one, some
    monkeypatch.setattr("labkit.corpora.shards.GROUP", 50)
    wanted = ppmi_vectors(tokenised(TEXTS), dimension=10, window=4, least=3, most=50, seed=1)
    found = counted_vectors([texts], tmp_path / "counts", dimension=10, window=4, least=3, most=50, seed=1, size=size)
    assert found.vectors.vocabulary == wanted.vocabulary
    np.testing.assert_array_equal(found.vectors.matrix, wanted.matrix)
    np.testing.assert_array_equal(found.vectors.known, wanted.known)
    assert found.counts.total() == sum(len(text.split()) for text in TEXTS)


def test_only_training_rows_count(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    splits = ["train" if number % 3 else "test" for number in range(len(TEXTS))]
    parquet.write_table(arrow.table({"text": TEXTS, "split": splits}), path)
    train = [text for text, split in zip(TEXTS, splits, strict=True) if split == "train"]
    found = counted_vectors([path], tmp_path / "counts", dimension=10, size=50)
    np.testing.assert_array_equal(found.vectors.matrix, ppmi_vectors(tokenised(train), dimension=10).matrix)


def test_other_settings_of_the_vectors_count_nothing_again(
    texts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted_vectors([texts], tmp_path / "counts", dimension=10)
    monkeypatch.setattr("labkit.counted_vectors._words", None)
    monkeypatch.setattr("labkit.counted_vectors._pairs", None)
    assert counted_vectors([texts], tmp_path / "counts", dimension=5, seed=3).vectors.dimension == 5
    with pytest.raises(ValueError, match="window 10"):
        counted_vectors([texts], tmp_path / "counts", window=2)


@pytest.mark.whole
def test_two_processes_count_the_same(texts: Path, tmp_path: Path) -> None:
    def contents(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    counted_vectors([texts], tmp_path / "one", size=10)
    counted_vectors([texts], tmp_path / "two", size=10, executor=Local(2))
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_too_few_words(tmp_path: Path) -> None:
    (tmp_path / "few.csv").write_text("text\n,\n.\n".replace(",", '","'))
    with pytest.raises(ValueError, match="0 words"):
        counted_vectors([tmp_path / "few.csv"], tmp_path / "counts")
