"""A report of results as text: Markdown, a terminal's text, CSV and JSON for programs, and the cells behind them.

In: a `Report` with its results, the papers' observations on themselves, the command, and the versions it ran with.
Out: text. How a figure is written is the same in every form; `html.py` writes the page.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from labkit.evaluation.comparison import Spread
from labkit.lab.cli.output import text_table
from labkit.lab.papers.claims import Verdict
from labkit.lab.papers.records import Column, Paper
from labkit.lab.papers.store import Known, as_lines
from labkit.lab.papers.stored import Figure, Report, TableResult
from labkit.progress import lasting
from labkit.runs import versions

RULE = (
    "A claim is judged on the differences between runs of one seed on the same test items: confirmed if the 95 % "
    "interval of every lead that it claims, over seeds and test items together, lies above what it claims (a tie: "
    "within the bounds it gives), not confirmed if some interval lies below, widened for having picked it among "
    "several, else undecided. Tables that were computed earlier say so."
)
NOT_EVIDENCE = "not evidence: one seed, small embedded data, short trainings"


def reported(
    command: str, results: Sequence[TableResult], papers: Mapping[str, Paper], cells: Iterable[Known] = ()
) -> Report:
    """A report of these results, and of the cells they come from."""
    names = dict.fromkeys(found.paper for found in results)
    return Report(command, tuple(results), dict(versions()), tuple(papers[name] for name in names), tuple(cells))


# --- what becomes of the claims ---------------------------------------------------------------------------------


def tally(report: Report) -> str:
    """How many claims there are, and how many of each verdict, in the papers' own figures and in ours."""
    judged = [claim for table in report.tables for claim in table.claims]
    theirs = [(claim.paper, claim.ours) for claim in judged if not claim.asked_here]
    said = [each.verdict for paper in report.papers for each in paper.observations]
    asked = [claim.ours for claim in judged if claim.asked_here]
    told = []
    if theirs:
        told.append(f"Claims of the papers on figures, {len(theirs)}. By their own: {_counts([a for a, _ in theirs])}.")
        told.append(f"By ours: {_counts([b for _, b in theirs])}.")
    if said:
        told.append(f"On themselves, by their pages, {len(said)}: {_counts(said)}.")
    if asked:
        told.append(f"Asked here beyond them, {len(asked)}: {_counts(asked)}.")
    return " ".join(told)


def _counts(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(f"{verdicts.count(each)} {each}" for each in get_args(Verdict) if each in verdicts)


# --- how a figure is written, the same everywhere ---------------------------------------------------------------


def in_digits(column: Column, value: float) -> str:
    """The value in the paper's own digits.

    >>> in_digits(Column("accuracy", "accuracy", "quora"), 0.8504)
    '.850'
    """
    said = format(value, column.printed)
    return said.replace("0.", ".", 1) if said.startswith(("0.", "-0.")) and column.scale == 1 else said


def ours(column: Column, figure: Figure) -> str:
    """Mean ± spread, or a dash; an asterisk where there is something to know."""
    found = figure.ours
    if found is None:
        return "–"
    if figure.counted:
        return ", ".join(f"{value:g}" for value in sorted(set(found.values)))
    return in_digits(column, found.mean) + _spread(column, found) + ("*" if figure.why else "")


def _spread(column: Column, found: Spread) -> str:
    """The spread in as many decimals as the mean, so that the two can be compared."""
    if len(found.values) < 2:
        return ""
    digits = len(in_digits(column, found.mean).partition(".")[2])
    return f" ± {in_digits(replace(column, printed=f'.{digits}f'), found.spread)}"


def theirs(column: Column, figure: Figure) -> str:
    """The published figure with all its digits, or a dash."""
    if figure.published is None:
        return "–"
    digits = len(repr(figure.published).partition(".")[2])
    usual = column.printed.removeprefix("#")
    shown = f".{digits}f" if digits > int(usual[1:-1]) else usual
    return in_digits(replace(column, printed=shown), figure.published)


def seeds(found: TableResult) -> str:
    """Says over how many seeds the figures are means."""
    counts = sorted({len(figure.seeds) for figure in found.figures if figure.ours is not None})
    if not counts:
        return "no figure of ours"
    if counts == [1]:
        return "one run each"
    most = f"mean ± standard deviation over {counts[-1]} seeds"
    return most if len(counts) == 1 else f"{most}; without ±: one run, or nothing random in it"


def reasons(found: TableResult) -> list[str]:
    """Why rows and columns are missing, rows of one reason together; what computes them; what the asterisks say."""
    grouped: dict[str, list[str]] = {}
    for row, reason in found.left_out.items():
        grouped.setdefault(reason, []).append(row)
    said = [f"{', '.join(rows)}: {reason}" for reason, rows in grouped.items()]
    if found.rest:
        command = (
            f"labkit reproduce {found.table.name}"
            + " --quick" * (not found.evidence)
            + " --data DATA" * found.published
        )
        said.append(f"what is not computed yet takes about {lasting(found.rest)}: {command}")
    lost = dict.fromkeys(figure.column for figure in found.figures if figure.state == "lacking")
    said += [f"{column}: the data at hand has none of it" for column in lost]
    marks: dict[str, None] = {}
    for figure in found.figures:
        if figure.why and figure.ours is not None:
            marks[f"* {figure.row}, {figure.column}: {figure.why}"] = None
    return [*said, *marks]


# --- for programs ------------------------------------------------------------------------------------------------


HEAD = (
    "table", "row", "column", "paper", "mean", "spread", "seeds", "values", "data", "evidence", "why", "command",
    "versions",
)  # fmt: skip


def as_json(report: Report) -> str:
    """Command, versions, papers and tables, with every number."""
    return json.dumps(report.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_cells(report: Report) -> str:
    """What was computed of each cell, a line each: the form in which cells come with the lab.

    Of figures that no table shows, such as precision, the parts are left out: they decide nothing.
    """
    shown = {
        row.figure + column.figure
        for found in report.tables
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
    for found in report.tables:
        record = found.to_json()
        for row in record["rows"]:
            for figure in row["figures"]:
                numbers = ["" if figure[name] is None else repr(figure[name]) for name in ("paper", "mean", "spread")]
                lists = [";".join(map(repr, figure[name])) for name in ("seeds", "values")]
                more = ["; ".join(found.data), "yes" if found.evidence else "no", figure["why"]]
                told = [record["table"], row["row"], figure["column"], *numbers, *lists, *more]
                table.writerow([*told, report.command, report.made_with])
    return text.getvalue()


# --- Markdown: every claim in a line, then a section for each paper ----------------------------------------------


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
        _line([table.name, claim.text, claim.paper, claim.ours, claim.decides])
        for table in report.tables
        for claim in table.claims
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


def _table(found: TableResult) -> list[str]:
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


def _cell(found: TableResult, row: str, place: int) -> str:
    column = found.table.columns[place]
    figure = found.at(row, column.name)
    return f"{ours(column, figure)} ({theirs(column, figure)})".replace(" (–)", "")


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in cells) + " |"


# --- the terminal: tables as wide as it, ours with the paper's figure in brackets --------------------------------


def as_text(report: Report, *, width: int = 120) -> str:
    """All tables, one below the other."""
    return "\n\n\n".join(
        [_text_table(found, width) for found in report.tables] + [f"{report.command}\n{report.made_with}"]
    )


def _text_table(found: TableResult, width: int) -> str:
    head = f"{found.table.name}  {found.table.caption}"
    said = [head] + ([NOT_EVIDENCE] if not found.evidence else [])
    said += [f"on {'; '.join(found.data) or 'nothing that is here'}; {seeds(found)}; (the paper's figure)", ""]
    blocks = _blocks(found, width)
    said.append("\n\n".join(text_table(block, right=range(1, len(block[0]))) for block in blocks))
    said += ["", *(f"  {line}" for line in (*reasons(found), *found.notes))]
    said += [f"  note: {found.table.note}"] if found.table.note else []
    said += [
        f"  claim: {claim.text}: {claim.ours} ({claim.ours_why}); by the paper's figures {claim.paper} "
        f"({claim.paper_why})"
        for claim in found.claims
    ]
    return "\n".join(said)


def _blocks(found: TableResult, width: int) -> list[list[list[str]]]:
    """The columns, as many side by side as there is room for."""
    rows = found.table.rows
    name = max(len(row.name) for row in rows)
    made: list[list[list[str]]] = []
    room = 0
    for column in found.table.columns:
        cells = [column.name, *_cells(found, column)]
        wide = max(map(len, cells)) + 2
        if not made or room < wide:
            made.append([[""], *([row.name] for row in rows)])
            room = width - name
        room -= wide
        for line, cell in zip(made[-1], cells, strict=True):
            line.append(cell)
    return made


def _cells(found: TableResult, column: Column) -> list[str]:
    """Ours, and the paper's in brackets, each flush right."""
    figures = [found.at(row.name, column.name) for row in found.table.rows]
    mine = [ours(column, figure) for figure in figures]
    paper = ["" if figure.published is None else f"({theirs(column, figure)})" for figure in figures]
    wide = [max(map(len, cells)) for cells in (mine, paper)]
    return [f"{a.rjust(wide[0])} {b.rjust(wide[1])}" if wide[1] else a for a, b in zip(mine, paper, strict=True)]
