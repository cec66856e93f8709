"""Thresholds against an exhaustive search, figures against scikit-learn, ties by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

from labkit.evaluation import best_threshold, pair_classification, triplet_accuracy


def exhaustive(scores, labels):
    """Every candidate tried, from the lowest up; the first of the best wins."""
    distinct = sorted({float(score) for score in scores})
    candidates = [-np.inf, *((a + b) / 2 for a, b in pairwise(distinct)), np.inf]
    right = [sum((score > t) == bool(label) for score, label in zip(scores, labels, strict=True)) for t in candidates]
    return candidates[right.index(max(right))], max(right)


def test_ten_thousand_small_cases_with_ties():
    random = np.random.default_rng(3)
    for _ in range(10_000):
        n = random.integers(1, 12)
        scores = random.integers(0, 6, n) / 4  # few values: ties in nearly every case
        labels = random.integers(0, 2, n)
        assert best_threshold(scores, labels) == exhaustive(scores, labels)[0]


@given(
    arrays.arrays(np.float32, st.integers(1, 30), elements=st.floats(-2, 2, width=32)),
    st.randoms(use_true_random=False),
)
def test_float32_scores(scores, random):
    labels = [random.randint(0, 1) for _ in scores]
    assert ((scores > best_threshold(scores, labels)) == labels).sum() == exhaustive(scores, labels)[1]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("start", [0.5, 1.0, -1.0, 0.0, 1e-4])
def test_a_midpoint_of_neighbouring_floats_still_parts_them(dtype, start):
    low = dtype(start)
    for _ in range(4):  # both roundings of a half occur among successive pairs
        high = np.nextafter(low, dtype(9))
        scores = np.array([low, high])
        assert (scores > best_threshold(scores, [0, 1])).tolist() == [False, True]
        low = high


def test_all_positive_and_all_negative():
    assert best_threshold([0.3, 0.7], [1, 1]) == -np.inf
    assert best_threshold([0.3, 0.7], [0, 0]) == np.inf
    assert best_threshold([0.9, 0.1], [0, 1]) == -np.inf  # one error either way: the lowest
    assert best_threshold([0.5, 0.5, 0.5], [0, 0, 1]) == np.inf
    assert best_threshold([0.5, 0.5, 0.5], [0, 1, 1]) == -np.inf
    assert best_threshold([-1e308, 1e308], [0, 1]) == 0


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_order_and_scale_do_not_matter(seed):
    random = np.random.default_rng(seed)
    scores, labels = random.integers(0, 20, 40) / 16, random.integers(0, 2, 40)
    order = random.permutation(40)
    threshold = best_threshold(scores, labels)
    assert best_threshold(scores[order], labels[order]) == threshold
    assert best_threshold(4 * scores - 1, labels) == 4 * threshold - 1


def test_figures_are_those_of_scikit_learn():
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


def test_the_threshold_comes_from_dev_alone():
    found = pair_classification([0.1, 0.9], [0, 1], [0.1, 0.2, 0.3], [0, 1, 1])
    assert (found.threshold, found.recall, found.precision, found.f1) == (0.5, 0, 0, 0)
    assert found.accuracy == pytest.approx(1 / 3)
    assert "at score > 0.5000" in str(found)


def test_a_score_at_the_threshold_is_negative():
    assert pair_classification([0.0, 1.0], [0, 1], [0.5, 0.75], [1, 1]).recall == 0.5


def test_a_float32_test_score_just_above_the_threshold_is_positive():
    threshold = best_threshold([0.0, 0.2], [0, 1])
    above = np.nextafter(np.float32(threshold), np.float32(1))
    assert pair_classification([0.0, 0.2], [0, 1], np.array([above]), [1]).recall == 1
    # 1/3 rounds up in float32: a score equal to the rounded threshold lies above the true one
    third = np.array([np.float32(1 / 3)])
    assert float(third[0]) > 1 / 3
    assert pair_classification([0.0, 2 / 3], [0, 1], third, [1]).recall == 1


def test_a_tied_triplet_is_an_error():
    assert triplet_accuracy([0.5, 0.5, 0.6, 0.1], [0.5, 0.4, 0.7, 0.0]) == 0.5
    assert triplet_accuracy(np.zeros(5), np.zeros(5)) == 0
