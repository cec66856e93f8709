"""What was written down as JSON is read again with the same numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.lab.papers.cells import Store, plan, run
from labkit.lab.papers.data import Desk
from labkit.lab.papers.reports import as_json, reported
from labkit.lab.papers.results import result
from labkit.lab.papers.stored import FILE, stored
from tests.lab.papers.fakes import LINES, PAPERS, TABLE


@pytest.fixture
def file(tmp_path: Path, desk: Desk, store: Store) -> Path:
    plans = [plan(table, desk, 5) for table in (TABLE, LINES)]
    found = run(plans, store)
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
    from labkit.lab.papers.table import tables

    found = stored()
    assert [table.name for table in found.tables] == [table.name for table in tables()]
    assert all(table.evidence for table in found.tables)
    assert "--data DATA" in found.command
    assert str(Path.home()) not in FILE.read_text(encoding="utf-8")
