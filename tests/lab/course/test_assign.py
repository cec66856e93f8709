"""An assignment gives nothing away, and the real otter-grader gives points for what is answered, and no others."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
import sys
import types
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import nbformat
import numpy as np
import pytest
import torch

from labkit.lab.course import answers
from labkit.lab.course.assign import POINTS, assign, drawn_anew, grade_answer, test_name
from labkit.lab.course.exercise import Difficulty, StillOpen, judge
from labkit.lab.course.exercises import LESSONS, exercise
from labkit.lab.course.notebooks import MARK, exercises_in, has_exercise, read_source, solved, sources
from tests.waiting import HANG

test_name.__test__ = False  # type: ignore[attr-defined]  # a function of ours, and no test
WITH_EXERCISES = [source for source in sources() if source.stem[:2] in LESSONS]
each = pytest.mark.parametrize("source", WITH_EXERCISES, ids=lambda source: source.stem)


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("labkit.lab.course.assign.SOLVED", solved_here := set())
    monkeypatch.setattr(answers, "SOLVED", solved_here)
    for name in answers.VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_what_is_harder_is_worth_more() -> None:
    assert list(POINTS) == list(get_args(Difficulty))
    assert list(POINTS.values()) == sorted(set(POINTS.values()))


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


# --- what is written ---------------------------------------------------------------------------------------------


def leaks(source: Path, folder: Path) -> list[str]:
    """Lines of solutions that stand in some text of some file: cells, outputs, metadata, names of files."""
    got = ""
    for path in folder.rglob("*"):
        text = path.read_text("utf-8") if path.is_file() else ""
        inner = texts_of(json.loads(text)) if path.suffix == ".ipynb" else ()
        got += squeezed("".join([path.name, text, *inner]))
    lines = source.read_text("utf-8").split("\n")
    shown = squeezed("\n".join(line for line in lines if not MARK.search(line)))
    hidden = {squeezed(MARK.sub("", line)) for line in lines if MARK.search(line)}
    secret = {line for line in hidden if len(line) > 12 and line not in shown}  # shorter: `return 1`, `x = 3`
    assert len(secret) >= 4
    return sorted(line for line in secret if line in got)


@each
def test_no_solution_can_be_read_in_what_students_get(source: Path, tmp_path: Path) -> None:
    assign(source.stem[:2], tmp_path / "out")
    assert leaks(source, tmp_path / "out" / "student") == []
    notebook = nbformat.read(tmp_path / "out" / "student" / f"{source.stem}.ipynb", as_version=4)
    assert [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")] == []
    assert {key for cell in notebook.cells for key in cell.metadata} <= {"tags", "otter", "lines_to_next_cell"}
    assert set(notebook.metadata) <= {"kernelspec", "labkit", "otter"}
    assert notebook.metadata["labkit"].keys() == {"source", "fingerprint"}


def test_a_solution_that_stays_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.lab.course.notebooks.with_gaps", solved)
    assign("00", tmp_path / "out")
    assert "returnu@v/(np.linalg.norm(u)*np.linalg.norm(v))" in leaks(WITH_EXERCISES[0], tmp_path / "out" / "student")


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_of(inner)


@each
def test_each_exercise_has_a_visible_and_a_hidden_test_below_its_cell(source: Path, tmp_path: Path) -> None:
    written = assign(source.stem[:2], tmp_path / "out")
    keys = list(exercises_in(source))
    assert list(written.exercises) == keys
    assert set(keys) == set(LESSONS[source.stem[:2]].exercises)
    worth = {key: POINTS[exercise(key).difficulty] for key in keys}
    assert written.points == 2 * sum(worth.values())
    for part, kinds in (("student", ["visible"]), ("autograder", ["visible", "hidden"])):
        notebook = nbformat.read(tmp_path / "out" / part / f"{source.stem}.ipynb", as_version=4)
        nbformat.validate(notebook)
        graded = [(cell.metadata["otter"]["tests"], cell.source) for cell in notebook.cells if "otter" in cell.metadata]
        assert [tests for tests, _ in graded] == [[test_name(key)] for key in keys]
        assert all(f'answer("{key}"' in source for key, (_, source) in zip(keys, graded, strict=True))
        files = {path.stem for path in (tmp_path / "out" / part / "tests").iterdir()}
        assert files == {test_name(key) for key in keys}
        for key in keys:
            cases = loaded(tmp_path / "out" / part / "tests" / f"{test_name(key)}.py")
            assert [case.func.__name__ for case in cases] == kinds
            assert [case.hidden for case in cases] == [kind == "hidden" for kind in kinds]
            assert [case.points for case in cases] == [worth[key]] * len(kinds)
    one, other = (
        nbformat.read(tmp_path / "out" / part / f"{source.stem}.ipynb", as_version=4).metadata["otter"]
        for part in ("student", "autograder")
    )
    settings = json.loads((tmp_path / "out" / "autograder" / "otter_config.json").read_text())
    assert one == other == {"assignment_name": settings["assignment_name"]}


class Case:
    """Stands in for otter's mark of a test, with its arguments, where otter is not installed."""

    def __init__(self, *, points: int, hidden: bool) -> None:
        self.points, self.hidden = points, hidden

    def __call__(self, func: Any) -> Case:
        self.func = func
        return self


def loaded(path: Path) -> list[Any]:
    stand_in = types.ModuleType("otter.test_files")
    stand_in.test_case = Case  # type: ignore[attr-defined]
    kept = {name: sys.modules.get(name) for name in ("otter", "otter.test_files")}
    sys.modules |= {"otter": types.ModuleType("otter"), "otter.test_files": stand_in}
    try:
        return [value for value in runpy.run_path(str(path)).values() if isinstance(value, Case)]
    finally:
        for name, module in kept.items():
            sys.modules.pop(name)
            if module is not None:
                sys.modules[name] = module


def test_what_students_sent_outlives_another_writing(tmp_path: Path) -> None:
    assign("08", tmp_path / "out")
    keeps = tmp_path / "out" / "autograder"
    (keeps / "anna.ipynb").write_text("hers")
    (keeps / "tests" / "q08_99.py").write_text("of a version that had more exercises")
    (keeps / "tests" / "q08_1.py").write_text("broken")
    assign("08", tmp_path / "out")
    assert (keeps / "anna.ipynb").read_text() == "hers"
    assert not (keeps / "tests" / "q08_99.py").exists()
    assert "grade_answer" in (keeps / "tests" / "q08_1.py").read_text()


def test_two_notebooks_do_not_share_a_folder(tmp_path: Path) -> None:
    assign("08", tmp_path / "out")
    with pytest.raises(ValueError, match=r"which has 08_word_vectors\.ipynb to hand out"):
        assign("00", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").rglob("0*.ipynb")] == ["08_word_vectors.ipynb"] * 2


@pytest.mark.parametrize("number", ["99", "", "1", "00_tour"])
def test_a_notebook_that_is_none_is_refused(number: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected the number of a notebook with exercises: 00, 01"):
        assign(number, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_without_jupytext_the_remedy_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.lab.course.assign.find_spec", lambda _: None)
    with pytest.raises(ValueError, match="run pip install jupytext"):
        assign("00", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- grading -----------------------------------------------------------------------------------------------------


def cosine(u: Any, v: Any) -> Any:
    return u @ v / (np.linalg.norm(u) * np.linalg.norm(v))


def test_what_is_right_passes_and_what_is_not_says_why() -> None:
    names = {"cosine": cosine, "dot": lambda u, v: u @ v, "unsolved": ...}
    for anew in (False, True):
        grade_answer("00.1", "cosine", names, anew=anew)
        with pytest.raises(AssertionError, match="that is the dot product"):
            grade_answer("00.1", "dot", names, anew=anew)
        with pytest.raises(StillOpen):
            grade_answer("00.1", "unsolved", names, anew=anew)
        with pytest.raises(NameError):
            grade_answer("00.1", "missing", names, anew=anew)


def test_an_answer_that_has_learned_the_cases_passes_the_visible_test_alone() -> None:
    seen: dict[bytes, Any] = {}

    def record(u: Any, v: Any) -> Any:
        seen[u.tobytes() + v.tobytes()] = cosine(u, v)
        return cosine(u, v)

    judge(exercise("00.1"), record)
    names = {"learned": lambda u, v: seen.get(u.tobytes() + v.tobytes(), 0.0)}
    grade_answer("00.1", "learned", names)
    with pytest.raises(AssertionError):
        grade_answer("00.1", "learned", names, anew=True)


def test_what_solve_shows_earns_no_points() -> None:
    names = {"smallest": 0.1192, "largest": 0.8808}
    grade_answer("01.4", "(smallest, largest)", names)
    answers.solve("01.4")
    with pytest.raises(AssertionError, match="what it shows earns no points"):
        grade_answer("01.4", "(smallest, largest)", names)


def test_after_a_hidden_test_all_is_drawn_as_before() -> None:
    def drawn() -> tuple[float, float]:
        return np.random.default_rng(0).random(), float(torch.rand(1, generator=torch.Generator().manual_seed(0)))

    before, generator = drawn(), torch.Generator
    with drawn_anew(3):
        other = drawn()
    assert before[0] != other[0]
    assert before[1] != other[1]
    with pytest.raises(AssertionError):
        grade_answer("00.1", "wrong", {"wrong": lambda u, v: 0.0}, anew=True)
    assert drawn() == before
    assert torch.Generator is generator


# --- the real grader ---------------------------------------------------------------------------------------------

NO_OTTER = "needs otter-grader: pip install otter-grader (make test-all does)"


def otter(*words: str, cwd: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(answers.__file__).parents[3])}
    command = [sys.executable, "-P", "-m", "otter", *words]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=HANG, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def graded(submission: Path, autograder: Path) -> dict[str, float]:
    """The points that otter gives for each exercise."""
    out = submission.with_suffix("")
    out.mkdir()
    otter("run", str(submission), "-a", str(autograder), "-o", str(out), "--no-logo", cwd=out)
    tests = json.loads((out / "results.json").read_text())["tests"]
    return {test["name"]: test["score"] for test in tests if "max_score" in test}


@pytest.mark.whole
def test_otter_gives_points_for_what_is_answered(tmp_path: Path) -> None:
    """Of one notebook: each takes otter a minute and a half."""
    pytest.importorskip("otter", reason=NO_OTTER)
    written = assign("01", tmp_path / "out")
    keeps = tmp_path / "out" / "autograder"
    otter("generate", cwd=keeps)
    archive = keeps / "autograder.zip"
    assert {f"tests/{test_name(key)}.py" for key in written.exercises} <= set(zipfile.ZipFile(archive).namelist())
    whole = graded(keeps / f"{written.notebook}.ipynb", archive)
    worth = {key: 2 * POINTS[exercise(key).difficulty] for key in written.exercises}
    assert whole == {test_name(key): worth[key] for key in written.exercises}
    untouched = graded(tmp_path / "out" / "student" / f"{written.notebook}.ipynb", archive)
    assert untouched == {test_name(key): 0 for key in written.exercises}
    half = graded(half_solved(tmp_path / "half.ipynb", tmp_path / "out" / "student", written.notebook), archive)
    assert half == {test_name(key): worth[key] * (place % 2) for place, key in enumerate(written.exercises)}


def half_solved(path: Path, student: Path, name: str) -> Path:
    """The student's notebook with every second exercise answered; what hangs on the others stops, as it would."""
    notebook = nbformat.read(student / f"{name}.ipynb", as_version=4)
    right = read_source(next(source for source in sources() if source.stem == name))
    place = 0
    for cell, other in zip(notebook.cells, right.cells, strict=True):
        if "otter" in cell.metadata:
            cell.source = solved(other.source) if place % 2 else cell.source
            place += 1
        elif has_exercise(other.source):  # a prediction
            cell.source = solved(other.source)
    nbformat.write(notebook, path)
    return path
