"""Write results as Markdown: the page of the book, the terminal's output, and the format of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from typing import Any, get_args

from labkit.papers.bundled_report import Figure, Report, TableResult
from labkit.papers.claims import Verdict
from labkit.papers.published import PAPERS
from labkit.papers.records import Column, Paper
from labkit.progress import lasting

RULE = (
    "A claim is judged on the differences between runs of one seed on the same test items: confirmed if the 95 % "
    "interval of every lead that it claims, over seeds and test items together, lies above what it claims (a tie: "
    "within the bounds it gives), not confirmed if some interval lies below, widened for having picked it among "
    "several, else open. It is open, too, where it has fewer than five seeds or where a row of it was not measured."
)
AT_END = "(!)"  # marks a number chosen at an end of its range
NOT_EVIDENCE = "not evidence: one seed, small embedded data, short trainings"


def tally(report: Report, papers: Mapping[str, Paper] = PAPERS) -> str:
    """The number of claims and of each verdict, by the papers' own scores and by ours."""
    claims = [claim for table in report.tables for claim in table.claims]
    theirs = [claim for claim in claims if not claim.asked_here]
    own = [each.verdict for paper in papers.values() if report.of(paper) for each in paper.observations]
    asked = [claim.ours for claim in claims if claim.asked_here]
    sentences = []
    if theirs:
        by_paper, by_us = _counts([claim.paper for claim in theirs]), _counts([claim.ours for claim in theirs])
        sentences = [f"Claims of the papers on figures, {len(theirs)}. By their own: {by_paper}.", f"By ours: {by_us}."]
    if own:
        sentences.append(f"On themselves, by their pages, {len(own)}: {_counts(own)}.")
    if asked:
        sentences.append(f"Asked here beyond them, {len(asked)}: {_counts(asked)}.")
    return " ".join(sentences)


def _counts(verdicts: Sequence[str]) -> str:
    return ", ".join(f"{verdicts.count(each)} {each}" for each in get_args(Verdict) if each in verdicts)


# --- the format of a score ---------------------------------------------------------------------------------------


def in_digits(column: Column, value: float) -> str:
    """The value in the paper's format.

    >>> in_digits(Column("accuracy", "accuracy", "quora"), 0.8504)
    '.850'
    """
    text = format(value, column.printed)
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) and column.scale == 1 else text


def ours(column: Column, figure: Figure, *, counted: bool = False) -> str:
    """Mean and interval, or mean ± spread, or a dash; an asterisk refers to a remark."""
    measured = figure.ours
    if measured is None:
        return "–"
    if counted:
        return ", ".join(f"{value:g}" for value in sorted(set(figure.values)))
    text = in_digits(column, measured.mean)
    # with as many decimals as the mean, so that they can be compared
    finer = replace(column, printed=f".{len(text.partition('.')[2])}f")
    if figure.interval is not None:
        text += " [{}, {}]".format(*(in_digits(finer, bound) for bound in figure.interval))
    elif len(figure.values) > 1:
        text += f" ± {in_digits(finer, measured.spread)}"
    return text + "*" * bool(figure.why)


def theirs(column: Column, figure: Figure) -> str:
    """The published score with all its digits, or a dash."""
    if figure.published is None:
        return "–"
    decimals = len(repr(figure.published).partition(".")[2])
    usual = column.printed.removeprefix("#")
    shown = f".{decimals}f" if decimals > int(usual[1:-1]) else usual
    return in_digits(replace(column, printed=shown), figure.published)


def measured_on(result: TableResult) -> str:
    """The data, and the number of seeds."""
    counts = sorted({len(figure.seeds) for figure in result.figures if figure.values} - {1})
    data = "; ".join(result.data) or "nothing that is here"
    if not any(figure.values for figure in result.figures):
        return f"{data}; no figure of ours"
    several = " or ".join(filter(None, (", ".join(map(str, counts[:-1])), *map(str, counts[-1:]))))
    seeds = f"mean over {several} seeds" if counts else "one run each"
    shown = [figure for figure in result.figures if figure.values]
    told = "[95 % interval over seeds and test items]" * any(figure.interval is not None for figure in shown)
    rest = "± standard deviation" * any(figure.interval is None and len(figure.values) > 1 for figure in shown)
    return f"{data}; {seeds} {' or '.join(filter(None, (told, rest)))}".rstrip()


def remarks(result: TableResult) -> list[str]:
    """Why scores are missing, grouped by reason; the command that computes them; asterisks; notes."""
    missing: dict[str, list[str]] = {}
    for row in result.rows:
        lacking = [figure for figure in result.figures if figure.row == row and not figure.values]
        for reason in dict.fromkeys(figure.why for figure in lacking):
            columns = [figure.column for figure in lacking if figure.why == reason]
            whole = len(columns) == len(result.columns)
            missing.setdefault(reason, []).append(row if whole else f"{row} ({', '.join(columns)})")
    lines = [f"{', '.join(rows)}: {reason}" for reason, rows in missing.items()]
    if result.left:
        options = " --quick" * (not result.evidence) + " --data DATA" * result.published
        runs = "one run is" if result.left == 1 else f"{result.left} runs are"
        lines.append(f"{runs} not computed yet: labkit reproduce {result.name}{options}")
    marked = (figure for figure in result.figures if figure.why and figure.values)
    lines += dict.fromkeys(f"* {figure.row}, {figure.column}: {figure.why}" for figure in marked)
    return [*lines, *result.notes]


# --- one line per claim, then a section for each paper ------------------------------------------------------------


def as_markdown(report: Report, papers: Mapping[str, Paper] = PAPERS) -> str:
    """The whole report; generated by the command, not written by hand."""
    lines = [
        "# The papers' tables, recomputed",
        "",
        "Ours is a mean over seeds with its 95 % interval, or ± standard deviation where single test items were not "
        f"kept; the paper's figure is in brackets. {RULE} Made by",
        "",
        f"    {report.command}",
        "",
        f"with {report.made_with}.",
        *_claims(report, papers),
    ]
    for paper in papers.values():
        if results := report.of(paper):
            lines += ["", f"## {paper.name}", "", paper.citation]
            for result in results:
                lines += ["", *_table(result)]
    return "\n".join(lines) + "\n"


def _claims(report: Report, papers: Mapping[str, Paper]) -> list[str]:
    """One line per claim: the verdicts by the paper's scores and by ours, and the column that decides ours."""
    rows = [
        [table.name, claim.text, claim.paper or "our question", claim.ours, claim.decides]
        for table in report.tables
        for claim in table.claims
    ]
    rows += [
        [paper.name, each.text, each.verdict, "–", each.why]
        for paper in papers.values()
        if report.of(paper)
        for each in paper.observations
    ]
    if not rows:
        return []
    head = ["", "claim", "by the paper's own pages", "by our figures", "what decides"]
    return ["", "## What the papers claim", "", tally(report, papers), "", *piped(head, rows)]


def _table(result: TableResult) -> list[str]:
    table = result.table
    lines = [f"### {table.title}: {table.caption}", ""]
    if not result.evidence:
        lines += [f"**{NOT_EVIDENCE}**", ""]
    lines += [f"On {measured_on(result)}.", ""]
    rows = []
    for row in table.rows:
        cells = []
        for column in table.columns:
            figure = result.at(row.name, column.name)
            cells.append(f"{ours(column, figure, counted=row.counted)} ({theirs(column, figure)})".replace(" (–)", ""))
        rows.append([row.name, *cells])
    lines += piped(["", *result.columns], rows, right=True)
    lines += _chosen(result)
    items = [f"- {line}" for line in (*remarks(result), table.note) if line]
    return [*lines, *([""] if items else []), *items]


def _chosen(result: TableResult) -> list[str]:
    """The settings that trials on dev chose for each row, their ranges, and the gain."""
    every = [(made, chosen) for made in result.made for chosen in made["chosen"]]
    if not every:
        return []
    rows = [
        [made["row"], made["data"], _values(chosen), f"{chosen['trials']}", _gained(chosen), lasting(chosen["seconds"])]
        for made, chosen in every
    ]
    head = ["chosen on dev", "data", "setting (of what was tried)", "trials", "dev", "CPU"]
    tried = [len(chosen["space"]) for _, chosen in every]
    uneven = (
        f"The same number of trials searches {min(tried)} to {max(tried)} settings: where there are more, the best is "
        f"found less surely. What is marked {AT_END} lies at an end of what was tried, so beyond it may lie better."
    )
    return ["", *piped(head, rows), "", uneven]


def _values(chosen: Mapping[str, Any]) -> str:
    """The chosen settings, each with its range."""
    told = []
    for name, value in chosen["settings"].items():
        tried = chosen["space"][name]
        spelled = ("no", "yes")[value] if isinstance(value, bool) else value
        told.append(f"{name} {spelled} ({tried})" + f" {AT_END}" * _at_an_end(value, tried))
    return ", ".join(told)


def _at_an_end(value: Any, tried: str) -> bool:
    """Whether a number is within 3 % of an end of "low..high"; 0 is a natural end with nothing beyond."""
    if ".." not in tried:
        return False
    low, high = map(float, tried.split(".."))
    by_log = low > 0 and high >= 10 * low  # as `labkit.trials.space` draws it
    way = log(value / low) / log(high / low) if by_log else (value - low) / (high - low)
    return way > 0.97 or (way < 0.03 and low != 0)


def _gained(chosen: Mapping[str, Any]) -> str:
    """The dev scores of the first trial and of the best."""
    before, after = ("–" if chosen[name] is None else f"{chosen[name]:.3f}" for name in ("dev at first", "dev"))
    return f"{chosen['measure'].removeprefix('dev_')} {before} to {after}"


def piped(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: bool = False) -> list[str]:
    """The lines of a Markdown table; columns after the first are aligned left, or right."""
    lines = [
        "| " + " | ".join(cell.replace("|", "\\|").replace("*", "\\*") for cell in row) + " |" for row in (head, *rows)
    ]
    return [lines[0], "|---|" + ("---:|" if right else "---|") * (len(head) - 1), *lines[1:]]
