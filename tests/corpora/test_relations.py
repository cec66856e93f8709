"""Connected pairs against plain merging, classes of every shape for plots, article triplets, training sentences."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Triplets
from labkit.corpora.relations import (
    class_order,
    classes_by_sentence,
    components,
    counted,
    opened,
    opening_triplets,
    points,
    train_sentences,
)
from labkit.sentpwnet.batches import near_and_far


def test_graded_pairs_are_positive_in_plots_as_in_training() -> None:
    grades = [5.0, 4.0, 3.9, 3.8, 3.7, 3.6, 2.0, 0.0]  # 80 % of the top grade is 4
    pairs = Pairs([f"a{n}" for n in range(8)], [f"b{n}" for n in range(8)], grades, graded=True, splits="train")
    trained = near_and_far(pairs)
    labelled = zip(trained.text_a, trained.text_b, trained.values, strict=True)
    same = {text for a, b, label in labelled if label for text in (a, b)}
    assert same == set(classes_by_sentence(pairs)) == {"a0", "b0", "a1", "b1"}


def test_a_paragraph_without_a_sentence_has_no_class() -> None:
    article = Article("Tea", (Section("Leaves", ("Green tea is not oxidised.", " ")),))
    assert classes_by_sentence(Articles([article])) == {"Green tea is not oxidised.": "Tea"}


def test_components_equal_plain_merging() -> None:
    # a-b and b-c are positive, so a and c are connected; d is only in a negative pair
    texts, component = components(Pairs(["a", "b", "a"], ["b", "c", "d"], [1, 1, 0]))
    assert texts == ["a", "b", "c", "d"]
    assert component[0] == component[1] == component[2] != component[3]
    none = components(Pairs(["a", "b"], ["c", "d"], [0, 0]))[1]
    assert len(set(none.tolist())) == 4
    random = np.random.default_rng(0)
    a, b = random.integers(0, 40, 60), random.integers(40, 80, 60)
    values = random.integers(0, 2, 60)
    texts, component = components(Pairs([f"s{i}" for i in a], [f"s{i}" for i in b], values.tolist()))
    merged = {text: {text} for text in texts}
    for i, j, value in zip(a, b, values, strict=True):
        if value:
            both = merged[f"s{i}"] | merged[f"s{j}"]
            for text in both:
                merged[text] = both
    for row, text in enumerate(texts):
        assert {texts[other] for other in np.flatnonzero(component == component[row])} == merged[text]


# --- points ----------------------------------------------------------------------------------------------------------


CASES: list[tuple[Corpus, dict[str, str]]] = [
    (Labelled(["a", "b", "c"], ["x", "y", "x"]), {"a": "x", "c": "x", "b": "y"}),
    (Groups(["a", "b", "c"], ["1", "2", "2"]), {"b": "2", "c": "2", "a": "1"}),
    # a-b and b-ccc form one class, d-e another; f is only in a negative pair and has no class
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
    assert (found.labels.count("big"), found.labels.count("mid")) == (30, 15)  # neither fits whole, so both are halved
    assert found.texts != points(corpus, classes=2, most=45, seed=1).texts
    assert found.texts == points(corpus, classes=2, most=45).texts
    with pytest.raises(ValueError, match="classes"):
        points(corpus, classes=0)


def test_classes_are_dropped_whole_or_keep_several_sentences() -> None:
    """Taking every fifth sentence would leave one sentence per group of five."""
    corpus = Groups([f"sentence {i}" for i in range(500)], [f"group {i // 5}" for i in range(500)])
    found = points(corpus, classes=len(corpus), most=100)
    assert set(Counter(found.labels).values()) == {5}
    assert len(found) == 100
    assert counted(corpus) == (500, 100)
    # one large class leaves room for the small ones
    labels = ["large"] * 900 + [f"small {i}" for i in range(4) for _ in range(3)]
    found = Counter(points(Labelled([str(i) for i in range(912)], labels), classes=99, most=100).labels)
    assert sum(found.values()) <= 100
    assert found["large"] > 80
    assert {found[f"small {i}"] for i in range(4)} == {2}


@pytest.mark.parametrize(("classes", "most"), [(10, 20), (40, 300)])
def test_alternating_classes_are_all_shown(classes: int, most: int) -> None:
    """Taking every tenth row would leave one of ten alternating classes."""
    corpus = Labelled([f"sentence {i}" for i in range(2_000)], [f"class {i % classes}" for i in range(2_000)])
    found = Counter(points(corpus, classes=len(corpus), most=most).labels)
    assert len(found) == min(classes, 20, most // 2)
    assert 0.9 * most <= sum(found.values()) <= most
    assert max(found.values()) - min(found.values()) <= 1


def test_class_order_starts_with_the_test_split() -> None:
    splits = ["train", "train", "train", "test", "test", "test", "dev"]
    corpus = Labelled([str(i) for i in range(7)], list("aaabccd"), splits=splits)
    assert class_order(corpus) == ("c", "b", "a", "d")


# --- sentences -------------------------------------------------------------------------------------------------------


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


def test_triplets_of_an_article() -> None:
    found = [tuple(text[:2] for text in triplet) for triplet in opening_triplets(ARTICLE)]
    assert found == [("a1", "a2", "b1"), ("a2", "a3", "b1"), ("c1", "c2", "b1")]
    assert opening_triplets(SHORT) == []
    triplets = opened(Articles([ARTICLE, SHORT], name="mine"))
    assert triplets.name == "mine"
    assert [*zip(triplets.anchors, triplets.positives, triplets.negatives, strict=True)] == opening_triplets(ARTICLE)
    with pytest.raises(ValueError, match="mine"):
        opened(Articles([SHORT], name="mine"))


def test_training_sentences_are_unique_and_only_from_train() -> None:
    splits = ["train", "train", "test"]
    assert train_sentences(Groups(["b", "a", "c"], ["x", "y", "y"], splits=splits)) == ["b", "a"]
    assert train_sentences(Pairs(["b", "a", "c"], ["d", "b", "e"], [0, 1, 1], splits=splits)) == ["b", "d", "a"]
    cut = train_sentences(Articles([ARTICLE, SHORT], splits=["train", "test"]))
    assert cut[:3] == ["The lead is not a section with a title.", "a1 goes on for five words.", "And then more."]
    assert len(cut) == 1 + 6 + 6
