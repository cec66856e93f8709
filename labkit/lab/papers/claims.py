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
from typing import Literal, TypeAlias

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


OUR_QUESTION = Judgement("our question", "the paper does not say it")


def grounds(paper: Judgement, mine: Judgement) -> str:
    """What both verdicts rest on: our figures, and the paper's where they refute it or there are no others."""
    printed = f"in the paper, {paper.why}"
    if mine.verdict == "not measured":
        return mine.why if paper.verdict in ("not measured", OUR_QUESTION.verdict) else printed
    return f"{mine.why}; {printed}" if paper.verdict == "not confirmed" else mine.why


def judge_figures(claim: Claim, look_up: Lookup) -> Judgement:
    """What the figures say of a claim; columns in which a side has no figure do not count."""
    leads = [lead for column in claim.columns for lead in _leads(claim, column, look_up)]
    if not leads:
        return Judgement("not measured", "no column has figures of both sides")
    found = [_of_one(lead, claim) for lead in leads]
    verdict = max(found, key=_WORSE.index)
    # of the columns that say so, the one that is furthest from holding, in units of what is asked
    decides = min(
        (lead for lead, said in zip(leads, found, strict=True) if said == verdict),
        key=lambda lead: lead.spread - abs(lead.lead) if claim.tie else lead.lead - claim.by - lead.spread,
    )
    said = {
        column: [each for lead, each in zip(leads, found, strict=True) if lead.column == column]
        for column in claim.columns
    }
    return Judgement(verdict, decides.why + _counted([set(each) == {"confirmed"} for each in said.values() if each]))


def _counted(holds: list[bool]) -> str:
    """Says in how many columns a claim holds, where that is not all of several."""
    return f"; holds in {sum(holds) or 'none'} of {len(holds)} columns" if not all(holds) and len(holds) > 1 else ""


def _of_one(found: _Lead, claim: Claim) -> Verdict:
    """What one column says."""
    if claim.tie:
        return "confirmed" if abs(found.lead) <= max(found.spread, claim.by) + _ROUNDING else "not confirmed"
    short = claim.by - found.lead
    if found.lead > found.spread and short <= _ROUNDING:
        return "confirmed"
    if abs(found.lead) <= found.spread or _ROUNDING < short <= found.spread:
        return "inside the spread"
    return "not confirmed"


def _leads(claim: Claim, column: str, look_up: Lookup) -> list[_Lead]:
    """The lead of the decisive row of each side; where they are said to be equal, of each row against each."""
    sign = 1 if claim.larger else -1
    mine = {row: found for row in claim.rows if (found := look_up(row, column)) is not None}
    theirs = {row: found for row in claim.over if (found := look_up(row, column)) is not None}
    if not mine or not theirs:
        return []
    if claim.tie:
        return [_lead(claim, column, row, other, mine, theirs) for row in mine for other in theirs]
    choose = max if claim.best else min
    row = choose(mine, key=lambda name: sign * mine[name].mean)
    other = max(theirs, key=lambda name: sign * theirs[name].mean)
    return [_lead(claim, column, row, other, mine, theirs)]


def _lead(
    claim: Claim, column: str, row: str, other: str, mine: Mapping[str, Spread], theirs: Mapping[str, Spread]
) -> _Lead:
    sign = 1 if claim.larger else -1
    lead = sign * (mine[row].mean - theirs[other].mean)
    spread = max(mine[row].spread, theirs[other].spread)
    if claim.relative:
        lead, spread = (value / abs(theirs[other].mean) for value in (lead, spread))
    said = f"{lead:+.1%}" if claim.relative else f"{lead:+.3g}"
    why = f"{column}: {row} {mine[row].mean:.4g} against {other} {theirs[other].mean:.4g} ({said}"
    return _Lead(column, lead, spread, why + (f", spread {spread:.2g})" if spread else ")"))


# --- on runs that are taken apart ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Pair:
    """One row against one other in one column. `found` is the lead beyond what is asked, better rows above."""

    column: str
    row: str
    other: str
    found: Lead
    share: float  # of the other's figure, where the lead is one; else 1
    why: str
    units: int  # that the figures are taken apart over; one: nothing is known of other test sets

    def interval(self, level: float) -> tuple[float, float]:
        return self.found.interval(level)


def judge_runs(claim: Claim, look_up: Callable[[str, str], Runs | None]) -> Judgement:
    """What runs say of a claim; columns in which a side has no figure do not count."""
    pairs = [pair for column in claim.columns for pair in _pairs(claim, column, look_up)]
    if not pairs:
        return Judgement("not measured", "no column has figures of both sides")
    columns = list(dict.fromkeys(pair.column for pair in pairs))
    holds = {column: _holds(claim, [pair for pair in pairs if pair.column == column]) for column in columns}
    strict = 1 - (1 - LEVEL) / len(pairs)
    fails = {column: _fails(claim, [pair for pair in pairs if pair.column == column], strict) for column in columns}
    verdict: Verdict = "not confirmed" if any(fails.values()) else "confirmed" if all(holds.values()) else "undecided"
    kept = [p for p in pairs if (fails if verdict == "not confirmed" else {c: not holds[c] for c in columns})[p.column]]
    decides = _decisive(claim, kept or pairs)
    low, high = (
        value / decides.share + claim.by * (claim.relative and not claim.tie) for value in decides.interval(LEVEL)
    )
    if not claim.relative and not claim.tie:
        low, high = low + claim.by, high + claim.by
    said = f"[{low:+.1%}, {high:+.1%}]" if claim.relative else f"[{low:+.3g}, {high:+.3g}]"
    alone = ", over seeds alone" * (decides.units == 1)
    return Judgement(verdict, f"{decides.why} {said}{alone})" + _counted(list(holds.values())))


def _pairs(claim: Claim, column: str, look_up: Callable[[str, str], Runs | None]) -> list[_Pair]:
    mine = {row: runs for row in claim.rows if (runs := look_up(row, column))}
    theirs = {row: runs for row in claim.over if (runs := look_up(row, column))}
    return [_pair(claim, column, row, other, mine[row], theirs[other]) for row in mine for other in theirs]


def _pair(claim: Claim, column: str, row: str, other: str, mine: Runs, theirs: Runs) -> _Pair:
    """The two rows with the seeds that both have; what has nothing random in it stands against each."""
    sign = 1 if claim.larger else -1
    both = sorted(set(mine) & set(theirs)) if min(len(mine), len(theirs)) > 1 else None
    first, second = ([runs[seed] for seed in (both or sorted(runs))] for runs in (mine, theirs))
    here, there = (sum(each.figure for each in side) / len(side) for side in (first, second))
    asked = 0.0 if claim.tie else claim.by
    found = lead_of(first, second, times=1 + sign * asked if claim.relative else 1.0)
    beyond = Lead(sign * found.lead - (0.0 if claim.relative else asked), found.error, found.freedom)
    share = (abs(there) or 1.0) if claim.relative else 1.0
    lead = sign * (here - there) / share
    said = f"{lead:+.1%}" if claim.relative else f"{lead:+.3g}"
    why = f"{column}: {row} {here:.4g} against {other} {there:.4g} ({said}"
    return _Pair(column, row, other, beyond, share, why, len(first[0].above))


def _holds(claim: Claim, pairs: list[_Pair]) -> bool:
    """Whether one column bears the claim out."""
    if claim.tie:
        return all(-claim.by < low and high < claim.by for low, high in _intervals(pairs, LEVEL))
    if not claim.best:
        return all(low > 0 for low, _ in _intervals(pairs, LEVEL))
    rows = dict.fromkeys(pair.row for pair in pairs)
    level = 1 - (1 - LEVEL) / len(rows)
    return any(all(low > 0 for low, _ in _intervals([p for p in pairs if p.row == row], level)) for row in rows)


def _fails(claim: Claim, pairs: list[_Pair], level: float) -> bool:
    """Whether one column refutes the claim."""
    if claim.tie:
        return any(low > claim.by or high < -claim.by for low, high in _intervals(pairs, level))
    highs = [high for _, high in _intervals(pairs, level)]
    below = {(pair.row, pair.other): high < 0 for pair, high in zip(pairs, highs, strict=True)}
    if not claim.best:
        return any(below.values())
    rows = dict.fromkeys(pair.row for pair in pairs)
    return all(any(found for (row, _), found in below.items() if row == each) for each in rows)


def _intervals(pairs: list[_Pair], level: float) -> list[tuple[float, float]]:
    """The interval of each pair; where nothing says how far another draw would move a lead, it may be anything."""
    return [pair.interval(level) if pair.found.error else (-float("inf"), float("inf")) for pair in pairs]


def _decisive(claim: Claim, pairs: list[_Pair]) -> _Pair:
    """The pair furthest from what is claimed, in units of its error; of rows that may be picked, the best one's."""
    if claim.tie:
        return max(pairs, key=lambda pair: max(map(abs, pair.interval(LEVEL))))

    def worth(pair: _Pair) -> float:
        return pair.found.lead / (pair.found.error or 1e-12)

    if not claim.best:
        return min(pairs, key=worth)
    rows = dict.fromkeys(pair.row for pair in pairs)
    worst = [min((pair for pair in pairs if pair.row == row), key=worth) for row in rows]
    return max(worst, key=worth)
