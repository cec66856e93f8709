"""Train one model with several processes (`torchrun`, or `labkit train --processes`), each encoding part of a batch.

A pair loss needs all pairs of a batch. So all rows are gathered, each process computes the whole loss, and the gradient
flows back through its own rows. Then gradients are averaged. Parameters applied to gathered rows have the same gradient
everywhere; gradients through a share are multiplied by the number of processes, so that the average equals that of a
single process. Only the loop calls this module.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from labkit.device import own_gpu


def rank() -> int:
    """The number of this process; 0 for a single process."""
    return dist.get_rank() if dist.is_initialized() else 0


def size() -> int:
    """The number of processes; 1 for a single process."""
    return dist.get_world_size() if dist.is_initialized() else 1


@contextmanager
def joined() -> Iterator[None]:
    """Join the processes started by `torchrun`, once per process; raises ValueError if another process is lost."""
    count = int(os.environ.get("WORLD_SIZE", "1"))
    if count > 1 and not dist.is_initialized():
        gpus = torch.cuda.device_count()
        if gpus:
            torch.cuda.set_device(own_gpu())
        one_each = gpus >= int(os.environ.get("LOCAL_WORLD_SIZE", count))  # nccl cannot join two processes on one GPU
        dist.init_process_group("cpu:gloo,cuda:nccl" if one_each else "gloo")
    try:
        yield
    except RuntimeError as error:
        if size() == 1 or "onnection" not in str(error):  # gloo and nccl name the connection if another process is gone
            raise
        raise ValueError(
            "another process of this run has ended; see its error, and resume from the last checkpoint"
        ) from error


def gathered(outputs: Callable[[Any, slice], Tensor], batch: Any) -> Tensor:
    """`outputs(batch, rows)` for all rows of a batch, (n, ...); each process computes its share.

    Dropout differs between processes; random numbers drawn afterwards are the same in all.
    """
    if size() == 1:
        return outputs(batch, slice(None))
    bounds = [len(batch) * number // size() for number in range(size() + 1)]
    start, stop = bounds[rank()], bounds[rank() + 1]
    with torch.random.fork_rng():
        torch.manual_seed(torch.initial_seed() + rank())
        share = outputs(batch, slice(start, max(stop, start + 1)))[: stop - start]  # an empty share needs a shape, too
    if not share.requires_grad:  # without a gradient here, all processes must still call backward together
        share.requires_grad_()
    whole: Tensor = _Gather.apply(share, bounds)
    return whole


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, share: Tensor, bounds: list[int]) -> Tensor:
        ctx.rows = slice(bounds[rank()], bounds[rank() + 1])
        counts = [stop - start for start, stop in pairwise(bounds)]
        padded = share.new_zeros(max(counts), *share.shape[1:])  # every process sends equally many rows
        padded[: len(share)] = share
        shares = [torch.empty_like(padded) for _ in counts]
        dist.all_gather(shares, padded)
        return torch.cat([rows[:count] for rows, count in zip(shares, counts, strict=True)])

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        return upstream[ctx.rows] * size(), None


def average_gradients(module: nn.Module) -> None:
    """Average every gradient over the processes; parameters and rows without a gradient in any process keep none."""
    if size() == 1:
        return
    learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
    kinds = torch.tensor([0 if p.grad is None else 1 + p.grad.is_sparse for p in learned], device=learned[0].device)
    dist.all_reduce(kinds, dist.ReduceOp.MAX)  # 0: none, 1: dense, 2: sparse
    for parameter, kind in zip(learned, kinds.tolist(), strict=True):
        own = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        gradient = own.to_dense() / size()
        if kind:
            dist.all_reduce(gradient)
            parameter.grad = gradient
        if kind == 2:
            read = torch.zeros(len(parameter), dtype=torch.uint8, device=parameter.device)
            if own.is_sparse:
                read[own.coalesce().indices()[0]] = 1
            dist.all_reduce(read, dist.ReduceOp.MAX)
            rows = read.nonzero()[:, 0]
            parameter.grad = torch.sparse_coo_tensor(rows[None], gradient[rows], gradient.shape, check_invariants=False)


def agreed(value: Any) -> Any:
    """The first process's value, on all processes."""
    said = [value]
    if size() > 1:
        dist.broadcast_object_list(said, src=0)
    return said[0]
