"""Files that are written whole or not at all, and an error of the file system as one sentence.

`in_place`     a file is written under a temporary name, then renamed: an interruption leaves the old one
`write_text`   the same for a text;  `folder_in_place`   for a folder of files
`room_for`, `sentence_of`     turn a full disk into a sentence that names the file
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_FULL = (errno.ENOSPC, errno.EDQUOT)
#: what to do about the other errors with which a file cannot be used
_REMEDIES = {
    errno.EACCES: "ask its owner for the right to it, or name another place",
    errno.EPERM: "ask its owner for the right to it, or name another place",
    errno.EROFS: "name a place on another disk",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path, on which there is a file where a folder is expected",
    errno.EISDIR: "name a file",
    errno.ENAMETOOLONG: "choose a shorter name",
}


class NoRoom(OSError):
    """A full disk, with the file there is no room for."""

    def __init__(self, path: Path | str = "a file") -> None:
        super().__init__(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def __reduce__(self) -> tuple[type[NoRoom], tuple[str]]:
        """Let it come back from another process."""
        return NoRoom, (self.filename,)

    def __str__(self) -> str:
        return (
            f"the disk is full: there is no room for {self.filename}; make room on that disk, or name a folder on "
            "another one (for runs --out, in the app LABKIT_RUNS; for what is uploaded TMPDIR)"
        )


@contextmanager
def room_for(path: Path | str) -> Iterator[None]:
    """Let errors of the block name this file, into which it writes; a full disk becomes `NoRoom`."""
    try:
        yield
    except OSError as reason:
        if reason.errno in _FULL and not isinstance(reason, NoRoom):
            raise NoRoom(path) from None
        if reason.errno and reason.filename is None and not isinstance(reason, ConnectionError | TimeoutError):
            reason.filename = str(path)
        raise
    except Exception as reason:  # what is written in Rust (safetensors, tokenizers) has only words for it
        if f"(os error {errno.ENOSPC})" in str(reason):
            raise NoRoom(path) from None
        raise


def sentence_of(mistake: Exception) -> str:
    """An error as one sentence; for a full disk or an unusable file it says which, why, and what to do.

    >>> sentence_of(PermissionError(13, "Permission denied", "a.csv"))
    "'a.csv' cannot be used (permission denied); ask its owner for the right to it, or name another place"
    """
    if isinstance(mistake, OSError) and not isinstance(mistake, NoRoom) and mistake.errno and mistake.strerror:
        if mistake.errno in _FULL:
            return str(NoRoom(mistake.filename or "a file"))
        what = "a file" if mistake.filename is None else repr(os.fsdecode(mistake.filename))
        why = mistake.strerror[0].lower() + mistake.strerror[1:]
        return f"{what} cannot be used ({why}); {_REMEDIES.get(mistake.errno, 'try again, or name another place')}"
    return " ".join(str(mistake).split())


def amount(count: int) -> str:
    """The number of bytes as a person reads it.

    >>> amount(512), amount(10 * 2**20)
    ('512 bytes', '10 MB')
    """
    for power, name in ((30, "GB"), (20, "MB"), (10, "kB")):
        if count >= 2**power:
            return f"{count / 2**power:.3g} {name}"
    return f"{count} bytes"


@contextmanager
def in_place(path: Path) -> Iterator[IO[bytes]]:
    """A temporary binary file that replaces `path` on success and is removed on failure."""
    start = f".{path.name}.{socket.gethostname()}-"
    part = path.with_name(f"{start}{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        with room_for(path):
            _sweep(path, start)
            with part.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _sweep(path: Path, start: str) -> None:
    """Remove what processes of this machine that were killed have left of this file."""
    for part in path.parent.glob(f"{glob.escape(start)}*.part"):
        try:
            os.kill(int(part.name.removeprefix(start).partition("-")[0]), 0)  # sends nothing
        except ProcessLookupError:
            part.unlink(missing_ok=True)
        except (ValueError, PermissionError):  # somebody else's file, or process
            pass


def write_text(path: Path, text: str) -> None:
    """Write a text into a file in one piece."""
    with in_place(path) as file:
        file.write(text.encode())


@contextmanager
def folder_in_place(folder: Path) -> Iterator[Path]:
    """A temporary folder that replaces `folder` on success."""
    mark = secrets.token_hex(4)
    beside, before = (folder.with_name(f".{folder.name}.{mark}.{what}") for what in ("part", "before"))
    try:
        with room_for(folder):
            beside.mkdir(parents=True)
            yield beside
            if folder.exists():
                folder.replace(before)
            beside.replace(folder)
    finally:
        for left in (beside, before):
            shutil.rmtree(left, ignore_errors=True)
