"""Several processes training one model (`torchrun`): each encodes its share of a batch, all see the whole of it.

    shared(f, rows)    rows of the batch -> f of this process' share -> gathered -> f of the whole batch, in order
    summed(f, rows)    the same where f is a sum over rows, and so are the sums of the processes

A pair loss needs all pairs of the batch, so every process computes the whole loss from the gathered rows, and lets the
gradient flow back through its own. The sum of the parameters' gradients over the processes is then that of one process.

Random numbers belong to a row, not to the process that reads it: each process draws those of the whole batch, in the
order and shape in which one process would, and uses those of its share. Inside of f, `Dropout` does so; whatever else
is drawn is drawn before, for all rows, and given to f as one more column. f that draws for itself is refused.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from labkit.device import own_gpu

Row = TypeVar("Row")

_NONE, _DENSE, _SPARSE = range(3)  # gradients
_groups = itertools.count()  # joined so far: a method may train another first, as its base


def rank() -> int:
    """The number of this process; 0 when alone."""
    return dist.get_rank() if _several() else 0


def size() -> int:
    """How many processes there are."""
    return dist.get_world_size() if _several() else 1


def announced() -> int:
    """How many processes `torchrun` says there are, before they have joined as well; 1 where it says nothing."""
    return int(os.environ.get("WORLD_SIZE", "1"))


@contextmanager
def group() -> Iterator[None]:
    """The group that `torchrun` announces, joined for the time of the block; nothing where there is none."""
    if announced() == 1 or _several():
        yield
        return
    if torch.cuda.is_available():
        torch.cuda.set_device(own_gpu())
    store, number, count = next(dist.rendezvous("env://"))
    own = dist.PrefixStore(f"group {next(_groups)}", store)  # for it still holds where those of the last group were
    dist.init_process_group(_backend(), store=own, rank=number, world_size=count)
    try:
        yield
    except RuntimeError as error:
        if "onnection" not in str(error):  # which is how gloo and nccl say that somebody is gone
            raise
        raise ValueError(
            "another process of this training has ended, expected all to come to the end; see what it said, and go on "
            "from the last checkpoint"
        ) from error
    finally:
        _part(own, number, count)


def _part(store: dist.Store, number: int, count: int) -> None:
    """Leave the group. The first process leaves last: it has the store that the others still ask while they leave, and
    without which they would be aborted. For one that is gone it does not wait long."""
    if number:
        dist.destroy_process_group()
        with suppress(RuntimeError):  # the first one is gone
            store.set(f"left {number}", "")
        return
    with suppress(RuntimeError):
        store.wait([f"left {other}" for other in range(1, count)], timedelta(seconds=5))
    dist.destroy_process_group()


def launched(count: int, words: Sequence[str]) -> int:
    """`labkit` with these words in so many processes on this machine, as by `torchrun`: the exit status.

    They are told of Ctrl-C and SIGTERM, and leave as one process does. (`torchrun` itself ends with a traceback and 1.)
    """
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.run import parse_args, run

    logging.disable(logging.ERROR)  # of the launcher: labkit's processes speak for themselves
    try:
        with TemporaryDirectory(prefix="labkit-processes-") as logs:  # without one, the launcher leaves its own behind
            run(parse_args(["--standalone", f"--nproc-per-node={count}", f"--log-dir={logs}", "-m", "labkit", *words]))
    except SignalException as asked:
        return 128 + asked.sigval
    except ChildFailedError as failed:
        number, failure = failed.get_first_failure()
        if failure.exitcode > 0:  # it has said why
            return failure.exitcode
        raise ValueError(
            f"process {number + 1} of {count} was ended by {failure.signal_name()}, expected all to come to the end; "
            "see whether there is memory for so many, and go on with --resume"
        ) from None
    return 0


def share(rows: Sequence[Row]) -> Sequence[Row]:
    """This process' part of the rows; the parts, in order of rank, are the whole."""
    start, stop = _bounds(len(rows), rank())
    return rows[start:stop]


def shared(function: Callable[..., Tensor], *columns: Any) -> Tensor:
    """`function(*columns)`, a row for each row of a batch (n, ...); each process computes its share.

    The columns are tensors, arrays or lists of the whole batch, filled up as one process would: then a share has the
    shape of the whole but for the number of its rows, and the random numbers of the whole fit it.
    """
    if size() == 1:
        return function(*columns)
    total = len(columns[0])
    return gathered(_of_share(function, columns)[: len(share(range(total)))], total)


def summed(function: Callable[..., Tensor], *columns: Any) -> Tensor:
    """`function(*columns)`, sums over the rows of a batch (k,); each process adds up its share."""
    if size() == 1:
        return function(*columns)
    part = _of_share(function, columns) * bool(share(range(len(columns[0]))))
    return gathered(part[None], size()).sum(0)


class Dropout(nn.Module):
    """`nn.Dropout`, number for number; in `shared` and `summed` it drops of a row what one process would drop of it."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if _mine is None or not self.training:
            return F.dropout(x, self.p, self.training)
        return _mine.dropped(x, self.p)


def gathered(part: Tensor, total: int) -> Tensor:
    """The rows of the whole batch (total, ...) from this process' part; gradients flow to this part only."""
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
        if kind == _SPARSE:
            rows = _read(here)
            gradient = torch.sparse_coo_tensor(rows[None], gradient[rows], gradient.shape, check_invariants=False)
        parameter.grad = gradient


def _kinds(parameters: Sequence[nn.Parameter]) -> list[int]:
    """What gradient each has on some process: none, a dense one, a sparse one."""
    here = [_NONE if p.grad is None else _SPARSE if p.grad.is_sparse else _DENSE for p in parameters]
    somewhere = torch.tensor(here, device=parameters[0].device)
    dist.all_reduce(somewhere, dist.ReduceOp.MAX)
    kinds: list[int] = somewhere.tolist()
    return kinds


def agreed(value: Any) -> Any:
    """What the first process says, on all of them."""
    if not _several():
        return value
    said = [value]
    dist.broadcast_object_list(said, src=0)
    return said[0]


def generators() -> Tensor:
    """The state of torch's generators: the CPU's, and after it that of the GPU in use, if there is one."""
    here = torch.get_rng_state()
    if torch.cuda.is_initialized():
        return torch.cat([here, torch.cuda.get_rng_state()])
    return torch.cat([here, torch.mps.get_rng_state()]) if torch.backends.mps.is_available() else here


@contextmanager
def drawn_again(state: Tensor) -> Iterator[None]:
    """Draw inside of the block what was drawn from this state of the generators on, and put them back afterwards."""
    now = generators()
    _set_generators(state)
    try:
        yield
    finally:
        _set_generators(now)


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, part: Tensor, total: int) -> Tensor:
        bounds = [_bounds(total, number) for number in range(size())]
        longest = max(stop - start for start, stop in bounds)
        padded = part.new_zeros(longest, *part.shape[1:])
        padded[: len(part)] = part
        parts = [torch.empty_like(padded) for _ in bounds]
        dist.all_gather(parts, padded)
        ctx.bounds = bounds[rank()]
        return torch.cat([rows[: stop - start] for rows, (start, stop) in zip(parts, bounds, strict=True)])

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None]:
        start, stop = ctx.bounds
        return upstream[start:stop], None


class _Mine:
    """The rows that this process computes, of how many, and how far the random generators should have come."""

    def __init__(self, total: int) -> None:
        start, stop = _bounds(total, rank())
        self.total, self.rows = total, slice(start, stop) if stop > start else slice(0, 1)  # one, for the shape
        self.state = generators()

    def dropped(self, x: Tensor, p: float) -> Tensor:
        """Rows with the mask that one process would give them."""
        if len(x) != self.rows.stop - self.rows.start:
            raise ValueError(
                f"dropout of {len(x)} rows, expected the {self.rows.stop - self.rows.start} that this process has of a "
                "batch; drop before rows are taken apart or put together"
            )
        self.check()
        whole = F.dropout(x.new_ones(self.total, *x.shape[1:]), p)  # what stays counts 1 / (1 - p)
        self.state = generators()
        return x * whole[self.rows]

    def check(self) -> None:
        """A ValueError if anybody else has drawn."""
        if not torch.equal(self.state, generators()):
            raise ValueError(
                "random numbers were drawn for one process' share of a batch, expected the same for a row whichever "
                "process has it; take labkit.training.processes.Dropout, or draw for the whole batch before"
            )


_mine: _Mine | None = None  # inside of `shared` and `summed`


def _of_share(function: Callable[..., Tensor], columns: Sequence[Any]) -> Tensor:
    """The function of this process' rows, or of the first row where it has none."""
    global _mine
    _mine = _Mine(len(columns[0]))
    try:
        rows = function(*(column[_mine.rows] for column in columns))
        _mine.check()
    finally:
        _mine = None
    return rows


def _set_generators(state: Tensor) -> None:
    here = len(torch.get_rng_state())
    torch.set_rng_state(state[:here])
    if len(state) > here:
        (torch.cuda if torch.cuda.is_initialized() else torch.mps).set_rng_state(state[here:])


def _backend() -> str:
    """How the processes talk: on GPUs by nccl where each has one of its own, else, and always on the CPU, by gloo."""
    here = int(os.environ.get("LOCAL_WORLD_SIZE", announced()))
    return "cpu:gloo,cuda:nccl" if torch.cuda.is_available() and torch.cuda.device_count() >= here else "gloo"


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
