"""Points for a picture: which class each shape implies, by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Triplets
from labkit.corpora.relations import class_order, counted, points

CASES: list[tuple[Corpus, dict[str, str]]] = [
    (Labelled(["a", "b", "c"], ["x", "y", "x"]), {"a": "x", "c": "x", "b": "y"}),
    (Groups(["a", "b", "c"], ["1", "2", "2"]), {"b": "2", "c": "2", "a": "1"}),
    # a-b and b-ccc are the same question, d-e another; f is in a negative pair only and belongs nowhere
    (
        Pairs(["a", "b", "d", "a"], ["b", "ccc", "e", "f"], [1, 1, 1, 0]),
        {"a": "a", "b": "a", "ccc": "a", "d": "d", "e": "d"},
    ),
    (
        Pairs(["a", "b", "c", "d", "e"], ["f", "g", "h", "i", "j"], [5, 1, 2, 0, 3], graded=True),
        {"a": "a", "f": "a"},
    ),
    (Triplets(["a", "b"], ["b", "c"], ["d", "e"]), {"a": "a", "b": "a", "c": "a"}),
    (
        Articles([Article("T", (Section("S", ("One is here. Two.", "Three.")),))], splits=["train"]),
        {"One is here.": "T", "Three.": "T"},
    ),
]


@pytest.mark.parametrize(("corpus", "expected"), CASES, ids=lambda case: type(case).__name__)
def test_classes_of_each_shape(corpus: Corpus, expected: dict[str, str]) -> None:
    found = points(corpus)
    assert dict(zip(found.texts, found.labels, strict=True)) == expected


def test_largest_classes_first_and_thinned() -> None:
    corpus = Labelled([str(i) for i in range(100)], ["big"] * 60 + ["mid"] * 30 + ["small"] * 10)
    found = points(corpus, classes=2, most=45)
    assert list(dict.fromkeys(found.labels)) == ["big", "mid"]
    assert (found.labels.count("big"), found.labels.count("mid")) == (30, 15)  # neither fits whole: the same share
    assert found.texts != points(corpus, classes=2, most=45, seed=1).texts
    assert found.texts == points(corpus, classes=2, most=45).texts
    with pytest.raises(ValueError, match="classes is 0"):
        points(corpus, classes=0)


@pytest.mark.parametrize("seed", range(5))
def test_many_small_classes_are_left_out_whole(seed: int) -> None:
    """Every fifth sentence of groups of five would be groups of one: nothing to be near to."""
    corpus = Groups([f"sentence {i}" for i in range(5_000)], [f"group {i // 5}" for i in range(5_000)])
    found = points(corpus, classes=len(corpus), most=1_000, seed=seed)
    assert set(Counter(found.labels).values()) == {5}
    assert len(found) == 1_000
    assert counted(corpus) == (5_000, 1_000)


@pytest.mark.parametrize("most", [20, 100, 300, 1_000])
@pytest.mark.parametrize("classes", [3, 10, 40])
def test_classes_that_come_in_turn_are_all_shown(classes: int, most: int) -> None:
    """Every tenth row of a file with ten classes in turn would be one class."""
    corpus = Labelled([f"sentence {i}" for i in range(20_000)], [f"class {i % classes}" for i in range(20_000)])
    found = Counter(points(corpus, classes=len(corpus), most=most).labels)
    assert len(found) == min(classes, 20, most // 2)
    assert 0.9 * most <= sum(found.values()) <= most
    assert max(found.values()) - min(found.values()) <= 1


def test_one_large_class_leaves_room_for_the_small_ones() -> None:
    labels = ["large"] * 900 + [f"small {i}" for i in range(4) for _ in range(3)]
    found = Counter(points(Labelled([str(i) for i in range(912)], labels), classes=99, most=100).labels)
    assert sum(found.values()) <= 100
    assert found["large"] > 80
    assert {found[f"small {i}"] for i in range(4)} == {2}


def test_classes_are_in_one_order_those_of_the_test_split_first() -> None:
    splits = ["train", "train", "train", "test", "test", "test", "dev"]
    corpus = Labelled([str(i) for i in range(7)], list("aaabccd"), splits=splits)
    assert class_order(corpus) == ("c", "b", "a", "d")
