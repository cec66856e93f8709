"""A report as Markdown: a section for each paper, a table for each table."""

from __future__ import annotations

from labkit.papers.records import Paper
from labkit.papers.reports.report import NOT_EVIDENCE, Report, ours, reasons, seeds, theirs
from labkit.papers.results import Result


def as_markdown(report: Report) -> str:
    """The whole report; made by the command, not by hand."""
    said = [
        "# The papers' tables, recomputed",
        "",
        "Ours is a mean ± standard deviation over seeds, with the paper's figure in brackets. A difference inside the "
        "spread is a tie. Made by",
        "",
        f"    {report.command}",
        "",
        f"with {report.made_with}.",
    ]
    for paper in report.papers:
        said += ["", *_paper(report, paper)]
    return "\n".join(said) + "\n"


def _paper(report: Report, paper: Paper) -> list[str]:
    said = [f"## {paper.name}", "", paper.citation]
    for found in report.of(paper):
        said += ["", *_table(found)]
    if paper.observations:
        said += ["", "### What the paper says of itself", ""]
        said += [f"- {each.text}: **{each.verdict}**; {each.why}" for each in paper.observations]
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
    said += ["", *(f"- {line}" for line in (*reasons(found), *found.notes))]
    said += [f"- {table.note}"] if table.note else []
    said += [
        f"- Claim: {claim.text}. Ours: **{mine.verdict}** ({mine.why}). The paper's figures: **{paper.verdict}** "
        f"({paper.why})."
        for claim, paper, mine in found.judgements
    ]
    return said


def _cell(found: Result, row: str, place: int) -> str:
    column = found.table.columns[place]
    figure = found.figures[row, column.name]
    return f"{ours(column, figure)} ({theirs(column, figure)})".replace(" (–)", "")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"
