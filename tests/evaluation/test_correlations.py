"""Correlations against scipy, and what a constant is worth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from labkit.evaluation import correlation, correlation_by, correlation_parts, spearman_error


@pytest.mark.parametrize("seed", range(5))
def test_as_scipy_with_ties(seed):
    random = np.random.default_rng(seed)
    gold = random.integers(0, 6, 80)
    scores = np.round(gold + random.normal(0, 2, 80))
    found = correlation(scores, gold)
    assert found.pearson == pytest.approx(pearsonr(scores, gold).statistic)
    assert found.spearman == pytest.approx(spearmanr(scores, gold).statistic)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1 / 3, -1e300])
def test_a_constant_score_orders_nothing(constant):
    found = correlation(np.full(30, constant), np.arange(30))
    assert (found.pearson, found.spearman) == (0, 0)


def test_constant_gold_is_refused():
    with pytest.raises(ValueError, match="all 4 grades are 3, expected at least two"):
        correlation([1, 2, 3, 4], [3, 3, 3, 3])


@given(st.integers(0, 10**6))
def test_order_scale_and_for_ranks_any_rising_map(seed):
    random = np.random.default_rng(seed)
    scores, gold, order = random.normal(size=20), random.normal(size=20), random.permutation(20)
    found = correlation(scores, gold)
    for other in (correlation(scores[order], gold[order]), correlation(1e150 * scores, 1e-150 * gold)):
        assert (other.pearson, other.spearman) == pytest.approx((found.pearson, found.spearman))
    assert correlation(np.exp(scores), gold).spearman == pytest.approx(found.spearman)
    assert correlation(-scores, gold).pearson == pytest.approx(-found.pearson)


def test_year_by_year():
    found = correlation_by([1, 2, 3, 3, 2, 1], [1, 2, 3, 1, 2, 3], [2013, 2013, 2013, 2012, 2012, 2012])
    assert list(found) == [2013, 2012]
    assert [part.pearson for part in found.values()] == pytest.approx([1, -1])
    assert str(found[2013]) == "Pearson 1.0000, Spearman 1.0000"


def test_parts_are_what_is_lost_without_a_pair():
    """The jackknife with plain loops: of values, and of ranks that are given anew without the pair."""
    random = np.random.default_rng(3)
    gold = random.integers(0, 6, 40).astype(float)
    scores = np.round(gold + random.normal(0, 2, 40))
    parts = correlation_parts(scores, gold)
    for name, oracle in (("pearson", pearsonr), ("spearman", spearmanr)):
        whole = oracle(scores, gold).statistic
        rest = [oracle(np.delete(scores, row), np.delete(gold, row)).statistic for row in range(40)]
        influence = 39 * (whole - np.array(rest))
        assert parts[name].figure == pytest.approx(whole)
        np.testing.assert_allclose(parts[name].above, whole + influence - influence.mean(), atol=1e-9)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_parts_tell_the_error_of_a_correlation(name):
    """The bootstrap of the parts has the error that many samples show, and so has that of pairs joined to units."""
    random = np.random.default_rng(4)
    made = []
    for _ in range(1_000):
        gold = random.normal(size=200)
        made.append(getattr(correlation(0.6 * gold + 0.8 * random.normal(size=200), gold), name))
    gold = random.normal(size=200)
    scores = 0.6 * gold + 0.8 * random.normal(size=200)
    parts = correlation_parts(scores, gold)[name]
    assert parts.above.std() / np.sqrt(200) == pytest.approx(np.std(made), rel=0.2)
    joined = correlation_parts(scores, gold, np.arange(200) // 2)[name]
    assert len(joined.above) == 100
    assert joined.figure == pytest.approx(parts.figure)


@pytest.mark.parametrize("latent", [0.0, 0.5, 0.8])
def test_the_error_of_spearman_is_how_far_it_moves_from_sample_to_sample(latent):
    random = np.random.default_rng(0)
    first, other = random.normal(size=(2, 1500, 80))
    second = latent * first + np.sqrt(1 - latent**2) * other
    found = [correlation(a, b).spearman for a, b in zip(first, second, strict=True)]
    assert spearman_error(float(np.mean(found)), 80) == pytest.approx(np.std(found), rel=0.08)


def test_the_error_of_spearman_by_hand():
    assert spearman_error(0.0, 28) == pytest.approx(1 / 5)
    assert spearman_error(0.6, 103) == pytest.approx(0.64 * np.sqrt(1.18) / 10)
    assert spearman_error(-0.6, 103) == spearman_error(0.6, 103)
    assert spearman_error(1.0, 50) == 0
    assert spearman_error(0.5, 3) == spearman_error(0.5, 4)  # of fewer than four pairs nothing is known
