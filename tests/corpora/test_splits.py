"""Splits for files without one: in shares, stable, and without leaks."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict

import pytest

from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Triplets
from labkit.corpora.splits import divided


def many(count: int) -> list[Corpus]:
    texts = [f"text {i}" for i in range(count)]
    return [
        Labelled(texts, [str(i % 5) for i in range(count)]),
        Groups(texts, [str(i // 4) for i in range(count)]),
        Pairs(texts, [f"other {i // 3}" for i in range(count)], [i % 2 for i in range(count)]),
        Triplets(texts, [f"p {i // 2}" for i in range(count)], [f"n {i}" for i in range(count)]),
        Articles([Article(text, ()) for text in texts]),
    ]


@pytest.mark.parametrize("corpus", many(1000), ids=lambda corpus: type(corpus).__name__)
def test_shares_and_independence_of_order(corpus: Corpus) -> None:
    counts = Counter(divided(corpus).splits)
    assert abs(counts["dev"] - 100) < 30
    assert abs(counts["test"] - 100) < 30
    backwards = divided(corpus.take(range(999, -1, -1)))
    assert backwards.splits[::-1] == divided(corpus).splits


def test_the_first_by_hash_are_test_and_the_next_dev() -> None:
    """Which rows are reported is a promise: dev and test exchanged, what a reader chose by would be what is told."""
    texts = [f"text {i}" for i in range(40)]
    order = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())
    split_of = dict(zip(texts, divided(Labelled(texts, ["one"] * 40)).splits, strict=True))
    assert [split_of[text] for text in order] == ["test"] * 4 + ["dev"] * 4 + ["train"] * 32


def test_every_class_is_in_every_split() -> None:
    corpus = many(200)[0]
    assert isinstance(corpus, Labelled)
    where = defaultdict(set)
    for label, split in zip(corpus.labels, divided(corpus).splits, strict=True):
        where[label].add(split)
    assert set(map(len, where.values())) == {3}


@pytest.mark.parametrize("corpus", many(900)[1:4], ids=lambda corpus: type(corpus).__name__)
def test_no_sentence_or_group_in_two_splits(corpus: Corpus) -> None:
    made = divided(corpus)
    where = defaultdict(set)
    for row in made.rows():
        for column in ("group",) if isinstance(corpus, Groups) else tuple(corpus.COLUMNS[c] for c in corpus.TEXTS):
            where[row[column]].add(row["split"])
    assert set(map(len, where.values())) == {1}


def test_one_lump_of_pairs_falls_apart_by_its_positives() -> None:
    # every row shares its second sentence's cluster with the next through a negative pair
    names = [f"q{i}" for i in range(301)]
    chain = Pairs([*names[:300], *names[:300]], [*[f"{n}?" for n in names[:300]], *names[1:]], [1] * 300 + [0] * 300)
    made = divided(chain)
    counts = Counter(made.splits)
    assert min(counts["dev"], counts["test"]) > 30
    positive = {a: split for a, value, split in zip(made.text_a, made.values, made.splits, strict=True) if value}
    negative = [(a, split) for a, value, split in zip(made.text_a, made.values, made.splits, strict=True) if not value]
    assert all(positive[a] == split for a, split in negative)


class Counted(str):
    """A text that counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)


def test_a_file_where_every_row_is_a_class_is_not_gone_through_for_each() -> None:
    texts = [f"text {row}" for row in range(300)]
    Counted.compared = 0
    assert len(divided(Labelled(texts, [Counted(row) for row in range(300)]))) == 300
    assert Counted.compared < 3_000  # for each class all rows: 90,000
