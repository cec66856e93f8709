"""The functions that a notebook calls: answers, hints, solutions and predictions, and the record of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

from labkit.course import answers
from labkit.course.answers import NAME, Attempts, open_record, start_page
from labkit.course.notebooks import sources

RIGHT, WRONG = 0.2, 0.0  # of exercise 09.3


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(answers, "SOLVED", set())
    monkeypatch.delenv(answers.VARIABLE, raising=False)
    return tmp_path


def test_tries_hints_and_slips_are_kept(empty: Path) -> None:
    slip = answers.answer("09.3", WRONG)
    assert slip.good is False
    assert "hint('09.3')" in answers.answer("09.3", WRONG).text
    hints = [answers.hint("09.3").text for _ in range(4)]
    assert len(set(hints)) == 3
    assert hints[3] == hints[2]
    assert "solve('09.3')" in answers.answer("09.3", WRONG).text  # all hints have been read
    assert answers.answer("09.3", RIGHT).good is True
    assert answers.answer("09.3", WRONG).good is False
    kept = json.loads((empty / NAME).read_text())["answers"]["09.3"]
    ((says, times),) = kept.pop("slips").items()
    assert kept == {"tries": 5, "right": True, "hints": 3, "seen": False}
    assert times == 4
    assert says in slip.text
    assert "1 of 4" in answers.progress("09").text
    assert len(answers.progress().text.splitlines()) == 13


def test_an_unnamed_mistake_is_not_a_slip() -> None:
    answers.answer("09.3", 0.35)
    assert open_record().of("09.3") == Attempts(tries=1)


def test_a_record_stays_small() -> None:
    attempts = Attempts()
    for number in range(100):
        attempts.keep_slip(f"{number} {'x' * 999}")
        attempts.keep_slip("0 " + "x" * 999)
    assert (len(attempts.slips), max(map(len, attempts.slips))) == (20, 200)
    assert max(attempts.slips.values()) == 101


def test_a_solution_is_shown_run_and_kept_as_seen() -> None:
    shown = answers.solve("09.3")
    assert "cost = 0.2" in shown.text
    assert "answer(" not in shown.text
    assert cost == RIGHT  # noqa: F821 (`solve` has run the solution here)
    assert answers.answer("09.3", RIGHT).good
    assert open_record().of("09.3").mark == "◐"
    assert "0 of 4" in answers.progress("09").text


def test_a_prediction_is_shown_next_to_the_truth() -> None:
    said = answers.recall
    answers.predict("01.a", ...)
    nothing = said("01.a", "nearest negative").text
    answers.predict("01.a", "Nearest negative ")
    same, other = said("01.a", "nearest negative").text, said("01.a", "farthest positive").text
    assert len({nothing, same, same.replace("nearest negative", "farthest positive"), other}) == 4
    answers.predict("01.b", 0.25)
    assert "0.25" in said("01.b", 0.5).text
    answers.predict("01.b", 80)  # as a percentage instead of a share
    assert "0.8" in said("01.b", 0.5).text
    assert "0.8" not in said("01.b", 64).text


@pytest.mark.parametrize("key", ["99.1", "01.a"])
def test_unknown_exercises_are_refused(key: str) -> None:
    for call in (answers.hint, answers.solve, lambda key: answers.answer(key, 1)):
        with pytest.raises(ValueError, match="key"):
            call(key)


def test_the_text_of_an_exception_is_not_kept(empty: Path) -> None:
    said = answers.answer("00.1", lambda u, v: {}["my secret"]).text
    assert "my secret" in said
    assert "secret" not in (empty / NAME).read_text()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"answers": {"01.1": 3}, "predictions": {}}'])
def test_an_unreadable_record_is_put_aside(empty: Path, content: str) -> None:
    (empty / NAME).write_text(content)
    assert answers.answer("09.3", RIGHT).good
    assert (empty / f"{NAME}.unreadable").read_text() == content
    assert open_record().of("09.3").right


def test_without_a_writable_record_the_lesson_continues(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty / "file").touch()
    monkeypatch.setenv("LABKIT_ANSWERS", str(empty / "file" / "folder.json"))
    assert answers.answer("09.3", RIGHT).good


def test_html_is_escaped() -> None:
    answers.predict("01.a", "<b>x</b>")
    html = answers.recall("01.a", "<i>")._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


# --- the start page --------------------------------------------------------------------------------------------------

DONE = {"tries": 1, "right": True, "hints": 0, "seen": False}
BEGUN = {"tries": 2, "right": False, "hints": 1, "seen": False}


def page(folder: Path) -> str:
    notebook = nbformat.read(start_page(folder), as_version=4)
    nbformat.validate(notebook)
    return str(notebook.cells[0].source)


def test_the_start_page_has_every_lesson_with_its_minutes_and_the_last_exercise(tmp_path: Path) -> None:
    for unreadable in (False, True):
        if unreadable:
            (tmp_path / NAME).write_text("{")
        rows = [line.split(" | ") for line in page(tmp_path).splitlines() if ".ipynb) | " in line]
        assert [row[0].split("(")[1].removesuffix(".ipynb)") for row in rows] == [source.stem for source in sources()]
        assert all(20 <= int(row[1]) <= 150 for row in rows)
        assert all(row[2].startswith("0 of ") for row in rows)
        assert "**" not in page(tmp_path)
    (tmp_path / NAME).write_text(json.dumps({"answers": {"01.1": DONE, "01.2": BEGUN}, "predictions": {}}))
    text = page(tmp_path)
    assert re.search(r"01\.2\b.*\[1 · Pairs and weights\]\(01_pairs_and_weights\.ipynb\)", text)
    assert "| 1 of 5 |" in text
