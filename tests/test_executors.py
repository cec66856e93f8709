"""Who does the work of many tasks: the same answers from all, little under way at a time, and quiet ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from labkit.executors import Local, executor_of
from tests.waiting import HANG, until

SCRIPT = """
import sys, time
from labkit.executors import Local
def endless():
    number = 0
    while True:
        yield number
        number += 1
def long(number):
    time.sleep(3600 if number else 0)
    return number
if __name__ == "__main__":
    for answer in Local(2).map({"abs": abs, "long": long}[sys.argv[1]], endless()):
        print(answer, flush=True)
        time.sleep(0.01)
"""


def test_the_names_of_executors() -> None:
    assert executor_of("local").workers == (os.cpu_count() or 1)
    assert executor_of("local:3").workers == 3
    for name in ("local:0", "local:two", "threads"):
        with pytest.raises(ValueError, match=f"'{name}'"):
            executor_of(name)


def test_without_ray_one_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match="Ray"):
        executor_of("ray")


def test_one_worker_is_this_process_and_reads_nothing_ahead() -> None:
    answers = Local(1).map(_process, iter([1, 2]))
    assert next(answers) == os.getpid()
    stream = iter(range(5))
    assert next(Local(1).map(abs, stream)) == 0
    assert next(stream) == 1


def _process(_: int) -> int:
    return os.getpid()


@pytest.mark.whole
def test_answers_in_order_or_as_they_come() -> None:
    executor = Local(2)
    numbers = list(range(-30, 30))
    assert list(executor.map(_slow_where_small, numbers)) == [abs(number) for number in numbers]
    assert sorted(executor.map(abs, numbers, ordered=False)) == sorted(map(abs, numbers))
    assert list(executor.map(abs, [])) == []


def _slow_where_small(number: int) -> int:
    time.sleep(0.05 if number % 7 == 0 else 0)
    return abs(number)


@pytest.mark.whole
def test_a_process_that_dies_is_no_endless_wait() -> None:
    with pytest.raises(ValueError, match="process"):
        list(Local(2).map(_end, [1, 2]))


def _end(_: int) -> None:
    os._exit(3)


@pytest.mark.whole
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks up processes in /proc")
@pytest.mark.parametrize(("sent", "call"), [(signal.SIGINT, "abs"), (signal.SIGKILL, "long")])
def test_no_process_is_left_behind(tmp_path: Path, sent: signal.Signals, call: str) -> None:
    """Ctrl-C goes to all processes of the terminal; a kill to the first one alone, in the middle of a task too."""
    script = tmp_path / "endless.py"
    script.write_text(SCRIPT)
    running = subprocess.Popen(
        [sys.executable, str(script), call],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline() == "0\n"
    children = _children(running.pid)
    assert len(children) >= 2
    if sent == signal.SIGINT:
        os.killpg(running.pid, sent)
    else:
        running.send_signal(sent)
    running.stdout.close()
    assert running.wait(HANG) != 0
    said = running.stderr.read() if sent == signal.SIGINT else ""
    assert said.count("Traceback") <= 1  # that of the script itself, which catches nothing
    assert "SpawnProcess" not in said
    until(lambda: not any(_alive(process) for process in children))


def _children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
