"""Clusters, agreement, spread and separation of classes against plain loops and scikit-learn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import silhouette_score

from labkit.evaluation import classes as geometry
from labkit.evaluation import clustering_agreement, hit_at, inter_intra, kmeans, logistic_right, neighbours
from labkit.evaluation.classes import OUTLIER, hdbscan, separation

labellings = st.integers(2, 30).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2))


@given(labellings)
def test_agreement_equals_plain_counting(pair):
    """MI, NMI, the Rand indices and purity, from counts and pairs."""
    truth, found = pair
    n, agreement = len(truth), clustering_agreement(truth, found)
    share = {(a, b): sum(each == (a, b) for each in zip(truth, found, strict=True)) / n for a in truth for b in found}
    of_truth, of_found = ({a: side.count(a) / n for a in side} for side in pair)
    mi = sum(p * np.log(p / of_truth[a] / of_found[b]) for (a, b), p in share.items() if p)
    entropies = [-sum(p * np.log(p) for p in part.values()) for part in (of_truth, of_found)]
    pairs = [(truth[i] == truth[j], found[i] == found[j]) for i in range(n) for j in range(i)]
    both, first, second = sum(a and b for a, b in pairs), sum(a for a, _ in pairs), sum(b for _, b in pairs)
    chance, largest = first * second / len(pairs), (first + second) / 2
    assert agreement.mi == pytest.approx(mi, abs=1e-9)
    assert agreement.nmi == pytest.approx(mi / np.mean(entropies) if max(entropies) > 1e-12 else 1.0, abs=1e-9)
    assert agreement.ri == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert agreement.ari == pytest.approx((both - chance) / (largest - chance) if largest != chance else 1.0, abs=1e-9)
    assert agreement.purity == pytest.approx(sum(max(share[a, b] for a in of_truth) for b in of_found))


def test_perfect_and_useless_clusters():
    perfect = clustering_agreement(list("aabbcc"), [2, 2, 0, 0, 1, 1])
    assert (perfect.mi, perfect.purity) == (pytest.approx(np.log(3)), 1)
    assert [getattr(perfect, name) for name in ("ami", "nmi", "ri", "ari")] == pytest.approx([1] * 4)
    one = clustering_agreement(list("aabbcc"), [0] * 6)
    assert [getattr(one, name) for name in ("mi", "ami", "ari", "purity")] == pytest.approx([0, 0, 0, 1 / 3], abs=1e-9)
    assert clustering_agreement(list("aabbcc"), range(6)).purity == 1


def test_kmeans_finds_blobs_and_depends_on_its_seed():
    rows, truth = make_blobs(200, centers=4, n_features=5, cluster_std=0.3, random_state=1)
    labels = kmeans(rows, 4, seed=0, restarts=5)
    assert labels.shape == (200,)
    assert clustering_agreement(truth, labels).ari == 1
    np.testing.assert_array_equal(labels, kmeans(rows, 4, seed=0, restarts=5))
    noise = np.random.default_rng(0).standard_normal((300, 10))
    assert (kmeans(noise, 8, seed=0, restarts=1) != kmeans(noise, 8, seed=1, restarts=1)).any()


def looped_spread(rows, labels):
    names = sorted(set(labels))
    centres = {c: np.mean([row for row, label in zip(rows, labels, strict=True) if label == c], axis=0) for c in names}
    intra = np.mean([np.linalg.norm(row - centres[label]) for row, label in zip(rows, labels, strict=True)])
    inter = np.mean([min(np.linalg.norm(centres[c] - centres[o]) for o in names if o != c) for c in names])
    return inter, intra, inter / intra


@pytest.mark.parametrize("count", [2, 40])
def test_spread_equals_plain_loops(monkeypatch, count):
    monkeypatch.setattr(geometry, "MOST_ASKING", 11)
    monkeypatch.setattr(geometry, "BLOCK", 70)  # in several blocks
    random = np.random.default_rng(count)
    labels = [f"c{number}" for number in random.integers(0, count, 150)]
    rows = random.standard_normal((150, 6)) + 4
    for given_rows in (rows, sparse.csr_array(rows)):
        found = inter_intra(given_rows, labels)
        assert (found.inter, found.intra, found.ratio) == pytest.approx(looped_spread(rows, labels))


def test_worked_example_of_spread():
    found = inter_intra([[0.0, 0], [0, 2], [3, 0], [3, 2], [3, 9]], ["a", "a", "b", "b", "c"])
    # centres (0, 1), (3, 1), (3, 9): 3, 3, 8 to the nearest other, and 1, 1, 1, 1, 0 to their sentences
    assert (found.inter, found.intra) == pytest.approx((14 / 3, 4 / 5))
    collapsed = inter_intra(np.full((21, 3), 0.1), np.arange(21) % 3)
    assert (collapsed.inter, collapsed.intra, collapsed.ratio) == (0, 0, 0)


def test_above_the_limit_a_fixed_sample_of_classes_is_used():
    random = np.random.default_rng(3)
    rows, labels = random.standard_normal((300, 4)), np.arange(300) % 100
    found = inter_intra(rows, labels, most=40)
    assert inter_intra(rows, labels, most=100) == inter_intra(rows, labels)
    centres = np.array([rows[labels == label].mean(axis=0) for label in range(100)])
    gaps = np.linalg.norm(centres[:, None] - centres, axis=2) + np.where(np.eye(100), np.inf, 0)
    asking = neighbours.sampled(np.arange(100), 40)
    assert found.inter == pytest.approx(gaps.min(axis=1)[asking].mean())


def test_worked_example_of_separation() -> None:
    rows, labels = [[0.0, 0], [0, 2], [10, 0], [10, 2]], ["a", "a", "b", "b"]
    found = separation(rows, labels)
    assert found.ratio == pytest.approx(10 / 1)  # centres at (0, 1) and (10, 1), every row 1 from its own
    b = (10 + math.sqrt(104)) / 2
    assert found.silhouette == pytest.approx((b - 2) / b)
    assert found.hit == 1
    assert separation(rows, ["a", "b", "a", "b"]).hit == 0
    found = separation([[0.0], [1], [5], [6.5], [7], [9]], ["a", "a", "b", "b", "a", "c"])
    assert found.by_class == {"a": pytest.approx(2 / 3), "b": 0.5}  # c is alone


def test_separation_of_unit_rows_agrees_with_other_functions() -> None:
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


def rows_with_classes(seed: int) -> tuple[list[np.ndarray], list[list[str]]]:
    """Rows and labels of train, dev and test, from three overlapping classes."""
    random = np.random.default_rng(seed)
    codes = random.integers(0, 3, 240)
    rows = random.standard_normal((3, 8))[codes] + 1.5 * random.standard_normal((240, 8))
    names = [["car", "cat", "tree"][code] for code in codes]
    return np.split(rows, [120, 180]), [names[:120], names[120:180], names[180:]]


@pytest.mark.parametrize(("seed", "form"), [(0, np.asarray), (1, sparse.csr_array)])
def test_logistic_regression_with_the_best_penalty_on_dev(seed, form):
    (train, dev, test), (names, dev_names, test_names) = rows_with_classes(seed)
    scores = {}
    for strength in geometry.STRENGTHS:
        model = LogisticRegression(C=strength, max_iter=2_000).fit(train, names)
        scores[strength] = model.score(dev, dev_names), model.predict(test) == np.array(test_names)
    best = max(score for score, _ in scores.values())
    right = next(right for score, right in scores.values() if score == best)
    found = logistic_right(form(train), names, form(dev), dev_names, form(test), test_names)
    assert found.tolist() == right.tolist()
    # test labels do not affect the fit, and a class outside train is wrong
    assert not logistic_right(train, names, dev, dev_names, test, ["house"] * 60).any()


@pytest.mark.parametrize(("d", "form"), [(3, np.asarray), (40, sparse.csr_array)])
def test_hdbscan_finds_blobs_and_marks_outliers(form, d):
    rows, truth = make_blobs([60, 40, 50], d, cluster_std=0.5, center_box=(-20, 20), random_state=1)
    alone = np.random.default_rng(0).uniform(-200, 200, (9, d))
    found = hdbscan(form(np.concatenate([rows, alone])))
    assert (found[-9:] == OUTLIER).all()
    inside = found[:-9] >= 0
    assert inside.mean() > 0.9
    assert clustering_agreement(truth[inside], found[:-9][inside]).ari == 1


def test_too_few_rows_have_no_dense_region():
    assert hdbscan(np.eye(7)).tolist() == [OUTLIER] * 7
    assert hdbscan(np.ones((1, 3))).tolist() == [OUTLIER]
    assert set(hdbscan(np.repeat(np.eye(2), 20, axis=0))) == {0, 1}  # copies have maximum density
