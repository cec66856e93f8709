"""Folders into which one process at a time writes, by the library filelock.

    with locked(folder): ...      another process that wants the folder meanwhile gets an `InUse`, a ValueError
    is_locked(folder)             whether a process has it now

The lock is the operating system's own, on the file `.lock` in the folder: it ends with its process, however that ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = ".lock"
PATIENCE = 0.5  # seconds: `is_locked` takes the lock for a moment


class InUse(ValueError):
    """Another process writes into this folder."""


@contextmanager
def locked(folder: Path | str, *, patience: float = PATIENCE) -> Iterator[Path]:
    """Lock the folder until the block ends. It is made if it is not there, and removed again if nothing is in it."""
    folder = Path(folder)
    new = not folder.exists()
    if folder.is_file():
        raise ValueError(f"folder is {str(folder)!r}, which is a file; choose another name")
    lock = FileLock(folder / LOCK, thread_local=False)
    while not lock.is_locked:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=patience)
        except (FileNotFoundError, FileExistsError):  # the process that had made it has just removed it
            continue
        except Timeout:
            raise InUse(
                f"folder {str(folder)!r} is in use by another process; wait for it, or choose another folder"
            ) from None
    try:
        yield folder
    finally:
        (folder / LOCK).unlink(missing_ok=True)  # while it is ours: filelock refuses a file that is not in its place
        lock.release()
        with suppress(OSError):  # something is in it
            if new:
                folder.rmdir()


def is_locked(folder: Path | str) -> bool:
    """Whether a process has the folder now; what a dead one has left of its lock is removed."""
    path = Path(folder) / LOCK
    if not path.is_file():
        return False
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:  # a folder that only others may write into
        return False
    path.unlink(missing_ok=True)
    lock.release()
    return False
