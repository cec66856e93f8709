"""A matrix of vectors out of a file of the user's own; `writing.py` is the way there.

    .npz       `vectors` (n, d), or a CSR matrix as SciPy keeps it; `sentences` (n,), if there are any
    .parquet   a column `vector` of lists, or `indices` and `values`; a column `sentence`, if there is one
    .npy       (n, d)

In: a path. Out: the sentences, None where the file has none, and the rows: float32 (n, d), dense or CSR, finite. Any
kind of real number is taken, half precision too. Nothing is unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

Embedded: TypeAlias = tuple[list[str] | None, Any]

ENDINGS = (".npz", ".npy", ".parquet")
_SPARSE = ("data", "indices", "indptr", "shape")


def read_embeddings(path: Path | str) -> Embedded:
    """The sentences, if the file has them, and a row for each."""
    path = Path(path)
    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"file is {path.name!r}, expected a matrix in {', '.join(ENDINGS)}; rename or convert it")
    if not path.is_file():
        raise ValueError(f"file {str(path)!r} does not exist; check the name and the folder you are in")
    try:
        sentences, rows = READERS[path.suffix.lower()](path)
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


def _npy(path: Path) -> Embedded:
    found = np.load(path, allow_pickle=False)
    if not isinstance(found, np.ndarray):
        raise ValueError("it is an archive of arrays, not one array")
    return None, found


def _npz(path: Path) -> Embedded:
    found = np.load(path, allow_pickle=False)
    if isinstance(found, np.ndarray):
        raise ValueError("it is one array, not an archive")
    with found as file:
        arrays = {name: file[name] for name in file.files}
    sentences = arrays.get("sentences")
    return (None if sentences is None else [str(text) for text in sentences]), _matrix(arrays)


def _matrix(arrays: Mapping[str, np.ndarray]) -> Any:
    if "vectors" in arrays:
        return arrays["vectors"]
    if all(name in arrays for name in _SPARSE):
        data, indices, indptr, shape = (arrays[name] for name in _SPARSE)
        return sparse.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
    raise ValueError(f"it has {', '.join(arrays) or 'no array'}, not vectors, nor the parts of a sparse matrix")


def _parquet(path: Path) -> Embedded:
    import pyarrow
    import pyarrow.parquet as parquet

    try:
        table = parquet.read_table(path)
    except pyarrow.ArrowException as error:
        raise ValueError(str(error)) from error
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
    return sentences, sparse.csr_array((np.concatenate([*values, np.zeros(0)]), columns, bounds), shape=shape)


def _lists(column: Any) -> Any:
    return column.to_pandas().to_numpy()


READERS = {".npz": _npz, ".npy": _npy, ".parquet": _parquet}
