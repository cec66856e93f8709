"""A file written whole or not at all: beside its place, then moved there. An interruption leaves what was before."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def in_place(path: Path) -> Iterator[IO[bytes]]:
    """A binary file beside `path` that takes its place when all went well and vanishes when not."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:  # its name is known before it is made: Ctrl-C right after leaves nothing behind
        with beside.open("xb") as raw:
            yield raw
            raw.flush()
            os.fsync(raw.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
