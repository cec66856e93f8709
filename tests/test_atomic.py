"""Files and folders are written completely or not at all."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors import SafetensorError

from labkit.atomic import NoRoom, folder_in_place, in_place, room_for, sentence_of


def test_the_file_appears_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    with in_place(path) as file:
        file.write(b"new")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_failure_half_way_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def write_half() -> None:
        with in_place(path) as file:
            file.write(b"half of the n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_replaces_another_at_the_end_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "folder"
    for number in (1, 2):
        with folder_in_place(place) as beside:
            (beside / f"{number}.txt").write_text("new")
            assert not (place / f"{number}.txt").exists()
        assert [path.name for path in place.iterdir()] == [f"{number}.txt"]

    def write_half() -> None:
        with folder_in_place(place) as beside:
            (beside / "3.txt").write_text("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert [path.name for path in place.iterdir()] == ["2.txt"]
    assert list(place.parent.iterdir()) == [place]


@pytest.mark.parametrize("when", ["write", "fsync"])
def test_a_full_disk_is_reported_with_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if when == "fsync":
        monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoRoom) as caught, in_place(path) as file:
        full() if when == "write" else file.write(b"new")
    assert str(path) in str(caught.value)
    assert sentence_of(caught.value) == str(caught.value)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_that_a_library_reports_only_in_words() -> None:
    with pytest.raises(NoRoom, match="export"), room_for("export"):
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
    with pytest.raises(SafetensorError), room_for("export"):
        raise SafetensorError("Error while serializing: I/O error: Is a directory (os error 21)")


@pytest.mark.whole
def test_a_killed_process_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    program = f"""
import pathlib, time
from labkit.atomic import in_place
with in_place(pathlib.Path({str(path)!r})) as file:
    file.write(b"half")
    file.flush()
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        while len(list(tmp_path.iterdir())) < 2:  # wait until it has started to write
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    assert path.read_bytes() == b"old"
    left = [other.name for other in tmp_path.iterdir() if other != path]
    assert len(left) == 1
    assert left[0].startswith(".a.bin.")
    with in_place(path) as file:  # the next writer deletes the left-over file
        file.write(b"new")
    assert [other.name for other in tmp_path.iterdir()] == ["a.bin"]


def test_two_writers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    path, kept = tmp_path / "a.bin", (".a.bin.0123abcd", f".b.bin.{socket.gethostname()}-1-0123.part")
    for name in kept:
        (tmp_path / name).write_bytes(b"mine")
    with in_place(path) as one:
        with in_place(path) as other:  # like a second `labkit encode`
            other.write(b"other")
        assert path.read_bytes() == b"other"
        one.write(b"one")
    assert path.read_bytes() == b"one"
    assert {each.name for each in tmp_path.iterdir()} == {"a.bin", *kept}
