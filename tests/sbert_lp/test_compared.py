"""Which sentences are compared, and what the judge of each shape of corpus says of vectors made for it."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Articles, Groups, Labelled, Pairs, Triplets, load
from labkit.corpora.table import EMBEDDED
from labkit.evaluation import spearman_error
from labkit.sbert_lp.sweeps import compared


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_corpus_gives_at_most_so_many_sentences_of_the_split(name: str) -> None:
    corpus = load(name)
    told = compared(corpus, split="dev", most=90)
    assert 60 <= len(told.sentences) <= 90
    assert len(set(told.sentences)) == len(told.sentences)
    texts = [getattr(told.rows, field) for field in told.rows.TEXTS]
    for column, places in zip(texts, told.places.T.tolist(), strict=True):
        assert [told.sentences[place] for place in places] == list(column)
    if not isinstance(corpus, Articles):
        assert set(told.sentences) <= set(corpus.part("dev").sentences())
    random = np.random.default_rng(0).standard_normal((len(told.sentences), 5))
    assert -1 <= told.judge()(random) <= 1


def test_pairs_are_judged_by_the_order_of_their_cosines() -> None:
    told = compared(Pairs(["a", "c", "e"], ["b", "d", "f"], [5, 3, 1], graded=True), split="train")
    angles = {"a": 0, "b": 0.1, "c": 0, "d": 0.5, "e": 0, "f": 1.2}
    rows = np.array([[np.cos(angles[text]), np.sin(angles[text])] for text in told.sentences])
    assert told.judge()(rows) == pytest.approx(1)
    assert told.judge()(rows[::-1]) == pytest.approx(-1)
    assert told.noise(0.6) == spearman_error(0.6, 3)
    assert told.measure == "Spearman of cosine and grade"


def test_classes_are_judged_by_the_nearest_and_triplets_by_their_order() -> None:
    told = compared(Labelled(["a", "b", "c", "d"], ["x", "x", "y", "y"]), split="train")
    apart = np.array([[1, 0], [1, 0.1], [0, 1], [0.1, 1]])
    assert told.judge()(apart) == 1
    assert told.judge()(apart[[0, 2, 1, 3]]) == 0
    three = compared(Triplets(["a", "b"], ["b", "a"], ["c", "c"]), split="train")
    assert three.sentences == ["a", "b", "c"]
    assert three.judge()(np.array([[1, 0], [1, 0.1], [0, 1]])) == 1
    assert three.judge()(np.array([[1, 0], [0, 1], [0.5, 1]])) == 0
    assert three.noise(0.5) == pytest.approx(0.5 / np.sqrt(2))


def test_a_group_stays_whole() -> None:
    groups = Groups([f"s{row}" for row in range(12)], [str(row // 4) for row in range(12)])
    told = compared(groups, split="train", most=9)
    assert isinstance(told.rows, Groups)
    assert told.rows.groups == ("0",) * 4 + ("1",) * 4
    assert len(compared(groups, split="train", most=4).sentences) == 4


def test_rows_of_unknown_sentences_are_left_out() -> None:
    told = compared(Pairs(["a", "c"], ["b", "d"], [1, 0]), split="train")
    rows = np.eye(4)
    rows[told.sentences.index("c")] = 0
    left, vectors = told.known(rows)
    assert left.sentences == ["a", "b"]
    np.testing.assert_array_equal(vectors, rows[[told.sentences.index("a"), told.sentences.index("b")]])
    same, all_of_them = told.known(np.eye(4))
    assert same is told
    assert len(all_of_them) == 4
    with pytest.raises(ValueError, match="zeros in every row of split 'train'"):
        told.known(np.zeros((4, 2)))


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="most is 3"):
        compared(load("topics"), most=3)
    with pytest.raises(ValueError, match="split is 'best'"):
        compared(load("topics"), split="best")
