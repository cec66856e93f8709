"""The results that come with the lab are those of today's code: a few cheap ones are computed again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from labkit.lab.papers.cells import plan, run, with_tunings
from labkit.lab.papers.data import Desk
from labkit.lab.papers.published import tables
from labkit.lab.papers.records import Outcome
from labkit.lab.papers.store import CellStore


@pytest.mark.whole
def test_what_is_kept_comes_out_the_same_when_it_is_computed_again(published_data: Path, tmp_path: Path) -> None:
    """Who says that changed code leaves all figures as they were has to bear this, on the cheapest cells."""
    desk = Desk(published_data, memo=tmp_path)
    kept, anew = CellStore(tmp_path / "none"), CellStore(tmp_path / "anew", kept=tmp_path / "none.jsonl")
    wanted = [("sentpwnet/6", "TF-IDF (ours)"), ("film/1", "TF-IDF"), ("sentpwnet/2", "every pair called the same")]
    for name, row in wanted:
        (table,) = tables(name)
        if desk.missing(table.data[0]):
            pytest.skip(f"{table.data[0]} is not in the data folder")
        planned = plan(replace(table, rows=tuple(each for each in table.rows if each.name == row), claims=()), desk, 1)
        needed = with_tunings(planned.cells)
        earlier = {cell.fingerprint: kept.find(cell) for cell in needed}
        lost = f"{name}, {row}: the cell that comes with the lab is of other data or code"
        for cell in needed[: -len(planned.cells)]:  # what was chosen is taken over: trials take minutes
            before = earlier[cell.fingerprint]
            assert before is not None, lost
            anew.keep(cell, Outcome(before.figures, notes=before.notes), before.seconds)
        computed = run(planned.cells, anew)
        for cell in planned.cells:
            before = earlier[cell.fingerprint]
            assert before is not None, lost
            after = computed.known[cell.fingerprint].figures  # with those that were not measured then
            assert {name: after[name] for name in before.figures} == pytest.approx(before.figures, rel=1e-6)
