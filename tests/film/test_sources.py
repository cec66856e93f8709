"""What each shape of corpus tells: who belongs together, who does not, and which labels contradict."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Groups, Labelled, Pairs, Triplets
from labkit.film.triplets import Recipe, source_of


def together(source) -> set[frozenset[str]]:
    clusters = source.clusters.of
    return {frozenset(source.texts[row] for row in np.flatnonzero(clusters == c)) for c in np.unique(clusters)}


def test_pairs_tie_and_part() -> None:
    corpus = Pairs(text_a=["a x", "b x", "c x", "A  X!"], text_b=["b x", "c x", "d x", "c x"], values=[1, 1, 0, 0])
    source = source_of(corpus)
    assert source.texts == ["a x", "b x", "c x", "d x"]  # "A  X!" has the words of "a x"
    assert together(source) == {frozenset({"a x", "b x", "c x"}), frozenset({"d x"})}
    assert source.contradictions == (("a x", "c x"),)
    assert [source.texts[i] for i in source.clusters.apart[0]] == ["c x", "d x"]


def test_grades_are_near_from_four_fifths_and_far_up_to_two() -> None:
    corpus = Pairs(text_a=list("abcd"), text_b=list("efgh"), values=[5.0, 4.0, 3.0, 2.0], graded=True)
    source = source_of(corpus)
    assert {frozenset("ae"), frozenset("bf"), frozenset("c"), frozenset("g")} <= together(source)
    assert [source.texts[i] for i in source.clusters.apart[0]] == ["d", "h"]
    assert len(source.clusters.apart) == 1


def test_classes_and_groups() -> None:
    labelled = source_of(Labelled(texts=["a", "b", "c", "A"], labels=["x", "x", "y", "y"]))
    assert together(labelled) == {frozenset("ab"), frozenset("c")}
    assert labelled.contradictions == (("A", "a"),)
    groups = source_of(Groups(texts=["a", "b", "c", "a"], groups=["2", "1", "1", "2"]))
    assert together(groups) == {frozenset("a"), frozenset("bc")}
    assert groups.contradictions == ()


def test_triplets_stay_as_they_are() -> None:
    corpus = Triplets(anchors=["a", "b", "a"], positives=["b", "b", "c"], negatives=["c", "c", "b"])
    source = source_of(corpus)
    found = [tuple(source.texts[i] for i in row) for row in source.triplets(Recipe())]
    assert found == [("a", "b", "c"), ("a", "c", "b")]  # b is not closer to itself
    with pytest.raises(ValueError, match="no triplet of three different"):
        source_of(Triplets(anchors=["a"], positives=["a"], negatives=["b"]))
