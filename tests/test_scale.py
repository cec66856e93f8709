"""Many files from several workers: each is made once, a killed job resumes, and other folders are left alone."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from labkit import scale
from labkit.atomic import NoRoom
from tests.waiting import HANG, until

PLAN = {"kind": "letters", "size": 3}


def letters(given: str, path: Path) -> None:
    if given == "broken":
        path.write_text("half")
        raise ValueError("this one is broken; mend it")
    path.write_text(given * 3)


def files_in(folder: Path, *given: str) -> dict[Path, str]:
    return {scale.part(folder, number, "txt"): each for number, each in enumerate(given)}


def contents(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.glob("part-*"))]


def test_an_existing_file_is_not_made_again(tmp_path: Path) -> None:
    files = files_in(tmp_path, "a", "b")
    scale.each(letters, {scale.part(tmp_path, 0, "txt"): "x"})
    seen: list[tuple[int, int | None]] = []
    scale.each(letters, files, progress=lambda done, total, _: seen.append((done, total)))
    assert contents(tmp_path) == ["xxx", "bbb"]
    assert seen == [(2, 2)]


def test_an_error_keeps_finished_files_and_leaves_no_partial_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="broken"):
        scale.each(letters, files_in(tmp_path, "a", "broken", "c"))
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000.txt"]
    scale.each(letters, files_in(tmp_path, "a", "b", "c"))
    assert contents(tmp_path) == ["aaa", "bbb", "ccc"]


@pytest.mark.whole
def test_two_processes_make_the_same_files(tmp_path: Path) -> None:
    scale.each(letters, files_in(tmp_path, *"abcdefg"), workers=2)
    assert contents(tmp_path) == [3 * letter for letter in "abcdefg"]
    with pytest.raises(ValueError, match="broken"):
        scale.each(letters, files_in(tmp_path / "other", "a", "broken"), workers=2)


@pytest.mark.whole
def test_a_dead_process_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="process"):
        scale.each(_die, files_in(tmp_path, "a", "b"), workers=2)


def _die(_: str, path: Path) -> None:
    os._exit(3)


def test_without_ray_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"labkit-embeddings\[ray\]"):
        scale.each(letters, files_in(tmp_path, "a"), ray="")


def full(_: str, path: Path) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.whole)])
def test_a_full_disk_is_reported_by_any_number_of_workers(tmp_path: Path, workers: int) -> None:
    with pytest.raises(NoRoom, match="part-0000"):
        scale.each(full, files_in(tmp_path, "abc"), workers=workers)
    assert list(tmp_path.iterdir()) == []


# --- folders -----------------------------------------------------------------------------------------------------


def test_a_folder_is_started_resumed_and_finished(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert not scale.folder(folder, PLAN)
    with pytest.raises(ValueError, match="out"):
        scale.manifest(folder)
    assert not scale.folder(folder, PLAN)
    scale.each(letters, files_in(folder, "a"))
    (folder / ".elsewhere-7-part-00001.txt").write_text("left by a killed worker")
    made = scale.finish(folder, PLAN, rows=1)
    assert made == {"plan": PLAN, "rows": 1} == scale.manifest(folder)
    (folder / scale.WORK).mkdir()  # left by a kill in `finish`
    assert scale.folder(folder, PLAN)
    assert sorted(path.name for path in folder.iterdir()) == ["manifest.json", "part-00000.txt"]


@pytest.mark.parametrize("finished", [False, True])
def test_another_plan_is_refused(tmp_path: Path, finished: bool) -> None:
    scale.folder(tmp_path / "out", PLAN)
    if finished:
        scale.finish(tmp_path / "out", PLAN)
    with pytest.raises(ValueError, match="size.*3.*4"):
        scale.folder(tmp_path / "out", {**PLAN, "size": 4})


def test_other_folders_and_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(ValueError, match="mine"):
        scale.folder(tmp_path / "mine", PLAN)
    with pytest.raises(ValueError, match="thesis"):
        scale.folder(tmp_path / "mine" / "thesis.txt", PLAN)
    with pytest.raises(ValueError, match="mine"):
        scale.manifest(tmp_path / "mine")
    (tmp_path / "mine" / scale.MANIFEST).write_text("[1")
    with pytest.raises(ValueError, match="damaged"):
        scale.manifest(tmp_path / "mine")


def test_clear_removes_only_the_files_that_were_made(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    scale.folder(folder, PLAN)
    scale.each(letters, files_in(folder, "a"))
    scale.finish(folder, PLAN)
    (folder / "thesis.txt").write_text("years of work")
    scale.clear(folder)
    assert [path.name for path in folder.iterdir()] == ["thesis.txt"]
    with pytest.raises(ValueError):
        scale.folder(folder, PLAN)


SCRIPT = """
import sys, time
from pathlib import Path
from labkit import scale
def quick(number, path):
    time.sleep(0.01)
    path.touch()
def slow(number, path):
    time.sleep(3600 if number else 0)
    path.touch()
if __name__ == "__main__":
    files = {Path(sys.argv[2]) / str(number): number for number in range(5_000)}
    work = {"quick": quick, "slow": slow}[sys.argv[1]]
    scale.each(work, files, workers=2, progress=lambda done, total, what: print(done, flush=True))
"""


@pytest.mark.whole
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks up processes in /proc")
@pytest.mark.parametrize(("sent", "call"), [(signal.SIGINT, "quick"), (signal.SIGKILL, "slow")])
def test_no_process_is_left_behind(tmp_path: Path, sent: signal.Signals, call: str) -> None:
    """Ctrl-C goes to all processes of the terminal; a kill only to the first, even in the middle of a task."""
    script = tmp_path / "endless.py"
    script.write_text(SCRIPT)
    running = subprocess.Popen(
        [sys.executable, str(script), call, str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline() == "1\n"
    children = _children(running.pid)
    assert len(children) >= 2
    if sent == signal.SIGINT:
        os.killpg(running.pid, sent)
    else:
        running.send_signal(sent)
    running.stdout.close()
    assert running.wait(HANG) != 0
    said = running.stderr.read() if sent == signal.SIGINT else ""
    assert said.count("Traceback") <= 1  # from the script itself, which catches nothing
    assert "SpawnProcess" not in said
    until(lambda: not any(_alive(process) for process in children))


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
