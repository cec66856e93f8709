"""Progress in notebooks and terminals, progress lines in logs, and collected notes."""

from __future__ import annotations

import json
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import IPython.display
import pytest

from labkit import progress
from labkit.progress import collected, in_notebook, note


class Output:
    """The output of a cell: everything that was displayed in each place, in order."""

    def __init__(self) -> None:
        self.places: list[list[str]] = []

    def display(self, forms: dict[str, str], *, raw: bool, display_id: bool) -> Any:
        assert raw
        assert display_id
        place = [forms["text/plain"]]
        self.places.append(place)
        return SimpleNamespace(update=lambda forms, *, raw: place.append(forms["text/plain"]))


@pytest.fixture
def output(monkeypatch: pytest.MonkeyPatch) -> Output:
    made = Output()
    monkeypatch.setattr(IPython.display, "display", made.display)
    return made


def test_a_bar_is_updated_in_place_and_its_last_state_stays(output: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.0)
    with in_notebook("cnn") as shown:
        shown(0, None, "word vectors")
        for done in range(1, 5):
            shown(done, 4, f"epoch {done} of 4")
    (place,) = output.places
    assert place[3].startswith(f"{'█' * 10}{'░' * 10} cnn")
    assert place[-1] == f"{'█' * 20} cnn, epoch 4 of 4"  # without times, so that a notebook is reproducible


# --- where standard error is a file ------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that tests can set."""
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    monkeypatch.setattr("tqdm.std.time", lambda: now[0])  # tqdm's own reference
    monkeypatch.setattr(progress, "_hushed", False)
    monkeypatch.setattr(progress, "_last_line", 1000.0)
    monkeypatch.delenv("RANK", raising=False)
    monkeypatch.delenv(progress.NOTED, raising=False)
    return now


def test_a_log_gets_one_line_per_minute(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    for epoch in (1, 2):  # minutes are counted across tasks
        with progress.terminal("batch") as shown:
            for done in range(6):
                shown(done, 5, f"epoch {epoch}")
                clock[0] += 20
    said = capsys.readouterr().err.splitlines()
    assert [line.split(":")[1].strip() for line in said] == ["epoch 1", "epoch 2", "epoch 2"]
    assert " 3/5 [01:00<00:39" in said[0]


def test_only_the_first_process_draws_unless_hushed(
    clock: list[float], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> str:
        with progress.terminal("B") as shown:
            clock[0] += 99
            shown(0, None, "too soon")
            clock[0] += 9
            shown(2**21, None, "encoding")
        return capsys.readouterr().err

    assert told().startswith("labkit: encoding: : 2.10MB")
    with monkeypatch.context() as here:
        here.setenv("RANK", "1")
        assert told() == ""
    progress.hush()
    assert told() == ""
    progress.hush(False)
    assert told()


def test_recorded_progress_estimates_the_remaining_time(
    clock: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(progress.NOTED, str(tmp_path / "p.json"))

    def told() -> dict:
        return json.loads((tmp_path / "p.json").read_text())

    with progress.terminal("batch") as draw:
        draw(40, 100, "epoch 5")  # resumed: the first 40 do not count towards the rate
        assert told() == {"done": 40, "total": 100, "what": "epoch 5", "left": None}
        clock[0] += 0.1
        draw(41, 100, "too soon")
        assert told()["done"] == 40
        clock[0] += 9.9
        draw(60, 100, "epoch 7")  # 20 in 10 seconds, so 40 take 20
        assert told()["left"] == pytest.approx(20)
        draw(10, 80, "encoding")  # another task, recorded at once
        assert told() == {"done": 10, "total": 80, "what": "encoding", "left": None}
        clock[0] += 2
        draw(0, None, "words")
        assert told()["total"] is None


# --- notes ---------------------------------------------------------------------------------------------------------
# Notes go to the innermost collector in the same thread, and nowhere else.


def test_a_collector_gets_notes_instead_of_warnings() -> None:
    with warnings.catch_warnings(record=True) as heard, collected() as outer:
        warnings.simplefilter("always")
        note("one")
        with collected() as inner:
            note("two")
        note("three")
    assert (outer, inner, heard) == (["one", "three"], ["two"], [])
    with pytest.warns(UserWarning, match="four"):
        note("four")


def test_two_threads_collect_their_own_notes() -> None:
    together = threading.Barrier(2)

    def told(name: str) -> list[str]:
        with collected() as notes:
            together.wait(60)  # both collect before either makes a note
            note(name)
            together.wait(60)
        return notes

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(told, ["mine", "yours"])) == [["mine"], ["yours"]]
