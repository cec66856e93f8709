"""Write files completely or not at all, and describe file system errors in one sentence.

A file or folder is written under a temporary name and then renamed, so an interruption leaves the old one intact.
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
#: remedies for errors of a file other than a full disk
_REMEDIES = {
    **dict.fromkeys((errno.EACCES, errno.EPERM), "ask its owner for permission, or choose another place"),
    errno.EROFS: "choose a location on another disk",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path: part of it is a file, not a folder",
    errno.EISDIR: "name a file",
    errno.ENAMETOOLONG: "choose a shorter name",
}


class NoRoom(OSError):
    """A full disk, with the file that did not fit: `NoRoom(path)`."""

    def __str__(self) -> str:
        return (
            f"the disk is full: there is no room for {self.args[0] if self.args else 'a file'}. Free space on that "
            "disk, or choose a folder on another one (--out for runs, LABKIT_RUNS for the app, TMPDIR for uploads)"
        )


@contextmanager
def room_for(path: Path | str) -> Iterator[None]:
    """Name this file, which the block writes, in the errors of the block. A full disk raises `NoRoom`."""
    try:
        yield
    except OSError as reason:
        if reason.errno in _FULL and not isinstance(reason, NoRoom):
            raise NoRoom(path) from None
        if reason.errno and reason.filename is None and not isinstance(reason, ConnectionError | TimeoutError):
            reason.filename = str(path)
        raise
    except Exception as reason:  # Rust libraries (safetensors, tokenizers) report a full disk only in words
        if f"(os error {errno.ENOSPC})" in str(reason):
            raise NoRoom(path) from None
        raise


def sentence_of(mistake: Exception) -> str:
    """Return an error as one sentence. For a full disk or an unusable file, it gives the file, the reason and a remedy.

    >>> sentence_of(PermissionError(13, "Permission denied", "a.csv"))
    "'a.csv' cannot be used (permission denied); ask its owner for permission, or choose another place"
    """
    if isinstance(mistake, OSError) and not isinstance(mistake, NoRoom) and mistake.errno and mistake.strerror:
        if mistake.errno in _FULL:
            return str(NoRoom(mistake.filename or "a file"))
        what = "a file" if mistake.filename is None else repr(os.fsdecode(mistake.filename))
        why = mistake.strerror[0].lower() + mistake.strerror[1:]
        return f"{what} cannot be used ({why}); {_REMEDIES.get(mistake.errno, 'try again, or choose another location')}"
    return " ".join(str(mistake).split())


def amount(count: int) -> str:
    """A number of bytes in readable units.

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
    """Remove temporary versions of this file that were left behind by killed processes on this machine."""
    for part in path.parent.glob(f"{glob.escape(start)}*.part"):
        try:
            os.kill(int(part.name.removeprefix(start).partition("-")[0]), 0)  # signal 0 only checks
        except ProcessLookupError:
            part.unlink(missing_ok=True)
        except (ValueError, PermissionError):  # another user's file or process
            pass


def write_text(path: Path, text: str) -> None:
    """Write a text to a file, completely or not at all."""
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
