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
from math import log
from typing import Any, get_args

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
AT_END = "(!)"  # behind a number that was chosen at an end of what was tried
NOT_EVIDENCE = "not evidence: one seed, small embedded data, short trainings"


def reported(
    command: str, results: Sequence[TableResult], papers: Mapping[str, Paper], cells: Iterable[Known] = ()
) -> Report:
    """A report of these results, and of the cells they come from."""
    names = dict.fromkeys(result.paper for result in results)
    return Report(command, tuple(results), dict(versions()), tuple(papers[name] for name in names), tuple(cells))


# --- what becomes of the claims ---------------------------------------------------------------------------------


def tally(report: Report) -> str:
    """How many claims there are, and how many of each verdict, in the papers' own figures and in ours."""
    claims = [claim for table in report.tables for claim in table.claims]
    papers = [claim for claim in claims if not claim.asked_here]
    own = [each.verdict for paper in report.papers for each in paper.observations]
    asked = [claim.ours for claim in claims if claim.asked_here]
    sentences = []
    if papers:
        by_paper, by_us = _counts([claim.paper for claim in papers]), _counts([claim.ours for claim in papers])
        sentences = [f"Claims of the papers on figures, {len(papers)}. By their own: {by_paper}.", f"By ours: {by_us}."]
    if own:
        sentences.append(f"On themselves, by their pages, {len(own)}: {_counts(own)}.")
    if asked:
        sentences.append(f"Asked here beyond them, {len(asked)}: {_counts(asked)}.")
    return " ".join(sentences)


def _counts(verdicts: Sequence[Verdict]) -> str:
    return ", ".join(f"{verdicts.count(each)} {each}" for each in get_args(Verdict) if each in verdicts)


# --- how a figure is written, the same everywhere ---------------------------------------------------------------


def in_digits(column: Column, value: float) -> str:
    """The value in the paper's own digits.

    >>> in_digits(Column("accuracy", "accuracy", "quora"), 0.8504)
    '.850'
    """
    text = format(value, column.printed)
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) and column.scale == 1 else text


def ours(column: Column, figure: Figure) -> str:
    """Mean and interval, or mean ± spread, or a dash; an asterisk where there is something to know."""
    measured = figure.ours
    if measured is None:
        return "–"
    if figure.counted:
        return ", ".join(f"{value:g}" for value in sorted(set(measured.values)))
    text = in_digits(column, measured.mean)
    # with as many decimals as the mean has, so that they can be compared
    finer = replace(column, printed=f".{len(text.partition('.')[2])}f")
    if figure.interval is not None:
        text += " [{}, {}]".format(*(in_digits(finer, bound) for bound in figure.interval))
    elif len(measured.values) > 1:
        text += f" ± {in_digits(finer, measured.spread)}"
    return text + "*" * bool(figure.why)


def theirs(column: Column, figure: Figure) -> str:
    """The published figure with all its digits, or a dash."""
    if figure.published is None:
        return "–"
    decimals = len(repr(figure.published).partition(".")[2])
    usual = column.printed.removeprefix("#")
    shown = f".{decimals}f" if decimals > int(usual[1:-1]) else usual
    return in_digits(replace(column, printed=shown), figure.published)


def measured_on(result: TableResult) -> str:
    """The data, and over how many seeds the figures are means."""
    counts = sorted({len(figure.seeds) for figure in result.figures if figure.ours is not None})
    if not counts:
        seeds = "no figure of ours"
    elif counts == [1]:
        seeds = "one run each"
    else:
        over = " or ".join(str(count) for count in counts if count > 1)
        seeds, alone = f"mean ± standard deviation over {over} seeds", "; without ±: one run, or nothing random in it"
        if result.table.intervals:
            seeds = f"mean over {over} seeds [95 % interval over seeds and test items]"
            alone = "; of what has nothing random in it, one run"
        seeds += alone * (1 in counts)
    return f"{'; '.join(result.data) or 'nothing that is here'}; {seeds}"


def remarks(result: TableResult) -> list[str]:
    """Why rows and columns are missing, rows of one reason together; what computes them; what asterisks say; notes."""
    grouped: dict[str, list[str]] = {}
    for row, reason in result.left_out.items():
        grouped.setdefault(reason, []).append(row)
    lines = [f"{', '.join(rows)}: {reason}" for reason, rows in grouped.items()]
    if result.rest:
        options = " --quick" * (not result.evidence) + " --data DATA" * result.published
        command = f"labkit reproduce {result.name}{options}"
        lines.append(f"what is not computed yet takes about {lasting(result.rest)}: {command}")
    measured = {figure.column for figure in result.figures if figure.ours is not None}
    lacking = dict.fromkeys(figure.column for figure in result.figures if figure.state == "lacking")
    lines += [f"{column}: the data at hand has none of it" for column in lacking if column not in measured]
    marked = (figure for figure in result.figures if figure.why and figure.ours is not None)
    lines += dict.fromkeys(f"* {figure.row}, {figure.column}: {figure.why}" for figure in marked)
    return [*lines, *result.notes]


# --- for programs ------------------------------------------------------------------------------------------------


HEAD = (
    "table", "row", "column", "paper", "mean", "spread", "seeds", "values", "data", "evidence", "why", "command",
    "versions",
)  # fmt: skip


def as_json(report: Report) -> str:
    """Command, versions, papers and tables, with every number."""
    return json.dumps(report.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def as_cells(report: Report) -> str:
    """What was computed of each cell, a line each: the form in which cells come with the lab."""
    return as_lines(report.cells)


def as_csv(report: Report) -> str:
    """A number a line, with all that is to be known of it."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(HEAD)
    for result in report.tables:
        for row in result.to_json()["rows"]:
            for figure in row["figures"]:
                numbers = ["" if figure[name] is None else repr(figure[name]) for name in ("paper", "mean", "spread")]
                lists = [";".join(map(repr, figure[name])) for name in ("seeds", "values")]
                about = ["; ".join(result.data), "yes" if result.evidence else "no", figure["why"]]
                line = [result.name, row["row"], figure["column"], *numbers, *lists, *about]
                lines.writerow([*line, report.command, report.made_with])
    return text.getvalue()


# --- Markdown: every claim in a line, then a section for each paper ----------------------------------------------


def as_markdown(report: Report) -> str:
    """The whole report; made by the command, not by hand."""
    lines = [
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
        lines += ["", f"## {paper.name}", "", paper.citation]
        for result in report.of(paper):
            lines += ["", *_table(result)]
    return "\n".join(lines) + "\n"


def _claims(report: Report) -> list[str]:
    """One line each: what a paper's own figures say of it, what ours say, and the column that decides ours."""
    rows = [
        [table.name, claim.text, claim.paper, claim.ours, claim.decides]
        for table in report.tables
        for claim in table.claims
    ]
    rows += [
        [paper.name, each.text, each.verdict, "–", each.why] for paper in report.papers for each in paper.observations
    ]
    if not rows:
        return []
    head = ["", "claim", "by the paper's own pages", "by our figures", "what decides"]
    return ["", "## What the papers claim", "", tally(report), "", *_piped(head, "---|", rows)]


def _table(result: TableResult) -> list[str]:
    table = result.table
    lines = [f"### {table.title}: {table.caption}", ""]
    if not result.evidence:
        lines += [f"**{NOT_EVIDENCE}**", ""]
    lines += [f"On {measured_on(result)}.", ""]
    rows = [[row.name, *(_cell(result, row.name, column) for column in table.columns)] for row in table.rows]
    lines += _piped(["", *result.columns], "---:|", rows)
    lines += _chosen(result)
    items = [f"- {line}" for line in (*remarks(result), table.note) if line]
    return [*lines, *([""] if items else []), *items]


def _chosen(result: TableResult) -> list[str]:
    """What trials on dev chose for each row, of what, and what that gained there."""
    rows = [
        [made.row, made.data, _values(chosen), f"{chosen['trials']}", _gained(chosen), lasting(chosen["seconds"])]
        for made in result.made
        for chosen in made.chosen
    ]
    if not rows:
        return []
    head = ["chosen on dev", "data", "setting (of what was tried)", "trials", "dev", "CPU"]
    dials = [len(chosen["space"]) for made in result.made for chosen in made.chosen]
    uneven = (
        f"As many trials search {min(dials)} to {max(dials)} settings: where there are more, the best is found less "
        f"surely. What is marked {AT_END} lies at an end of what was tried, so beyond it may lie better."
    )
    return ["", *_piped(head, "---|", rows), "", uneven]


def _values(chosen: Mapping[str, Any]) -> str:
    """The settings that were chosen, each with what was tried."""
    told = []
    for name, value in chosen["settings"].items():
        tried = chosen["space"][name]
        spelled = ("no", "yes")[value] if isinstance(value, bool) else value
        told.append(f"{name} {spelled} ({tried})" + f" {AT_END}" * _at_an_end(value, tried))
    return ", ".join(told)


def _at_an_end(value: Any, tried: str) -> bool:
    """Whether a number lies within three hundredths of the way to an end of a dial "low..high"; 0 is an end of its own,
    where nothing lies beyond."""
    if ".." not in tried:
        return False
    low, high = map(float, tried.split(".."))
    by_log = low > 0 and high >= 10 * low  # as `labkit.settings.Dial` draws it
    way = log(value / low) / log(high / low) if by_log else (value - low) / (high - low)
    return way > 0.97 or (way < 0.03 and low != 0)


def _gained(chosen: Mapping[str, Any]) -> str:
    """The figure of dev of the first trial, and of the best."""
    before, after = ("–" if chosen[name] is None else f"{chosen[name]:.3f}" for name in ("dev at first", "dev"))
    return f"{chosen['measure'].removeprefix('dev_')} {before} to {after}"


def _cell(result: TableResult, row: str, column: Column) -> str:
    figure = result.at(row, column.name)
    return f"{ours(column, figure)} ({theirs(column, figure)})".replace(" (–)", "")


def _piped(head: list[str], rule: str, rows: list[list[str]]) -> list[str]:
    """A table; `rule` says on which side the columns after the first are flush."""
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in row) + " |" for row in [head, *rows]
    ]
    return [lines[0], "|---|" + rule * (len(head) - 1), *lines[1:]]


# --- the terminal: tables as wide as it, ours with the paper's figure in brackets --------------------------------


def as_text(report: Report, *, width: int = 120) -> str:
    """All tables, one below the other."""
    tables = [_text_table(result, width) for result in report.tables]
    return "\n\n\n".join([*tables, f"{report.command}\n{report.made_with}"])


def _text_table(result: TableResult, width: int) -> str:
    lines = [f"{result.name}  {result.table.caption}"]
    lines += [] if result.evidence else [NOT_EVIDENCE]
    lines += [f"on {measured_on(result)}; (the paper's figure)", ""]
    blocks = _blocks(result, width)
    lines.append("\n\n".join(text_table(block, right=range(1, len(block[0]))) for block in blocks))
    lines += ["", *(f"  {line}" for line in remarks(result))]
    lines += [f"  note: {result.table.note}"] if result.table.note else []
    lines += [
        f"  claim: {claim.text}: {claim.ours} ({claim.ours_why}); by the paper's figures {claim.paper} "
        f"({claim.paper_why})"
        for claim in result.claims
    ]
    return "\n".join(lines)


def _blocks(result: TableResult, width: int) -> list[list[list[str]]]:
    """The columns, as many side by side as there is room for."""
    names = ["", *result.rows]
    blocks: list[list[list[str]]] = []
    room = 0
    for column in result.table.columns:
        cells = [column.name, *_cells(result, column)]
        wide = max(map(len, cells)) + 2
        if not blocks or room < wide:
            blocks.append([[name] for name in names])
            room = width - max(map(len, names))
        room -= wide
        for line, cell in zip(blocks[-1], cells, strict=True):
            line.append(cell)
    return blocks


def _cells(result: TableResult, column: Column) -> list[str]:
    """Ours, and the paper's in brackets, each flush right."""
    figures = [result.at(row, column.name) for row in result.rows]
    mine = [ours(column, figure) for figure in figures]
    paper = ["" if figure.published is None else f"({theirs(column, figure)})" for figure in figures]
    wide = [max(map(len, cells)) for cells in (mine, paper)]
    return [f"{a.rjust(wide[0])} {b.rjust(wide[1])}" if wide[1] else a for a, b in zip(mine, paper, strict=True)]
