"""A notebook as an assignment for otter-grader, from the one source that it always comes from.

    assign("01", Path("week2"))
    week2/student/     01_*.ipynb with exercises open and no outputs, tests/ with the visible tests
    week2/autograder/  01_*.ipynb solved, tests/ with visible and hidden ones, otter_config.json

An exercise has two tests of the same points, which go by its difficulty. The visible one is the check that `answer`
makes in the notebook. The hidden one is the same check on cases drawn anew, so that an answer which has only learned
the check's cases fails it; where an answer is a value and no function, both are alike. Neither passes where `solve` was
called for the exercise.

The tests call `grade_answer`, below: a test file holds the exercise's key and the expression that is its answer, and no
solution. Whoever grades needs labkit and otter-grader side by side.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from labkit.atomic import folder_in_place, write_text
from labkit.lab.course.answers import SOLVED
from labkit.lab.course.exercise import Difficulty, judge
from labkit.lab.course.exercises import LESSONS, exercise
from labkit.lab.course.notebooks import (
    ANSWERED,
    exercises_in,
    fingerprint,
    read_source,
    solution,
    sources,
    stamped,
    student,
    write_notebook,
)

POINTS: dict[Difficulty, int] = {"easy": 1, "medium": 2, "hard": 3}  # of each of the two tests of an exercise
DRAWN_ANEW = 7_919  # what is added to each seed of a check for the hidden tests

_FILE = '''"""{key}: {asks}"""

from otter.test_files import test_case

from labkit.lab.course.assign import grade_answer

OK_FORMAT = False

name = "{name}"
points = None

{tests}
'''
_TEST = """
@test_case(points={points}, hidden={hidden})
def {kind}(env):
    grade_answer("{key}", "{expression}", env{anew})
"""


@dataclass(frozen=True)
class Assignment:
    """What was written: the folder, the name of the notebook, and its exercises in order."""

    folder: Path
    notebook: str
    exercises: tuple[str, ...]

    @property
    def points(self) -> int:
        """The points of all exercises together."""
        return sum(2 * POINTS[exercise(key).difficulty] for key in self.exercises)


def assign(number: str, folder: Path) -> Assignment:
    """Write the assignment of a notebook into a folder; other files there, such as what students sent, stay."""
    source = next((each for each in sources() if each.stem[:2] == number and number in LESSONS), None)
    if source is None:
        raise ValueError(f"NN is {number!r}, expected the number of a notebook with exercises: {', '.join(LESSONS)}")
    if find_spec("jupytext") is None:
        raise ValueError("jupytext is not installed, and an assignment is made with it; run pip install jupytext")
    asked = exercises_in(source)
    notebook = read_source(source)
    name = f"{source.stem}.ipynb"
    if others := sorted(path.name for path in (folder / "student").glob("*.ipynb") if path.name != name):
        raise ValueError(f"FOLDER is {str(folder)!r}, which has {others[0]} to hand out; name another folder")
    for part, made, kinds in (
        ("student", student(notebook), ("visible",)),
        ("autograder", solution(notebook), ("visible", "hidden")),
    ):
        with folder_in_place(folder / part / "tests") as tests:
            for key, expression in asked.items():
                write_text(tests / f"{test_name(key)}.py", _test_file(key, expression, kinds))
        write_notebook(_with_tests(stamped(made, source)), folder / part / name)
    settings = {"assignment_name": f"labkit {source.stem} {fingerprint(source)}"}
    write_text(folder / "autograder" / "otter_config.json", json.dumps(settings, indent=2) + "\n")
    return Assignment(folder, source.stem, tuple(asked))


def test_name(key: str) -> str:
    """The name of an exercise's tests, which is a name in Python, too.

    >>> test_name("01.3")
    'q01_3'
    """
    return f"q{key.replace('.', '_')}"


def _with_tests(notebook: Any) -> Any:
    """The notebook with otter's names in it: each exercise is graded right below its own cell."""
    source = notebook.metadata["labkit"]
    stem = Path(source["source"]).stem
    notebook.metadata["otter"] = {"assignment_name": f"labkit {stem} {source['fingerprint']}"}
    for cell in notebook.cells:
        if cell.cell_type == "code" and (keys := [key for key, _ in ANSWERED.findall(cell.source)]):
            cell.metadata["otter"] = {"tests": [test_name(key) for key in keys]}
    return notebook


def _test_file(key: str, expression: str, kinds: tuple[str, ...]) -> str:
    tests = [
        _TEST.format(
            points=POINTS[exercise(key).difficulty],
            hidden=kind == "hidden",
            kind=kind,
            key=key,
            expression=expression,
            anew=", anew=True" * (kind == "hidden"),
        )
        for kind in kinds
    ]
    asks = exercise(key).asks.replace("\\", "\\\\").replace('"', "'")
    return _FILE.format(key=key, asks=asks, name=test_name(key), tests="\n".join(tests).strip("\n"))


# --- grading -----------------------------------------------------------------------------------------------------


def grade_answer(key: str, expression: str, names: dict[str, Any], *, anew: bool = False) -> None:
    """Raise an AssertionError unless what a notebook calls so is right; `anew`: on cases that no check has shown."""
    if key in SOLVED:
        raise AssertionError(f"{key}: `solve({key!r})` was called, and what it shows earns no points")
    given = eval(expression, dict(names))  # an expression of our own source
    if anew:
        with drawn_anew(DRAWN_ANEW):
            verdict = judge(exercise(key), given)
    else:
        verdict = judge(exercise(key), given)
    if not verdict.right:
        raise AssertionError(repr(verdict))


@contextmanager
def drawn_anew(shift: int) -> Iterator[None]:
    """Let what a check draws by a seed be drawn by another: all of them draw by numpy's or torch's generators."""
    draw, generator = np.random.default_rng, torch.Generator

    class Shifted(generator):  # type: ignore[misc, valid-type]
        def manual_seed(self, seed: int) -> Any:
            return super().manual_seed(seed + shift)

    def shifted(seed: Any = None) -> np.random.Generator:
        return draw(seed + shift if isinstance(seed, int) else seed)

    _forget_cases()
    np.random.default_rng, torch.Generator = shifted, Shifted  # type: ignore[misc]
    try:
        yield
    finally:
        np.random.default_rng, torch.Generator = draw, generator  # type: ignore[misc]
        _forget_cases()


def _forget_cases() -> None:
    """Let the checks make their cases again, of which they keep some."""
    for name, module in list(sys.modules.items()):
        if name.startswith("labkit.lab.course.exercises."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
