"""What a notebook says to its reader: whether an answer is right and, where not, why; hints; predictions kept.

    answer("01.3", mine)      looks at once: ✓ and what it shows, ✗ and what is wrong; `...` stops with the question
    hint("01.3")              the next of three hints, from a nudge to nearly the answer
    solve("01.3")             the solution, shown and run, so that nobody is stopped by an open exercise
    predict("01.a", guess)    keeps a guess before the cell that shows
    recall("01.a", truth)     puts the two side by side afterwards
    progress()                what is answered so far

The exercises of each notebook are a module of `labkit.check.lessons`; the record is `progress.json`, in this folder.
"""

from __future__ import annotations

import inspect
from typing import Any

from labkit.check.exercise import HINTS, StillOpen, Verdict, is_open, judge
from labkit.check.lessons import exercise, lesson
from labkit.check.progress import opened
from labkit.check.showing import Shown, compared, summary
from labkit.course.sources import solution_of

__all__ = ["StillOpen", "Verdict", "answer", "hint", "predict", "progress", "recall", "solve"]


def answer(key: str, given: Any) -> Shown:
    """Look at an answer and keep that it was given."""
    verdict = judge(exercise(key), given)
    record = opened()
    tried = record.of(key)
    tried.tries += 1
    tried.right = tried.right or verdict.right
    record.keep()
    helps = f"`hint({key!r})` helps" if tried.hints < HINTS else f"`solve({key!r})` shows and runs the solution"
    after = "" if verdict.right else f"  ·  {helps}"
    return Shown(repr(verdict) + after, good=verdict.right)


def hint(key: str) -> Shown:
    """The next hint: the third says nearly all."""
    wanted = exercise(key)
    record = opened()
    tried = record.of(key)
    number = min(tried.hints, HINTS - 1)
    tried.hints = number + 1
    record.keep()
    return Shown(f"{key}, hint {number + 1} of {HINTS}: {wanted.hints[number]}")


def solve(key: str) -> Shown:
    """Show the solution of an exercise and run it where this was called: later cells find its names."""
    exercise(key)
    code, frame = solution_of(key), inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    exec(compile(code, f"<solution of {key}>", "exec"), frame.f_back.f_globals)  # our own code, from the package
    record = opened()
    record.of(key).seen = True
    record.keep()
    return Shown(f"{key}, the solution; it has been run, and you can go on:\n\n{code}")


def predict(key: str, guess: Any) -> Shown:
    """Keep a guess. A `...` is allowed: nobody is stopped for not guessing."""
    lesson(key)
    if is_open(guess):
        return Shown(f"○ {key}: put your guess in the place of `...`, and run the cell again, before you go on.")
    record = opened()
    record.predictions[key] = guess if isinstance(guess, int | float | str | bool) else str(guess)
    record.keep()
    return Shown(f"{key}: noted, {_short(guess)}. Now go on and see.")


def recall(key: str, truth: Any) -> Shown:
    """The guess beside what was found."""
    lesson(key)
    return compared(key, opened().predictions.get(key), truth)


def progress(notebook: str | None = None) -> Shown:
    """What is answered, of one notebook ("01") or of all."""
    return summary(opened(), notebook)


def _short(guess: Any) -> str:
    return repr(guess) if isinstance(guess, str) else str(guess)
