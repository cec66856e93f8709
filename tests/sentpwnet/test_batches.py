"""Batches: positives and negatives for each shape of corpus, no lost or repeated sentence, and unsuitable corpora."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from labkit.corpora import load
from labkit.corpora.records import Corpus, Groups, Labelled, Pairs, Triplets
from labkit.sentpwnet.batches import (
    Batch,
    ClassSource,
    RowSource,
    batch_source,
    in_one_spelling,
    near_and_far,
    pair_source,
    triplet_source,
)
from labkit.text import normalise

CPU = torch.device("cpu")


def ones(source, size: int = 100, seed: int = 0) -> list[Batch]:
    return source.batches([3] * len(source.texts), size, seed)


def relations(source, batch: Batch) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The pairs of sentences in P and in N."""
    named = [source.texts[number] for number in batch.sentences]
    P, N = batch.masks(CPU)
    return tuple({(named[i], named[j]) for i, j in mask.nonzero().tolist()} for mask in (P, N))


def pairs(*rows: tuple[str, str, float], graded: bool = False) -> Pairs:
    a, b, values = zip(*rows, strict=True)
    return Pairs(name="mine", text_a=a, text_b=b, values=values, graded=graded, splits="train")


def test_positives_of_pairs_are_connected_through_others() -> None:
    source = pair_source(pairs(("a", "b", 1), ("b", "c", 1), ("d", "e", 0)))
    P, N = relations(source, ones(source)[0])
    joined = {(x, y) for x in "abc" for y in "abc" if x != y}
    assert joined == P
    everything = {(x, y) for x in "abcde" for y in "abcde" if x != y}
    assert everything - joined == N  # including d and e, and each against all others
    assert pair_source(pairs(("a", "b", 1), ("b", "c", 1), ("a", "c", 0), ("d", "a", 0))).contradictions == 1


def test_with_labelled_only_labelled_pairs_count() -> None:
    rows = ("a", "b", 1), ("b", "c", 1), ("d", "e", 0), ("a", "d", 0), ("e", "d", 1), ("f", "f", 1)
    source = pair_source(pairs(*rows), labelled=True)
    P, N = relations(source, ones(source)[0])
    assert {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("d", "e"), ("e", "d")} == P
    assert {("a", "d"), ("d", "a")} == N  # e and d are also labelled 1, which takes precedence
    assert pair_source(pairs(("a", "b", 1), ("a", "b", 0)), labelled=True).texts == ["a", "b"]
    with pytest.raises(ValueError, match="two"):
        pair_source(pairs(("a", "b", 1), ("b", "c", 1)), labelled=True)


@pytest.mark.parametrize(
    "corpus",
    [
        pairs(("Why is it?", "a", 1), ("why  is IT?", "b", 1), ("c", "d", 1)),
        Groups(["Why is it?", "a", "why  is IT?", "b", "c", "d"], list("xxyyzz"), splits="train"),
        Triplets(["Why is it?", "why  is IT?", "c"], ["a", "b", "d"], ["c", "d", "a"], splits="train"),
    ],
    ids=lambda corpus: type(corpus).__name__,
)
def test_a_batch_has_one_spelling_of_a_text(corpus: Corpus) -> None:
    source = batch_source(corpus, per_class=2, in_batch=True)
    for batch in ones(source):
        texts = [normalise(source.texts[number]) for number in batch.sentences]
        assert len(set(texts)) == len(texts)
    assert "Why is it?" in source.texts


def test_two_spellings_of_a_text_join_their_groups() -> None:
    corpus = load("questions").part("train")
    assert in_one_spelling(corpus) is corpus
    source = batch_source(pairs(("A", "b", 1), ("a", "c", 1), ("d", "e", 0)), per_class=2)
    P, _ = relations(source, ones(source)[0])
    assert ("b", "c") in P  # joined by a text with two spellings


def test_every_pair_is_in_exactly_one_batch() -> None:
    corpus = load("questions").part("train")
    source = pair_source(corpus)
    batches = ones(source, size=32)
    assert sum(len(batch.sentences) for batch in batches) <= 2 * len(corpus)
    held = [frozenset(source.texts[number] for number in batch.sentences) for batch in batches]
    for a, b in zip(corpus.text_a[:200], corpus.text_b[:200], strict=True):
        assert any({a, b} <= found for found in held)
    assert all(len(set(batch.sentences)) == len(batch.sentences) for batch in batches)


def test_batches_are_a_function_of_the_seed() -> None:
    source = batch_source(load("topics").part("train"), per_class=4)
    same, again, other = (ones(source, 32, seed) for seed in (5, 5, 6))
    assert same == again
    assert same != other


@given(
    labels=st.lists(st.sampled_from("abcdef"), min_size=4, max_size=60).filter(
        lambda found: len(set(found)) > 1 and len(set(found)) < len(found)
    ),
    per_class=st.integers(2, 5),
    size=st.integers(2, 30),
)
def test_classes_in_batches(labels: list[str], per_class: int, size: int) -> None:
    corpus = Labelled(name="mine", texts=[f"s{i}" for i in range(len(labels))], labels=labels, splits="train")
    source = ClassSource(corpus, per_class)
    batches = ones(source, size)
    assert sorted(number for batch in batches for number in batch.sentences) == list(range(len(labels)))
    for batch in batches:
        P, N = relations(source, batch)
        of = dict(zip(corpus.texts, labels, strict=True))
        assert all(of[a] == of[b] and a != b for a, b in P)
        assert all(of[a] != of[b] for a, b in N)
        for number in batch.sentences:  # every sentence of a class with several has a positive
            if labels.count(labels[number]) > 1:
                assert any(a == source.texts[number] for a, _ in P)


@pytest.mark.parametrize(
    ("triplets", "in_batch", "positive", "negative"),
    [
        (["abx", "aby", "dex"], False, "ab de", "ax ay dx"),  # a triplet has only its own negatives
        (["abx", "aby", "deb"], True, "ab de", "ax ay ae db dx dy"),  # those of others, too, but no anchor
        (["abx", "bcy"], True, "ab bc", "ax ay ac bx by"),  # neither the anchor nor its positive is a negative
    ],
)
def test_negatives_of_triplets(triplets: list[str], in_batch: bool, positive: str, negative: str) -> None:
    source = batch_source(Triplets(*zip(*triplets, strict=True), name="t"), per_class=2, in_batch=in_batch)
    (batch,) = ones(source)
    wanted = tuple({tuple(pair) for pair in told.split()} for told in (positive, negative))
    assert relations(source, batch) == wanted


@pytest.mark.parametrize(
    ("name", "in_batch"), [("questions", False), ("topics", False), ("articles", True), ("articles", False)]
)
def test_masks_of_some_anchors_are_rows_of_all_masks(name: str, in_batch: bool) -> None:
    source = batch_source(load(name).take(range(0, 160, 2)).part("train"), per_class=2, in_batch=in_batch)
    batch = ones(source, size=20)[0]
    whole = batch.masks(CPU)
    for start, stop in ((0, 7), (7, 19), (19, len(batch.sentences))):
        some = batch.masks(CPU, slice(start, stop))
        assert all(torch.equal(part, mask[start:stop]) for part, mask in zip(some, whole, strict=True))
    assert whole[0].any()
    assert whole[1].any()


def test_at_most_two_negatives_at_a_time_and_never_the_sentence_itself() -> None:
    corpus = Triplets(name="t", anchors=["a"] * 5, positives=["b"] * 5, negatives=list("vwxyz"))
    batches = ones(triplet_source(corpus), size=1)
    assert sorted(len(batch.negative) for batch in batches) == [1, 2, 2]
    corpus = Triplets(name="t", anchors=["a", "b"], positives=["b", "c"], negatives=["a", "c"])
    P, N = ones(triplet_source(corpus))[0].masks(CPU)
    assert not (P & N).any()
    assert not N.diagonal().any()


def test_near_and_far_by_grade() -> None:
    found = near_and_far(pairs(("a", "b", 5), ("a", "c", 4), ("a", "d", 3), ("a", "e", 2), ("a", "f", 0), graded=True))
    assert list(zip(found.text_b, found.values, strict=True)) == [("b", 1), ("c", 1), ("e", 0), ("f", 0)]


# --- grades and unlabelled texts ---------------------------------------------------------------------------------


def test_graded_pairs_keep_every_grade() -> None:
    grades = [0.0, 1.0, 3.0, 4.0, 5.0, 3.0]  # the third is in the middle of the scale
    corpus = Pairs(list("abcdea"), list("ghijkg"), grades, graded=True, name="mine", splits="train")
    source = batch_source(corpus, per_class=2, needs="grades")
    (batch,) = source.batches([1] * len(source.texts), 9, 0)
    P, N = batch.masks(CPU)
    found = batch.graded(CPU)
    name = [source.texts[number] for number in batch.sentences]
    expected = {("a", "g"): 1.5, ("b", "h"): 1.0, ("c", "i"): 3.0, ("d", "j"): 4.0, ("e", "k"): 5.0}  # a g: the mean
    at = {(name[i], name[j]): float(found[i, j]) for i, j in (P | N).nonzero().tolist()}
    assert at == expected
    assert {pair for pair, grade in expected.items() if grade >= 3} == {
        (name[i], name[j]) for i, j in P.nonzero().tolist()
    }
    assert not (P & N).any()
    assert not found[~(P | N)].any()
    assert isinstance(batch_source(corpus, per_class=2), RowSource)


def test_every_sentence_occurs_twice() -> None:
    corpus = Triplets(["a", "b"], ["c", "a"], ["d", "e"], splits="train")
    source = batch_source(corpus, per_class=2, needs="texts")
    assert sorted(source.texts) == list("abcde")
    batches = source.batches([1] * 5, 3, 0)
    assert sorted(number for batch in batches for number in batch.sentences) == sorted([*range(5), *range(5)])
    for batch in batches:
        half = len(batch.sentences) // 2
        P, N = batch.masks(CPU)
        for i, j in ((i, j) for i in range(2 * half) for j in range(2 * half)):
            across = (i < half) != (j < half)
            same = batch.sentences[i] == batch.sentences[j]
            assert (bool(P[i, j]), bool(N[i, j])) == (across and same, across and not same)
        parts = [batch.masks(CPU, slice(start, start + 2)) for start in range(0, 2 * half, 2)]
        assert torch.equal(torch.cat([part[0] for part in parts]), P)
        assert torch.equal(torch.cat([part[1] for part in parts]), N)


@pytest.mark.parametrize(
    ("corpus", "needs"),
    [
        (pairs(("a", "b", 0), ("c", "d", 0)), "masks"),
        (pairs(("a", "b", 1), ("b", "c", 1)), "masks"),
        (Labelled(name="mine", texts=["a", "b"], labels=["x", "x"]), "masks"),
        (Labelled(name="mine", texts=["a", "b"], labels=["x", "y"]), "masks"),
        (pairs(("a", "b", 3), ("c", "d", 3), graded=True), "grades"),
        (Labelled(name="mine", texts=["a", "a"], labels=["x", "y"]), "texts"),
    ],
)
def test_corpora_without_pairs_are_refused(corpus: Corpus, needs: str) -> None:
    with pytest.raises(ValueError, match="corpus 'mine'"):
        batch_source(corpus, per_class=4, needs=needs)
