"""Several processes make the step of one: gloo processes on this machine against a single one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from labkit.corpora import Corpus, load
from labkit.device import device_of
from labkit.methods import METHODS
from labkit.runs import read_run
from labkit.sentpwnet import method as sentpwnet
from labkit.sentpwnet.batches import batch_source
from labkit.sentpwnet.method import PairSettings, PairTask, SentPWNet
from labkit.training import Training, encoders, processes
from labkit.training.reader import reader_and_vectors
from tests.waiting import until


def task_of(settings: PairSettings) -> PairTask:
    corpus = load("questions").take(range(150))
    method = SentPWNet(settings)
    method._origin = ("questions", "", 0)
    method.reader, vectors = reader_and_vectors(corpus, dimension=8)
    torch.manual_seed(0)
    source = batch_source(corpus.part("train"), per_class=2)
    return PairTask(method._network(vectors), method.reader, source, settings, 0)


def gradients(settings: PairSettings) -> dict[str, np.ndarray]:
    task = task_of(settings)
    task.module.train()
    loss, note = task.loss(task.batches(1)[0])
    loss.backward()
    processes.sum_gradients(task.module)
    found = {name: p.grad.to_dense() if p.grad.is_sparse else p.grad for name, p in task.module.named_parameters()}
    numbers = {"loss": loss.detach(), **note(), **found}
    return {name: np.asarray(number) for name, number in numbers.items()}


def large_gradients(settings: PairSettings) -> dict[str, np.ndarray]:
    """The same of a batch that is large, in chunks of two rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentpwnet, "LARGE", 10)
        patch.setattr(encoders, "CHUNK", 2)
        return gradients(settings)


def settings_of(encoder: str, sparse: bool = True, **more: Any) -> PairSettings:
    return PairSettings(**{"encoder": encoder, "size": 12, "batch": 15, "sparse": sparse, "dropout": 0.4, **more})


def write_gradients(number: int, folder: str, settings: PairSettings) -> None:
    with processes.group():
        np.savez(f"{folder}{number}.npz", **gradients(settings))
        np.savez(f"{folder}large {number}.npz", **large_gradients(settings))


# Of every method that learns by gradient: settings, and rows of a corpus. Dropout is on wherever there is one.
TRAININGS: dict[str, tuple[dict[str, Any], str, int]] = {
    "sentpwnet": ({"encoder": "cnn", "size": 12, "batch": 15, "miner": "random"}, "questions", 60),
    "siamese": ({"encoder": "lstm", "size": 12, "batch": 14}, "topics", 60),
    "triplet": ({"encoder": "bilstm", "size": 12, "batch": 15, "sparse": False}, "questions", 60),
    "bag": ({"dimension": 8, "batch": 15}, "questions", 60),
    "static": ({"dimension": 8, "batch": 15, "vectors": "random"}, "questions", 60),
    "thematic": ({"size": 12, "dimension": 8, "batch": 67}, "articles", 5),
    "pthought": ({"hidden": 6, "decoder_hidden": 6, "batch": 17, "dimension": 8, "tune": True}, "captions", 60),
    "film-deep": ({"size": 4, "filters": 8, "batch": 99, "base": "mean-vectors", "random": 2}, "topics", 120),
    "pv-dbow": ({"size": 8, "batch": 17}, "topics", 60),
}
# How far vectors may be apart: sums of one process and of two are rounded differently, and every step adds a little.
# film-deep begins with cosines that differ by 1e-4 only, so that float32's rounding counts in its gradient, and Adam's
# step is the same however short that is.
APART = {"film-deep": 1e-4}
USUAL = 1e-5


def method_of(name: str) -> tuple[Any, Corpus]:
    settings, corpus, rows = TRAININGS[name]
    entry = METHODS[name]
    if "dropout" in {field.name for field in fields(entry.Settings)}:
        settings = {**settings, "dropout": 0.4}
    return entry(**settings, epochs=1, patience=0, device="cpu"), load(corpus).take(range(rows))


def fit(folder: str, name: str) -> None:
    method, corpus = method_of(name)
    method.fit(corpus, seed=2, folder=folder)


WARM: dict[str, Any] = {"loss": "infonce", "temperature": 0.5, "learn_temperature": True}  # whose slope none shares
GRADIENTS = {"cnn": settings_of("cnn"), "bilstm": settings_of("bilstm", sparse=False, **WARM)}


def work(number: int, folder: str, ports: list[str]) -> None:
    """The gradients, and every training; each joins and leaves a group of its own."""
    for name, settings in GRADIENTS.items():
        os.environ["MASTER_PORT"] = ports.pop()
        write_gradients(number, f"{folder}/{name}", settings)
    for name in TRAININGS:
        os.environ["MASTER_PORT"] = ports.pop()
        fit(f"{folder}/{name}", name)


PROGRAM = """
import sys, torch
from tests.training import test_processes
torch.set_num_threads(1)
test_processes.work(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder where two processes, which know of one another as torchrun's do, have left all that they did."""
    folder = tmp_path_factory.mktemp("two")
    free = [socket.create_server(("127.0.0.1", 0)) for _ in range(len(GRADIENTS) + len(TRAININGS))]
    ports = [str(each.getsockname()[1]) for each in free]
    for each in free:
        each.close()
    here = Path(__file__).resolve().parents[2]
    shared = {
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "GLOO_SOCKET_IFNAME": "lo",
        "PYTHONPATH": str(here),
        "OMP_NUM_THREADS": "1",
    }
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(number), str(folder), *ports],
            env=os.environ | shared | {"RANK": str(number)},
            cwd=here,
        )
        for number in range(2)
    ]
    try:
        until(lambda: any(process.poll() for process in started) or all(p.poll() == 0 for p in started))
        assert not any(process.returncode for process in started)  # one that fails leaves the other waiting for it
    finally:
        for process in started:
            process.kill()
            process.wait()
    return folder


@pytest.mark.whole
@pytest.mark.parametrize("name", GRADIENTS)
def test_two_processes_give_the_gradient_of_one(two: Path, name: str) -> None:
    for kind, computed in (("", gradients), ("large ", large_gradients)):
        alone = computed(GRADIENTS[name])
        for number in range(2):
            with np.load(two / f"{name}{kind}{number}.npz") as found:
                for key, expected in alone.items():
                    np.testing.assert_allclose(found[key], expected, atol=1e-6, err_msg=key)
        assert np.abs(alone["words.table.weight"]).max() > 1e-4  # there is something to compare


def test_every_method_that_learns_by_gradient_is_tried() -> None:
    learning = {name for name, entry in METHODS.items() if issubclass(entry.Settings, Training)}
    assert set(TRAININGS) == learning


@pytest.mark.parametrize("name", TRAININGS)
@pytest.mark.whole
def test_a_training_by_two_is_that_of_one(two: Path, name: str) -> None:
    alone, corpus = method_of(name)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as those that are compared: with two, sums are added up in another order
    try:
        alone.fit(corpus, seed=2)
    finally:
        torch.set_num_threads(threads)
    found, texts, apart = read_run(two / name), corpus.sentences(), APART.get(name, USUAL)
    assert (found.state, found.processes) == ("finished", 2)
    np.testing.assert_allclose(type(alone)().load(two / name).encode(texts), alone.encode(texts), rtol=0, atol=apart)
    assert found.history.columns == alone.history.columns
    for column in found.history.columns:
        np.testing.assert_allclose(
            found.history.column(column), alone.history.column(column), rtol=100 * apart, atol=apart, err_msg=column
        )
    begun = alone.snapshots.vectors
    assert not len(begun) or np.abs(begun[-1] - begun[0]).max() > 100 * apart  # there is something to compare


@pytest.mark.parametrize(("total", "count"), [(10, 3), (2, 3), (7, 7), (0, 2)])
def test_shares_are_the_whole_in_order(total: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "size", lambda: count)
    rows: list[int] = []
    for number in range(count):
        monkeypatch.setattr(processes, "rank", lambda number=number: number)
        rows += processes.share(list(range(total)))
    assert rows == list(range(total))


# --- random numbers of rows --------------------------------------------------------------------------------------


def parts(monkeypatch: pytest.MonkeyPatch, count: int, function: Any, *columns: Any) -> list[torch.Tensor]:
    """What each of so many processes makes of its share."""
    found, states = [], []
    monkeypatch.setattr(processes, "size", lambda: count)
    monkeypatch.setattr(processes, "gathered", lambda part, total: part)
    for number in range(count):
        monkeypatch.setattr(processes, "rank", lambda number=number: number)
        torch.manual_seed(5)
        found.append(processes.shared(function, *columns))
        states.append(torch.get_rng_state())
    assert all(torch.equal(state, states[0]) for state in states)  # a miner's draw after it is the same in all
    return found


@pytest.mark.parametrize(("total", "count"), [(7, 1), (7, 2), (7, 3), (2, 3), (1, 4)])
def test_a_row_is_dropped_alike_whichever_process_has_it(
    total: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = torch.randn(total, 5, 3)
    torch.manual_seed(5)
    alone = torch.nn.Dropout(0.4)(torch.nn.Dropout(0.2)(x))
    twice = torch.nn.Sequential(processes.Dropout(0.2), processes.Dropout(0.4))
    torch.testing.assert_close(torch.cat(parts(monkeypatch, count, twice, x)), alone, rtol=1e-6, atol=0)
    assert (alone == 0).any()
    assert twice.eval()(x) is x


def test_dropout_is_that_of_torch_bit_for_bit() -> None:
    x = torch.randn(6, 50, 7, requires_grad=True)
    found = []
    for dropout in (processes.Dropout(0.3), torch.nn.Dropout(0.3)):
        torch.manual_seed(1)
        found.append(dropout(x))
    assert torch.equal(*found)


@pytest.mark.parametrize("drawn", [torch.nn.Dropout(0.4), torch.rand_like, lambda x: x + torch.randn(1)])
def test_who_draws_for_a_share_is_refused(drawn: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="Dropout"):
        parts(monkeypatch, 2, drawn, torch.ones(4, 3))
    with pytest.raises(ValueError, match="Dropout"):
        parts(monkeypatch, 2, lambda x: processes.Dropout(0.4)(drawn(x)), torch.ones(4, 3))
    parts(monkeypatch, 2, lambda x: x, torch.ones(4, 3))  # the next batch is none the worse
    with pytest.raises(ValueError, match="6 rows"):
        parts(monkeypatch, 2, lambda x: processes.Dropout(0.4)(x.reshape(-1, 1)), torch.ones(4, 3))


def test_processes_that_stand_at_different_places_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "agreed", lambda value: (3, 7) if isinstance(value, tuple) else value)
    method, corpus = method_of("pv-dbow")
    with pytest.raises(ValueError, match="batch 0 of epoch 1.* batch 7 of epoch 3"):
        method.fit(corpus)


# --- which GPU, and how they talk --------------------------------------------------------------------------------


@pytest.mark.parametrize(("gpus", "mine", "talk"), [(4, "cuda:3", "cpu:gloo,cuda:nccl"), (2, "cuda:1", "gloo")])
def test_each_process_has_a_gpu_of_its_own(gpus: int, mine: str, talk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    assert str(device_of("auto")) == str(device_of("cuda")) == "cuda"
    monkeypatch.setenv("WORLD_SIZE", "8")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert str(device_of("auto")) == str(device_of("cuda")) == mine
    assert str(device_of("cpu")) == "cpu"
    assert processes._backend() == talk
