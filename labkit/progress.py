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
