"""The results that are bundled are those of today's code: a few cheap ones are computed again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labkit.papers.cells import Store, compute, plan
from labkit.papers.data import Desk
from labkit.papers.published import tables


@pytest.mark.whole
def test_what_is_bundled_comes_out_the_same_when_it_is_computed_again(published_data: Path, tmp_path: Path) -> None:
    """Who says that changed code leaves all figures as they were has to bear this, on the cheapest cells."""
    desk = Desk(published_data, memo=tmp_path)
    bundled, again = Store(tmp_path / "none"), Store(tmp_path / "again", bundled=tmp_path / "none.jsonl")
    wanted = [
        ("sentpwnet/6", "TF-IDF (ours)"),
        ("film/1", "TF-IDF"),
        ("sentpwnet/2", "every pair predicted as a paraphrase"),
    ]
    for name, row in wanted:
        (table,) = tables(name)
        if desk.missing(table.data[0]):
            pytest.skip(f"{table.data[0]} is not in the data folder")
        planned = plan(replace(table, rows=tuple(each for each in table.rows if each.name == row), claims=()), desk, 1)
        (cell, *_) = planned.cells(row, table.data[0])
        for tuning in cell.tunings:  # what was chosen is taken over: trials take minutes
            before = bundled.find(tuning.key)
            assert before is not None, f"{name}, {row}: the bundled result is of other data or code"
            again.keep(tuning.key, before, tuning.about)
        before = bundled.find(cell.key)
        assert before is not None, f"{name}, {row}: the bundled result is of other data or code"
        after = compute([cell], again).known[cell.key].figures  # with those that were not measured then
        assert {figure: after[figure] for figure in before.figures} == pytest.approx(before.figures, rel=1e-6)
