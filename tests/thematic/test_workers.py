"""Several processes: the same answers in the same order, little under way at a time, and quiet ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from labkit.thematic.wikipedia import AHEAD, mapped, usual
from tests.waiting import HANG, until

pytestmark = pytest.mark.whole

SCRIPT = """
import sys, time
from labkit.thematic.wikipedia import mapped
def endless():
    number = 0
    while True:
        yield number
        number += 1
if __name__ == "__main__":
    for answer in mapped(sum, endless(), workers=2, batch=4):
        print(answer, flush=True)
        time.sleep(0.01)
"""


def test_answers_in_order() -> None:
    expected = [sum(range(start, min(start + 7, 100))) for start in range(0, 100, 7)]
    assert list(mapped(sum, range(100), batch=7)) == expected
    assert list(mapped(sum, range(100), workers=2, batch=7)) == expected
    assert list(mapped(sum, [], batch=7)) == []


def test_a_stream_is_not_read_ahead_to_its_end() -> None:
    taken = 0

    def endless() -> Iterator[int]:
        nonlocal taken
        while True:
            taken += 1
            yield taken

    answers = mapped(sum, endless(), workers=2, batch=3)
    assert [next(answers), next(answers)] == [6, 15]
    answers.close()  # type: ignore[attr-defined]
    assert taken <= (2 * AHEAD + 2) * 3


def test_as_many_processes_as_cores_up_to_eight(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in ((None, 1), (2, 2), (64, 8)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert usual() == expected


def test_a_mistake_comes_through() -> None:
    with pytest.raises(TypeError):
        list(mapped(sum, ["a", "b"], workers=2))
    with pytest.raises(ValueError, match="workers is 0, expected at least 1"):
        list(mapped(sum, [1], workers=0))


def test_a_process_that_dies_is_no_endless_wait() -> None:
    with pytest.raises(ValueError, match="a process ended before its work was done"):
        list(mapped(_end, [1, 2], workers=2, batch=1))


def _end(items: list[int]) -> None:
    os._exit(3)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks up processes in /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_behind(tmp_path: Path, sent: signal.Signals) -> None:
    """Ctrl-C goes to all processes of the terminal; a kill to the first one alone."""
    script = tmp_path / "endless.py"
    script.write_text(SCRIPT)
    running = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline() == "6\n"
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
