"""Files of vectors: what is written can be read by those who have never heard of labkit."""

from __future__ import annotations

import csv
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labkit import embedding_files as npz
from labkit.embedding_files import WRITERS, Add, embedding_file

ENDINGS = list(WRITERS)


def blocks(count: int, size: int, width: int) -> list[tuple[list[str], np.ndarray]]:
    random = np.random.default_rng(0)
    return [
        ([f"text {block} {row}" for row in range(size)], random.normal(size=(size, width)).astype(np.float32))
        for block in range(count)
    ]


def write(path: Path, made: list[tuple[list[str], np.ndarray]]) -> None:
    with embedding_file(path) as add:
        for sentences, rows in made:
            add(sentences, rows)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_number_comes_back_exactly(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    made = blocks(3, 5, 4)
    made[1][1][0] = [np.float32(1e-38), np.float32(3.4e38), np.float32(0.1), -0.0]
    write(path, made)
    texts = [text for sentences, _ in made for text in sentences]
    rows = np.concatenate([rows for _, rows in made])
    if ending == ".npz":
        with np.load(path, allow_pickle=False) as file:
            found, vectors = file["sentences"].tolist(), file["vectors"]
    elif ending == ".parquet":
        table = pd.read_parquet(path)
        found, vectors = table["sentence"].tolist(), np.stack(table["vector"])
    else:
        table = pd.read_csv(path, sep="\t")
        assert list(table) == ["sentence", "x1", "x2", "x3", "x4"]
        found, vectors = table["sentence"].tolist(), table.iloc[:, 1:].to_numpy(np.float32)
    assert found == texts
    np.testing.assert_array_equal(vectors, rows)


def write_block_and_fail(add: Add) -> None:
    add(*blocks(1, 5, 4)[0])
    raise TypeError


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_error_leaves_what_was_there(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out{ending}"
    path.write_text("before")
    with pytest.raises(TypeError), embedding_file(path) as add:
        write_block_and_fail(add)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == "before"


@pytest.mark.parametrize("ending", ENDINGS)
def test_memory_is_flat(tmp_path: Path, ending: str) -> None:
    sentences, rows = blocks(1, 500, 50)[0]  # 0.1 MB
    path = tmp_path / f"out{ending}"
    with embedding_file(path) as add:  # what is imported on the way does not count
        add(sentences, rows)
    tracemalloc.start()
    try:
        with embedding_file(path) as add:
            for _ in range(20):
                add(sentences, rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1_500_000  # all vectors together: 2 million


def test_sparse_rows_with_nothing_in_them(tmp_path: Path) -> None:
    rows = sparse.csr_array(np.array([[0, 0, 0], [0, 2, 0], [0, 0, 0]], np.float32))
    with embedding_file(tmp_path / "out.npz") as add:
        add(["a", "b", "c"], rows)
        add(["d", "e", "f"], rows)
    found = sparse.load_npz(tmp_path / "out.npz")
    np.testing.assert_array_equal(found.toarray(), np.vstack([rows.toarray()] * 2))
    with np.load(tmp_path / "out.npz", allow_pickle=False) as file:
        assert file["indptr"].tolist() == [0, 0, 1, 1, 1, 2, 2]
        assert (file["shape"].tolist(), file["indices"].tolist(), file["data"].tolist()) == ([6, 3], [1, 1], [2.0, 2.0])


def test_sentences_too_large_for_an_array_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz, "LARGEST_TEXT", 4 * 10 * 10)
    rows = np.ones((10, 2), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with embedding_file(tmp_path / "fits.npz") as add:
            add(["x" * 10, *"abcdefghi"], rows)
    with (
        pytest.warns(UserWarning, match="without its sentences: the longest has 11 characters"),
        embedding_file(tmp_path / "not.npz") as add,
    ):
        add(["x" * 11, *"abcdefghi"], rows)
    assert zipfile.ZipFile(tmp_path / "fits.npz").namelist() == ["sentences.npy", "vectors.npy"]
    assert zipfile.ZipFile(tmp_path / "not.npz").namelist() == ["vectors.npy"]


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝", "＋", "－", "＠", "|", "%"])
@pytest.mark.parametrize("before", ["", " ", "\t", "\r\n", '"', "'", "\u00a0", '" '])
def test_no_cell_begins_a_formula(tmp_path: Path, sign: str, before: str) -> None:
    text = f'{before}{sign}HYPERLINK("x")\tsecond\ncell'
    with embedding_file(tmp_path / "out.tsv") as add:
        add([text], np.ones((1, 2), np.float32))
    for quoting in (csv.QUOTE_NONE, csv.QUOTE_MINIMAL):  # a spreadsheet takes quotes for its own
        with (tmp_path / "out.tsv").open(newline="", encoding="utf-8") as file:
            _, (cell, *numbers) = csv.reader(file, delimiter="\t", quoting=quoting)
        assert numbers == ["1", "1"]
        assert cell.startswith("'")


def test_a_sentence_is_one_cell_of_one_line(tmp_path: Path) -> None:
    with embedding_file(tmp_path / "out.tsv") as add:
        add(["a = b", "3-2", "two\twords\nand more"], np.ones((3, 1), np.float32))
    lines = (tmp_path / "out.tsv").read_text().split("\n")
    assert lines == ["sentence\tx1", "a = b\t1", "3-2\t1", "two words and more\t1", ""]


@pytest.mark.parametrize("name", ["out.csv", "out", "out.npz.gz", ".npz"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(ValueError, match=r"expected a name that ends in \.npz, \.parquet, \.tsv"),
        embedding_file(tmp_path / name),
    ):
        pass
    assert not list(tmp_path.iterdir())
