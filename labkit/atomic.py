"""A file written whole or not at all: beside its place, then moved there. An interruption leaves what was before.

A disk that is full says of itself only that, and not of which file: `room_for` and `sentence_of` make it a sentence.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_FULL = (errno.ENOSPC, errno.EDQUOT)


class NoRoom(OSError):
    """A full disk: for which file, and how many bytes it needs, as far as that is known."""

    def __init__(self, path: Path | str = "", needed: int = 0) -> None:
        super().__init__(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        what = f"{path or 'a file'}{f' of {amount(needed)}' if needed else ''}{_free(path)}"
        self._sentence = (
            f"the disk is full: there is no room for {what}; make room on that disk, or name a folder on another "
            "one (for runs --out, in the app LABKIT_RUNS; for what is uploaded TMPDIR)"
        )

    def __str__(self) -> str:
        return self._sentence


@contextmanager
def room_for(path: Path | str, needed: int = 0) -> Iterator[None]:
    """What is written inside goes into this file; a full disk says so."""
    try:
        yield
    except OSError as reason:
        if reason.errno not in _FULL or isinstance(reason, NoRoom):
            raise
        raise NoRoom(path, needed) from None


def sentence_of(mistake: Exception) -> str:
    """A mistake as one sentence: of a full disk what to do, of all else what it says itself."""
    if isinstance(mistake, OSError) and mistake.errno in _FULL and not isinstance(mistake, NoRoom):
        mistake = NoRoom(mistake.filename or "")
    return " ".join(str(mistake).split())


def amount(count: int) -> str:
    """Bytes as a person reads them.

    >>> amount(512), amount(10 * 2**20)
    ('512 bytes', '10 MB')
    """
    for power, name in ((30, "GB"), (20, "MB"), (10, "kB")):
        if count >= 2**power:
            return f"{count / 2**power:.3g} {name}"
    return f"{count} bytes"


def _free(path: Path | str) -> str:
    with suppress(OSError, StopIteration):
        place = next(folder for folder in Path(path).absolute().parents if path and folder.is_dir())
        return f", where {amount(shutil.disk_usage(place).free)} are free"
    return ""


@contextmanager
def in_place(path: Path, needed: int = 0, *, before: Path | None = None) -> Iterator[IO[bytes]]:
    """A binary file beside `path` that takes its place when all went well and vanishes when not; `needed`: its size,
    where that is known before. What lay there goes to `before`, where one is named."""
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:  # its name is known before it is made: Ctrl-C right after leaves nothing behind
        with room_for(path, needed):
            with beside.open("xb") as raw:
                yield raw
                raw.flush()
                os.fsync(raw.fileno())
            if before is not None and path.exists():
                path.replace(before)
            beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
