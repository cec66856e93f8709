"""Write results as Markdown: the report of `labkit reproduce`, and the book's page of leaders.

as_markdown(report)   the report: docs/RESULTS.md, and the terminal's output
leaders(draw)         the leaders of each fairly tuned table, and how tuning changed the leads, from the stored results
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import log
from typing import Any, get_args

from labkit.figure_names import written
from labkit.papers.bundled_report import Figure, JudgedClaim, Report, Standing, TableResult, stored
from labkit.papers.claims import ShownLead, Verdict
from labkit.papers.published import PAPERS
from labkit.papers.records import CLAIM_SEEDS, Column, Paper, Table
from labkit.progress import lasting

RULE = (
    "A claim is judged on the differences between runs with the same seed on the same test items. It is confirmed if, "
    "for every lead that it claims, the 95 % interval over seeds and test items together lies above the claimed value "
    "(for a tie: within its bounds). It is not confirmed if any interval lies below it (or outside them), even after "
    "widening for the number of leads (Bonferroni). Otherwise it is open, as it is with fewer than five seeds or "
    "without one of its rows. Intervals are shown before widening, so that of an open (undecided) claim may exclude 0."
)
AT_END = "(!)"  # marks a number chosen at an end of its range
NOT_EVIDENCE = "not evidence: one seed, small bundled data, short training"


def as_markdown(report: Report, papers: Mapping[str, Paper] = PAPERS) -> str:
    """The page: how claims are judged, every claim on one line, then a section for each paper."""
    commits = sorted({commit for table in report.tables for commit in table.commits})
    made_with = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    made_with += f"; scores computed by commit {', '.join(commits)}" * bool(commits)
    lines = [
        "# The papers' tables, recomputed",
        "",
        "Our score is a mean over seeds with its 95 % interval, or ± the standard deviation where the outcomes of test "
        f"items were not stored. The paper's score is in brackets. {RULE} This page was made by",
        "",
        f"    {report.command}",
        "",
        f"with {made_with}.",
        *_claims(report, papers),
    ]
    for paper in papers.values():
        if results := report.of(paper):
            lines += ["", f"## {paper.name}", "", paper.citation]
            for result in results:
                lines += ["", *_table(result)]
    return "\n".join(lines) + "\n"


# --- the claims --------------------------------------------------------------------------------------------------


def _claims(report: Report, papers: Mapping[str, Paper]) -> list[str]:
    """One line per claim: the verdicts by the paper's scores and by ours, and the column that decides ours."""
    rows = []
    for table in report.tables:
        for claim in table.claims:
            why = result_of(claim, table)
            paper = claim.paper.verdict if claim.paper else "our question"
            rows.append([table.name, claim.text, paper, claim.ours.verdict, why])
    rows += [
        [paper.name, each.text, each.verdict, "–", each.why]
        for paper in papers.values()
        if report.of(paper)
        for each in paper.observations
    ]
    if not rows:
        return []
    head = ["", "claim", "by the paper's scores", "by our scores", "what decides"]
    return ["", "## What the papers claim", "", _tally(report, papers), "", *piped(head, rows)]


def result_of(claim: JudgedClaim, result: TableResult) -> str:
    """The lead that decides a claim by our scores, why it is undecided, and the paper's lead if it contradicts it.

    Without scores of ours, it is the paper's lead.
    """
    found, own, table = claim.ours, claim.paper.lead if claim.paper else None, result.table
    if found.lead:
        told = said(found.lead, table, "one run each", _because(claim, result))
        if 1 < found.columns > found.holds:
            told += f" It holds in {found.holds or 'none'} of {found.columns} columns{_in_the_others(claim, result)}."
    else:
        told = "Not measured." if own else "At least one side has no scores."
    if own and claim.contradicted:
        return f"{told} The paper's own scores contradict the claim: {said(own, table)}"
    return told if found.lead or not own else f"{told} In the paper: {said(own, table)}"


def said(lead: ShownLead, table: Table, without: str = "", why: str = "") -> str:
    """A lead as a sentence, with its interval in the unit of its column, and `why` it decides nothing."""
    column = _column(lead, table)
    lower = ("faster than", "slower than") if "minutes" in column.name else ("lower than", "higher than")
    ways = ("ahead of", "behind") if column.larger else lower
    size = _in_unit(abs(lead.lead), lead, table)
    ends = [(_in_unit(abs(end), lead, table).split()[0], ways[end < 0].split()[0]) for end in (lead.low, lead.high)]
    (first, one), (last, other) = ends if lead.high >= 0 else ends[::-1]
    sure = without if lead.alone else f"95 %: {first}{f' {one}' * (one != other)} to {last} {other}"
    sure += ", over seeds alone" * lead.seeds_alone
    better = "lower is better" * ("lower than" in ways)
    about = "; ".join(filter(None, (lead.column, better, sure, why)))
    return f"“{lead.row}” is {ways[lead.lead < 0]} “{lead.other}” by {size} ({about})."


def _column(lead: ShownLead, table: Table) -> Column:
    return next(column for column in table.columns if column.name == lead.column)


def unit_of(lead: ShownLead, table: Table) -> tuple[float, str]:
    """The factor that converts a lead to its unit, and the unit: per cent of the other score, or points, of which the
    largest score has 100; no unit for ranks and distances.
    """
    column = _column(lead, table)
    small = column.larger and max(lead.mine, lead.theirs) <= 1  # no minutes, ranks or distances
    if lead.share:
        return 100.0, " %"
    if column.scale == 100 or (small and not column.name.endswith(" MI")):  # which is in nats
        return 100 / column.scale, " points"
    return 1.0, " minutes" * ("minutes" in column.name)


def _in_unit(value: float, lead: ShownLead, table: Table) -> str:
    """A lead with its unit."""
    times, unit = unit_of(lead, table)
    value *= times
    digits = ".3g" if unit not in (" %", " points") else ".1f" if value >= 0.05 else ".1g"
    return format(value, digits) + unit


def printed_lead(result: TableResult, column: str, row: str, other: str, *, share: bool = False) -> ShownLead | None:
    """The paper's own lead of a row over another, positive if the row is better; None if it prints only one of them."""
    mine, theirs = (result.at(name, column).published for name in (row, other))
    if mine is None or theirs is None:
        return None
    larger = next(each.larger for each in result.table.columns if each.name == column)
    lead = (mine - theirs) * (1 if larger else -1) / ((abs(theirs) or 1.0) if share else 1.0)
    return ShownLead(column, row, other, mine, theirs, lead, lead, lead, share)


def _because(claim: JudgedClaim, result: TableResult) -> str:
    """Why a claim is undecided; empty for any other."""
    found, lead = claim.ours, claim.ours.lead
    if found.verdict != "open" or not lead:
        return ""
    asked = next(each for each in result.table.claims if each.text == claim.text)
    size = _in_unit(asked.by, lead, result.table) if asked.by else ""
    if found.seeds:
        why = f"{found.seeds} of {CLAIM_SEEDS} seeds were run"
    elif lead.alone:
        why = "there is one number per row, so chance cannot be estimated"
    elif asked.tie:
        why = f"the difference may be smaller or larger than {size}"
    elif lead.low <= asked.by <= lead.high:
        why = f"the lead may be smaller or larger than {size}" if size else "too close to call"
    elif found.absent and lead.lead > 0:
        why = f"there are no scores for {', '.join(found.absent)}"
    else:
        known = {(each.row, each.column) for each in result.figures if each.values and not each.seen}
        places = product(asked.rows, asked.over, asked.columns)
        count = sum({(row, column), (other, column)} <= known for row, other, column in places)
        return f"undecided after allowing for {count} comparisons"
    return f"undecided: {why}"


def _in_the_others(claim: JudgedClaim, result: TableResult) -> str:
    """Why the columns in which an undecided claim does not hold do not refute it; empty if `_because` says it all."""
    found, lead = claim.ours, claim.ours.lead
    if found.verdict != "open" or not lead or lead.alone or found.seeds:
        return ""
    asked = next(each for each in result.table.claims if each.text == claim.text)
    if asked.best and found.absent:
        return ""
    edge = "a bound of the tie" if asked.tie else _in_unit(asked.by, lead, result.table) if asked.by else "0"
    others = ("the other" + "s" * (found.columns - found.holds > 1)) if found.holds else "each"
    return f", but does not fail: in {others}, an interval, widened for several comparisons, contains {edge}"


def _tally(report: Report, papers: Mapping[str, Paper]) -> str:
    """The number of claims and of each verdict, by the papers' own scores and by ours."""
    claims = [claim for table in report.tables for claim in table.claims]
    theirs = [claim for claim in claims if not claim.asked_here]
    own = [each.verdict for paper in papers.values() if report.of(paper) for each in paper.observations]
    asked = [claim.ours.verdict for claim in claims if claim.asked_here]
    sentences = []
    if theirs:
        by_paper = _counts([claim.paper.verdict for claim in theirs if claim.paper])
        by_us = _counts([claim.ours.verdict for claim in theirs])
        sentences = [f"The papers make {len(theirs)} claims about scores. By their own scores: {by_paper}."]
        sentences.append(f"By ours: {by_us}.")
    if own:
        sentences.append(f"We also checked {len(own)} statements that do not need an experiment: {_counts(own)}.")
    if asked:
        sentences.append(f"We added {len(asked)} questions of our own: {_counts(asked)}.")
    return " ".join(sentences)


def _counts(verdicts: Sequence[str]) -> str:
    return ", ".join(f"{verdicts.count(each)} {each}" for each in get_args(Verdict) if each in verdicts)


# --- a table -----------------------------------------------------------------------------------------------------


def _table(result: TableResult) -> list[str]:
    table = result.table
    lines = [f"### {table.title}: {table.caption}", ""]
    if not result.evidence:
        lines += [f"**{NOT_EVIDENCE}**", ""]
    lines += [f"On {_measured_on(result)}.", ""]
    rows = []
    for row in table.rows:
        cells = []
        for column in table.columns:
            figure = result.at(row.name, column.name)
            printed = "" if figure.published is None else f" ({_theirs(column, figure.published)})"
            cells.append(ours(column, figure, counted=row.counted) + printed)
        rows.append([row.name, *cells])
    lines += piped(["", *result.columns], rows, right=True)
    lines += _chosen(result)
    items = [f"- {line}" for line in (*_remarks(result), table.note) if line]
    return [*lines, *([""] if items else []), *items]


def in_digits(column: Column, value: float) -> str:
    """The value in the paper's format.

    >>> in_digits(Column("accuracy", "accuracy", "quora"), 0.8504)
    '.850'
    """
    text = written(value, column.printed)
    return text.replace("0.", ".", 1) if text.startswith(("0.", "−0.")) and column.scale == 1 else text


def ours(column: Column, figure: Figure, *, counted: bool = False) -> str:
    """Mean and interval, or mean ± spread, or a dash; an asterisk refers to a remark."""
    if figure.mean is None or figure.spread is None:
        return "–"
    if counted:
        return ", ".join(f"{value:g}" for value in sorted(set(figure.values)))
    text = in_digits(column, figure.mean)
    # with as many decimals as the mean, so that both can be compared
    finer = replace(column, printed=f".{len(text.partition('.')[2])}f")
    if figure.interval is not None:
        text += " [{}, {}]".format(*(in_digits(finer, bound) for bound in figure.interval))
    elif len(figure.values) > 1:
        text += f" ± {in_digits(finer, figure.spread)}"
    return text + "*" * bool(figure.why)


def _theirs(column: Column, published: float) -> str:
    """The published score with all its digits."""
    decimals = len(repr(published).partition(".")[2])
    usual = column.printed.removeprefix("#")
    shown = f".{decimals}f" if decimals > int(usual[1:-1]) else usual
    return in_digits(replace(column, printed=shown), published)


def _measured_on(result: TableResult) -> str:
    """The data and the number of seeds."""
    data = "; ".join(result.data) or "no available data"
    shown = [figure for figure in result.figures if figure.values]
    if not shown:
        return f"{data}; no score of ours"
    counts = [*map(str, sorted({len(figure.seeds) for figure in shown} - {1}))]
    several = " or ".join(filter(None, (", ".join(counts[:-1]), *counts[-1:])))
    over = "seeds and test items" if counts else "test items"
    told = [f"[95 % interval over {over}]"] * any(figure.interval is not None for figure in shown)
    told += ["± standard deviation"] * any(figure.interval is None and len(figure.values) > 1 for figure in shown)
    seeds = f"mean over {several} seeds" if counts else "one run each"
    return f"{data}; {seeds} {' or '.join(told)}".rstrip()


def _remarks(result: TableResult) -> list[str]:
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


def _chosen(result: TableResult) -> list[str]:
    """The settings that trials on dev chose for each row, their ranges, and the gain."""
    every = [(made, chosen) for made in result.made for chosen in made["chosen"]]
    if not every:
        return []
    rows = [
        [made["row"], made["data"], _values(chosen), f"{chosen['trials']}", _gained(chosen), lasting(chosen["seconds"])]
        for made, chosen in every
    ]
    head = ["chosen on dev", "data", "settings (ranges)", "trials", "dev", "CPU"]
    tried = [len(chosen["space"]) for _, chosen in every]
    uneven = f"The rows tune {min(tried)} to {max(tried)} settings in equally many trials. " * (len({*tried}) > 1)
    at_end = f"A value marked {AT_END} is at an end of its range; better ones may lie beyond."
    return ["", *piped(head, rows), "", uneven + at_end]


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
    by_log = low > 0 and high >= 10 * low  # as in `labkit.trials.space`
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


# --- the book's page of leaders ------------------------------------------------------------------------------------


def leaders(draw: Callable[[list[tuple[str, ShownLead, ShownLead]], str], str]) -> str:
    """The leaders of each table whose settings are chosen on dev, and the leads before tuning.

    `draw` turns leads, and the description of their picture, into Markdown.
    """
    report, lines = stored(), []
    for paper in PAPERS.values():
        results = [result for result in report.of(paper) if any(made["chosen"] for made in result.made)]
        if results:
            authors, title, _ = paper.citation.split(". ")
            lines += [f"## {title.partition(':')[0]}", "", f"{authors}: *{title}*.", ""]
        for result in results:
            fronts = piped(("column", "in front", "ours", "ties with it", "open"), [*_fronts(result)])
            lines += [f"### {result.table.title}: {result.table.caption}", "", *fronts, ""]
            leads = [
                (claim.text, claim.before.column, _interval(claim.before), _interval(claim.after), claim.ours.verdict)
                for claim in result.claims
                if claim.before and claim.after
            ]
            if leads:
                says = (
                    f"The leads of {len(leads)} claims with their intervals, as printed and with settings chosen on "
                    "dev; the table below lists them all."
                )
                head = ("claim", "column", "lead as printed", "lead with settings chosen on dev", "verdict")
                lines += [draw(result.leads, says), "", *piped(head, leads), ""]
    return "\n".join(lines)


def _fronts(result: TableResult) -> Iterator[tuple[str, ...]]:
    """Find the leading row of each column, those that tie with it, and the rows that may be as good."""
    for column in result.table.columns:
        rows: dict[str, list[Figure]] = {standing: [] for standing in get_args(Standing)}
        for figure in result.figures:
            if figure.column == column.name:
                rows[figure.standing].append(figure)
        for best in rows["best"]:
            score = ours(column, best).replace(" ± ", "\u00a0±\u00a0")  # on one line
            others = ("; ".join(each.row for each in rows[standing]) or "none" for standing in ("tie", "open"))
            yield column.name, best.row, score, *others


def _interval(lead: ShownLead) -> str:
    return "{} [{},\u00a0{}]".format(*map(written, (lead.lead, lead.low, lead.high)))
