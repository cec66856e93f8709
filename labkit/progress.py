"""One callback for everything that takes longer than a second: `progress(done, total, what)`.

Library code calls it and draws nothing; terminal, notebook and app each hand in a drawer of their own. `total` is
None where the end is not known. Work that nobody watches gets `silent`.

What there is to say beside a result, in a sentence, is a `note`: it goes to whoever collects the notes of this call.

    with collected() as notes:
        corpus = read_corpus("mine.csv")
    print(notes)
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from labkit.atomic import amount

# --- progress ----------------------------------------------------------------------------------------------------

Progress = Callable[[int, int | None, str], None]
NOTED = "LABKIT_BAR"  # in the environment: a file that another program reads, in the place of a terminal
BAR = 20  # characters of a bar that is written as text
MINUTE = 60.0  # seconds between two lines where nobody looks on

_hushed = False
_last_line: float | None = None  # while a command runs: of the whole of it, however many pieces its work has


def silent(done: int, total: int | None, what: str) -> None:
    """Draw nothing at all."""


def first_process() -> bool:
    """Whether this process speaks: of those that `torchrun` starts only the first does."""
    return os.environ.get("RANK", "0") == "0"


def hush(quiet: bool = True) -> None:
    """Whether `terminal` draws nothing from now on: `labkit --quiet`."""
    global _hushed
    _hushed = quiet


@contextmanager
def terminal(unit: str = "") -> Iterator[Progress]:
    """A bar on standard error with the time left, after a second; a line a minute where standard error is a file."""
    if noted := os.environ.get(NOTED):
        yield noting(Path(noted))
        return
    if _hushed or sys.stderr is None or not first_process():
        yield silent
        return
    if not sys.stderr.isatty():
        yield each_minute(unit)
        return
    from tqdm import tqdm

    bar: tqdm | None = None

    def draw(done: int, total: int | None, what: str) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(total=total, unit=unit, unit_scale=True, delay=1, leave=False, disable=None)
        bar.set_description(what, refresh=False)
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield draw
    finally:
        if bar is not None:
            bar.close()


@contextmanager
def in_notebook(name: str = "", *, every: float = 0.5) -> Iterator[Progress]:
    """A bar of text in a cell's output, drawn over itself; its last state stays in the saved notebook, without times.

    `name` stands before what is told: which of several trainings this is.
    """
    from IPython.display import display

    began, last, text, shown = time.monotonic(), -every, "", None

    def put(line: str) -> None:
        nonlocal shown
        if shown is None:
            shown = display({"text/plain": line}, raw=True, display_id=True)
        else:
            shown.update({"text/plain": line}, raw=True)

    def draw(done: int, total: int | None, what: str) -> None:
        nonlocal last, text
        now, share = time.monotonic(), min(1.0, done / total) if total else 0.0
        full = round(BAR * share)
        text = f"{'█' * full}{'░' * (BAR - full)} {f'{name}, ' if name else ''}{what}"
        if now - last >= every:
            last = now
            left = f", {(now - began) * (1 - share) / share:.0f} s left" if share else ""
            put(text + left)

    try:
        yield draw
    finally:
        if text:
            put(text)


class _Pace:
    """How long is left, at the pace since this piece of work began."""

    def __init__(self) -> None:
        self._began, self._first = time.monotonic(), 0
        self._of: int | None = None

    def begun(self, done: int, total: int | None) -> bool:
        """Whether this is other work than before, whose pace is its own."""
        if total == self._of and done >= self._first:
            return False
        self._began, self._first, self._of = time.monotonic(), done, total
        return True

    def left(self, done: int, total: int | None) -> float | None:
        """Seconds, where they can be known."""
        if total is None or done <= self._first:
            return None
        return (time.monotonic() - self._began) / (done - self._first) * (total - done)


@contextmanager
def counting_minutes() -> Iterator[None]:
    """Around a command: its minutes are counted over all pieces of its work, and not anew in each."""
    global _last_line
    _last_line = time.monotonic()
    try:
        yield
    finally:
        _last_line = None


def each_minute(unit: str = "") -> Progress:
    """A plain line on standard error once a minute: for a log, in which a bar would be rubbish."""
    pace, last = _Pace(), time.monotonic()

    def tell(done: int, total: int | None, what: str) -> None:
        nonlocal last
        global _last_line
        pace.begun(done, total)
        now = time.monotonic()
        if now - (last if _last_line is None else _last_line) >= MINUTE:
            last = now
            if _last_line is not None:
                _last_line = now
            print(f"labkit: {_line(unit, done, total, what, pace.left(done, total))}", file=sys.stderr, flush=True)

    return tell


def _line(unit: str, done: int, total: int | None, what: str, left: float | None) -> str:
    """How far the work is, as a line.

    >>> _line("batch", 1200, 4800, "epoch 2 of 8, loss 0.4", 95.0)
    'epoch 2 of 8, loss 0.4 (batch 1,200 of 4,800, 1.6 min left)'
    >>> _line("B", 2**21, None, "encoding", None)
    'encoding (2 MB)'
    """
    shown = amount if unit == "B" else "{:,}".format
    far = shown(done) if total is None else f"{shown(done)} of {shown(total)}"
    far = far if unit == "B" else f"{far} s" if unit == "s" else f"{unit} {far}".strip()
    return f"{what} ({far}{'' if left is None else f', {lasting(left)} left'})"


def lasting(seconds: float) -> str:
    """Say a span of time as people do.

    >>> lasting(8), lasting(95), lasting(600), lasting(9000)
    ('8 s', '1.6 min', '10 min', '2.5 h')
    """
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    number, unit = (seconds / 60, "min") if seconds < 3600 else (seconds / 3600, "h")
    return f"{number:.2g} {unit}" if number < 10 else f"{number:.0f} {unit}"


def noting(path: Path, *, every: float = 0.5) -> Progress:
    """Write into a file, again and again: {"done", "total", "what", "left"}, the last in seconds or null."""
    pace, last = _Pace(), -every

    def note(done: int, total: int | None, what: str) -> None:
        nonlocal last
        now = time.monotonic()
        if not pace.begun(done, total) and now - last < every and done != total:
            return
        last = now
        beside = path.with_name(path.name + ".new")
        with suppress(OSError):  # a full disk: it is the training that says so, where it matters
            state = {"done": done, "total": total, "what": what, "left": pace.left(done, total)}
            beside.write_text(json.dumps(state), encoding="utf-8")
            beside.replace(path)

    return note


# --- notes -------------------------------------------------------------------------------------------------------

_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)  # each thread has its own


def note(text: str, *, stacklevel: int = 1) -> None:
    """Give a sentence to whoever collects notes; where nobody does, it is a `UserWarning`.

    Warnings belong to the whole process: of two visitors of the app whose files were read at once, one would be told
    what is wrong with the other's. `stacklevel` counts from the caller, as that of `warnings.warn`.
    """
    notes = _NOTES.get()
    if notes is None:
        warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)
    else:
        notes.append(text)


@contextmanager
def collected() -> Iterator[list[str]]:
    """The notes of all that is called inside, in this thread."""
    notes: list[str] = []
    before = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(before)
