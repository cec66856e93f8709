"""Matrices from files: what labkit and others write is read back; what is damaged is named."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from labkit.embedding_files import embedding_file, read_embeddings

TEXTS = ["one", "two, three", "vier\nfünf"]
ROWS = np.array([[1.5, 0, 0], [0, 0, -2], [0, 1e-3, 4]], dtype=np.float32)


@pytest.mark.parametrize("ending", [".npz", ".parquet"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_what_labkit_writes_comes_back(ending: str, kind: Any, tmp_path: Path) -> None:
    file = tmp_path / f"mine{ending}"
    with embedding_file(file) as add:
        add(TEXTS[:2], kind(ROWS[:2]))
        add(TEXTS[2:], kind(ROWS[2:]))
    sentences, rows = read_embeddings(file)
    assert sentences == TEXTS
    assert sparse.issparse(rows) == (kind is sparse.csr_array)
    np.testing.assert_array_equal(rows.toarray() if sparse.issparse(rows) else rows, ROWS)
    assert rows.dtype == np.float32


@pytest.mark.parametrize("kind", ["float16", "float64", "int32", "bool"])
def test_any_kind_of_number(kind: str, tmp_path: Path) -> None:
    np.save(tmp_path / "mine.npy", ROWS.astype(kind))
    sentences, rows = read_embeddings(tmp_path / "mine.npy")
    assert sentences is None
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, ROWS.astype(kind).astype(np.float32))


def test_parquet_of_others(tmp_path: Path) -> None:
    pd.DataFrame({"vector": [[1.0, 2.0], [3.0, 4.0]]}).to_parquet(tmp_path / "mine.parquet")
    sentences, rows = read_embeddings(tmp_path / "mine.parquet")
    assert sentences is None
    np.testing.assert_array_equal(rows, [[1, 2], [3, 4]])


REFUSED: dict[str, tuple[str, Any, str]] = {
    "nan": (".npy", np.array([[1, np.nan]]), "has 1 numbers that are NaN or too large"),
    "large": (".npy", np.array([[1, 1e300]]), "has 1 numbers that are NaN or too large"),
    "one dimension": (".npy", np.ones(3), r"holds float64 of shape \(3,\), expected numbers in two dimensions"),
    "no row": (".npy", np.ones((0, 3)), r"of shape \(0, 3\), expected numbers"),
    "texts": (".npy", np.array([["a", "b"]]), "holds <U1 of shape"),
    "pickled": (".npy", np.array([[{}]], dtype=object), "holds no vectors that can be read"),
    "other names": (".npz", {"x": np.ones((2, 2))}, r"it has x, not vectors"),
    "too few sentences": (".npz", {"vectors": ROWS, "sentences": np.array(["a"])}, "has 1 sentences and 3 rows"),
    "ragged": (".parquet", {"vector": [[1.0], [1.0, 2.0]]}, "has rows of several lengths"),
    "no column": (".parquet", {"x": [1]}, "holds no vectors that can be read"),
    "garbage": (".npz", b"PK nothing", "holds no vectors that can be read"),
    "garbage parquet": (".parquet", b"PAR1 nothing", "holds no vectors that can be read"),
    "an archive by another name": (".npy", {"vectors": ROWS}, "an archive of arrays, not one array"),
    "an array by another name": (".npz", ROWS, "one array, not an archive"),
    "another ending": (".csv", b"1,2", r"expected a matrix in .npz, .npy, .parquet"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_named(name: str, tmp_path: Path) -> None:
    ending, content, said = REFUSED[name]
    file = tmp_path / f"mine{ending}"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif ending == ".parquet":
        pd.DataFrame(content).to_parquet(file)
    else:
        with file.open("wb") as stream:
            np.savez(stream, **content) if isinstance(content, dict) else np.save(stream, content)
    with pytest.raises(ValueError, match=said) as mistake:
        read_embeddings(file)
    assert "\n" not in str(mistake.value)
    assert file.name in str(mistake.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not exist; check the name"):
        read_embeddings(tmp_path / "mine.npz")


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".npy"])
def test_a_file_that_was_cut_off(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"mine{ending}"
    if ending == ".npy":
        np.save(file, ROWS)
    else:
        with embedding_file(file) as add:
            add(TEXTS, ROWS)
    whole = file.read_bytes()
    for length in range(1, len(whole), max(1, len(whole) // 40)):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="holds no vectors that can be read"):
            read_embeddings(file)
    for place in range(0, len(whole), max(1, len(whole) // 40)):  # one byte turned: read or refused, never a crash
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        with suppress(ValueError):
            read_embeddings(file)
