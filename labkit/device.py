"""Choose a device. In: a name from the settings: auto, cpu, cuda, cuda:1, mps. Out: a device on this machine."""

from __future__ import annotations

import os

import torch


def device_of(name: str, *, insist: bool = True) -> torch.device:
    """`auto` takes CUDA, then MPS, then the CPU. Without `insist`, a device that is not available counts as `auto`."""
    kind = str(name).partition(":")[0]  # cuda:1 is a CUDA device
    known = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    there = [each for each, available in known.items() if available]
    if name == "auto" or (not insist and kind not in there):
        name = there[0]
    elif kind not in there:
        raise ValueError(f"device {name!r} is not available (this machine has {', '.join(there)}); use auto")
    several = os.environ.get("WORLD_SIZE", "1") != "1"  # each of several processes takes its own GPU
    return torch.device(f"cuda:{own_gpu()}" if name == "cuda" and several else name)


def cuda_or_cpu(name: str) -> str:
    """Return CUDA or else the CPU, for double precision or sparse products, which MPS does not support."""
    device = device_of(name)
    return str(device) if device.type == "cuda" else "cpu"


def own_gpu() -> int:
    """Return the number of this process's GPU; if there are fewer GPUs than processes, processes share them."""
    return int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count()
