"""Iclust against every partition of a few points, its fixed point, and its kinship with k-means."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from labkit.evaluation import clustering_agreement, iclust
from labkit.evaluation.information_clustering import information, mean_similarity, memberships


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def objective(similarity, labels):
    """sum over clusters of S_C / |C|, in plain loops."""
    total = 0.0
    for cluster in set(labels):
        members = [i for i, label in enumerate(labels) if label == cluster]
        total += sum(similarity[i, j] for i in members for j in members) / len(members)
    return total


def bundles(random, classes=4, members=15, noise=0.15):
    truth = np.repeat(np.arange(classes), members)
    return unit(np.eye(classes, 8)[truth] + noise * random.standard_normal((len(truth), 8))), truth


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_best_of_all_partitions(seed, k):
    random = np.random.default_rng(seed)
    noise = random.standard_normal((8, 8))
    similarity = noise + noise.T  # any symmetric matrix, not only cosines
    best = max(objective(similarity, labels) for labels in product(range(k), repeat=8) if len(set(labels)) == k)
    found = iclust(similarity, k, seed=0, restarts=30)
    assert set(found) == set(range(k))
    assert objective(similarity, found.tolist()) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(5))
def test_no_single_move_betters_it(seed):
    rows = unit(np.random.default_rng(seed).standard_normal((30, 5)))
    similarity = rows @ rows.T
    labels = iclust(similarity, 4, seed=seed, restarts=1).tolist()
    reached = objective(similarity, labels)
    for i, other in product(range(30), range(4)):
        assert objective(similarity, [*labels[:i], other, *labels[i + 1 :]]) <= reached + 1e-9


def test_the_objective_is_that_of_k_means_up_to_a_constant():
    random = np.random.default_rng(0)
    rows = unit(random.standard_normal((40, 6)))
    for _ in range(5):
        labels = random.integers(0, 4, 40)
        inertia = sum(((rows[labels == c] - rows[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels))
        assert objective(rows @ rows.T, labels.tolist()) == pytest.approx(40 - inertia)
        assert 40 * mean_similarity(rows @ rows.T, np.eye(4)[labels]) == pytest.approx(40 - inertia)


@pytest.mark.parametrize("temperature", [0.0, 0.05, 0.2])
def test_finds_what_is_there(temperature):
    rows, truth = bundles(np.random.default_rng(1))
    found = iclust(rows @ rows.T, 4, temperature=temperature, seed=0, restarts=3)
    assert clustering_agreement(truth, found).ari == 1


@pytest.mark.parametrize("temperature", [0.02, 0.1, 0.3])
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


def test_heat_melts_the_clusters_together():
    rows, _ = bundles(np.random.default_rng(3))
    s = rows @ rows.T
    told = [
        information(memberships(s, 4, temperature=heat, random=np.random.default_rng(0))) for heat in (0.01, 0.3, 5)
    ]
    assert told[0] == pytest.approx(np.log(4), abs=0.01)
    assert told[0] > told[1] > told[2]
    assert told[2] == pytest.approx(0, abs=1e-6)
    assert len(set(iclust(s, 4, temperature=5.0, seed=0, restarts=1))) == 1


def test_seed_and_restarts():
    rows = unit(np.random.default_rng(4).standard_normal((60, 6)))
    similarity = rows @ rows.T
    once = iclust(similarity, 8, seed=1, restarts=1)
    np.testing.assert_array_equal(once, iclust(similarity, 8, seed=1, restarts=1))
    assert (once != iclust(similarity, 8, seed=2, restarts=1)).any()
    assert objective(similarity, iclust(similarity, 8, seed=1, restarts=20).tolist()) > objective(
        similarity, once.tolist()
    )


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_order_rotation_and_offset_do_not_change_the_clusters(seed):
    random = np.random.default_rng(seed)
    rows, _ = bundles(random, classes=3, members=6, noise=0.15)
    found, order = iclust(rows @ rows.T, 3, seed=0, restarts=4), random.permutation(18)
    turned = rows[order] @ ortho_group.rvs(8, random_state=seed)
    again = iclust(3 * turned @ turned.T + 0.5, 3, seed=0, restarts=4)
    assert clustering_agreement(found[order], again).ari == 1


def test_every_element_alone_and_all_alike():
    assert sorted(iclust(np.eye(5), 5, seed=0, restarts=1)) == list(range(5))
    assert set(iclust(np.ones((6, 6)), 2, seed=0, restarts=2)) == {0, 1}
    assert iclust(np.ones((6, 6)), 2, temperature=0.1, seed=0, restarts=1).shape == (6,)
