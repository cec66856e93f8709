"""One callback for everything that takes longer than a second: `progress(done, total, what)`.

Library code calls it and draws nothing; terminal, notebook and app each hand in a drawer of their own. `total` is
None where the end is not known. Work that nobody watches gets `silent`.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

Progress = Callable[[int, int | None, str], None]
NOTED = "LABKIT_BAR"  # in the environment: a file that another program reads, in the place of a terminal
BAR = 20  # characters of a bar that is written as text


def silent(done: int, total: int | None, what: str) -> None:
    """Draw nothing."""


@contextmanager
def terminal(unit: str = "") -> Iterator[Progress]:
    """A bar on standard error with the time left; only where a person looks on, and only after a second."""
    if noted := os.environ.get(NOTED):
        yield noting(Path(noted))
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


def noting(path: Path, *, every: float = 0.5) -> Progress:
    """Write into a file, again and again: {"done", "total", "what", "left"}, the last in seconds or null."""
    began, last, first, of = time.monotonic(), -every, 0, None

    def note(done: int, total: int | None, what: str) -> None:
        nonlocal began, last, first, of
        now = time.monotonic()
        if total != of or done < first:  # other work than before: its pace is its own
            began, first, of = now, done, total
        elif now - last < every and done != total:
            return
        last = now
        pace = (now - began) / (done - first) if done > first else None
        left = None if pace is None or total is None else pace * (total - done)
        beside = path.with_name(path.name + ".new")
        beside.write_text(json.dumps({"done": done, "total": total, "what": what, "left": left}), encoding="utf-8")
        beside.replace(path)

    return note
