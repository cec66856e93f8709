"""Generate two pages of the book from the papers' records and the stored results: errata and leaders.

    errata(chapter)   Markdown: each paper's errata, and statements that its own pages refute
    leaders(draw)     Markdown: the leaders of each fairly tuned table, and how the leads changed

The pages follow the computed results (`data/results.json`). `reports.py` writes the full report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, get_args

from labkit.figures.comparison import leads_before_and_after
from labkit.papers.bundled_report import Standing, TableResult, stored
from labkit.papers.claims import ShownLead
from labkit.papers.published import PAPERS
from labkit.papers.records import Paper
from labkit.papers.reports import ours

STANDINGS = get_args(Standing)
Draw = Callable[[Any, str], str]  # a figure and its description -> Markdown
Chapter = Callable[[str], str]  # a notebook's number -> a link to it


def errata(chapter: Chapter) -> str:
    """The errata of the five papers."""
    report = stored()
    return "\n\n".join(part for paper in PAPERS.values() for part in _errata(paper, report.of(paper), chapter))


def _errata(paper: Paper, results: Iterable[TableResult], chapter: Chapter) -> Iterator[str]:
    if paper.name == "why":  # no paper
        return
    yield _heading(paper)
    if paper.errata:
        rows = [(each.where, each.printed, each.holds, chapter(each.notebook)) for each in paper.errata]
        yield _table(("where", "what is printed", "what holds", "seen in"), rows)
    claims = [claim for result in results for claim in result.claims]
    against = [(each.text, each.why) for each in paper.observations if each.verdict == "not confirmed"]
    against += [(claim.text, claim.paper_why) for claim in claims if claim.paper == "not confirmed"]
    if against:
        yield _table(("what is said", "what the paper's own pages say"), against)


def leaders(draw: Draw) -> str:
    """The leaders of each table whose settings are chosen on dev, and the leads before tuning."""
    report = stored()
    parts = []
    for paper in PAPERS.values():
        results = [result for result in report.of(paper) if any(made["chosen"] for made in result.made)]
        parts += [_heading(paper)] if results else []
        for result in results:
            fronts = _table(("column", "in front", "ours", "ties with it", "open"), _fronts(result))
            parts += [f"### {result.title}: {result.caption}", fronts, *_leads(result, draw)]
    return "\n\n".join(parts)


def _fronts(result: TableResult) -> Iterator[tuple[str, ...]]:
    """Find the row in front of each column, those that tie with it, and those that may be as good."""
    for column in result.table.columns:
        figures = [figure for figure in result.figures if figure.column == column.name and figure.standing]
        if figures:
            rows = {standing: [each.row for each in figures if each.standing == standing] for standing in STANDINGS}
            best = next(each for each in figures if each.standing == "best")
            figure = ours(column, best).replace(" ± ", "\u00a0±\u00a0")  # on one line
            yield column.name, best.row, figure, *("; ".join(rows[each]) or "none" for each in ("tie", "open"))


def _leads(result: TableResult, draw: Draw) -> Iterator[str]:
    rows = [
        (claim.text, before.column, _interval(before), _interval(after), claim.ours)
        for claim in result.claims
        for before, after in [(claim.before, claim.after)]
        if before and after
    ]
    if rows:
        says = f"The leads of {len(rows)} claims with their intervals, twice; the table below says all."
        yield draw(leads_before_and_after(result.leads), says)
        yield _table(("claim", "column", "lead as printed", "lead with settings chosen on dev", "verdict"), rows)


def _interval(lead: ShownLead) -> str:
    return f"{lead.lead:+.3f} [{lead.low:+.3f},\u00a0{lead.high:+.3f}]"


def _heading(paper: Paper) -> str:
    authors, title, _ = paper.citation.split(". ")
    return f"## {title.partition(':')[0]}\n\n{authors}: *{title}*."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |" for line in lines)
