"""Claims judged on figures made by hand."""

from __future__ import annotations

import pytest

from labkit.evaluation.comparison import Spread
from labkit.papers.claims import Claim, judge

FIGURES = {
    ("new", "accuracy"): (0.80, 0.01),
    ("old", "accuracy"): (0.75, 0.02),
    ("older", "accuracy"): (0.70, 0.00),
    ("new", "f1"): (0.80, 0.03),
    ("old", "f1"): (0.79, 0.02),
    ("new", "loss"): (1.0, 0.0),
    ("old", "loss"): (1.5, 0.0),
    ("new", "wide"): (0.90, 0.05),
    ("old", "wide"): (0.84, 0.00),
    ("new", "narrow"): (0.90, 0.00),
    ("old", "narrow"): (0.855, 0.00),
}


def look_up(row: str, column: str) -> Spread | None:
    found = FIGURES.get((row, column))
    return None if found is None else Spread(*found, values=(found[0],))


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (Claim("", ("new",), ("old", "older"), ("accuracy",)), "confirmed"),
        (Claim("", ("old",), ("new",), ("accuracy",)), "not confirmed"),
        (Claim("", ("new",), ("old",), ("f1",)), "inside the spread"),
        (Claim("", ("new",), ("old",), ("accuracy", "f1")), "inside the spread"),  # the weakest column decides
        (Claim("", ("new",), ("old",), ("accuracy",), by=0.05), "confirmed"),
        # .06 with a spread of .05 holds, .045 without any does not: wide must not decide for narrow
        (Claim("", ("new",), ("old",), ("wide",), by=0.05), "confirmed"),
        (Claim("", ("new",), ("old",), ("wide", "narrow"), by=0.05), "not confirmed"),
        (Claim("", ("new",), ("old",), ("accuracy",), by=0.06), "inside the spread"),  # short by less than the spread
        (Claim("", ("new",), ("old",), ("accuracy",), by=0.10), "not confirmed"),
        (Claim("", ("new",), ("old",), ("accuracy",), by=0.06, relative=True), "confirmed"),  # .05/.75 = 6.7 %
        (Claim("", ("new",), ("old",), ("loss",), larger=False), "confirmed"),
        (Claim("", ("new",), ("old",), ("loss",)), "not confirmed"),
        (Claim("", ("new", "older"), ("old",), ("accuracy",)), "not confirmed"),  # the worst of ours decides
        (Claim("", ("new", "older"), ("old",), ("accuracy",), best=True), "confirmed"),
        (Claim("", ("new",), ("old",), ("f1",), tie=True), "confirmed"),  # .01 apart, spread .03
        (Claim("", ("new",), ("old",), ("accuracy",), tie=True), "not confirmed"),
        (Claim("", ("old",), ("new",), ("accuracy",), tie=True), "not confirmed"),  # whichever is ahead
        (Claim("", ("new",), ("old",), ("accuracy",), by=0.05, tie=True), "confirmed"),
        (Claim("", ("new",), ("old",), ("f1", "loss"), tie=True), "not confirmed"),
        (Claim("", ("new",), ("nobody",), ("accuracy",)), "not measured"),
        (Claim("", ("new",), ("old",), ("unknown",)), "not measured"),
    ],
)
def test_by_hand(claim: Claim, verdict: str) -> None:
    assert judge(claim, look_up).verdict == verdict


def test_says_the_numbers_that_decide() -> None:
    assert judge(Claim("", ("new",), ("old",), ("accuracy",)), look_up).why == (
        "accuracy: new 0.8 against old 0.75 (+0.05, spread 0.02)"
    )
    told = judge(Claim("", ("new",), ("old",), ("accuracy", "f1", "loss")), look_up).why
    assert told == "loss: new 1 against old 1.5 (-0.5); holds in 1 of 3 columns"
    told = judge(Claim("", ("old",), ("new",), ("accuracy", "f1")), look_up).why
    assert told.endswith("; holds in none of 2 columns")
    assert "+6.7%" in judge(Claim("", ("new",), ("old",), ("accuracy",), relative=True), look_up).why
