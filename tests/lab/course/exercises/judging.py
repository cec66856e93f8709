"""The tests that the exercises of all notebooks share: each module of tests has a table RIGHT and a table WRONG.

RIGHT    key -> forms of the right answer
WRONG    key -> (a wrong answer, words of the complaint)
"""

from __future__ import annotations

from typing import Any

import pytest

from labkit.lab.course.assign import DRAWN_ANEW, drawn_anew
from labkit.lab.course.exercise import judge
from labkit.lab.course.exercises import LESSONS, exercise

__all__ = [
    "test_a_wrong_answer_is_named",
    "test_each_exercise_has_right_forms_and_wrong_answers",
    "test_the_right_answer_is_taken",
    "test_the_right_answer_is_taken_on_cases_drawn_anew",
]
FEW = {"00.4": 6, "08.5": 5}  # wrong answers where a text is asked for; elsewhere there are ten at least


def test_the_right_answer_is_taken(key: str, given: Any) -> None:
    verdict = judge(exercise(key), given)
    assert verdict.right, verdict.says


def test_the_right_answer_is_taken_on_cases_drawn_anew(key: str, given: Any) -> None:
    """The hidden test of an assignment asks this."""
    with drawn_anew(DRAWN_ANEW):
        test_the_right_answer_is_taken(key, given)


def test_a_wrong_answer_is_named(key: str, given: Any, word: str) -> None:
    verdict = judge(exercise(key), given)
    assert not verdict.right
    assert word in verdict.says, verdict.says


def test_each_exercise_has_right_forms_and_wrong_answers(request: pytest.FixtureRequest) -> None:
    right, wrong = request.module.RIGHT, request.module.WRONG
    number = min(right).partition(".")[0]
    assert set(right) == set(wrong) == set(LESSONS[number].exercises)
    assert all(len(forms) >= 3 for forms in right.values())
    assert all(len(answers) >= FEW.get(key, 10) for key, answers in wrong.items())
