"""An exercise of a notebook: what is asked, three hints, and the one who looks at the answer.

    answer -> look(answer) -> None where it is right, else a complaint: what is wrong and where to look, in one sentence

A look is written like a teacher's: it computes what typical mistakes would give, and names the one it finds. An answer
is a value, or a function that the look calls with cases of its own. `...` anywhere in it means: not answered yet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Look: TypeAlias = Callable[[Any], str | None]
HINTS = 3


class StillOpen(Exception):
    """The answer has a `...` in it. Shown as one line: a whole traceback would look like a mistake."""

    def _render_traceback_(self) -> list[str]:
        return [f"○ {self}"]


@dataclass(frozen=True)
class Exercise:
    """`key` as the notebook numbers it, "01.3"; `asks` in a line; `praise` says what the right answer shows."""

    key: str
    asks: str
    look: Look
    hints: tuple[str, str, str]
    praise: str


@dataclass(frozen=True)
class Verdict:
    """What a look found. `says` is the praise or the complaint."""

    key: str
    right: bool
    says: str

    def __repr__(self) -> str:
        return f"{'✓' if self.right else '✗'} {self.key}: {self.says}"


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """Look at an answer; a mistake inside the student's own function is told, not thrown."""
    if is_open(answer):
        raise StillOpen(f"{exercise.key} is open: {exercise.asks} Put your answer in the place of `...`.")
    try:
        complaint = exercise.look(_watched(answer, exercise) if callable(answer) else answer)
    except StillOpen:
        raise
    except Exception as mistake:  # whatever a student's function may throw
        return Verdict(exercise.key, False, f"your answer stops with {type(mistake).__name__}: {mistake}")
    return Verdict(exercise.key, complaint is None, complaint or exercise.praise)


def is_open(answer: Any) -> bool:
    """Whether a `...` stands where something is to be filled in."""
    if isinstance(answer, Mapping):
        return any(is_open(each) for each in answer.values())
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return any(is_open(each) for each in answer)
    return answer is ...


def _watched(function: Callable[..., Any], exercise: Exercise) -> Callable[..., Any]:
    """The student's function; that it still has a `...` in it shows when it gives one, or trips over one."""

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            given = function(*arguments, **named)
        except TypeError as mistake:
            if "ellipsis" not in str(mistake).lower():
                raise
            given = ...
        if given is None or is_open(given):  # a function that gives nothing is not written yet
            raise StillOpen(f"{exercise.key} is open: {exercise.asks} Put your code in the place of `...`.")
        return given

    return call
