"""What of a corpus is single sentences: by hand, for every shape."""

from __future__ import annotations

import pytest

from labkit.corpora import Article, Articles, Groups, Labelled, Pairs, Section
from labkit.corpora.relations import opened, opening_triplets, train_sentences


def section(title: str, *openings: str) -> Section:
    return Section(title, [f"{opening} goes on for five words. And then more." for opening in openings])


ARTICLE = Article(
    "T",
    (
        Section("", ["The lead is not a section with a title."], level=1),
        section("A", "a1", "a2", "a3"),
        section("B", "b1"),
        section("C", "c1", "c2"),
    ),
)
SHORT = Article("S", (Section("A", ["Too short.", "Short too.", " "]), section("B", "b1", "b2")))


def test_triplets_of_an_article_by_hand() -> None:
    found = [tuple(text[:2] for text in triplet) for triplet in opening_triplets(ARTICLE)]
    assert found == [("a1", "a2", "b1"), ("a2", "a3", "b1"), ("c1", "c2", "b1")]
    assert opening_triplets(SHORT) == []


def test_articles_open_into_triplets() -> None:
    found = opened(Articles([ARTICLE, SHORT], name="mine"))
    assert found.name == "mine"
    assert [text[:2] for text in found.anchors] == ["a1", "a2", "c1"]
    assert [text[:2] for text in found.positives] == ["a2", "a3", "c2"]
    assert [text[:2] for text in found.negatives] == ["b1", "b1", "b1"]
    with pytest.raises(ValueError, match="corpus 'mine' makes no triplet: no article has two neighbouring sections"):
        opened(Articles([SHORT], name="mine"))


def test_training_sentences_are_those_of_the_training_split_once() -> None:
    splits = ["train", "train", "test"]
    assert train_sentences(Labelled(["a", "a", "c"], ["x", "y", "y"], splits=splits)) == ["a"]
    assert train_sentences(Groups(["b", "a", "c"], ["x", "y", "y"], splits=splits)) == ["b", "a"]
    assert train_sentences(Pairs(["b", "a", "c"], ["d", "b", "e"], [0, 1, 1], splits=splits)) == ["b", "d", "a"]
    cut = train_sentences(Articles([ARTICLE, SHORT], splits=["train", "test"]))
    assert cut[:3] == ["The lead is not a section with a title.", "a1 goes on for five words.", "And then more."]
    assert len(cut) == 1 + 6 + 6
