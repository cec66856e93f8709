"""An exercise of a notebook: what is asked, three hints, and the look at the answer, all three in one place.

    @LESSON.exercise("01.3", "Write …", ("a nudge", "more", "nearly all"), "what the right answer shows")
    def look(answer) -> str | None      None where the answer is right, else a complaint: what is wrong, in one sentence

A look is written like a teacher's: it knows what typical mistakes would give, and names the one it finds. An answer is
a value, or a function that the look calls with cases of its own (`trying.py`). `...` anywhere in it means: still open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Look: TypeAlias = Callable[[Any], str | None]
HINTS = 3


class StillOpen(Exception):
    """The answer has a `...` in it. Shown as one line: a whole traceback would look like a mistake."""

    def _render_traceback_(self) -> list[str]:
        return [f"○ {self}"]


class NothingBack(Exception):
    """The student's function has no `...` left and gives None."""


class Unfit(ValueError):
    """What came is of another kind than what was asked for; the message is the complaint."""


class Unnamed(str):
    """A complaint that says only where an answer is wrong: its mistake is none that the look knows."""


@dataclass(frozen=True)
class Exercise:
    """`key` as the notebook numbers it, "01.3"; `asks` in a line; `praise` says what the right answer shows."""

    key: str
    asks: str
    look: Look
    hints: tuple[str, str, str]
    praise: str


@dataclass(frozen=True)
class Lesson:
    """A notebook's number, its exercises by their keys, and the keys of its predictions."""

    number: str
    predictions: tuple[str, ...]
    exercises: dict[str, Exercise] = field(default_factory=dict)

    def exercise(self, key: str, asks: str, hints: tuple[str, str, str], praise: str) -> Callable[[Look], Look]:
        """Make a look the one of this exercise."""

        def keep(look: Look) -> Look:
            self.exercises[key] = Exercise(key, asks, look, hints, praise)
            return look

        return keep


@dataclass(frozen=True)
class Verdict:
    """What a look found. `says` is the praise or the complaint; `named`: the complaint knows the mistake."""

    key: str
    right: bool
    says: str
    named: bool = True

    def __repr__(self) -> str:
        return f"{'✓' if self.right else '✗'} {self.key}: {self.says}"


def judge(exercise: Exercise, answer: Any) -> Verdict:
    """Look at an answer; a mistake inside the student's own function is told, not thrown."""
    if is_open(answer):
        raise StillOpen(_open(exercise, "answer"))
    if answer is None:
        return Verdict(exercise.key, False, "None came, which is no answer: does a function lack its `return`?")
    try:
        complaint = exercise.look(_watched(answer, exercise) if callable(answer) else answer)
    except StillOpen:
        raise
    except NothingBack:
        says = "your function gives nothing back: end it with `return` and what was asked for, on every way through it"
        return Verdict(exercise.key, False, says)
    except Unfit as other_kind:
        return Verdict(exercise.key, False, str(other_kind))
    except Exception as mistake:  # whatever a student's function may throw
        return Verdict(exercise.key, False, f"your answer stops with {type(mistake).__name__}: {mistake}")
    return Verdict(exercise.key, complaint is None, complaint or exercise.praise, not isinstance(complaint, Unnamed))


def is_open(answer: Any) -> bool:
    """Whether a `...` stands where something is to be filled in."""
    if isinstance(answer, Mapping):
        return any(is_open(each) for each in answer.values())
    if isinstance(answer, Sequence) and not isinstance(answer, str):
        return any(is_open(each) for each in answer)
    return answer is ...


def _open(exercise: Exercise, what: str) -> str:
    ways = f"In a new cell, `hint({exercise.key!r})` helps, and `solve({exercise.key!r})` shows and runs the solution."
    return f"{exercise.key} is open: {exercise.asks} Put your {what} in the place of `...`. {ways}"


def _watched(function: Callable[..., Any], exercise: Exercise) -> Callable[..., Any]:
    """The student's function; that it still has a `...` in it shows when it gives one, or trips over one."""
    still = StillOpen(_open(exercise, "code"))

    def call(*arguments: Any, **named: Any) -> Any:
        try:
            given = function(*arguments, **named)
        except (TypeError, AttributeError) as mistake:
            if "ellipsis" not in str(mistake).lower():
                raise
            raise still from None
        if is_open(given) or (given is None and _has_dots(function)):
            raise still
        if given is None:
            raise NothingBack
        return given

    return call


def _has_dots(function: Callable[..., Any]) -> bool:
    """Whether a `...` is left in the code of a function."""
    code = getattr(function, "__code__", None)
    return code is not None and ... in code.co_consts
