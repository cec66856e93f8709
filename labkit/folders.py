"""Files written whole or not at all, and folders that one process at a time writes into.

`in_place`     a file is written beside its place, then moved there: an interruption leaves what was before. What a
               killed process left of it goes when it is written again, for each is locked while it is written
`room_for`, `sentence_of`     a full disk says only that it is full, and not for which file: these make it a sentence
`Hold`         holds a folder for this process until the work is done, or a `Held` (a ValueError) says who has it

The lock of a folder is the system's own, on the file `.lock` in it: it ends with its process, however that ends, and
does not care that numbers of processes are used again. Where the system has none (some network folders) the file itself
is the lock, and what it says of its process decides: one that is dead on this host is no hindrance.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Self

# --- files -------------------------------------------------------------------------------------------------------

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


# --- folders -----------------------------------------------------------------------------------------------------

LOCK = ".lock"
PATIENCE = 0.5  # seconds: a process that only looks whether a folder is held has its lock for a moment
_LOCKED_BYTE = 2**30  # where a lock keeps others from reading, it is on a byte far behind what they read


class Held(ValueError):
    """Another process works in this folder."""


@dataclass(frozen=True)
class Holder:
    """A process that holds a folder. `born` tells it from a later one of the same number, as far as that is known."""

    process: int = 0
    host: str = ""
    since: str = ""
    born: str = ""

    @classmethod
    def this_process(cls) -> Self:
        return cls(os.getpid(), socket.gethostname(), time.strftime("%Y-%m-%d %H:%M:%S"), _born(os.getpid()))

    def __str__(self) -> str:
        return f"process {self.process} on {self.host} since {self.since}" if self.process else "another process"

    def lives(self) -> bool:
        """Whether it may be at work; a process on another host always may, for nobody here can tell."""
        if not self.process or self.host != socket.gethostname() or os.name != "posix":
            return True
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # somebody else's
            pass
        return self.born == _born(self.process)


class Hold(os.PathLike[str]):
    """A folder held by this process; it is made if it is not there, and if `new` it must not be there yet.

    When it is released, a folder that was made for it and is still empty is removed again.
    """

    def __init__(self, folder: Path | str, *, new: bool = False, patience: float = PATIENCE) -> None:
        self.folder, self._process = Path(folder), os.getpid()
        self._made: list[Path] = []
        self._file: int | None = None
        end = time.monotonic() + patience
        try:
            while self._file is None:
                gone = None
                try:
                    self._make(new)
                    new = False
                    self._file = _taken(self.folder / LOCK)
                except FileNotFoundError as reason:  # another process has just released and removed it: once more
                    gone = reason
                if self._file is None:
                    if time.monotonic() > end:
                        raise gone or Held(_refusal(self.folder))
                    time.sleep(0.02)
        except BaseException:
            self.release()
            raise

    def __fspath__(self) -> str:
        return str(self.folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let other processes have the folder."""
        if os.getpid() != self._process:  # a copy of the process that holds it
            return
        if self._file is not None:
            file, self._file = self._file, None
            path, mine = self.folder / LOCK, _same(file, self.folder / LOCK)
            with suppress(OSError):  # an open file cannot be removed everywhere
                if mine:
                    path.unlink()
            os.close(file)
            if os.name == "nt" and mine:
                with suppress(OSError):
                    path.unlink()
        with suppress(OSError):  # it is not empty
            while self._made:
                self._made.pop().rmdir()

    def _make(self, new: bool) -> None:
        missing = [self.folder]
        while not missing[-1].parent.exists():
            missing.append(missing[-1].parent)
        for place in missing[::-1]:
            try:
                place.mkdir()
                self._made.append(place)
            except FileExistsError:
                if new and place == self.folder:
                    raise
                if not place.is_dir():
                    what = "a link that leads nowhere" if place.is_symlink() else "a file"
                    raise ValueError(
                        f"folder is {str(self.folder)!r}, {what}, expected a folder for a run; choose another name"
                    ) from None


def holder(folder: Path | str) -> Holder | None:
    """The process that holds the folder at this moment; None where none does."""
    for _ in range(10):
        try:
            file = os.open(Path(folder) / LOCK, os.O_RDONLY)
        except OSError:
            return None
        try:
            locked, written = _system_lock(file, shared=True), _read(file)
        finally:
            os.close(file)
        if locked or (locked is None and not written.lives()):
            return None
        if written.process:
            break
        time.sleep(0.02)  # another process has just taken the lock, and is about to write its number into it
    return written


def _refusal(folder: Path) -> str:
    who = holder(folder) or Holder()
    elsewhere = who.host != socket.gethostname()
    gone = f"; if that is gone, remove {str(folder / LOCK)!r}" if elsewhere else ""
    return f"folder {str(folder)!r} is being trained into by {who}; wait for it, or choose another folder{gone}"


# --- the lock of a folder ----------------------------------------------------------------------------------------


def _taken(path: Path) -> int | None:
    """The open lock file, if it is ours now; another process may have removed it after it was opened here."""
    try:
        file, new = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666), True
    except FileExistsError:
        file, new = os.open(path, os.O_RDWR), False
    ours = False
    try:
        locked = _system_lock(file)
        if locked is None and not new:
            _clear_away(path)
        ours = bool(new if locked is None else locked) and _same(file, path)
        if ours:
            os.ftruncate(file, 0)
            os.write(file, json.dumps(asdict(Holder.this_process())).encode())
    finally:
        if not ours:
            os.close(file)
    return file if ours else None


def _system_lock(file: int, *, shared: bool = False) -> bool | None:
    """Whether the system's lock on this file could be had; None where it has none."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            os.lseek(file, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError as reason:
        taken = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
        return False if reason.errno in taken else None
    return True


def _clear_away(path: Path) -> None:
    """Remove the lock of a dead process where the file itself is the lock, so that the next try makes a new one."""
    with path.open("rb") as file:
        holder = _read(file.fileno())
    if holder.lives():
        return
    aside = path.with_name(f"{LOCK}.{secrets.token_hex(4)}")
    path.replace(aside)
    with aside.open("rb") as file:
        quicker = _read(file.fileno()) != holder
    if quicker:  # another process has cleared it away, and this lock is its own
        aside.replace(path)
    else:
        aside.unlink()


def _read(file: int) -> Holder:
    """The holder that a lock file names; an empty one in the moment before it is written."""
    try:
        return Holder(**json.loads(os.pread(file, 4096, 0) if hasattr(os, "pread") else os.read(file, 4096)))
    except (OSError, ValueError, TypeError):
        return Holder()


def _same(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False


def _born(process: int) -> str:
    """The time at which a process began, in the system's own count; empty where that cannot be had."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
