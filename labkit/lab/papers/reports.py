"""What is reported: results, the papers' observations on themselves, the command, and the versions it ran with."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from labkit.evaluation.comparison import Spread
from labkit.lab.cli.output import text_table
from labkit.lab.papers.cells import Known, as_lines
from labkit.lab.papers.records import Column, Paper, Verdict, why
from labkit.lab.papers.results import Figure, Result, as_record
from labkit.progress import lasting
from labkit.runs import versions

# --- report ------------------------------------------------------------------------------------------------------

RULE = (
    "A claim is judged on the differences between runs of one seed on the same test items: confirmed if the 95 % "
    "interval of every lead that it claims, over seeds and test items together, lies above what it claims (a tie: "
    "within the bounds it gives), not confirmed if some interval lies below, widened for having picked it among "
    "several, else undecided. Tables that were computed earlier say so."
)
NOT_EVIDENCE = "not evidence: one seed, small embedded data, short trainings"


@dataclass(frozen=True, eq=False)
class Report:
    """Some tables, in order, with their papers."""

    command: str
    results: tuple[Result, ...]
    papers: tuple[Paper, ...]
    versions: Mapping[str, str]
    cells: tuple[Known, ...] = ()

    def of(self, paper: Paper) -> list[Result]:
        """The results of a paper."""
        return [found for found in self.results if found.table.paper == paper.name]

    @property
    def made_with(self) -> str:
        made = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return f"{made}; figures computed by commit {', '.join(self.commits)}" if self.commits else made

    @property
    def commits(self) -> list[str]:
        """Of the code that computed the figures; a + says that it was changed since."""
        return sorted({commit for found in self.results for commit in found.commits})


def reported(
    command: str, results: Sequence[Result], papers: Mapping[str, Paper], cells: Iterable[Known] = ()
) -> Report:
    """A report of these results, and of the cells they come from."""
    names = dict.fromkeys(found.table.paper for found in results)
    return Report(command, tuple(results), tuple(papers[name] for name in names), dict(versions()), tuple(cells))


# --- what becomes of the claims ---------------------------------------------------------------------------------


def tally(report: Report) -> str:
    """How many claims there are, and how many of each verdict, in the papers' own figures and in ours."""
    judged = [pair for found in report.results for pair in found.judgements]
    theirs = [(paper.verdict, mine.verdict) for claim, paper, mine in judged if not claim.ours]
    said = [each.verdict for paper in report.papers for each in paper.observations]
    asked = [mine.verdict for claim, _, mine in judged if claim.ours]
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


def number(column: Column, value: float) -> str:
    """In the paper's own digits.

    >>> number(Column("accuracy", "accuracy", "quora"), 0.8504)
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
    return number(column, found.mean) + _spread(column, found) + ("*" if figure.why else "")


def _spread(column: Column, found: Spread) -> str:
    """In as many decimals as the mean, so that the two can be compared."""
    if len(found.values) < 2:
        return ""
    digits = len(number(column, found.mean).partition(".")[2])
    return f" ± {number(replace(column, printed=f'.{digits}f'), found.spread)}"


def theirs(column: Column, figure: Figure) -> str:
    """The published figure with all its digits, or a dash."""
    if figure.published is None:
        return "–"
    digits = len(repr(figure.published).partition(".")[2])
    usual = column.printed.removeprefix("#")
    shown = f".{digits}f" if digits > int(usual[1:-1]) else usual
    return number(replace(column, printed=shown), figure.published)


def seeds(found: Result) -> str:
    """Over how many seeds, in words."""
    counts = sorted({len(figure.seeds) for figure in found.figures.values() if figure.ours is not None})
    if not counts:
        return "no figure of ours"
    if counts == [1]:
        return "one run each"
    most = f"mean ± standard deviation over {counts[-1]} seeds"
    return most if len(counts) == 1 else f"{most}; without ±: one run, or nothing random in it"


def reasons(found: Result) -> list[str]:
    """Why rows and columns are missing, rows of one reason together; what computes them; what the asterisks say."""
    grouped: dict[str, list[str]] = {}
    for row, reason in found.left_out.items():
        grouped.setdefault(reason, []).append(row)
    said = [f"{', '.join(rows)}: {reason}" for reason, rows in grouped.items()]
    if found.rest:
        command = f"labkit reproduce {found.table.name}" + " --quick" * found.quick + " --data DATA" * found.published
        said.append(f"what is not computed yet takes about {lasting(found.rest)}: {command}")
    lost = dict.fromkeys(column for (_, column), figure in found.figures.items() if figure.state == "lacking")
    said += [f"{column}: the data at hand has none of it" for column in lost]
    marks: dict[str, None] = {}
    for (row, column), figure in found.figures.items():
        if figure.why and figure.ours is not None:
            marks[f"* {row}, {column}: {figure.why}"] = None
    return [*said, *marks]


# --- flat --------------------------------------------------------------------------------------------------------
#
# A report for programs: CSV with a line for each row and column, JSON with everything, and the cells behind both.


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


# --- markdown ----------------------------------------------------------------------------------------------------
#
# A report as Markdown: every claim in a line, then a section for each paper and a table for each table.


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


# --- text --------------------------------------------------------------------------------------------------------
#
# A report for the terminal: tables as wide as it, ours with the paper's figure in brackets.


def as_text(report: Report, *, width: int = 120) -> str:
    """All tables, one below the other."""
    return "\n\n\n".join(
        [_text_table(found, width) for found in report.results] + [f"{report.command}\n{report.made_with}"]
    )


def _text_table(found: Result, width: int) -> str:
    head = f"{found.table.name}  {found.table.caption}"
    said = [head] + ([NOT_EVIDENCE] if not found.evidence else [])
    said += [f"on {'; '.join(found.data) or 'nothing that is here'}; {seeds(found)}; (the paper's figure)", ""]
    blocks = _blocks(found, width)
    said.append("\n\n".join(text_table(block, right=range(1, len(block[0]))) for block in blocks))
    said += ["", *(f"  {line}" for line in (*reasons(found), *found.notes))]
    said += [f"  note: {found.table.note}"] if found.table.note else []
    for claim, paper, mine in found.judgements:
        said.append(
            f"  claim: {claim.text}: {mine.verdict} ({mine.why}); by the paper's figures {paper.verdict} ({paper.why})"
        )
    return "\n".join(said)


def _blocks(found: Result, width: int) -> list[list[list[str]]]:
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


def _cells(found: Result, column: Column) -> list[str]:
    """Ours, and the paper's in brackets, each flush right."""
    figures = [found.figures[row.name, column.name] for row in found.table.rows]
    mine = [ours(column, figure) for figure in figures]
    paper = ["" if figure.published is None else f"({theirs(column, figure)})" for figure in figures]
    wide = [max(map(len, cells)) for cells in (mine, paper)]
    return [f"{a.rjust(wide[0])} {b.rjust(wide[1])}" if wide[1] else a for a, b in zip(mine, paper, strict=True)]
