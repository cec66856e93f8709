"""Output of commands. Results go to standard output, as text or JSON. Everything else goes to standard error, depending
on `--quiet` and `--verbose`."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import typer

from labkit import progress
from labkit.atomic import amount
from labkit.interrupts import interruptible
from labkit.progress import first_process

#: fragments of the RuntimeError that torch raises when memory runs out
_NO_MEMORY = ("can't allocate memory", "out of memory", "bad_alloc", "ALLOC_FAILED")
DEAD_PIPE = 141  # the status of a program killed by SIGPIPE

_chosen: set[str] = set()  # of quiet, verbose and json


class Stopped(Exception):
    """Ctrl-C or SIGTERM, with a one-line message and the exit status."""

    def __init__(self, sentence: str, status: int = 130) -> None:
        super().__init__(sentence)
        self.status = status


def resumes() -> str:
    """The message with the command to resume."""
    return f"stopped; run `{shlex.join(['labkit', *sys.argv[1:]])}` to resume"


@contextmanager
def resumable(message: Callable[[], str] = resumes) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into a message and an exit status."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt as stop:
        raise Stopped(message(), getattr(stop, "status", 130)) from None


def forget() -> None:
    """Forget what an earlier call in this process chose."""
    _chosen.clear()
    progress.hush(False)


def choose(wanted: str) -> None:
    """Print less ("quiet": only results and errors), more ("verbose": every step) or results as JSON ("json")."""
    if {"quiet", "verbose"} <= {wanted, *_chosen}:
        raise ValueError("--quiet and --verbose cannot be combined; omit one")
    _chosen.add(wanted)
    progress.hush(chosen("quiet"))
    if wanted == "verbose":  # the versions of everything that results depend on
        from labkit.runs import versions

        detail(", ".join(f"{name} {version}" for name, version in versions().items()))


def chosen(what: str) -> bool:
    """Whether the user has given --quiet, --verbose or --json."""
    return what in _chosen


def remark(line: str) -> None:
    """Print a line that is not a result, above the progress bar if there is one."""
    if not chosen("quiet") and first_process():
        from tqdm import tqdm

        tqdm.write(line, file=sys.stderr)


def detail(line: str) -> None:
    """Print a line if --verbose is given."""
    if chosen("verbose"):
        remark(f"labkit: {line}")


@contextmanager
def step(what: str) -> Iterator[None]:
    """Run the block; with --verbose, print its time and the peak memory so far."""
    began = time.monotonic()
    yield
    detail(f"{what}: {time.monotonic() - began:.2f} s{_peak()}")


def _peak() -> str:
    with suppress(ImportError):  # not on every system
        import resource

        unit = 1 if platform.system() == "Darwin" else 1024
        return f", peak memory {amount(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)}"
    return ""


def show_result(record: Any, text: str) -> None:
    """Print the result of a command, as text or as one JSON document."""
    with standard_output():
        typer.echo(_json_text(json_value(record)) if chosen("json") else text)


@contextmanager
def standard_output() -> Iterator[None]:
    """End quietly when the reader stops (`| head`); turn a full disk into a one-line error."""
    try:
        yield
    except OSError as reason:
        with suppress(OSError, ValueError, AttributeError):  # nobody reads what is buffered
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(reason, BrokenPipeError):
            raise typer.Exit(DEAD_PIPE) from None
        raise ValueError(
            f"cannot write to standard output ({reason.strerror or reason}); free some space or redirect it elsewhere"
        ) from reason


def _json_text(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # a lone surrogate, or a terminal with a small character set
        return json.dumps(value, indent=2, allow_nan=False)
    return text


def json_value(value: Any) -> Any:
    """Convert a value to one that JSON can represent; NaN and infinity become None."""
    if dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(name): json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    value = value.item() if hasattr(value, "item") else value  # a numpy number
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def memory_sentence(reason: BaseException) -> str | None:
    """A message for an out-of-memory error of Python, numpy or torch; None for other errors."""
    message = " ".join(str(reason).split())
    if not isinstance(reason, MemoryError) and not any(words in message for words in _NO_MEMORY):
        return None
    what = f" ({message[:120].rstrip('.')})" if message else ""
    return f"not enough memory{what}; use fewer rows, a smaller batch, shorter vectors or a larger machine"


def text_table(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """A text table whose columns fit their widest cell; the columns in `right` are right-aligned.

    >>> print(text_table([["name", "hit@1"], ["tfidf", "0.5"]], right=[1]))
    name   hit@1
    tfidf    0.5
    """
    widths, flush = [max(map(len, cells)) for cells in zip(*rows, strict=True)], set(right)
    lines = (
        "  ".join(f"{cell:{'>' if place in flush else '<'}{widths[place]}}" for place, cell in enumerate(row))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
