"""The training loop. In: a task (a module, its batches, their loss). Out: a history, and the module's best weights.

Every random number is derived from (seed, epoch, batch), so a run that resumes from a checkpoint takes the same steps
as an uninterrupted run, bit for bit on a CPU.
"""

from __future__ import annotations

import math
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from labkit import interrupts
from labkit.evaluation.geometry import probe_figures
from labkit.progress import Progress, note
from labkit.runs import History, Keeper, Snapshots
from labkit.settings import EPOCHS, Conditions, Settings, setting
from labkit.training import distributed

# --- optimiser ---------------------------------------------------------------------------------------------------


class RowAdam(torch.optim.SparseAdam):
    """torch's SparseAdam, bit for bit, in little more than half the time; it reads and writes rows by number."""

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        for table in self.param_groups[0]["params"]:
            if table.grad is None:
                continue
            state, gradient, (beta, beta2) = self.state[table], table.grad.coalesce(), self.param_groups[0]["betas"]
            rows, values = gradient.indices()[0], gradient.values()  # (r,), (r, d)
            if not state:
                state.update(step=0, exp_avg=torch.zeros_like(table), exp_avg_sq=torch.zeros_like(table))
            state["step"] += 1
            old, before = state["exp_avg"].index_select(0, rows), state["exp_avg_sq"].index_select(0, rows)
            mean = values.sub(old).mul_(1 - beta)
            state["exp_avg"].index_add_(0, rows, mean)  # five times as fast as index_copy_
            mean.add_(old)
            square = torch.mul(values, values, out=old).sub_(before).mul_(1 - beta2)  # in the memory of `old`
            state["exp_avg_sq"].index_add_(0, rows, square)
            square.add_(before)
            size = self.param_groups[0]["lr"] * math.sqrt(1 - beta2 ** state["step"]) / (1 - beta ** state["step"])
            table.index_add_(0, rows, mean.div_(square.sqrt_().add_(self.param_groups[0]["eps"])).mul_(-size))


class Adam:
    """Adam in two halves: fused for dense gradients, sparse for word tables with gradients for a few rows."""

    def __init__(self, module: nn.Module, rate: float) -> None:
        sparse = {id(table.weight) for table in module.modules() if isinstance(table, nn.Embedding) and table.sparse}
        learned = [parameter for parameter in module.parameters() if parameter.requires_grad]
        self._halves: list[torch.optim.Optimizer] = []
        if dense := [parameter for parameter in learned if id(parameter) not in sparse]:
            self._halves.append(torch.optim.Adam(dense, lr=rate, fused=dense[0].device.type in ("cpu", "cuda")))
        if tables := [parameter for parameter in learned if id(parameter) in sparse]:
            self._halves.append(RowAdam(tables, lr=rate))

    def step(self) -> None:
        for half in self._halves:
            half.step()

    def clear(self) -> None:
        for half in self._halves:
            half.zero_grad()

    def state(self) -> dict[str, np.ndarray]:
        """`half.parameter.name` -> array; a step count is a 0-dimensional array."""
        return {
            f"{number}.{parameter}.{name}": np.asarray(value.cpu() if isinstance(value, Tensor) else value)
            for number, half in enumerate(self._halves)
            for parameter, entries in half.state_dict()["state"].items()
            for name, value in entries.items()
        }

    def restore(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Restore such a state."""
        for number, half in enumerate(self._halves):
            state: dict[int, dict[str, Any]] = {}
            for key, array in arrays.items():
                owner, parameter, name = key.split(".")
                if int(owner) == number:
                    counted = name == "step" and isinstance(half, torch.optim.SparseAdam)
                    state.setdefault(int(parameter), {})[name] = int(array) if counted else torch.tensor(array)
            half.load_state_dict({"state": state, "param_groups": half.state_dict()["param_groups"]})


def clip_(module: nn.Module, longest: float) -> Tensor:
    """Scale all gradients, including sparse ones, down to this Euclidean norm (0: never); return the original norm."""
    gradients = []
    for parameter in module.parameters():
        if parameter.grad is not None and parameter.grad.is_sparse:
            parameter.grad = parameter.grad.coalesce()  # merge repeated rows
            gradients.append(parameter.grad._values())
        elif parameter.grad is not None:
            gradients.append(parameter.grad)
    if not gradients:
        return torch.zeros(())
    length = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(values) for values in gradients]))
    if longest:
        factor = (longest / (length + 1e-12)).clamp(max=1.0)
        for values in gradients:
            values.mul_(factor)
    return length


# --- settings ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Training(Settings):
    """Settings of the loop; a method's settings class extends them."""

    epochs: int = setting(10, "passes through the training data; 0: no training", minimum=0, maximum=10_000)
    batch: int = setting(64, "pairs, triplets or sentences per step", minimum=2, maximum=100_000)
    learning_rate: float = setting(0.001, "step size of Adam", above=0, maximum=10, tune=(0.0003, 0.01))
    patience: int = setting(
        3, "epochs without a better dev score before training stops; 0: never stop early", minimum=0
    )
    max_grad_norm: float = setting(
        5.0, "maximum norm of the gradient, which is clipped to it; 0: no clipping", minimum=0
    )
    device: str = setting("auto", "device for training and encoding", choices=("auto", "cpu", "cuda", "mps"))

    @property
    def rate_name(self) -> str:
        """The name of the setting that controls the step size."""
        return "learning_rate"

    @property
    def if_idle(self) -> str:
        """What to change if no batch gives a gradient."""
        return "the loss is flat everywhere; choose other settings or other data"

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Step settings apply only with epochs; patience also needs a dev split."""
        trained = dict.fromkeys(("batch", "learning_rate", "max_grad_norm"), (self.epochs > 0, EPOCHS))
        return trained | {"patience": (self.epochs > 0 and has_dev is not False, f"{EPOCHS} and a dev split")}


@dataclass(frozen=True, kw_only=True)
class EncoderTraining(Training):
    """Settings of the loop for trainable sentence encoders."""

    amp: bool = setting(True, "use bfloat16 in the encoder, on CUDA only; similarities stay float32")

    def conditions(self, shape: str | None = None, has_dev: bool | None = None) -> Conditions:
        """Mixed precision applies only on GPUs."""
        amp = self.epochs > 0 and self.device in ("auto", "cuda")
        return super().conditions(shape, has_dev) | {"amp": (amp, f"{EPOCHS} and device=auto or cuda")}


# --- loop --------------------------------------------------------------------------------------------------------

CHECKPOINT_SECONDS = 60.0  # the maximum amount of work lost, in addition to the current batch
COLLAPSED = 0.01  # a standard deviation of cosines; a random encoder has ten times as much, some LSTMs half as much
HOPELESS = 0.001
IDLE = 10  # batches at the start; if none gives a gradient, training stops with an error

Figures = Mapping[str, Tensor | float]
Dev = Callable[[], tuple[str, float]]  # computes the name and value of the score that selects an epoch


class Task(Protocol):
    """What the loop trains: a module, its batches and their loss."""

    @property
    def module(self) -> nn.Module:
        """The network that learns."""

    def batches(self, epoch: int) -> Sequence[Any]:
        """The batches of this epoch, which depend only on the epoch."""

    def outputs(self, batch: Any, rows: slice) -> Tensor:
        """The module's outputs for these rows of a batch, one per row; several processes share the rows."""

    def loss(self, outputs: Tensor, batch: Any) -> tuple[Tensor, Callable[[], Figures]]:
        """The loss of a batch from all its outputs, and a function for its statistics, called after the backward pass.

        A statistic `spread` must be the standard deviation of similarities: near 0 the embeddings have collapsed.
        """


@dataclass
class _Position:
    """The progress of a run: `epoch - 1` whole epochs, and `batch` batches of the next."""

    epoch: int = 1
    batch: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    rows: list[dict[str, float]] = field(default_factory=list)
    best: float | None = None
    best_epoch: int = 0


def train(
    task: Task,
    settings: Training,
    *,
    seed: int,
    progress: Progress,
    store: Keeper | None = None,
    dev: Dev | None = None,
    probe: Snapshots | None = None,
    encode: Callable[[list[str]], np.ndarray] | None = None,
    after_epoch: Callable[[History, Snapshots], None] = lambda history, snapshots: None,
) -> tuple[History, Snapshots]:
    """Train until all epochs are done or dev has not improved for `patience` epochs; keep the best weights.

    `dev` computes the selection score, larger is better; without it the last epoch is kept. The vectors that `encode`
    gives the sentences of `probe` are stored before training and after each epoch. `after_epoch` is called with the
    history while the module holds the best weights so far.
    """
    loop = _Loop(task, settings, seed, progress, store, dev, probe or Snapshots((), ()), encode, after_epoch)
    with torch.random.fork_rng():  # dropout draws from torch's global generator, which is restored afterwards
        return loop.run()


@dataclass
class _Loop:
    task: Task
    settings: Training
    seed: int
    progress: Progress
    store: Keeper | None
    dev: Dev | None
    snapshots: Snapshots
    encode: Callable[[list[str]], np.ndarray] | None
    after_epoch: Callable[[History, Snapshots], None]

    def __post_init__(self) -> None:
        self.module = self.task.module
        self.rate = getattr(self.settings, self.settings.rate_name)
        self.adam = Adam(self.module, self.rate)
        self.at = _Position()
        self.warned = False  # warn of a collapse only once
        self.best = _copy(self.module)
        self.generators = generators_of(self.module)
        kept = self.store.resume() if self.store else None
        self.store = self.store if distributed.rank() == 0 else None
        if kept is not None:
            self._restore(*kept)
        else:
            self._snapshot(0)
            self._checkpoint()
        here = (self.at.epoch, self.at.batch)
        first = distributed.agreed(here)
        if here != first:  # the processes do not share a run folder
            raise ValueError(
                f"process {distributed.rank() + 1} of {distributed.size()} resumes from batch {here[1]} of epoch "
                f"{here[0]}, but the first from batch {first[1]} of epoch {first[0]}. Use a folder that all processes "
                "share"
            )

    def run(self) -> tuple[History, Snapshots]:
        with interrupts.deferred():  # until the batch is complete and saved in a checkpoint
            while self.at.epoch <= self.settings.epochs and not self._given_up():
                self._epoch()
                self._checkpoint()
                now = _copy(self.module)
                self.module.load_state_dict(self.best)
                self.after_epoch(History(tuple(self.at.rows)), self.snapshots)
                self.module.load_state_dict(now)
                self._heed()
        self.module.load_state_dict(self.best)
        self.module.eval()
        return History(tuple(self.at.rows)), self.snapshots

    def _given_up(self) -> bool:
        waited = self.at.epoch - 1 - self.at.best_epoch
        return self.at.best is not None and 0 < self.settings.patience <= waited

    # --- an epoch --------------------------------------------------------------------------------------------

    def _epoch(self) -> None:
        batches, epochs = self.task.batches(self.at.epoch), self.settings.epochs
        count = len(batches)
        if not count:
            raise ValueError("the training split is too small for one batch; give more rows or a smaller batch")
        saved = time.monotonic()
        self.module.train()
        for number in range(self.at.batch, count):
            for generator in self.generators:
                generator.manual_seed(zlib.crc32(f"{self.seed}/{self.at.epoch}/{number}".encode()))
            self._step(batches[number], number)
            self.at.batch = number + 1
            first = min(IDLE, count)
            if self.at.epoch == 1 and self.at.batch == first and not self.at.sums["gradient"]:
                raise ValueError(
                    f"nothing is learned: the first {first} batches have no gradient; {self.settings.if_idle}"
                )
            done, loss = (self.at.epoch - 1) * count + self.at.batch, self.at.sums["loss"] / self.at.batch
            self.progress(done, epochs * count, f"epoch {self.at.epoch} of {epochs}, loss {loss:.4f}")
            self._heed(self._checkpoint)
            if time.monotonic() - saved > CHECKPOINT_SECONDS and self.at.batch < count:
                self._checkpoint()
                saved = time.monotonic()
        self._close(count)

    def _step(self, batch: Any, number: int) -> None:
        self.adam.clear()
        loss, note = self.task.loss(distributed.gathered(self.task.outputs, batch), batch)
        loss.backward()
        distributed.average_gradients(self.module)
        length = clip_(self.module, self.settings.max_grad_norm)
        figures = {"loss": loss.detach(), **note(), "gradient": length}
        values = torch.stack([torch.as_tensor(value, dtype=torch.float64).cpu() for value in figures.values()]).tolist()
        numbers = dict(zip(figures, values, strict=True))
        if not np.isfinite(numbers["loss"]) or not np.isfinite(numbers["gradient"]):
            kept = f"; the last good checkpoint (epoch {self.at.epoch - 1}) is kept" if self.store else ""
            raise ValueError(
                f"the loss is {numbers['loss']:g} at batch {number + 1} of epoch {self.at.epoch}, which is not finite. "
                f"Lower {self.settings.rate_name} from {self.rate:g} to a tenth{kept}"
            )
        self.adam.step()
        for name, value in numbers.items():
            self.at.sums[name] = self.at.sums.get(name, 0.0) + value

    def _close(self, batches: int) -> None:
        """Record the epoch's means, dev score, probe vectors and scores, and whether it is the best epoch so far."""
        means = {name: total / batches for name, total in self.at.sums.items()}
        row: dict[str, float] = {"epoch": self.at.epoch, **means}
        if self._collapsed(row) and not self.warned:
            self.warned = True
            note(
                f"after epoch {self.at.epoch} all sentences have nearly the same vector (their cosines differ by only "
                f"{row['spread']:.2g}): the embeddings have collapsed; lower {self.settings.rate_name}, or choose "
                "another loss or miner",
                stacklevel=2,
            )
        self.module.eval()
        chosen = distributed.agreed(self.dev() if self.dev is not None and distributed.rank() == 0 else None)
        if chosen is not None:
            row[chosen[0]] = chosen[1]
        if chosen is None or self.at.best is None or chosen[1] > self.at.best:
            self.at.best = None if chosen is None else chosen[1]
            self.at.best_epoch = self.at.epoch
            self.best = _copy(self.module)
        self._snapshot(self.at.epoch)
        if len(self.snapshots.epochs):
            row |= probe_figures(self.snapshots.labels, self.snapshots.vectors[-1])
        self.at.rows.append(row)
        self.at.epoch, self.at.batch, self.at.sums = self.at.epoch + 1, 0, {}

    def _collapsed(self, row: Mapping[str, float]) -> bool:
        """Whether a small spread means a collapse: it is nearly zero or no longer grows."""
        spread = row.get("spread", 1.0)
        before = self.at.rows[-1]["spread"] if self.at.rows and "spread" in row else 0.0
        return spread < HOPELESS or spread < min(COLLAPSED, before)

    def _snapshot(self, epoch: int) -> None:
        self.module.eval()
        if self.encode is not None and self.snapshots.texts:
            self.snapshots = self.snapshots.with_epoch(epoch, self.encode(list(self.snapshots.texts)))

    # --- checkpoints -----------------------------------------------------------------------------------------

    def _heed(self, first: Callable[[], None] = lambda: None) -> None:
        """Stop if requested; the first process decides, so that no process waits for another."""
        asked = distributed.agreed(interrupts.requested())
        if asked is not None:
            first()
            raise interrupts.Interrupted(asked)

    def _checkpoint(self) -> None:
        if self.store is None:
            return
        arrays = {f"now.{name}": tensor.cpu().numpy() for name, tensor in self.module.state_dict().items()}
        arrays |= {f"best.{name}": tensor.cpu().numpy() for name, tensor in self.best.items()}
        arrays |= {f"adam.{name}": array for name, array in self.adam.state().items()}
        arrays |= {"snapshots.epochs": self.snapshots.epochs, "snapshots.vectors": self.snapshots.vectors}
        self.store.checkpoint(arrays, vars(self.at))

    def _restore(self, arrays: dict[str, np.ndarray], record: dict[str, Any]) -> None:
        self.at = _Position(**{name: record[name] for name in vars(self.at)})
        parts: dict[str, dict[str, np.ndarray]] = {"now": {}, "best": {}, "adam": {}, "snapshots": {}}
        for key, array in arrays.items():
            part, name = key.split(".", 1)
            parts[part][name] = array
        device = next(self.module.parameters()).device
        self.module.load_state_dict({name: torch.tensor(array) for name, array in parts["now"].items()})
        self.best = {name: torch.tensor(array, device=device) for name, array in parts["best"].items()}
        self.adam.restore(parts["adam"])
        self.snapshots = Snapshots(self.snapshots.texts, self.snapshots.labels, **parts["snapshots"])


def generators_of(module: nn.Module) -> list[torch.Generator]:
    """The torch generators that dropout uses: the CPU's, and the generator of the module's device.

    `torch.manual_seed` would seed them all, but takes milliseconds if CUDA is not in use.
    """
    device = next(module.parameters()).device
    if device.type == "cuda":
        return [torch.default_generator, torch.cuda.default_generators[device.index]]
    if device.type == "mps":
        return [torch.default_generator, torch.mps._get_default_mps_generator()]
    return [torch.default_generator]


def _copy(module: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}
