"""Turn a notebook's source into an assignment for otter-grader.

    assign("01", Path("week2"))
    week2/student/     01_*.ipynb with exercises open and no outputs, tests/
    week2/autograder/  01_*.ipynb solved, the same tests/, otter_config.json

An exercise has one test, the same check as `answer` in the notebook, on new cases. Its points depend on its difficulty;
after `solve` it has none. A test file contains the exercise's key and the answer's expression, but no solution. The
grader needs labkit and otter-grader.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from labkit.atomic import folder_in_place, write_text
from labkit.course import notebooks
from labkit.course.answers import SOLVED
from labkit.course.exercise import judge
from labkit.course.notebooks import ANSWERED, Difficulty, question
from labkit.extras import require

POINTS: dict[Difficulty, int] = {"easy": 2, "medium": 4, "hard": 6}
TEST = """from otter.test_files import test_case

from labkit.course.assign import grade_answer

OK_FORMAT = False

name = "{name}"
points = None


@test_case(points={points}, hidden=False)
def check(env):
    grade_answer("{key}", "{expression}", env)
"""


class Assignment(NamedTuple):
    """The written assignment: the notebook's name, its exercises in order, and their total points."""

    notebook: str
    exercises: tuple[str, ...]
    points: int


def assign(number: str, folder: Path) -> Assignment:
    """Write the assignment of a notebook to a folder; other files there, such as submissions, stay."""
    sources = {source.stem[:2]: source for source in notebooks.sources()}
    if number not in sources:
        raise ValueError(f"NN is {number!r}, expected the number of a notebook: {', '.join(sources)}")
    require("notebooks", "jupytext")
    source = sources[number]
    name, asked, made = f"{source.stem}.ipynb", notebooks.exercises_in(source), notebooks.read_source(source)
    if others := sorted(path.name for path in (folder / "student").glob("*.ipynb") if path.name != name):
        raise ValueError(
            f"FOLDER is {str(folder)!r}, which already contains {others[0]} to hand out; choose another folder"
        )
    points = {key: POINTS[question(key).difficulty] for key in asked}
    title = {"assignment_name": f"labkit {source.stem} {notebooks.fingerprint(source)}"}
    for part, notebook in (("student", notebooks.student(made)), ("autograder", notebooks.solution(made))):
        with folder_in_place(folder / part / "tests") as tests:
            for key, expression in asked.items():
                test = TEST.format(name=test_name(key), points=points[key], key=key, expression=expression)
                write_text(tests / f"{test_name(key)}.py", test)
        notebook.metadata["otter"] = title
        for cell in notebook.cells:  # grade each exercise directly below its cell
            if cell.cell_type == "code" and (keys := [key for key, _ in ANSWERED.findall(cell.source)]):
                cell.metadata["otter"] = {"tests": [test_name(key) for key in keys]}
        notebooks.write_notebook(notebooks.stamped(notebook, source), folder / part / name)
    write_text(folder / "autograder" / "otter_config.json", json.dumps(title, indent=2) + "\n")
    return Assignment(source.stem, tuple(asked), sum(points.values()))


def test_name(key: str) -> str:
    """The name of an exercise's test, a valid Python name: q01_3 for 01.3."""
    return f"q{key.replace('.', '_')}"


def grade_answer(key: str, expression: str, names: dict[str, Any]) -> None:
    """Raise an AssertionError unless the notebook's answer is right."""
    if key in SOLVED:
        raise AssertionError(f"{key}: `solve({key!r})` was called, and a shown solution earns no points")
    verdict = judge(key, eval(expression, dict(names)))  # the expression is from our own source
    if not verdict.right:
        raise AssertionError(repr(verdict))
