"""Spreads and paired tests by hand, against scipy, and over many repetitions of no difference."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, permutation_test

from labkit.evaluation import leader, over_seeds, paired_test


def test_mean_and_spread():
    found = over_seeds([0.80, 0.82, 0.84])
    assert (found.mean, found.spread) == pytest.approx((0.82, 0.02))
    assert str(found) == "0.8200 ± 0.0200 (3 seeds)"
    assert str(over_seeds([0.5], deterministic=True)) == "0.5000 (deterministic)"


def test_too_few_seeds_are_refused():
    for values in ([0.5], [0.5, 0.6]):
        with pytest.raises(ValueError, match="at least 3"):
            over_seeds(values)
    with pytest.raises(ValueError, match="deterministic"):
        over_seeds([0.5, 0.6, 0.7], deterministic=True)


def test_inside_the_spread_is_a_tie():
    narrow, wide = over_seeds([0.80, 0.81, 0.82]), over_seeds([0.79, 0.83, 0.87])
    assert leader(narrow, wide) == leader(wide, narrow) == "tie"  # 0.02 apart, the wider spread is 0.04
    better = over_seeds([0.84, 0.85, 0.86])
    assert (leader(better, narrow), leader(narrow, better)) == ("first", "second")
    assert leader(better, narrow, larger_is_better=False) == "second"
    exact = over_seeds([0.5], deterministic=True)
    assert leader(exact, exact) == "tie"


def test_right_or_wrong_is_the_exact_sign_test():
    random = np.random.default_rng(0)
    first, second = random.integers(0, 2, (2, 400))
    found = paired_test(first, second)
    wins, losses = int((first > second).sum()), int((first < second).sum())
    assert found.p_value == binomtest(wins, wins + losses).pvalue
    assert (found.wins, found.losses, found.items) == (wins, losses, 400)
    assert found.difference == pytest.approx((first - second).mean())


def test_few_items_are_enumerated():
    gaps = np.array([0.5, 1.0, -0.25, 2.0, 0.75])
    sums = [abs(sum(sign * gap for sign, gap in zip(signs, gaps, strict=True))) for signs in product((1, -1), repeat=5)]
    assert paired_test(gaps, np.zeros(5)).p_value == np.mean([total >= abs(gaps.sum()) for total in sums])


def test_many_items_as_scipys_permutation_test():
    random = np.random.default_rng(1)
    first, second = random.normal([[0.3], [0.05]], 1, (2, 60))
    wanted = permutation_test(
        (first, second),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        rng=np.random.default_rng(2),
    ).pvalue
    assert paired_test(first, second).p_value == pytest.approx(wanted, abs=0.02)


def test_the_interval_is_that_of_resampled_items():
    random = np.random.default_rng(3)
    gaps = random.normal(0.3, 1, 150)
    found = paired_test(gaps, np.zeros(150))
    means = [random.choice(gaps, 150).mean() for _ in range(10_000)]
    assert (found.low, found.high) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.02)


def test_verdicts():
    random = np.random.default_rng(4)
    base = random.random(500)
    better = paired_test(base + random.normal(0.1, 0.3, 500), base)
    assert better.verdict == "first"
    assert better.p_value < 0.05
    assert str(better).endswith("the first is better")
    assert paired_test(base, base + random.normal(0.1, 0.3, 500)).verdict == "second"
    assert paired_test(base + random.normal(0.1, 0.3, 500), base, larger_is_better=False).verdict == "second"
    same = paired_test(base, base)
    assert (same.difference, same.p_value, same.verdict) == (0, 1, "tie")
    assert str(same).endswith("on 500 items: tie")
    assert paired_test([1, 1, 1], [0, 0, 0]).verdict == "tie"  # three wins of three are not enough


def test_no_difference_is_a_tie_nineteen_times_in_twenty():
    random = np.random.default_rng(5)
    for draw in (lambda: random.integers(0, 2, 80), lambda: random.normal(size=80)):
        verdicts = [paired_test(draw(), draw(), rounds=300).verdict for _ in range(300)]
        assert verdicts.count("tie") > 0.91 * 300


def test_the_same_seed_gives_the_same_record():
    first, second = np.random.default_rng(6).random((2, 50))
    assert paired_test(first, second, seed=1) == paired_test(first, second, seed=1)
    assert paired_test(first, second, seed=1) != paired_test(first, second, seed=2)
