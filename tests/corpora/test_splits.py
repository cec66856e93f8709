"""Automatic splits: correct shares, stable, without leaks; a share of the training rows."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labkit.corpora import Article, Articles, Corpus, Groups, Labelled, Pairs, Triplets, load


def many(count: int) -> list[Corpus]:
    texts = [f"text {i}" for i in range(count)]
    return [
        Labelled(texts, [str(i % 5) for i in range(count)]),
        Groups(texts, [str(i // 4) for i in range(count)]),
        Pairs(texts, [f"other {i // 3}" for i in range(count)], [i % 2 for i in range(count)]),
        Triplets(texts, [f"p {i // 2}" for i in range(count)], [f"n {i // 4}" for i in range(count)]),
        Articles([Article(text, ()) for text in texts]),
    ]


@pytest.mark.parametrize("corpus", many(1000), ids=lambda corpus: type(corpus).__name__)
def test_shares_and_independence_of_order(corpus: Corpus) -> None:
    counts = Counter(corpus.splits)
    assert abs(counts["dev"] - 100) < 30
    assert abs(counts["test"] - 100) < 30
    backwards = replace(corpus.take(range(999, -1, -1)), splits=())
    assert backwards.splits[::-1] == corpus.splits


def test_within_a_class_the_first_by_hash_are_test_then_dev() -> None:
    """If dev and test were swapped, users would report scores on rows that they had tuned on."""
    texts = [f"text {i}" for i in range(40)]
    order = sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())
    split_of = dict(zip(texts, Labelled(texts, ["one"] * 40).splits, strict=True))
    assert [split_of[text] for text in order] == ["test"] * 4 + ["dev"] * 4 + ["train"] * 32
    corpus: Any = many(200)[0]
    assert len(set(zip(corpus.labels, corpus.splits, strict=True))) == 5 * 3


@pytest.mark.parametrize("corpus", many(900)[1:4], ids=lambda corpus: type(corpus).__name__)
def test_no_sentence_or_group_in_two_splits(corpus: Corpus) -> None:
    where = defaultdict(set)
    for row in corpus.rows():
        for column in ("group",) if isinstance(corpus, Groups) else tuple(corpus.COLUMNS[c] for c in corpus.TEXTS):
            where[row[column]].add(row["split"])
    assert set(map(len, where.values())) == {1}


def test_chained_pairs_are_split_by_their_positive_pairs() -> None:
    # negative pairs connect each positive pair to the next
    names = [f"q{i}" for i in range(301)]
    chain = Pairs([*names[:300], *names[:300]], [*[f"{n}?" for n in names[:300]], *names[1:]], [1] * 300 + [0] * 300)
    counts = Counter(chain.splits)
    assert min(counts["dev"], counts["test"]) > 30
    positive = {a: split for a, value, split in zip(chain.text_a, chain.values, chain.splits, strict=True) if value}
    negative = [
        (a, split) for a, value, split in zip(chain.text_a, chain.values, chain.splits, strict=True) if not value
    ]
    assert all(positive[a] == split for a, split in negative)


@pytest.mark.parametrize("labels", [str, float], ids=["str", "float"])
def test_lists_are_split_like_a_file_with_the_same_rows(labels: Any, tmp_path: Path) -> None:
    texts, others, thirds = ([f"{name} {row // 2 if name == 'b' else row}" for row in range(200)] for name in "abc")
    classes = [labels(row % 7) for row in range(200)]
    made: list[tuple[Corpus, dict[str, Any]]] = [
        (Labelled(texts, classes), {"text": texts, "label": classes}),
        (Groups(texts, classes), {"text": texts, "group": classes}),
        (Pairs(texts, others, [0, 1] * 100), {"text_a": texts, "text_b": others, "label": [0, 1] * 100}),
        (Pairs(texts, others, [0.5, 1] * 100, True), {"text_a": texts, "text_b": others, "score": [0.5, 1] * 100}),
        (Triplets(texts, others, thirds), {"anchor": texts, "positive": others, "negative": thirds}),
    ]
    for corpus, columns in made:
        pd.DataFrame(columns).to_csv(tmp_path / "mine.csv", index=False)
        assert corpus.splits == load(tmp_path / "mine.csv").splits
        assert isinstance(corpus, Groups) or set(corpus.splits) == {"train", "dev", "test"}


def test_one_split_name_applies_to_every_row() -> None:
    for corpus in many(20):
        assert replace(corpus, splits="dev").splits == ("dev",) * 20
        with pytest.raises(ValueError, match="'training'"):
            replace(corpus, splits="training")


def test_a_text_of_two_classes_is_in_one_split() -> None:
    """In train if its classes disagree, because it cannot be used for scoring."""
    texts = sorted((f"text {row}" for row in range(200)), key=lambda text: hashlib.sha256(text.encode()).digest())
    small = texts[-20:]  # in class y the first of them are test and dev, in class x all are train
    assert Labelled(small, ["y"] * 20).sizes == {"train": 16, "dev": 2, "test": 2}
    made = Labelled([*texts, *small], ["x"] * 200 + ["y"] * 20)
    assert made.splits == ("test",) * 20 + ("dev",) * 20 + ("train",) * 180
    assert Labelled([*small, *texts], ["y"] * 20 + ["x"] * 200).splits == ("train",) * 20 + made.splits[:200]


def test_groups_with_a_sentence_in_common_are_in_one_split() -> None:
    texts, groups = [f"text {row}" for row in range(400)], [str(row // 4) for row in range(400)]
    shared = [*texts, *(f"text {row}" for row in range(0, 160, 4))]  # the first sentence of forty groups ...
    made = Groups(shared, [*groups, *(str(99 - row) for row in range(40))])  # ... is also in another one
    of_text, of_group = defaultdict(set), defaultdict(set)
    for text, group, split in zip(made.texts, made.groups, made.splits, strict=True):
        of_text[text].add(split)
        of_group[group].add(split)
    assert {len(found) for found in (*of_text.values(), *of_group.values())} == {1}
    assert set(made.splits) == {"train", "dev", "test"}
    in_all = [text for row in range(100) for text in (f"text {row}", f"other {row}", "yes")]  # "yes" connects none
    assert Groups(in_all, [str(row // 3) for row in range(300)]).sizes == {"train": 240, "dev": 30, "test": 30}


@pytest.mark.parametrize("corpus", many(400), ids=lambda corpus: type(corpus).__name__)
def test_a_share_of_the_training_rows(corpus: Corpus) -> None:
    some = corpus.fewer(0.25)
    assert 0.2 * corpus.sizes["train"] < some.sizes["train"] <= 0.25 * corpus.sizes["train"] + 1
    assert (some.sizes["dev"], some.sizes["test"]) == (corpus.sizes["dev"], corpus.sizes["test"])
    assert some.fingerprint == corpus.fewer(0.25).fingerprint
    assert corpus.fewer(1).fingerprint == corpus.fingerprint
    assert set(map(str, some.part("train").rows())) < set(map(str, corpus.part("train").rows()))
    assert corpus.fewer(1e-9).sizes["train"] < 10  # but never empty
    for share in (0, 1.1, float("nan")):
        with pytest.raises(ValueError, match="share"):
            corpus.fewer(share)


def test_a_share_keeps_groups_articles_and_new_classes_whole() -> None:
    def kept(corpus: Any, names: str) -> tuple[Counter[str], Counter[str]]:
        part = corpus.fewer(0.5).part("train")
        return Counter(getattr(part, names)), Counter(getattr(corpus.part("train"), names))

    count, splits = 120, ["train"] * 80 + ["dev"] * 20 + ["test"] * 20
    texts, four = [f"text {i}" for i in range(count)], [str(i // 4) for i in range(count)]
    for some, all_ in (
        kept(Groups(texts, four, splits=splits), "groups"),
        kept(Labelled(texts, four, splits=splits), "labels"),  # as in places, where dev has other classes
    ):
        assert len(some) == 10
        assert all(all_[name] == times for name, times in some.items())
    known, whole = kept(Labelled(texts, [str(i % 5) for i in range(count)], splits=splits), "labels")
    assert known == {name: times // 2 for name, times in whole.items()}
    triplets = Triplets(texts, texts, texts, splits=splits, extra={"article": four})
    assert set(Counter(triplets.fewer(0.5).part("train").extra["article"]).values()) == {4}
