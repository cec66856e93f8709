"""What a notebook says to its reader: whether an answer is right and, where not, why; hints; predictions kept.

    answer("01.3", mine)      checks at once: ✓ and what it shows, ✗ and what is wrong; `...` stops with the question
    hint("01.3")              the next of three hints, from a nudge to nearly the answer
    solve("01.3")             the solution, shown and run, so that nobody is stopped by an open exercise
    predict("01.a", guess)    keeps a guess before the cell that shows
    recall("01.a", truth)     puts the two side by side afterwards
    progress()                what is answered so far

The exercises of each notebook are a module of `labkit.lab.course.exercises`. The record is a small file beside the
notebooks, `progress.json`, or the one that LABKIT_ANSWERS names (LABKIT_PROGRESS, as it was called, still does):

    {"answers": {"01.3": {"tries": 2, "right": true, "hints": 1, "seen": false}}, "predictions": {"01.a": "nearest"}}

A file that cannot be read or written costs the record, never the lesson: it is put aside, or left alone.
"""

from __future__ import annotations

import inspect
import json
import os
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from labkit.atomic import in_place
from labkit.lab.course.exercise import HINTS, StillOpen, Verdict, is_open, judge
from labkit.lab.course.exercises import LESSONS, exercise, lesson
from labkit.lab.course.notebooks import solution_of

__all__ = ["StillOpen", "Verdict", "answer", "hint", "predict", "progress", "recall", "solve"]

NAME = "progress.json"
VARIABLES = ("LABKIT_ANSWERS", "LABKIT_PROGRESS")  # no progress bar writes where the second points any more


@dataclass
class Attempts:
    """One exercise: how often answered, whether once rightly, how many hints were read, whether its solution was."""

    tries: int = 0
    right: bool = False
    hints: int = 0
    seen: bool = False


@dataclass
class AnswerRecord:
    """The answers and predictions of somebody; `path` is None where nothing can be kept."""

    path: Path | None = None
    answers: dict[str, Attempts] = field(default_factory=dict)
    predictions: dict[str, Any] = field(default_factory=dict)

    def of(self, key: str) -> Attempts:
        """What is known of an exercise."""
        return self.answers.setdefault(key, Attempts())

    def keep(self) -> None:
        """Write the file; where that is not possible, the lesson goes on without."""
        if self.path is None:
            return
        kept = {"answers": {key: asdict(each) for key, each in self.answers.items()}, "predictions": self.predictions}
        try:
            with in_place(self.path) as file:
                file.write(json.dumps(kept, indent=1, ensure_ascii=False).encode())
        except OSError:
            self.path = None


def open_record() -> AnswerRecord:
    """The record of this folder, or a new one. What is no record is put aside under another name."""
    named = next(filter(None, map(os.environ.get, VARIABLES)), None)
    path = Path(named).expanduser() if named else Path.cwd() / NAME
    try:
        return _read(path)
    except FileNotFoundError:
        return AnswerRecord(path)
    except (OSError, ValueError, TypeError, AttributeError, KeyError):
        return AnswerRecord(path if _put_aside(path) else None)


def _read(path: Path) -> AnswerRecord:
    record = json.loads(path.read_text("utf-8"))
    answers = {str(key): Attempts(**each) for key, each in record["answers"].items()}
    if any(not isinstance(each.tries, int) or not isinstance(each.hints, int) for each in answers.values()):
        raise ValueError("progress.json holds something else")
    return AnswerRecord(path, answers, dict(record["predictions"]))


def _put_aside(path: Path) -> bool:
    try:
        path.replace(path.with_name(f"{path.name}.unreadable"))
    except OSError:
        return False
    return True


# --- showing -----------------------------------------------------------------------------------------------------

GOOD, BAD, PLAIN = "#009E73", "#D55E00", "#808080"  # Okabe and Ito: told apart by all eyes, and the mark says it too


@dataclass(frozen=True)
class Shown:
    """A text; in a notebook with a coloured edge. `good` is None where nothing was judged."""

    text: str
    good: bool | None = None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        colour = PLAIN if self.good is None else GOOD if self.good else BAD
        style = f"border-left: 4px solid {colour}; padding: 2px 10px; margin: 4px 0; white-space: pre-wrap"
        return f'<div style="{style}">{escape(self.text)}</div>'


def _beside_truth(key: str, guess: Any, truth: Any) -> Shown:
    """A guess beside the truth. Numbers get their distance, words whether they are the same."""
    if guess is None:
        return Shown(f"{key}: it is {_written(truth)}. (You made no prediction.)")
    if _number(guess) and _number(truth):
        return Shown(f"{key}: you predicted {_written(guess)}; it is {_written(truth)}.")
    same = str(guess).strip().lower() == str(truth).strip().lower()
    return Shown(f"{key}: you predicted {guess!r}; it is {truth!r}{', as you said' if same else ''}.")


def _line(record: AnswerRecord, notebook: str) -> str:
    keys = list(LESSONS[notebook].exercises)
    marks = {key: "◐" if record.of(key).seen else "●" if record.of(key).right else "○" for key in keys}
    right, seen, still = ([key for key in keys if marks[key] == mark] for mark in "●◐○")
    rest = (f"; solution read: {', '.join(seen)}" if seen else "") + (f"; open: {', '.join(still)}" if still else "")
    return f"{notebook}  {''.join(marks.values())}  {len(right)} of {len(keys)} answered{rest or ', all of them'}"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# --- what a notebook calls ---------------------------------------------------------------------------------------


def answer(key: str, given: Any) -> Shown:
    """Check an answer and keep that it was given."""
    verdict = judge(exercise(key), given)
    record = open_record()
    attempts = record.of(key)
    attempts.tries += 1
    attempts.right = attempts.right or verdict.right
    record.keep()
    helps = f"`hint({key!r})` helps" if attempts.hints < HINTS else f"`solve({key!r})` shows and runs the solution"
    after = "" if verdict.right else f"  ·  {helps}"
    return Shown(repr(verdict) + after, good=verdict.right)


def hint(key: str) -> Shown:
    """The next hint: the third says nearly all."""
    wanted = exercise(key)
    record = open_record()
    attempts = record.of(key)
    number = min(attempts.hints, HINTS - 1)
    attempts.hints = number + 1
    record.keep()
    return Shown(f"{key}, hint {number + 1} of {HINTS}: {wanted.hints[number]}")


def solve(key: str) -> Shown:
    """Show the solution of an exercise and run it where this was called: later cells find its names."""
    exercise(key)
    code, frame = solution_of(key), inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    exec(compile(code, f"<solution of {key}>", "exec"), frame.f_back.f_globals)  # our own code, from the package
    record = open_record()
    record.of(key).seen = True
    record.keep()
    return Shown(f"{key}, the solution; it has been run, and you can go on:\n\n{code}")


def predict(key: str, guess: Any) -> Shown:
    """Keep a guess. A `...` is allowed: nobody is stopped for not guessing."""
    lesson(key)
    if is_open(guess):
        return Shown(f"○ {key}: put your guess in the place of `...`, and run the cell again, before you go on.")
    record = open_record()
    record.predictions[key] = guess if isinstance(guess, int | float | str | bool) else str(guess)
    record.keep()
    return Shown(f"{key}: noted, {repr(guess) if isinstance(guess, str) else guess}. Now go on and see.")


def recall(key: str, truth: Any) -> Shown:
    """The guess beside what was found."""
    lesson(key)
    return _beside_truth(key, open_record().predictions.get(key), truth)


def progress(notebook: str | None = None) -> Shown:
    """What is answered, of one notebook ("01") or of all, a line a notebook."""
    if notebook and notebook not in LESSONS:
        raise ValueError(f"notebook is {notebook!r}, expected one of {', '.join(LESSONS)}")
    record = open_record()
    return Shown("\n".join(_line(record, name) for name in ([notebook] if notebook else LESSONS)))
