"""Output of commands: results on standard output, as text or JSON; everything else on standard error, depending on
`--quiet` and `--verbose`."""

from __future__ import annotations

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

_verbosity = ""


class Stopped(Exception):
    """Ctrl-C or SIGTERM, with a one-line message and the exit status."""

    def __init__(self, sentence: str, status: int = 130) -> None:
        super().__init__(sentence)
        self.status = status


def resumes(kept: str = "") -> str:
    """The message with the command that resumes; `kept` says where the results so far are."""
    return f"stopped; {kept}run `{shlex.join(['labkit', *sys.argv[1:]])}` to resume"


@contextmanager
def resumable(message: Callable[[], str] = resumes) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into a message and an exit status."""
    try:
        with interruptible():
            yield
    except KeyboardInterrupt as stop:
        raise Stopped(message(), getattr(stop, "status", 130)) from None


# --- on standard error -------------------------------------------------------------------------------------------


def set_verbosity(wanted: str = "") -> None:
    """Print only results and errors ("quiet"), or also every step ("verbose")."""
    global _verbosity
    if wanted and _verbosity not in ("", wanted):
        raise ValueError("--quiet and --verbose cannot be combined; omit one")
    _verbosity = wanted
    progress.hush(wanted == "quiet")
    if wanted == "verbose":  # the versions of everything that results depend on
        from labkit.runs import versions

        detail(", ".join(f"{name} {version}" for name, version in versions().items()))


def verbose() -> bool:
    """Whether to print steps, versions and tracebacks."""
    return _verbosity == "verbose"


def remark(line: str) -> None:
    """Print a line that is not a result."""
    if _verbosity != "quiet" and first_process():
        typer.echo(line, err=True)


def above_bar(line: str) -> None:
    """Print a line that is not a result above the progress bar."""
    from tqdm import tqdm

    if _verbosity != "quiet" and first_process():
        tqdm.write(line, file=sys.stderr)


def detail(line: str) -> None:
    """Print a line if --verbose is given."""
    if verbose() and first_process():
        typer.echo(f"labkit: {line}", err=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Run the block; with --verbose, print its time and the peak memory so far."""
    began = time.monotonic()
    yield
    if verbose():
        detail(f"{what}: {time.monotonic() - began:.2f} s{_peak()}")


def _peak() -> str:
    with suppress(ImportError):  # not on every system
        import resource

        unit = 1 if platform.system() == "Darwin" else 1024
        return f", peak memory {amount(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)}"
    return ""


# --- on standard output ------------------------------------------------------------------------------------------


def show_result(record: Any, text: str, *, json: bool) -> None:
    """Print the result of a command, as text or as one JSON document."""
    write_output(json_text(record) if json else text)


def write_output(text: str) -> None:
    """Print a result on standard output."""
    with standard_output():
        typer.echo(text)


@contextmanager
def standard_output() -> Iterator[None]:
    """End quietly when the reader stops (`| head`); turn a full disk into a one-line error."""
    try:
        yield
    except BrokenPipeError:
        _discard_output()
        raise typer.Exit(DEAD_PIPE) from None
    except OSError as reason:
        _discard_output()
        raise ValueError(
            f"cannot write to standard output ({reason.strerror or reason}); free some space or redirect it elsewhere"
        ) from reason


def _discard_output() -> None:
    """Discard buffered output that nobody reads, so that Python exits silently."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_text(record: Any) -> str:
    """A JSON document, with null for NaN and infinity."""
    text = json.dumps(json_value(record), indent=2, ensure_ascii=False, allow_nan=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:  # a lone surrogate, or a terminal with a small character set
        text = json.dumps(json_value(record), indent=2, allow_nan=False)
    return text


def json_value(value: Any) -> Any:
    """The value as JSON can represent it, with None for NaN and infinity."""
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
    return (
        f"not enough memory{what}; use fewer rows, a smaller batch or shorter vectors, close other programs, or use a "
        "larger machine"
    )


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
