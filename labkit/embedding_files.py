"""Write sentences and their vectors to a file, and read them back.

    .npz       `sentences` (n,) and `vectors` (n, d); sparse: `data`, `indices`, `indptr`, `shape`, as SciPy's load_npz
    .parquet   a column `sentence` and a column `vector` of lists; sparse: `indices` and `values`
    .npy       (n, d), read only
    .tsv       the sentence and one column per number; sparse: the sentence and "column:value column:value"; write only
    JSON lines, for standard output: {"sentence", "vector"}; sparse: {"sentence", "indices", "values"}

Writing takes blocks of sentences with their rows (m, d), dense or CSR, float32; memory use is constant except for .npz.
Files are written completely or not at all. Reading returns the sentences, or None if the file contains none, and the
rows: finite float32 (n, d), dense or CSR. Any real numbers are accepted, including half precision. Pickle is never
used, and the unpacked size is first checked from the headers.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from scipy import sparse

from labkit.atomic import in_place
from labkit.corpora.files import LARGEST, TooLarge, check_unpacked, parquet_batches
from labkit.progress import note
from labkit.spreadsheet import without_formula

# --- reading -----------------------------------------------------------------------------------------------------

Embedded: TypeAlias = tuple[list[str] | None, Any]

ENDINGS = (".npz", ".npy", ".parquet")
_SPARSE = ("data", "indices", "indptr", "shape")
_COLUMNS = ("sentence", "vector", "indices", "values")
_BEGINS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_embeddings(path: Path | str, *, limit: int = LARGEST) -> Embedded:
    """The sentences, if the file has any, and a row for each; `limit` bounds the unpacked bytes."""
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"file is {path.name!r}, expected one of {', '.join(ENDINGS)}; rename or convert it")
    if not path.is_file():
        raise ValueError(f"file {str(path)!r} does not exist; check the name and the current folder")
    try:
        sentences, rows = (_read_parquet if path.suffix.lower() == ".parquet" else _read_arrays)(path, limit)
    except (MemoryError, TooLarge):
        raise
    except Exception as error:  # a damaged file makes its reader fail in many ways
        raise ValueError(
            f"file {path.name!r} has no readable vectors ({' '.join(str(error).split())}); write it with `labkit "
            "encode`, numpy.save, or numpy.savez with the arrays sentences and vectors"
        ) from error
    rows = _finite_rows(path.name, rows)
    if sentences is not None and len(sentences) != rows.shape[0]:
        raise ValueError(f"file {path.name!r} has {len(sentences)} sentences but {rows.shape[0]} rows; write it again")
    return sentences, rows


def _finite_rows(name: str, rows: Any) -> Any:
    """Convert to float32; raises ValueError if that is impossible."""
    if rows.ndim != 2 or rows.dtype.kind not in "biuf" or not all(rows.shape):
        raise ValueError(
            f"file {name!r} contains {rows.dtype} of shape {rows.shape}, expected a matrix with a row for each sentence"
        )
    with np.errstate(over="ignore"):  # values too large for float32 become infinite and are rejected below
        rows = rows.astype(np.float32)
    bad = ~np.isfinite(rows.data if sparse.issparse(rows) else rows)
    if bad.any():
        raise ValueError(
            f"file {name!r} has {int(bad.sum())} values that are NaN or too large for float32; drop or repair these "
            "rows"
        )
    return rows


def _read_arrays(path: Path, limit: int) -> Embedded:
    """The array of a .npy, memory-mapped, or the arrays of an .npz, after a check of the sizes in their headers."""
    file = np.load(path, mmap_mode="r", allow_pickle=False)
    if isinstance(file, np.ndarray):
        check_unpacked(path, file.nbytes, limit)
        return None, file
    with file:
        wanted = [name for name in ("sentences", "vectors", *_SPARSE) if name in file.files]
        unpacked = 0
        for name in wanted:
            with file.zip.open(name if name in file.zip.namelist() else f"{name}.npy") as member:
                unpacked += _unpacked(member)
        check_unpacked(path, unpacked, limit)
        arrays = {name: file[name] for name in wanted}
        named = ", ".join(file.files[:8])
    sentences = [str(text) for text in arrays["sentences"]] if "sentences" in arrays else None
    if "vectors" in arrays:
        return sentences, arrays["vectors"]
    if not all(name in arrays for name in _SPARSE):
        raise ValueError(f"it has {named or 'no array'}, but neither vectors nor the parts of a sparse matrix")
    data, indices, bounds, shape = (arrays[name] for name in _SPARSE)
    return sentences, _csr(data, indices, bounds, tuple(shape.tolist()))


def _unpacked(file: IO[bytes]) -> int:
    """The number of bytes of the array that begins here, from its header."""
    version = np.lib.format.read_magic(file)
    if version not in _BEGINS:
        raise ValueError(f"its array has format version {version}, expected an array of numbers or texts")
    shape, _, kind = _BEGINS[version](file)
    return math.prod(shape) * kind.itemsize


def _csr(data: np.ndarray, indices: np.ndarray, bounds: np.ndarray, shape: tuple[int, ...]) -> Any:
    rows = sparse.csr_array((data, indices, bounds), shape=shape)
    rows.check_format(full_check=True)  # a column beyond the last would be written outside the array
    return rows


def _read_parquet(path: Path, limit: int) -> Embedded:
    import pyarrow

    table = pyarrow.Table.from_batches(parquet_batches(path, limit, _COLUMNS))
    sentences = table["sentence"].to_pylist() if "sentence" in table.column_names else None
    if sentences is not None and None in sentences:
        raise ValueError(f"row {sentences.index(None) + 1} has no sentence")
    sentences = None if sentences is None else list(map(str, sentences))
    if "vector" in table.column_names:
        rows = table["vector"].to_pandas().to_numpy()
        width = len(rows[0]) if len(rows) else 0
        if any(row is None or len(row) != width for row in rows):
            raise ValueError("its column 'vector' has rows of different lengths")
        return sentences, np.array(rows.tolist(), dtype=float).reshape(len(rows), width)
    indices, values = (table[name].to_pandas().to_numpy() for name in ("indices", "values"))
    bounds = np.cumsum([0, *map(len, values)])
    columns = np.concatenate([*indices, np.zeros(0, np.int64)]).astype(np.int64)
    shape = (len(values), int(columns.max(initial=-1)) + 1)
    return sentences, _csr(np.concatenate([*values, np.zeros(0)]), columns, bounds, shape)


# --- writing -----------------------------------------------------------------------------------------------------

Blocks: TypeAlias = Iterable[tuple[list[str], Any]]
LARGEST_TEXT = 2**31  # bytes of `sentences` in an .npz, in which each takes the space of the longest one


def write_embeddings(path: Path | str, blocks: Blocks) -> None:
    """Write blocks of sentences and their rows; an error in a block leaves the old file unchanged."""
    path = Path(path)
    check_place(path)
    with in_place(path) as file:
        WRITERS[path.suffix.lower()](file, blocks)


def embedding_bytes(sentences: list[str], rows: Any, ending: str) -> bytes:
    """The whole file as bytes, for a download in the browser."""
    file = io.BytesIO()
    WRITERS[ending](file, [(sentences, rows)])
    return file.getvalue()


def check_place(path: Path) -> None:
    """Raise ValueError if this file cannot be written."""
    if path.suffix.lower() not in WRITERS:
        raise ValueError(f"output is {path.name!r}, expected one of {', '.join(WRITERS)}; rename it")
    if not path.parent.is_dir():
        raise ValueError(f"output {path.name!r}: the folder {str(path.parent)!r} does not exist; create it first")
    if path.is_dir():
        raise ValueError(f"output {str(path)!r} is a folder; give a file name")


def write_json_lines(file: IO[bytes], blocks: Blocks) -> None:
    """Write each sentence with its row as one line of ASCII; nine digits reproduce a float32 exactly."""
    for sentences, rows in blocks:
        for text, row in zip(sentences, _entries(rows), strict=True):
            entry = {
                name: values if name == "indices" else [float(f"{value:.9g}") for value in values]
                for name, values in row.items()
            }
            file.write(json.dumps({"sentence": text, **entry}, allow_nan=False).encode() + b"\n")
        file.flush()


def _entries(rows: Any) -> Iterator[dict[str, list[Any]]]:
    """Each row as {"vector"} or, if sparse, {"indices", "values"}."""
    if not sparse.issparse(rows):
        yield from ({"vector": row} for row in rows.tolist())
        return
    for start, stop in pairwise(rows.indptr):
        yield {"indices": rows.indices[start:stop].tolist(), "values": rows.data[start:stop].tolist()}


def _tsv(file: IO[bytes], blocks: Blocks) -> None:
    for number, (sentences, rows) in enumerate(blocks):
        if not number:
            names = ["vector"] if sparse.issparse(rows) else [f"x{place}" for place in range(1, rows.shape[1] + 1)]
            file.write(("\t".join(["sentence", *names]) + "\n").encode())
        for text, row in zip(sentences, _entries(rows), strict=True):
            if "vector" in row:
                cells = "\t".join(f"{value:.9g}" for value in row["vector"])
            else:
                cells = " ".join(f"{column}:{value:.9g}" for column, value in zip(*row.values(), strict=True))
            file.write(f"{_line(text)}\t{cells}\n".encode())


def _line(text: str) -> str:
    """One line, one cell, no formula: tabs and line ends become spaces.

    >>> _line("two\\twords"), _line("\\t=1+1")
    ('two words', "' =1+1")
    """
    return str(without_formula(" ".join(text.splitlines()).replace("\t", " ")))


def _parquet(file: IO[bytes], blocks: Blocks) -> None:
    import pyarrow.parquet as parquet

    with ExitStack() as stack:
        writer: Any = None
        for sentences, rows in blocks:
            table = _table(sentences, rows)
            writer = writer or stack.enter_context(parquet.ParquetWriter(file, table.schema))
            writer.write_table(table)


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


def _npz(file: IO[bytes], blocks: Blocks) -> None:
    """Write the archive with reproducible bytes; all rows are held in memory."""
    sentences, parts = zip(*blocks, strict=True)
    texts = [text for block in sentences for text in block]
    longest = max(map(len, texts))
    arrays: dict[str, Any] = {}
    if 4 * longest * len(texts) > LARGEST_TEXT:
        note(
            "the .npz does not include the sentences, because each would take as much space as the longest "
            f"({longest:,} characters); rows are in input order. A .parquet includes sentences",
            stacklevel=2,
        )
    else:
        arrays["sentences"] = np.array(texts)
    if sparse.issparse(parts[0]):
        rows = sparse.vstack(parts, "csr")
        arrays |= {"data": rows.data.astype("<f4"), "indices": rows.indices.astype("<i4")}
        arrays |= {"indptr": rows.indptr.astype("<i8"), "shape": np.array(rows.shape, "<i8")}
        arrays |= {"format": np.array(b"csr"), "_is_array": np.array(True)}  # SciPy's marks for this type of matrix
    else:
        arrays["vectors"] = np.concatenate(parts, dtype="<f4")
    np.savez(file, **arrays)


WRITERS: dict[str, Callable[[IO[bytes], Blocks], None]] = {".npz": _npz, ".parquet": _parquet, ".tsv": _tsv}
