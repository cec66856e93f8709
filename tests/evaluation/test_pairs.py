"""Thresholds, correlations, reversals and learned grades against exhaustive search, scipy and scikit-learn."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from scipy.stats import pearsonr, spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from labkit.evaluation import (
    best_threshold,
    correlation,
    correlation_parts,
    pair_classification,
    relatedness,
    spearman_error,
)
from labkit.evaluation.pairs import Reversal, _features, _fit, _predict, auc_parts, grade_distribution, reversals


def exhaustive(scores, labels):
    """The lowest of the best thresholds, and its number of right decisions, by trying all candidates."""
    distinct = sorted({float(score) for score in scores})
    candidates = [-np.inf, *((a + b) / 2 for a, b in pairwise(distinct)), np.inf]
    right = [
        sum((float(score) > t) == bool(label) for score, label in zip(scores, labels, strict=True)) for t in candidates
    ]
    return candidates[right.index(max(right))], max(right)


def test_small_cases_equal_an_exhaustive_search():
    random = np.random.default_rng(3)
    for _ in range(1_000):
        n = random.integers(1, 12)
        scores = random.integers(0, 6, n) / 4  # few values: ties in nearly every case
        labels = random.integers(0, 2, n)
        assert best_threshold(scores, labels) == exhaustive(scores, labels)[0]
    assert best_threshold([0.3, 0.7], [1, 1]) == -np.inf
    assert best_threshold([0.3, 0.7], [0, 0]) == np.inf
    assert best_threshold([0.9, 0.1], [0, 1]) == -np.inf  # one error everywhere, so the lowest
    assert best_threshold([0.5, 0.5, 0.5], [0, 0, 1]) == np.inf
    assert best_threshold([0.5, 0.5, 0.5], [0, 1, 1]) == -np.inf


@given(
    arrays.arrays(np.float32, st.integers(1, 30), elements=st.floats(-2, 2, width=32)),
    st.randoms(use_true_random=False),
)
def test_float32_scores(scores, random):
    labels = [random.randint(0, 1) for _ in scores]
    assert ((scores > best_threshold(scores, labels)) == labels).sum() == exhaustive(scores, labels)[1]


@pytest.mark.parametrize(("dtype", "start"), [(np.float16, 0.5), (np.float32, -1.0), (np.float64, 1.0)])
def test_a_midpoint_of_neighbouring_floats_separates_them(dtype, start):
    low = dtype(start)
    for _ in range(4):  # successive pairs round their midpoints both down and up
        high = np.nextafter(low, dtype(9))
        scores = np.array([low, high])
        assert (scores > best_threshold(scores, [0, 1])).tolist() == [False, True]
        low = high


def test_scores_equal_scikit_learn_with_the_threshold_of_dev():
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 500)
    scores = labels + random.normal(0, 0.8, 500)
    dev, test = slice(0, 200), slice(200, 500)
    found = pair_classification(scores[dev], labels[dev], scores[test], labels[test])
    called = scores[test] > best_threshold(scores[dev], labels[dev])
    assert found.threshold == best_threshold(scores[dev], labels[dev])
    assert found.accuracy == pytest.approx(accuracy_score(labels[test], called))
    assert found.f1 == pytest.approx(f1_score(labels[test], called))
    assert found.precision == pytest.approx(precision_score(labels[test], called))
    assert found.recall == pytest.approx(recall_score(labels[test], called))
    found = pair_classification([0.1, 0.9], [0, 1], [0.1, 0.2, 0.3], [0, 1, 1])
    assert (found.threshold, found.recall, found.precision, found.f1) == (0.5, 0, 0, 0)
    assert found.accuracy == pytest.approx(1 / 3)


def test_correlations_equal_scipy_with_ties():
    random = np.random.default_rng(0)
    gold = random.integers(0, 6, 80)
    scores = np.round(gold + random.normal(0, 2, 80))
    found = correlation(scores, gold)
    assert found.pearson == pytest.approx(pearsonr(scores, gold).statistic)
    assert found.spearman == pytest.approx(spearmanr(scores, gold).statistic)


def test_parts_equal_the_jackknife():
    """In plain loops, with ranks recomputed without the pair."""
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


def test_worked_examples_of_the_error_of_spearman():
    assert spearman_error(0.0, 28) == pytest.approx(1 / 5)
    assert spearman_error(0.6, 103) == pytest.approx(0.64 * np.sqrt(1.18) / 10)
    assert spearman_error(-0.6, 103) == spearman_error(0.6, 103)
    assert spearman_error(1.0, 50) == 0
    assert spearman_error(0.5, 3) == spearman_error(0.5, 4)  # fewer than four pairs count as four


few = st.lists(st.integers(0, 4), min_size=6, max_size=6)


def test_worked_example_of_reversals() -> None:
    # order of the items: by grade 2 > 1 > 0, before 2 > 0 > 1, after 1 > 2 > 0
    found = reversals([1, 2, 3], [0.5, 0.4, 0.9], [0.1, 0.4, 0.3])
    assert (found.kept, found.fixed, found.broken, found.wrong) == (1, 1, 1, 0)
    assert found.comparisons == 3
    assert found.fixed_examples == (Reversal(1, 0, (2, 1), (0.4, 0.5), (0.4, 0.1)),)
    assert found.broken_examples == (Reversal(2, 1, (3, 2), (0.9, 0.4), (0.3, 0.4)),)


@given(few, few, few, st.sampled_from([0.0, 1.0]))
def test_reversals_equal_plain_loops(gold: list[int], before: list[int], after: list[int], least: float) -> None:
    if max(gold) - min(gold) <= least:
        with pytest.raises(ValueError, match="grades"):
            reversals(gold, before, after, least=least)
        return
    counts = {(a, b): 0 for a in (False, True) for b in (False, True)}
    for i, j in permutations(range(6), 2):
        if gold[i] - gold[j] > least:
            counts[before[i] > before[j], after[i] > after[j]] += 1
    found = reversals(gold, before, after, least=least)
    assert (found.kept, found.fixed) == (counts[True, True], counts[False, True])
    assert (found.broken, found.wrong) == (counts[True, False], counts[False, False])
    for shown, right in ((found.fixed_examples, (False, True)), (found.broken_examples, (True, False))):
        assert bool(shown) == bool(counts[right])
        items = [item for each in shown for item in (each.higher, each.lower)]
        assert len(items) == len(set(items))
        for each in shown:
            assert each.gold[0] - each.gold[1] > least
            assert (each.before[0] > each.before[1], each.after[0] > each.after[1]) == right
            assert each.before == (before[each.higher], before[each.lower])


def graded_pairs(n, seed, d=8, low=1, high=5):
    """Pairs whose grade decreases with their distance."""
    random = np.random.default_rng(seed)
    a = random.standard_normal((n, d))
    b = a + random.uniform(0, 2, (n, 1)) * random.standard_normal((n, d))
    distance = np.linalg.norm(a - b, axis=1)
    return a, b, np.clip(high - distance * (high - low) / 6, low, high)


@given(st.lists(st.floats(1, 5), min_size=1, max_size=20))
def test_a_grade_is_the_mean_of_its_distribution(scores):
    scale = np.arange(1, 6)
    target = grade_distribution(np.array(scores), scale)
    np.testing.assert_allclose(target.sum(axis=1), 1)
    np.testing.assert_allclose(target @ scale, scores)
    for row, y in zip(target, scores, strict=True):
        floor = int(np.floor(y))
        wanted = dict.fromkeys(range(1, 7), 0.0) | {floor: floor - y + 1, floor + 1: y - floor}
        np.testing.assert_allclose(row, [wanted[grade] for grade in scale], atol=1e-12)


def test_the_fit_is_logistic_regression_on_weighted_copies():
    a, b, gold = graded_pairs(300, 0)
    scale, strength = np.arange(1, 6), 1e-3
    target, features = grade_distribution(gold, scale), _features((a, b), (a, b))
    weights = _fit(features, target, strength)
    copies, grade = np.nonzero(target)
    oracle = LogisticRegression(C=1 / (strength * 300), tol=1e-10, max_iter=10_000)
    oracle.fit(features[copies], scale[grade], sample_weight=target[copies, grade])
    np.testing.assert_allclose(_predict(features, weights, scale), oracle.predict_proba(features) @ scale, atol=2e-3)


def test_worked_example_of_features():
    train = np.array([[3.0, 0], [0, 3]]), np.array([[0.0, 4], [4, 0]])
    # in training, |u - v| are (3, 4) and (4, 3), of length 5, which divides; u · v are 0, so nothing divides
    test = np.array([[1.0, 2]]), np.array([[6.0, -3]])
    for kind in (np.asarray, sparse.csr_matrix):
        found = _features(tuple(map(kind, test)), tuple(map(kind, train)))
        np.testing.assert_allclose(found if isinstance(found, np.ndarray) else found.toarray(), [[1, 1, 6, -6]])


def test_a_prediction_depends_only_on_its_own_pair():
    train, (a, b, gold) = graded_pairs(200, 7), graded_pairs(60, 8)
    a, b = a * np.repeat([[1], [3]], 30, axis=0), b * np.repeat([[1], [3]], 30, axis=0)
    parts = [relatedness(*train, a[half], b[half], gold[half], grades=(1, 5)) for half in (slice(30), slice(30, 60))]
    whole = relatedness(*train, a, b, gold, grades=(1, 5))
    assert whole.mse == pytest.approx((parts[0].mse + parts[1].mse) / 2)


def test_the_parts_of_auc_have_delongs_variance() -> None:
    """From the mean comparison of each of 20 positives and 60 negatives."""
    random = np.random.default_rng(2)
    labels = np.arange(80) < 20
    scores = np.round(random.normal(labels, 1), 1)  # with ties
    higher, lower = scores[labels][:, None], scores[~labels][None]
    worth = (higher > lower) + 0.5 * (higher == lower)
    parts = auc_parts(scores, labels)
    assert parts.figure == pytest.approx(worth.mean())
    variance = worth.mean(axis=1).var() / 20 + worth.mean(axis=0).var() / 60
    assert parts.influence.var() / 80 == pytest.approx(variance)
