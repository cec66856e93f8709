"""A report as Markdown: every claim in a line, then a section for each paper and a table for each table."""

from __future__ import annotations

from labkit.papers.claims import why
from labkit.papers.records import Paper
from labkit.papers.reports.report import NOT_EVIDENCE, RULE, Report, ours, reasons, seeds, tally, theirs
from labkit.papers.results import Result


def as_markdown(report: Report) -> str:
    """The whole report; made by the command, not by hand."""
    said = [
        "# The papers' tables, recomputed",
        "",
        f"Ours is a mean ± standard deviation over seeds, with the paper's figure in brackets. {RULE} Made by",
        "",
        f"    {report.command}",
        "",
        f"with {report.made_with}.",
        *_claims(report),
    ]
    for paper in report.papers:
        said += ["", *_paper(report, paper)]
    return "\n".join(said) + "\n"


def _claims(report: Report) -> list[str]:
    """One line each: what a paper's own figures say of it, what ours say, and the column that decides ours."""
    lines = [
        _line([found.table.name, claim.text, paper.verdict, mine.verdict, why(paper, mine)])
        for found in report.results
        for claim, paper, mine in found.judgements
    ]
    lines += [
        _line([paper.name, each.text, each.verdict, "–", each.why])
        for paper in report.papers
        for each in paper.observations
    ]
    if not lines:
        return []
    head = _line(["", "claim", "by the paper's own pages", "by our figures", "what decides"])
    return ["", "## What the papers claim", "", tally(report), "", head, "|---|---|---|---|---|", *lines]


def _paper(report: Report, paper: Paper) -> list[str]:
    said = [f"## {paper.name}", "", paper.citation]
    for found in report.of(paper):
        said += ["", *_table(found)]
    return said


def _table(found: Result) -> list[str]:
    table = found.table
    said = [f"### {table.title}: {table.caption}", ""]
    if not found.evidence:
        said += [f"**{NOT_EVIDENCE}**", ""]
    said += [f"On {'; '.join(found.data) or 'nothing that is here'}; {seeds(found)}.", ""]
    said.append(_line(["", *(column.name for column in table.columns)]))
    said.append("|---|" + "---:|" * len(table.columns))
    for row in table.rows:
        said.append(_line([row.name, *(_cell(found, row.name, place) for place in range(len(table.columns)))]))
    told = [*reasons(found), *found.notes, *filter(None, [table.note])]
    return [*said, *([""] if told else []), *(f"- {line}" for line in told)]


def _cell(found: Result, row: str, place: int) -> str:
    column = found.table.columns[place]
    figure = found.figures[row, column.name]
    return f"{ours(column, figure)} ({theirs(column, figure)})".replace(" (–)", "")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"
