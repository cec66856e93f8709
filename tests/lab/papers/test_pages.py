"""The book's pages of records: every slip once, and nobody in front who is not."""

from __future__ import annotations

import re

from labkit.evaluation.comparison import leader
from labkit.lab.course.notebooks import sources
from labkit.lab.papers.pages import errata, leaders
from labkit.lab.papers.published import PAPERS
from labkit.lab.papers.stored import stored

SLIPS = re.compile(r"^# \| where \| what is printed \| what holds \|\n# \|[ |-]+\n((?:# \|.*\n)+)", re.MULTILINE)


def rows(text: str) -> list[list[str]]:
    """The cells of all lines of tables."""
    lines = [line.removeprefix("# ") for line in text.splitlines() if line.removeprefix("# ").startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_a_notebook_and_the_records_tell_of_the_same_slips() -> None:
    records = [each for paper in PAPERS.values() for each in paper.errata]
    compared = 0
    for source in sources():
        for table in SLIPS.findall(source.read_text("utf-8")):
            here = [(each.where, each.printed, each.holds) for each in records if each.notebook == source.stem[:2]]
            assert [tuple(row) for row in rows(table)] == here
            compared += 1
    assert compared == 2  # 04 and 06 have such a table


def test_a_slip_is_shown_where_it_says() -> None:
    texts = {source.stem[:2]: source.read_text("utf-8") for source in sources()}
    for paper in PAPERS.values():
        for each in paper.errata:
            number = re.search(r"\b[A-Z]?\.?\d+(\.\d+)*", each.where)
            assert not each.notebook or number is None or number[0] in texts[each.notebook], each


def test_all_five_papers_have_their_part_and_no_sixth() -> None:
    page = errata()
    assert len(re.findall("^## ", page, re.MULTILINE)) == 5
    for paper in PAPERS.values():
        for each in paper.errata:
            assert f"| {each.where} | {each.printed} | {each.holds} |" in page
        for said in paper.observations:
            assert (f"| {said.text} | {said.why} |" in page) == (said.verdict == "not confirmed")
    for result in stored().tables:
        for claim in result.claims:
            assert (f"| {claim.text} | {claim.paper_why} |" in page) == (claim.paper == "not confirmed")


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


def test_a_paper_whose_rows_have_no_settings_chosen_on_dev_is_left_out() -> None:
    assert not [made for result in stored().tables if result.paper == "sbert-lp" for made in result.made if made.chosen]
    assert "Locality Preserving" not in leaders(lambda *_: "")
