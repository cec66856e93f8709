"""A small report in every form: the same numbers, nothing of the network, and words that do not break the page."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest

from labkit.evaluation.comparison import Spread
from labkit.lab.papers.cells import cells_of, plan, run
from labkit.lab.papers.data import Desk
from labkit.lab.papers.html import as_html, lines_svg
from labkit.lab.papers.records import Column, Observation, Table
from labkit.lab.papers.reports import (
    AT_END,
    _values,
    as_cells,
    as_csv,
    as_json,
    in_digits,
    ours,
    reported,
)
from labkit.lab.papers.results import cells_as_shown, result
from labkit.lab.papers.store import CellStore
from labkit.lab.papers.stored import Figure, Report
from tests.lab.papers.fakes import LINES, PAPERS, TABLE


@pytest.fixture
def report(desk: Desk, store: CellStore) -> Report:
    plans = [plan(table, desk, 5) for table in (TABLE, LINES)]
    found = run(cells_of(plans), store)
    results = [result(planned, found) for planned in plans]
    return reported("labkit reproduce fake --seeds 5", results, PAPERS, found.known.values())


def test_csv_and_json_have_every_number(report: Report) -> None:
    table = list(csv.DictReader(io.StringIO(as_csv(report))))
    (ours,) = [row for row in table if row["row"] == "ours" and row["column"] == "accuracy"]
    assert [float(value) for value in ours["values"].split(";")] == [
        0.8,
        0.81,
        0.8200000000000001,
        0.8300000000000001,
        0.8400000000000001,
    ]
    assert (float(ours["paper"]), ours["seeds"], ours["evidence"]) == (0.9, "0;1;2;3;4", "yes")
    assert "torch" in ours["versions"]
    (theirs,) = [row for row in table if row["row"] == "theirs" and row["column"] == "accuracy"]
    assert (theirs["mean"], theirs["why"]) == ("", "its weights are elsewhere")
    told = json.loads(as_json(report))
    first = told["papers"][0]["tables"][0]
    assert first["rows"][0]["figures"][0]["mean"] == pytest.approx(0.82)
    assert first["claims"][0]["ours"]["verdict"] == "confirmed"
    assert told["command"] == report.command


def test_numbers_in_the_papers_digits() -> None:
    assert in_digits(Column("a", "a", "stsb"), 0.85) == ".850"
    assert in_digits(Column("a", "a", "stsb"), -0.0123) == "-.012"
    assert in_digits(Column("a", "a", "stsb", 100, ".2f"), 0.5) == "0.50"
    assert in_digits(Column("a", "a", "stsb", printed=".2f"), 10.05) == "10.05"
    few = Column("a", "a", "stsb", printed="#.3g")  # a spread has as many decimals as its mean
    for mean, spread, said in (
        (1.3249, 0.298, "1.32 ± .30"),
        (2.7, 0.0242, "2.70 ± .02"),
        (0.399, 0.04, ".399 ± .040"),
    ):
        assert ours(few, Figure("a", "a", None, Spread(mean, spread, (1.0, 2.0)))) == said


def test_lines_leave_out_what_is_not_known() -> None:
    drawn = lines_svg("loss", ["1", "2", "3"], [0.5, None, 0.25], [0.1, 0.0, 0.0], axis="step")
    assert ">step</text>" in drawn
    assert ">0.5</text>" in drawn and ">0.25</text>" in drawn  # noqa: PT018
    assert drawn.count("<circle") == 2
    assert 'aria-label="loss: 1 0.5, 3 0.25"' in drawn
    # the higher value stands higher: its y is smaller
    first, last = (float(y) for y in re.findall(r'<circle cx="[\d.]+" cy="([\d.]+)"', drawn))
    assert first < last
    assert lines_svg("none", ["1"], [None], [0.0]) == ""


def test_no_word_of_a_table_becomes_markup(desk: Desk, store: CellStore) -> None:
    """Captions, notes, names, reasons, claims and observations may hold `<`, `&` and quotes: a page shows them."""
    evil = '<i title="x" onclick=y>&'

    def told(words: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{evil} {word}" for word in words)

    claims = tuple(
        replace(claim, text=evil, rows=told(claim.rows), over=told(claim.over), columns=told(claim.columns))
        for claim in TABLE.claims
    )
    rows = tuple(replace(row, name=f"{evil} {row.name}", why_not=row.why_not and evil) for row in TABLE.rows)
    columns = tuple(replace(column, name=f"{evil} {column.name}") for column in TABLE.columns)
    table = replace(TABLE, caption=evil, note=evil, rows=rows, columns=columns, claims=claims, axes=(evil, evil))
    lines_of = replace(
        LINES, rows=tuple(replace(row, name=f"{evil} {row.name}") for row in LINES.rows), columns=columns[:1]
    )
    plans = [plan(each, desk, 1) for each in (table, lines_of)]
    found = [replace(result(planned, run(cells_of(plans), store)), notes=(evil,), data=(evil,)) for planned in plans]
    paper = replace(PAPERS["fake"], citation=evil, observations=(Observation(evil, "confirmed", evil),))
    page = as_html(reported(evil, found, {"fake": paper}))
    assert "<i" not in page
    assert page.count("&lt;i title=") > 40
    assert not re.search(r"&(?!amp;|lt;|gt;|quot;|#x27;)", page)


def test_cells_keep_the_parts_of_what_their_own_tables_show(desk: Desk, store: CellStore) -> None:
    """The row `plain` stands in a table of precision, too; of `ours` precision is shown nowhere."""
    rows = (replace(TABLE.rows[1], published=(None,)),)
    other = Table("fake", "2", "One row", (Column("precision", "precision", "stsb"),), rows)
    plans = [plan(each, desk, 2) for each in (TABLE, other)]
    found = run(cells_of(plans), store)
    for key, known in found.known.items():
        parts = known.parts["accuracy"]
        found.known[key] = replace(known, parts={"accuracy": parts, "precision": parts})
    lines = [json.loads(line) for line in as_cells(reported("", [], PAPERS, cells_as_shown(plans, found))).splitlines()]
    kept = sorted((line["kind"]["settings"]["name"], line["seed"], sorted(line["parts"])) for line in lines)
    assert kept == [("ours", 0, ["accuracy"]), ("ours", 1, ["accuracy"]), ("plain", 0, ["accuracy", "precision"])]


@pytest.mark.parametrize(
    ("value", "tried", "at_end"),
    [
        (0.95, "0.1..0.95", True), (0.12, "0.1..0.95", True), (0.13, "0.1..0.95", False), (0.92, "0.1..0.95", False),
        (0.0005, "0.0005..0.02", True), (0.0007, "0.0005..0.02", False),  # by its logarithm
        (0.0, "0..0.5", False), (0.49, "0..0.5", True), (True, "yes|no", False), (8, "1|8", False),
    ],
)  # fmt: skip
def test_a_choice_at_an_end_of_what_was_tried_is_marked(value: object, tried: str, at_end: bool) -> None:
    """Below 0 there is nothing to be tried, so it is no end."""
    chosen = {"settings": {"dial": value}, "space": {"dial": tried}}
    assert _values(chosen).endswith(AT_END) == at_end
