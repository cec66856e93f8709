"""Handle Ctrl-C, and SIGTERM from schedulers, while a command runs.

Inside `interruptible`, either signal raises `Interrupted` with its exit status: at once, or at the end of a `deferred`
block. The training loop defers signals and calls `requested` after each batch. A second Ctrl-C takes effect at once.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_deferred = False
_requested: int | None = None


class Interrupted(KeyboardInterrupt):
    """A request to stop; `status` is the exit status for the signal."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


@contextmanager
def interruptible() -> Iterator[None]:
    """Handle both signals inside the block, in the main thread only; an ignored signal stays ignored."""
    global _requested
    main = threading.current_thread() is threading.main_thread()
    heard = [each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) not in (signal.SIG_IGN, None)]
    before = {each: signal.signal(each, _handle) for each in heard if main}
    try:
        yield
    finally:
        _requested = None
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def deferred() -> Iterator[None]:
    """Defer signals until the end of the block."""
    global _deferred
    before, _deferred = _deferred, True
    try:
        yield
    finally:
        _deferred = before
    if _requested is not None:
        raise Interrupted(_requested)


def requested() -> int | None:
    """Return the signal received, or None."""
    return _requested


def _handle(number: int, frame: Any) -> None:
    global _requested
    again = _requested is not None and number == signal.SIGINT and "WORLD_SIZE" not in os.environ  # torchrun repeats it
    if not _deferred or again:
        raise Interrupted(number)
    _requested = _requested or number
    if number == signal.SIGINT and os.isatty(2):
        os.write(2, b"\nlabkit: stopping after this batch; press Ctrl-C again to stop at once\n")
