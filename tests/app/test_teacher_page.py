"""The page "Teacher" without a browser: whom it is for, who is here, what runs, and room on the disk."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from trainings import Order, Queue
from trainings import queue as module
from trainings.owners import Owned, all_owned, write_owned

from tests.waiting import until

from .conftest import Opened, fine, refused

WAITS = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    time.sleep(1_000)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    """A queue whose trainings wait until they are stopped."""
    (tmp_path / "waits.py").write_text(WAITS)
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "runs"))
    made = Queue(tmp_path / "runs", program=[sys.executable, str(tmp_path / "waits.py")])
    monkeypatch.setitem(module._QUEUES, made.runs, made)
    yield made
    made.close()


@pytest.fixture
def came(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A classroom, and what its guard says of the visitor."""
    headers = {"x-labkit-visitor": "b" * 16, "x-labkit-role": "teacher"}
    monkeypatch.setenv("LABKIT_CLASSROOM", "1")
    monkeypatch.setattr(type(st.context), "headers", property(lambda self: headers))
    return headers


def guarded(opened: Opened) -> tuple[AppTest, Any]:
    """The page as it is behind the guard, and who is here."""
    page = opened("teacher_page")
    present = importlib.import_module("classroom").PRESENT
    present.guarded = True
    return page, present


def said(page: AppTest) -> str:
    return "\n".join(text.value for text in (*page.markdown, *page.caption))


def test_it_is_the_teachers_alone(opened: Opened, queue: Queue, came: dict[str, str]) -> None:
    refused(opened("teacher_page").run(), "This page is the teacher's")  # nobody is one without the guard
    came["x-labkit-role"] = "visitor"
    refused(guarded(opened)[0].run(), "This page is the teacher's")


def test_who_is_here_and_what_runs_is_shown_and_stopped(opened: Opened, queue: Queue, came: dict[str, str]) -> None:
    page, present = guarded(opened)
    present.came("a" * 16, False)
    present.came("b" * 16, True)
    present.turned("a" * 16, "Train")
    jobs = [queue.submit(Order("tfidf", "topics", seed), visitor="a" * 16) for seed in (1, 2)]
    fine(page.run())
    assert "Here now: 2" in said(page)
    rows = page.dataframe[0].value.to_dict("records")
    assert [(row["Visitor"], row["Page"], row["Trainings"]) for row in rows] == [
        ("1", "Train", 2),
        ("2 (teacher)", "", 0),
    ]
    assert "Trainings that run or wait: 2 of 12" in said(page)
    assert "**Visitor 1** · tfidf on topics, seed 2 · waiting" in said(page)
    for job in jobs[::-1]:
        fine(page.button(key=f"stop-{job.id}").click().run())
    until(lambda: not queue.busy)
    present.left("a" * 16)
    fine(page.run())
    assert "Here now: 1" in said(page)
    assert "None. Visitors begin them on the page Train." in said(page)


def test_room_is_made_by_what_is_not_shared(opened: Opened, queue: Queue, came: dict[str, str]) -> None:
    for name, owner, shared in (("one", "a" * 16, False), ("two", "a" * 16, True), ("three", "c" * 16, False)):
        (queue.runs / name).mkdir()
        write_owned(Owned(queue.runs / name, owner, shared))
    page, present = guarded(opened)
    present.came("a" * 16, False)
    present.left("a" * 16)
    fine(page.run())
    assert "**Visitor 1, who has left** · " in said(page)
    assert "2 runs, 1 shared" in said(page)
    assert "**Visitor cccccc of an earlier start**" in said(page)
    button = page.button(key=f"delete-{'a' * 16}")
    assert button.label == "Delete 1 run"
    fine(button.click().run())
    assert [run.folder.name for run in all_owned(queue.runs)] == ["three", "two"]
    assert not (queue.runs / "one").exists()
    assert f"delete-{'a' * 16}" not in [button.key for button in page.button]
