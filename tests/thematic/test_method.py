"""The thematic method: training data, similarity, loss, attention, training from disk, and batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from labkit.arrays import unit
from labkit.corpora import Article, Articles, Corpus, Section, load
from labkit.corpora.article_rules import eligible
from labkit.corpora.article_triplets import triplets_of
from labkit.methods import load_run
from labkit.progress import collected, silent
from labkit.thematic import method as thematic_method
from labkit.thematic.method import MappedTask, Thematic, TripletBatch, TripletTask, batches, dev_part, triplets_of_rule
from labkit.thematic.network import ThematicSettings, WordAttention, ratio
from labkit.training.encoders import encode
from tests.sharded import sharded

SMALL: dict[str, Any] = {"epochs": 2, "patience": 0, "size": 12, "dimension": 8, "batch": 64, "device": "cpu"}


def few(count: int = 16) -> Articles:
    corpus = load("articles")
    assert isinstance(corpus, Articles)
    dev = [row for row, split in enumerate(corpus.splits) if split == "dev"][:4]
    train = [row for row, split in enumerate(corpus.splits) if split == "train"][:count]
    return corpus.take([*train, *dev])


def fitted(corpus: Corpus | None = None, seed: int = 0, **settings: Any) -> Thematic:
    method = Thematic(ThematicSettings(**{**SMALL, **settings}))
    method.fit(few() if corpus is None else corpus, seed=seed)
    return method


@pytest.fixture(scope="module")
def plain() -> Thematic:
    return fitted(few(6), dropout=0.0, scale=3.0)


@pytest.fixture(scope="module")
def both() -> Thematic:
    return fitted(few(6), rule="both", max_length=5)


@pytest.fixture(scope="module")
def by_l1() -> Thematic:
    return fitted(few(6), distance="l1", scale=0.2)


# --- training data ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["article", "both"])
def test_articles_become_the_triplets_of_the_rule(rule: str) -> None:
    corpus = few(4)
    found = triplets_of_rule(corpus, rule, seed=4)
    expected = ["adjacent", "titles"] if rule == "both" else [rule]
    assert len(found) == len(expected)
    for lesson, kind in zip(found, expected, strict=True):
        assert lesson.fingerprint == triplets_of(corpus, rule=kind, seed=4).fingerprint


def test_given_triplets_are_used_unchanged() -> None:
    triplets = triplets_of(few(4))
    assert triplets_of_rule(triplets, "adjacent", seed=0) == [triplets]
    with pytest.raises(ValueError, match="rule"):
        fitted(triplets, rule="titles")


def test_other_shapes_and_articles_without_triplets_are_refused() -> None:
    with pytest.raises(ValueError, match="captions"):
        fitted(load("captions"))
    with pytest.raises(ValueError, match="triplet"):
        fitted(Articles([Article("One", (Section("Only", ("A single paragraph stands in here.",)),))] * 3))


# --- vectors, similarity and attention -------------------------------------------------------------------------


def test_both_concatenates_the_two_networks(both: Thematic) -> None:
    method = both
    texts = ["The river froze in that winter.", "A new bridge was built.", "It is a long song."]
    rows = method.encode(texts)
    assert rows.shape == (3, 24)
    assert not np.allclose(rows[:, :12], rows[:, 12:])
    halves = [rows[:, :12] @ rows[:, :12].T, rows[:, 12:] @ rows[:, 12:].T]
    np.testing.assert_allclose(method.similarity(rows, rows), np.mean(halves, axis=0), atol=1e-5)
    right, tied = _dev_by_hand(method, few(6))  # rounding decides ties
    assert right - 2e-3 <= max(method.history.column("dev_triplets")) <= right + tied + 2e-3
    assert tied < 0.2


def _dev_by_hand(method: Thematic, corpus: Articles) -> tuple[float, float]:
    """The shares of dev triplets that are right, and that are tied up to rounding, because of unknown words."""
    right, tied = [], []
    for half, rule in ((slice(0, 12), "adjacent"), (slice(12, 24), "titles")):
        dev = triplets_of(corpus, rule=rule).part("dev")
        a, p, n = (method.encode(list(side))[:, half] for side in (dev.anchors, dev.positives, dev.negatives))
        leads = (a * p).sum(1) - (a * n).sum(1)
        right.append((leads > 1e-6).mean())
        tied.append((abs(leads) <= 1e-6).mean())
    return float(np.mean(right)), float(np.mean(tied))


def test_trained_with_l1_the_similarity_is_minus_l1(by_l1: Thematic) -> None:
    method = by_l1
    texts = ["The river froze in that winter.", "A new bridge was built.", "It is a long song."]
    rows = method.encode(texts).astype(np.float64)
    expected = [[-sum(abs(a - b)) for b in rows] for a in rows]
    np.testing.assert_allclose(method.similarity(texts, texts), expected, atol=1e-5)
    np.testing.assert_allclose(method.similarity_pairwise(texts[:2], texts[1:]), np.diag(expected, 1), atol=1e-5)
    assert method.similarity_name == "manhattan"
    assert not np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-2)
    assert Thematic().similarity_name == "cosine"


def test_the_loss_of_a_batch_is_that_of_its_triplets(plain: Thematic) -> None:
    method, lesson = plain, triplets_of(few(6))
    task = TripletTask(method, [lesson], seed=0)
    batch: TripletBatch = task.batches(1)[0]
    found, note = task.loss(task.outputs(batch), batch)
    texts = lesson.part("train").sentences()
    a, p, n = (unit(method.encode([texts[batch.sentences[i]] for i in column])) for column in batch.triplets.T)
    near, far = (torch.from_numpy(1 - (a * other).sum(axis=1)) for other in (p, n))
    torch.testing.assert_close(found.detach(), ratio(3 * near, 3 * far).mean(), atol=1e-6, rtol=1e-5)
    assert float(note()["right"]) == pytest.approx(float((near < far).double().mean()), abs=1e-9)
    cosines = np.concatenate([(a * other).sum(axis=1) for other in (p, n)])
    assert float(note()["spread"]) == pytest.approx(cosines.std(), abs=1e-5)


def test_attention_word_by_word(both: Thematic) -> None:
    sentence = "The river froze, in that long winter."
    first, second = (both.attend(sentence, network=network) for network in (0, 1))
    for told in (first, second):
        assert told.words == ("the", "river", "froze", "in", "that")
        assert told.weights.sum() == pytest.approx(1, abs=1e-5)
    assert not np.allclose(first.weights, second.weights, atol=1e-6)
    assert both.attend("?!").words == ("<UNK>",)
    with pytest.raises(ValueError, match="sentence"):
        both.attend([sentence])


def test_the_vector_is_computed_from_the_attention_weights(by_l1: Thematic) -> None:
    method = by_l1
    told = method.attend("the river froze in that winter")
    encoder = method.encoders[0].eval()
    table = encoder.words.table.weight.detach().numpy()
    numbers = method.reader.numbers("the river froze in that winter")
    mean = told.weights @ table[numbers]
    lengths = told.weights * np.linalg.norm(table[numbers], axis=1)
    np.testing.assert_allclose(told.shares, lengths / lengths.sum(), atol=1e-5)
    assert told.shares[0] < told.shares[1]  # "the" and "river": a frequent word has a short vector
    body = encoder.body
    assert isinstance(body, WordAttention)
    out = body.out
    expected = out.weight.detach().numpy() @ mean + out.bias.detach().numpy()
    np.testing.assert_allclose(method.encode(["the river froze in that winter"])[0], expected, atol=1e-5)


def test_the_probe_of_articles_knows_their_sections(plain: Thematic) -> None:
    method, first = plain, few(6).part("dev").articles[0]
    title, found = eligible(first)[0]
    assert method.snapshots.texts[: len(found)] == tuple(text for _, text in found)
    assert set(method.snapshots.labels[: len(found)]) == {f"{first.title}: {title}"}
    assert method.snapshots.vectors.shape == (3, len(method.snapshots.texts), 12)


def test_two_networks_survive_a_round_trip(tmp_path: Any, both: Thematic) -> None:
    both.save(tmp_path / "run")
    texts = ["The river froze in that winter.", ""]
    np.testing.assert_array_equal(load_run(tmp_path / "run").encode(texts), both.encode(texts))


# --- training from disk ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def from_disk() -> MappedTask:
    corpus = sharded(few(8))
    method = fitted(corpus, dropout=0.0, scale=3.0, epochs=1)
    return MappedTask(method, [corpus], seed=5)


def encoded(task: MappedTask, texts: Sequence[str]) -> np.ndarray:
    return unit(encode(task._encoders[0], task._reader, list(texts), 256, silent))


def test_the_loss_of_a_batch_from_disk_is_that_of_its_triplets(from_disk: MappedTask) -> None:
    batches = from_disk.batches(1)
    found, figures = from_disk.loss(from_disk.outputs(batches[0]), batches[0])
    rows = (batches.starts[0][:, None] + np.arange(from_disk._settings.neighbours)).ravel()
    part = from_disk._corpus.take(rows[rows < len(from_disk._corpus)])
    a, p, n = (encoded(from_disk, column) for column in (part.anchors, part.positives, part.negatives))
    near, far = (torch.from_numpy(1 - (a * other).sum(axis=1)).double() for other in (p, n))
    torch.testing.assert_close(found.detach().double(), ratio(3 * near, 3 * far).mean(), atol=1e-6, rtol=1e-5)
    assert float(figures()["right"]) == pytest.approx(float((near < far).double().mean()), abs=1e-9)


def test_an_epoch_from_disk_has_every_triplet_once_in_its_own_order(from_disk: MappedTask) -> None:
    size = from_disk._settings.neighbours
    first, second, again = ([each.tolist() for each in from_disk.batches(epoch).starts] for epoch in (1, 2, 1))
    assert first != second
    assert first == again
    assert sorted(start for starts in first for start in starts) == [*range(0, len(from_disk._corpus), size)]
    assert sum(len(batch.triplets) for batch in from_disk.batches(1)) == len(from_disk._corpus)


def test_epochs_from_disk_are_chosen_on_dev(from_disk: MappedTask, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = sharded(few(8))
    dev = corpus.part("dev")
    a, p, n = (encoded(from_disk, column) for column in (dev.anchors, dev.positives, dev.negatives))
    right = ((a * p).sum(axis=1) > (a * n).sum(axis=1)).mean()
    assert from_disk.dev() == ("dev_triplets", pytest.approx(right))
    monkeypatch.setattr(thematic_method, "MEASURED", 10)
    with collected() as notes:
        assert len(dev_part(corpus)) == 10
    assert f"{len(dev)}" in notes[0]


# --- batches: every triplet once, neighbours together, each sentence once --------------------------------------

rows_of = st.integers(1, 60).flatmap(
    lambda count: st.lists(st.tuples(*[st.integers(0, 20)] * 3), min_size=count, max_size=count)
)


@given(rows_of, st.integers(2, 40), st.integers(1, 20), st.integers(0, 5))
def test_every_triplet_once_and_every_sentence_once(
    triplets: list[tuple[int, int, int]], size: int, neighbours: int, seed: int
) -> None:
    found = batches(np.array(triplets), size, neighbours, seed=seed, network=3)
    back = [tuple(batch.sentences[place] for place in row) for batch in found for row in batch.triplets]
    assert Counter(back) == Counter(triplets)
    for batch in found:
        assert len(set(batch.sentences)) == len(batch.sentences)
        assert set(batch.triplets.ravel()) == set(range(len(batch.sentences)))
        assert len(batch.triplets) <= max(size, neighbours)
        assert batch.network == 3


def test_neighbours_stay_together_and_the_seed_shuffles_the_rest() -> None:
    rows = np.arange(192).reshape(64, 3) % 64
    first, again, other = (
        [batch.sentences[place] for batch in batches(rows, 16, 4, seed=seed) for place in batch.triplets[:, 0]]
        for seed in (0, 0, 1)
    )
    assert first == again != other
    runs = [rows[start : start + 4, 0].tolist() for start in range(0, 64, 4)]
    mixed = [first[start : start + 4] for start in range(0, 64, 4)]
    assert mixed != runs
    assert sorted(mixed) == sorted(runs)
