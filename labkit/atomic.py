"""Files that are written whole or not at all.

`in_place`     a file is written beside its place, then moved there: an interruption leaves what was before. What a
               killed process left of it goes when it is written again, for each is locked while it is written
`write_text`   the same, for a text;  `folder_in_place`   for a folder of files
`room_for`, `sentence_of`     a full disk says only that it is full, and not for which file: these make it a sentence
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

_FULL = (errno.ENOSPC, errno.EDQUOT)
_PART = re.compile(r"[0-9a-f]{8}\.part")  # comes after a file's name while it is written
#: what to do about the other errors with which a file cannot be used
_REMEDIES = {
    errno.EACCES: "ask its owner for the right to it, or name another place",
    errno.EPERM: "ask its owner for the right to it, or name another place",
    errno.EROFS: "name a place on another disk",
    errno.ENOENT: "check the path",
    errno.ENOTDIR: "check the path, on which a file stands where a folder is expected",
    errno.EISDIR: "name a file",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.EFBIG: "name a place where a file may be as large as that",
    errno.EMFILE: "close other programs, or raise the limit (ulimit -n)",
    errno.EIO: "the disk is damaged or was taken away: name a place on another one",
}


class NoRoom(OSError):
    """A full disk, with the file there is no room for and the bytes it needs, as far as that is known."""

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
    """Let errors of the block name this file, into which it writes; a full disk becomes `NoRoom`."""
    try:
        yield
    except OSError as reason:
        if reason.errno in _FULL and not isinstance(reason, NoRoom):
            raise NoRoom(path, needed) from None
        if reason.errno and reason.filename is None and not isinstance(reason, ConnectionError | TimeoutError):
            reason.filename = str(path)
        raise


def sentence_of(mistake: Exception) -> str:
    """A mistake as one sentence; for a full disk and a file that cannot be used it says which, why, and what to do.

    >>> sentence_of(PermissionError(13, "Permission denied", "a.csv"))
    "'a.csv' cannot be used (permission denied); ask its owner for the right to it, or name another place"
    """
    if isinstance(mistake, OSError) and not isinstance(mistake, NoRoom) and mistake.errno and mistake.strerror:
        code, why = mistake.errno, mistake.strerror
        if code in _FULL:
            mistake = NoRoom(mistake.filename or "")
        else:
            what = "a file" if mistake.filename is None else repr(os.fsdecode(mistake.filename))
            remedy = _REMEDIES.get(code, "try again, or name another place")
            return f"{what} cannot be used ({why[0].lower()}{why[1:]}); {remedy}"
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


def _free(path: Path | str) -> str:
    with suppress(OSError, StopIteration):
        place = next(folder for folder in Path(path).absolute().parents if path and folder.is_dir())
        return f", where {amount(shutil.disk_usage(place).free)} are free"
    return ""


@contextmanager
def in_place(path: Path, needed: int = 0, *, before: Path | None = None) -> Iterator[IO[bytes]]:
    """A binary file beside `path` that takes its place when all went well, and vanishes when not.

    `needed` is its size, where that is known before. What lay at `path` is moved to `before`, where that is given.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:  # its name is known before it is made: Ctrl-C right after leaves nothing behind
        with room_for(path, needed):
            _sweep(path)
            with _locked(beside) as raw:  # the lock lasts until the file is in its place
                yield raw
                raw.flush()
                os.fsync(raw.fileno())
                raw.close()  # where an open file cannot be moved
                if before is not None and path.exists():
                    path.replace(before)
                beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text into a file in one piece."""
    with in_place(path) as file:
        file.write(text.encode())


@contextmanager
def folder_in_place(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder` that takes its place, and that of what lies there, when all went well."""
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


@contextmanager
def _locked(beside: Path) -> Iterator[IO[bytes]]:
    """A new file with a lock that says somebody writes it; the lock ends with the process, however that ends."""
    with ExitStack() as stack:
        while True:
            raw = stack.enter_context(beside.open("xb"))
            held = os.dup(raw.fileno())  # outlives `raw`
            stack.callback(os.close, held)
            _lock(held, wait=True)
            if beside.exists():  # and was not swept before it was locked
                break
        yield raw


def _lock(held: int, *, wait: bool = False) -> bool:
    """Whether the lock is ours now; never, where there are no locks."""
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock

        flock(held, LOCK_EX if wait else LOCK_EX | LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _sweep(path: Path) -> None:
    """Remove what was being written of this file by processes that are no more."""
    start = f".{path.name}."
    with suppress(OSError), os.scandir(path.parent) as entries:
        left = [
            each.path for each in entries if each.name.startswith(start) and _PART.fullmatch(each.name[len(start) :])
        ]
        for name in left:
            with suppress(OSError):
                held = os.open(name, os.O_RDWR)
                try:
                    if _lock(held):
                        os.unlink(name)  # noqa: PTH108
                finally:
                    os.close(held)
