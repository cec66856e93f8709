"""SentPWNet and its baselines: what they compose, that they learn, what each setting changes, what the history says."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from labkit import pairs
from labkit.corpora import load
from labkit.corpora.records import Corpus, Labelled, Pairs
from labkit.evaluation.geometry import PROBED
from labkit.evaluation.scores import score
from labkit.pairs import large_batch
from labkit.pairs.gallery import LEARNED, LOSSES
from labkit.progress import silent
from labkit.runs import write_run
from labkit.sentpwnet import method as sentpwnet
from labkit.sentpwnet.batches import Batch
from labkit.sentpwnet.method import (
    PairSettings,
    PairTask,
    SentPWNet,
    Siamese,
    Triplet,
    _figures,
    batch_source,
    loss_of,
    miner_of,
)
from labkit.training import encoders
from labkit.training.reader import reader_and_vectors
from labkit.training.trained import probe_of
from tests.pairs.test_large_batch import LargestTensor

SMALL: dict[str, Any] = {"epochs": 2, "patience": 0, "size": 12, "dimension": 8, "batch": 32}


def few(name: str = "questions", rows: int = 240) -> Corpus:
    corpus = load(name)
    kept = [i for i, split in enumerate(corpus.splits) if split == "dev"][:120]
    return corpus.take([*range(rows), *kept])


def fitted(
    kind: type[SentPWNet] = SentPWNet, corpus: Corpus | None = None, seed: int = 0, **settings: Any
) -> SentPWNet:
    method = kind(kind.Settings.of({**SMALL, **settings}))
    method.fit(few() if corpus is None else corpus, seed=seed)
    return method


def state(method: SentPWNet) -> np.ndarray:
    return np.concatenate([array.ravel() for array in method._state()[0].values()])


@cache
def learned(**settings: Any) -> np.ndarray:
    """What 120 pairs teach with these settings."""
    return state(fitted(corpus=few(rows=120), **settings))


def test_the_three_differ_in_loss_and_miner_and_the_dials_of_their_losses_only() -> None:
    ours, first, second = PairSettings(), Siamese().settings, Triplet().settings
    assert (ours.loss, ours.miner) == ("locality", "informative")
    assert (first.loss, first.miner) == ("contrastive", "none")
    assert (second.loss, second.miner) == ("soft-triplet", "hardest")
    assert (first.margin, second.temperature) == (0.8, 0.2)  # chosen on dev, as λ, β and ε were
    same = {"loss": "", "miner": "", "margin": 0.0, "temperature": 0.0}
    assert ours.values() | same == first.values() | same == second.values() | same


def test_settings_reach_the_losses_and_miners() -> None:
    torch.manual_seed(0)
    rows = torch.nn.functional.normalize(torch.randn(6, 4, dtype=torch.float64), dim=1)
    P, N = pairs.masks_from_labels([0, 0, 1, 1, 2, 2])
    S = rows @ rows.T
    settings = PairSettings(alpha=3, beta=7, base=0.2, margin=0.1, epsilon=0.4)
    expected = {
        "locality": pairs.locality(S, P, N, alpha=3, beta=7, base=0.2),
        "contrastive": pairs.contrastive(S, P, N, margin=0.1),
        "soft-triplet": pairs.soft_triplet(S, P, N),
    }
    for name, value in expected.items():
        torch.testing.assert_close(loss_of(PairSettings(**{**settings.values(), "loss": name}))(S, P, N), value)
    kept = miner_of(settings)(S, P, N)
    assert all(map(torch.equal, kept, pairs.informative(S, P, N, epsilon=0.4)))
    assert all(map(torch.equal, miner_of(PairSettings(miner="hardest"))(S, P, N), pairs.hardest(S, P, N)))
    assert all(map(torch.equal, miner_of(PairSettings(miner="none"))(S, P, N), (P, N)))
    half = miner_of(PairSettings(miner="random", share=0.5))(S, P, N)
    assert (half[0].sum(), half[1].sum()) == (P.sum() // 2, N.sum() // 2)


@pytest.mark.whole
@pytest.mark.parametrize("kind", [SentPWNet, Siamese, Triplet])
@pytest.mark.parametrize("encoder", ["mean", "cnn", "lstm", "bilstm"])
def test_each_learns_on_each_encoder(kind: type[SentPWNet], encoder: str) -> None:
    """On sentences of two colours in four classes: the classes are told apart where untrained vectors do not."""
    random = np.random.default_rng(0)
    fillers = ["today", "here", "perhaps", "often", "again", "there", "now", "still"]
    rows = [
        (f"{random.choice(fillers)} {word} {random.choice(fillers)} {random.choice(fillers)}", label, split)
        for label, group in {"a": ("red", "crimson"), "b": ("blue", "navy"), "c": ("green", "olive")}.items()
        for word in group
        for split, count in (("train", 24), ("test", 8))
        for _ in range(count)
    ]
    texts, labels, splits = zip(*dict.fromkeys(rows), strict=True)
    corpus = Labelled(name="colours", texts=texts, labels=labels, splits=splits)
    method = fitted(
        kind, corpus, encoder=encoder, epochs=40, vectors="random", learning_rate=0.01, batch=48, per_class=8, least=1
    )
    assert score(method, corpus).figures["hit@1"] > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        untrained = fitted(kind, corpus, encoder=encoder, epochs=1, vectors="random", learning_rate=1e-9, least=1)
    assert score(untrained, corpus).figures["hit@1"] < 0.75


CHANGES: list[dict[str, Any]] = [
    {"encoder": "lstm"}, {"loss": "contrastive"}, {"miner": "none"}, {"alpha": 9.0}, {"beta": 3.0}, {"base": 0.1},
    {"epsilon": -0.2}, {"size": 15}, {"dropout": 0.4}, {"unit": "characters"}, {"vectors": "random"},
    {"dimension": 9}, {"tune": False}, {"sparse": False}, {"least": 4}, {"longest": 3}, {"batch": 16},
    {"epochs": 1}, {"learning_rate": 0.01}, {"clip": 0.001},
]  # fmt: skip
BESIDE = [({"margin": 0.0}, {"loss": "contrastive", "miner": "none"}), ({"share": 0.2}, {"miner": "random"})]


@pytest.mark.parametrize(("change", "also"), [*((change, {}) for change in CHANGES), *BESIDE])
def test_every_setting_changes_what_is_learned(change: dict[str, Any], also: dict[str, Any]) -> None:
    first, second = learned(**also), learned(**also, **change)
    assert first.shape != second.shape or not np.allclose(first, second, atol=1e-7)


def test_per_class_changes_the_batches() -> None:
    corpus = few("topics", 200)
    assert not np.allclose(state(fitted(corpus=corpus)), state(fitted(corpus=corpus, per_class=2)), atol=1e-7)


def test_in_batch_gives_triplets_more_negatives() -> None:
    corpus = load("articles").take(range(0, 160, 8))
    assert not np.allclose(state(fitted(corpus=corpus)), state(fitted(corpus=corpus, in_batch=True)), atol=1e-7)


def test_one_seed_one_result() -> None:
    first, again, other = (fitted(seed=seed, dropout=0.2) for seed in (0, 0, 1))
    assert np.array_equal(state(first), state(again))
    assert first.history == again.history
    assert not np.array_equal(state(first), state(other))


@pytest.mark.parametrize("name", ["questions", "captions", "places", "topics", "relatedness", "articles"])
def test_every_shape_of_corpus(name: str) -> None:
    corpus = load(name)
    step = 1 if name == "articles" else 4
    small = corpus.take(range(0, len(corpus), step)) if name != "captions" else corpus.take(range(0, 5000, 1))
    method = fitted(corpus=small, encoder="mean", epochs=1)
    assert method.encode(["A sentence.", ""]).shape == (2, 12)
    assert np.isfinite(score(method, small).headline)
    assert method.reader.unit == ("characters" if name == "places" else "words")


def test_the_history_by_hand() -> None:
    """Three sentences at known angles, the first two a class: shares kept, weights m |dL/dS|, spread of S."""
    S = torch.tensor([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]], requires_grad=True)
    P, N = pairs.masks_from_labels([0, 0, 1])
    kept_P, kept_N = P.clone(), N.clone()
    kept_N[2, 0] = False
    pairs.contrastive(S, kept_P, kept_N, margin=0.25).backward()
    found = {name: float(value) for name, value in _figures(S, P, N, kept_P, kept_N, 1).items()}
    assert found["kept_positives"] == 1
    assert found["kept_negatives"] == 3 / 4
    assert found["weight_positives"] == pytest.approx(1)
    assert found["weight_negatives"] == pytest.approx(2 / 3)  # of the three kept, S = 0.2 lies below the margin
    assert found["spread"] == pytest.approx(np.std([0.5, 0.2, 0.5, 0.3, 0.2, 0.3]))


def test_the_history_has_a_row_per_epoch_and_the_dev_figure() -> None:
    method = fitted()
    expected = ["epoch", "loss", "kept_positives", "kept_negatives", "weight_positives", "weight_negatives", "spread"]
    assert method.history.columns == [*expected, "gradient", "dev_auc", *PROBED]
    assert len(method.history) == 2
    assert all(0 < row["kept_negatives"] < 1 for row in method.history.rows)
    assert fitted(Siamese).history.column("kept_negatives") == [1, 1]


@pytest.mark.parametrize("count", [2, 3, 6])
def test_a_probe_of_classes_that_come_in_turn_has_all_of_them(count: int) -> None:
    corpus = Labelled([f"word {i}" for i in range(900)], [f"c{i % count}" for i in range(900)], splits=["dev"] * 900)
    probe = probe_of(corpus)
    assert len(probe.texts) == 300
    assert set(probe.labels) == set(corpus.labels)
    assert all(
        corpus.labels[corpus.texts.index(text)] == label for text, label in zip(probe.texts, probe.labels, strict=True)
    )


def test_snapshots_are_the_probes_vectors() -> None:
    method = fitted()
    assert method.snapshots.vectors.shape == (3, len(method.snapshots.texts), 12)
    best = int(np.argmax(method.history.column("dev_auc"))) + 1
    np.testing.assert_allclose(method.snapshots.vectors[best], method.encode(list(method.snapshots.texts)), atol=1e-6)


def test_the_batch_loss_is_the_loss_of_its_similarities() -> None:
    corpus, method = few(), SentPWNet(PairSettings(**SMALL))
    method._origin = ("questions", "", 0)
    method.reader, vectors = reader_and_vectors(corpus, dimension=8)
    method.network = method._network(vectors)
    source = batch_source(corpus.part("train"), per_class=2)
    task = PairTask(method.network, method.reader, source, method.settings, 0)
    batch: Batch = task.batches(1)[0]
    found, _ = task.loss(batch)
    texts = [batch_source(corpus.part("train"), per_class=2).texts[number] for number in batch.sentences]
    V = torch.from_numpy(method._encode(texts, 7, silent))
    S = V @ V.T
    assert batch.classes is not None
    P, N = pairs.informative(S.clamp(-1, 1), *pairs.masks_from_labels(batch.classes))
    torch.testing.assert_close(found.detach(), pairs.locality(S, P, N), atol=1e-6, rtol=1e-5)


def test_prefixes_share_the_loss_in_equal_parts() -> None:
    """Each prefix is brought to length 1 and has pairs and a loss of its own; what is noted is of the whole vectors."""
    tasks = []
    for prefixes in ("", "8, 3"):
        corpus, method = few(), SentPWNet(PairSettings(**SMALL, prefixes=prefixes, dropout=0.0))
        method._origin = ("questions", "", 0)
        tasks.append(method._task(corpus, 0, silent))
    plain, task = tasks
    batch: Batch = task.batches(1)[0]
    expected = 0.0
    for cut in (3, 8, 12):
        V = torch.nn.functional.normalize(plain.embeddings(batch)[:, :cut], dim=1)
        S = V @ V.T
        P, N = pairs.informative(S.clamp(-1, 1), *batch.masks(S.device), epsilon=0.3)
        expected += float(pairs.locality(S, P, N, base=0.9, beta=20.0)) / 3
    found, note = task.loss(batch)
    assert float(found) == pytest.approx(expected, rel=1e-5)
    found.backward()
    value, plain_note = plain.loss(batch)
    value.backward()
    for name, figure in plain_note().items():
        assert float(note()[name]) == pytest.approx(float(figure), rel=1e-4), name


def test_prefixes_learn_in_a_large_batch_as_in_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fitted(prefixes="3,8", dropout=0.0, epochs=1)
    monkeypatch.setattr(sentpwnet, "LARGE", 16)
    np.testing.assert_allclose(state(fitted(prefixes="3,8", dropout=0.0, epochs=1)), state(whole), atol=2e-4)


def test_prefixes_make_short_vectors_better() -> None:
    """On the training pairs themselves, of which two numbers say the more, the more they were asked to."""
    whole, cut = (fitted(Siamese, prefixes=prefixes, epochs=20, margin=0.5, encoder="mean") for prefixes in ("", "2"))
    found = []
    for method in (whole, cut):
        part = few().part("train")
        a, b = (method.encode(list(side), truncate_dim=2) for side in (part.text_a, part.text_b))
        found.append(roc_auc_score(part.labels, method.pairwise_similarity(a, b)))
    assert found[1] > found[0] + 0.03


@pytest.mark.parametrize(
    ("prefixes", "says"),
    [
        ("3,x", "setting prefixes is '3,x', expected whole numbers from 1 on"),
        ("0,3", "setting prefixes is '0,3', expected whole numbers from 1 on"),
        ("3,12", "setting prefixes is '3,12', expected numbers below 12"),
    ],
)
def test_prefixes_that_are_none(prefixes: str, says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}"):
        fitted(prefixes=prefixes)


def test_contradictions_are_said() -> None:
    rows = [("a b", "c d", 1.0), ("c d", "e f", 1.0), ("a b", "e f", 0.0), ("g h", "i j", 0.0)]
    a, b, values = zip(*rows, strict=True)
    with pytest.warns(UserWarning, match="1 training pairs are labelled 0 although"):
        fitted(
            corpus=Pairs(name="mine", text_a=a, text_b=b, values=values, splits="train"),
            epochs=1,
            least=1,
            vectors="random",
        )


def test_a_dev_split_of_which_a_sample_chooses_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus: Any = few("topics", 100)
    monkeypatch.setattr("labkit.training.trained.MOST_ASKING", len(corpus.part("dev")) - 1)
    with pytest.warns(UserWarning, match="of them are asked after each epoch"):
        method = fitted(corpus=corpus, epochs=0)
    assert method._dev(corpus, None) is not None


def test_a_dev_split_that_cannot_choose_is_said() -> None:
    corpus: Any = few("topics", 100)
    labels = [f"label{i}" if split == "dev" else corpus.labels[i] for i, split in enumerate(corpus.splits)]
    alone = Labelled(name="mine", texts=corpus.texts, labels=labels, splits=corpus.splits)
    with pytest.warns(UserWarning, match="dev cannot tell which epoch is best"):
        method = fitted(corpus=alone, epochs=2, patience=1)
    assert len(method.history) == 2


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("half", [True, False])
def test_cuda_learns_the_same(half: bool) -> None:
    here, there = fitted(device="cpu"), fitted(device="cuda", half=half)
    close = partial(np.testing.assert_allclose, atol=0.05 if half else 1e-3)
    close(here.history.column("loss"), there.history.column("loss"))
    texts = list(here.snapshots.texts)
    close((here.encode(texts) * there.encode(texts)).sum(axis=1), np.ones(len(texts)))


def test_a_run_trained_on_another_device_loads_here(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    method = fitted(epochs=1)
    method.settings = PairSettings(**{**method.settings.values(), "device": "mps"})
    method.save(tmp_path / "run")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    again = SentPWNet().load(tmp_path / "run")
    np.testing.assert_allclose(again.encode(["Is it here?"]), method.encode(["Is it here?"]), atol=1e-6)


# --- large batches -----------------------------------------------------------------------------------------------

COMPOSED = [("locality", "informative"), ("contrastive", "none"), ("soft-triplet", "hardest")]


class InPieces(PairTask):
    """The dense way, with dropout's numbers drawn for the pieces that a large batch is encoded in."""

    def embeddings(self, batch: Batch) -> torch.Tensor:
        rows = [self._rows[sentence] for sentence in batch.sentences]
        pieces = [rows[start : start + encoders.CHUNK] for start in range(0, len(rows), encoders.CHUNK)]
        return torch.cat([encoders.embed(self.module, self._reader, piece) for piece in pieces])


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks, tiles, blocks and strips of a few rows, so that 60 sentences meet what 60,000 meet."""
    monkeypatch.setattr(encoders, "CHUNK", 7)
    monkeypatch.setattr(large_batch, "_SIDE", {True: 9, False: 9})
    monkeypatch.setattr(large_batch, "_NUMBERS_AT_ONCE", 40)
    monkeypatch.setattr(large_batch, "_STRIP", 500)


def step_of(kind: type[PairTask], name: str, **settings: Any) -> dict[str, np.ndarray]:
    """Loss, figures and gradients of one batch of 40 pairs, triplets or sentences."""
    corpus = load(name)
    settings = {**SMALL, "batch": 40, "dropout": 0.4, **settings}
    corpus = corpus.take(range(0, 160, 8) if name == "articles" else range(8 * settings["batch"]))
    method = SentPWNet(PairSettings.of(settings))
    method._origin = (name, "", 0)
    method.reader, vectors = reader_and_vectors(corpus, dimension=8)
    torch.manual_seed(0)
    method.network = method._network(vectors)
    needs = LOSSES[method.settings.loss].needs
    source = batch_source(corpus.part("train"), per_class=4, in_batch=method.settings.in_batch, needs=needs)
    task = kind(method.network, method.reader, source, method.settings, 0)
    torch.manual_seed(3)
    loss, note = task.loss(task.batches(1)[0])
    drawn = torch.rand(1)  # who draws next, draws the same
    loss.backward()
    found = {"loss": loss.detach(), "drawn": drawn, **note(), "drawn then": torch.rand(1)}
    for parameter, tensor in task.module.named_parameters():
        if tensor.grad is not None:
            found[parameter] = tensor.grad.to_dense() if tensor.grad.is_sparse else tensor.grad
    return {key: np.asarray(value) for key, value in found.items()}


def check_same_step(monkeypatch: pytest.MonkeyPatch, name: str, **settings: Any) -> None:
    expected = step_of(InPieces, name, **settings)
    monkeypatch.setattr(sentpwnet, "LARGE", 10)
    found = step_of(PairTask, name, **settings)
    assert list(found) == list(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-5, atol=2e-5 * np.abs(value).max(), err_msg=key)
    assert len(expected) > 10
    assert expected["weight_positives"] > 0
    assert all(np.abs(value).max() > 0 for key, value in expected.items() if "." in key)


@pytest.mark.parametrize("name", ["questions", "topics", "captions", "articles"])
@pytest.mark.parametrize(("loss", "miner"), COMPOSED)
def test_a_large_batch_is_the_dense_one(
    small_parts: None, monkeypatch: pytest.MonkeyPatch, name: str, loss: str, miner: str
) -> None:
    check_same_step(monkeypatch, name, loss=loss, miner=miner)


@pytest.mark.parametrize(
    "settings",
    [
        {"encoder": "mean"},
        {"encoder": "lstm", "sparse": False},
        {"encoder": "bilstm", "tune": False},
        {"dropout": 0.0, "batch": 7},
        {"epsilon": 9.0, "beta": 300.0},
        {"epsilon": -0.05, "beta": 300.0, "base": 0.2, "alpha": 7.0},
        {"loss": "locality", "miner": "none"},
        {"loss": "soft-triplet", "miner": "informative"},
    ],
)
def test_a_large_batch_is_the_dense_one_with_every_encoder_and_setting(
    small_parts: None, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    check_same_step(monkeypatch, "questions", **settings)


@pytest.mark.parametrize("name", ["questions", "articles"])
@pytest.mark.parametrize("loss", ["infonce", "supcon", "simcse", "logistic", "margin-triplet"])
def test_a_large_batch_is_the_dense_one_with_every_loss_of_anchors(
    small_parts: None, monkeypatch: pytest.MonkeyPatch, name: str, loss: str
) -> None:
    """Beside the gradients of the encoder that of a temperature that is learned."""
    learns = {"learn_temperature": True} if loss in LEARNED else {}
    check_same_step(monkeypatch, name, loss=loss, temperature=0.2, miner="none", **learns)
    if learns:
        assert "log_temperature" in step_of(PairTask, name, loss=loss, **learns)


@pytest.mark.parametrize("settings", [{"loss": "cosent"}, {"loss": "infonce", "symmetric": True}])
def test_what_compares_all_anchors_at_once_is_refused_in_a_large_batch(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    fitted(epochs=1, **settings)
    monkeypatch.setattr(sentpwnet, "LARGE", 10)
    said = f"expected at most 10 with loss={settings['loss']}.*lower batch, which is 32"
    with pytest.raises(ValueError, match=said):
        fitted(epochs=1, **settings)


def test_a_temperature_is_learned_and_kept(tmp_path: Any) -> None:
    method = fitted(loss="infonce", temperature=0.5, learn_temperature=True, epochs=2)
    found = method.history.column("temperature")
    assert found[0] != found[1]
    assert found[1] == pytest.approx(0.5, rel=0.2)
    method.save(tmp_path / "run")
    again = SentPWNet().load(tmp_path / "run")
    assert np.exp(again._state()[0]["log_temperature"]) != pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(again.encode(["Is it here?"]), method.encode(["Is it here?"]), atol=1e-6)
    assert "temperature" not in fitted(loss="infonce").history.columns


def test_a_run_that_was_written_before_there_were_temperatures_had_1(tmp_path: Any) -> None:
    run = fitted(Triplet, epochs=1).run("finished")
    for known, expected in ((run.settings, 0.2), ({**run.settings, "temperature": None}, 1.0)):
        settings = {name: value for name, value in known.items() if value is not None}
        write_run(replace(run, settings=settings), tmp_path / str(expected))
        assert Triplet().load(tmp_path / str(expected)).settings.temperature == expected


def test_sentences_twice_need_dropout() -> None:
    with pytest.raises(ValueError, match=r"dropout is 0\.0, expected above 0 with loss=simcse"):
        PairSettings(loss="simcse", dropout=0)


def test_all_grades_are_learned_from() -> None:
    """Between 40 and 80 % of the scale no loss but CoSENT sees a pair; and the miner drops none."""
    corpus = few("relatedness", 200)
    part = corpus.part("train")
    ends, whole = (batch_source(part, per_class=2, needs=needs) for needs in ("masks", "grades"))
    assert len(ends.texts) < len(whole.texts) == len(part.sentences())
    method = fitted(corpus=corpus, loss="cosent", temperature=0.1, epochs=1)
    assert method.settings.miner == "informative"
    assert method.history.column("kept_positives") == method.history.column("kept_negatives") == [1]


def test_a_large_batch_has_negatives_from_other_triplets(small_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    check_same_step(monkeypatch, "articles", in_batch=True)


def test_a_large_batch_keeps_a_share_at_random(small_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one strip the pairs that the dense way draws; in several as many of each."""
    monkeypatch.setattr(large_batch, "_STRIP", 10**6)
    check_same_step(monkeypatch, "topics", miner="random", share=0.3)
    monkeypatch.setattr(large_batch, "_STRIP", 500)
    found = step_of(PairTask, "topics", miner="random", share=0.3)
    assert found["kept_positives"] == pytest.approx(0.3, abs=0.03)
    assert found["kept_negatives"] == pytest.approx(0.3, abs=0.01)


def test_without_dropout_a_whole_training_in_large_batches_is_the_dense_one(
    small_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {"corpus": few("topics", 200), "dropout": 0.0, "epochs": 3}
    dense = fitted(**settings)
    monkeypatch.setattr(sentpwnet, "LARGE", 10)
    large = fitted(**settings)
    assert not np.array_equal(state(large), state(dense))  # another way
    np.testing.assert_allclose(state(large), state(dense), atol=1e-4)
    assert large.history.columns == dense.history.columns
    for column in dense.history.columns:
        np.testing.assert_allclose(
            large.history.column(column), dense.history.column(column), rtol=1e-3, err_msg=column
        )


@pytest.mark.parametrize(("loss", "miner"), [("locality", "informative"), ("contrastive", "informative")])
@pytest.mark.parametrize("name", ["questions", "articles"])
def test_a_large_batch_makes_no_square(
    small_parts: None, monkeypatch: pytest.MonkeyPatch, name: str, loss: str, miner: str
) -> None:
    """Of 190 sentences and more no tensor has a number for every two, nor one for every word and dimension."""
    settings: dict[str, Any] = {"loss": loss, "miner": miner, "batch": 150, "in_batch": True, "vectors": "random"}
    with LargestTensor() as dense:
        step_of(PairTask, name, **settings)
    monkeypatch.setattr(sentpwnet, "LARGE", 100)
    with LargestTensor() as large:
        step_of(PairTask, name, **settings)
    assert dense.numbers > 190**2
    assert large.numbers < 190**2 / 2


def test_in_a_large_batch_a_word_has_one_row_of_the_gradient_however_often_it_is_read(small_parts: None) -> None:
    method = fitted(corpus=few(rows=40), epochs=0)
    rows = [[2, 3, 2], [3], [4, 4, 4, 2]] * 20
    encoders.embed_in_chunks(method.network, method.reader, rows).sum().backward()
    assert method.network.words.table.weight.grad._nnz() <= len({0, 2, 3, 4})


def test_batches_of_up_to_2048_sentences_stay_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sentpwnet.LARGE == 2048
    monkeypatch.setattr(sentpwnet, "embed_in_chunks", None)
    monkeypatch.setattr(sentpwnet, "noted_locality", None)
    step_of(PairTask, "questions")


def test_a_diverged_encoder_is_said_in_a_large_batch(small_parts: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentpwnet, "LARGE", 10)
    embedded = encoders.embed_alone
    monkeypatch.setattr(encoders, "embed_alone", lambda *given: embedded(*given) * np.nan)
    with pytest.raises(ValueError, match="not finite, expected numbers; lower the learning rate"):
        step_of(PairTask, "questions")
