"""Round trips of sentences and vectors through every file format, and files that are refused."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labkit.corpora.files import TooLarge
from labkit.embedding_files import read_embeddings, write_embeddings

TEXTS = ["one", "two, three", "vier\nfünf"]
ROWS = np.array([[1.5, 0, 0], [0, 0, -2], [0, 1e-3, 4]], dtype=np.float32)


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_written_embeddings_are_read_back(ending: str, kind: Any, tmp_path: Path) -> None:
    file = tmp_path / f"mine{ending}"
    write_embeddings(file, [(TEXTS[:2], kind(ROWS[:2])), (TEXTS[2:], kind(ROWS[2:]))])
    sentences, rows = read_embeddings(file)
    assert sentences == TEXTS
    assert sparse.issparse(rows) == (kind is sparse.csr_array)
    np.testing.assert_array_equal(rows.toarray() if sparse.issparse(rows) else rows, ROWS)
    assert rows.dtype == np.float32


@pytest.mark.parametrize("kind", ["float16", "bool"])
def test_any_numeric_type(kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", ROWS.astype(kind))
    sentences, rows = read_embeddings(tmp_path / "mine.npy")
    assert sentences is None
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, ROWS.astype(kind).astype(np.float32))


def test_an_array_or_archive_may_have_the_ending_of_the_other(tmp_path: Path) -> None:
    with (tmp_path / "one.npz").open("wb") as array, (tmp_path / "all.npy").open("wb") as archive:
        np.save(array, ROWS)
        np.savez(archive, vectors=ROWS)
    for name in ("one.npz", "all.npy"):
        np.testing.assert_array_equal(read_embeddings(tmp_path / name)[1], ROWS)


def test_the_size_in_a_header_is_limited_before_reading(tmp_path: Path) -> None:
    np.save(tmp_path / "large.npy", np.zeros((300, 3)))
    np.savez_compressed(tmp_path / "large.npz", vectors=np.zeros((300_000, 3)))
    assert (tmp_path / "large.npz").stat().st_size < 10_000
    for name in ("large.npy", "large.npz"):
        with pytest.raises(TooLarge, match=name):
            read_embeddings(tmp_path / name, limit=5_000)


REFUSED: dict[str, tuple[str, Any]] = {
    "nan": (".npy", np.array([[1, np.nan]])),
    "too large for float32": (".npy", np.array([[1, 1e300]])),
    "one dimension": (".npy", np.ones(3)),
    "no row": (".npy", np.ones((0, 3))),
    "texts": (".npy", np.array([["a", "b"]])),
    "pickled": (".npy", np.array([[{}]], dtype=object)),
    "other names": (".npz", {"x": np.ones((2, 2))}),
    "too few sentences": (".npz", {"vectors": ROWS, "sentences": np.array(["a"])}),
    "ragged": (".parquet", {"vector": [[1.0], [1.0, 2.0]]}),
    "no column": (".parquet", {"x": [1]}),
    "garbage": (".npz", b"PK nothing"),
    "garbage parquet": (".parquet", b"PAR1 nothing"),
    "another ending": (".csv", b"1,2"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_without_vectors_is_refused_by_its_name(name: str, tmp_path: Path) -> None:
    ending, content = REFUSED[name]
    file = tmp_path / f"mine{ending}"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif ending == ".parquet":
        pd.DataFrame(content).to_parquet(file)
    else:
        with file.open("wb") as stream:
            np.savez(stream, **content) if isinstance(content, dict) else np.save(stream, content)
    with pytest.raises(ValueError, match=file.name):
        read_embeddings(file)


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".npy"])
def test_truncated_and_damaged_files(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"mine{ending}"
    if ending == ".npy":
        np.save(file, ROWS)
    else:
        write_embeddings(file, [(TEXTS, ROWS)])
    whole = file.read_bytes()
    for length in range(1, len(whole), max(1, len(whole) // 15)):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=file.name):
            read_embeddings(file)
    for place in range(0, len(whole), max(1, len(whole) // 15)):  # a flipped byte: read or refused, never a crash
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with suppress(ValueError):
            read_embeddings(file)


# --- writing -----------------------------------------------------------------------------------------------------


def test_every_number_of_a_text_is_read_back_exactly(tmp_path: Path) -> None:
    path, random = tmp_path / "out.tsv", np.random.default_rng(0)
    texts, rows = [f"text {n}" for n in range(15)], random.normal(size=(15, 4)).astype(np.float32)
    rows[5] = [np.float32(1e-38), np.float32(3.4e38), np.float32(0.1), -0.0]
    write_embeddings(path, [(texts[n : n + 5], rows[n : n + 5]) for n in (0, 5, 10)])
    table = pd.read_csv(path, sep="\t")
    assert list(table) == ["sentence", "x1", "x2", "x3", "x4"]
    assert table["sentence"].tolist() == texts
    np.testing.assert_array_equal(table.iloc[:, 1:].to_numpy(np.float32), rows)


def test_sparse_zero_rows(tmp_path: Path) -> None:
    rows = sparse.csr_array(np.array([[0, 0, 0], [0, 2, 0], [0, 0, 0]], np.float32))
    write_embeddings(tmp_path / "out.npz", [(["a", "b", "c"], rows), (["d", "e", "f"], rows)])
    found = sparse.load_npz(tmp_path / "out.npz")
    np.testing.assert_array_equal(found.toarray(), np.vstack([rows.toarray()] * 2))


def test_a_sentence_is_one_cell_on_one_line_and_no_formula(tmp_path: Path) -> None:
    texts = ["a = b", "=1+1", "two\twords\nand more"]
    write_embeddings(tmp_path / "out.tsv", [(texts, np.ones((3, 1), np.float32))])
    lines = (tmp_path / "out.tsv").read_text().split("\n")
    assert lines == ["sentence\tx1", "a = b\t1", "'=1+1\t1", "two words and more\t1", ""]


def test_a_row_without_a_sentence_is_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"sentence": ["a", None], "vector": [[1.0, 2.0], [3.0, 4.0]]})
    frame.to_parquet(tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="row.*2"):
        read_embeddings(tmp_path / "out.parquet")


@pytest.mark.parametrize("name", ["out.csv", "out.npz.gz"])
def test_other_endings_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        write_embeddings(tmp_path / name, [(TEXTS, ROWS)])
    assert not list(tmp_path.iterdir())
