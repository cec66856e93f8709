"""Claims of the form "these rows lead those rows by so much", judged on the paper's scores and on ours.

Every row is compared with every row that it should lead, in every column. For our scores each lead has an interval over
seeds and test units (`lead_of`); printed scores are taken as exact.

    confirmed        every 95 % interval is above `by`; with `tie`, every one is between -by and +by
    not confirmed    some interval is below `by` (or outside the bounds); intervals are widened (Bonferroni) so that
                     all of them together are wrong once in twenty
    open             neither: more seeds or a larger test set could decide
    not measured     no column has scores of both sides
    with `best`      one of several rows has to lead; its intervals are wider because it may be picked

In: a claim and a look-up (row, column). Out: a `Judgement` with the deciding numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import Literal, TypeAlias

import numpy as np

from labkit.evaluation.comparison import Lead, Parts, lead_of
from labkit.trials.verdict import LEVEL, Runs, in_common

Verdict: TypeAlias = Literal["confirmed", "not confirmed", "open", "not measured"]
Lookup: TypeAlias = Callable[[str, str], Runs | None]
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
                f"claim {self.text!r} is a tie without a bound; set `by`, within which scores count as equal"
            )


@dataclass(frozen=True)
class Judgement:
    """The verdict and its reason: the numbers of the deciding column, and the number of columns in which it holds."""

    verdict: Verdict
    why: str


@dataclass(frozen=True)
class ShownLead:
    """The lead that decides a claim, positive for the better rows, with its 95 % interval, absolute or relative."""

    column: str
    row: str
    other: str
    lead: float
    low: float
    high: float


def judge(claim: Claim, look_up: Lookup, *, exact: bool = False) -> Judgement:
    """Judge a claim by our runs; columns in which a side has no score do not count."""
    columns = {column: pairs for column in claim.columns if (pairs := _pairs(claim, column, look_up, exact))}
    if not columns:
        return Judgement("not measured", "no column has figures of both sides")
    strict = 1 - (1 - LEVEL) / sum(map(len, columns.values()))
    holds, fails = {}, {}
    for column, pairs in columns.items():
        choices = _choices(claim, pairs)
        level = 1 - (1 - LEVEL) / len(choices)
        holds[column] = any(all(pair.holds(level) for pair in choice) for choice in choices)
        fails[column] = all(any(pair.fails(strict) for pair in choice) for choice in choices)
    verdict: Verdict = "not confirmed" if any(fails.values()) else "confirmed" if all(holds.values()) else "open"
    deciding = {
        "not confirmed": [column for column in columns if fails[column]],
        "open": [column for column in columns if not holds[column]],
    }.get(verdict, [*columns])
    decides = _decisive(claim, [pair for column in deciding for pair in columns[column]])
    counted = f"; holds in {sum(holds.values()) or 'none'} of {len(holds)} columns"
    return Judgement(verdict, str(decides) + counted * (len(holds) > 1 and not all(holds.values())))


def judge_printed(claim: Claim, figures: Mapping[tuple[str, str], float]) -> Judgement:
    """Judge a claim by the printed scores, taken as exact."""

    def look_up(row: str, column: str) -> Runs | None:
        value = figures.get((row, column))
        return None if value is None else {0: Parts(np.array([value]), np.ones(1))}

    return judge(claim, look_up, exact=True)


def shown_lead(claim: Claim, look_up: Lookup) -> ShownLead | None:
    """The lead farthest from the claim, over all columns; None if nothing was measured."""
    pairs = [pair for column in claim.columns for pair in _pairs(claim, column, look_up)]
    if not pairs:
        return None
    decides = _decisive(claim, pairs)
    lead, low, high = map(decides.shown, (decides.beyond.lead, *decides.beyond.interval(LEVEL)))
    return ShownLead(decides.column, decides.row, decides.other, lead, low, high)


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
    units: int  # over which the scores are split; with one, nothing is known about other test sets
    exact: bool

    def holds(self, level: float) -> bool:
        """Whether the interval supports the claim."""
        low, high = self._interval(level)
        return -self.claim.by < low and high < self._bound if self.claim.tie else low > 0

    def fails(self, level: float) -> bool:
        """Whether the interval refutes it."""
        low, high = self._interval(level)
        return low > self._bound or high < -self.claim.by if self.claim.tie else high < 0

    @property
    def _bound(self) -> float:
        """The largest lead that is a tie."""
        return self.claim.by + 2 * _ROUNDING

    def _interval(self, level: float) -> tuple[float, float]:
        """The bounds of the lead; unlimited if its error is unknown."""
        if self.exact:
            nudge = _ROUNDING if self.claim.by else 0.0  # .819 is .004 above .815, up to rounding
            return (self.beyond.lead + nudge,) * 2
        return self.beyond.interval(level) if self.beyond.error else (-inf, inf)

    def shown(self, beyond: float) -> float:
        """A bound for display: the lead itself, or a share of the other's score."""
        share = (abs(self.theirs) or 1.0) if self.claim.relative else 1.0
        return beyond / share + (0.0 if self.claim.tie else self.claim.by)

    def __str__(self) -> str:
        digits = "+.1%" if self.claim.relative else "+.3g"
        leads = [self.beyond.lead, *(() if self.exact else self.beyond.interval(LEVEL))]
        lead, *bounds = (format(self.shown(each), digits) for each in leads)
        more = f" [{', '.join(bounds)}]{', over seeds alone' * (self.units == 1)}" if bounds else ""
        return f"{self.column}: {self.row} {self.mine:.4g} against {self.other} {self.theirs:.4g} ({lead}{more})"


def _pairs(claim: Claim, column: str, look_up: Lookup, exact: bool = False) -> list[_Pair]:
    """The rows of the claim, each paired with each of the others, if both have runs in this column.

    They are compared by their common seeds; a deterministic row is paired with each seed.
    """
    mine, theirs = ({row: runs for row in rows if (runs := look_up(row, column))} for rows in (claim.rows, claim.over))
    sign, asked = (1 if claim.larger else -1), (0.0 if claim.tie else claim.by)
    pairs = []
    for row, other in product(mine, theirs):
        first, second = in_common(mine[row], theirs[other])
        here, there = (sum(each.figure for each in side) / len(side) for side in (first, second))
        lead = lead_of(first, second, times=1 + sign * asked if claim.relative else 1.0)
        beyond = Lead(sign * lead.lead - (0.0 if claim.relative else asked), lead.error, lead.freedom)
        pairs.append(_Pair(claim, column, row, other, here, there, beyond, len(first[0].above), exact))
    return pairs


def _choices(claim: Claim, pairs: list[_Pair]) -> list[list[_Pair]]:
    """The pairs that must hold together: all of them or, if one row may be picked, those of any row."""
    rows = dict.fromkeys(pair.row for pair in pairs)
    return [[pair for pair in pairs if pair.row == row] for row in rows] if claim.best else [pairs]


def _decisive(claim: Claim, pairs: list[_Pair]) -> _Pair:
    """The pair farthest from the claim, in units of its error; if rows may be picked, the best row's."""
    if claim.tie:
        return max(pairs, key=lambda pair: max(map(abs, pair.beyond.interval(LEVEL))))

    def worth(pair: _Pair) -> float:
        return pair.beyond.lead / (pair.beyond.error or 1e-12)

    return max((min(choice, key=worth) for choice in _choices(claim, pairs)), key=worth)
