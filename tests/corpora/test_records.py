"""The six shapes of a corpus: their common contract, labels and scores, bad records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Section, Sentences, Triplets
from labkit.corpora.records import SPLITS, hashed_split

ARTICLE = Article("Rivers", (Section("Course", ("It begins in the hills. It ends in a lake.", "It is long.")),))
SPLIT = ("train", "dev", "test", "train")
EXAMPLES: dict[str, Corpus] = {
    "labelled": Labelled(["a b", "c", "d", "e"], ["x", "y", "x", "y"], splits=SPLIT, extra={"town": [1, 2, 3, 4]}),
    "pairs": Pairs(["a", "b", "c", "a"], ["d", "e", "f", "g"], [1, 0, 1, 0], splits=SPLIT),
    "graded": Pairs(["a", "b", "c", "a"], ["d", "e", "f", "g"], [0.5, 5, 3, 2], graded=True, splits=SPLIT),
    "triplets": Triplets(["a", "b", "c", "d"], ["e", "f", "g", "h"], ["i", "j", "k", "l"], splits=SPLIT),
    "groups": Groups(["a", "b", "c", "d"], ["1", "1", "2", "1"], splits=SPLIT),
    "sentences": Sentences(["a b", "c", "d", "e"], splits=SPLIT, extra={"town": [1, 2, 3, 4]}),
    "articles": Articles([ARTICLE, Article("B", ()), Article("C", ()), Article("D", ())], splits=SPLIT),
}


@pytest.mark.parametrize("corpus", EXAMPLES.values(), ids=EXAMPLES)
class TestEveryShape:
    def test_parts_add_up_to_the_corpus(self, corpus: Corpus) -> None:
        parts = [corpus.part(split) for split in SPLITS]
        assert [len(part) for part in parts] == [2, 1, 1]
        assert corpus.sizes == {split: len(part) for split, part in zip(SPLITS, parts, strict=True)}
        rows = sorted(map(str, corpus.rows()))
        assert sorted(str(row) for part in parts for row in part.rows()) == rows
        assert all(type(part) is type(corpus) for part in parts)

    def test_take_keeps_order_and_columns(self, corpus: Corpus) -> None:
        rows = list(corpus.rows())
        assert list(corpus.take([2, 0]).rows()) == [rows[2], rows[0]]

    def test_fingerprint_sees_every_change(self, corpus: Corpus) -> None:
        assert corpus.take(range(4)).fingerprint == corpus.fingerprint
        assert corpus.take([1, 0, 2, 3]).fingerprint != corpus.fingerprint
        assert corpus.take([0, 1, 2]).fingerprint != corpus.fingerprint


def test_row_numbers_follow_their_rows_and_are_only_for_messages() -> None:
    corpus = EXAMPLES["pairs"]
    numbered = replace(corpus, numbers=[2, 3, 5, "1 of b"])
    assert numbered.fingerprint == corpus.fingerprint
    assert repr(numbered) == repr(corpus)
    assert numbered.take([3, 1]).numbers == ("1 of b", 3)
    assert [corpus.number_of(2), numbered.number_of(2)] == [3, 5]
    assert replace(numbered, numbers=[2, 3]).numbers == ()  # of other rows


def test_unknown_split_is_refused() -> None:
    with pytest.raises(ValueError, match="tset"):
        EXAMPLES["pairs"].part("tset")
    with pytest.raises(ValueError, match="dev"):
        EXAMPLES["pairs"].take([0, 3]).part("dev")


def test_sentences_in_order_of_appearance() -> None:
    assert EXAMPLES["pairs"].sentences() == ["a", "d", "b", "e", "c", "f", "g"]
    assert EXAMPLES["articles"].sentences() == ["It begins in the hills. It ends in a lake.", "It is long."]


def test_labels_and_scores() -> None:
    pairs, graded = EXAMPLES["pairs"], EXAMPLES["graded"]
    assert isinstance(pairs, Pairs)
    assert isinstance(graded, Pairs)
    assert pairs.labels.tolist() == [1, 0, 1, 0]
    assert graded.scores.tolist() == [0.5, 5.0, 3.0, 2.0]
    with pytest.raises(ValueError, match="scores"):
        _ = graded.labels
    assert list(next(pairs.rows()).items()) == [("text_a", "a"), ("text_b", "d"), ("label", 1), ("split", "train")]
    assert next(graded.rows())["score"] == 0.5


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Labelled([], []), "no rows"),
        (lambda: Labelled(["a", "b"], ["x"]), "labels has 1"),
        (lambda: Labelled(["a", "b"], ["x", "y"], splits=["train"]), "splits has 1"),
        (lambda: Labelled(["a"], ["x"], extra={"town": [1, 2]}), "town has 2"),
        (lambda: Labelled(["a", " "], ["x", "y"]), "text of row 2"),
        (lambda: Labelled(["a"], ["x"], splits=["val"]), "split of row 1"),
        (lambda: Pairs(["a"], ["b"], [float("nan")], graded=True), "row 1 is nan"),
        (lambda: Pairs(["a"], ["b"], [0.5]), "label of row 1"),
        (lambda: Article(" ", ()), "title"),
    ],
)
def test_bad_records_are_refused(make: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def test_hashed_split_is_stable() -> None:
    assert [hashed_split(title) for title in ("Rivers", "Zürich", "東京")] == ["test", "train", "train"]
