"""The functions that a notebook's reader calls: check answers, explain mistakes, give hints, and store predictions.

    answer("01.3", mine)      checks at once: ✓ with the lesson, ✗ with the mistake; `...` stops with the question
    hint("01.3")              the next of three hints, from a nudge to nearly the answer
    solve("01.3")             shows and runs the solution, so that an open exercise stops nobody
    predict("01.a", guess)    stores a guess before the cell that shows the truth
    recall("01.a", truth)     compares the guess with the truth afterwards
    progress()                the exercises answered so far
    start_page(folder)        writes the page on which `labkit lab` opens: every lesson, and where you left off

The record is a small file next to the notebooks, `progress.json`, or the file named by LABKIT_ANSWERS: {"answers":
{"01.3": {"tries": 2, "right": true, "hints": 1, "seen": false, "slips": {"the sign is flipped": 1}}}, "predictions":
{"01.a": "nearest"}}

Exercises are stored in the order in which they were begun. A slip is a recognised mistake; `labkit class
collect` counts slips over a class. A file that cannot be read or written never stops the lesson: it is renamed or left
alone.
"""

from __future__ import annotations

import inspect
import json
import os
import re
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from labkit.atomic import in_place, write_text
from labkit.course import exercises  # noqa: F401 (the checks that `judge` makes)
from labkit.course.exercise import StillOpen, Verdict, array, is_open, judge
from labkit.course.notebooks import question, questions, questions_in, solution_of, sources

__all__ = ["StillOpen", "Verdict", "answer", "array", "hint", "predict", "progress", "recall", "solve"]

NAME = "progress.json"
SOLVED: set[str] = set()  # for the grader: exercises whose solution was shown in this process
VARIABLE = "LABKIT_ANSWERS"
SLIPS, SLIP_LENGTH = 20, 200  # maximum number of slips per exercise, and of characters in each
MOST_TRIES = 10**6  # nobody makes more attempts


@dataclass
class Attempts:
    """The attempts at one exercise, whether one was right, how many hints were read, and whether the solution was read.

    `slips`: the count of each recognised mistake.
    """

    tries: int = 0
    right: bool = False
    hints: int = 0
    seen: bool = False
    slips: dict[str, int] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """One symbol: ◐ solution read, ● answered without the solution, ○ still open."""
        return "◐" if self.seen else "●" if self.right else "○"

    @property
    def begun(self) -> bool:
        """Whether the exercise was begun."""
        return bool(self.tries or self.hints or self.seen)

    def keep_slip(self, says: str) -> None:
        """Count a slip, up to a limit."""
        says = says[:SLIP_LENGTH]
        if says in self.slips or len(self.slips) < SLIPS:
            self.slips[says] = self.slips.get(says, 0) + 1


@dataclass
class AnswerRecord:
    """One reader's answers and predictions; `path` is None if they cannot be stored."""

    path: Path | None = None
    answers: dict[str, Attempts] = field(default_factory=dict)
    predictions: dict[str, Any] = field(default_factory=dict)

    def of(self, key: str) -> Attempts:
        """The stored attempts at an exercise."""
        return self.answers.setdefault(key, Attempts())

    def keep(self) -> None:
        """Write the file; if that is impossible, the lesson continues without it."""
        if self.path is None:
            return
        kept = {"answers": {key: asdict(each) for key, each in self.answers.items()}, "predictions": self.predictions}
        try:
            with in_place(self.path) as file:
                file.write(json.dumps(kept, indent=1, ensure_ascii=False).encode())
        except OSError:
            self.path = None


def open_record() -> AnswerRecord:
    """The record in this folder, or a new one. An unreadable file is renamed."""
    named = os.environ.get(VARIABLE)
    path = Path(named).expanduser() if named else Path.cwd() / NAME
    try:
        return replace(parse_record(path.read_bytes()), path=path)
    except FileNotFoundError:
        return AnswerRecord(path)
    except (OSError, ValueError):
        return AnswerRecord(path if _put_aside(path) else None)


def parse_record(data: bytes) -> AnswerRecord:
    """Parse the untrusted bytes of a record; raises ValueError if they are not a valid record."""
    try:
        kept = json.loads(data)
        answers = {key: Attempts(**each) for key, each in kept["answers"].items()}
        predictions = {**kept["predictions"]}
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:  # not JSON, not UTF-8, or a number with thousands of digits
        raise ValueError("it is not JSON") from None
    except (TypeError, AttributeError, KeyError):
        raise ValueError("it is not a progress file of these notebooks") from None
    for key, each in answers.items():
        slips = each.slips.values() if isinstance(each.slips, dict) else [None]
        if not all(_count(number) for number in (each.tries, each.hints, *slips)):
            raise ValueError(f"exercise {key[:9]!r} has an invalid count")
        if {type(each.right), type(each.seen)} != {bool}:
            raise ValueError(f"exercise {key[:9]!r} has a value that is neither true nor false")
    return AnswerRecord(None, answers, predictions)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TRIES


def _put_aside(path: Path) -> bool:
    try:
        path.replace(path.with_name(f"{path.name}.unreadable"))
    except OSError:
        return False
    return True


# --- showing -----------------------------------------------------------------------------------------------------

GOOD, BAD, PLAIN = "#009E73", "#D55E00", "#808080"  # Okabe and Ito's; the mark shows it without colour


@dataclass(frozen=True)
class Shown:
    """A text, with a coloured edge in a notebook. `good` is None if nothing was judged."""

    text: str
    good: bool | None = None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        colour = PLAIN if self.good is None else GOOD if self.good else BAD
        style = f"border-left: 4px solid {colour}; padding: 2px 10px; margin: 4px 0; white-space: pre-wrap"
        return f'<div style="{style}">{escape(self.text)}</div>'


def _line(record: AnswerRecord, notebook: str) -> str:
    keys = [key for key in questions() if key.startswith(f"{notebook}.")]
    marks = {key: record.of(key).mark for key in keys}
    right, seen, still = ([key for key in keys if marks[key] == mark] for mark in "●◐○")
    rest = (f"; solution read: {', '.join(seen)}" if seen else "") + (f"; open: {', '.join(still)}" if still else "")
    return f"{notebook}  {''.join(marks.values())}  {len(right)} of {len(keys)} answered{rest or ', all of them'}"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _written(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# --- functions for notebooks -----------------------------------------------------------------------------------


def answer(key: str, given: Any) -> Shown:
    """Check an answer and store the attempt."""
    verdict = judge(key, given)
    record = open_record()
    attempts = record.of(key)
    attempts.tries += 1
    attempts.right = attempts.right or verdict.right
    if verdict.named and not verdict.right:
        attempts.keep_slip(verdict.says)
    record.keep()
    helps = (
        f"`hint({key!r})` helps"
        if attempts.hints < len(question(key).hints)
        else f"`solve({key!r})` shows and runs the solution"
    )
    after = "" if verdict.right else f"  ·  {helps}"
    return Shown(repr(verdict) + after, good=verdict.right)


def hint(key: str) -> Shown:
    """The next hint; the third is nearly the solution."""
    hints = question(key).hints
    record = open_record()
    attempts = record.of(key)
    attempts.hints = min(attempts.hints + 1, len(hints))
    record.keep()
    return Shown(f"{key}, hint {attempts.hints} of {len(hints)}: {hints[attempts.hints - 1]}")


def solve(key: str) -> Shown:
    """Show the solution of an exercise and run it in the caller's namespace, for later cells."""
    question(key)
    code, frame = solution_of(key), inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    exec(compile(code, f"<solution of {key}>", "exec"), frame.f_back.f_globals)  # our own code, from the package
    SOLVED.add(key)
    record = open_record()
    record.of(key).seen = True
    record.keep()
    return Shown(f"{key}: this is the solution. It has been run, so you can continue:\n\n{code}")


def predict(key: str, guess: Any) -> Shown:
    """Store a guess. `...` is also allowed, because guessing is optional."""
    if is_open(guess):
        return Shown(f"○ {key}: replace `...` with your guess and run the cell again before you continue.")
    record = open_record()
    record.predictions[key] = guess if isinstance(guess, int | float | str | bool) else str(guess)
    record.keep()
    return Shown(
        f"{key}: your guess, {repr(guess) if isinstance(guess, str) else guess}, is stored. Continue to see the answer."
    )


def recall(key: str, truth: Any) -> Shown:
    """Compare the guess with the result: numbers by distance, words by equality."""
    guess = open_record().predictions.get(key)
    if guess is None:
        return Shown(f"{key}: the answer is {_written(truth)}. (You made no prediction.)")
    if _number(guess) and _number(truth):
        share = f" (as a share {_written(guess / 100)})" if 0 < truth < 1 < 5 <= guess <= 100 else ""
        return Shown(f"{key}: you predicted {_written(guess)}{share}; the answer is {_written(truth)}.")
    same = str(guess).strip().lower() == str(truth).strip().lower()
    return Shown(f"{key}: you predicted {guess!r}; the answer is {truth!r}{', so you were right' if same else ''}.")


def progress(notebook: str | None = None) -> Shown:
    """The answered exercises of one notebook ("01") or of all, one line per notebook."""
    numbers = sorted({key[:2] for key in questions()})
    if notebook and notebook not in numbers:
        raise ValueError(f"notebook is {notebook!r}, expected one of {', '.join(numbers)}")
    record = open_record()
    return Shown("\n".join(_line(record, name) for name in ([notebook] if notebook else numbers)))


# --- the start page --------------------------------------------------------------------------------------------------

PAGE = "START.ipynb"
MINUTES = re.compile(r"^# \*(?:Time: )?(\d+) minutes", re.MULTILINE)
TITLE = re.compile(r"^# # (.+)$", re.MULTILINE)
FIRST = """# Start here

If this is new to you, start with [0 · A tour](00_tour.ipynb), [1 · Pairs and weights](01_pairs_and_weights.ipynb)
and [9 · Break it](09_break_it.ipynb). Then choose any lesson: its first lines say what you should know beforehand.

Run a cell with Shift+Enter. Where a cell says `...  # your turn`, write your own code. In a new
cell, `hint("01.1")` gives a hint, and `solve("01.1")` shows and runs a solution."""
LAST = "This page is rewritten each time you run `labkit lab`. Your answers stay in `progress.json`."


def start_page(folder: Path) -> Path:
    """Write the start page to a folder, with the progress recorded there."""
    try:
        record = parse_record((folder / NAME).read_bytes())
    except (OSError, ValueError):
        record = AnswerRecord()
    cell = {"cell_type": "markdown", "id": "start", "metadata": {}, "source": _markdown(record)}
    page = folder / PAGE
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}  # else Jupyter asks
    write_text(page, json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}) + "\n")
    return page


def _markdown(record: AnswerRecord) -> str:
    lines = ["| lesson | minutes | exercises answered |", "| --- | ---: | --- |"]
    left_off, last = "", next((key for key in reversed(record.answers) if record.answers[key].begun), "")
    for source in sources():
        text, keys = source.read_text("utf-8"), list(questions_in(source))
        title, minutes = (found[1] for pattern in (TITLE, MINUTES) if (found := pattern.search(text)))
        link = f"[{title}]({source.stem}.ipynb)"
        done = sum(record.of(key).right or record.of(key).seen for key in keys)
        lines.append(f"| {link} | {minutes} | {done} of {len(keys)} |")
        if last in keys:
            left_off = f"**You left off at exercise {last}, in {link}.**"
    return "\n\n".join(filter(None, [FIRST, left_off, "\n".join(lines), LAST]))
