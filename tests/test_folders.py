"""A file is written whole or not at all; a folder is held by one process at a time."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import pytest

from labkit import folders
from labkit.folders import LOCK, Held, Hold, NoRoom, holder, in_place, sentence_of
from tests.waiting import HANG

# --- files -----------------------------------------------------------------------------------------------------------


def test_the_file_is_there_at_the_end_and_only_then(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    with in_place(path) as file:
        file.write(b"new")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path, failure: type[BaseException]) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def write_half() -> None:
        with in_place(path) as file:
            file.write(b"half of the n")
            raise failure

    with pytest.raises(failure):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_cannot_be_taken_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"), in_place(tmp_path / "folder") as file:
        file.write(b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(FileNotFoundError), in_place(tmp_path / "no" / "a.bin"):
        pass


@pytest.mark.parametrize("when", ["write", "fsync"])
def test_a_full_disk_says_which_file_how_large_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if when == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoRoom) as caught, in_place(path, 5_000_000) as file:
        full() if when == "write" else file.write(b"new")
    said = str(caught.value)
    assert f"the disk is full: there is no room for {path} of 4.77 MB, where" in said
    assert "are free; make room on that disk, or name a folder on another one (for runs --out" in said
    assert sentence_of(caught.value) == said
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_that_names_no_file_and_other_mistakes() -> None:
    assert sentence_of(OSError(errno.ENOSPC, "No space left on device")).startswith(
        "the disk is full: there is no room for a file; make room"
    )
    assert "no room for /x/y, where" in sentence_of(OSError(errno.ENOSPC, "No space left on device", "/x/y"))
    assert sentence_of(ValueError("two\n lines")) == "two lines"


@pytest.mark.whole
def test_a_killed_process_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    program = f"""
import pathlib, time
from labkit.folders import in_place
with in_place(pathlib.Path({str(path)!r})) as file:
    file.write(b"half")
    file.flush()
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        while len(list(tmp_path.iterdir())) < 2:  # it has begun to write
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    assert path.read_bytes() == b"old"
    left = [other.name for other in tmp_path.iterdir() if other != path]
    assert len(left) == 1
    assert left[0].startswith(".a.bin.")
    with in_place(path) as file:  # the next one who writes there sweeps it away
        file.write(b"new")
    assert [other.name for other in tmp_path.iterdir()] == ["a.bin"]


def test_what_a_dead_process_left_goes_and_what_is_being_written_stays(tmp_path: Path) -> None:
    path, kept = tmp_path / "a.bin", (".a.bin.0123abcd", ".a.bin.0123abcd.part.txt", ".b.bin.0123abcd.part")
    for name in (*kept, ".a.bin.0123abcd.part", ".a.bin.ffffffff.part"):  # the last two nobody holds
        (tmp_path / name).write_bytes(b"half")
    with in_place(path) as one:
        with in_place(path) as other:  # a second one at the same time, as by a second `labkit encode`
            other.write(b"other")
        assert path.read_bytes() == b"other"
        one.write(b"one")
    assert path.read_bytes() == b"one"
    assert {each.name for each in tmp_path.iterdir()} == {"a.bin", *kept}


def test_a_name_with_signs_of_patterns_is_swept_too(tmp_path: Path) -> None:
    (tmp_path / ".a[1]*.csv.0123abcd.part").write_bytes(b"half")
    with in_place(tmp_path / "a[1]*.csv") as file:
        file.write(b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["a[1]*.csv"]


def test_a_failure_that_names_no_file_gets_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="a.bin") as caught, in_place(tmp_path / "a.bin") as file:
        file.write(b"new")
    assert sentence_of(caught.value) == (
        f"{str(tmp_path / 'a.bin')!r} cannot be used (input/output error); the disk is damaged or was taken away: name "
        "a place on another one"
    )


def test_ctrl_c_at_any_line_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"

    def write(*, stop_at: int) -> bool:
        """Write, interrupted at this line of Python (the standard library's count too); whether it came so far."""
        lines = 0

        def traced(frame: FrameType, event: str, _: object) -> Callable[..., object]:
            nonlocal lines
            lines += event == "line"
            if lines == stop_at:
                sys.settrace(None)
                raise KeyboardInterrupt
            return traced

        before = sys.gettrace()
        sys.settrace(traced)
        try:
            with in_place(path) as file:
                file.write(b"new")
        except KeyboardInterrupt:
            return False
        finally:
            sys.settrace(before)
        return True

    stop_at = 0
    done = False
    while not done:
        stop_at += 1
        path.write_bytes(b"old")
        done = write(stop_at=stop_at)
        assert path.read_bytes() in (b"old", b"new"), stop_at
        assert list(tmp_path.iterdir()) == [path], stop_at
    assert stop_at > 20  # it was interrupted at many


# --- folders ---------------------------------------------------------------------------------------------------------


HOLDS = "import sys; from labkit.folders import Hold; Hold(sys.argv[1]); print('held', flush=True); sys.stdin.read()"


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


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network folder whose server has no locks."""

    def none(file: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)


def test_a_folder_is_held_once_and_given_back(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "run"
    assert holder(folder) is None
    with Hold(folder):
        who = holder(folder)
        assert who is not None
        assert (who.process, who.host) == (os.getpid(), socket.gethostname())
        with pytest.raises(Held, match=rf"is being trained into by process {os.getpid()} on {who.host} since \d{{4}}-"):
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
    with pytest.raises(ValueError, match="a file, expected a folder for a run"):
        Hold(tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "run"]


def test_it_waits_for_who_is_about_to_let_go(tmp_path: Path) -> None:
    first = Hold(tmp_path / "run")
    later = threading.Timer(0.1, first.release)
    later.start()
    with Hold(tmp_path / "run", patience=HANG):
        assert holder(tmp_path / "run") is not None
    later.join()


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


def test_one_after_the_other_and_never_two(tmp_path: Path) -> None:
    """The lock file comes and goes all the time: nobody may hold one that is no longer there."""
    inside, most = 0, 0
    count = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        for _ in range(30):
            with Hold(tmp_path / "run", patience=HANG):
                with count:
                    inside += 1
                    most = max(most, inside)
                with count:
                    inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


@pytest.mark.whole
def test_another_process_and_its_death(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path / "run") as process:
        with pytest.raises(Held, match=f"by process {process.pid} on "):
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


@pytest.mark.usefixtures("without_locks")
class TestWithoutLocks:
    def test_a_folder_is_held_once_and_given_back(self, tmp_path: Path) -> None:
        with Hold(tmp_path / "run"):
            assert holder(tmp_path / "run") is not None
            with pytest.raises(Held, match=f"by process {os.getpid()} on"):
                Hold(tmp_path / "run", patience=0)
        assert holder(tmp_path / "run") is None
        assert not (tmp_path / "run").exists()

    def test_a_dead_process_is_no_hindrance(self, tmp_path: Path) -> None:
        with subprocess.Popen([sys.executable, "-c", ""]) as gone:
            gone.wait()
        me = {"host": socket.gethostname(), "since": "then"}
        for process in ({"process": gone.pid}, {"process": os.getpid(), "born": "before"}):
            (tmp_path / LOCK).write_text(json.dumps(me | process))
            assert holder(tmp_path) is None
            Hold(tmp_path).release()
            assert list(tmp_path.iterdir()) == []

    def test_another_host_is_asked_about(self, tmp_path: Path) -> None:
        (tmp_path / LOCK).write_text(json.dumps({"process": 1, "host": "elsewhere", "since": "then"}))
        with pytest.raises(Held, match=r"process 1 on elsewhere since then; .*; if that is gone, remove '.*\.lock'"):
            Hold(tmp_path, patience=0)

    def test_only_one_of_many_threads_has_it(self, tmp_path: Path) -> None:
        (tmp_path / LOCK).write_text(json.dumps({"process": 2**22 + 1, "host": socket.gethostname(), "since": "then"}))
        test_only_one_of_many_threads_has_it(tmp_path / "sub")
        test_only_one_of_many_threads_has_it(tmp_path)


def test_a_copy_of_the_process_does_not_give_it_back(tmp_path: Path) -> None:
    with Hold(tmp_path / "run") as hold:
        child = os.fork()
        if not child:
            hold.release()
            os._exit(0)
        os.waitpid(child, 0)
        assert (tmp_path / "run" / LOCK).is_file()
        assert holder(tmp_path / "run") is not None


def test_a_lock_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_system_lock", lambda file, shared=False: False)
    (tmp_path / LOCK).write_text("[")
    with pytest.raises(Held, match=r"by another process; wait for it.*if that is gone, remove"):
        Hold(tmp_path, patience=0)
