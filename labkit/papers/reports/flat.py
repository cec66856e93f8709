"""A report for programs: CSV with a line for each row and column, JSON with everything, and the cells behind both."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

from labkit.papers.reports.report import Report
from labkit.papers.results import as_record
from labkit.papers.store import as_lines

HEAD = (
    "table", "row", "column", "paper", "mean", "spread", "seeds", "values", "data", "evidence", "why", "command",
    "versions",
)  # fmt: skip


def as_json(report: Report) -> str:
    """Command, versions, papers, tables."""
    told = {
        "command": report.command,
        "versions": dict(report.versions),
        "commits": report.commits,
        "papers": [
            {
                "paper": paper.name,
                "citation": paper.citation,
                "observations": [
                    {"text": each.text, "verdict": each.verdict, "why": each.why} for each in paper.observations
                ],
                "tables": [as_record(found) for found in report.of(paper)],
            }
            for paper in report.papers
        ],
    }
    return json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_cells(report: Report) -> str:
    """What was computed of each cell, a line each: the form in which cells come with the lab.

    Of figures that no table shows, such as precision, the parts are left out: they decide nothing.
    """
    shown = {
        row.figure + column.figure
        for found in report.results
        for row in found.table.rows
        for column in found.table.columns
    }
    return as_lines(
        replace(cell, parts={name: parts for name, parts in cell.parts.items() if name in shown})
        for cell in report.cells
    )


def as_csv(report: Report) -> str:
    """A number a line, with all that is to be known of it."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(HEAD)
    for found in report.results:
        record = as_record(found)
        for row in record["rows"]:
            for figure in row["figures"]:
                numbers = ["" if figure[name] is None else repr(figure[name]) for name in ("paper", "mean", "spread")]
                lists = [";".join(map(repr, figure[name])) for name in ("seeds", "values")]
                more = ["; ".join(found.data), "yes" if found.evidence else "no", figure["why"]]
                told = [record["table"], row["row"], figure["column"], *numbers, *lists, *more]
                table.writerow([*told, report.command, report.made_with])
    return text.getvalue()
