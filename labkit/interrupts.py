"""Ctrl-C, and SIGTERM as schedulers send it, while a command trains. In: the block that heeds them, and in it the block
that is asked and not cut off. Out: an `Asked`, with the exit status that belongs to the signal.

Outside of a patient block a signal ends what is done at once; inside it is noted, and who works there asks for it where
nothing is half done: a training after each batch. Ctrl-C pressed again does not wait.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_LEFT_TO_RUN = (signal.SIG_IGN, None)  # who was told to ignore a signal goes on to do so

_heeding, _patient = False, False
_heard: int | None = None


class Asked(KeyboardInterrupt):
    """Raised where somebody asks to stop; `status` is the exit status of the signal."""

    def __init__(self, sign: int) -> None:
        super().__init__()
        self.status = 128 + sign


@contextmanager
def heeded() -> Iterator[None]:
    """Listen for the signals inside of the block; only a main thread can listen."""
    global _heeding, _heard
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        sign: signal.signal(sign, _hear)
        for sign in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(sign) not in _LEFT_TO_RUN
    }
    _heeding, _heard = True, None
    try:
        yield
    finally:
        _heeding, _heard = False, None
        for sign, handler in before.items():
            signal.signal(sign, handler)


@contextmanager
def patient() -> Iterator[None]:
    """Inside, a signal waits until `asked` is called, or for the end of the block."""
    global _patient
    before, _patient = _patient, True
    try:
        yield
    finally:
        _patient = before
    if _heard is not None:
        raise Asked(_heard)


def heeding() -> bool:
    """Whether anybody listens."""
    return _heeding


def asked() -> int | None:
    """The signal that came; None if none did."""
    return _heard


def _hear(sign: int, frame: Any) -> None:
    global _heard
    again = _heard is not None and sign == signal.SIGINT and "WORLD_SIZE" not in os.environ  # torchrun sends it twice
    if not _patient or again:
        raise Asked(sign)
    _heard = _heard or sign
    if sign == signal.SIGINT and os.isatty(2):
        os.write(2, b"\nlabkit: stops after this batch; Ctrl-C again stops at once\n")
