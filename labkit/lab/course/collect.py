"""A class by its progress files: who is where, which exercise stops whom, which slip is commonest.

In: a folder with a file for each student, anna.json or anna/progress.json, as it is collected by hand or comes out of a
learning platform. Out: a `ClassProgress`, for the command line, a spreadsheet and `labkit.figures.class_progress`.

The files are strangers': each is bounded, never followed when it is a link, and what is no progress file is named in a
sentence and left out. Without `names` students are numbered, in an order that says nothing of their names.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from labkit.atomic import amount, sentence_of
from labkit.lab.course.answers import NAME, AnswerRecord, Attempts, parse_record
from labkit.lab.course.notebooks import questions

MOST_BYTES, MOST_FILES = 2**20, 1_000  # of a file, a hundred times what a course leaves; and of a class
STATES = {"●": "answered", "◐": "solution read", "○": "stuck"}  # of an exercise that was begun
FEWEST = 2  # students who must have made a slip before it is shown: what one has made says who it was


@dataclass(frozen=True)
class Student:
    """A name, or a number in its place, and what this student's file says."""

    name: str
    record: AnswerRecord

    @cached_property
    def begun(self) -> dict[str, Attempts]:
        """The exercises that this student has begun, in that order."""
        return {key: each for key, each in self.record.answers.items() if each.begun and key in questions()}

    @property
    def at(self) -> str | None:
        """The exercise begun last; None for who has begun nothing."""
        return next(reversed(self.begun), None)

    @property
    def stuck(self) -> list[str]:
        """The exercises begun that are neither answered nor given up for their solution."""
        return [key for key, each in self.begun.items() if each.mark == "○"]


@dataclass(frozen=True)
class ExerciseCount:
    """How an exercise goes in a class: students who answered it, read its solution, are stuck, are at it now."""

    key: str
    answered: int
    solution_read: int
    stuck: tuple[str, ...]
    here: tuple[str, ...]
    tries: float

    @property
    def begun(self) -> int:
        """The students who have begun it."""
        return self.answered + self.solution_read + len(self.stuck)


@dataclass(frozen=True)
class SlipCount:
    """A named mistake: the exercise, what was said of it, how many students made it, and how often in all."""

    key: str
    says: str
    students: int
    times: int


@dataclass(frozen=True)
class ClassProgress:
    """The students of a class, and a sentence for each file that was left out."""

    students: tuple[Student, ...]
    skipped: tuple[str, ...] = ()

    @cached_property
    def exercises(self) -> tuple[ExerciseCount, ...]:
        """The exercises that somebody has begun, in the order of the course."""
        counts = (self._count(key) for key in questions())
        return tuple(each for each in counts if each.begun)

    @cached_property
    def slips(self) -> tuple[SlipCount, ...]:
        """The slips that several students made, the commonest first."""
        students: Counter[tuple[str, str]] = Counter()
        times: Counter[tuple[str, str]] = Counter()
        for student in self.students:
            for key, each in student.begun.items():
                for says, count in each.slips.items():
                    students[key, _printable(says)] += 1
                    times[key, _printable(says)] += count
        order = {key: place for place, key in enumerate(questions())}
        ranked = sorted(students, key=lambda slip: (-students[slip], -times[slip], order[slip[0]], slip[1]))
        return tuple(SlipCount(*slip, students[slip], times[slip]) for slip in ranked if students[slip] >= FEWEST)

    @property
    def notebook(self) -> str | None:
        """The number of the notebook that most students are in; None where nobody has begun anything."""
        places = Counter(student.at[:2] for student in self.students if student.at)
        return min(places, key=lambda number: (-places[number], number), default=None)

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

    def _count(self, key: str) -> ExerciseCount:
        told = [(student, student.begun[key]) for student in self.students if key in student.begun]
        marks = Counter(each.mark for _, each in told)
        return ExerciseCount(
            key,
            marks["●"],
            marks["◐"],
            tuple(student.name for student, each in told if each.mark == "○"),
            tuple(student.name for student, _ in told if student.at == key),
            median([each.tries for _, each in told] or [0]),
        )


def collect(folder: Path, *, names: bool = False) -> ClassProgress:
    """The class whose progress files lie in a folder or in folders of it; students are numbered unless `names`."""
    if not folder.is_dir():
        raise ValueError(f"FOLDER is {str(folder)!r}, expected a folder of progress files; check the path")
    paths = list(_files(folder))
    read: list[tuple[Path, AnswerRecord]] = []
    skipped: list[str] = []
    for path in paths:
        where = _printable(str(path.relative_to(folder)))
        try:
            read.append((path, _record(path)))
        except OSError as reason:
            skipped.append(f"{where} is left out: {sentence_of(reason)}")
        except ValueError as reason:
            skipped.append(f"{where} is left out: {reason}; ask for the {NAME} that lies beside the notebooks")
    if not read:
        why = f"; {skipped[0]}" if skipped else f"; ask each student for the {NAME} that lies beside the notebooks"
        raise ValueError(f"FOLDER is {str(folder)!r}, expected a folder with a progress file of each student{why}")
    called = _names([path.relative_to(folder) for path, _ in read])
    order = sorted(range(len(read)), key=lambda at: called[at] if names else _drawn(called[at]))
    return ClassProgress(
        tuple(Student(called[at] if names else f"student {number}", read[at][1]) for number, at in enumerate(order, 1)),
        tuple(skipped),
    )


def _files(folder: Path) -> Iterator[Path]:
    """The files of a class, in order; what is hidden, such as a notebook's checkpoints, is none of them."""
    found = 0
    for inside, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.lower().endswith(".json") and not name.startswith("."):
                found += 1
                if found > MOST_FILES:
                    raise ValueError(
                        f"FOLDER is {str(folder)!r} with more than {MOST_FILES:,} files that end in .json, expected "
                        "the progress files of a class; name a folder with these alone"
                    )
                yield Path(inside) / name


def _record(path: Path) -> AnswerRecord:
    """What a file says, if it is an ordinary one of a progress file's size and has exercises of this course."""
    kind = path.lstat()
    if not stat.S_ISREG(kind.st_mode):
        raise ValueError("it is a link or a device, and no file")
    if kind.st_size > MOST_BYTES:
        raise ValueError(f"it has {amount(kind.st_size)}, and a progress file never more than {amount(MOST_BYTES)}")
    if not kind.st_size:
        raise ValueError("it is empty")
    record = parse_record(path.read_bytes())
    if record.answers and not set(record.answers) & set(questions()):
        raise ValueError("it has no exercise of these notebooks")
    return record


def _names(paths: list[Path]) -> list[str]:
    """What each file is called by: its own name, or its folder's where it is called progress; no two alike."""
    bare = Path(NAME).stem
    names = [
        _printable(path.parent.name if path.stem == bare and path.parent.name else path.stem).removesuffix(f"_{bare}")
        for path in paths
    ]
    count = Counter(names)
    whole = [_printable(str(path)) for path in paths]
    return [name if count[name] == 1 else path for name, path in zip(names, whole, strict=True)]


def _drawn(name: str) -> str:
    """A place in an order that a class list does not have, the same at each collecting."""
    return hashlib.sha256(name.encode()).hexdigest()


def _printable(text: str) -> str:
    """The text without what would move a cursor, hide a letter or fit no file."""
    return "".join(letter if letter.isprintable() else "�" for letter in text)
