"""The figure of a class's progress: its numbers are those collected, and no name or text becomes markup."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.course.answers import Attempts
from labkit.course.collect import ClassProgress, Student, collect
from labkit.figures.class_progress import class_progress
from tests.course.thirty import NAMES
from tests.figures.examples import EVIL, texts_of


@pytest.mark.parametrize("notebook", [None, "02"])
def test_bars_are_the_counts(thirty: Path, notebook: str | None) -> None:
    progress = collect(thirty)
    figure = class_progress(progress, notebook)
    counts = [each for each in progress.exercises if each.key[:2] == (notebook or progress.notebook)]
    bars = {trace.name: list(trace.x) for trace in figure.data[:3]}
    assert bars == {
        "answered": [each.answered for each in counts],
        "solution read": [each.solution_read for each in counts],
        "stuck": [len(each.stuck) for each in counts],
    }
    assert [text.strip() for text in figure.layout.yaxis.ticktext] == [each.key for each in counts]
    slips = [each for each in progress.slips if each.key[:2] == (notebook or progress.notebook)][:4]
    assert list(figure.data[3].x) == [each.students for each in slips]


def test_names_are_shown_only_on_request(thirty: Path) -> None:
    progress = collect(thirty, names=True)
    shown = " ".join(texts_of(class_progress(progress, "00", names=True).to_plotly_json()))
    stuck = {name for each in progress.exercises if each.key[:2] == "00" for name in each.stuck[:4]}
    assert stuck
    assert all(name in shown for name in stuck)
    plain = " ".join(texts_of(class_progress(progress, "00").to_plotly_json()))
    assert [name for name in NAMES if name in plain] == []


def test_no_name_and_no_slip_becomes_markup() -> None:
    attempts = Attempts(tries=2, slips={EVIL: 2})
    students = tuple(Student(f"{EVIL}{n}", {"01.1": attempts}) for n in range(9))
    texts = list(texts_of(class_progress(ClassProgress(students), names=True).to_plotly_json()))
    assert [text for text in texts if "<b " in text or "<img" in text] == []
    assert sum("&lt;b onclick" in text for text in texts) == 2
    assert any(text.endswith(" + 5") for text in texts)
