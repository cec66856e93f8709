"""Devices by name."""

from __future__ import annotations

import pytest
import torch

from labkit.device import cuda_or_cpu, device_of


def test_auto_takes_the_best_device_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert device_of("auto").type == device_of("cpu").type == "cpu"
    with pytest.raises(ValueError, match="'cuda'"):
        device_of("cuda")
    assert device_of("cuda", insist=False).type == "cpu"  # a run from another machine
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
