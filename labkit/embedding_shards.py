"""Vectors of more sentences than fit in memory: a folder of memory-mapped .npy files.

    write_vectors(run, sources, folder)   the vectors of a column of texts, in order, from any run with dense vectors
    opened_vectors(folder)                the files as memory-mapped arrays

In: the folder of a run; Parquet and Arrow files and folders of them. Out: part-00000.npy, ..., float32 or float16 (n,
d). `embedding_files` handles single files that fit in memory.

A part is encoded in memory by one thread, so the bytes of its file do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit import scale
from labkit.corpora.shards import ROWS, Part, files_of, identified, parts_of, sha256_of, texts_of
from labkit.progress import Progress, silent

BATCH = 256  # sentences per batch
KINDS = ("float32", "float16")

# --- writing -----------------------------------------------------------------------------------------------------


def write_vectors(
    run: Path | str,
    sources: Sequence[Path | str],
    folder: Path | str,
    *,
    column: str = "text",
    half: bool = False,
    size: int = ROWS,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Write the vectors of all rows to a folder of files with at most `size` rows each; `half`: as float16.

    Repeating the call resumes it after an interruption.
    """
    run, folder, kind = Path(run).resolve(), Path(folder), KINDS[half]
    state = sha256_of(run / "run.json") if (run / "run.json").is_file() else ""
    method = _method(str(run), state)
    with scale.one_thread():
        probe = method.encode(["a"])
    if sparse.issparse(probe):
        raise ValueError(
            f"method {method.name!r} gives sparse rows of {probe.shape[1]:,} columns, which cannot be written to a "
            "folder. Use a method such as lsa, or write one file (--output FILE.npz)"
        )
    parts = parts_of(sources, column, rows=size, tables_only=True)
    plan = {"kind": "vectors", "run": state, "column": column, "type": kind, "size": size}
    plan |= {"sources": identified(files_of(sources))}
    if scale.folder(folder, plan):
        return scale.manifest(folder)
    files = {scale.part(folder, number, "npy"): part for number, part in enumerate(parts)}
    scale.each(partial(_encode, str(run), state, column, kind), files, workers=workers, ray=ray, progress=progress)
    rows = sum((part.stop or 0) - part.start for part in parts)
    return scale.finish(folder, plan, rows=rows, dimension=int(probe.shape[1]), type=kind, origin=method.origin)


@lru_cache(maxsize=1)
def _method(run: str, state: str) -> Any:
    """The method of a run, opened once per process; `state` is the sha256 of its run.json."""
    from labkit.methods import load_run

    method = load_run(run)
    if state != sha256_of(Path(run) / "run.json"):
        raise ValueError(f"run {run!r} has changed since the work began; start again in a new folder")
    return method


def _encode(run: str, state: str, column: str, kind: str, part: Part, path: Path) -> None:
    """Write one file of vectors, after a check that all numbers are within the range of `kind`."""
    method = _method(run, state)
    blocks = []
    with scale.one_thread(), np.errstate(over="ignore"):
        for texts in texts_of(part, column):
            rows = method.encode(texts, batch_size=BATCH)
            blocks.append(rows.astype(kind))
            if not np.isfinite(blocks[-1]).all():
                raise ValueError(
                    f"a vector contains {np.abs(rows).max():.3g}, which is too large for {kind}; omit --half"
                )
    if sum(map(len, blocks)) != (part.stop or 0) - part.start:
        raise ValueError(f"{part.path} changed while it was being read; start again in a new folder")
    with path.open("wb") as file:
        np.save(file, np.ascontiguousarray(np.concatenate(blocks)))


# --- reading -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VectorShards:
    """Arrays (n, d) in files; their rows are numbered consecutively."""

    name: str
    paths: tuple[str, ...]
    bounds: tuple[int, ...]  # the first row of each array, and the total
    dimension: int

    def __len__(self) -> int:
        return self.bounds[-1]

    def array(self, number: int) -> np.ndarray:
        """One of the arrays, memory-mapped."""
        return _mapped(Path(self.paths[number]))

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """The rows with these numbers, float32, in order."""
        picked = np.empty((len(numbers), self.dimension), np.float32)
        owners = np.searchsorted(self.bounds, numbers, side="right") - 1
        for owner in np.unique(owners):
            here = owners == owner
            picked[here] = self.array(int(owner))[numbers[here] - self.bounds[owner]]
        return picked


def opened_vectors(place: Path | str) -> VectorShards:
    """The vectors in a folder written by `labkit encode`, or in one .npy."""
    place = Path(place)
    paths = [path for path in files_of([place]) if path.suffix == ".npy"]
    if not paths:
        raise ValueError(f"{place} has no vectors; give a .npy file or a folder written by `labkit encode RUN --out`")
    arrays = [_mapped(path) for path in paths]
    widths = {array.shape[1] for array in arrays}
    bounds = np.cumsum([0, *map(len, arrays)]).tolist()
    if len(widths) > 1 or not bounds[-1]:
        raise ValueError(
            f"{place} has {bounds[-1]} vectors of lengths {sorted(widths)}, expected one or more, all of one length"
        )
    return VectorShards(str(place), tuple(str(path.resolve()) for path in paths), tuple(bounds), widths.pop())


def _mapped(path: Path) -> np.ndarray:
    """The array of a file, memory-mapped; objects are never unpickled."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as reason:
        why = " ".join(str(reason).split())
        raise ValueError(f"{path} is not a readable array ({why}); write the folder again") from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.name not in KINDS or not array.shape[1]:
        what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "an archive"
        raise ValueError(f"{path} contains {what}, expected a matrix of float32 or float16; convert it")
    return array


def in_float32(rows: np.ndarray, where: str, first: int = 0) -> np.ndarray:
    """These rows as float32 in memory; an error names the first row that is not finite."""
    rows = np.asarray(rows, np.float32)
    good = np.isfinite(rows).all(axis=1)
    if not good.all():
        row = first + int(np.argmin(good))
        raise ValueError(f"{where} row {row:,} contains NaN or infinite values; encode it again")
    return rows
