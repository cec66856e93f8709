"""Printed figures are always there; stored results take the place of a table that has none."""

from __future__ import annotations

import json
from pathlib import Path

from labkit.lab.papers.stored import NOT_RUN, beside
from labkit.lab.papers.table import tables


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
