"""`Recorder`: the run it writes, its scores and its alarm; a trainer gives the same model with it."""

from __future__ import annotations

import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from labkit.adapters import Recorder
from labkit.adapters.recorder import collapsed
from labkit.arrays import unit
from labkit.corpora import load
from labkit.evaluation import hit_at
from labkit.evaluation.geometry import effective_rank, mean_cosine, probe_figures
from labkit.methods import load_run
from labkit.runs import read_run
from labkit.sentpwnet.method import SentPWNet
from tests.tiny_sbert import tiny_sbert

TEXTS = [f"sentence {number}" for number in range(12)]
LABELS = [f"class {number % 3}" for number in range(12)]


def vectors(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((12, 5)).astype(np.float32)


def test_a_recorded_run_has_the_vectors_and_their_scores(tmp_path: Path) -> None:
    recorder = Recorder(TEXTS, LABELS, folder=tmp_path / "run")
    for step in (0, 10, 20):
        row = recorder.record(step, lambda texts, step=step: vectors(step), loss=1 / (step + 1))
    recorder.finish()
    assert row["probe_mean_cosine"] == pytest.approx(mean_cosine(vectors(20)))
    assert row["probe_effective_rank"] == pytest.approx(effective_rank(vectors(20)))
    assert row["probe_hit@1"] == hit_at(vectors(20), np.arange(12) % 3, [1])[1]
    assert read_run(tmp_path / "run").state == "finished"
    run = load_run(tmp_path / "run")
    assert run.snapshots.epochs.tolist() == run.history.column("epoch") == [0, 10, 20]
    np.testing.assert_array_equal(run.snapshots.vectors[1], vectors(10))
    assert run.snapshots.labels == tuple(LABELS)
    assert run.history.column("loss") == [1, 1 / 11, 1 / 21]
    np.testing.assert_array_equal(run.encode(TEXTS), vectors(20))


@pytest.mark.parametrize("labels", [LABELS, None])
def test_the_sentences_are_saved_as_the_corpus_of_the_run(labels: list[str] | None, tmp_path: Path) -> None:
    Recorder(TEXTS, labels, folder=tmp_path).record(0, lambda texts: vectors(0))
    assert read_run(tmp_path).fingerprint == load(tmp_path / "sentences.csv").fingerprint


def test_a_sample_of_a_corpus_is_followed(tmp_path: Path) -> None:
    corpus = load("topics")
    Recorder(corpus, folder=tmp_path).record(0, lambda texts: np.array([[len(text), 1.0] for text in texts]))
    run = load_run(tmp_path)
    assert len(run.snapshots.texts) == 100
    classes = dict(zip(corpus.texts, corpus.labels, strict=True))
    assert run.snapshots.labels == tuple(classes[text] for text in run.snapshots.texts)


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="sentences"):
        Recorder(["one"], folder=tmp_path / "one")
    with pytest.raises(ValueError, match="label"):
        Recorder(TEXTS, LABELS[:3], folder=tmp_path / "few")
    Recorder(TEXTS, folder=tmp_path / "run").record(0, lambda texts: vectors(0))
    with pytest.raises(ValueError, match="folder"):
        Recorder(TEXTS, folder=tmp_path / "run")


def drawn(spread: float, seed: int, classes: bool) -> np.ndarray:
    """Random vectors around one point or, with `classes`, around one point per class."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((3, 5)) if classes else np.zeros((3, 5))
    around = centres[np.arange(12) % 3] + random.standard_normal((12, 5))
    return np.array([10.0, 0, 0, 0, 0]) + spread * around


def test_a_collapse_is_reported_once(tmp_path: Path) -> None:
    recorder = Recorder(TEXTS, folder=tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorder.record(0, lambda texts: drawn(3.0, 0, False))
        recorder.record(3, lambda texts: drawn(1.0, 0, False))
    with pytest.warns(UserWarning, match="after 5 steps the vectors .*learning rate"):
        recorder.record(5, lambda texts: drawn(0.4, 1, False))  # crowded compared with step 0, not with step 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorder.record(10, lambda texts: drawn(0.05, 2, False))


def test_crowded_vectors_in_a_better_order_are_no_collapse(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorder = Recorder(TEXTS, LABELS, folder=tmp_path)
        recorder.record(0, lambda texts: drawn(3.0, 0, False))
        recorder.record(5, lambda texts: np.array([10.0, 0, 0, 0, 0]) + np.eye(5)[np.arange(12) % 3 + 1])


def test_crowded_vectors_in_a_worse_order_are_a_collapse(tmp_path: Path) -> None:
    recorder = Recorder(TEXTS, LABELS, folder=tmp_path)
    recorder.record(0, lambda texts: drawn(3.0, 0, True))
    with pytest.warns(UserWarning, match="MAP@R fell"):
        recorder.record(5, lambda texts: drawn(0.5, 4, False))


def test_without_classes_a_twentieth_of_the_room_is_a_collapse() -> None:
    start = {"probe_mean_cosine": 0.6}
    assert not collapsed(start, {"probe_mean_cosine": 0.97})  # 0.03 of 0.4 is left
    assert collapsed(start, {"probe_mean_cosine": 0.985})


@pytest.mark.parametrize("name", ["sentpwnet-topics", "pthought-captions"])
def test_no_alarm_on_a_bundled_run(name: str) -> None:
    assert not alarms(load_run(Path("data/runs") / name))


def test_an_alarm_on_a_broken_training() -> None:
    """The settings of notebook 9, which collapse in the first epoch."""
    from labkit.course.plans import BROKEN

    method = SentPWNet(**{**BROKEN, "epochs": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        method.fit(load("topics"), seed=0)
    assert alarms(method)[0] == 1


def alarms(method: Any) -> list[int]:
    """The epochs of a run that count as collapsed."""
    kept = method.snapshots
    start, *later = (probe_figures(kept.labels, rows) for rows in kept.vectors)
    return [int(epoch) for epoch, row in zip(kept.epochs[1:], later, strict=True) if collapsed(start, row)]


def test_recording_takes_a_fortieth_of_the_training_and_only_in_the_first_process(tmp_path: Path) -> None:
    def begun(**differs: Any) -> Recorder:
        recorder = Recorder(TEXTS, folder=tmp_path / "-".join(map(str, differs.values())))
        usual = {"max_steps": 1000, "global_step": 0, "is_world_process_zero": True}
        state = SimpleNamespace(log_history=[{"loss": 3.0}, {"loss": 2.0}], **usual | differs)
        args = SimpleNamespace(per_device_train_batch_size=1)
        recorder.on_train_begin(args, state, None, model=lambda texts: vectors(0))
        return recorder

    recorder = begun(max_steps=1000)
    cost = len(TEXTS) / 8  # per record, in steps of one pair
    assert 0.02 < (1000 / (recorder.every or 1) + 1) * cost / 1000 <= 0.025
    assert [row["loss"] for row in recorder.rows] == [2.0]
    assert begun(max_steps=1_000_000).every == 25_642  # at most 40 records
    assert begun(is_world_process_zero=False).rows == []


class Modes(nn.Module):
    """A model with a frozen part, which stays in evaluation mode during training."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen, self.learning = nn.Dropout(), nn.Dropout()
        self.frozen.eval()

    def encode(self, texts: list[str]) -> torch.Tensor:
        self.eval()
        weight = torch.ones(1, requires_grad=True)
        return weight * torch.ones(len(texts), 2) + torch.arange(len(texts))[:, None] * torch.tensor([1.0, 0])


def test_recording_restores_the_training_modes(tmp_path: Path) -> None:
    model = Modes()
    Recorder(TEXTS, folder=tmp_path).record(0, model)
    assert (model.training, model.learning.training, model.frozen.training) == (True, True, False)


def trained(folder: Path, *callbacks: Any) -> Any:
    sentence_transformers = pytest.importorskip("sentence_transformers", reason="needs the extra 'sbert'")
    datasets = pytest.importorskip("datasets", reason="needs the extra 'sbert'")
    model = sentence_transformers.SentenceTransformer(tiny_sbert(), device="cpu")
    pairs = datasets.Dataset.from_dict(
        {"a": ["the cat", "a dog", "the road", "a lake"] * 6, "b": ["a cat", "the dog"] * 12}
    )
    quiet = {"report_to": "none", "disable_tqdm": True, "save_strategy": "no", "logging_steps": 2}
    steps = sentence_transformers.SentenceTransformerTrainingArguments(
        str(folder), max_steps=6, per_device_train_batch_size=4, **quiet
    )
    losses = pytest.importorskip("sentence_transformers.sentence_transformer.losses")
    loss = losses.MultipleNegativesRankingLoss(model)
    sentence_transformers.SentenceTransformerTrainer(model, steps, pairs, loss=loss, callbacks=list(callbacks)).train()
    return model


def test_a_trainer_is_recorded_and_trains_the_same_model(tmp_path: Path) -> None:
    texts, labels = ["the cat", "a cat", "the dog", "a dog"], ["cat", "cat", "dog", "dog"]
    recorder = Recorder(texts, labels, folder=tmp_path / "run", every=2)
    model = trained(tmp_path / "one", recorder)
    alone = trained(tmp_path / "two")
    run = load_run(tmp_path / "run")
    assert run.snapshots.epochs.tolist() == [0, 2, 4, 6]
    np.testing.assert_allclose(run.encode(texts), model.encode(texts), atol=1e-6)
    np.testing.assert_array_equal(model.encode(texts), alone.encode(texts))
    assert np.isfinite(run.history.column("loss")[-1])
    assert np.abs(unit(run.snapshots.vectors[0]) - unit(run.snapshots.vectors[-1])).max() > 1e-4
