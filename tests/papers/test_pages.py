"""The book's pages of records."""

from __future__ import annotations

import re

from labkit.papers.bundled_report import stored
from labkit.papers.pages import leaders


def rows(text: str) -> list[list[str]]:
    """The cells of all lines of tables."""
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.removeprefix("# ").startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_the_page_says_who_is_in_front_and_who_may_be() -> None:
    page = leaders(lambda figure, says: f"({len(figure.data)} drawn: {says})")
    results = {f"{result.title}: {result.caption}": result for result in stored().tables}
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
            assert (f"| {claim.text} |" in part) == (claim.before is not None and claim.after is not None)
    assert seen > 30
    assert "(2 drawn: " in page


def test_of_a_cost_the_smallest_is_in_front() -> None:
    """Kept pairs are a cost."""
    (line,) = re.findall(r"^\| share of negatives kept \| (.+?) \|", leaders(lambda *_: ""), re.MULTILINE)
    table = next(result for result in stored().tables if result.name == "sentpwnet/ablation-pairs")
    kept = {each.row: each.mean for each in table.figures if each.column == "share of negatives kept" and each.values}
    assert kept[line] == min(kept.values())
