"""What commands write: results on standard output, for people or as JSON; all else on standard error, as much as
`--quiet` and `--verbose` ask for."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import typer

from labkit import progress
from labkit.atomic import amount
from labkit.progress import first_process

#: parts of what torch says where there is no memory, which it calls a RuntimeError
_NO_MEMORY = ("can't allocate memory", "out of memory", "bad_alloc", "ALLOC_FAILED")
DEAD_PIPE = 141  # as a program ends that the system stops for writing where nobody reads

_quiet = _verbose = False


class Stopped(Exception):
    """Ctrl-C or SIGTERM, with what there is to say about it, in one line; `status` is that of the program."""

    def __init__(self, sentence: str, status: int = 130) -> None:
        super().__init__(sentence)
        self.status = status


# --- on standard error -------------------------------------------------------------------------------------------


def set_verbosity(*, quiet: bool = False, verbose: bool = False) -> None:
    """Say results and mistakes only (`quiet`), or every step as well (`verbose`), or what is usual, from now on."""
    global _quiet, _verbose
    if quiet and verbose:
        raise ValueError("--quiet and --verbose exclude each other: one says less, one says more; leave one out")
    _quiet, _verbose = quiet, verbose
    progress.hush(quiet)


def quiet() -> bool:
    """Whether only results and mistakes are asked for."""
    return _quiet


def verbose() -> bool:
    """Whether steps, versions and the tracebacks of mistakes are asked for."""
    return _verbose


def remark(line: str) -> None:
    """Write a line that is no result."""
    if not _quiet and first_process():
        typer.echo(line, err=True)


def detail(line: str) -> None:
    """Write a line for those who ask for more."""
    if _verbose and first_process():
        typer.echo(f"labkit: {line}", err=True)


def detail_versions() -> None:
    """Name the versions of all that figures depend on, for those who ask for more."""
    if _verbose:
        from labkit.runs import versions

        detail(", ".join(f"{name} {version}" for name, version in versions().items()))


@contextmanager
def step(what: str) -> Iterator[None]:
    """Do the work of the block; with --verbose say how long it took and how much memory was used at most by then."""
    began = time.monotonic()
    yield
    if _verbose:
        detail(f"{what}: {time.monotonic() - began:.2f} s{_peak()}")


def _peak() -> str:
    with suppress(ImportError):  # some systems do not count it
        import resource

        unit = 1 if platform.system() == "Darwin" else 1024
        return f", at most {amount(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)} of memory until here"
    return ""


# --- on standard output ------------------------------------------------------------------------------------------


def show_result(record: Any, text: str, *, json: bool) -> None:
    """Write what a command has found out in one piece: as text, or as one JSON document."""
    write_output(json_text(record) if json else text)


def write_output(text: str) -> None:
    """Write a result on standard output."""
    with standard_output():
        typer.echo(text)


@contextmanager
def standard_output() -> Iterator[None]:
    """Guard what is written there: whoever stops reading (`| head`) ends it quietly, a full disk is a sentence."""
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        raise typer.Exit(DEAD_PIPE) from None
    except OSError as reason:
        _discard_output()
        raise ValueError(
            f"standard output cannot be written to ({reason.strerror or reason}); make room, or send it elsewhere"
        ) from reason


def _discard_output() -> None:
    """Discard what still waits for standard output, which nobody reads any more, so that Python ends without a word."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_text(record: Any) -> str:
    """One document that every program can read: null in the place of what is not a number."""
    text = json.dumps(json_value(record), indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # half a character, or a terminal with few
        text = json.dumps(json_value(record), indent=2, allow_nan=False)
    return text


def json_value(value: Any) -> Any:
    """The value as JSON may hold it: None in the place of what is not a number."""
    if isinstance(value, Mapping):
        return {str(name): json_value(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    if hasattr(value, "item"):  # a number of numpy's
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def memory_sentence(reason: BaseException) -> str | None:
    """What to do where memory did not suffice, for Python, numpy or torch on its devices; None for other mistakes."""
    message = " ".join(str(reason).split())
    if not isinstance(reason, MemoryError) and not any(words in message for words in _NO_MEMORY):
        return None
    what = f" ({message[:120].rstrip('.')})" if message else ""
    return (
        f"there is not enough memory{what}; give fewer rows, a smaller batch or shorter vectors, close other "
        "programs, or take a machine with more"
    )


def text_table(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """Rows of cells, each column as wide as its widest cell; the columns `right` are flush right.

    >>> print(text_table([["name", "hit@1"], ["tfidf", "0.5"]], right=[1]))
    name   hit@1
    tfidf    0.5
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    flush = set(right)
    lines = (
        "  ".join(
            cell.rjust(width) if place in flush else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
