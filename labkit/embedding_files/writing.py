"""Sentences and their vectors to a file, a block at a time, whole or not at all, with flat memory.

    .npz       `sentences` (n,) and `vectors` (n, d); sparse: `data`, `indices`, `indptr`, `shape`, as SciPy's load_npz
    .parquet   a column `sentence` and a column `vector` of lists; sparse: `indices` and `values`
    .tsv       the sentence and a column a number; sparse: the sentence and "column:value column:value"
    JSON lines, for standard output: {"sentence", "vector"}; sparse: {"sentence", "indices", "values"}

In: a path, then blocks of sentences with their rows (m, d), dense or CSR, float32. Nothing is pickled.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from scipy import sparse

from labkit.atomic import in_place
from labkit.embedding_files.npz import NpzWriter
from labkit.spreadsheets import harmless

Add: TypeAlias = Callable[[list[str], Any], None]


@contextmanager
def embedding_file(path: Path | str) -> Iterator[Add]:
    """A function that takes each block; the file is in its place when the block of `with` has ended well."""
    path = Path(path)
    check_place(path)
    with in_place(path) as file, WRITERS[path.suffix.lower()](file, path.parent) as add:
        yield add


def embedding_bytes(sentences: list[str], rows: Any, ending: str) -> bytes:
    """The whole file of that ending, for somebody who saves it by the browser."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"vectors{ending}"
        with embedding_file(path) as add:
            add(sentences, rows)
        return path.read_bytes()


def check_place(path: Path) -> None:
    """A ValueError if such a file cannot be written there."""
    if path.suffix.lower() not in WRITERS:
        raise ValueError(f"output is {path.name!r}, expected a name that ends in {', '.join(WRITERS)}; rename it")
    if not path.parent.is_dir():
        raise ValueError(f"output {path.name!r}: the folder {str(path.parent)!r} does not exist; make it first")
    if path.is_dir():
        raise ValueError(f"output is {str(path)!r}, a folder, expected the name of a file; choose another")


def json_lines(sentences: list[str], rows: Any) -> Iterator[bytes]:
    """Each sentence with its row as one line, ASCII only; nine digits give a float32 back exactly."""
    for row, text in enumerate(sentences):
        told: dict[str, Any] = {"sentence": text}
        if sparse.issparse(rows):
            part = slice(rows.indptr[row], rows.indptr[row + 1])
            told |= {"indices": rows.indices[part].tolist(), "values": _short(rows.data[part])}
        else:
            told["vector"] = _short(rows[row])
        yield json.dumps(told, allow_nan=False).encode() + b"\n"


def _short(values: np.ndarray) -> list[float | None]:
    return [float(f"{value:.9g}") if math.isfinite(value) else None for value in values.tolist()]


# --- tab-separated ---------------------------------------------------------------------------------------------


@contextmanager
def _tsv(file: IO[bytes], folder: Path) -> Iterator[Add]:
    begun = False

    def add(sentences: list[str], rows: Any) -> None:
        nonlocal begun
        lines = [f"{_line(text)}\t{cells}\n" for text, cells in zip(sentences, _cells(rows), strict=True)]
        if not begun:
            names = ["vector"] if sparse.issparse(rows) else [f"x{place}" for place in range(1, rows.shape[1] + 1)]
            lines.insert(0, "\t".join(["sentence", *names]) + "\n")
            begun = True
        file.write("".join(lines).encode())

    yield add


def _line(text: str) -> str:
    """One line, one cell, no formula: tabs and line ends become spaces.

    >>> _line("two\\twords"), _line("\\t=1+1")
    ('two words', "' =1+1")
    """
    return str(harmless(" ".join(text.splitlines()).replace("\t", " ")))


def _cells(rows: Any) -> Iterator[str]:
    """Each row as text; nine digits give a float32 back exactly."""
    if not sparse.issparse(rows):
        form = "\t".join(["%.9g"] * rows.shape[1])
        yield from (form % tuple(row) for row in rows.tolist())
        return
    for start, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        found = zip(rows.indices[start:stop].tolist(), rows.data[start:stop].tolist(), strict=True)
        yield " ".join(f"{column}:{value:.9g}" for column, value in found)


# --- Parquet ---------------------------------------------------------------------------------------------------


@contextmanager
def _parquet(file: IO[bytes], folder: Path) -> Iterator[Add]:
    import pyarrow.parquet as parquet

    with ExitStack() as stack:
        writer: Any = None

        def add(sentences: list[str], rows: Any) -> None:
            nonlocal writer
            table = _table(sentences, rows)
            if writer is None:
                writer = stack.enter_context(parquet.ParquetWriter(file, table.schema))
            writer.write_table(table)

        yield add


def _table(sentences: list[str], rows: Any) -> Any:
    import pyarrow as arrow

    columns = {"sentence": arrow.array(sentences, arrow.string())}
    if sparse.issparse(rows):
        bounds = arrow.array(rows.indptr.astype(np.int32))
        columns["indices"] = arrow.ListArray.from_arrays(bounds, arrow.array(rows.indices.astype(np.int32)))
        columns["values"] = arrow.ListArray.from_arrays(bounds, arrow.array(rows.data))
    else:
        numbers = arrow.array(np.ascontiguousarray(rows).ravel())
        columns["vector"] = arrow.FixedSizeListArray.from_arrays(numbers, rows.shape[1])
    return arrow.table(columns)


# --- NumPy -----------------------------------------------------------------------------------------------------


@contextmanager
def _npz(file: IO[bytes], folder: Path) -> Iterator[Add]:
    with ExitStack() as stack:
        writer = NpzWriter(folder, stack)
        yield writer.add
        writer.finish(file)


WRITERS: dict[str, Callable[[IO[bytes], Path], AbstractContextManager[Add]]] = {
    ".npz": _npz,
    ".parquet": _parquet,
    ".tsv": _tsv,
}
