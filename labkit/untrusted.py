"""A stranger's file, read in a process of its own that may take so much memory and time, and no more.

    corpus_apart("mine.parquet", data, limit)     -> the corpus, and what reading it had to say
    embeddings_apart("mine.npz", data, limit)     -> the sentences or None, and dense rows float32 (n, d)

The readers count what a file unpacks to before they unpack it. But a file can lie about itself, and a decoder can
fall over it. However the process ends, what comes is the result or one sentence, and nobody else notices. Results come
back as JSON, some thousand values at a time, and as an array: nothing is pickled. A small file of plain text, and one
array as it is, are read here: they cannot become large, and a process takes half a second.

    python -m labkit.untrusted corpus|embeddings FILE LIMIT     what runs there: the result lies beside the file

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
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from labkit.atomic import NoRoom, amount, room_for
from labkit.corpora import Article, Articles, Corpus, Section, read_corpus
from labkit.corpora.rows import SHAPES_BY_NAME
from labkit.embedding_files import Embedded, read_embeddings
from labkit.progress import collected

PROGRAM = (sys.executable, "-m", "labkit.untrusted")
MEMORY = 2**30  # bytes that the process may take beside what it has when it starts
SECONDS = 60  # of a core, and twice as many by the clock
LARGEST = 2**26  # bytes of a corpus as JSON: no file of ten megabytes gives more
FOR_A_BYTE, A_SECOND, TIMES = 16, 2**20 // 3, 4  # the same where files may be larger: for each of the limit's bytes
PART = 10_000  # values that are handed over together
IN_PLACE = 2**18  # bytes of plain text that are read without a process
_PLAIN = (".csv", ".tsv", ".txt", ".jsonl")
_TOO_MUCH, _NO_ROOM = 77, 78  # status of a process that took too much memory; that found the disk full
_TURNS = threading.BoundedSemaphore(2)  # processes at a time, of all visitors
_ANSWER, _CORPUS, _ROWS = "answer.json", "corpus.json", "rows.npy"
_UTF8 = ("utf-8", "surrogatepass")
# each thread of a library reserves memory of its own, which the limit counts
_ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


def corpus_apart(name: str, data: bytes, limit: int) -> tuple[Corpus, tuple[str, ...]]:
    """The corpus in a file of that name, and the notes; `limit` bounds its unpacked bytes."""
    plain = len(data) <= IN_PLACE and name.lower().endswith(_PLAIN)
    with _file(name, data) as path:
        if plain:
            with collected() as notes:
                return read_corpus(path, limit=limit), tuple(notes)
        answer = _answer("corpus", path, limit)
        return _unpacked(path.parent / _CORPUS), tuple(answer["notes"])


def embeddings_apart(name: str, data: bytes, limit: int) -> Embedded:
    """The sentences, if the file has them, and a dense row for each; `limit` bounds the bytes of both."""
    with _file(name, data) as path:
        if name.lower().endswith(".npy"):
            return read_embeddings(path, limit=limit)
        answer = _answer("embeddings", path, limit)
        return answer["sentences"], np.load(path.parent / _ROWS, allow_pickle=False)


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
    """What the process found out, or a sentence on how it ended."""
    root = str(Path(__file__).resolve().parents[1])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [*PROGRAM, what, str(path), str(limit)]
    memory, seconds = allowed(what, limit)
    with _TURNS:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | _ALONE | {"PYTHONPATH": paths},
            start_new_session=True,
        )
        try:
            status: int | None = process.wait(2 * seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            process.kill()
            process.wait()
    if status == _NO_ROOM:
        raise NoRoom(path.parent / _CORPUS)
    if status:
        raise ValueError(_ended(path.name, status, memory, seconds))
    if status is None:
        raise ValueError(f"{path.name} could not be read in {2 * seconds} seconds; give a part of it")
    answer: dict[str, Any] = json.loads((path.parent / _ANSWER).read_bytes().decode(*_UTF8))
    if "refused" in answer:
        raise ValueError(answer["refused"])
    return answer


def allowed(what: str, limit: int) -> tuple[int, int]:
    """The bytes of memory and the seconds of a core in which a file of at most `limit` bytes has to be read."""
    if what != "corpus":
        return MEMORY, SECONDS
    return max(MEMORY, FOR_A_BYTE * limit), max(SECONDS, limit // A_SECOND)


def _unpacked(path: Path) -> Corpus:
    """The corpus that the process has left, a part at a time: never all of it as text beside its values.

    What stands in many rows, such as a class, is one text for all of them.
    """
    values: dict[str, Any] = {"extra": {}}
    seen: dict[tuple[str, str], dict[str, str]] = {}
    with path.open("rb") as file:
        for line in file:
            name, column, part = json.loads(line.decode(*_UTF8))
            if column is None:
                values[name] = part
                continue
            place = values["extra"] if name == "extra" else values
            once = seen.setdefault((name, column), {})
            if len(once) <= PART:  # else the column's texts differ
                part = [once.setdefault(each, each) if isinstance(each, str) else each for each in part]
            place.setdefault(column, []).extend(part)
    shape = SHAPES_BY_NAME[values.pop("shape")]
    if shape is Articles:
        values["articles"] = [
            Article(each["title"], tuple(Section(**section) for section in each["sections"]))
            for each in values["articles"]
        ]
    return shape(**values)


def _ended(name: str, status: int, memory: int, seconds: int) -> str:
    """Why there is no answer."""
    if status == _TOO_MUCH:
        return f"{name} takes more than {amount(memory)} of memory to read; give a part of it"
    sign = signal.Signals(-status).name if -status in signal.valid_signals() else f"status {status}"
    if sign == "SIGXCPU":
        return f"{name} could not be read in {seconds} seconds of a core; give a part of it"
    return (
        f"{name} ended the process that read it ({sign}): it is damaged, or takes more memory than there is; save it "
        "anew, as CSV if you can, or give a part of it"
    )


@contextmanager
def within_memory(name: str) -> Iterator[None]:
    """What is read inside takes no more memory than is free now, where the system tells and limits it (Linux)."""
    free = _free()
    before = _limit_memory(free) if free else None
    try:
        yield
    except MemoryError:
        least = f"{amount(free)} that are free"
        if before is not None and 0 <= before[0] < free:  # a batch system's limit, or that of a shell
            least = f"{amount(before[0])} that this process may have"
        raise ValueError(f"{name} takes more memory to read than the {least}; give a part of it") from None
    finally:
        if before is not None:
            import resource

            resource.setrlimit(resource.RLIMIT_AS, before)


def _free() -> int:
    """Bytes of memory that nobody uses; 0 where the system does not say."""
    with suppress(OSError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1])
    return 0


# --- there -----------------------------------------------------------------------------------------------------


def answer_to(what: str, path: Path, limit: int) -> dict[str, Any]:
    """The answer; what is large of it lies beside the file."""
    try:
        if what == "corpus":
            with collected() as notes:
                _pack(read_corpus(path, limit=limit), path, max(LARGEST, TIMES * limit))
            return {"notes": notes}
        sentences, rows = read_embeddings(path, limit=limit)
        _write(path.parent / _ROWS, _dense(path.name, rows, limit))
        return {"sentences": sentences}
    except ValueError as reason:
        return {"refused": str(reason)}


def _pack(corpus: Corpus, path: Path, most: int) -> None:
    """Write the corpus beside the file, a line for each of its `_parts`."""
    written = 0
    with (path.parent / _CORPUS).open("wb") as file:
        for part in _parts(corpus):
            line = json.dumps(part, ensure_ascii=False, default=_plain).encode(*_UTF8) + b"\n"
            written += len(line)
            if written > most:
                file.truncate(0)
                raise ValueError(f"{path.name} holds more than {amount(most)} of texts and numbers; give a part of it")
            file.write(line)


def _parts(corpus: Corpus) -> Iterator[tuple[str, str | None, Any]]:
    """What a corpus consists of: (field, column, some of the column's values), and (field, None, value) of the rest."""
    yield "shape", None, type(corpus).__name__
    for each in fields(corpus):
        value = getattr(corpus, each.name)
        if not isinstance(value, tuple | dict):
            yield each.name, None, value
            continue
        for column, values in value.items() if isinstance(value, dict) else [(each.name, value)]:
            for start in range(0, len(values), PART):
                yield each.name, column, values[start : start + PART]


def _plain(value: Any) -> Any:
    """What JSON has no word for: an article as its fields, a date or a number of another library as text."""
    return asdict(value) if isinstance(value, Article) else str(value)


def _dense(name: str, rows: Any, limit: int) -> np.ndarray:
    if not sparse.issparse(rows):
        return np.ascontiguousarray(rows)
    if (filled := 4 * rows.shape[0] * rows.shape[1]) > limit:
        raise ValueError(
            f"{name} has sparse rows of {rows.shape[1]:,} columns, {amount(filled)} when they are filled up, the limit "
            f"is {amount(limit)}; give fewer rows, or reduce them first, with LSA for example"
        )
    return np.ascontiguousarray(rows.toarray())


def _write(path: Path, rows: np.ndarray) -> None:
    """Write as numpy.save does, which forgets why it failed where a disk is full."""
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(rows))
        file.write(rows.data)


def limit_process(memory: int, seconds: int) -> None:
    """So much more memory than now, and so many seconds of a core, as far as the system can say no.

    Linux refuses what is too much. macOS does not: there, a thread looks every moment at the most that was held.
    Windows does neither: there, what the readers count must do, and the clock.
    """
    with suppress(OSError):  # where memory ends for all, this process goes before the app that waits for it
        Path("/proc/self/oom_score_adj").write_text("1000")
    with suppress(AttributeError, OSError):
        os.nice(10)
    try:
        import resource
    except ImportError:
        return
    _limit(resource.RLIMIT_CPU, seconds)
    _limit_memory(memory)
    threading.Thread(target=_watch, args=(memory,), daemon=True).start()


def _limit_memory(memory: int) -> tuple[int, int] | None:
    """So much more than now, where the system says how much that is; the limits before."""
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return None
    before = resource.getrlimit(resource.RLIMIT_AS)
    _limit(resource.RLIMIT_AS, pages * resource.getpagesize() + memory)
    return before


def _limit(what: int, most: int) -> None:
    """Allow at most so much, or what was allowed anyway, if that is less."""
    import resource

    allowed = resource.getrlimit(what)
    least = min([most, *(limit for limit in allowed if limit != resource.RLIM_INFINITY)])
    with suppress(ValueError, OSError):
        resource.setrlimit(what, (least, allowed[1]))


def _watch(memory: int) -> None:
    first = _held()
    while _held() - first <= memory:
        time.sleep(0.02)
    os._exit(_TOO_MUCH)


def _held() -> int:
    """Bytes of memory in use; where the system does not say, the most there ever were."""
    import resource

    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main(what: str, file: str, limit: str) -> None:
    """Read, and leave the answer beside the file."""
    import pyarrow.parquet  # noqa: F401  the limit is on what comes after

    limit_process(*allowed(what, int(limit)))
    path = Path(file)
    try:
        with room_for(path):
            answer = json.dumps(answer_to(what, path, int(limit))).encode()
            (path.parent / _ANSWER).write_bytes(answer)
    except MemoryError:
        os._exit(_TOO_MUCH)  # nothing more can be relied on
    except NoRoom:
        os._exit(_NO_ROOM)


if __name__ == "__main__":
    main(*sys.argv[1:])
