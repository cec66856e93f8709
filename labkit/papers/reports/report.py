"""What is reported: results, the papers' observations on themselves, the command, and the versions it ran with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from labkit.evaluation.comparison import Spread
from labkit.papers.claims import Verdict
from labkit.papers.records import Column, Paper
from labkit.papers.results import Figure, Result
from labkit.papers.store import Known
from labkit.progress import lasting
from labkit.runs import versions

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
    for row, why in found.left_out.items():
        grouped.setdefault(why, []).append(row)
    said = [f"{', '.join(rows)}: {why}" for why, rows in grouped.items()]
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
