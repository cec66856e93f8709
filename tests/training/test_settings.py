"""Devices by name."""

from __future__ import annotations

import pytest
import torch

from labkit.training.loop import Training, cuda_or_cpu, device_of


def test_auto_takes_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert device_of("auto").type == device_of("cpu").type == "cpu"
    with pytest.raises(ValueError, match=r"^device is 'cuda', which this machine has not \(it has cpu\); use auto$"):
        device_of("cuda")
    assert device_of("cuda", insist=False).type == "cpu"  # a run from another machine
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert device_of("auto").type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device_of("auto").type == "cuda"


def test_bounds() -> None:
    with pytest.raises(ValueError, match=r"^setting epochs is -1, expected at least 0"):
        Training(epochs=-1)
    with pytest.raises(ValueError, match=r"^setting device is 'gpu', expected one of auto, cpu, cuda, mps"):
        Training(device="gpu")


def test_what_mps_cannot_do_is_done_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cuda_or_cpu("auto") == cuda_or_cpu("cpu") == "cpu"
    with pytest.raises(ValueError, match=r"^device is 'cuda:1', which this machine has not \(it has cpu\); use auto$"):
        cuda_or_cpu("cuda:1")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert cuda_or_cpu("auto") == cuda_or_cpu("mps") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert cuda_or_cpu("auto") == "cuda"
    assert cuda_or_cpu("cuda:1") == "cuda:1"
