"""Points for a picture: which class each shape implies, by hand."""

from __future__ import annotations

import pytest

from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Triplets
from labkit.corpora.points import points

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
    assert len(found) == 45
    assert found.labels.count("big") == 30
    with pytest.raises(ValueError, match="classes is 0"):
        points(corpus, classes=0)
