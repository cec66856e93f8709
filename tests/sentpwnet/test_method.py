"""SentPWNet and its baselines: losses and miners, training, history, settings, and large batches."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from labkit import pairs
from labkit.corpora import load
from labkit.corpora.records import Corpus, Labelled, Pairs
from labkit.evaluation.geometry import probe_figures
from labkit.evaluation.scores import score
from labkit.pairs import large_batch
from labkit.pairs.losses import LOSSES
from labkit.progress import silent
from labkit.runs import write_run
from labkit.sentpwnet import method as sentpwnet
from labkit.sentpwnet.batches import Batch
from labkit.sentpwnet.method import PairTask, SentPWNet, Siamese, Triplet, _figures, batch_source, miner_of
from labkit.sentpwnet.settings import PairSettings
from labkit.training import encoders
from labkit.training.reader import reader_and_vectors
from labkit.training.trained import FEWEST, probe_of

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


def largest(batches: Sequence[Batch]) -> Batch:
    """The largest batch, because the first may be a single pair with nothing to learn."""
    return max(batches, key=lambda batch: len(batch.sentences))


def test_three_methods_differ_only_in_loss_and_miner() -> None:
    ours, first, second = PairSettings(), Siamese().settings, Triplet().settings
    assert (ours.loss, ours.miner) == ("locality", "informative")
    assert (first.loss, first.miner) == ("contrastive", "none")
    assert (second.loss, second.miner) == ("soft-triplet", "hardest")
    assert (first.margin, second.temperature) == (0.8, 0.2)  # chosen on dev, as λ, β and ε were
    same = {"loss": "", "miner": "", "margin": 0.0, "temperature": 0.0}
    assert ours.values() | same == first.values() | same == second.values() | same


def test_history_by_hand() -> None:
    """Three sentences with known cosines, two of one class: kept shares, weights m |dL/dS|, spread of S."""
    S = torch.tensor([[1.0, 0.5, 0.2], [0.5, 1.0, 0.3], [0.2, 0.3, 1.0]], requires_grad=True)
    P, N = pairs.masks_from_labels([0, 0, 1])
    kept_P, kept_N = P.clone(), N.clone()
    kept_N[2, 0] = False
    pairs.contrastive(S, kept_P, kept_N, margin=0.25).backward()
    found = {name: float(value) for name, value in _figures(S, P, N, kept_P, kept_N, 1).items()}
    assert found["kept_positives"] == 1
    assert found["kept_negatives"] == 3 / 4
    assert found["weight_positives"] == pytest.approx(1)
    assert found["weight_negatives"] == pytest.approx(2 / 3)  # of the three kept pairs, S = 0.2 is below the margin
    assert found["spread"] == pytest.approx(np.std([0.5, 0.2, 0.5, 0.3, 0.2, 0.3]))


def test_history_has_a_row_per_epoch_and_the_dev_score() -> None:
    method = fitted()
    expected = ["epoch", "loss", "kept_positives", "kept_negatives", "weight_positives", "weight_negatives", "spread"]
    assert method.history.columns == [*expected, "gradient", "dev_auc", *probe_figures(["a", "a"], np.eye(2))]
    assert len(method.history) == 2
    assert all(0 < row["kept_negatives"] < 1 for row in method.history.rows)
    assert fitted(Siamese).history.column("kept_negatives") == [1, 1]


def test_the_loss_is_the_mean_over_prefixes() -> None:
    """Each prefix is normalised and has its own pairs and loss; the statistics are those of the whole vectors."""
    tasks = []
    for dims in ("", "8, 3"):
        corpus, method = few(), SentPWNet(PairSettings(**SMALL, matryoshka_dims=dims, dropout=0.0))
        method._origin = ("questions", "", 0)
        tasks.append(method._task(corpus, 0, silent))
    plain, task = tasks
    batch = largest(task.batches(1))
    expected = 0.0
    for cut in (3, 8, 12):
        V = torch.nn.functional.normalize(plain.outputs(batch).detach()[:, :cut], dim=1)
        S = V @ V.T
        P, N = pairs.informative(S.clamp(-1, 1), *batch.masks(S.device), epsilon=0.3)
        expected += float(pairs.locality(S, P, N, base=0.9, beta=20.0)) / 3
    found, note = task.loss(task.outputs(batch), batch)
    assert expected > 0
    assert found.item() == pytest.approx(expected, rel=1e-5)
    found.backward()
    value, plain_note = plain.loss(plain.outputs(batch), batch)
    value.backward()
    for name, figure in plain_note().items():
        assert float(note()[name]) == pytest.approx(float(figure), rel=1e-4), name


# --- large batches -----------------------------------------------------------------------------------------------


class InPieces(PairTask):
    """The dense computation, with dropout drawn for the same chunks as in a large batch."""

    def outputs(self, batch: Batch, rows: slice = slice(None)) -> torch.Tensor:
        pieces = [batch.sentences[start : start + encoders.CHUNK] for start in range(0, len(batch), encoders.CHUNK)]
        return torch.cat([encoders.embed(self.module, *self._rows.batch(piece)) for piece in pieces])


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks and strips of a few rows, so that 60 sentences take the code paths of 60,000."""
    monkeypatch.setattr(encoders, "CHUNK", 7)
    monkeypatch.setattr(large_batch, "_STRIP", 500)


def step_of(kind: type[PairTask], name: str, **settings: Any) -> dict[str, np.ndarray]:
    """Loss, statistics and gradients of one batch of 40 pairs, triplets or sentences."""
    corpus = load(name)
    settings = {**SMALL, "batch": 40, "dropout": 0.4, "vectors": "random", **settings}
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
    batch = largest(task.batches(1))
    loss, note = task.loss(task.outputs(batch), batch)
    drawn = torch.rand(1)  # the random state afterwards must agree, too
    loss.backward()
    found = {"loss": loss.detach(), "drawn": drawn, **note(), "drawn then": torch.rand(1)}
    for parameter, tensor in task.module.named_parameters():
        if tensor.grad is not None:
            found[parameter] = tensor.grad.to_dense() if tensor.grad.is_sparse else tensor.grad
    return {key: np.asarray(value) for key, value in found.items()}


@pytest.mark.parametrize("settings", [{"loss": "cosent"}, {"loss": "infonce", "symmetric": True}])
def test_losses_that_compare_all_anchors_refuse_a_large_batch(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    fitted(epochs=1, **settings)
    monkeypatch.setattr(sentpwnet, "LARGE", 10)
    with pytest.raises(ValueError, match="10"):
        fitted(epochs=1, **settings)


def test_a_learned_temperature_changes_and_is_saved(tmp_path: Any) -> None:
    method = fitted(loss="infonce", temperature=0.5, learn_temperature=True, epochs=2)
    found = method.history.column("temperature")
    assert found[0] != found[1]
    assert found[1] == pytest.approx(0.5, rel=0.2)
    method.save(tmp_path / "run")
    again = SentPWNet().load(tmp_path / "run")
    assert np.exp(again._state()[0]["log_temperature"]) != pytest.approx(0.5, abs=1e-6)
    np.testing.assert_allclose(again.encode(["Is it here?"]), method.encode(["Is it here?"]), atol=1e-6)
    assert "temperature" not in fitted(loss="infonce").history.columns


def test_runs_saved_before_temperatures_existed_load_with_1(tmp_path: Any) -> None:
    run = fitted(Triplet, epochs=1).run("finished")
    for known, expected in ((run.settings, 0.2), ({**run.settings, "temperature": None}, 1.0)):
        settings = {name: value for name, value in known.items() if value is not None}
        write_run(replace(run, settings=settings), tmp_path / str(expected))
        assert Triplet().load(tmp_path / str(expected)).settings.temperature == expected


def test_cosent_uses_all_grades() -> None:
    """Only CoSENT uses pairs between 40 and 80 % of the scale, and the miner drops none of its pairs."""
    corpus = few("relatedness", 200)
    part = corpus.part("train")
    ends, whole = (batch_source(part, per_class=2, needs=needs) for needs in ("masks", "grades"))
    assert len(ends.texts) < len(whole.texts) == len(part.sentences())
    method = fitted(corpus=corpus, loss="cosent", temperature=0.1, epochs=1)
    assert method.settings.miner == "informative"
    assert method.history.column("kept_positives") == method.history.column("kept_negatives") == [1]


@pytest.mark.whole
@pytest.mark.parametrize("kind", [SentPWNet, Siamese, Triplet])
def test_each_method_separates_classes(kind: type[SentPWNet]) -> None:
    """Three classes of two colour words each are separated, which untrained vectors fail to do."""
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
    method = fitted(kind, corpus, epochs=40, vectors="random", learning_rate=0.01, batch=48, per_class=8, min_count=1)
    assert score(method, corpus).figures["hit@1"] > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        untrained = fitted(kind, corpus, epochs=1, vectors="random", learning_rate=1e-9, min_count=1)
    assert score(untrained, corpus).figures["hit@1"] < 0.75


@pytest.mark.parametrize(("rows", "scored"), [(FEWEST - 1, False), (FEWEST, True)])
def test_a_tiny_dev_split_does_not_choose_the_epoch(rows: int, scored: bool) -> None:
    corpus = load("topics")
    train = [at for at, split in enumerate(corpus.splits) if split == "train"][:60]
    dev = [at for at, split in enumerate(corpus.splits) if split == "dev"][:rows]
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        history = fitted(corpus=corpus.take([*train, *dev]), epochs=3, patience=1).history
    assert any(name.startswith("dev_") for name in history.columns) is scored
    assert scored or len(history) == 3  # no early stop: all epochs are trained
    assert any(str(rows) in str(each.message) for each in notes) is not scored


def test_the_probe_has_all_of_several_alternating_classes() -> None:
    count = 3
    corpus = Labelled([f"word {i}" for i in range(900)], [f"c{i % count}" for i in range(900)], splits=["dev"] * 900)
    probe = probe_of(corpus)
    assert len(probe.texts) == 300
    assert set(probe.labels) == set(corpus.labels)
    assert all(
        corpus.labels[corpus.texts.index(text)] == label for text, label in zip(probe.texts, probe.labels, strict=True)
    )


def test_with_a_tiny_dev_split_the_probe_comes_from_train() -> None:
    texts, labels = [f"word {i}" for i in range(80)], [*"ab"] * 40
    for dev in (8, 30):
        corpus = Labelled(texts, labels, splits=["dev"] * dev + ["train"] * (80 - dev))
        assert set(probe_of(corpus).texts) == set(texts[:dev] if dev == 30 else texts[dev:])


def test_settings_reach_the_miners_and_the_batches() -> None:
    rows = torch.nn.functional.normalize(torch.randn(6, 4, generator=torch.Generator().manual_seed(0)), dim=1)
    S, (P, N) = rows @ rows.T, pairs.masks_from_labels([0, 0, 1, 1, 2, 2])
    kept = miner_of(PairSettings(epsilon=0.4))(S, P, N)
    assert all(map(torch.equal, kept, pairs.informative(S, P, N, epsilon=0.4)))
    assert all(map(torch.equal, miner_of(PairSettings(miner="hardest"))(S, P, N), pairs.hardest(S, P, N)))
    assert all(map(torch.equal, miner_of(PairSettings(miner="none"))(S, P, N), (P, N)))
    half = miner_of(PairSettings(miner="random", share=0.5))(S, P, N)
    assert (half[0].sum(), half[1].sum()) == (P.sum() // 2, N.sum() // 2)
    for corpus, settings in (
        (few("topics", 200), {"per_class": 2}),
        (load("articles").take(range(0, 160, 8)), {"in_batch": True}),
        (few(), {"labelled": True}),
    ):
        plain, other = (
            SentPWNet(PairSettings.of(given))._source(corpus, 0).batches([3] * 9999, 16, 0) for given in ({}, settings)
        )
        assert plain != other, settings


def labelled_pairs(connected: int) -> Corpus:
    """Return 60 pairs with no common sentence, and `connected` times a positive and a negative pair that share one."""
    a = [f"apple {number}" for number in range(60)]
    b = [f"berry {number}" for number in range(60)]
    for number in range(connected):
        a += [f"cherry {number}"] * 2
        b += [f"date {number}", f"elder {number}"]
    return Pairs(a, b, [number % 2 for number in range(len(a))], splits="train")


@pytest.mark.parametrize("kind", [SentPWNet, Triplet])
def test_training_without_a_usable_pair_is_refused(kind: type[SentPWNet]) -> None:
    settings = {"labelled": True, "batch": 4, "unit": "words", "vectors": "random", "min_count": 1}
    with pytest.raises(ValueError, match="labelled=no"):
        fitted(kind, labelled_pairs(0), **settings)
    with pytest.raises(ValueError, match="labelled=no"):  # an epoch has fewer batches than the check waits for
        fitted(kind, labelled_pairs(0), **settings | {"batch": 64})
    fitted(kind, labelled_pairs(0), **settings | {"miner": "none", "loss": "contrastive"})


def test_training_that_keeps_few_pairs_warns() -> None:
    settings = {"labelled": True, "unit": "words", "vectors": "random", "min_count": 1, "batch": 256, "epsilon": 2.0}
    with pytest.warns(UserWarning, match="labelled=no"):
        fitted(corpus=labelled_pairs(5), **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(corpus=labelled_pairs(60), **settings)  # 60 anchors keep their positive


def test_only_a_loss_without_labels_trains_on_one_class_and_it_needs_dropout() -> None:
    texts = few("topics", 60).sentences()
    alone = Labelled(texts, ["one"] * len(texts), splits="train")
    with pytest.raises(ValueError, match="two"):
        fitted(corpus=alone, epochs=1)
    method = fitted(corpus=alone, loss="simcse", dropout=0.1, epochs=1)
    assert np.isfinite(method.history.column("loss")).all()
    with pytest.raises(ValueError, match="dropout"):
        PairSettings(loss="simcse", dropout=0)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("questions", {}),
        ("topics", {"encoder": "bilstm", "tune": False}),
        ("captions", {"loss": "contrastive", "miner": "none", "encoder": "lstm", "sparse": False}),
        ("articles", {"loss": "soft-triplet", "miner": "hardest"}),
        ("articles", {"in_batch": True}),
        ("questions", {"epsilon": -0.05, "beta": 300.0, "base": 0.2, "alpha": 7.0}),
        ("questions", {"loss": "infonce", "temperature": 0.2, "miner": "none", "learn_temperature": True}),
        ("questions", {"loss": "simcse", "temperature": 0.2, "miner": "none", "learn_temperature": True}),
        ("questions", {"loss": "supcon", "miner": "none"}),
        ("questions", {"matryoshka_dims": "3,8"}),
    ],
)
def test_a_large_batch_equals_the_dense_one(
    small_parts: None, monkeypatch: pytest.MonkeyPatch, name: str, settings: dict[str, Any]
) -> None:
    """Loss, statistics, the encoder's gradients, and that of a learned temperature."""
    expected = step_of(InPieces, name, **settings)
    monkeypatch.setattr(sentpwnet, "LARGE", 10)
    found = step_of(PairTask, name, **settings)
    assert list(found) == list(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-5, atol=2e-5 * np.abs(value).max(), err_msg=key)
    assert len(expected) > 10
    assert expected["weight_positives"] > 0
    assert all(np.abs(value).max() > 0 for key, value in expected.items() if "." in key)
    assert ("log_temperature" in found) == settings.get("learn_temperature", False)


def test_weights_that_do_not_fit_are_refused() -> None:
    arrays, words = fitted(epochs=1)._state()
    *others, name = arrays
    fewer = {each: arrays[each] for each in others}
    for wrong in (fewer, arrays | {"more": arrays[name]}, arrays | {name: np.ones(3)}):
        with pytest.raises(ValueError, match=r"model\.safetensors"):
            SentPWNet(PairSettings.of(SMALL))._restore(wrong, words)
