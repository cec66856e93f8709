"""Vectors of more sentences than fit into memory: a folder of .npy shards, made by many tasks, read as maps of files.

    write_vectors(run, sources, folder)   the vectors of a column of texts, in order, by any run whose vectors are dense
    opened_vectors(folder)                the shards as arrays that are read where they are looked at

In: the folder of a run; Parquet files and folders of shards. Out: part-00000.npy, ..., float32 or float16 (n, d), and a
manifest that says how many rows, how many numbers, and by which run. `embedding_files` has files of sentences with
their vectors, for what fits.

A task encodes one stretch of rows, on one thread: so its shard has the same bytes however many tasks run beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.atomic import in_place
from labkit.corpora.shards import Making, Manifest, checked, is_making, plan_of, sha256_of
from labkit.corpora.stretches import ROWS, Stretch, stretches_of, text_blocks
from labkit.executors import Executor, Local, one_thread
from labkit.progress import Progress, silent

BATCH = 256  # sentences
KINDS = ("float32", "float16")
LOOKED = 2**14  # rows that are looked through for NaN at once

# --- writing -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Encoding:
    """What one task encodes, by which run, and how its numbers are kept."""

    run: str
    state: str  # the sha256 of its run.json, in which those of its other files stand
    stretch: Stretch
    column: str
    rows: int
    kind: str


def write_vectors(
    run: Path | str,
    sources: Sequence[Path | str],
    folder: Path | str,
    *,
    column: str = "text",
    half: bool = False,
    size: int = ROWS,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> Manifest:
    """The vectors of all rows to a folder of shards, each of at most `size` rows; `half`: as float16.

    Whatever stops it, the same call goes on from there. Several workers are processes started anew: call this below
    `if __name__ == "__main__":` in a script then.
    """
    run, kind = Path(run).resolve(), KINDS[half]
    state = sha256_of(run / "run.json") if (run / "run.json").is_file() else ""
    method = _opened(str(run), state)
    with one_thread():
        probe = method.encode(["a"])
    if sparse.issparse(probe):
        raise ValueError(
            f"method {method.name!r} gives sparse rows of {probe.shape[1]:,} columns, expected dense ones for a folder "
            "of shards; take a method such as lsa, or write a file of them (--output FILE.npz)"
        )
    source = stretches_of(sources, [column], rows=size, parquet_only=True, progress=progress)
    settings = {"run": state, "column": column, "type": kind, "size": size, "rows": source.fingerprint}
    tasks = {
        number: _Encoding(str(run), state, each, column, (each.stop or 0) - each.start, kind)
        for number, each in enumerate(source.each)
    }
    with Making(folder, plan_of("vectors", settings, source.files, "scipy", "torch"), ending="npy") as making:
        if making.finished:
            return making.manifest
        making.run(_encoded, tasks, executor or Local(1), progress=progress)
        return making.finish(len(tasks), dimension=int(probe.shape[1]), type=kind, run=method.origin)


@lru_cache(maxsize=1)
def _opened(run: str, state: str) -> Any:
    """The method of a run, which a process opens once."""
    from labkit.methods import load

    method = load(run)
    if state != sha256_of(Path(run) / "run.json"):
        raise ValueError(f"run {run!r} is another one than when the work began; start again, in a new folder")
    return method


def _encoded(task: _Encoding, path: Path) -> dict[str, Any]:
    """One shard of vectors, of which some thousand rows at a time are in memory."""
    method, count = _opened(task.run, task.state), 0
    with one_thread(), in_place(path) as file:
        for texts in text_blocks(task.stretch, [task.column]):
            rows = method.encode(texts, batch_size=BATCH)
            if not count:
                head = {"descr": np.dtype(task.kind).newbyteorder("<").str, "fortran_order": False}
                np.lib.format.write_array_header_1_0(file, head | {"shape": (task.rows, rows.shape[1])})
            file.write(np.ascontiguousarray(_narrowed(rows, task.kind), np.dtype(task.kind).newbyteorder("<")).data)
            count += len(texts)
    if count != task.rows:
        raise ValueError(f"{task.stretch.path} has changed while it was read; start again, in a new folder")
    return {"rows": count}


def _narrowed(rows: np.ndarray, kind: str) -> np.ndarray:
    """The rows in that type, if all of their numbers are within its bounds."""
    with np.errstate(over="ignore"):
        narrow = rows.astype(kind)
    if not np.isfinite(narrow).all():
        raise ValueError(f"a vector has the number {np.abs(rows).max():.3g}, too large for {kind}; leave --half out")
    return narrow


# --- reading -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VectorShards:
    """Arrays (n, d) in files, by which rows are numbered one after the other."""

    name: str
    paths: tuple[str, ...]
    bounds: tuple[int, ...]  # of rows: where each array begins, and the end
    dimension: int
    fingerprint: str

    def __len__(self) -> int:
        return self.bounds[-1]

    def array(self, number: int) -> np.ndarray:
        """One of the arrays as a map of its file."""
        return _mapped(Path(self.paths[number]))

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """The rows of these numbers, float32, in their order."""
        picked = np.empty((len(numbers), self.dimension), np.float32)
        owners = np.searchsorted(self.bounds, numbers, side="right") - 1
        for owner in np.unique(owners):
            here = owners == owner
            picked[here] = self.array(int(owner))[numbers[here] - self.bounds[owner]]
        return picked


def opened_vectors(place: Path | str, *, progress: Progress = silent) -> VectorShards:
    """The vectors in a folder of shards, or in one .npy; a ValueError where they are not what the manifest says."""
    place = Path(place)
    if place.is_dir() or is_making(place):
        manifest = checked(place, progress=progress)
        paths = [manifest.path(number) for number in range(len(manifest.shards))]
        said: list[Any] | None = [(shard.rows, manifest.further.get("dimension")) for shard in manifest.shards]
        fingerprint = manifest.fingerprint
        if any(path.suffix != ".npy" for path in paths):
            raise ValueError(
                f"{place} has shards of texts, expected vectors; `labkit encode RUN {place} --out` makes them"
            )
    elif place.suffix == ".npy" and place.is_file():
        paths, said, fingerprint = [place], None, sha256_of(place)
    else:
        raise ValueError(
            f"vectors are {str(place)!r}, expected a folder that `labkit encode` has made, or a .npy; name it"
        )
    bounds, dimension = [0], 0
    for number, path in enumerate(paths):
        array = _mapped(path)
        if said is not None and said[number] != array.shape:
            raise ValueError(
                f"{path} has {array.shape[0]:,} rows of {array.shape[1]:,} numbers, which is not what the manifest "
                "says; make the folder again"
            )
        dimension = array.shape[1]
        bounds.append(bounds[-1] + len(array))
    if not bounds[-1]:
        raise ValueError(f"{place} has no vector, expected at least one; encode some sentences")
    return VectorShards(str(place), tuple(str(path.resolve()) for path in paths), tuple(bounds), dimension, fingerprint)


def _mapped(path: Path) -> np.ndarray:
    """The array of a file, which is read where it is looked at; objects are never unpickled."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as reason:
        why = " ".join(str(reason).split())
        raise ValueError(f"{path} holds no array that can be read ({why}); make the folder again") from None
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.name not in KINDS or not array.shape[1]:
        what = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else "an archive"
        raise ValueError(f"{path} holds {what}, expected float32 or float16 in two dimensions; save it as that")
    return array


def in_float32(rows: np.ndarray, where: str, first: int = 0) -> np.ndarray:
    """These rows in memory as float32; a ValueError names the first that holds what is no number."""
    rows = np.asarray(rows, np.float32)
    for start in range(0, len(rows), LOOKED):
        good = np.isfinite(rows[start : start + LOOKED]).all(axis=1)
        if not good.all():
            row = first + start + int(np.argmin(good))
            raise ValueError(
                f"{where} row {row:,} holds NaN or infinite numbers, expected finite ones; encode it again"
            )
    return rows
