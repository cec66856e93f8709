"""Folders that only one process may write to at a time, using the library filelock.

The operating system locks the file `.lock` in the folder, so the lock ends with its process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = ".lock"
PATIENCE = 0.5  # seconds, because `is_locked` takes the lock for a moment


class InUse(ValueError):
    """Another process is writing to this folder."""


@contextmanager
def locked(folder: Path | str, *, patience: float = PATIENCE) -> Iterator[Path]:
    """Lock the folder until the block ends. The folder is created if needed, and removed again if it is empty."""
    folder = Path(folder)
    new = not folder.exists()
    if folder.is_file():
        raise ValueError(f"folder {str(folder)!r} is a file; choose another name")
    lock = FileLock(folder / LOCK, thread_local=False)
    while not lock.is_locked:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=patience)
        except (FileNotFoundError, FileExistsError):  # the process that created it has just removed it
            continue
        except Timeout:
            raise InUse(
                f"folder {str(folder)!r} is in use by another process; wait, or choose another folder"
            ) from None
    try:
        yield folder
    finally:
        (folder / LOCK).unlink(missing_ok=True)  # while we hold the lock: filelock rejects a file that was replaced
        lock.release()
        with suppress(OSError):  # the folder is not empty
            if new:
                folder.rmdir()


def is_locked(folder: Path | str) -> bool:
    """Whether a process holds the lock now; the lock file of a dead process is removed."""
    path = Path(folder) / LOCK
    if not path.is_file():
        return False
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:  # no permission to write in the folder
        return False
    path.unlink(missing_ok=True)
    lock.release()
    return False
