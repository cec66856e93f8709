"""Iclust against every partition of a few points, its fixed-point equation, and Hartigan's k-means."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from labkit.arrays import unit
from labkit.evaluation import clustering_agreement, iclust
from labkit.evaluation.iclust import _reassigned, far_apart, information, memberships


def objective(similarity, labels):
    """The sum of S_C / |C| over clusters, in plain loops."""
    total = 0.0
    for cluster in set(labels):
        members = [i for i, label in enumerate(labels) if label == cluster]
        total += sum(similarity[i, j] for i in members for j in members) / len(members)
    return total


def bundles(random, classes=4, members=15, noise=0.15):
    truth = np.repeat(np.arange(classes), members)
    return unit(np.eye(classes, 8)[truth] + noise * random.standard_normal((len(truth), 8))), truth


@pytest.mark.parametrize(("seed", "k"), [(1, 2), (2, 3)])
def test_the_best_of_all_partitions(seed, k):
    random = np.random.default_rng(seed)
    noise = random.standard_normal((8, 8))
    similarity = noise + noise.T  # any symmetric matrix, not only cosines
    best = max(objective(similarity, labels) for labels in product(range(k), repeat=8) if len(set(labels)) == k)
    found = iclust(similarity, k, seed=0, restarts=30)
    assert set(found) == set(range(k))
    assert objective(similarity, found.tolist()) == pytest.approx(best)


def hartigan(rows, labels, k, random):
    """k-means by Hartigan's moves: each element moves to where it reduces the sum of squares most."""
    labels, moved = labels.copy(), True
    while moved:
        moved = False
        for i in random.permutation(len(rows)):
            home = labels[i]
            if (labels == home).sum() == 1:
                continue
            costs = np.empty(k)
            for c in range(k):
                others = (labels == c) & (np.arange(len(rows)) != i)
                size, centre = others.sum(), rows[others].mean(axis=0)
                costs[c] = size / (size + 1) * ((rows[i] - centre) ** 2).sum()
            if costs.min() < costs[home] - 1e-9:
                labels[i], moved = costs.argmin(), True
    return labels


@pytest.mark.parametrize("seed", range(2))
def test_with_cosines_it_equals_hartigans_k_means_on_unit_vectors(seed):
    """The same start and order give the same partition."""
    random = np.random.default_rng(seed)
    n, k = int(random.integers(12, 50)), int(random.integers(2, 7))
    rows = unit(random.standard_normal((n, 6)))
    start = random.permutation(n) % k
    ours = _reassigned(rows @ rows.T, start.copy(), k, np.random.default_rng(seed))
    np.testing.assert_array_equal(ours, hartigan(rows, start, k, np.random.default_rng(seed)))


def test_starts_are_far_apart():
    rows, truth = bundles(np.random.default_rng(5), noise=0.02)
    s = rows @ rows.T
    for seed in range(20):
        labels = far_apart(s, 4, np.random.default_rng(seed))
        assert clustering_agreement(truth, labels).ari == 1  # one start in each bundle
    rough = unit(np.random.default_rng(6).standard_normal((30, 4)))
    for seed in range(20):
        assert set(far_apart(rough @ rough.T, 9, np.random.default_rng(seed))) == set(range(9))
    for alike in (np.ones((7, 7)), np.zeros((7, 7))):  # all distances are equal, yet no cluster is empty
        assert set(far_apart(alike, 7, np.random.default_rng(0))) == set(range(7))


@pytest.mark.parametrize("temperature", [0.02, 0.3])
def test_memberships_are_the_fixed_point(temperature):
    rows, _ = bundles(np.random.default_rng(2), noise=0.5)
    s = rows @ rows.T
    p = memberships(s, 4, temperature=temperature, random=np.random.default_rng(0))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    share = p.mean(axis=0)
    wanted = np.empty_like(p)
    for c in range(4):
        inside = p[:, c] / p[:, c].sum()
        wanted[:, c] = share[c] * np.exp((2 * s @ inside - inside @ s @ inside) / temperature)
    np.testing.assert_allclose(p, wanted / wanted.sum(axis=1, keepdims=True), atol=1e-6)


def test_a_high_temperature_merges_the_clusters():
    rows, _ = bundles(np.random.default_rng(3))
    s = rows @ rows.T
    told = [
        information(memberships(s, 4, temperature=heat, random=np.random.default_rng(0))) for heat in (0.01, 0.3, 5)
    ]
    assert told[0] == pytest.approx(np.log(4), abs=0.01)
    assert told[0] > told[1] > told[2]
    assert told[2] == pytest.approx(0, abs=1e-6)
    assert len(set(iclust(s, 4, temperature=5.0, seed=0, restarts=1))) == 1


def test_extremes_seeds_and_restarts():
    assert sorted(iclust(np.eye(5), 5, seed=0, restarts=1)) == list(range(5))
    assert set(iclust(np.ones((6, 6)), 2, seed=0, restarts=2)) == {0, 1}
    assert iclust(np.ones((6, 6)), 2, temperature=0.1, seed=0, restarts=1).shape == (6,)
    rows = unit(np.random.default_rng(4).standard_normal((60, 6)))
    similarity = rows @ rows.T
    once = iclust(similarity, 8, seed=1, restarts=1)
    np.testing.assert_array_equal(once, iclust(similarity, 8, seed=1, restarts=1))
    assert (once != iclust(similarity, 8, seed=2, restarts=1)).any()
    assert objective(similarity, iclust(similarity, 8, seed=1, restarts=20).tolist()) > objective(
        similarity, once.tolist()
    )
