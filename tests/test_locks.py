"""A folder is held by one process at a time."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from labkit.locks import LOCK, Held, Hold, holder

HOLDS = "import sys; from labkit.locks import Hold; Hold(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


@contextmanager
def held_elsewhere(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process holds it for the time of the block."""
    command = [sys.executable, "-c", HOLDS, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_folder_is_held_once_and_given_back(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "run"
    assert holder(folder) is None
    with Hold(folder):
        who = holder(folder)
        assert who is not None
        assert (who.process, who.host) == (os.getpid(), socket.gethostname())
        with pytest.raises(Held, match=f"{os.getpid()}.*{who.host}"):
            Hold(folder, patience=0)
        assert os.fspath(folder) == str(folder)
    assert holder(folder) is None
    assert not folder.parent.exists()  # what was made and has nothing in it goes again
    Hold(folder).release()


def test_what_was_there_or_put_there_stays(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    Hold(tmp_path / "mine").release()
    assert list((tmp_path / "mine").iterdir()) == []
    with Hold(tmp_path / "new" / "run") as hold:
        (hold.folder / "model").touch()
    assert [path.name for path in (tmp_path / "new" / "run").iterdir()] == ["model"]


def test_a_new_folder_must_not_be_there(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(FileExistsError):
        Hold(tmp_path / "run", new=True)
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="file"):
        Hold(tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "run"]


def test_only_one_of_many_threads_has_it(tmp_path: Path) -> None:
    got: list[Hold] = []
    ready = threading.Barrier(16)

    def take() -> None:
        ready.wait()
        with suppress(Held):
            got.append(Hold(tmp_path / "run", patience=0.2))

    threads = [threading.Thread(target=take) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1
    got[0].release()


@pytest.mark.whole
def test_another_process_and_its_death(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path / "run") as process:
        with pytest.raises(Held, match=str(process.pid)):
            Hold(tmp_path / "run", patience=0)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (tmp_path / "run" / LOCK).is_file()
    assert holder(tmp_path / "run") is None
    with Hold(tmp_path / "run"):
        assert holder(tmp_path / "run").process == os.getpid()


def test_a_number_that_is_used_again_is_no_hindrance(tmp_path: Path) -> None:
    """A lock of a dead process whose number this process has now."""
    (tmp_path / LOCK).write_text(json.dumps({"process": os.getpid(), "host": socket.gethostname(), "since": "then"}))
    assert holder(tmp_path) is None
    Hold(tmp_path).release()


def test_a_copy_of_the_process_does_not_give_it_back(tmp_path: Path) -> None:
    with Hold(tmp_path / "run") as hold:
        child = os.fork()
        if not child:
            hold.release()
            os._exit(0)
        os.waitpid(child, 0)
        assert (tmp_path / "run" / LOCK).is_file()
        assert holder(tmp_path / "run") is not None
