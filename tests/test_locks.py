"""A folder is locked by one process at a time."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from labkit.locks import LOCK, InUse, is_locked, locked

LOCKS = """
import sys
from labkit.locks import locked
with locked(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_locked_once_and_released(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "run"
    assert not is_locked(folder)
    with locked(folder):
        assert is_locked(folder)
        with pytest.raises(InUse, match="run"), locked(folder, patience=0):
            pass
        assert is_locked(folder)
    assert not is_locked(folder)
    assert not folder.exists()  # created by the lock, and still empty
    with locked(folder):
        pass


def test_existing_folders_and_new_files_are_kept(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with locked(tmp_path / "mine"), locked(tmp_path / "new"):
        (tmp_path / "new" / "model").touch()
    assert list((tmp_path / "mine").iterdir()) == []
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["model"]
    with pytest.raises(ValueError, match="model"), locked(tmp_path / "new" / "model"):
        pass


def test_waiting_threads_get_the_lock_one_after_another(tmp_path: Path) -> None:
    """Each thread removes the lock file while the others wait for it."""
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            with locked(tmp_path / "run", patience=60):
                inside += 1
                most = max(most, inside)
                time.sleep(0.002)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, inside) == (1, 0)


@pytest.mark.whole
def test_the_lock_ends_with_its_process(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-c", LOCKS, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(InUse), locked(folder, patience=0):
            pass
        process.kill()
        process.wait()
    assert (folder / LOCK).is_file()
    assert not is_locked(folder)
    with locked(folder):
        assert is_locked(folder)
