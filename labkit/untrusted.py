"""Read an untrusted file in a process with limited memory and time.

    corpus_apart("mine.parquet", data, limit)     -> the corpus, and the notes from reading it
    embeddings_apart("mine.npz", data, limit)     -> the sentences or None, and dense rows float32 (n, d)

The readers check the unpacked size first. But a file can give wrong sizes or crash a decoder. However the process ends,
the result is a value or one sentence, returned as an Arrow IPC file; nothing is pickled. Small plain texts and single
arrays are read directly, because they cannot become large.

On the command line a file is read `within_memory`, limited to the free memory.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
from scipy import sparse

from labkit.atomic import amount, room_for
from labkit.corpora import Article, Articles, Corpus, Section, read_corpus
from labkit.corpora.rows import SHAPES_BY_NAME
from labkit.embedding_files import Embedded, read_embeddings
from labkit.progress import collected

PROGRAM = (sys.executable, "-m", "labkit.untrusted")
SECONDS = 20  # of wall-clock time for one file
IN_PLACE, PLAIN = 2**18, (".csv", ".tsv", ".txt", ".jsonl")  # plain text up to this many bytes needs no process
ANSWER = "answer.arrow"
# each thread of a library reserves memory of its own, which the limit counts
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
_READERS = threading.BoundedSemaphore(2)  # processes at a time
_VISITORS: dict[str, threading.Lock] = {}  # one lock per visitor, who reads one file at a time


def corpus_apart(
    name: str, data: bytes, limit: int, *, seconds: int = SECONDS, visitor: str = ""
) -> tuple[Corpus, tuple[str, ...]]:
    """Return the corpus in a file of that name, and the notes; `limit` bounds its unpacked bytes."""
    with _file(name, data) as path:
        if len(data) <= IN_PLACE and name.lower().endswith(PLAIN):
            with collected() as notes:
                return read_corpus(path, limit=limit), tuple(notes)
        table, about = _answer("corpus", path, limit, seconds, visitor)
    values = {name: tuple(table[name].to_pylist()) for name in table.column_names} | about["values"]
    shape = SHAPES_BY_NAME[about["shape"]]
    if shape is Articles:
        values["articles"] = [
            Article(each["title"], tuple(Section(**section) for section in each["sections"]))
            for each in values["articles"]
        ]
    return shape(**values), tuple(about["notes"])


def embeddings_apart(name: str, data: bytes, limit: int, *, seconds: int = SECONDS, visitor: str = "") -> Embedded:
    """Return the sentences, if the file has them, and a dense row for each; `limit` bounds the bytes of both."""
    with _file(name, data) as path:
        if name.lower().endswith(".npy"):
            return read_embeddings(path, limit=limit)
        table, _ = _answer("embeddings", path, limit, seconds, visitor)
    rows = table["row"].combine_chunks()
    vectors = rows.flatten().to_numpy().reshape(len(rows), -1)
    return table["sentence"].to_pylist() if "sentence" in table.column_names else None, vectors


def busy() -> bool:
    """Return whether the next file must wait until another one is read."""
    free = _READERS.acquire(blocking=False)
    if free:
        _READERS.release()
    return not free


@contextmanager
def within_memory(name: str, most: int | None = None) -> Iterator[None]:
    """Limit the memory for reading a file to this many more bytes, or to the free memory, if the system supports it."""
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


def _answer(what: str, path: Path, limit: int, seconds: int, visitor: str) -> tuple[Any, dict[str, Any]]:
    """Return the table that the process wrote, with its notes, or raise a ValueError with the reason."""
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
            f"{path.name} crashed the process that read it, because it is damaged or too large; save it again, as CSV "
            "if possible, or use a part of it"
        )
    table = arrow.ipc.open_file((path.parent / ANSWER).read_bytes()).read_all()
    about: dict[str, Any] = json.loads(table.schema.metadata[b"about"])
    if "refused" in about:
        raise ValueError(about["refused"])
    return table, about


# --- in the process --------------------------------------------------------------------------------------------


def main(what: str, path: Path, limit: int) -> None:
    """Read the file and write the result next to it."""
    import pyarrow.parquet  # noqa: F401  the limit is on what comes after

    os.nice(10)
    try:
        with within_memory(path.name, max(2**30, 16 * limit)):
            columns, about = (_corpus if what == "corpus" else _embeddings)(path, limit)
            _write(path.parent / ANSWER, columns, about)
    except ValueError as reason:
        _write(path.parent / ANSWER, {}, {"refused": str(reason)})


def _write(path: Path, columns: dict[str, Any], about: dict[str, Any]) -> None:
    table = arrow.table(columns).replace_schema_metadata({"about": json.dumps(about, default=_plain)})
    with arrow.ipc.new_file(path, table.schema) as file:
        file.write_table(table)


def _corpus(path: Path, limit: int) -> tuple[dict[str, Any], dict[str, Any]]:
    with collected() as notes:
        corpus = read_corpus(path, limit=limit)
    texts = [*corpus.TEXTS, *filter(None, [corpus.CLASSES]), "splits"]
    values = {each.name: getattr(corpus, each.name) for each in fields(corpus) if each.name not in texts}
    columns = {name: _column(getattr(corpus, name)) for name in texts}
    return columns, {"shape": type(corpus).__name__, "values": values, "notes": notes}


def _column(texts: Sequence[str]) -> Any:
    """Return a column of texts. `arrow.array` would first import pandas, which takes longer than reading the file."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    buffers = arrow.py_buffer(ends), arrow.py_buffer(b"".join(encoded))
    return arrow.LargeStringArray.from_buffers(len(encoded), *buffers)


def _embeddings(path: Path, limit: int) -> tuple[dict[str, Any], dict[str, Any]]:
    sentences, rows = read_embeddings(path, limit=limit)
    if sparse.issparse(rows):
        if (filled := 4 * rows.shape[0] * rows.shape[1]) > limit:
            raise ValueError(
                f"{path.name} has sparse rows of {rows.shape[1]:,} columns, {amount(filled)} if stored densely, "
                f"above the limit of {amount(limit)}; use fewer rows, or reduce them first, for example with LSA"
            )
        rows = rows.toarray()
    columns = {} if sentences is None else {"sentence": arrow.array(sentences, arrow.string())}
    numbers = arrow.array(np.ascontiguousarray(rows).ravel())
    return columns | {"row": arrow.FixedSizeListArray.from_arrays(numbers, rows.shape[1])}, {}


def _plain(value: Any) -> Any:
    """Convert values that JSON lacks: an article to its fields, a date or another library's number to text."""
    return asdict(value) if isinstance(value, Article) else str(value)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
