"""What a reader meets: verdicts, hints, predictions, a record that is never in the way."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from labkit.lab.course import answers as check
from labkit.lab.course.answers import NAME, Attempts, open_record
from labkit.lab.course.exercise import Exercise, StillOpen, is_open, judge
from labkit.lab.course.exercise import number as one_number
from labkit.lab.course.exercises import LESSONS
from labkit.lab.course.notebooks import solution_of
from labkit.progress import NOTED, terminal

HINTS = ("one", "two", "three")


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("LABKIT_ANSWERS", "LABKIT_PROGRESS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def asked(look) -> Exercise:  # type: ignore[no-untyped-def]
    said = {"minutes": 1, "difficulty": "easy", "aim": "giving seven", "further": "Give eight."}
    return Exercise("01.1", "Give seven.", look, HINTS, "seven it is", **said)


def seven(given) -> str | None:  # type: ignore[no-untyped-def]
    found = given() if callable(given) else given
    return None if found == 7 else f"{found} is not seven"


def test_verdicts() -> None:
    assert judge(asked(seven), 7).right
    wrong = judge(asked(seven), 8)
    assert (wrong.right, wrong.says) == (False, "8 is not seven")
    assert repr(wrong) == "✗ 01.1: 8 is not seven"
    assert judge(asked(seven), lambda: 7).right


@pytest.mark.parametrize(
    "stumbles",
    [
        lambda: np.ones(4) * np.ones((4, 3)),
        lambda: np.ones((2, 3)) @ np.ones((2, 3)),
        lambda: np.dot(np.ones((2, 3)), np.ones((2, 3))),
        lambda: torch.ones(4) * torch.ones(4, 3),
        lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    ],
)
def test_shapes_that_do_not_go_together_are_advised_on(stumbles) -> None:  # type: ignore[no-untyped-def]
    assert judge(asked(seven), stumbles).says.endswith("`x[:, None]` adds it")


def test_a_mistake_in_an_answer_is_told() -> None:
    assert judge(asked(seven), lambda: 1 / 0).says == "your answer stops with ZeroDivisionError: division by zero"
    assert "TypeError" in judge(asked(seven), lambda: len(3)).says  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given",
    [..., (..., 1), [1, [...]], {"a": ...}, lambda: ..., lambda: (1, ...), lambda: torch.ones(2) * ...],
)
def test_open_answers_stop_with_the_question(given) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(StillOpen, match=r"01.1 is open: Give seven\."):
        judge(asked(seven), given)


def test_a_forgotten_return_is_no_open_answer() -> None:
    def forgets(x: int = 7) -> None:
        x + 0

    assert "end it with `return`" in judge(asked(seven), forgets).says
    assert "return" in judge(asked(seven), None).says

    def begun() -> None:
        found = ...  # noqa: F841

    with pytest.raises(StillOpen):
        judge(asked(seven), begun)


def test_an_answer_of_another_kind_is_told_without_the_name_of_an_error() -> None:
    says = judge(asked(lambda given: str(one_number(given))), "x").says
    assert says == "numbers were expected, and the text 'x' came"


def test_a_solution_is_shown_run_and_kept_as_seen(empty: Path) -> None:
    shown = check.solve("01.4")
    assert "smallest, largest = 0.1192, 0.8808" in shown.text
    assert "answer(" not in shown.text
    assert (smallest, largest) == (0.1192, 0.8808)  # type: ignore[name-defined]  # noqa: F821
    assert "01.4" in check.progress("01").text.partition("solution read: ")[2]
    assert check.answer("01.4", (0.1192, 0.8808)).good
    assert "0 of 8 answered; solution read: 01.4" in check.progress("01").text
    with pytest.raises(ValueError, match=r"expected one of 01\.1"):
        check.solve("01.99")


@pytest.mark.parametrize("key", [key for lesson in LESSONS.values() for key in lesson.exercises])
def test_every_exercise_has_a_solution(key: str) -> None:
    compile(solution_of(key), key, "exec")


def test_open_is_one_line_and_not_a_traceback() -> None:
    lines = StillOpen("01.1 is open")._render_traceback_()
    assert lines == ["○ 01.1 is open"]
    assert not is_open("...")


def test_tries_hints_and_rightness_are_kept(empty: Path) -> None:
    key = "01.4"
    assert check.answer(key, (0.0, 1.0)).good is False
    assert "hint('01.4')" in check.answer(key, (0.0, 1.0)).text
    told = [check.hint(key).text for _ in range(4)]
    assert len(set(told)) == 3
    assert told[3] == told[2]
    assert "solve('01.4')" in check.answer(key, (0.0, 1.0)).text  # all three have been read
    assert check.answer(key, (0.1192, 0.8808)).good is True
    assert check.answer(key, (0.0, 1.0)).good is False
    kept = json.loads((empty / NAME).read_text())["answers"][key]
    far = "0 and 1 are reached for differences without end; two cosines differ by no more than 2"
    assert kept == {"tries": 5, "right": True, "hints": 3, "seen": False, "slips": {far: 4}}
    assert "1 of 8 answered" in check.progress("01").text
    assert "open: 01.1" in check.progress().text


def test_a_mistake_without_a_name_is_no_slip_and_a_record_stays_small(empty: Path) -> None:
    key = "01.4"
    check.answer(key, (0.3, 0.6))  # wrong in a way that no table knows
    assert open_record().of(key).slips == {}
    attempts = Attempts()
    for number in range(100):
        attempts.keep_slip(f"{number} {'x' * 999}")
        attempts.keep_slip("0 " + "x" * 999)
    assert (len(attempts.slips), max(map(len, attempts.slips))) == (20, 200)
    assert max(attempts.slips.values()) == 101


def test_a_record_of_before_there_were_slips_goes_on(empty: Path) -> None:
    old = {"tries": 1, "right": True, "hints": 0, "seen": False}
    (empty / NAME).write_text(json.dumps({"answers": {"01.4": old}, "predictions": {}}))
    check.hint("01.4")
    assert open_record().answers["01.4"] == Attempts(tries=1, right=True, hints=1)


def test_predictions_stand_beside_the_truth() -> None:
    assert "put your guess" in check.predict("01.a", ...).text
    assert "made no prediction" in check.recall("01.a", "nearest negative").text
    check.predict("01.a", "Nearest negative ")
    assert check.recall("01.a", "nearest negative").text.endswith("as you said.")
    assert "as you said" not in check.recall("01.a", "farthest positive").text
    check.predict("01.b", 0.25)
    assert check.recall("01.b", 0.5).text == "01.b: you predicted 0.25; it is 0.5."
    check.predict("01.b", 80)  # in per cent, where a share was asked for
    assert check.recall("01.b", 0.5).text == "01.b: you predicted 80 (as a share 0.8); it is 0.5."
    assert check.recall("01.b", 64).text == "01.b: you predicted 80; it is 64."


@pytest.mark.parametrize("key", ["01.99", "99.1", "", "x", "01.a"])
def test_unknown_exercises_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        check.answer(key, 1)


def test_unknown_predictions_and_notebooks_are_refused() -> None:
    with pytest.raises(ValueError, match=r"expected one of 01\.a"):
        check.predict("01.1", 1)
    with pytest.raises(ValueError, match="notebook is '99'"):
        check.progress("99")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"answers": {"01.1": 3}, "predictions": {}}', "\0"])
def test_a_record_that_is_none_is_put_aside(empty: Path, content: str) -> None:
    (empty / NAME).write_text(content)
    assert check.answer("01.4", (0.1192, 0.8808)).good
    assert (empty / f"{NAME}.unreadable").read_text() == content
    assert open_record().of("01.4").right


def test_where_nothing_can_be_written_the_lesson_goes_on(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_ANSWERS", str(empty / "no" / "such" / "folder.json"))
    assert check.answer("01.4", (0.1192, 0.8808)).good


@pytest.mark.parametrize("name", ["LABKIT_ANSWERS", "LABKIT_PROGRESS"])  # the second is what it was called before
def test_no_progress_bar_writes_over_the_answers(empty: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, str(empty / "mine.json"))
    assert check.answer("01.4", (0.1192, 0.8808)).good
    with terminal("batch") as draw:
        draw(3, 9, "doing")
    assert open_record().path == empty / "mine.json"
    assert open_record().of("01.4").right


def test_the_new_name_goes_before_the_old(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_PROGRESS", str(empty / "old.json"))
    monkeypatch.setenv("LABKIT_ANSWERS", str(empty / "new.json"))
    assert open_record().path == empty / "new.json"


def test_answers_are_kept_apart_from_what_a_training_says_of_itself(
    empty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(NOTED, str(empty / "bar.json"))
    assert open_record().path == empty / NAME


def test_what_is_shown_is_text(empty: Path) -> None:
    check.predict("01.a", "<b>x</b>")
    html = check.recall("01.a", "<i>")._repr_html_()
    assert "<b>" not in html
    assert "&lt;b&gt;" in html


def test_every_exercise_is_whole() -> None:
    for number, lesson in LESSONS.items():
        assert 4 <= len(lesson.exercises) <= 12
        for key, each in lesson.exercises.items():
            assert key.startswith(f"{number}.")
            assert each.asks.endswith((".", "?"))
            assert len(set(each.hints)) == 3
            assert each.praise
