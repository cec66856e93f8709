"""What every training can be told, and which device that is."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from labkit.settings import Settings, setting
from labkit.training import together


@dataclass(frozen=True, kw_only=True)
class Training(Settings):
    """Settings of the loop; a method's own settings class adds to them."""

    epochs: int = setting(
        10, "how often all training sentences are seen; 0: the network as it starts", least=0, most=10_000
    )
    batch: int = setting(64, "pairs, triplets or sentences a step learns from", least=2, most=100_000, only="epochs")
    learning_rate: float = setting(0.001, "step size of Adam", above=0, most=10, only="epochs")
    patience: int = setting(
        3, "epochs without a better dev figure before training stops; 0: never", least=0, only="epochs, dev"
    )
    clip: float = setting(5.0, "longest gradient; a longer one is shortened to this; 0: never", least=0, only="epochs")
    device: str = setting("auto", "where to compute", choices=("auto", "cpu", "cuda", "mps"))
    half: bool = setting(
        True, "bfloat16 in the encoder, on CUDA only; similarities stay float32", only="epochs, device=auto|cuda"
    )


def device_of(name: str, *, insist: bool = True) -> torch.device:
    """`auto` takes CUDA, then MPS, then the CPU. Without `insist`, so does a device that this machine has not."""
    kind = str(name).partition(":")[0]  # cuda:1 is a CUDA device
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto" or (not insist and not there.get(kind, False)):
        return _own(next(each for each, found in there.items() if found))
    if not there.get(kind, False):
        have = ", ".join(each for each, found in there.items() if found)
        raise ValueError(f"device is {name!r}, which this machine has not (it has {have}); use auto")
    return _own(name)


def _own(name: str) -> torch.device:
    """This device; of several processes each takes a GPU of its own."""
    return torch.device(f"cuda:{together.own_gpu()}" if name == "cuda" and together.announced() > 1 else name)


def cuda_or_cpu(name: str) -> str:
    """The device for what needs double precision or sparse products, which MPS has not: CUDA, or else the CPU."""
    found = device_of(name)
    return str(found) if found.type == "cuda" else "cpu"
