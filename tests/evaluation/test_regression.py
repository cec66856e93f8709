"""Relatedness against scikit-learn's logistic regression on weighted copies, and by what it must not depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from labkit.evaluation import correlation, relatedness
from labkit.evaluation.pairs import _features, _fit, _predict, grade_distribution


def graded_pairs(n, seed, d=8, low=1, high=5):
    """Pairs whose grade falls with their distance."""
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


def test_features_by_hand():
    train = np.array([[3.0, 0], [0, 3]]), np.array([[0.0, 4], [4, 0]])
    # |u - v| of training are (3, 4) and (4, 3), of length 5; u · v are (0, 0): nothing to divide by
    test = np.array([[1.0, 2]]), np.array([[6.0, -3]])
    for kind in (np.asarray, sparse.csr_matrix):
        found = _features(tuple(map(kind, test)), tuple(map(kind, train)))
        np.testing.assert_allclose(found if isinstance(found, np.ndarray) else found.toarray(), [[1, 1, 6, -6]])


def test_learns_the_grades():
    train, test = graded_pairs(800, 1), graded_pairs(300, 2)
    found = relatedness(*train, *test, grades=range(1, 6))
    assert found.pearson > 0.9
    assert found.spearman > 0.9
    assert found.mse < test[2].var() * 0.2
    a, b, gold = test
    cosine = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert found.pearson > correlation(cosine, gold).pearson
    assert str(found).startswith(f"Pearson {found.pearson:.4f}, Spearman")


def test_the_scale_counts():
    train, test = graded_pairs(300, 1, low=0), graded_pairs(100, 2, low=0)
    six = relatedness(*train, *test, grades=range(6))
    assert six == relatedness(*train, *test, grades=(0, 5))
    assert six != relatedness(*train, *test, grades=range(8))
    for grades in (range(1, 6), (1, 3, 5), [3], 5, (0.5, 5)):
        with pytest.raises(ValueError, match=r"grades"):
            relatedness(*train, *test, grades=grades)


def test_side_unit_order_of_tests_and_storage_do_not_matter():
    train, test = graded_pairs(300, 3), graded_pairs(100, 4)
    found = relatedness(*train, *test, grades=(1, 5))
    order = np.random.default_rng(0).permutation(100)
    same = [
        relatedness(train[1], train[0], train[2], test[1], test[0], test[2], grades=(1, 5)),
        relatedness(8 * train[0], 8 * train[1], train[2], 8 * test[0], 8 * test[1], test[2], grades=(1, 5)),
        relatedness(*train, *(part[order] for part in test), grades=(1, 5)),
        relatedness(
            *map(sparse.csr_array, train[:2]), train[2], *map(sparse.csr_array, test[:2]), test[2], grades=(1, 5)
        ),
    ]
    for other in same:
        assert (other.pearson, other.spearman, other.mse) == pytest.approx(
            (found.pearson, found.spearman, found.mse), abs=2e-3
        )


def test_the_test_scores_are_only_compared_with():
    train, test = graded_pairs(200, 5), graded_pairs(50, 6)
    found = relatedness(*train, *test, grades=(1, 5))
    assert relatedness(*train, test[0], test[1], 6 - test[2], grades=(1, 5)).pearson == pytest.approx(-found.pearson)


def test_a_prediction_is_a_function_of_its_own_pair_alone():
    train, (a, b, gold) = graded_pairs(200, 7), graded_pairs(60, 8)
    a, b = a * np.repeat([[1], [3]], 30, axis=0), b * np.repeat([[1], [3]], 30, axis=0)
    parts = [relatedness(*train, a[half], b[half], gold[half], grades=(1, 5)) for half in (slice(30), slice(30, 60))]
    whole = relatedness(*train, a, b, gold, grades=(1, 5))
    assert whole.mse == pytest.approx((parts[0].mse + parts[1].mse) / 2)


def test_collapsed_embeddings_predict_the_mean_and_order_nothing():
    gold = np.tile([1.0, 2.5, 4.0, 5.0], 10)
    for rows in (np.zeros((40, 3)), np.ones((40, 3))):
        found = relatedness(rows, rows, gold, rows, rows, gold, grades=(1, 5))
        assert (found.pearson, found.spearman) == (0, 0)
        assert found.mse == pytest.approx(gold.var(), abs=1e-3)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("power", [500, 990, -600, -990])
def test_grades_from_rows_of_any_size(power, form):
    train, test = graded_pairs(80, 3), graded_pairs(40, 4)
    sides = [form(np.ldexp(side, power)) for side in (*train[:2], *test[:2])]
    found = relatedness(*sides[:2], train[2], *sides[2:], test[2], grades=(1, 5))
    plain = relatedness(*map(form, train[:2]), train[2], *map(form, test[:2]), test[2], grades=(1, 5))
    assert found.mse == pytest.approx(plain.mse, abs=2e-3)
    assert found.pearson == pytest.approx(plain.pearson, abs=2e-3)
