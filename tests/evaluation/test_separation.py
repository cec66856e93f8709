"""Separation: worked by hand, against scikit-learn and our own retrieval figure, and where it is not defined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import silhouette_score

from labkit.evaluation import hit_at, inter_intra
from labkit.evaluation.classes import separation


def test_by_hand() -> None:
    rows, labels = [[0.0, 0], [0, 2], [10, 0], [10, 2]], ["a", "a", "b", "b"]
    found = separation(rows, labels)
    assert found.ratio == pytest.approx(10 / 1)  # centres at (0, 1) and (10, 1), everybody 1 from the own one
    b = (10 + math.sqrt(104)) / 2
    assert found.silhouette == pytest.approx((b - 2) / b)
    assert found.hit == 1
    assert separation(rows, ["a", "b", "a", "b"]).hit == 0


def test_of_unit_rows_it_agrees_with_others() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 7, 150)
    rows = random.normal(size=(150, 9)) + 0.4 * random.normal(size=(7, 9))[labels]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    found = separation(rows, labels)
    assert found.hit == pytest.approx(hit_at(rows, labels, (1,))[1])
    assert found.silhouette == pytest.approx(silhouette_score(rows, labels))
    assert found.ratio == inter_intra(rows, labels).ratio
    assert found.sample == 150
    spare = separation(sparse.csr_matrix(rows), labels)
    assert (spare.hit, spare.silhouette, spare.ratio) == pytest.approx((found.hit, found.silhouette, found.ratio))


def test_a_tie_never_flatters() -> None:
    assert separation([[0.0], [0], [0], [5], [5]], ["a", "a", "b", "b", "b"]).hit == pytest.approx(2 / 5)


def test_a_sample_is_drawn_by_its_seed() -> None:
    random = np.random.default_rng(1)
    rows, labels = random.normal(size=(300, 3)), random.integers(0, 3, 300)
    found = separation(rows, labels, most=100, seed=4)
    assert found == separation(rows, labels, most=100, seed=4)
    assert found != separation(rows, labels, most=100, seed=5)
    assert found.sample == 100
    assert found.ratio == separation(rows, labels).ratio


def test_what_is_not_defined_is_nan() -> None:
    one = separation([[0.0], [1], [2]], ["a", "a", "a"])
    assert math.isnan(one.ratio)
    assert math.isnan(one.silhouette)
    assert one.hit == 1
    alone = separation([[0.0], [1], [2]], ["a", "b", "c"])
    assert math.isnan(alone.hit)
    assert math.isnan(alone.silhouette)
    with pytest.raises(ValueError, match="labels has 2 rows, expected 3"):
        separation([[0.0], [1], [2]], ["a", "b"])


@pytest.mark.parametrize("size", [1e150, 1e300, 1e-200, 1e-300])
def test_rows_of_any_size(size: float) -> None:
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(60, 4)), random.integers(0, 3, 60)
    plain, found = separation(rows, labels), separation(size * rows, labels)
    assert (found.ratio, found.silhouette, found.hit) == pytest.approx((plain.ratio, plain.silhouette, plain.hit))
