"""Claims of the form "these rows lead those rows, by so much", judged on figures: the paper's own, and ours.

`judge_runs` judges ours, each row with its runs taken apart over the test set (`labkit.evaluation.Parts`). Every row is
set against every row that it is said to lead, seed by seed on the same units, in every column; each such lead has an
interval over seeds and units together (`lead_of`).

    confirmed        every 95 % interval lies above `by`; with `tie`, every one lies between -by and +by
    not confirmed    some interval lies below `by` (outside of the bounds); that one is picked among many, so that all
                     of them together are to be wrong once in twenty (Bonferroni)
    undecided        neither: with more seeds, or a larger test set, it could be either
    with `best`      one row of several has to lead, and it may be picked: its intervals are so much wider

`judge_figures` is for figures that have no parts: the paper's own, without a spread, and those that were computed
before parts were kept, with the spread over seeds or, if larger, the sampling error (the earlier rule).

    confirmed            the lead of the worst of `rows` over the best of `over` is at least `by`, and larger than the
                         spread, in every column; with `tie`: every lead, either way, is at most `by` or the spread
    inside the spread    no column refutes it, but in some the lead is no larger than the spread
    not confirmed        in some column the others lead, or the lead is short of `by`, by more than the spread

In: a claim and a look-up (row, column). Out: a `Judgement` with the numbers that decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from labkit.evaluation.comparison import Lead, Parts, Spread, lead_of

Verdict: TypeAlias = Literal[
    "confirmed",
    "confirmed in part",
    "not confirmed",
    "undecided",
    "inside the spread",
    "not measured",
    "too few seeds",
    "not evidence",
    "our question",
]
_WORSE: tuple[Verdict, ...] = ("confirmed", "inside the spread", "not confirmed")
_ROUNDING = 1e-9
Lookup: TypeAlias = Callable[[str, str], Spread | None]
Runs: TypeAlias = Mapping[int, Parts]  # seed -> a figure taken apart; of what has nothing random in it, one
LEVEL = 0.95
T = TypeVar("T")


@dataclass(frozen=True)
class Claim:
    """The worst of `rows` (with `best`: the best of them) leads all of `over` in every one of `columns`, by at least
    `by`.

    With `relative` the lead is a share of what it is measured against; smaller figures lead where not `larger`. With
    `tie` each of `rows` is said to be equal to each of `over`, closer than `by`. What is `ours` no paper says: it is
    asked here.
    """

    text: str
    rows: tuple[str, ...]
    over: tuple[str, ...]
    columns: tuple[str, ...]
    by: float = 0.0
    relative: bool = False
    larger: bool = True
    best: bool = False
    tie: bool = False
    ours: bool = False

    def __post_init__(self) -> None:
        if self.tie and not self.by:
            raise ValueError(
                f"claim {self.text!r} is of a tie and gives no bound; say `by`, within which figures count as equal"
            )
        if self.tie and self.relative:
            raise ValueError(
                f"claim {self.text!r} is of a tie within a share, expected a bound in figures; say `by` so"
            )


@dataclass(frozen=True)
class Judgement:
    """The verdict, and the numbers it rests on: those of the column that decides, and in how many it holds."""

    verdict: Verdict
    why: str


@dataclass(frozen=True)
class _Lead:
    column: str
    lead: float
    spread: float
    why: str


@dataclass(frozen=True)
class ShownLead:
    """The lead that decides a claim, better rows above, with its 95 % interval: a number, or a share of the other."""

    column: str
    row: str
    other: str
    lead: float
    low: float
    high: float


NOT_MEASURED = Judgement("not measured", "no column has figures of both sides")
OUR_QUESTION = Judgement("our question", "the paper does not say it")


def grounds(paper: Judgement, mine: Judgement) -> str:
    """What both verdicts rest on: our figures, and the paper's where they refute it or there are no others."""
    printed = f"in the paper, {paper.why}"
    if mine.verdict == NOT_MEASURED.verdict:
        return mine.why if paper.verdict in ("not measured", OUR_QUESTION.verdict) else printed
    return f"{mine.why}; {printed}" if paper.verdict == "not confirmed" else mine.why


def judge_figures(claim: Claim, look_up: Lookup) -> Judgement:
    """What the figures say of a claim; columns in which a side has no figure do not count."""
    leads = [lead for column in claim.columns for lead in _leads(claim, column, look_up)]
    if not leads:
        return NOT_MEASURED
    verdicts = [_verdict(lead, claim) for lead in leads]
    worst = max(verdicts, key=_WORSE.index)
    # of the columns that say so, the one that is furthest from holding, in units of what is asked
    decides = min(
        (lead for lead, verdict in zip(leads, verdicts, strict=True) if verdict == worst),
        key=lambda lead: lead.spread - abs(lead.lead) if claim.tie else lead.lead - claim.by - lead.spread,
    )
    holds: dict[str, bool] = {}
    for lead, verdict in zip(leads, verdicts, strict=True):
        holds[lead.column] = holds.get(lead.column, True) and verdict == "confirmed"
    return Judgement(worst, decides.why + _counted(list(holds.values())))


def _counted(holds: list[bool]) -> str:
    """Says in how many columns a claim holds, where that is not all of several."""
    return f"; holds in {sum(holds) or 'none'} of {len(holds)} columns" if not all(holds) and len(holds) > 1 else ""


def _verdict(lead: _Lead, claim: Claim) -> Verdict:
    """What one column says."""
    if claim.tie:
        return "confirmed" if abs(lead.lead) <= max(lead.spread, claim.by) + _ROUNDING else "not confirmed"
    short = claim.by - lead.lead
    if lead.lead > lead.spread and short <= _ROUNDING:
        return "confirmed"
    if abs(lead.lead) <= lead.spread or _ROUNDING < short <= lead.spread:
        return "inside the spread"
    return "not confirmed"


def _leads(claim: Claim, column: str, look_up: Lookup) -> list[_Lead]:
    """The lead of the decisive row of each side; where they are said to be equal, of each row against each."""
    sign = 1 if claim.larger else -1
    mine, theirs = _known(claim.rows, column, look_up), _known(claim.over, column, look_up)
    if not mine or not theirs:
        return []
    if claim.tie:
        return [_lead(claim, column, row, other, mine[row], theirs[other]) for row in mine for other in theirs]
    choose = max if claim.best else min
    row = choose(mine, key=lambda name: sign * mine[name].mean)
    other = max(theirs, key=lambda name: sign * theirs[name].mean)
    return [_lead(claim, column, row, other, mine[row], theirs[other])]


def _known(rows: tuple[str, ...], column: str, look_up: Callable[[str, str], T | None]) -> dict[str, T]:
    """What is known of these rows in one column."""
    return {row: known for row in rows if (known := look_up(row, column))}


def _lead(claim: Claim, column: str, row: str, other: str, mine: Spread, theirs: Spread) -> _Lead:
    lead = (1 if claim.larger else -1) * (mine.mean - theirs.mean)
    spread = max(mine.spread, theirs.spread)
    if claim.relative:
        lead, spread = (value / abs(theirs.mean) for value in (lead, spread))
    why = f"{column}: {row} {mine.mean:.4g} against {other} {theirs.mean:.4g} ({_spelled(claim, lead)}"
    return _Lead(column, lead, spread, why + (f", spread {spread:.2g})" if spread else ")"))


def _spelled(claim: Claim, lead: float) -> str:
    return f"{lead:+.1%}" if claim.relative else f"{lead:+.3g}"


# --- on runs that are taken apart ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Pair:
    """One row against one other in one column. `beyond` is the lead beyond what is asked, better rows above."""

    column: str
    row: str
    other: str
    beyond: Lead
    share: float  # of the other's figure, where the lead is one; else 1
    why: str
    units: int  # that the figures are taken apart over; one: nothing is known of other test sets

    def interval(self, level: float) -> tuple[float, float]:
        """The bounds of the lead; where nothing says how far another draw would move it, it may be anything."""
        return self.beyond.interval(level) if self.beyond.error else (-float("inf"), float("inf"))


def judge_runs(claim: Claim, look_up: Callable[[str, str], Runs | None]) -> Judgement:
    """What runs say of a claim; columns in which a side has no figure do not count."""
    columns = {column: pairs for column in claim.columns if (pairs := _pairs(claim, column, look_up))}
    if not columns:
        return NOT_MEASURED
    strict = 1 - (1 - LEVEL) / sum(map(len, columns.values()))
    holds = {column: _holds(claim, pairs) for column, pairs in columns.items()}
    fails = {column: _fails(claim, pairs, strict) for column, pairs in columns.items()}
    verdict: Verdict = "not confirmed" if any(fails.values()) else "confirmed" if all(holds.values()) else "undecided"
    deciding = {
        "not confirmed": [column for column in columns if fails[column]],
        "undecided": [column for column in columns if not holds[column]],
    }.get(verdict, list(columns))
    decides = _decisive(claim, [pair for column in deciding for pair in columns[column]])
    asked = 0.0 if claim.tie else claim.by
    low, high = (_spelled(claim, value / decides.share + asked) for value in decides.beyond.interval(LEVEL))
    alone = ", over seeds alone" * (decides.units == 1)
    return Judgement(verdict, f"{decides.why} [{low}, {high}]{alone})" + _counted(list(holds.values())))


def shown_lead(claim: Claim, look_up: Callable[[str, str], Runs | None]) -> ShownLead | None:
    """The lead that is furthest from what is claimed, of all columns; None where nothing was measured."""
    pairs = [pair for column in claim.columns for pair in _pairs(claim, column, look_up)]
    if not pairs:
        return None
    decides = _decisive(claim, pairs)
    asked = 0.0 if claim.tie else claim.by
    lead, low, high = (
        value / decides.share + asked for value in (decides.beyond.lead, *decides.beyond.interval(LEVEL))
    )
    return ShownLead(decides.column, decides.row, decides.other, lead, low, high)


def _pairs(claim: Claim, column: str, look_up: Callable[[str, str], Runs | None]) -> list[_Pair]:
    mine, theirs = _known(claim.rows, column, look_up), _known(claim.over, column, look_up)
    return [_pair(claim, column, row, other, mine[row], theirs[other]) for row in mine for other in theirs]


def _pair(claim: Claim, column: str, row: str, other: str, mine: Runs, theirs: Runs) -> _Pair:
    """The two rows with the seeds that both have; what has nothing random in it stands against each."""
    sign = 1 if claim.larger else -1
    both = sorted(set(mine) & set(theirs)) if min(len(mine), len(theirs)) > 1 else None
    first, second = ([runs[seed] for seed in (both or sorted(runs))] for runs in (mine, theirs))
    here, there = (sum(each.figure for each in side) / len(side) for side in (first, second))
    asked = 0.0 if claim.tie else claim.by
    lead = lead_of(first, second, times=1 + sign * asked if claim.relative else 1.0)
    beyond = Lead(sign * lead.lead - (0.0 if claim.relative else asked), lead.error, lead.freedom)
    share = (abs(there) or 1.0) if claim.relative else 1.0
    why = f"{column}: {row} {here:.4g} against {other} {there:.4g} ({_spelled(claim, sign * (here - there) / share)}"
    return _Pair(column, row, other, beyond, share, why, len(first[0].above))


def _by_row(pairs: list[_Pair]) -> list[list[_Pair]]:
    """The pairs of each row, of which one has to lead where one may be picked."""
    rows = dict.fromkeys(pair.row for pair in pairs)
    return [[pair for pair in pairs if pair.row == row] for row in rows]


def _holds(claim: Claim, pairs: list[_Pair]) -> bool:
    """Whether one column bears the claim out."""
    if claim.tie:
        return all(-claim.by < low and high < claim.by for low, high in (pair.interval(LEVEL) for pair in pairs))
    if not claim.best:
        return all(pair.interval(LEVEL)[0] > 0 for pair in pairs)
    rows = _by_row(pairs)
    level = 1 - (1 - LEVEL) / len(rows)
    return any(all(pair.interval(level)[0] > 0 for pair in row) for row in rows)


def _fails(claim: Claim, pairs: list[_Pair], level: float) -> bool:
    """Whether one column refutes the claim."""
    if claim.tie:
        return any(low > claim.by or high < -claim.by for low, high in (pair.interval(level) for pair in pairs))
    if not claim.best:
        return any(pair.interval(level)[1] < 0 for pair in pairs)
    return all(any(pair.interval(level)[1] < 0 for pair in row) for row in _by_row(pairs))


def _decisive(claim: Claim, pairs: list[_Pair]) -> _Pair:
    """The pair furthest from what is claimed, in units of its error; of rows that may be picked, the best one's."""
    if claim.tie:
        return max(pairs, key=lambda pair: max(map(abs, pair.beyond.interval(LEVEL))))

    def worth(pair: _Pair) -> float:
        return pair.beyond.lead / (pair.beyond.error or 1e-12)

    if not claim.best:
        return min(pairs, key=worth)
    return max((min(row, key=worth) for row in _by_row(pairs)), key=worth)
