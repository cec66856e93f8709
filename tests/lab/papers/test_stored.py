"""What was written down as JSON is read again with the same numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.lab.papers.cells import cells_of, plan, run
from labkit.lab.papers.data import Desk
from labkit.lab.papers.published import tables
from labkit.lab.papers.reports import as_json, reported
from labkit.lab.papers.results import result
from labkit.lab.papers.store import CellStore
from labkit.lab.papers.stored import FILE, NOT_RUN, TableResult, beside, stored
from tests.lab.papers.fakes import LINES, PAPERS, TABLE


@pytest.fixture
def file(tmp_path: Path, desk: Desk, store: CellStore) -> Path:
    plans = [plan(table, desk, 5) for table in (TABLE, LINES)]
    found = run(cells_of(plans), store)
    path = tmp_path / "results.json"
    path.write_text(as_json(reported("labkit reproduce fake", [result(each, found) for each in plans], PAPERS)))
    return path


def test_every_number_comes_back(file: Path) -> None:
    found = stored(file)
    assert found.command == "labkit reproduce fake"
    assert [table.name for table in found.tables] == ["fake/1", "fake/figure-2"]
    table = found.table("fake/1")
    assert (table.title, table.paper, table.evidence) == ("Table 1", "fake", True)
    assert (table.rows, table.columns) == (("ours", "plain", "theirs"), ("accuracy", "rows"))
    figures = {(figure.row, figure.column): figure for figure in table.figures}
    assert len(figures) == 6
    ours, theirs = figures["ours", "accuracy"], figures["theirs", "accuracy"]
    assert (ours.published, ours.seeds, len(ours.values)) == (0.9, (0, 1, 2, 3, 4), 5)
    assert (ours.mean, ours.spread) == (pytest.approx(0.82), pytest.approx(0.0158, abs=1e-4))
    assert (theirs.published, theirs.mean, theirs.why) == (0.85, None, "its weights are elsewhere")
    claim = table.claims[0]
    assert (claim.text, claim.paper, claim.ours) == ("ours leads plain", "confirmed", "confirmed")
    with pytest.raises(ValueError, match="there is no table 'fake/9', expected one of fake/1, fake/figure-2"):
        found.table("fake/9")


def test_no_results_or_others(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are no results 'none.json', expected a file that `labkit reproduce"):
        stored(tmp_path / "none.json")
    for text in ("{", "[]", '{"papers": [{"paper": "x"}]}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(ValueError, match="results 'bad.json' cannot be read"):
            stored(tmp_path / "bad.json")


def test_those_of_the_lab() -> None:
    """The file that comes with the lab holds every table of the papers, and names no folder of a machine."""
    found = stored()
    assert [table.name for table in found.tables] == [table.name for table in tables()]
    assert all(table.evidence for table in found.tables)
    assert "--data DATA" in found.command
    assert str(Path.home()) not in FILE.read_text(encoding="utf-8")


# --- printed figures are always there; stored results take the place of a table that has none ---


def test_without_results_every_table_is_as_printed(tmp_path: Path) -> None:
    found = beside(tmp_path / "none.json")
    assert list(found) == [table.name for table in tables()]
    for table in tables():
        mine = found[table.name]
        assert len(mine.figures) == len(table.rows) * len(table.columns)
        assert [figure.published for figure in mine.figures] == [value for row in table.rows for value in row.published]
        assert all(figure.mean is None and figure.why for figure in mine.figures)
        runnable = {row.name for row in table.rows if row.recipe is not None}
        assert {figure.row for figure in mine.figures if figure.why == NOT_RUN} == runnable
    (tmp_path / "broken.json").write_text("{")
    assert beside(tmp_path / "broken.json") == found


def test_a_stored_table_takes_its_place(tmp_path: Path) -> None:
    figure = {"column": "accuracy", "paper": 86.83, "mean": 80.5, "spread": 0.5, "values": [80.0, 81.0]}
    told = {
        "table": "film/1", "title": "Table 1", "caption": "c", "note": "", "data": ["questions"], "evidence": True,
        "rows": [{"row": "FILM", "figures": [figure | {"seeds": [0, 1], "why": ""}]}], "claims": [],
    }  # fmt: skip
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"command": "x", "versions": {}, "papers": [{"paper": "film", "tables": [told]}]}))
    found = beside(path)
    assert found["film/1"].figures[0].mean == 80.5
    assert found["film/2"] == beside(tmp_path / "none.json")["film/2"]


def test_a_table_that_is_read_and_written_again_is_the_same() -> None:
    """Every field of a file comes back, those that no page shows included."""
    record = json.loads(FILE.read_text("utf-8"))
    for paper in record["papers"]:
        for table in paper["tables"]:
            assert TableResult.from_json(paper["paper"], table).to_json() == table
