"""The training loop: learning, early stopping, the best epoch, failures, interruption and resuming; the optimiser."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from labkit import interrupts
from labkit.corpora import load
from labkit.corpora.records import Corpus
from labkit.methods import METHODS
from labkit.progress import silent
from labkit.runs import History, Snapshots, read_checkpoint, read_run
from labkit.sentpwnet.method import SentPWNet
from labkit.sentpwnet.settings import PairSettings
from labkit.training import Training, loop, train
from labkit.training.loop import Adam, clip_
from tests.sharded import sharded

SMALL = PairSettings(epochs=6, patience=0, size=12, dimension=8, dropout=0.3, batch=32)


def few(name: str = "questions", rows: int = 200) -> Corpus:
    corpus = load(name)
    return corpus.take([*range(rows), *[i for i, split in enumerate(corpus.splits) if split == "dev"][:100]])


class Line:
    """Fit y = 2x with a single weight, so that every step of the loop can be checked by hand."""

    def __init__(self, devs: Sequence[float] = (), spreads: Sequence[float] = (), slope: float = 0.0) -> None:
        self.module = nn.Linear(1, 1, bias=False)
        nn.init.constant_(self.module.weight, slope)
        self.devs, self.spreads = list(devs), spreads
        self.seen: list[tuple[int, Any]] = []
        self.epoch = 0

    def batches(self, epoch: int) -> Sequence[float]:
        self.epoch = epoch
        return [1.0, -1.0]

    def outputs(self, batch: float, rows: slice) -> Tensor:
        self.seen.append((self.epoch, batch))
        return self.module(torch.tensor([[batch]]))

    def loss(self, outputs: Tensor, batch: float) -> tuple[Tensor, Callable[[], dict[str, float]]]:
        note = {"spread": self.spreads[self.epoch - 1]} if self.spreads else {}
        return ((outputs - 2 * batch) ** 2).sum(), lambda: note

    def dev(self) -> tuple[str, float]:
        return "dev_made_up", self.devs[self.epoch - 1]

    def encode(self, texts: list[str]) -> np.ndarray:
        return self.module.weight.detach().numpy().copy()


def run(task: Line, **settings: Any) -> tuple[History, Snapshots]:
    probe = Snapshots(("x",), ("a",))
    dev = task.dev if task.devs else None
    return train(task, Training(**settings), seed=0, progress=silent, dev=dev, probe=probe, encode=task.encode)


def test_it_learns_and_records() -> None:
    task = Line()
    history, snapshots = run(task, epochs=60, learning_rate=0.1, patience=0)
    assert task.module.weight.item() == pytest.approx(2, abs=0.05)
    assert history.columns == ["epoch", "loss", "gradient"]
    assert history.column("epoch") == list(range(1, 61))
    assert history.column("loss")[0] > 100 * history.column("loss")[-1]
    assert snapshots.vectors.shape == (61, 1, 1)
    assert snapshots.vectors[0, 0, 0] == 0  # before training
    assert snapshots.epochs.tolist() == list(range(61))
    assert task.module.weight.item() == snapshots.vectors[-1, 0, 0]  # without dev, the last epoch is kept


def test_the_first_step_by_hand() -> None:
    """Loss (0 - 2)² = 4, gradient |-4| for x = 1; Adam's first step is the learning rate, so the next loss is 1.9²."""
    history, _ = run(Line(), epochs=1, learning_rate=0.1)
    assert history.rows[0]["loss"] == pytest.approx((4 + 1.9**2) / 2, rel=1e-6)
    assert history.rows[0]["gradient"] == pytest.approx((4 + 3.8) / 2, rel=1e-6)


def test_clipping_shortens_the_gradient() -> None:
    """Adam's first step hides the length, but after two different gradients the clipped run has another weight."""
    free, held = Line(), Line(slope=0.0)
    run(free, epochs=2, learning_rate=0.5, max_grad_norm=0)
    run(held, epochs=2, learning_rate=0.5, max_grad_norm=3.0)  # only the first gradient, 4, is clipped
    assert free.module.weight.item() != held.module.weight.item()


def test_it_stops_when_dev_does_not_improve_and_keeps_the_best() -> None:
    task = Line(devs=[0.1, 0.5, 0.4, 0.5, 0.3, 0.9])
    history, snapshots = run(task, epochs=6, patience=3, learning_rate=0.1)
    assert len(history) == 5  # best in epoch 2, then three without improvement; an equal score is none
    assert history.column("dev_made_up") == [0.1, 0.5, 0.4, 0.5, 0.3]
    assert task.module.weight.item() == snapshots.vectors[2, 0, 0]
    assert len(run(Line(devs=[0.1, 0.5, 0.4, 0.5, 0.3, 0.9]), epochs=6, patience=0)[0]) == 6


def test_collapse_is_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    for spreads in ((0.1,), (0.004,), (0.004, 0.006, 0.2), (0.2, 0.1)):  # some start in a narrow cone and leave it
        run(Line(spreads=spreads), epochs=len(spreads))
        assert not recwarn.list
    for spreads in ((0.0009,), (0.1, 0.009), (0.004, 0.003)):
        with pytest.warns(UserWarning, match=f"epoch {len(spreads)} .*learning_rate"):
            run(Line(spreads=spreads), epochs=len(spreads))


def test_a_training_that_cannot_work_stops_before_changing_weights() -> None:
    task = Line(slope=1e20)  # its square overflows float32
    with pytest.raises(ValueError, match="learning_rate"):
        run(task, epochs=1)
    assert task.module.weight.item() == pytest.approx(1e20)
    task = Line()
    task.batches = lambda epoch: []
    with pytest.raises(ValueError, match="batch"):
        run(task, epochs=1)


def test_the_last_good_checkpoint_is_kept_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    method = SentPWNet(SMALL)
    whole = loop._Loop._step

    def breaks(self: Any, batch: Any, number: int) -> None:
        if self.at.epoch == 3:
            with torch.no_grad():
                next(self.task.module.body.parameters()).fill_(float("nan"))
        whole(self, batch, number)

    monkeypatch.setattr(loop._Loop, "_step", breaks)
    with pytest.raises(ValueError, match="nan|NaN"):
        method.fit(few(), folder=tmp_path / "run")
    kept = SentPWNet().load(tmp_path / "run")
    assert len(kept.history) == 2
    assert np.isfinite(kept.encode(["Is this still here?"])).all()


def test_the_global_generator_is_left_as_it_was() -> None:
    task = Line()
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    run(task, epochs=2)
    assert torch.equal(torch.rand(1), expected)


class Dropped(Line):
    """A line that records a dropout mask of 32 values at each step."""

    def __init__(self) -> None:
        super().__init__()
        self.masks: list[tuple[float, ...]] = []

    def outputs(self, batch: float, rows: slice) -> Tensor:
        self.masks.append(tuple(nn.functional.dropout(torch.ones(32), 0.5).tolist()))
        return super().outputs(batch, rows)


def test_each_step_has_its_own_dropout_mask() -> None:
    """It depends on seed, epoch and batch: one mask per epoch would train only half of the network at a time."""
    found = []
    for seed in (0, 0, 1):
        task = Dropped()
        train(task, Training(epochs=3), seed=seed, progress=silent)
        found.append(task.masks)
    assert len(set(found[0])) == 3 * 2
    assert found[0] == found[1]
    assert not set(found[0]) & set(found[2])


# --- interruption and resuming ----------------------------------------------------------------------------------


class Interrupted(Exception):
    pass


SENTPWNET = {**SMALL.values(), "epochs": 3}
PTHOUGHT = {"epochs": 2, "patience": 0, "batch": 16, "hidden": 6, "decoder_hidden": 7, "dimension": 5, "device": "cpu"}
THEMATIC = {"epochs": 2, "patience": 0, "size": 12, "dimension": 8, "batch": 64, "rule": "both", "pace": 0.5}
RESUMED = [
    ("sentpwnet", SENTPWNET, 9),
    ("sentpwnet", SENTPWNET | {"sparse": False}, 13),
    ("pthought", PTHOUGHT | {"dropout": 0.3, "tune": True}, 3),
    ("thematic", THEMATIC | {"dropout": 0.3}, 7),
    ("streamed", THEMATIC | {"dropout": 0.3, "rule": "adjacent"}, 4),
]


class Kept:
    """A keeper that has its last checkpoint in memory instead of a folder."""

    last: tuple[dict[str, np.ndarray], dict[str, Any]] | None = None

    def checkpoint(self, arrays: dict[str, np.ndarray], record: dict[str, Any]) -> None:
        self.last = {name: array.copy() for name, array in arrays.items()}, deepcopy(record)

    def resume(self) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        return self.last


class Stopped(Line):
    """A line that is interrupted at the start of its third epoch."""

    def outputs(self, batch: float, rows: slice) -> Tensor:
        if self.epoch == 3:
            raise Interrupted
        return super().outputs(batch, rows)


def test_resume_restores_the_weights_of_the_best_epoch() -> None:
    """Dev was best after epoch 1, so a resumed run returns those weights, not its latest."""
    store = Kept()

    def train_to_the_end(task: Line, store: Any = None) -> float:
        settings = Training(epochs=4, patience=0, learning_rate=0.1)
        train(task, settings, seed=0, progress=silent, store=store, dev=task.dev)
        return task.module.weight.item()

    devs = [0.9, 0.1, 0.2, 0.3]
    with pytest.raises(Interrupted):
        train_to_the_end(Stopped(devs), store)
    resumed = Line(devs)
    assert train_to_the_end(resumed, store) == train_to_the_end(Line(devs))
    assert [epoch for epoch, _ in resumed.seen] == [3, 3, 4, 4]  # it did not start over


@pytest.mark.filterwarnings("ignore:dev cannot tell", "ignore:.*are skipped", "ignore:.*embeddings have collapsed")
@pytest.mark.parametrize(("name", "settings", "step"), RESUMED)
def test_resumed_equals_uninterrupted_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, settings: dict[str, Any], step: int
) -> None:
    """A run that stopped after any step, even within an epoch, is resumed by a new object."""
    corpus = {
        "sentpwnet": few,
        "pthought": lambda: few("captions", 45),
        "thematic": lambda: few("articles", 6),
        "streamed": lambda: sharded(few("articles", 6)),
    }[name]()
    name = "thematic" if name == "streamed" else name
    METHODS[name](**settings).fit(corpus, seed=3, folder=tmp_path / "straight")
    monkeypatch.setattr(loop, "CHECKPOINT_SECONDS", -1.0)  # after every step
    whole, count = loop._Loop._step, 0

    def breaks(self: Any, batch: Any, number: int) -> None:
        nonlocal count
        if count == step:
            raise Interrupted
        count += 1
        whole(self, batch, number)

    with monkeypatch.context() as patch:
        patch.setattr(loop._Loop, "_step", breaks)
        with pytest.raises(Interrupted):
            METHODS[name](**settings).fit(corpus, seed=3, folder=tmp_path / "broken")
    METHODS[name](**settings).fit(corpus, seed=3, folder=tmp_path / "broken")
    first, second = read_run(tmp_path / "straight"), read_run(tmp_path / "broken")
    assert all(np.array_equal(first.arrays[name], second.arrays[name]) for name in first.arrays)
    assert first.history == second.history
    assert np.array_equal(first.snapshots.vectors, second.snapshots.vectors)
    assert read_checkpoint(tmp_path / "broken") is None


BATCHES = 5  # per epoch of `few` with SMALL


def test_on_sigterm_the_current_batch_is_finished_and_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The signal arrives in the last batch of an epoch. The resumed training ends like an uninterrupted one."""
    settings = PairSettings(**{**SMALL.values(), "epochs": 3})
    straight = SentPWNet(settings)
    straight.fit(few(), seed=3, folder=tmp_path / "straight")
    whole, count = loop._Loop._step, 0

    def asks(self: Any, *given: Any) -> None:
        nonlocal count
        count += 1
        if count == 2 * BATCHES:
            signal.raise_signal(signal.SIGTERM)  # at the start of the step
        whole(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(loop._Loop, "_step", asks)
        with pytest.raises(interrupts.Interrupted) as left, interrupts.interruptible():
            SentPWNet(settings).fit(few(), seed=3, folder=tmp_path / "broken")
    assert left.value.status == 128 + signal.SIGTERM
    kept = read_checkpoint(tmp_path / "broken")
    assert kept is not None
    assert (kept[1]["epoch"], kept[1]["batch"], count) == (2, BATCHES, 2 * BATCHES)
    SentPWNet(settings).fit(few(), seed=3, folder=tmp_path / "broken")
    names = ("model.safetensors", "history.csv", "snapshots.npz", "run.json")
    assert all((tmp_path / "broken" / n).read_bytes() == (tmp_path / "straight" / n).read_bytes() for n in names)


def test_a_signal_before_the_batches_or_without_a_handler_interrupts_at_once() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(interrupts.Interrupted) as left, interrupts.interruptible():
        signal.raise_signal(signal.SIGTERM)
    assert left.value.status == 143
    assert signal.getsignal(signal.SIGTERM) == before
    with pytest.raises(KeyboardInterrupt) as plain, interrupts.deferred():
        signal.raise_signal(signal.SIGINT)
    assert not isinstance(plain.value, interrupts.Interrupted)


PROGRAM = """
import sys
from tests.training.test_loop import SMALL, few
from labkit.sentpwnet.method import SentPWNet
def tell(done, total, what): print(what, flush=True)
SentPWNet(SMALL).fit(few(), seed=1, folder=sys.argv[1], progress=tell)
"""


@pytest.mark.whole
def test_kill_9_in_epoch_3_of_6_loses_nothing(tmp_path: Path) -> None:
    here = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": str(here), "OMP_NUM_THREADS": str(torch.get_num_threads())}
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "killed")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=here) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("epoch 3 of 6"):
                process.send_signal(signal.SIGKILL)
                break
    assert process.returncode == -signal.SIGKILL
    left = SentPWNet().load(tmp_path / "killed")  # the saved run is usable
    assert len(left.history) == 2
    SentPWNet(SMALL).fit(few(), seed=1, folder=tmp_path / "killed")
    SentPWNet(SMALL).fit(few(), seed=1, folder=tmp_path / "straight")
    killed, straight = read_run(tmp_path / "killed"), read_run(tmp_path / "straight")
    assert all(np.array_equal(killed.arrays[name], straight.arrays[name]) for name in straight.arrays)
    assert killed.history == straight.history


# --- optimiser -----------------------------------------------------------------------------------------------------
# The dense and the sparse half of Adam against torch's optimisers, and gradient norms with either kind of gradient.


class Table(nn.Module):
    def __init__(self, sparse: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(6, 3, sparse=sparse)
        self.out = nn.Linear(3, 2)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        return self.out(self.words(numbers)).pow(2).sum()


@pytest.mark.parametrize("sparse", [True, False])
def test_steps_equal_torchs_adam(sparse: bool) -> None:
    """If every word is read at every step, the sparse half makes the same steps as dense Adam."""
    ours, theirs = Table(sparse), Table(False)
    adam, reference = Adam(ours, 0.01), torch.optim.Adam(theirs.parameters(), lr=0.01)
    for _ in range(5):
        for model, optimiser in ((ours, adam), (theirs, reference)):
            (optimiser.clear if isinstance(optimiser, Adam) else optimiser.zero_grad)()
            model(torch.arange(6)).backward()
            optimiser.step()
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, other, atol=1e-6, rtol=1e-5)


def test_sparse_steps_equal_torchs_bit_for_bit() -> None:
    ours, theirs = Table(True), Table(True)
    for model in (ours, theirs):
        model.out.requires_grad_(False)
    adam, reference = Adam(ours, 0.01), torch.optim.SparseAdam([theirs.words.weight], lr=0.01)
    for numbers in ([1, 1, 4], [4, 2], [1, 5, 5, 0]):
        adam.clear()
        reference.zero_grad()
        for model in (ours, theirs):
            model(torch.tensor(numbers)).backward()
        adam.step()
        reference.step()
    assert torch.equal(ours.words.weight, theirs.words.weight)


@pytest.mark.parametrize("sparse", [True, False])
def test_norm_and_clipping_include_every_gradient(sparse: bool) -> None:
    model, dense = Table(sparse), Table(False)
    numbers = torch.tensor([1, 1, 4])  # a word that is read twice has one summed gradient
    for found in (model, dense):
        found(numbers).backward()
    expected = torch.cat([parameter.grad.flatten() for parameter in dense.parameters()]).norm()
    torch.testing.assert_close(clip_(model, 0), expected)
    torch.testing.assert_close(clip_(model, 0.5), expected)
    torch.testing.assert_close(clip_(model, 2.0), torch.tensor(0.5))
    torch.testing.assert_close(clip_(model, 0), torch.tensor(0.5))  # shorter gradients are not scaled
