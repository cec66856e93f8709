"""Folders that one process at a time writes into: `Hold` holds one for this process until the work is done, or a `Held`
(a ValueError) says who has it.

The lock of a folder is the system's own, on the file `.lock` in it: it ends with its process, however that ends, and
does not care that numbers of processes are used again. Where the system has none (some network folders) the file itself
is the lock, and what it says of its process decides: one that is dead on this host is no hindrance.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

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
    return f"folder {str(folder)!r} is being written into by {who}; wait for it, or choose another folder{gone}"


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
