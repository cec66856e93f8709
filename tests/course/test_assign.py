"""An assignment contains no solutions, and otter-grader gives points for right answers only."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest

from labkit.course import answers
from labkit.course.assign import POINTS, assign, grade_answer, test_name
from labkit.course.exercise import StillOpen, judge
from labkit.course.notebooks import MARK, exercises_in, has_exercise, question, read_source, solved, sources
from tests.waiting import HANG

test_name.__test__ = False  # a function of ours, not a test
SOURCES = {source.stem[:2]: source for source in sources()}


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("labkit.course.assign.SOLVED", solved_here := set())
    monkeypatch.setattr(answers, "SOLVED", solved_here)
    monkeypatch.delenv(answers.VARIABLE, raising=False)


# --- written files -----------------------------------------------------------------------------------------------


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_of(inner)


def leaks(source: Path, folder: Path) -> list[str]:
    """The lines of solutions in any text of any file: cells, outputs, metadata, file names."""
    got = ""
    for path in folder.rglob("*"):
        text = path.read_text("utf-8") if path.is_file() else ""
        inner = texts_of(json.loads(text)) if path.suffix == ".ipynb" else ()
        got += squeezed("".join([path.name, text, *inner]))
    lines = source.read_text("utf-8").split("\n")
    shown = squeezed("\n".join(line for line in lines if not MARK.search(line)))
    hidden = {squeezed(MARK.sub("", line)) for line in lines if MARK.search(line)}
    secret = {line for line in hidden if len(line) > 12 and line not in shown}  # shorter ones may recur
    assert len(secret) >= 4
    return sorted(line for line in secret if line in got)


@pytest.mark.parametrize("number", SOURCES)
def test_students_get_the_exercises_and_no_solution(number: str, tmp_path: Path) -> None:
    source, out = SOURCES[number], tmp_path / "out"
    written = assign(number, out)
    keys = list(exercises_in(source))
    assert list(written.exercises) == keys
    assert written.points == sum(POINTS[question(key).difficulty] for key in keys)
    assert leaks(source, out / "student") == []
    assert not [path for path in (out / "student").iterdir() if path.name not in ("tests", f"{source.stem}.ipynb")]
    for part in ("student", "autograder"):
        notebook = nbformat.read(out / part / f"{source.stem}.ipynb", as_version=4)
        nbformat.validate(notebook)
        assert [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")] == []
        graded = [(cell.metadata["otter"]["tests"], cell.source) for cell in notebook.cells if "otter" in cell.metadata]
        assert [tests for tests, _ in graded] == [[test_name(key)] for key in keys]
        assert all(f'answer("{key}"' in code for key, (_, code) in zip(keys, graded, strict=True))
        for key in keys:
            text = (out / part / "tests" / f"{test_name(key)}.py").read_text("utf-8")
            compile(text, key, "exec")
            assert text.count(f"points={POINTS[question(key).difficulty]}") == 1


def test_submissions_survive_a_second_writing(tmp_path: Path) -> None:
    keeps = tmp_path / "out" / "autograder"
    assign("08", tmp_path / "out")
    (keeps / "anna.ipynb").write_text("hers")
    (keeps / "tests" / "q08_99.py").write_text("of a version that had more exercises")
    (keeps / "tests" / "q08_1.py").write_text("broken")
    assign("08", tmp_path / "out")
    assert (keeps / "anna.ipynb").read_text() == "hers"
    assert not (keeps / "tests" / "q08_99.py").exists()
    assert "grade_answer" in (keeps / "tests" / "q08_1.py").read_text()


def test_two_notebooks_do_not_share_a_folder_and_an_unknown_one_has_none(tmp_path: Path) -> None:
    for number in ("99", "", "1", "00_tour"):
        with pytest.raises(ValueError, match="NN"):
            assign(number, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assign("08", tmp_path / "out")
    with pytest.raises(ValueError, match="FOLDER"):
        assign("00", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").rglob("0*.ipynb")] == ["08_word_vectors.ipynb"] * 2


# --- grading -----------------------------------------------------------------------------------------------------


def cosines(v: Any, V: Any) -> Any:
    return V @ v / (np.linalg.norm(V, axis=1) * np.linalg.norm(v))


def test_right_answers_pass_and_others_do_not() -> None:
    names = {"cosines": cosines, "dot": lambda v, V: V @ v, "unsolved": ...}
    grade_answer("00.1", "cosines", names)
    for name, error in (("dot", AssertionError), ("unsolved", StillOpen), ("missing", NameError)):
        with pytest.raises(error):
            grade_answer("00.1", name, names)


def test_an_answer_that_has_memorised_earlier_cases_fails() -> None:
    seen: dict[bytes, Any] = {}

    def record(v: Any, V: Any) -> Any:
        seen[v.tobytes() + V.tobytes()] = cosines(v, V)
        return cosines(v, V)

    assert judge("00.1", record).right
    names = {"memorised": lambda v, V: seen.get(v.tobytes() + V.tobytes(), np.zeros(len(V)))}
    with pytest.raises(AssertionError):
        grade_answer("00.1", "memorised", names)


def test_a_solution_that_was_shown_earns_no_points() -> None:
    names = {"cost": 0.2}
    grade_answer("09.3", "cost", names)
    answers.solve("09.3")
    with pytest.raises(AssertionError, match="solve"):
        grade_answer("09.3", "cost", names)


# --- the real grader ---------------------------------------------------------------------------------------------


def otter(*words: str, cwd: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(Path(answers.__file__).parents[2])}
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


def half_solved(path: Path, student: Path, name: str) -> Path:
    """The student's notebook with every second exercise answered."""
    notebook = nbformat.read(student / f"{name}.ipynb", as_version=4)
    place = 0
    for cell, other in zip(notebook.cells, read_source(SOURCES[name[:2]]).cells, strict=True):
        if "otter" in cell.metadata:
            cell.source = solved(other.source) if place % 2 else cell.source
            place += 1
        elif has_exercise(other.source):  # a prediction
            cell.source = solved(other.source)
    nbformat.write(notebook, path)
    return path


@pytest.mark.weekly
def test_otter_gives_points_for_answers(tmp_path: Path) -> None:
    """For one notebook, because each takes otter 90 seconds."""
    pytest.importorskip("otter", reason="needs otter-grader: pip install otter-grader")
    written = assign("01", tmp_path / "out")
    keeps = tmp_path / "out" / "autograder"
    otter("generate", cwd=keeps)
    archive = keeps / "autograder.zip"
    assert {f"tests/{test_name(key)}.py" for key in written.exercises} <= set(zipfile.ZipFile(archive).namelist())
    worth = {key: POINTS[question(key).difficulty] for key in written.exercises}
    whole = graded(keeps / f"{written.notebook}.ipynb", archive)
    assert whole == {test_name(key): worth[key] for key in written.exercises}
    untouched = graded(tmp_path / "out" / "student" / f"{written.notebook}.ipynb", archive)
    assert untouched == {test_name(key): 0 for key in written.exercises}
    half = graded(half_solved(tmp_path / "half.ipynb", tmp_path / "out" / "student", written.notebook), archive)
    assert half == {test_name(key): worth[key] * (place % 2) for place, key in enumerate(written.exercises)}
