"""A stranger's file, read in a process of its own that may take only so much memory and time.

    corpus_apart("mine.parquet", data, limit)     -> the corpus, and what reading it had to say
    embeddings_apart("mine.npz", data, limit)     -> the sentences or None, and dense rows float32 (n, d)

The readers count what a file unpacks to before they unpack it. But a file can lie about itself, and a decoder can crash
on it. However the process ends, what comes is the result or one sentence. Results come back as JSON and as an array:
nothing is pickled. A small file of plain text, and one array as it is, are read here: they cannot become large.

    python -m labkit.untrusted corpus|embeddings FILE LIMIT     what runs there: the result is written beside the file

On the command line, where a process is one person's own, a file is read in it, within the memory that is free.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.atomic import amount, room_for
from labkit.corpora import Article, Articles, Corpus, Section, read_corpus
from labkit.corpora.rows import SHAPES_BY_NAME
from labkit.embedding_files import Embedded, read_embeddings
from labkit.progress import collected

PROGRAM = (sys.executable, "-m", "labkit.untrusted")
MEMORY, SECONDS = 2**30, 120  # that a process may take beside what it has when it starts, by the clock
FOR_A_BYTE, A_SECOND = 16, 2**18  # the same where the limit is large: memory for each of its bytes, bytes in a second
TIMES = 8  # the limit, at most, of a result as JSON
IN_PLACE = 2**18  # bytes of plain text that are read without a process
_PLAIN = (".csv", ".tsv", ".txt", ".jsonl")
_TOO_MUCH = 77  # exit status of a process that ran out of memory
_TURNS = threading.BoundedSemaphore(2)  # processes at a time, of all visitors
_ANSWER, _ROWS = "answer.json", "rows.npy"
_UTF8 = ("utf-8", "surrogatepass")
# each thread of a library reserves memory of its own, which the limit counts
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def corpus_apart(name: str, data: bytes, limit: int) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus in a file of that name, and the notes; `limit` bounds its unpacked bytes."""
    with _file(name, data) as path:
        if len(data) <= IN_PLACE and name.lower().endswith(_PLAIN):
            with collected() as notes:
                return read_corpus(path, limit=limit), tuple(notes)
        answer = _answer("corpus", path, limit)
        return _corpus(answer["corpus"]), tuple(answer["notes"])


def embeddings_apart(name: str, data: bytes, limit: int) -> Embedded:
    """The sentences, if the file has them, and a dense row for each; `limit` bounds the bytes of both."""
    with _file(name, data) as path:
        if name.lower().endswith(".npy"):
            return read_embeddings(path, limit=limit)
        answer = _answer("embeddings", path, limit)
        return answer["sentences"], np.load(path.parent / _ROWS, allow_pickle=False)


@contextmanager
def within_memory(name: str) -> Iterator[None]:
    """Let reading a file take at most the memory that is free now, where the system tells and limits it (Linux)."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    except (OSError, StopIteration):
        yield
        return
    try:
        with _at_most(free):
            yield
    except MemoryError:
        raise ValueError(
            f"{name} takes more memory to read than the {amount(free)} that are free; give a part of it"
        ) from None


# --- here ------------------------------------------------------------------------------------------------------


@contextmanager
def _file(name: str, data: bytes) -> Iterator[Path]:
    """The file in a folder of its own, which is gone afterwards, and is named in no complaint."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(name).name[-100:]
        with room_for(path):
            path.write_bytes(data)
        try:
            yield path
        except ValueError as reason:
            raise ValueError(str(reason).replace(f"{folder}{os.sep}", "")) from None


def _answer(what: str, path: Path, limit: int) -> dict[str, Any]:
    """What the process found out; a ValueError says why there is nothing."""
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    seconds = max(SECONDS, limit // A_SECOND)
    with _TURNS:
        try:
            status = subprocess.run(
                [*PROGRAM, what, str(path), str(limit)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ | _ALONE | {"PYTHONPATH": paths},
                start_new_session=True,
                timeout=seconds,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            raise ValueError(f"{path.name} could not be read in {seconds} seconds; give a part of it") from None
    if status == _TOO_MUCH:
        raise ValueError(f"{path.name} takes more than {amount(_memory(limit))} of memory to read; give a part of it")
    if status:
        sign = signal.Signals(-status).name if -status in signal.valid_signals() else f"status {status}"
        raise ValueError(
            f"{path.name} ended the process that read it ({sign}): it is damaged, or takes more memory than there is; "
            "save it again, as CSV if you can, or give a part of it"
        )
    file = path.parent / _ANSWER
    if file.stat().st_size > (most := max(2**26, TIMES * limit)):
        raise ValueError(f"{path.name} holds more than {amount(most)} of texts and numbers; give a part of it")
    answer: dict[str, Any] = json.loads(file.read_bytes().decode(*_UTF8))
    if "refused" in answer:
        raise ValueError(answer["refused"])
    return answer


def _memory(limit: int) -> int:
    return max(MEMORY, FOR_A_BYTE * limit)


def _corpus(values: dict[str, Any]) -> Corpus:
    shape = SHAPES_BY_NAME[values.pop("shape")]
    if shape is Articles:
        values["articles"] = [
            Article(each["title"], tuple(Section(**section) for section in each["sections"]))
            for each in values["articles"]
        ]
    return shape(**values)


# --- there -----------------------------------------------------------------------------------------------------


def answer_to(what: str, path: Path, limit: int) -> dict[str, Any]:
    """The answer, ready for JSON; vectors are written beside the file."""
    try:
        if what == "corpus":
            with collected() as notes:
                corpus = read_corpus(path, limit=limit)
            values = {each.name: getattr(corpus, each.name) for each in fields(corpus)}
            return {"corpus": {"shape": type(corpus).__name__, **values}, "notes": notes}
        sentences, rows = read_embeddings(path, limit=limit)
        np.save(path.parent / _ROWS, _dense(path.name, rows, limit))
        return {"sentences": sentences}
    except ValueError as reason:
        return {"refused": str(reason)}


def _dense(name: str, rows: Any, limit: int) -> np.ndarray:
    if not sparse.issparse(rows):
        return np.asarray(rows)
    if (filled := 4 * rows.shape[0] * rows.shape[1]) > limit:
        raise ValueError(
            f"{name} has sparse rows of {rows.shape[1]:,} columns, {amount(filled)} when they are filled up, the limit "
            f"is {amount(limit)}; give fewer rows, or reduce them first, with LSA for example"
        )
    return np.asarray(rows.toarray())


@contextmanager
def _at_most(more: int) -> Iterator[None]:
    """Let this process take so much more memory than now, where the system limits it (Linux)."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(OSError, ValueError):  # no /proc, as on macOS
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        allowed = [each for each in before if each != resource.RLIM_INFINITY]
        least = min([pages * resource.getpagesize() + more, *allowed])
        resource.setrlimit(resource.RLIMIT_AS, (least, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def main(what: str, file: str, limit: str) -> None:
    """Read, and write the answer beside the file."""
    import pyarrow.parquet  # noqa: F401  the limit is on what comes after

    os.nice(10)
    path = Path(file)
    try:
        with _at_most(_memory(int(limit))):
            answer = json.dumps(answer_to(what, path, int(limit)), ensure_ascii=False, default=_plain)
            (path.parent / _ANSWER).write_bytes(answer.encode(*_UTF8))
    except MemoryError:
        os._exit(_TOO_MUCH)  # nothing more can be relied on


def _plain(value: Any) -> Any:
    """What JSON has no word for: an article as its fields, a date or a number of another library as text."""
    return asdict(value) if isinstance(value, Article) else str(value)


if __name__ == "__main__":
    main(*sys.argv[1:])
