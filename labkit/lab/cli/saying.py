"""How commands speak: results on standard output, for people or as JSON; all else on standard error, as much as is
asked for (`--quiet`, `--verbose`)."""

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
from labkit.folders import amount
from labkit.progress import first_process

#: in what torch says where there is no memory, which it calls a RuntimeError
_WANTED = ("can't allocate memory", "out of memory", "bad_alloc", "ALLOC_FAILED")
DEAD_PIPE = 141  # as a program ends that the system stops for writing where nobody reads

_quiet = _verbose = False


# --- how much --------------------------------------------------------------------------------------------------


def speak(*, less: bool = False, more: bool = False) -> None:
    """From now on: results and mistakes only, or also every step, or as ever."""
    global _quiet, _verbose
    if less and more:
        raise ValueError("--quiet and --verbose exclude each other: one says less, one says more; leave one out")
    _quiet, _verbose = less, more
    progress.hush(less)


def quiet() -> bool:
    """Whether only results and mistakes are asked for."""
    return _quiet


def verbose() -> bool:
    """Whether steps, versions and the tracebacks of mistakes are asked for."""
    return _verbose


def remark(line: str) -> None:
    """A line on standard error that is no result."""
    if not _quiet and first_process():
        typer.echo(line, err=True)


def detail(line: str) -> None:
    """A line on standard error for those who ask for more."""
    if _verbose and first_process():
        typer.echo(f"labkit: {line}", err=True)


def about() -> None:
    """With --verbose: what runs here."""
    if _verbose:
        from labkit.runs import versions

        detail(", ".join(f"{name} {found}" for name, found in versions().items()))


@contextmanager
def step(what: str) -> Iterator[None]:
    """Work of which --verbose says how long it took and how much memory the program had at most by then."""
    began = time.monotonic()
    yield
    if _verbose:
        detail(f"{what}: {time.monotonic() - began:.2f} s{_peak()}")


def _peak() -> str:
    with suppress(ImportError):  # a system that does not count it
        import resource

        unit = 1 if platform.system() == "Darwin" else 1024
        return f", at most {amount(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)} of memory until here"
    return ""


# --- results ---------------------------------------------------------------------------------------------------


def answer(record: Any, text: str, *, json: bool) -> None:
    """What a command has found out, in one piece: as text, or as one JSON document."""
    said(as_json(record) if json else text)


def said(text: str) -> None:
    """A result on standard output."""
    with standard_output():
        typer.echo(text)


@contextmanager
def standard_output() -> Iterator[None]:
    """Around all that is written there: whoever stops reading (`| head`) ends it quietly, a full disk is a sentence."""
    try:
        yield
    except BrokenPipeError:
        _lose_output()
        raise typer.Exit(DEAD_PIPE) from None
    except OSError as reason:
        _lose_output()
        raise ValueError(
            f"standard output cannot be written to ({reason.strerror or reason}); make room, or send it elsewhere"
        ) from reason


def _lose_output() -> None:
    """Nobody reads standard output any more: what still waits for it goes nowhere, without a word when Python ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def as_json(record: Any) -> str:
    """One document that every program can read: none in the place of what is not a number."""
    made = json.dumps(_plain(record), indent=2, ensure_ascii=False, allow_nan=False)
    try:
        made.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # half a character, or a terminal with few
        made = json.dumps(_plain(record), indent=2, allow_nan=False)
    return made


def _plain(value: Any) -> Any:
    """As JSON may hold it."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):  # a number of numpy's
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return str(value) if isinstance(value, Path) else value


def finite(figures: Mapping[str, float]) -> dict[str, float | None]:
    """The figures as JSON may hold them: none in the place of what is not a number."""
    return {name: value if math.isfinite(value) else None for name, value in figures.items()}


def figures_line(figures: Mapping[str, float]) -> str:
    """All of them in one line.

    >>> figures_line({"epoch": 3, "loss": 0.123456, "dev_auc": 0.9})
    'epoch 3, loss 0.1235, dev_auc 0.9'
    """
    return ", ".join(f"{name} {value:.4g}" for name, value in figures.items())


def no_memory(reason: BaseException) -> str | None:
    """The sentence about a want of memory, whoever wanted it: Python, numpy, or torch on its devices; else None."""
    said = " ".join(str(reason).split())
    if not isinstance(reason, MemoryError) and not any(words in said for words in _WANTED):
        return None
    what = f" ({said[:120].rstrip('.')})" if said else ""
    return (
        f"there is not enough memory{what}; give fewer rows, a smaller batch or shorter vectors, close other "
        "programs, or take a machine with more"
    )


def columns(rows: Sequence[Sequence[str]], *, right: Iterable[int] = ()) -> str:
    """Rows of cells, each column as wide as its widest cell; the columns `right` are flush right.

    >>> print(columns([["name", "hit@1"], ["tfidf", "0.5"]], right=[1]))
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
