"""Collect the progress of a class: students' current exercises, where many are stuck, and common mistakes.

In: a folder with a file for each student, anna.json or anna/progress.json, collected by hand or from a learning
platform. Out: a `ClassProgress`. The files are untrusted: their size is limited, links are not followed, and other
files are reported and skipped. Without `names` students are numbered, in an order unrelated to their names.
"""

from __future__ import annotations

import hashlib
import stat
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from labkit.course.answers import NAME, Attempts, parse_record
from labkit.course.notebooks import questions

MOST_BYTES = 2**20  # per file, a hundred times what a course needs
STATES = {"●": "answered", "◐": "solution read", "○": "stuck"}  # of an exercise that was begun
FEWEST = 2  # students who must make a mistake before it is shown, so that it identifies nobody


@dataclass(frozen=True)
class Student:
    """A name or a number, and the exercises that this student has begun, in order."""

    name: str
    begun: dict[str, Attempts]

    @property
    def at(self) -> str | None:
        """The exercise that was started last; None if the student has not started any."""
        return next(reversed(self.begun), None)

    @property
    def stuck(self) -> list[str]:
        """The exercises that were begun but not answered, and whose solution was not read."""
        return [key for key, each in self.begun.items() if each.mark == "○"]


@dataclass(frozen=True)
class ExerciseCount:
    """An exercise in a class: how many students answered it, read its solution, are stuck on it, or are working on it
    now."""

    key: str
    answered: int
    solution_read: int
    stuck: tuple[str, ...]
    here: tuple[str, ...]
    tries: float

    @property
    def begun(self) -> int:
        """The number of students who have begun the exercise."""
        return self.answered + self.solution_read + len(self.stuck)


@dataclass(frozen=True)
class SlipCount:
    """A recognised mistake: the exercise, the message, the number of students who made it, and its total count."""

    key: str
    says: str
    students: int
    times: int


@dataclass(frozen=True)
class ClassProgress:
    """The students of a class, and a sentence for each skipped file."""

    students: tuple[Student, ...]
    skipped: tuple[str, ...] = ()

    @cached_property
    def exercises(self) -> tuple[ExerciseCount, ...]:
        """The exercises that at least one student has begun, in course order."""
        found = []
        for key in questions():
            told = {student.name: student.begun[key] for student in self.students if key in student.begun}
            if told:
                marks = Counter(each.mark for each in told.values())
                stuck = tuple(name for name, each in told.items() if each.mark == "○")
                here = tuple(student.name for student in self.students if student.at == key)
                tries = median(each.tries for each in told.values())
                found.append(ExerciseCount(key, marks["●"], marks["◐"], stuck, here, tries))
        return tuple(found)

    @cached_property
    def slips(self) -> tuple[SlipCount, ...]:
        """The mistakes that several students made, most frequent first."""
        counts: dict[tuple[str, str], list[int]] = {}
        for key in questions():
            for student in self.students:
                for says, count in sorted(student.begun.get(key, Attempts()).slips.items()):
                    counts.setdefault((key, _printable(says)), []).append(count)
        several = [SlipCount(*slip, len(each), sum(each)) for slip, each in counts.items() if len(each) >= FEWEST]
        return tuple(sorted(several, key=lambda slip: (-slip.students, -slip.times)))

    @property
    def notebook(self) -> str | None:
        """The number of the notebook that most students are working on; None if nobody has begun."""
        places = Counter(sorted(student.at[:2] for student in self.students if student.at))
        return places.most_common(1)[0][0] if places else None

    def rows(self) -> list[dict[str, Any]]:
        """A row for each student and exercise begun, for a spreadsheet."""
        return [
            {
                "student": student.name,
                "exercise": key,
                "state": STATES[each.mark],
                "at it now": "yes" if key == student.at else "",
                "tries": each.tries,
                "hints": each.hints,
                "slips": " | ".join(f"{_printable(says)} ({count})" for says, count in each.slips.items()),
            }
            for student in self.students
            for key, each in student.begun.items()
        ]


def collect(folder: Path, *, names: bool = False) -> ClassProgress:
    """The class from the progress files in a folder and its subfolders; students are numbered unless `names` is set."""
    read: dict[Path, dict[str, Attempts]] = {}
    skipped = []
    for path in sorted(folder.rglob("*.json")):
        where = path.relative_to(folder)
        if any(part.startswith(".") for part in where.parts):  # such as notebook checkpoints
            continue
        try:
            read[where] = _begun(path)
        except (OSError, ValueError) as reason:
            skipped.append(_printable(f"{where} was skipped: {reason}"))
    if not read:
        why = skipped[0] if skipped else f"ask each student for the {NAME} that is next to the notebooks"
        raise ValueError(f"FOLDER is {str(folder)!r}, expected a folder with a progress file for each student; {why}")
    called = {where: _called(where) for where in read}
    often = Counter(called.values())
    called |= {where: _printable(str(where)) for where, name in called.items() if often[name] > 1}
    order = sorted(read, key=lambda where: called[where] if names else hashlib.sha256(called[where].encode()).digest())
    told = enumerate(order, 1)
    students = (Student(called[where] if names else f"student {number}", read[where]) for number, where in told)
    return ClassProgress(tuple(students), tuple(skipped))


def _begun(path: Path) -> dict[str, Attempts]:
    """The content of a progress file, if it is a regular file of allowed size with exercises of this course."""
    kind = path.lstat()
    if not stat.S_ISREG(kind.st_mode) or kind.st_size > MOST_BYTES:
        raise ValueError(f"it is a link or a device, or larger than {MOST_BYTES:,} bytes")
    answers = parse_record(path.read_bytes()).answers
    known = {key: each for key, each in answers.items() if key in questions()}
    if answers and not known:
        raise ValueError("it contains no exercise from these notebooks")
    return {key: each for key, each in known.items() if each.begun}


def _called(where: Path) -> str:
    """The name of a file, or of its folder if the file is called progress."""
    bare = Path(NAME).stem
    name = where.parent.name if where.stem == bare and where.parent.name else where.stem
    return _printable(name).removesuffix(f"_{bare}")


def _printable(text: str) -> str:
    """The text without characters that would move a cursor, hide letters or be invalid in a file."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)
