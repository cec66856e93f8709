"""Waiting for what another process or thread does: a test fails by what happened, never by how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable

HANG = 1200.0  # seconds: so long that only what hangs comes to it, on a busy machine too


def until(true: Callable[[], object]) -> None:
    """Wait for it."""
    end = time.monotonic() + HANG
    while not true():
        assert time.monotonic() < end, f"it hangs: it did not come to that in {HANG:.0f} s"
        time.sleep(0.02)
