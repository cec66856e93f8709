"""A small report: its numbers match the records, and special characters do not break its tables."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from labkit.papers.bundled_report import Figure, JudgedClaim, Report, TableResult, result, results_shown, stored
from labkit.papers.cells import Store, as_lines, cells_of, compute, plan
from labkit.papers.claims import Claim, Judgement, ShownLead
from labkit.papers.data import Desk
from labkit.papers.records import Column, Table
from labkit.papers.reports import AT_END, _theirs, _values, as_markdown, in_digits, leaders, ours, piped, result_of
from tests.papers.fakes import LINES, PAPERS, TABLE


@pytest.fixture
def report(desk: Desk, store: Store) -> Report:
    plans = [plan(table, desk, 5) for table in (TABLE, LINES)]
    found = compute(cells_of(plans), store)
    return Report("labkit reproduce fake --seeds 5", tuple(result(each, found) for each in plans), {"torch": "2"})


def test_the_page_has_every_table_and_claim(report: Report) -> None:
    page = as_markdown(report, PAPERS)
    (data,) = report.tables[0].data
    assert f"On {data}; " in page
    assert re.search(r"^\| ours \| \.820 \[.*\] \(\.900\) \| 2400 ± 0 \|", page, re.MULTILINE)
    assert "| plain | .500 [.297, .703] (.500) | 2400 |" in page
    assert "- theirs: its weights are elsewhere" in page
    assert "| fake/1 | ours leads plain | confirmed | confirmed |" in page
    assert "| fake/1 | ours leads plain by half | our question | not confirmed |" in page
    assert "3 confirmed" not in page
    assert "| k = 2 | .420 [" in page


def test_numbers_have_the_papers_precision() -> None:
    assert in_digits(Column("a", "a", "stsb"), 0.85) == ".850"
    assert in_digits(Column("a", "a", "stsb"), -0.0123) == "−.012"
    assert in_digits(Column("a", "a", "stsb", 100, ".2f"), 0.5) == "0.50"
    assert in_digits(Column("a", "a", "stsb", printed=".2f"), 10.05) == "10.05"
    assert _theirs(Column("a", "a", "stsb"), 0.4557) == ".4557"  # all printed digits are kept
    few = Column("a", "a", "stsb", printed="#.3g")  # a spread has as many decimals as its mean
    for values, said in (((1.0, 1.2, 1.77), "1.32 ± .40"), ((0.36, 0.44), ".400 ± .057"), ((2.0,), "2.00")):
        assert ours(few, Figure("a", "a", None, values)) == said


def test_bars_and_asterisks_do_not_break_a_table() -> None:
    assert piped(["", "a|b"], [["*", "c"]]) == ["|  | a\\|b |", "|---|---|", "| \\* | c |"]


def test_stored_results_keep_only_the_parts_that_tables_show(desk: Desk, store: Store) -> None:
    """The row `plain` is also in a table with precision; no table shows the precision of `ours`."""
    rows = (replace(TABLE.rows[1], published=(None,)),)
    other = Table("fake", "2", "One row", (Column("precision", "precision", "stsb"),), rows)
    plans = [plan(each, desk, 2) for each in (TABLE, other)]
    found = compute(cells_of(plans), store).known
    for key, known in found.items():
        parts = known.parts["accuracy"]
        found[key] = replace(known, parts={"accuracy": parts, "precision": parts})
    lines = [json.loads(line) for line in as_lines(results_shown(plans, found)).splitlines()]
    told = [(line["notes"]["about"]["settings"]["name"], sorted(line["parts"])) for line in lines]
    assert sorted(told) == [("ours", ["accuracy"]), ("ours", ["accuracy"]), ("plain", ["accuracy", "precision"])]
    assert [line["key"] for line in lines] == sorted(found)


@pytest.mark.parametrize(
    ("value", "tried", "at_end"),
    [
        (0.95, "0.1..0.95", True), (0.12, "0.1..0.95", True), (0.13, "0.1..0.95", False),
        (0.0007, "0.0005..0.02", False),  # on a logarithmic scale
        (0.0, "0..0.5", False), (True, "yes|no", False),
    ],
)  # fmt: skip
def test_a_choice_at_an_end_of_its_range_is_marked(value: object, tried: str, at_end: bool) -> None:
    """0 is not marked, because no smaller value is possible."""
    chosen = {"settings": {"dial": value}, "space": {"dial": tried}}
    assert _values(chosen).endswith(AT_END) == at_end


@pytest.mark.parametrize(
    ("lead", "found", "asked", "why"),
    [
        ((0.1, -0.05, 0.25, False, True), {}, {}, "over seeds alone"),
        ((0.1, 0.05, 0.15), {"seeds": 3}, {}, "3 of 5 seeds"),
        ((0.1, 0.1, 0.1), {}, {}, "one number per row"),
        ((0.1, -0.05, 0.25), {}, {}, "too close to call"),
        ((0.1, 0.05, 0.15), {}, {"by": 0.08}, "8.0 points"),
        ((0.1, 0.05, 0.15), {}, {"by": 0.12, "tie": True}, "12.0 points"),
        ((0.1, 0.05, 0.15), {"absent": ("SIF",)}, {}, "SIF"),
        # the missing row is not the reason: a was compared with b in both columns and with c in one
        ((-0.1, -0.15, -0.05), {"absent": ("SIF",)}, {"over": ("b", "c", "SIF"), "columns": ("f1", "auc")}, "3 compar"),
    ],
)
def test_an_undecided_claim_says_why(
    lead: tuple[float, ...], found: dict[str, Any], asked: dict[str, Any], why: str
) -> None:
    judged = Judgement("open", ShownLead("f1", "a", "b", 0.6, 0.5, *lead), **found)
    claims = (Claim("a leads b", **{"rows": ("a",), "over": ("b",), "columns": ("f1",)} | asked),)
    table = Table("film", "1", "", (Column("f1", "f1", "questions"),), (), claims=claims)
    places = (("a", "f1"), ("b", "f1"), ("c", "f1"), ("a", "auc"), ("b", "auc"), ("SIF", "auc"))
    figures = tuple(Figure(*place, values=(0.5,), seen=place[0] == "SIF") for place in places)
    shown = TableResult(table, figures)
    said = result_of(JudgedClaim("a leads b", None, judged), shown)
    assert "undecided" in said
    assert why in said[: said.rindex(")")]  # next to the interval
    assert ("seeds alone" in said) == (len(lead) > 3)
    assert ("behind “b”" in said) == (lead[0] < 0)
    assert "undecided" not in result_of(JudgedClaim("a leads b", None, replace(judged, verdict="confirmed")), shown)
    several = JudgedClaim("a leads b", None, replace(judged, columns=2))
    open_by_numbers = "seeds" not in found and lead[1] != lead[2]
    assert ("interval, widened" in result_of(several, shown)) == open_by_numbers
    failed = replace(several, ours=replace(several.ours, verdict="not confirmed"))
    assert "interval, widened" not in result_of(failed, shown)


# --- the documentation's page of leaders ---------------------------------------------------------------------------


def rows(text: str) -> list[list[str]]:
    """The cells of all table rows."""
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.removeprefix("# ").startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_page_names_the_leader_and_its_possible_rivals() -> None:
    page = leaders(lambda leads, says: f"({len(leads)} drawn: {says})")
    results = {f"{result.table.title}: {result.table.caption}": result for result in stored().tables}
    seen = 0
    for part in page.split("\n### ")[1:]:
        result = results[part.partition("\n")[0]]
        for column, first, _, ties, undecided in (row for row in rows(part) if row[0] in result.columns):
            standings = {each.row: each.standing for each in result.figures if each.column == column}
            assert standings[first] == "best"
            for said, standing in ((ties, "tie"), (undecided, "open")):
                named = set() if said == "none" else set(said.split("; "))
                assert named == {row for row, found in standings.items() if found == standing}
            assert not first.endswith("as printed")
            seen += 1
        for claim in result.claims:
            both = [each and f"{each.lead:+.3f} [{each.low:+.3f},\u00a0{each.high:+.3f}]" for each in
                    (claim.before, claim.after)]  # fmt: skip
            both = [each and re.sub(r"\+(0\.000)", r"\1", each.replace("-", "−")) for each in both]
            line = next((row for row in rows(part) if row[0] == claim.text), None)
            assert (line and line[2:4]) == (both if all(both) else None)
    assert seen > 30
    assert "(2 drawn: " in page
