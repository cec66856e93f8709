"""Embeddings as an .npz of any length with flat memory; its neighbour `writing.py` has the other formats.

The number of rows stands at the head of an array, and here it is known last. So blocks wait in nameless files beside
the output, and are copied into the archive at the end. In: blocks. Out: an archive with the same bytes each time.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from scipy import sparse

LARGEST_TEXT = 2**31  # bytes of `sentences`, where each takes as much room as the longest


class NpzWriter:
    """Takes blocks of sentences and rows; `finish` makes the archive."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._text, self._data, self._indices = (_nameless(folder, stack) for _ in range(3))
        self._lengths: list[np.ndarray] | None = None  # of sparse rows
        self._rows, self._width, self._longest = 0, 0, 1

    def add(self, sentences: list[str], rows: Any) -> None:
        """One block: m sentences, (m, d)."""
        self._text.write(json.dumps(sentences).encode() + b"\n")
        self._rows, self._width = self._rows + len(sentences), rows.shape[1]
        self._longest = max(self._longest, *map(len, sentences))
        if sparse.issparse(rows):
            self._lengths = [*(self._lengths or []), np.diff(rows.indptr).astype("<i8")]
            self._indices.write(rows.indices.astype("<i4").tobytes())
            self._data.write(rows.data.astype("<f4").tobytes())
        else:
            self._data.write(np.ascontiguousarray(rows, "<f4").tobytes())

    def finish(self, file: IO[bytes]) -> None:
        """The archive into `file`."""
        with zipfile.ZipFile(file, "w") as archive:
            self._sentences(archive)
            if self._lengths is None:
                _copied(archive, "vectors", "<f4", (self._rows, self._width), self._data)
                return
            indptr = np.cumsum(np.concatenate([[0], *self._lengths]), dtype="<i8")
            _copied(archive, "data", "<f4", (int(indptr[-1]),), self._data)
            _copied(archive, "indices", "<i4", (int(indptr[-1]),), self._indices)
            small = {"indptr": indptr, "shape": np.array([self._rows, self._width], "<i8")}
            # by these two SciPy knows what kind of matrix it is
            for name, array in (small | {"format": np.array(b"csr"), "_is_array": np.array(True)}).items():
                with _member(archive, name) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)

    def _sentences(self, archive: zipfile.ZipFile) -> None:
        if 4 * self._longest * self._rows > LARGEST_TEXT:
            warnings.warn(
                f"the .npz is without its sentences: the longest has {self._longest:,} characters, and each would take "
                "as much room; the rows are in the order of the input, or take .parquet",
                stacklevel=2,
            )
            return
        self._text.seek(0)
        with _member(archive, "sentences", zipfile.ZIP_DEFLATED) as member:
            _header(member, f"<U{self._longest}", (self._rows,))
            for line in self._text:
                member.write(np.array(json.loads(line), f"<U{self._longest}").tobytes())


def _nameless(folder: Path, stack: ExitStack) -> IO[bytes]:
    return cast(IO[bytes], stack.enter_context(tempfile.TemporaryFile(dir=folder)))


@contextmanager
def _member(archive: zipfile.ZipFile, name: str, packed: int = zipfile.ZIP_STORED) -> Iterator[IO[bytes]]:
    about = zipfile.ZipInfo(f"{name}.npy")  # a date of long ago: the same content is the same file
    about.compress_type = packed
    with archive.open(about, "w", force_zip64=True) as member:
        yield member


def _copied(archive: zipfile.ZipFile, name: str, kind: str, shape: tuple[int, ...], waiting: IO[bytes]) -> None:
    waiting.seek(0)
    with _member(archive, name) as member:
        _header(member, kind, shape)
        shutil.copyfileobj(waiting, member, 2**18)


def _header(file: IO[bytes], kind: str, shape: tuple[int, ...]) -> None:
    about = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, about)
