"""Training with two gloo processes, started with `torchrun`, against a single process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import nn

from labkit.corpora import load
from labkit.methods import METHODS, load_run
from labkit.runs import read_run
from labkit.sentpwnet import method as sentpwnet
from labkit.sentpwnet.method import PairTask, SentPWNet
from labkit.sentpwnet.settings import PairSettings
from labkit.training import distributed, encoders

# Settings, corpus and rows for each kind of task. Dropout is off, because two processes draw it differently.
TRAININGS: dict[str, tuple[dict[str, Any], str, int]] = {
    "sentpwnet": ({"encoder": "cnn", "size": 12, "batch": 15, "miner": "random"}, "questions", 60),
    "thematic": ({"size": 12, "dimension": 8, "batch": 67}, "articles", 5),
    "pthought": ({"hidden": 6, "decoder_hidden": 6, "batch": 17, "dimension": 8, "tune": True}, "captions", 60),
    "film-deep": ({"size": 4, "filters": 8, "batch": 99, "base": "mean-vectors", "random": 2}, "topics", 120),
}
# One process and two round sums differently, and the differences add up. The initial cosines of film-deep differ by
# only 1e-4, so rounding matters in its gradient, and Adam's step is equally long for tiny gradients.
APART = {"film-deep": 1e-4}
GRADIENTS: dict[str, dict[str, Any]] = {
    "sparse": {"encoder": "cnn"},
    "dense": {"encoder": "bilstm", "sparse": False, "loss": "infonce", "temperature": 0.5, "learn_temperature": True},
}


def method_of(name: str) -> tuple[Any, Any]:
    settings, corpus, rows = TRAININGS[name]
    known = METHODS[name].Settings.__dataclass_fields__
    still = {"dropout": 0.0} if "dropout" in known else {}
    return METHODS[name](**settings, **still, epochs=1, patience=0, device="cpu"), load(corpus).take(range(rows))


def step_of(settings: dict[str, Any]) -> dict[str, np.ndarray]:
    """Loss, statistics and gradients of a batch."""
    method = SentPWNet(PairSettings(size=12, batch=15, dimension=8, dropout=0.0, device="cpu", **settings))
    method._origin = ("questions", "", 0)
    task: PairTask = method._task(load("questions").take(range(150)), 0, lambda *_: None)
    batch = task.batches(1)[0]
    loss, note = task.loss(distributed.gathered(task.outputs, batch), batch)
    loss.backward()
    distributed.average_gradients(task.module)
    found = {name: p.grad.to_dense() if p.grad.is_sparse else p.grad for name, p in task.module.named_parameters()}
    return {name: np.asarray(number) for name, number in {"loss": loss.detach(), **note(), **found}.items()}


def large_step_of(settings: dict[str, Any]) -> dict[str, np.ndarray]:
    """The same for a large batch, in chunks of two rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentpwnet, "LARGE", 5)
        patch.setattr(encoders, "CHUNK", 2)
        return step_of(settings)


def work(folder: str) -> None:
    """Compute everything that is compared, in each of two processes."""
    torch.set_num_threads(1)
    with distributed.joined():
        for name, settings in GRADIENTS.items():
            np.savez(f"{folder}/{name} {distributed.rank()}.npz", **step_of(settings))
            np.savez(f"{folder}/large {name} {distributed.rank()}.npz", **large_step_of(settings))
        torch.manual_seed(3)
        dropped = distributed.gathered(lambda batch, rows: nn.Dropout(0.5)(batch[rows]), torch.ones(5, 40))
        np.savez(f"{folder}/dropped {distributed.rank()}.npz", dropped=dropped.detach(), then=torch.rand(3))
        few = distributed.gathered(lambda batch, rows: batch[rows] * 2, torch.ones(1, 3, requires_grad=True))
        assert few.tolist() == [[2.0, 2.0, 2.0]]  # the first process has none of the rows
        for name in TRAININGS:
            method, corpus = method_of(name)
            method.fit(corpus, seed=2, folder=f"{folder}/{name}")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with all results of the two processes."""
    folder = tmp_path_factory.mktemp("two")
    root = Path(__file__).resolve().parents[2]
    torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node=2", f"--log-dir={folder}", "-m"]
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", *torchrun, "tests.training.test_distributed", str(folder)]
    subprocess.run(command, env=environment, cwd=root, check=True)
    return folder


@pytest.mark.whole
@pytest.mark.parametrize("name", GRADIENTS)
def test_two_processes_give_the_gradient_of_one(two: Path, name: str) -> None:
    for kind, computed in (("", step_of), ("large ", large_step_of)):
        alone = computed(GRADIENTS[name])
        for number in range(2):
            with np.load(two / f"{kind}{name} {number}.npz") as found:
                for key, expected in alone.items():
                    np.testing.assert_allclose(found[key], expected, atol=1e-6, err_msg=key)
        assert np.abs(alone["words.table.weight"]).max() > 1e-4  # there is something to compare


@pytest.mark.whole
@pytest.mark.parametrize("name", TRAININGS)
def test_training_with_two_processes_equals_training_with_one(two: Path, name: str) -> None:
    alone, corpus = method_of(name)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in the two processes; more threads add in another order
    try:
        alone.fit(corpus, seed=2)
    finally:
        torch.set_num_threads(threads)
    found, texts, apart = read_run(two / name), corpus.sentences(), APART.get(name, 1e-5)
    assert (found.state, found.processes) == ("finished", 2)
    np.testing.assert_allclose(load_run(two / name).encode(texts), alone.encode(texts), rtol=0, atol=apart)
    for column in found.history.columns:
        np.testing.assert_allclose(
            found.history.column(column), alone.history.column(column), rtol=100 * apart, atol=apart, err_msg=column
        )


@pytest.mark.whole
def test_dropout_differs_between_processes_and_later_draws_agree(two: Path) -> None:
    first, second = (dict(np.load(two / f"dropped {number}.npz")) for number in range(2))
    assert all(np.array_equal(first[key], second[key]) for key in first)  # the gathered rows, and the later draws
    rows = first["dropped"]
    assert rows.shape == (5, 40)
    assert (rows[0] != rows[2]).any()  # the first row of each process


def test_processes_at_different_batches_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "agreed", lambda value: (3, 7) if isinstance(value, tuple) else value)
    method, corpus = method_of("film-deep")
    with pytest.raises(ValueError, match="batch 0 of epoch 1.* batch 7 of epoch 3"):
        method.fit(corpus)


if __name__ == "__main__":
    work(sys.argv[1])
