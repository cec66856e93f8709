"""Triplets from clusters: every one keeps to its cluster, and what is asked for is there."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from labkit.film.triplets import Clusters, Recipe, cluster_triplets


def test_components_by_hand() -> None:
    pairs = np.array([(0, 1), (1, 2), (3, 4), (0, 2), (2, 3), (5, 0)])
    found = Clusters.from_pairs(pairs, np.array([True, True, True, False, False, False]), 7)
    assert found.of[0] == found.of[1] == found.of[2] != found.of[3] == found.of[4]
    assert len(set(found.of)) == 4
    assert found.contradictions.tolist() == [[0, 2]]
    assert found.apart.tolist() == [[2, 3], [5, 0]]


@pytest.fixture
def clusters(random) -> Clusters:
    of = random.integers(12, size=60)
    apart = random.integers(60, size=(40, 2))
    return Clusters(of, apart[of[apart[:, 0]] != of[apart[:, 1]]], np.zeros((0, 2), int))


def test_positives_are_of_the_cluster_and_negatives_are_not(clusters) -> None:
    i, j, k = cluster_triplets(clusters, Recipe(3, 2, 0, 4)).T
    assert (clusters.of[i] == clusters.of[j]).all()
    assert (clusters.of[i] != clusters.of[k]).all()
    assert (i != j).all()


def test_as_many_as_asked_where_there_are_so_many(clusters) -> None:
    triplets = cluster_triplets(clusters, Recipe(positives=3, apart=0, random=0 + 4))
    size = np.bincount(clusters.of)
    for i in range(60):
        own = triplets[triplets[:, 0] == i]
        mates = min(3, size[clusters.of[i]] - 1)
        assert len(set(own[:, 1])) == mates
        assert len(own) == 4 * mates


def test_what_was_told_apart_from_the_cluster_comes_without_repetition(clusters) -> None:
    triplets = cluster_triplets(clusters, Recipe(positives=1, apart=100, random=0))
    told: dict[int, set[int]] = {}
    for a, b in clusters.apart:
        told.setdefault(clusters.of[a], set()).add(b)
        told.setdefault(clusters.of[b], set()).add(a)
    for i in np.flatnonzero(np.bincount(clusters.of)[clusters.of] > 1):
        own = Counter(triplets[triplets[:, 0] == i][:, 2].tolist())
        assert set(own) == told.get(clusters.of[i], set())
        assert set(own.values()) <= {1}


def test_near_ones_are_the_first_of_another_cluster() -> None:
    clusters = Clusters.from_classes(np.array([0, 0, 1, 1, 2]))
    neighbours = np.array([[1, 3, 2], [0, 4, 2], [3, 0, 1], [2, 4, 0], [0, 1, 2]])
    triplets = cluster_triplets(clusters, Recipe(positives=1, apart=0, near=1, random=0), neighbours=neighbours)
    assert triplets.tolist() == [[0, 1, 3], [1, 0, 4], [2, 3, 0], [3, 2, 4]]


def test_the_seed_decides(clusters) -> None:
    first, again, other = (cluster_triplets(clusters, seed=seed) for seed in (0, 0, 1))
    assert (first == again).all()
    assert first.shape != other.shape or (first != other).any()


@pytest.mark.parametrize(
    ("classes", "recipe", "message"),
    [
        ([0, 0, 0], Recipe(), "all 3 sentences mean the same"),
        ([0, 1, 2], Recipe(), "no two of 3 sentences mean the same"),
        ([0, 0, 1], Recipe(apart=0, random=0), "no sentence is left to be the further one of a triplet"),
    ],
)
def test_no_triplets_are_said(classes, recipe, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cluster_triplets(Clusters.from_classes(np.array(classes)), recipe)


@pytest.mark.parametrize(("name", "value", "least"), [("positives", 0, 1), ("apart", -1, 0), ("random", 0.5, 0)])
def test_a_recipe_that_makes_no_sense(name: str, value: float, least: int) -> None:
    with pytest.raises(ValueError, match=f"{name} is {value}, expected a whole number from {least}"):
        Recipe(**{name: value})
