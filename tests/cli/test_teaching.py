"""`labkit class`: the progress of a class as tables, JSON, a page and a spreadsheet; assignments."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from labkit.course.collect import collect
from tests.course.thirty import NAMES

from .conftest import Labkit


def test_a_class_in_three_tables(labkit: Labkit, thirty: Path) -> None:
    (thirty / "broken.json").write_text("{")
    done = labkit("class", "collect", "class")
    assert (done.status, done.err.count("\n")) == (0, 1)
    assert "broken.json" in done.err
    _, here, _, slips = done.out.split("\n\n")
    progress = collect(thirty)
    assert [line.split() for line in here.splitlines()[2:]] == [
        [each.key, str(len(each.here))] for each in progress.exercises if each.here
    ]
    slip = progress.slips[0]
    assert slips.splitlines()[2].split(maxsplit=3) == [slip.key, str(slip.students), str(slip.times), slip.says]
    assert [name for name in NAMES if name in done.out] == []
    named = labkit("class", "collect", "class", "--names").out
    assert all(name in named for each in progress.exercises for name in each.here if name in NAMES)


def test_a_class_as_json_a_page_and_a_spreadsheet(labkit: Labkit, thirty: Path) -> None:
    document = labkit("class", "collect", "class", "--json").document()
    progress = collect(thirty)
    assert (len(document["students"]), document["skipped"]) == (30, [])
    assert [each["key"] for each in document["exercises"]] == [each.key for each in progress.exercises]
    assert document["slips"][0] == vars(progress.slips[0])
    (thirty / "=1+1.json").write_bytes((thirty / "Bea.json").read_bytes())
    done = labkit("class", "collect", "class", "--names", "--figure", "a.html", "--csv", "a.csv", "--notebook", "01")
    assert done.status == 0
    page = Path("a.html").read_text("utf-8")
    assert '<script src="http' not in page  # works offline
    assert len(page) > 1_000_000  # includes plotly
    table = list(csv.DictReader(io.StringIO(Path("a.csv").read_text("utf-8-sig"))))
    assert len(table) == len(collect(thirty).rows())
    assert {row["student"] for row in table} == {*NAMES, "'=1+1"}
    assert "--csv" in labkit("class", "collect", "class", "--csv", "a.csv").mistake()
    assert labkit("class", "collect", "class", "--csv", "a.csv", "--force").status == 0
    assert "Ada" not in Path("a.csv").read_text("utf-8-sig")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("collect", "nowhere"), "FOLDER"),
        (("collect", "class", "--figure", "a.png"), "--figure"),
        (("collect", "class", "--figure", "a.html", "--notebook", "08"), "'08'"),
        (("collect", "class", "--notebook", "01"), "--notebook"),
        (("assign", "01", "class"), "FOLDER"),
    ],
)
def test_mistakes(labkit: Labkit, thirty: Path, words: tuple[str, ...], named: str) -> None:
    before = sorted(thirty.parent.rglob("*"))
    assert named in labkit("class", *words).mistake()
    assert sorted(thirty.parent.rglob("*")) == before


def test_an_assignment_prints_how_to_grade_it(labkit: Labkit, tmp_path: Path) -> None:
    done = labkit("class", "assign", "01", "week2")
    assert done.status == 0
    assert "otter run SUBMISSION.ipynb -a week2/autograder/autograder.zip" in done.out
    (tmp_path / "week2" / "mine.txt").write_text("x")
    document = labkit("class", "assign", "01", "week2", "--to", "otter", "--force", "--json").document()
    assert (document["notebook"], document["points"]) == ("01_pairs_and_weights", 20)
    assert (tmp_path / "week2" / "mine.txt").read_text() == "x"
