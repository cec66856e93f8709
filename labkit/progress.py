"""A callback for work that takes longer than a second: `progress(done, total, what)`.

Library code calls it and draws nothing; terminal, notebook and app each draw in their own way. `total` is None if the
end is unknown. `silent` draws nothing.

A `note` is a sentence that accompanies a result. It goes to the caller that collects notes, if there is one.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

# --- progress ----------------------------------------------------------------------------------------------------

Progress = Callable[[int, int | None, str], None]
NOTED = "LABKIT_BAR"  # environment variable: a file to write the progress to, for another program
BAR = 20  # characters of a bar of text
EVERY = 0.5  # seconds between two states of a file or a cell's output
MINUTE = 60.0  # seconds between two lines in a log

_hushed = False
_last_line = time.monotonic()  # time of the last line in the log, for all work of this process


def silent(done: int, total: int | None, what: str) -> None:
    """Draw nothing."""


def first_process() -> bool:
    """Return whether this process reports progress: only the first of the processes started by `torchrun` does."""
    return os.environ.get("RANK", "0") == "0"


def hush(quiet: bool = True) -> None:
    """Set whether `terminal` is silent from now on, as with `labkit --quiet`."""
    global _hushed
    _hushed = quiet


@contextmanager
def terminal(unit: str = "") -> Iterator[Progress]:
    """After a second, show a bar with the time left; if standard error is a file, print a line every minute."""
    noted = os.environ.get(NOTED)
    if not noted and (_hushed or sys.stderr is None or not first_process()):
        yield silent
        return
    import tqdm
    import tqdm.auto

    in_kernel = tqdm.auto.tqdm.__module__ == "tqdm.auto"  # otherwise it is the bar for terminals
    drawn = not noted and (in_kernel or sys.stderr.isatty())
    kind = tqdm.auto.tqdm if drawn else tqdm.tqdm
    tell = None if drawn else _noting(Path(noted)) if noted else _each_minute
    bar: Any = None

    def draw(done: int, total: int | None, what: str) -> None:
        nonlocal bar
        if bar is None or done < bar.n:  # different work, at a different pace
            if bar is not None:
                bar.close()
            file = None if drawn else io.StringIO()
            bar = kind(total=total, initial=done, unit=unit, unit_scale=unit == "B", delay=1, leave=False, file=file)
        bar.total = total
        bar.bar_format = None if done or total is not None else "{desc}{elapsed}"  # nothing is counted
        bar.set_description(what, refresh=False)
        bar.update(done - bar.n)
        if tell is not None:
            tell(bar)

    try:
        yield draw
    finally:
        if bar is not None:
            bar.close()


def _each_minute(bar: Any) -> None:
    """If the work takes more than a second, print a plain line to standard error once per minute, for a log."""
    global _last_line
    if time.monotonic() - _last_line >= MINUTE and bar.format_dict["elapsed"] >= 1:
        _last_line = time.monotonic()
        print(f"labkit: {bar}", file=sys.stderr, flush=True)


def _noting(path: Path) -> Callable[[Any], None]:
    """Return a function that keeps the state of a bar in a file: {"done", "total", "what", "left" (seconds)}."""
    last = -EVERY

    def note(bar: Any) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < EVERY and bar.n not in (bar.initial, bar.total):
            return
        last = now
        elapsed, done = bar.format_dict["elapsed"], bar.n - bar.initial
        left = elapsed / done * (bar.total - bar.n) if done and bar.total is not None else None
        beside = path.with_name(path.name + ".new")
        with suppress(OSError):  # a full disk: the run reports it where it matters
            state = {"done": bar.n, "total": bar.total, "what": bar.desc.removesuffix(": "), "left": left}
            beside.write_text(json.dumps(state), encoding="utf-8")
            beside.replace(path)

    return note


@contextmanager
def in_notebook(name: str = "") -> Iterator[Progress]:
    """Draw a bar of text in a cell's output; the saved notebook keeps only its last state, without times.

    `name` precedes the text and says which of several runs this is.
    """
    from IPython.display import display

    began, last, text = time.monotonic(), -EVERY, ""
    shown: Any = None

    def draw(done: int, total: int | None, what: str) -> None:
        nonlocal last, text, shown
        now, share = time.monotonic(), min(1.0, done / total) if total else 0.0
        full = round(BAR * share)
        text = f"{'█' * full}{'░' * (BAR - full)} {f'{name}, ' if name else ''}{what}"
        if now - last >= EVERY:
            last = now
            left = f", {(now - began) * (1 - share) / share:.0f} s left" if share else ""
            shown = shown or display({"text/plain": ""}, raw=True, display_id=True)
            shown.update({"text/plain": text + left}, raw=True)

    try:
        yield draw
    finally:
        if shown is not None:
            shown.update({"text/plain": text}, raw=True)


def lasting(seconds: float) -> str:
    """Format a duration for readers.

    >>> lasting(8), lasting(95), lasting(600), lasting(9000)
    ('8 s', '1.6 min', '10 min', '2.5 h')
    """
    if seconds < 60:
        return f"{max(1, round(seconds))} s"
    number, unit = (seconds / 60, "min") if seconds < 3600 else (seconds / 3600, "h")
    return f"{number:.2g} {unit}" if number < 10 else f"{number:.0f} {unit}"


# --- notes -------------------------------------------------------------------------------------------------------

_NOTES: ContextVar[list[str] | None] = ContextVar("notes", default=None)  # each thread has its own


def note(text: str, *, stacklevel: int = 1) -> None:
    """Pass a sentence to the caller that collects notes; if there is none, issue a `UserWarning`.

    Warnings belong to the whole process: if two visitors of the app read files at once, one would see the warning about
    the other's file. `stacklevel` counts from the caller, like that of `warnings.warn`.
    """
    notes = _NOTES.get()
    if notes is None:
        warnings.warn(text, UserWarning, stacklevel=stacklevel + 1)
    else:
        notes.append(text)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the notes of all calls in the block, in this thread."""
    notes: list[str] = []
    before = _NOTES.set(notes)
    try:
        yield notes
    finally:
        _NOTES.reset(before)
