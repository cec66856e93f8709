"""Claims of the form "these rows lead those rows, by so much", judged on any figures: the paper's own, and ours.

    lead = worst of `rows` - best of `over`, in each of `columns`       (relative: divided by that best)
    confirmed            the lead is at least `by` in every column, and larger than the spread
    inside the spread    no column refutes it, but in some the lead is no larger than the spread
    not confirmed        in some column the others lead, or the lead is short of `by`, by more than the spread
    with `tie`           confirmed where no lead, either way, is larger than the spread or `by`

In: a claim and a look-up (row, column) -> Spread or None. Out: a `Judgement` with the column that decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from labkit.evaluation.comparison import Spread

Verdict: TypeAlias = Literal[
    "confirmed",
    "confirmed in part",
    "not confirmed",
    "inside the spread",
    "not measured",
    "too few seeds",
    "not evidence",
    "our question",
]
_WORSE: tuple[Verdict, ...] = ("confirmed", "inside the spread", "not confirmed")
_ROUNDING = 1e-9
Lookup: TypeAlias = Callable[[str, str], Spread | None]


@dataclass(frozen=True)
class Claim:
    """The worst of `rows` (with `best`: the best of them) leads all of `over` in every one of `columns`, by at least
    `by`.

    With `relative` the lead is a share of what it is measured against; smaller figures lead where not `larger`. With
    `tie` they are said to be equal. What is `ours` no paper says: it is asked here.
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


def why(paper: Judgement, mine: Judgement) -> str:
    """What both verdicts rest on: our figures, and the paper's where they refute it or there are no others."""
    printed = f"in the paper, {paper.why}"
    if mine.verdict == "not measured":
        return mine.why if paper.verdict in ("not measured", OUR_QUESTION.verdict) else printed
    return f"{mine.why}; {printed}" if paper.verdict == "not confirmed" else mine.why


def judge(claim: Claim, look_up: Lookup) -> Judgement:
    """What the figures say of a claim; columns in which a side has no figure do not count."""
    leads = [lead for column in claim.columns if (lead := _lead(claim, column, look_up)) is not None]
    if not leads:
        return Judgement("not measured", "no column has figures of both sides")
    found = [_of_one(lead, claim) for lead in leads]
    verdict = max(found, key=_WORSE.index)
    # of the columns that say so, the one that is furthest from holding, in units of what is asked
    decides = min(
        (lead for lead, said in zip(leads, found, strict=True) if said == verdict),
        key=lambda lead: lead.spread - abs(lead.lead) if claim.tie else lead.lead - claim.by - lead.spread,
    )
    holds = found.count("confirmed")
    counted = f"; holds in {holds or 'none'} of {len(leads)} columns" if holds < len(leads) > 1 else ""
    return Judgement(verdict, decides.why + counted)


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


def _lead(claim: Claim, column: str, look_up: Lookup) -> _Lead | None:
    """Of the decisive row of each side."""
    sign = 1 if claim.larger else -1
    mine = {row: found for row in claim.rows if (found := look_up(row, column)) is not None}
    theirs = {row: found for row in claim.over if (found := look_up(row, column)) is not None}
    if not mine or not theirs:
        return None
    choose = max if claim.best else min
    row = choose(mine, key=lambda name: sign * mine[name].mean)
    other = max(theirs, key=lambda name: sign * theirs[name].mean)
    lead = sign * (mine[row].mean - theirs[other].mean)
    spread = max(mine[row].spread, theirs[other].spread)
    if claim.relative:
        lead, spread = (value / abs(theirs[other].mean) for value in (lead, spread))
    said = f"{lead:+.1%}" if claim.relative else f"{lead:+.3g}"
    why = f"{column}: {row} {mine[row].mean:.4g} against {other} {theirs[other].mean:.4g} ({said}"
    return _Lead(column, lead, spread, why + (f", spread {spread:.2g})" if spread else ")"))
