"""Claims of the form "these rows lead those rows by at least x", judged on the paper's scores and on ours.

Every row is compared with every row that it should lead, in every column. For our scores each lead has an interval over
seeds and test units (`lead_of`); printed scores are taken as exact.

    confirmed        every 95 % interval is above `by`; with `tie`, every one is between -by and +by
    not confirmed    some interval is below `by` (or outside the bounds); intervals are widened (Bonferroni) so that
                     all of them together are wrong once in twenty
    open             neither: more seeds or a larger test set could decide
    not measured     no column has scores for both sides
    with `best`      one of several rows has to lead; its intervals are wider because it may be picked

In: a claim, and the runs of each row in each column. Out: a `Judgement` with the deciding numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import Literal, TypeAlias

from labkit.evaluation.comparison import Lead, Parts, lead_of
from labkit.trials.verdict import LEVEL, Runs, in_common

Verdict: TypeAlias = Literal["confirmed", "not confirmed", "open", "not measured"]
Place: TypeAlias = tuple[str, str]  # row, column
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Claim:
    """The worst of `rows` (with `best`: the best of them) leads all of `over` in every one of `columns`, by at least
    `by`.

    With `relative` the lead is a share of the other score; without `larger` smaller scores lead. With `tie` each of
    `rows` equals each of `over` to within `by`. A claim with `ours` is our own question, not the paper's.
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
        if self.tie and (not self.by or self.relative):
            raise ValueError(
                f"claim {self.text!r} is a tie without a bound; set `by`, the difference within which scores count as "
                "equal"
            )


@dataclass(frozen=True)
class ShownLead:
    """The lead of `row` over `other`, positive if `row` is better, with its 95 % interval over seeds and test items.

    With `share`, lead and interval are shares of the other score. With `seeds_alone`, the interval says nothing about
    other test items. Without an interval (printed scores, or one number per row), both ends are the lead itself.
    """

    column: str
    row: str
    other: str
    mine: float
    theirs: float
    lead: float
    low: float
    high: float
    share: bool = False
    seeds_alone: bool = False

    @property
    def alone(self) -> bool:
        """Whether there is no interval."""
        return self.low == self.high


@dataclass(frozen=True)
class Judgement:
    """The verdict, the lead that decides it, and in how many of the columns the claim holds.

    `absent` names rows without a score. `seeds` is their number if it is too small to decide the claim, else 0.
    """

    verdict: Verdict
    lead: ShownLead | None = None
    holds: int = 0
    columns: int = 0
    absent: tuple[str, ...] = ()
    seeds: int = 0


def judge(claim: Claim, runs: Mapping[Place, Runs], *, exact: bool = False) -> Judgement:
    """Judge a claim by these runs; columns in which one side has no score do not count."""
    columns = {column: pairs for column in claim.columns if (pairs := _pairs(claim, column, runs, exact))}
    if not columns:
        return Judgement("not measured")
    strict = 1 - (1 - LEVEL) / sum(map(len, columns.values()))
    holds, fails = {}, {}
    for column, pairs in columns.items():
        choices = _choices(claim, pairs)
        level = 1 - (1 - LEVEL) / len(choices)
        holds[column] = any(all(pair.holds(level) for pair in choice) for choice in choices)
        fails[column] = all(any(pair.fails(strict) for pair in choice) for choice in choices)
    verdict: Verdict = "not confirmed" if any(fails.values()) else "confirmed" if all(holds.values()) else "open"
    decide = {"confirmed": holds, "not confirmed": fails, "open": {name: not held for name, held in holds.items()}}
    deciding = [pair for column, does in decide[verdict].items() if does for pair in columns[column]]
    return Judgement(verdict, _decisive(claim, deciding).shown(), sum(holds.values()), len(holds))


def judge_printed(claim: Claim, figures: Mapping[Place, float]) -> Judgement:
    """Judge a claim by the printed scores, taken as exact."""
    runs = {place: {0: Parts.of(value)} for place, value in figures.items()}
    return judge(claim, runs, exact=True)


def shown_lead(claim: Claim, runs: Mapping[Place, Runs]) -> ShownLead | None:
    """The lead farthest from the claim, over all columns; None if nothing was measured."""
    pairs = [pair for column in claim.columns for pair in _pairs(claim, column, runs)]
    return _decisive(claim, pairs).shown() if pairs else None


@dataclass(frozen=True, eq=False)
class _Pair:
    """One row against another in one column. `beyond` is the lead minus the required one."""

    claim: Claim
    column: str
    row: str
    other: str
    mine: float
    theirs: float
    beyond: Lead
    units: int  # number of parts of the scores; with one, nothing is known about other test sets
    exact: bool

    def holds(self, level: float) -> bool:
        """Whether the interval supports the claim."""
        low, high = self._interval(level)
        return -self.claim.by < low and high < self.claim.by + 2 * _ROUNDING if self.claim.tie else low > 0

    def fails(self, level: float) -> bool:
        """Whether the interval refutes it."""
        low, high = self._interval(level)
        return low > self.claim.by + 2 * _ROUNDING or high < -self.claim.by if self.claim.tie else high < 0

    def _interval(self, level: float) -> tuple[float, float]:
        """The bounds of the lead; unlimited if its error is unknown."""
        if self.exact:
            nudge = _ROUNDING if self.claim.by else 0.0  # .819 is .004 above .815, up to rounding
            return (self.beyond.lead + nudge,) * 2
        return self.beyond.interval(level) if self.beyond.error else (-inf, inf)

    def shown(self) -> ShownLead:
        """The lead, absolute or as a share of the other row's score, with its bounds."""
        relative, asked = self.claim.relative, 0.0 if self.claim.tie else self.claim.by
        share = (abs(self.theirs) or 1.0) if relative else 1.0
        lead, low, high = (each / share + asked for each in (self.beyond.lead, *self.beyond.interval(LEVEL)))
        alone = self.units == 1 and bool(self.beyond.error)
        return ShownLead(self.column, self.row, self.other, self.mine, self.theirs, lead, low, high, relative, alone)


def _pairs(claim: Claim, column: str, runs: Mapping[Place, Runs], exact: bool = False) -> list[_Pair]:
    """Each row of the claim paired with each row that it should lead, if both have runs in this column.

    Rows are compared by their common seeds; a deterministic row is paired with each seed.
    """
    sign, asked = (1 if claim.larger else -1), (0.0 if claim.tie else claim.by)
    pairs = []
    for row, other in product(claim.rows, claim.over):
        if not (runs.get((row, column)) and runs.get((other, column))):
            continue
        first, second = in_common(runs[row, column], runs[other, column])
        mine, theirs = (sum(each.figure for each in side) / len(side) for side in (first, second))
        lead = lead_of(first, second, times=1 + sign * asked if claim.relative else 1.0)
        beyond = Lead(sign * lead.lead - (0.0 if claim.relative else asked), lead.error, lead.freedom)
        pairs.append(_Pair(claim, column, row, other, mine, theirs, beyond, len(first[0].above), exact))
    return pairs


def _choices(claim: Claim, pairs: list[_Pair]) -> list[list[_Pair]]:
    """The pairs that must hold together: all pairs or, if one row may be picked, the pairs of any row."""
    rows = dict.fromkeys(pair.row for pair in pairs)
    return [[pair for pair in pairs if pair.row == row] for row in rows] if claim.best else [pairs]


def _decisive(claim: Claim, pairs: list[_Pair]) -> _Pair:
    """The pair farthest from the claim, in units of its error; if rows may be picked, the best row's."""
    if claim.tie:
        return max(pairs, key=lambda pair: max(map(abs, pair.beyond.interval(LEVEL))))

    def worth(pair: _Pair) -> float:
        return pair.beyond.lead / (pair.beyond.error or 1e-12)

    return max((min(choice, key=worth) for choice in _choices(claim, pairs)), key=worth)
