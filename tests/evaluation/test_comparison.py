"""Leads and their intervals against worked examples, formulas and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from labkit.evaluation import Parts, lead_of
from labkit.evaluation.comparison import Spread


def test_mean_and_spread():
    found = Spread.of([0.80, 0.82, 0.84])
    assert (found.mean, found.spread) == pytest.approx((0.82, 0.02))
    assert Spread.of([0.1] * 3).spread == 0 < np.std([0.1] * 3)


def test_a_score_is_the_sum_above_over_the_sum_below() -> None:
    right = np.array([1, 0, 1, 1, 0])
    parts = Parts.by(["x", "y", "x", "z", "z"], right)
    assert (parts.above.tolist(), parts.below.tolist()) == ([2, 0, 1], [2, 1, 2])
    assert parts.figure == right.mean()
    called, same = np.array([1, 1, 0, 1, 0]), np.array([1, 0, 1, 1, 0])
    f1 = Parts.by(range(5), 2 * (called & same), called + same)
    assert f1.figure == pytest.approx(2 * 2 / (3 + 3))


def simulated(
    random: np.random.Generator, seeds: int, units: int, *, seed: float, unit: float, both: float
) -> list[Parts]:
    """Runs with true score 0; each seed, unit, and combination of both adds noise of the given size."""
    shared = random.normal(0, unit, units)
    made = [random.normal(0, seed) + shared + random.normal(0, both, units) for _ in range(seeds)]
    return [Parts(values, np.ones(units)) for values in made]


@pytest.mark.parametrize(("seed", "unit", "both"), [(0.01, 0.12, 0.05), (0.01, 0.05, 0.3)])
def test_the_interval_contains_the_truth_in_95_percent_of_cases(seed: float, unit: float, both: float) -> None:
    """Five runs and 100 units; the noise comes mostly from the units, or from combinations of seed and unit."""
    random = np.random.default_rng(5)
    nothing = [Parts(np.zeros(100), np.ones(100))]
    held = 0
    for _ in range(200):
        low, high = lead_of(simulated(random, 5, 100, seed=seed, unit=unit, both=both), nothing).interval()
        held += low <= 0 <= high
    assert 0.9 <= held / 200 <= 0.99


def test_the_error_equals_that_of_the_linearised_ratio() -> None:
    """With one run each."""
    random = np.random.default_rng(1)
    below = random.integers(1, 9, 300).astype(float)
    first, second = (Parts(random.binomial(9, share, 300) * below / 9, below) for share in (0.7, 0.6))
    found = lead_of([first], [second])
    rest = ((first.above - first.figure * below) - (second.above - second.figure * below)) / below.sum()
    assert found.lead == pytest.approx(first.figure - second.figure)
    assert found.error == pytest.approx(np.sqrt((rest**2).sum()), rel=0.03)
    low, high = found.interval()
    assert (high - low) / 2 == pytest.approx(1.968 * found.error, rel=0.001)  # Student's t with 299 degrees of freedom
    wider = found.interval(0.99)
    assert wider[0] < low < high < wider[1]


def test_few_seeds_and_few_units_have_wide_intervals() -> None:
    """Five units of one run, and five seeds of one unit, both have the t interval of the mean of five values."""
    values = np.array([0.5, 0.9, 0.7, 0.8, 0.3])
    wanted = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    zero = [Parts(np.zeros(1), np.ones(1))]
    assert lead_of([Parts(values[[seed]], np.ones(1)) for seed in range(5)], zero).interval() == pytest.approx(wanted)
    units = lead_of([Parts(values, np.ones(5))], [Parts(np.zeros(5), np.ones(5))])
    assert units.interval() == pytest.approx(wanted, abs=0.01)
    assert lead_of(zero, zero).interval() == (0, 0)


def test_cancelling_units_do_not_reduce_the_variance_of_seeds() -> None:
    """The residual is subtracted once, but never leaves less than the variance of the seeds."""
    lean = np.linspace(-1, 1, 40)
    runs = [Parts(0.1 + lean, np.ones(40)), Parts(0.2 - lean, np.ones(40))]
    found = lead_of(runs, [Parts(np.zeros(40), np.ones(40))])
    assert found.error == pytest.approx(stats.sem([0.1, 0.2]))


def test_the_lead_over_a_multiple() -> None:
    first, second = ([Parts(np.full(9, value), np.ones(9))] for value in (0.66, 0.6))
    assert lead_of(first, second, times=1.1).lead == pytest.approx(0)
    units = np.random.default_rng(0).normal(size=400)
    twice, once = Parts(2 * units, np.ones(400)), Parts(units, np.ones(400))
    assert lead_of([twice], [once], times=2.0).error == pytest.approx(0, abs=1e-6)  # the error uses `times`, too
