"""A matrix of vectors out of a file of the user's own; `writing.py` is the way there.

    .npz       `vectors` (n, d), or a CSR matrix as SciPy keeps it; `sentences` (n,), if there are any
    .parquet   a column `vector` of lists, or `indices` and `values`; a column `sentence`, if there is one
    .npy       (n, d)

In: a path. Out: the sentences, None where the file has none, and the rows: float32 (n, d), dense or CSR, finite. Any
kind of real number is taken, half precision too. Nothing is unpickled, and how large it becomes is counted from its
headers before it is unpacked.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from scipy import sparse

from labkit.atomic import amount
from labkit.corpora.tables import LARGEST, TooLarge, parquet_batches

Embedded: TypeAlias = tuple[list[str] | None, Any]

ENDINGS = (".npz", ".npy", ".parquet")
_SPARSE = ("data", "indices", "indptr", "shape")
_COLUMNS = ("sentence", "vector", "indices", "values")
_BEGINS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_embeddings(path: Path | str, *, limit: int = LARGEST) -> Embedded:
    """The sentences, if the file has them, and a row for each; `limit` bounds its unpacked bytes."""
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"file is {path.name!r}, expected a matrix in {', '.join(ENDINGS)}; rename or convert it")
    if not path.is_file():
        raise ValueError(f"file {str(path)!r} does not exist; check the name and the folder you are in")
    try:
        sentences, rows = READERS[path.suffix.lower()](path, limit)
    except (MemoryError, TooLarge):
        raise
    except Exception as error:  # a damaged file makes its reader fail in a dozen ways
        raise ValueError(
            f"file {path.name!r} holds no vectors that can be read ({' '.join(str(error).split())}); write it with "
            "`labkit encode`, numpy.save, or numpy.savez with the names sentences and vectors"
        ) from error
    rows = _checked(path.name, rows)
    if sentences is not None and len(sentences) != rows.shape[0]:
        raise ValueError(
            f"file {path.name!r} has {len(sentences)} sentences and {rows.shape[0]} rows, expected as many; write it "
            "anew"
        )
    return sentences, rows


def _checked(name: str, rows: Any) -> Any:
    """float32, or a sentence that says what is wrong."""
    if rows.ndim != 2 or rows.dtype.kind not in "biuf" or not all(rows.shape):
        raise ValueError(
            f"file {name!r} holds {rows.dtype} of shape {rows.shape}, expected numbers in two dimensions, a row for "
            "each sentence"
        )
    with np.errstate(over="ignore"):  # what is too large for float32 becomes infinite, and is refused for that
        rows = rows.astype(np.float32)
    bad = ~np.isfinite(rows.data if sparse.issparse(rows) else rows)
    if bad.any():
        raise ValueError(
            f"file {name!r} has {int(bad.sum())} numbers that are NaN or too large for float32, expected finite ones; "
            "drop or mend these rows"
        )
    return rows


def _npy(path: Path, limit: int) -> Embedded:
    with path.open("rb") as file:
        if file.read(2) == b"PK":
            raise ValueError("it is an archive of arrays, not one array")
        file.seek(0)
        _check_unpacked(path, _unpacked(file), limit)
    return None, np.load(path, allow_pickle=False)


def _npz(path: Path, limit: int) -> Embedded:
    with path.open("rb") as file:
        if file.read(6) == b"\x93NUMPY":
            raise ValueError("it is one array, not an archive")
    with np.load(path, allow_pickle=False) as file:
        wanted = [name for name in ("sentences", "vectors", *_SPARSE) if name in file.files]
        _check_unpacked(path, sum(_member(file.zip, name) for name in wanted), limit)
        arrays = {name: file[name] for name in wanted}
        named = ", ".join(file.files[:8])
    if "vectors" not in arrays and not all(name in arrays for name in _SPARSE):
        raise ValueError(f"it has {named or 'no array'}, not vectors, nor the parts of a sparse matrix")
    sentences = arrays.get("sentences")
    return (None if sentences is None else [str(text) for text in sentences]), _matrix(arrays)


def _member(archive: zipfile.ZipFile, name: str) -> int:
    names = archive.namelist()
    with archive.open(name if name in names else f"{name}.npy") as member:
        return _unpacked(member)


def _unpacked(file: IO[bytes]) -> int:
    """Bytes of the array that begins here, as its header has it."""
    version = np.lib.format.read_magic(file)
    if version not in _BEGINS:
        raise ValueError(f"its array is of version {version}, expected one of numbers or texts")
    shape, _, kind = _BEGINS[version](file)
    return math.prod(shape) * kind.itemsize


def _check_unpacked(path: Path, unpacked: int, limit: int) -> None:
    if not 0 <= unpacked <= limit:
        raise TooLarge(
            f"file {path.name!r} unpacks to {amount(unpacked)}, the limit is {amount(limit)}; give fewer rows"
        )


def _matrix(arrays: Mapping[str, np.ndarray]) -> Any:
    if "vectors" in arrays:
        return arrays["vectors"]
    data, indices, indptr, shape = (arrays[name] for name in _SPARSE)
    return _csr(data, indices, indptr, tuple(shape.tolist()))


def _csr(data: np.ndarray, indices: np.ndarray, bounds: np.ndarray, shape: tuple[int, ...]) -> Any:
    found = sparse.csr_array((data, indices, bounds), shape=shape)
    found.check_format(full_check=True)  # a column beyond the last would be written beside the matrix
    return found


def _parquet(path: Path, limit: int) -> Embedded:
    import pyarrow

    table = pyarrow.Table.from_batches(parquet_batches(path, limit, _COLUMNS, remedy="save it as .npy"))
    sentences = [str(text) for text in table["sentence"].to_pylist()] if "sentence" in table.column_names else None
    if "vector" in table.column_names:
        rows = _lists(table["vector"])
        width = len(rows[0]) if len(rows) else 0
        if any(row is None or len(row) != width for row in rows):
            raise ValueError("its column 'vector' has rows of several lengths")
        return sentences, np.array(rows.tolist(), dtype=float).reshape(len(rows), width)
    indices, values = (_lists(table[name]) for name in ("indices", "values"))
    bounds = np.cumsum([0, *map(len, values)])
    columns = np.concatenate([*indices, np.zeros(0, np.int64)]).astype(np.int64)
    shape = (len(values), int(columns.max(initial=-1)) + 1)
    return sentences, _csr(np.concatenate([*values, np.zeros(0)]), columns, bounds, shape)


def _lists(column: Any) -> Any:
    return column.to_pandas().to_numpy()


READERS = {".npz": _npz, ".npy": _npy, ".parquet": _parquet}
