"""The page on which JupyterLab opens: every lesson with its minutes, and where somebody left off."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat

from labkit.course.answers import NAME, start_page
from labkit.course.notebooks import sources

DONE = {"tries": 1, "right": True, "hints": 0, "seen": False}
BEGUN = {"tries": 2, "right": False, "hints": 1, "seen": False}


def page(folder: Path) -> str:
    notebook = nbformat.read(start_page(folder), as_version=4)
    nbformat.validate(notebook)
    return str(notebook.cells[0].source)


def test_a_new_student_sees_every_lesson_with_its_minutes(tmp_path: Path) -> None:
    rows = [line.split(" | ") for line in page(tmp_path).splitlines() if ".ipynb) | " in line]
    assert [row[0].split("(")[1].removesuffix(".ipynb)") for row in rows] == [source.stem for source in sources()]
    assert all(20 <= int(row[1]) <= 150 for row in rows)
    assert all(row[2].startswith("0 of ") for row in rows)
    assert "last at" not in page(tmp_path)


def test_the_page_says_where_somebody_left_off(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text(json.dumps({"answers": {"01.1": DONE, "01.2": BEGUN}, "predictions": {}}))
    text = page(tmp_path)
    assert "last at exercise 01.2, in [1 · Pairs and weights](01_pairs_and_weights.ipynb)" in text
    assert "| 1 of 5 |" in text


def test_an_unreadable_record_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text("{")
    assert "0 of 5" in page(tmp_path)
