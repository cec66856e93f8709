"""Several processes make the step of one: gloo processes on this machine against a single one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labkit.corpora import Corpus, load
from labkit.methods import METHODS
from labkit.methods.batches import source_of
from labkit.methods.sentpwnet import PairSettings, PairTask, SentPWNet, encoder_of
from labkit.reader import reader_and_vectors
from labkit.runs import read_run
from labkit.training import together
from tests.waiting import until


def task_of(settings: PairSettings) -> PairTask:
    corpus = load("questions").take(range(150))
    method = SentPWNet(settings)
    method._origin = ("questions", "", 0)
    method.reader, vectors = reader_and_vectors(corpus, dimension=8)
    torch.manual_seed(0)
    method.encoder = encoder_of(settings, vectors)
    return PairTask(method, source_of(corpus.part("train"), per_class=2), corpus, 0)


def gradients(settings: PairSettings) -> dict[str, np.ndarray]:
    task = task_of(settings)
    loss, _ = task.loss(task.batches(1)[0])
    loss.backward()
    together.sum_gradients(task.module)
    found = {name: p.grad.to_dense() if p.grad.is_sparse else p.grad for name, p in task.module.named_parameters()}
    return {"loss": loss.detach().numpy()} | {name: gradient.numpy() for name, gradient in found.items()}


def settings_of(encoder: str, sparse: bool = True, **more: Any) -> PairSettings:
    return PairSettings(**{"encoder": encoder, "size": 12, "batch": 15, "sparse": sparse, "dropout": 0, **more})


def write_gradients(number: int, folder: str, settings: PairSettings) -> None:
    with together.group():
        np.savez(f"{folder}/{number}.npz", **gradients(settings))


# method: settings, and rows of a corpus; no dropout, for each process would draw its own
TRAININGS: dict[str, tuple[dict[str, Any], str, int]] = {
    "sentpwnet": ({"encoder": "cnn", "size": 12, "batch": 15, "dropout": 0}, "questions", 300),
    "thematic": ({"size": 12, "dimension": 8, "batch": 17, "dropout": 0.0, "rule": "both"}, "articles", 12),
    "pthought": ({"hidden": 6, "decoder_hidden": 6, "batch": 17, "dimension": 8}, "captions", 150),
    "film-deep": ({"size": 4, "filters": 8, "batch": 99, "base": "mean-vectors"}, "topics", 300),
}


def method_of(name: str) -> tuple[Any, Corpus]:
    settings, corpus, rows = TRAININGS[name]
    return METHODS[name](**settings, epochs=2, patience=0, device="cpu"), load(corpus).take(range(rows))


def fit(number: int, folder: str, name: str) -> None:
    method, corpus = method_of(name)
    method.fit(corpus, seed=2, folder=f"{folder}/run")


GRADIENTS = {2: settings_of("cnn"), 3: settings_of("bilstm", sparse=False)}  # number of processes: the task


def work(number: int, folder: str, ports: list[str]) -> None:
    """The gradient, and where there are two processes, every training; each joins and leaves a group of its own."""
    os.environ["MASTER_PORT"] = ports.pop()
    write_gradients(number, folder, GRADIENTS[int(os.environ["WORLD_SIZE"])])
    for name in TRAININGS if os.environ["WORLD_SIZE"] == "2" else ():
        os.environ["MASTER_PORT"] = ports.pop()
        fit(number, f"{folder}/{name}", name)


PROGRAM = """
import sys, torch
from tests.training import test_together
torch.set_num_threads(1)
test_together.work(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
"""


def launch(count: int, folder: Path) -> None:
    """The work in so many processes that know of one another as torchrun's do."""
    free = [socket.create_server(("127.0.0.1", 0)) for _ in range(1 + len(TRAININGS))]
    ports = [str(each.getsockname()[1]) for each in free]
    for each in free:
        each.close()
    here = Path(__file__).resolve().parents[2]
    shared = {
        "WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "GLOO_SOCKET_IFNAME": "lo",
        "PYTHONPATH": str(here),
        "OMP_NUM_THREADS": "1",
    }
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(number), str(folder), *ports],
            env=os.environ | shared | {"RANK": str(number)},
            cwd=here,
        )
        for number in range(count)
    ]
    try:
        until(lambda: any(process.poll() for process in processes) or all(p.poll() == 0 for p in processes))
        assert not any(process.returncode for process in processes)  # one that fails leaves the others waiting for it
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where two processes have left all that they did."""
    folder = tmp_path_factory.mktemp("two")
    launch(2, folder)
    return folder


def check_gradients(folder: Path, count: int) -> None:
    alone = gradients(GRADIENTS[count])
    for number in range(count):
        with np.load(folder / f"{number}.npz") as found:
            for name, expected in alone.items():
                np.testing.assert_allclose(found[name], expected, atol=1e-6, err_msg=name)
    assert np.abs(alone["words.table.weight"]).max() > 1e-4  # there is something to compare


@pytest.mark.whole
def test_two_processes_give_the_gradient_of_one(two: Path) -> None:
    check_gradients(two, 2)


@pytest.mark.whole
def test_three_processes_give_the_gradient_of_one(tmp_path: Path) -> None:
    launch(3, tmp_path)
    check_gradients(tmp_path, 3)


@pytest.mark.parametrize("name", TRAININGS)
@pytest.mark.whole
def test_a_whole_training_by_two_is_that_of_one(two: Path, name: str) -> None:
    alone, corpus = method_of(name)
    alone.fit(corpus, seed=2)
    found = read_run(two / name / "run")
    assert found.state == "finished"
    for array, expected in alone._state()[0].items():
        np.testing.assert_allclose(found.arrays[array], expected, atol=1e-4, err_msg=array)
    np.testing.assert_allclose(found.history.column("loss"), alone.history.column("loss"), atol=1e-4)
    assert found.history.column("loss")[-1] != found.history.column("loss")[0]


def test_alone_nothing_changes() -> None:
    part = torch.randn(3, 2, requires_grad=True)
    assert together.gathered(part, 3) is part
    assert together.share([1, 2, 3]) == [1, 2, 3]
    assert (together.rank(), together.size(), together.agreed("x")) == (0, 1, "x")


@pytest.mark.parametrize(("total", "count"), [(10, 3), (2, 3), (7, 7), (0, 2)])
def test_shares_are_the_whole_in_order(total: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "size", lambda: count)
    rows: list[int] = []
    for number in range(count):
        monkeypatch.setattr(together, "rank", lambda number=number: number)
        rows += together.share(list(range(total)))
    assert rows == list(range(total))
