"""Does CUDA compute what the CPU computes, and how much faster is a training step there?

Prints three tables within a minute on an H100, or one sentence without a GPU.

    losses    every loss with every miner on similarities of 512 sentences: value and gradient on CUDA and the CPU
    methods   every method with a `device` setting: the vectors of one trained model on both devices; and one epoch of
              training on each (no dropout, no bfloat16): its loss, and the vectors afterwards
    steps     loss and gradient of a batch of 16,384 vectors (300 numbers) on both devices, without a matrix of 16,384 x
              16,384 similarities; and with it (dense) on CUDA

Differences are relative to the largest number of the CPU's result. Rounding alone gives 1e-7 to 1e-5; differences above
1e-4 are marked. After training they may be larger, because Adam divides by the size of a gradient, which turns rounding
of a gradient near zero into a whole step. These differences are shown, but not marked.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.golden import difference, rows_of
from benchmarks.machine import describe
from benchmarks.pairs import batch, dense
from labkit.arrays import unit
from labkit.baselines.base import BasedSettings
from labkit.corpora import Corpus, load
from labkit.method import Method
from labkit.methods import METHODS, load_run
from labkit.pairs import LOSSES, hardest, informative, masks_from_labels, random_pairs, streaming_locality
from labkit.pairs.large_batch import by_anchors
from labkit.runs import write_run
from labkit.training.encoders import ENCODERS

BOUND = 1e-4
ROWS, LARGE, SENTENCES = 512, 16_384, 400
SMALL = {"epochs": 1, "dimension": 32, "size": 32, "hidden": 32, "rank": 64, "dropout": 0.0, "amp": False}
CPU_TAKES_MINUTES = ("soft-triplet", "margin-triplet")  # for 16,384 vectors
CORPUS = {"thematic": "articles", "pthought": "captions"}  # all other methods: questions

Mined = tuple[Tensor, Tensor]


def main() -> str:
    if not torch.cuda.is_available():
        return "No CUDA device was found, so nothing was measured."
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    lines = [f"{torch.cuda.get_device_name()}. {describe()}"]
    for heads, rows in (
        (("loss", "miner", "value differs by", "gradient differs by"), loss_rows()),
        (("method", "encode differs by", "loss of an epoch", "trained vectors", "s CUDA", "s CPU"), method_rows()),
        (("step", "ms CUDA", "ms CPU", "times faster", "MB CUDA", "gradient differs by"), step_rows()),
    ):
        lines += ["", f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
        for row in rows:
            lines.append(f"| {' | '.join(row)} |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines)


# --- losses ------------------------------------------------------------------------------------------------------


def loss_rows() -> Iterator[tuple[str, ...]]:
    """Value and gradient of each loss with each miner, on S (512, 512)."""
    X, labels = batch(ROWS, "learned")
    V = F.normalize(X, dim=1)
    S, (P, N) = V @ V.T, masks_from_labels(labels)
    draw = torch.Generator().manual_seed(0)
    miners: dict[str, Mined] = {  # mined once, on the CPU: rounding can decide whether a borderline pair is kept
        "all": (P, N),
        "informative": informative(S, P, N),
        "hardest": hardest(S, P, N),
        "random": random_pairs(S, P, N, share=0.5, generator=draw),
    }
    for name, loss in LOSSES.items():
        if loss.needs == "texts":
            continue  # differs from InfoNCE only in its batches
        for miner, masks in miners.items():
            value, slope = valued(loss.function, S, *masks)
            there, its = valued(loss.function, S.cuda(), *(mask.cuda() for mask in masks))
            yield name, miner, judged(difference(there, value)), judged(difference(its, slope))


def valued(loss: Callable[..., Tensor], S: Tensor, P: Tensor, N: Tensor) -> tuple[Tensor, Tensor]:
    """The loss and its gradient."""
    S = S.detach().requires_grad_()
    value = loss(S, P, N)
    value.backward()
    assert S.grad is not None
    return value.detach().cpu(), S.grad.cpu()


# --- methods -----------------------------------------------------------------------------------------------------


def method_rows() -> Iterator[tuple[str, ...]]:
    """One row for each method with a `device` setting, and for each encoder of `sentpwnet`."""
    for name, entry in METHODS.items():
        known = {field.name for field in fields(entry.Settings)}
        if "device" not in known:
            continue
        for encoder in ENCODERS if name == "sentpwnet" else ("",):
            settings: dict[str, Any] = {key: value for key, value in SMALL.items() if key in known}
            settings |= {"encoder": encoder} if encoder else {}
            settings |= {"base": "lsa"} if issubclass(entry.Settings, BasedSettings) else {}
            title = f"{name} {encoder}".strip()
            try:
                yield title, *of_method(name, settings)
            except Exception as error:  # the other methods are still measured
                traceback.print_exc()
                yield title, f"failed: {type(error).__name__}: {error}".replace("|", "/")[:160], "", "", "", ""


def of_method(name: str, settings: dict[str, Any]) -> tuple[str, ...]:
    """Train on both devices, and encode with the CPU's model on both: differences and seconds."""
    corpus = load(CORPUS.get(name, "questions"))
    parts = ([row for row, split in enumerate(corpus.splits) if split == part] for part in ("train", "dev"))
    corpus = corpus.take([row for rows, most in zip(parts, (SENTENCES, 100), strict=True) for row in rows[:most]])
    asked = corpus.sentences()[:SENTENCES]
    with TemporaryDirectory() as folder:
        if name in ("sbert", "static"):
            from tests.tiny_sbert import make_tiny_sbert  # random weights suffice

            model = make_tiny_sbert(Path(folder), seed=0)
            settings |= {"model": model} if name == "sbert" else {"vectors": f"distilled:{model}", "dimension": 16}
        (here, slow), (there, fast) = (trained(name, settings, corpus, device) for device in ("cpu", "cuda"))
        expected, moved_rows, trained_rows = (rows_of(method, asked) for method in (here, moved(here), there))
    loss = next((column for column in ("loss", "objective") if column in here.history.columns), None)
    return (
        judged(difference(moved_rows, expected)),
        f"{difference(there.history.column(loss), here.history.column(loss)):.0e}" if loss else "",
        f"{difference(cosines(trained_rows), cosines(expected)):.0e}",
        f"{fast:.1f}",
        f"{slow:.1f}",
    )


def trained(name: str, settings: dict[str, Any], corpus: Corpus, device: str) -> tuple[Method, float]:
    """The trained method, and the seconds of its training."""
    method, start = METHODS[name](**settings, device=device), time.perf_counter()
    method.fit(corpus)
    return method, time.perf_counter() - start


def moved(method: Method) -> Method:
    """The same model on CUDA."""
    run = method.run("finished")
    with TemporaryDirectory() as folder:
        write_run(replace(run, settings={**run.settings, "device": "cuda"}), Path(folder) / "run")
        return load_run(Path(folder) / "run")


def cosines(rows: np.ndarray) -> np.ndarray:
    """The cosines of all pairs, which do not change if the vectors are rotated or mirrored."""
    rows = unit(rows)
    return rows @ rows.T


# --- steps -------------------------------------------------------------------------------------------------------


def step_rows() -> Iterator[tuple[str, ...]]:
    """Loss and gradient of a large batch: streamed, in strips of anchors, and dense on CUDA."""
    X, labels = batch(LARGE, "learned")
    V = F.normalize(X, dim=1)

    def masks(labels: Tensor, anchors: slice) -> Mined:
        same = labels[anchors, None] == labels
        others = ~same
        same[torch.arange(len(same)), torch.arange(anchors.start, anchors.start + len(same))] = False
        return same, others

    def in_strips(loss: Callable[..., Tensor], X: Tensor, labels: Tensor) -> Tensor:
        return by_anchors(X, partial(masks, labels), informative, loss)[0]

    steps: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"locality, streamed": streaming_locality}
    steps |= {
        f"{name}, in strips": partial(in_strips, loss.function)
        for name, loss in LOSSES.items()
        if loss.by_anchor and loss.needs == "masks"
    }
    for title, step in steps.items():
        fast, most, its = stepped(step, V.cuda(), labels.cuda())
        if title.startswith(CPU_TAKES_MINUTES):
            yield title, f"{fast:.1f}", "", "", f"{most:.0f}", ""
            continue
        slow, _, slope = stepped(step, V, labels, rounds=1)
        yield title, f"{fast:.1f}", f"{slow:.0f}", f"{slow / fast:.0f}", f"{most:.0f}", judged(difference(its, slope))
    fast, most, _ = stepped(dense, V.cuda(), labels.cuda())
    yield "locality, dense", f"{fast:.1f}", "", "", f"{most:.0f}", ""


def stepped(
    step: Callable[[Tensor, Tensor], Tensor], X: Tensor, labels: Tensor, rounds: int = 5
) -> tuple[float, float, Tensor]:
    """Median milliseconds (on CUDA after a first call), peak MB of GPU memory, and the gradient (m, d)."""
    taken, on_cuda = [], X.is_cuda
    for number in range(rounds + on_cuda):
        X = X.detach().requires_grad_()
        if on_cuda:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()
        start = time.perf_counter()
        step(X, labels).backward()
        if on_cuda:
            torch.cuda.synchronize()
        if number or not on_cuda:
            taken.append(1000 * (time.perf_counter() - start))
    most = torch.cuda.max_memory_allocated() / 2**20 if on_cuda else 0.0
    assert X.grad is not None
    return float(np.median(taken)), most, X.grad.cpu()


def judged(found: float) -> str:
    """A difference, marked if it is above the bound."""
    return f"{found:.0e}" + (" **above 1e-4**" if found > BOUND else "")
