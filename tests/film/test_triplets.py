"""Clusters and triplets of any corpus, and TF-IDF rows against a worked example."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from labkit.corpora import Groups, Labelled, Pairs, Triplets
from labkit.film.triplets import Clusters, Recipe, cluster_triplets, fitted_vectorizer, source_of, terms


def test_components_of_pairs() -> None:
    pairs = np.array([(0, 1), (1, 2), (3, 4), (0, 2), (2, 3), (5, 0)])
    found = Clusters.from_pairs(pairs, np.array([True, True, True, False, False, False]), 7)
    assert found.of[0] == found.of[1] == found.of[2] != found.of[3] == found.of[4]
    assert len(set(found.of)) == 4
    assert found.apart.tolist() == [[2, 3], [5, 0]]


@pytest.fixture
def clusters(random) -> Clusters:
    of = random.integers(12, size=60)
    apart = random.integers(60, size=(40, 2))
    return Clusters(of, apart[of[apart[:, 0]] != of[apart[:, 1]]])


def test_triplets_respect_clusters_and_the_requested_numbers(clusters) -> None:
    i, j, k = cluster_triplets(clusters, Recipe(3, 2, 0, 4)).T
    assert (clusters.of[i] == clusters.of[j]).all()
    assert (clusters.of[i] != clusters.of[k]).all()
    assert (i != j).all()
    triplets = cluster_triplets(clusters, Recipe(positives=3, apart=0, random=4))
    size = np.bincount(clusters.of)
    for i in range(60):
        own = triplets[triplets[:, 0] == i]
        mates = min(3, size[clusters.of[i]] - 1)
        assert len(set(own[:, 1])) == mates
        assert len(own) == 4 * mates


def test_labelled_negatives_of_a_cluster_are_used_once(clusters) -> None:
    triplets = cluster_triplets(clusters, Recipe(positives=1, apart=100, random=0))
    told: dict[int, set[int]] = {}
    for a, b in clusters.apart:
        told.setdefault(clusters.of[a], set()).add(b)
        told.setdefault(clusters.of[b], set()).add(a)
    for i in np.flatnonzero(np.bincount(clusters.of)[clusters.of] > 1):
        own = Counter(triplets[triplets[:, 0] == i][:, 2].tolist())
        assert set(own) == told.get(clusters.of[i], set())
        assert set(own.values()) <= {1}


def test_near_negatives_are_the_first_of_another_cluster() -> None:
    clusters = Clusters.from_classes(np.array([0, 0, 1, 1, 2]))
    neighbours = np.array([[1, 3, 2], [0, 4, 2], [3, 0, 1], [2, 4, 0], [0, 1, 2]])
    triplets = cluster_triplets(clusters, Recipe(positives=1, apart=0, near=1, random=0), neighbours=neighbours)
    assert triplets.tolist() == [[0, 1, 3], [1, 0, 4], [2, 3, 0], [3, 2, 4]]


# --- texts to rows -----------------------------------------------------------------------------------------------


def test_worked_example_of_words_and_weights() -> None:
    vectorizer = fitted_vectorizer(["red red car", "red dog"])
    row = vectorizer.transform(["red red car ship"]).toarray()[0]
    idf = {"car": np.log(3 / 2) + 1, "dog": np.log(3 / 2) + 1, "red": np.log(3 / 3) + 1}
    wanted = np.array([idf["car"], 0, (1 + np.log(2)) * idf["red"]])
    assert vectorizer.get_feature_names_out().tolist() == ["car", "dog", "red"]
    assert row == pytest.approx(wanted / np.linalg.norm(wanted))
    assert terms("What's  the well-known SONG?") == terms("what 's the well - known song ?")


# --- a corpus to clusters or triplets ----------------------------------------------------------------------------


def together(source) -> set[frozenset[str]]:
    clusters = source.clusters.of
    return {frozenset(source.texts[row] for row in np.flatnonzero(clusters == c)) for c in np.unique(clusters)}


def test_pairs_connect_and_separate() -> None:
    corpus = Pairs(text_a=["a x", "b x", "c x", "A  X!"], text_b=["b x", "c x", "d x", "c x"], values=[1, 1, 0, 0])
    source = source_of(corpus)
    assert source.texts == ["a x", "b x", "c x", "d x"]  # "A  X!" has the words of "a x"
    assert together(source) == {frozenset({"a x", "b x", "c x"}), frozenset({"d x"})}
    assert [source.texts[i] for i in source.clusters.apart[0]] == ["c x", "d x"]


def test_grades_are_near_from_80_percent_and_far_up_to_40_percent() -> None:
    corpus = Pairs(text_a=list("abcd"), text_b=list("efgh"), values=[5.0, 4.0, 3.0, 2.0], graded=True)
    source = source_of(corpus)
    assert {frozenset("ae"), frozenset("bf"), frozenset("c"), frozenset("g")} <= together(source)
    assert [source.texts[i] for i in source.clusters.apart[0]] == ["d", "h"]
    assert len(source.clusters.apart) == 1


def test_classes_and_groups() -> None:
    labelled = source_of(Labelled(texts=["a", "b", "c", "A"], labels=["x", "x", "y", "y"]))
    assert together(labelled) == {frozenset("ab"), frozenset("c")}
    groups = source_of(Groups(texts=["a", "b", "c", "a"], groups=["2", "1", "1", "2"]))
    assert together(groups) == {frozenset("a"), frozenset("bc")}


def test_triplets_stay_unchanged() -> None:
    corpus = Triplets(anchors=["a", "b", "a"], positives=["b", "b", "c"], negatives=["c", "c", "b"])
    source = source_of(corpus)
    found = [tuple(source.texts[i] for i in row) for row in source.triplets(Recipe())]
    assert found == [("a", "b", "c"), ("a", "c", "b")]  # b is not closer to itself
    with pytest.raises(ValueError, match="triplet"):
        source_of(Triplets(anchors=["a"], positives=["a"], negatives=["b"]))
