"""The book's pages of records: every slip once, and nobody in front who is not."""

from __future__ import annotations

import re

from labkit.evaluation.comparison import leader
from labkit.lab.papers.pages import leaders
from labkit.lab.papers.stored import stored


def rows(text: str) -> list[list[str]]:
    """The cells of all lines of tables."""
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.removeprefix("# ").startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_who_is_in_front_is_so_and_who_ties_ties() -> None:
    page = leaders(lambda figure, says: f"({len(figure.data)} drawn: {says})")
    results = {f"{result.title}: {result.caption}": result for result in stored().tables}
    seen = 0
    for part in page.split("\n### ")[1:]:
        result = results[part.partition("\n")[0]]
        for column, first, _, ties in (row for row in rows(part) if len(row) == 4 and row[0] in result.columns):
            figures = {each.row: each.ours for each in result.figures if each.column == column and each.ours}
            tied = set() if ties == "none" else set(ties.split("; "))
            assert {row for row in tied if leader(figures[first], figures[row]) != "tie"} == set()
            assert not [row for row in (first, *tied) if row.endswith("as printed")]
            seen += 1
        for claim in result.claims:
            assert (f"| {claim.text} |" in part) == (claim.before is not None and claim.after is not None)
    assert seen > 30
    assert "(2 drawn: " in page


def test_of_a_cost_the_smallest_is_in_front() -> None:
    """Kept pairs are a cost."""
    (line,) = re.findall(r"^\| share of negatives kept \| (.+?) \|", leaders(lambda *_: ""), re.MULTILINE)
    table = next(result for result in stored().tables if result.name == "sentpwnet/ablation-pairs")
    kept = {each.row: each.mean for each in table.figures if each.column == "share of negatives kept" and each.ours}
    assert kept[line] == min(kept.values())
