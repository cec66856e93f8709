"""Devices by name; on CUDA, training agrees with the CPU, and large batches need no square matrix."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from labkit.corpora import load
from labkit.device import cuda_or_cpu, device_of
from labkit.pairs import streaming_locality
from labkit.sentpwnet.method import SentPWNet
from labkit.sentpwnet.settings import PairSettings


def test_auto_takes_the_best_available_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert device_of("auto").type == device_of("cpu").type == "cpu"
    with pytest.raises(ValueError, match="'cuda'"):
        device_of("cuda")
    assert device_of("cuda", insist=False).type == "cpu"  # for a run from another machine
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device_of("auto").type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device_of("auto").type == "cuda"


def test_cuda_or_cpu_never_takes_mps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert cuda_or_cpu("auto") == cuda_or_cpu("cpu") == "cpu"
    with pytest.raises(ValueError, match="'cuda:1'"):
        cuda_or_cpu("cuda:1")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert cuda_or_cpu("auto") == cuda_or_cpu("mps") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert cuda_or_cpu("auto") == "cuda"
    assert cuda_or_cpu("cuda:1") == "cuda:1"


def test_each_process_has_its_own_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert str(device_of("cuda")) == "cuda"
    monkeypatch.setenv("WORLD_SIZE", "8")
    monkeypatch.setenv("LOCAL_RANK", "3")
    assert str(device_of("auto")) == str(device_of("cuda")) == "cuda:1"
    assert str(device_of("cpu")) == "cpu"


# --- on a CUDA device; `python -m benchmarks gpu` compares every loss, miner and method ------------------------------

on_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
SENTENCES = ["Is it here?", "Where is the station?", "How old is the bridge?"]


def trained(device: str, amp: bool) -> SentPWNet:
    corpus = load("questions")
    rows = [row for row, split in enumerate(corpus.splits) if split != "test"][:320]
    settings = PairSettings(epochs=2, size=24, dimension=24, dropout=0.0, device=device, amp=amp)
    method = SentPWNet(settings)
    method.fit(corpus.take(rows))
    return method


@on_cuda
@pytest.mark.parametrize(("amp", "bound"), [(False, 1e-4), (True, 5e-2)])
def test_training_agrees_with_the_cpu(amp: bool, bound: float) -> None:
    here, there = trained("cpu", False), trained("cuda", amp)
    np.testing.assert_allclose(there.history.column("loss"), here.history.column("loss"), rtol=bound)
    np.testing.assert_allclose(there.encode(SENTENCES), here.encode(SENTENCES), atol=bound)


@on_cuda
def test_a_large_batch_never_becomes_a_square_matrix() -> None:
    rows = 32_768
    torch.cuda.reset_peak_memory_stats()
    X = torch.randn(rows, 64, generator=torch.Generator().manual_seed(0)).cuda().requires_grad_()
    streaming_locality(X, torch.arange(rows) // 8).backward()
    assert X.grad is not None
    assert X.grad.isfinite().all()
    assert torch.cuda.max_memory_allocated() < rows * rows  # a quarter of what the similarities alone would take
