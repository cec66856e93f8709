"""Waiting for another process or thread, with a timeout that is reached only if something hangs."""

from __future__ import annotations

import time
from collections.abc import Callable

HANG = 1200.0  # seconds; reached only if something hangs, even on a busy machine


def until(true: Callable[[], object]) -> None:
    """Wait until `true()` is true; fail after HANG seconds."""
    end = time.monotonic() + HANG
    while not true():
        assert time.monotonic() < end, f"it hangs: it did not come to that in {HANG:.0f} s"
        time.sleep(0.02)
