"""Read an untrusted file in a process with limited memory and time.

    corpus_apart("mine.parquet", data, limit)     -> the corpus, and the notes from reading it
    embeddings_apart("mine.npz", data, limit)     -> the sentences or None, and dense rows float32 (n, d)

The readers check the unpacked size first, but a file can state wrong sizes or crash a decoder. However the process
ends, the result is a value or an error in one sentence, returned as JSON and .npy. Pickle is never used. Small plain
texts and single arrays are read directly, because they cannot become large.

On the command line, a file is read `within_memory`, limited to the free memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.atomic import amount, room_for
from labkit.corpora import Corpus, read_corpus
from labkit.corpora.files import check_unpacked
from labkit.corpora.rows import SHAPES_BY_NAME, from_columns
from labkit.embedding_files import Embedded, read_embeddings
from labkit.progress import collected

PROGRAM = (sys.executable, "-m", "labkit.untrusted")
SECONDS = 20  # wall-clock time limit for one file
# plain text up to this many bytes needs no process, because starting one takes longer than reading 20,000 rows
IN_PLACE, PLAIN = 2**21, (".csv", ".tsv", ".txt", ".jsonl")
ANSWER, ROWS = "answer.json", "rows.npy"  # next to the file
# each thread of a library reserves its own memory, which counts towards the limit
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_READERS = threading.BoundedSemaphore(2)  # processes at a time
_VISITORS: dict[str, threading.Lock] = {}  # one lock per visitor, who reads one file at a time


def corpus_apart(
    name: str, data: bytes, limit: int, *, seconds: int = SECONDS, visitor: str = ""
) -> tuple[Corpus, tuple[str, ...]]:
    """Return the corpus in a file of that name, and the notes; `limit` bounds its unpacked bytes."""
    with _file(name, data) as path:
        if len(data) <= IN_PLACE and name.lower().endswith(PLAIN):
            with _VISITORS.setdefault(visitor, threading.Lock()), collected() as notes:
                return read_corpus(path, limit=limit), tuple(notes)
        about = _answer("corpus", path, limit, seconds, visitor)
    return from_columns(SHAPES_BY_NAME[about["shape"]], about["columns"], about["name"]), tuple(about["notes"])


def embeddings_apart(name: str, data: bytes, limit: int, *, seconds: int = SECONDS, visitor: str = "") -> Embedded:
    """Return the sentences, if the file has any, and a dense row for each; `limit` bounds the bytes of both."""
    with _file(name, data) as path:
        if name.lower().endswith(".npy"):
            return read_embeddings(path, limit=limit)
        about = _answer("embeddings", path, limit, seconds, visitor)
        return about["sentences"], np.load(path.parent / ROWS, allow_pickle=False)


def busy() -> bool:
    """Return whether the next file must wait until another file has been read."""
    free = _READERS.acquire(blocking=False)
    if free:
        _READERS.release()
    return not free


@contextmanager
def within_memory(name: str, most: int | None = None) -> Iterator[None]:
    """Limit the memory for reading a file to `most` more bytes, or to the free memory, if the system supports it."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        free = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    except (ImportError, OSError):  # not Linux
        yield
        return
    most = most or 1024 * int(free.split()[1])
    before = resource.getrlimit(resource.RLIMIT_AS)
    allowed = [each for each in before if each != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_AS, (min([pages * resource.getpagesize() + most, *allowed]), before[1]))
    try:
        yield
    except MemoryError:
        raise ValueError(f"{name} needs more than {amount(most)} of memory; use a part of it") from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextmanager
def _file(name: str, data: bytes) -> Iterator[Path]:
    """Write the file to a folder of its own, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name[-100:]
        with room_for(path):
            path.write_bytes(data)
        yield path


def _answer(what: str, path: Path, limit: int, seconds: int, visitor: str) -> dict[str, Any]:
    """Return what the process wrote, or raise a ValueError with the reason."""
    with _VISITORS.setdefault(visitor, threading.Lock()), _READERS:
        try:
            ended = subprocess.run(
                [*PROGRAM, what, str(path), str(limit)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=Path(__file__).parents[1],
                env=os.environ | _ALONE,
                start_new_session=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ValueError(f"{path.name} could not be read in {seconds} seconds; use a part of it") from None
    if ended.returncode:
        raise ValueError(
            f"{path.name} crashed the process that read it: it is damaged or too large. Save it again, as CSV if "
            "possible, or use a part of it"
        )
    about: dict[str, Any] = json.loads((path.parent / ANSWER).read_bytes())
    if "refused" in about:
        raise ValueError(about["refused"])
    return about


# --- in the process --------------------------------------------------------------------------------------------


def main(what: str, path: Path, limit: int) -> None:
    """Read the file and write the result next to it."""
    import pyarrow.parquet  # noqa: F401  imported first, because the limit applies to later allocations

    os.nice(10)
    try:
        with within_memory(path.name, max(2**30, 16 * limit)):
            about = json.dumps((_corpus if what == "corpus" else _embeddings)(path, limit), default=str)
        check_unpacked(path, len(about) // 16, limit)  # text as JSON is longer, but never 16 times as long
    except ValueError as reason:
        about = json.dumps({"refused": str(reason)})
    (path.parent / ANSWER).write_text(about, encoding="ascii")


def _corpus(path: Path, limit: int) -> dict[str, Any]:
    with collected() as notes:
        corpus = read_corpus(path, limit=limit)
    rows = list(corpus.rows())
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {"shape": type(corpus).__name__, "name": corpus.name, "columns": columns, "notes": notes}


def _embeddings(path: Path, limit: int) -> dict[str, Any]:
    sentences, rows = read_embeddings(path, limit=limit)
    if sparse.issparse(rows):
        if (filled := 4 * rows.shape[0] * rows.shape[1]) > limit:
            raise ValueError(
                f"{path.name} has sparse rows of {rows.shape[1]:,} columns, {amount(filled)} if stored densely, "
                f"above the limit of {amount(limit)}; use fewer rows, or reduce them first, for example with LSA"
            )
        rows = rows.toarray()
    np.save(path.parent / ROWS, rows)
    return {"sentences": sentences}


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
