"""Several processes training one model (`torchrun`): each encodes its share of a batch, all see the whole of it.

    rows of the batch -> share(rows) -> embeddings of the share -> gathered -> embeddings of the whole batch, in order

A pair loss needs all pairs of the batch, so every process computes the whole loss from the gathered rows, and lets the
gradient flow back through its own. The sum of the parameters' gradients over the processes is then that of one process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

Row = TypeVar("Row")

_NONE, _DENSE, _SPARSE = range(3)  # gradients


def rank() -> int:
    """The number of this process; 0 when alone."""
    return dist.get_rank() if _several() else 0


def size() -> int:
    """How many processes there are."""
    return dist.get_world_size() if _several() else 1


@contextmanager
def group() -> Iterator[None]:
    """The group that `torchrun` announces, joined for the time of the block; nothing where there is none."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1 or _several():
        yield
        return
    dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def share(rows: Sequence[Row]) -> Sequence[Row]:
    """This process' part of the rows; the parts, in order of rank, are the whole."""
    start, stop = _bounds(len(rows), rank())
    return rows[start:stop]


def gathered(part: Tensor, total: int) -> Tensor:
    """The embeddings of the whole batch (total, d) from this process' part; gradients flow to this part only."""
    if not _several():
        return part
    whole: Tensor = _Gather.apply(part, total)
    return whole


def sum_gradients(module: nn.Module) -> None:
    """Every parameter's gradient becomes the sum over the processes, so that all make the same step.

    One that has none on any process keeps none, as it does alone: its moments rest.
    """
    if not _several():
        return
    learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
    for parameter, kind in zip(learned, _kinds(learned), strict=True):
        if kind == _NONE:
            continue
        here = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        gradient = here.to_dense() if here.is_sparse else here
        dist.all_reduce(gradient)
        parameter.grad = _of_rows(gradient, _read(here)) if kind == _SPARSE else gradient


def _kinds(parameters: Sequence[nn.Parameter]) -> list[int]:
    """What gradient each has on some process: none, a dense one, a sparse one."""
    here = [_NONE if p.grad is None else _SPARSE if p.grad.is_sparse else _DENSE for p in parameters]
    found = torch.tensor(here, device=parameters[0].device)
    dist.all_reduce(found, dist.ReduceOp.MAX)
    kinds: list[int] = found.tolist()
    return kinds


def agreed(value: Any) -> Any:
    """What the first process says, on all of them."""
    if not _several():
        return value
    said = [value]
    dist.broadcast_object_list(said, src=0)
    return said[0]


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, part: Tensor, total: int) -> Tensor:
        bounds = [_bounds(total, number) for number in range(size())]
        longest = max(stop - start for start, stop in bounds)
        padded = part.new_zeros(longest, part.shape[1])
        padded[: len(part)] = part
        parts = [torch.empty_like(padded) for _ in bounds]
        dist.all_gather(parts, padded)
        ctx.bounds = bounds[rank()]
        return torch.cat([found[: stop - start] for found, (start, stop) in zip(parts, bounds, strict=True)])

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        start, stop = ctx.bounds
        return upstream[start:stop], None


def _several() -> bool:
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def _bounds(total: int, number: int) -> tuple[int, int]:
    return total * number // size(), total * (number + 1) // size()


def _read(here: Tensor) -> Tensor:
    """The rows that some process has read. Their gradient may be zero, and yet the optimiser moves them."""
    read = torch.zeros(len(here), dtype=torch.uint8, device=here.device)
    if here.is_sparse:
        read[here.coalesce().indices()[0]] = 1
    dist.all_reduce(read, dist.ReduceOp.MAX)
    return read.nonzero()[:, 0]


def _of_rows(gradient: Tensor, rows: Tensor) -> Tensor:
    """A sparse gradient of these rows."""
    return torch.sparse_coo_tensor(rows[None], gradient[rows], gradient.shape, check_invariants=False)
