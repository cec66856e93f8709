"""Agreement by hand and against its definitions; k-means finds what is there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from labkit.evaluation import clustering_agreement, kmeans

FIGURES = ("mi", "ami", "nmi", "ri", "ari", "purity")
labellings = st.integers(2, 30).flatmap(lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n)] * 2))


def looped(truth, found):
    """MI, NMI, RI, ARI and purity from counts and pairs alone."""
    n = len(truth)
    share = {}
    for a, b in zip(truth, found, strict=True):
        share[a, b] = share.get((a, b), 0) + 1 / n
    of_truth = {a: truth.count(a) / n for a in truth}
    of_found = {b: found.count(b) / n for b in found}
    mi = sum(p * np.log(p / of_truth[a] / of_found[b]) for (a, b), p in share.items())
    entropies = [-sum(p * np.log(p) for p in part.values()) for part in (of_truth, of_found)]
    pairs = [(truth[i] == truth[j], found[i] == found[j]) for i in range(n) for j in range(i)]
    both, first, second = sum(a and b for a, b in pairs), sum(a for a, _ in pairs), sum(b for _, b in pairs)
    chance = first * second / len(pairs)
    largest = (first + second) / 2
    purity = sum(max(share.get((a, b), 0) for a in of_truth) for b in of_found)
    return {
        "mi": mi,
        "nmi": mi / np.mean(entropies) if max(entropies) > 1e-12 else 1.0,
        "ri": sum(a == b for a, b in pairs) / len(pairs),
        "ari": (both - chance) / (largest - chance) if largest != chance else 1.0,
        "purity": purity,
    }


@given(labellings)
def test_as_counted_by_hand(pair):
    found = clustering_agreement(*pair)
    for name, value in looped(*pair).items():
        assert getattr(found, name) == pytest.approx(value, abs=1e-9), name


@given(labellings, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(pair, random):
    truth, found = pair
    rows = list(range(len(truth)))
    random.shuffle(rows)
    renamed = clustering_agreement([f"class {truth[row]}" for row in rows], [-found[row] / 2 for row in rows])
    plain = clustering_agreement(*pair)
    for name in FIGURES:
        assert getattr(renamed, name) == pytest.approx(getattr(plain, name), abs=1e-9), name


def test_perfect_and_useless():
    perfect = clustering_agreement(list("aabbcc"), [2, 2, 0, 0, 1, 1])
    assert (perfect.mi, perfect.purity) == (pytest.approx(np.log(3)), 1)
    assert [getattr(perfect, name) for name in ("ami", "nmi", "ri", "ari")] == pytest.approx([1] * 4)
    one = clustering_agreement(list("aabbcc"), [0] * 6)
    assert [getattr(one, name) for name in ("mi", "ami", "ari", "purity")] == pytest.approx([0, 0, 0, 1 / 3], abs=1e-9)
    alone = clustering_agreement(list("aabbcc"), range(6))
    assert alone.purity == 1
    assert alone.ami == pytest.approx(0, abs=1e-9)
    assert "nats" in str(perfect)


def test_chance_gets_no_ami():
    random = np.random.default_rng(0)
    figures = [clustering_agreement(random.integers(0, 5, 60), random.integers(0, 8, 60)).ami for _ in range(200)]
    assert abs(np.mean(figures)) < 0.01


def test_kmeans_finds_blobs_and_follows_its_seed():
    rows, truth = make_blobs(200, centers=4, n_features=5, cluster_std=0.3, random_state=1)
    labels = kmeans(rows, 4, seed=0, restarts=5)
    assert labels.shape == (200,)
    assert clustering_agreement(truth, labels).ari == 1
    np.testing.assert_array_equal(labels, kmeans(rows, 4, seed=0, restarts=5))
    noise = np.random.default_rng(0).standard_normal((300, 10))
    assert (kmeans(noise, 8, seed=0, restarts=1) != kmeans(noise, 8, seed=1, restarts=1)).any()


def test_more_restarts_are_never_worse():
    noise = np.random.default_rng(1).standard_normal((200, 8))

    def inertia(labels):
        return sum(((noise[labels == c] - noise[labels == c].mean(axis=0)) ** 2).sum() for c in range(10))

    assert inertia(kmeans(noise, 10, seed=3, restarts=20)) < inertia(kmeans(noise, 10, seed=3, restarts=1))


@pytest.mark.parametrize("size", [1e150, 1e300, 1e-200, 1e-300])
def test_clusters_of_rows_of_any_size(size):
    rows = make_blobs(90, 4, centers=3, random_state=0)[0]
    expected = kmeans(rows, 3, seed=0, restarts=2)
    np.testing.assert_array_equal(kmeans(size * rows, 3, seed=0, restarts=2), expected)
