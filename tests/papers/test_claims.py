"""Verdicts on claims, from printed scores and from runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from labkit.evaluation.comparison import Parts
from labkit.papers.claims import Claim, judge, judge_printed, shown_lead
from labkit.trials.verdict import Runs

PRINTED = {
    ("new", "accuracy"): 0.80, ("old", "accuracy"): 0.75, ("older", "accuracy"): 0.70,
    ("new", "loss"): 1.0, ("old", "loss"): 1.5,
    ("new", "same"): 0.819, ("old", "same"): 0.815, ("older", "same"): 0.815,
}  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (Claim("", ("new",), ("old", "older"), ("accuracy",)), "confirmed"),
        (Claim("", ("old",), ("new",), ("accuracy",)), "not confirmed"),
        (Claim("", ("new",), ("old",), ("same",), by=0.004), "confirmed"),  # despite the rounding error of .819 - .815
        (Claim("", ("new",), ("old",), ("accuracy",), by=0.06, relative=True), "confirmed"),  # .05/.75 = 6.7 %
        (Claim("", ("new",), ("old",), ("loss",), larger=False), "confirmed"),
        (Claim("", ("older",), ("old",), ("same",)), "open"),  # equal
        (Claim("", ("new",), ("old",), ("same",), by=0.004, tie=True), "confirmed"),
        (Claim("", ("old",), ("new",), ("same",), by=0.004, tie=True), "confirmed"),  # whichever is ahead
        (Claim("", ("new",), ("old", "older"), ("accuracy",), by=0.06, tie=True), "not confirmed"),
        (Claim("", ("new",), ("nobody",), ("accuracy",)), "not measured"),
    ],
)
def test_printed_scores_are_taken_as_exact(claim: Claim, verdict: str) -> None:
    found = judge_printed(claim, PRINTED)
    assert found.verdict == verdict
    assert found.lead is None or found.lead.alone


# --- claims on runs ----------------------------------------------------------------------------------------------

UNITS = np.random.default_rng(7).normal(size=200)
UNITS -= UNITS.mean()


def runs_of(mean: float, *, noise: float = 0.001, wide: float = 0.03, seeds: int = 5) -> Runs:
    """Runs with this mean. `noise` is the spread over seeds, `wide` over a row's own units, on top of 0.3 · UNITS."""
    own = np.random.default_rng(int(mean * 1e4)).normal(size=200)
    own -= own.mean()
    return {
        seed: Parts(
            mean + noise * (seed - (seeds - 1) / 2) * (-1) ** int(mean * 1e3) + 0.3 * UNITS + wide * own, np.ones(200)
        )
        for seed in range(seeds)
    }


ROWS = {
    "a": runs_of(0.80),
    "b": runs_of(0.75),
    "c": runs_of(0.701),
    "nearly b": runs_of(0.748),
    "wide": runs_of(0.77, wide=0.6),
    "loud": runs_of(0.76, noise=0.1),
    "fixed": {0: runs_of(0.72)[2]},
    "just below b": runs_of(0.728),
}


def in_x(rows: dict[str, Runs]) -> dict[tuple[str, str], Runs]:
    """These rows, in column x."""
    return {(row, "x"): runs for row, runs in rows.items()}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (Claim("", ("a",), ("b", "c"), ("x",)), "confirmed"),  # units vary by .3, but equally for both rows
        (Claim("", ("wide",), ("b",), ("x",)), "open"),  # other units could reverse it
        (Claim("", ("loud",), ("b",), ("x",)), "open"),  # other seeds could
        (Claim("", ("a",), ("b",), ("x",), by=0.049), "open"),  # the lead is .05, but its interval includes .049
        (Claim("", ("a",), ("b",), ("x",), by=0.10), "not confirmed"),
        (Claim("", ("a",), ("b",), ("x",), by=0.05, relative=True), "confirmed"),  # 6.7 %
        (Claim("", ("b",), ("a",), ("x",), larger=False, by=0.05, relative=True), "confirmed"),  # 6.2 % less
        (Claim("", ("b",), ("a",), ("x",), larger=False, by=0.09, relative=True), "not confirmed"),
        (Claim("", ("a", "c"), ("b",), ("x",)), "not confirmed"),  # the worst decides
        (Claim("", ("a", "c"), ("b",), ("x",), best=True), "confirmed"),
        (Claim("", ("c", "nearly b"), ("b",), ("x",), best=True), "open"),  # the second could be as good
        (Claim("", ("c", "fixed"), ("b",), ("x",), best=True), "not confirmed"),
        (Claim("", ("a",), ("fixed",), ("x",)), "confirmed"),  # `fixed` is not random
        (Claim("", ("nearly b",), ("b",), ("x",), by=0.02, tie=True), "confirmed"),
        (Claim("", ("nearly b",), ("b", "c"), ("x",), by=0.02, tie=True), "not confirmed"),  # c is .047 below
        (Claim("", ("nearly b",), ("b", "wide"), ("x",), by=0.02, tie=True), "open"),
        (Claim("", ("c",), ("b",), ("x",), by=0.02, tie=True), "not confirmed"),  # a tie is refuted from below, too
        (Claim("", ("just below b",), ("b",), ("x",), by=0.022, tie=True), "open"),
        (Claim("", ("a",), ("b",), ("x", "exchanged")), "not confirmed"),  # one column of two refutes it
        (Claim("", ("b",), ("a",), ("one number",)), "open"),  # another sample could reverse it
        (Claim("", ("a",), ("b",), ("x", "one number")), "open"),  # a single number has no interval
        (Claim("", ("a",), ("nobody",), ("x",)), "not measured"),
    ],
)
def test_verdicts_on_runs(claim: Claim, verdict: str) -> None:
    one = {(row, "one number"): {0: Parts(np.array([runs[0].figure]), np.ones(1))} for row, runs in ROWS.items()}
    exchanged = {("a", "exchanged"): ROWS["b"], ("b", "exchanged"): ROWS["a"]}
    assert judge(claim, in_x(ROWS) | one | exchanged).verdict == verdict


def test_the_deciding_lead_is_the_largest_in_standard_errors() -> None:
    """`loud` is further ahead than `b`, but less certainly. For a tie claim, the largest lead decides."""
    lead = judge(Claim("", ("nearly b",), ("b", "loud"), ("x",)), in_x(ROWS)).lead
    assert lead is not None
    assert (lead.row, lead.other) == ("nearly b", "b")
    assert (lead.mine, lead.theirs) == pytest.approx((0.748, 0.75))
    lead = judge(Claim("", ("nearly b",), ("b", "c"), ("x",), by=0.02, tie=True), in_x(ROWS)).lead
    assert lead is not None
    assert lead.other == "c"


def test_one_number_per_seed_is_judged_over_seeds_alone() -> None:
    rows = {"a": [0.9, 0.92, 0.91, 0.9, 0.93], "b": [0.5, 0.52, 0.5, 0.51, 0.5]}
    made = {
        row: {seed: Parts(np.array([value]), np.ones(1)) for seed, value in enumerate(found)}
        for row, found in rows.items()
    }
    told = judge(Claim("", ("a",), ("b",), ("x",)), in_x(made))
    assert told.verdict == "confirmed"
    assert told.lead is not None
    assert told.lead.seeds_alone
    gaps = np.subtract(rows["a"], rows["b"])
    low, high = stats.t.interval(0.95, 4, gaps.mean(), stats.sem(gaps))
    several = Claim("", ("a",), ("b", "c"), ("x",))  # the reported interval is not widened for several comparisons
    made["c"] = {seed: Parts(parts.above - 0.3, parts.below) for seed, parts in made["b"].items()}
    for lead in (judge(several, in_x(made)).lead, shown_lead(several, in_x(made))):
        assert lead is not None
        assert (lead.other, lead.low, lead.high) == ("b", pytest.approx(low), pytest.approx(high))
    once = {row: {0: found[0]} for row, found in made.items()}
    alone = judge(Claim("", ("a",), ("b",), ("x",)), in_x(once))
    assert alone.lead is not None
    assert (alone.verdict, alone.lead.alone) == ("open", True)  # one number per row has no interval
    none = {row: {seed: Parts(np.zeros(3), np.ones(3)) for seed in range(5)} for row in "ab"}
    assert judge(Claim("", ("a",), ("b",), ("x",), relative=True, by=0.1), in_x(none)).verdict == "open"


def test_the_luckiest_of_many_rows_is_not_taken_for_the_best() -> None:
    """Among twenty rows that are no better than the row compared with, one may look better by chance."""
    wrong = alone = 0
    for trial in range(30):
        random = np.random.default_rng(trial)
        names = [f"r{n}" for n in range(20)]
        there = {name: {0: Parts(random.normal(0.7, 0.3, 150), np.ones(150))} for name in (*names, "over")}
        best = max(names, key=lambda row: there[row][0].figure)
        for rows, picked in ((tuple(names), True), ((best,), False)):
            claim = Claim("", rows, ("over",), ("x",), best=picked)
            confirmed = judge(claim, in_x(there)).verdict == "confirmed"
            wrong, alone = wrong + (confirmed and picked), alone + (confirmed and not picked)
    assert wrong <= 2 < alone


def test_a_tie_needs_an_absolute_bound() -> None:
    with pytest.raises(ValueError, match="tie"):
        Claim("as good", ("a",), ("b",), ("x",), tie=True)

    with pytest.raises(ValueError, match="tie"):
        Claim("as good", ("a",), ("b",), ("x",), by=0.1, relative=True, tie=True)


def test_the_unluckiest_of_many_leads_does_not_refute() -> None:
    """A lead slightly below zero refutes a claim by itself, but one of twenty may be so by chance."""
    gaps = np.random.default_rng(1).normal(size=200)
    gaps = (gaps - gaps.mean()) / gaps.std() - 2.4 / np.sqrt(200)
    there = {"a": {0: Parts(gaps, np.ones(200))}}
    there |= {f"o{n}": {0: Parts(np.zeros(200), np.ones(200))} for n in range(20)}
    for count, verdict in ((1, "not confirmed"), (20, "open")):
        claim = Claim("", ("a",), tuple(f"o{n}" for n in range(count)), ("x",))
        assert judge(claim, in_x(there)).verdict == verdict


def test_runs_are_paired_by_seed() -> None:
    """A seed's effect on both rows counts as no lead, even where one row has seeds that the other lacks."""
    random = np.random.default_rng(0)

    def runs(level: float, seeds: range) -> Runs:
        own = random.normal(0, 0.01, 50)
        return {seed: Parts(level + 0.2 * (seed % 3) + own, np.ones(50)) for seed in seeds}

    there = {"a": runs(0.8, range(7)), "b": runs(0.75, range(1, 9))}
    claim = Claim("", ("a",), ("b",), ("x",), by=0.03)
    assert judge(claim, in_x(there)).verdict == "confirmed"
    for seed in range(2, 7):  # the first common seed still leads, the others do not; every seed counts
        there["a"][seed] = replace(there["a"][seed], above=there["a"][seed].above - 0.2)
    assert judge(claim, in_x(there)).verdict == "not confirmed"
