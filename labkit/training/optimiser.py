"""Adam in two halves: fused for dense gradients, sparse for word tables, whose gradient has only the rows just read.

Besides: the length of all gradients together, and the optimisers' state as named arrays and back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


class Adam:
    """One step for all parameters of a module."""

    def __init__(self, module: nn.Module, rate: float) -> None:
        sparse = {id(table.weight) for table in module.modules() if isinstance(table, nn.Embedding) and table.sparse}
        learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
        dense = [parameter for parameter in learned if id(parameter) not in sparse]
        tables = [parameter for parameter in learned if id(parameter) in sparse]
        self._halves: list[torch.optim.Optimizer] = []
        if dense:
            self._halves.append(torch.optim.Adam(dense, lr=rate, fused=dense[0].device.type in ("cpu", "cuda")))
        if tables:
            self._halves.append(torch.optim.SparseAdam(tables, lr=rate))

    def step(self) -> None:
        for half in self._halves:
            half.step()

    def clear(self) -> None:
        for half in self._halves:
            half.zero_grad()

    def state(self) -> dict[str, np.ndarray]:
        """`half.parameter.name` -> array; a step count is an array without dimensions."""
        return {
            f"{number}.{parameter}.{name}": np.asarray(value.cpu() if isinstance(value, Tensor) else value)
            for number, half in enumerate(self._halves)
            for parameter, entries in half.state_dict()["state"].items()
            for name, value in entries.items()
        }

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """The way back."""
        for number, half in enumerate(self._halves):
            state: dict[int, dict[str, Any]] = {}
            for key, array in arrays.items():
                owner, parameter, name = key.split(".")
                if int(owner) == number:
                    value = (
                        int(array)
                        if name == "step" and isinstance(half, torch.optim.SparseAdam)
                        else torch.tensor(array)
                    )
                    state.setdefault(int(parameter), {})[name] = value
            half.load_state_dict({"state": state, "param_groups": half.state_dict()["param_groups"]})


def gradient_length(module: nn.Module) -> Tensor:
    """The Euclidean length of all gradients taken as one vector, sparse ones included."""
    lengths = [torch.linalg.vector_norm(values) for values in _gradients(module)]
    return torch.linalg.vector_norm(torch.stack(lengths)) if lengths else torch.zeros(())


def clip_(module: nn.Module, length: Tensor, longest: float) -> None:
    """Shorten the gradients from `length` to `longest`; shorter ones stay."""
    factor = (longest / (length + 1e-12)).clamp(max=1.0)
    for values in _gradients(module):
        values.mul_(factor)


def _gradients(module: nn.Module) -> list[Tensor]:
    found = []
    for parameter in module.parameters():
        if parameter.grad is None:
            continue
        if parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()  # a word read twice has one row
        found.append(parameter.grad._values() if parameter.grad.is_sparse else parameter.grad)
    return found
