"""The machine, and how every benchmark here measures: two calls timed in turn, memory in a process of its own.

In: calls without arguments. Out: frozen records of seconds, ratios and bytes. Shared machines drift; because the two
calls alternate and the ratio is taken within each round, a slow minute slows both.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "pytorch-metric-learning", "sentence-transformers", "faiss-cpu")
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True)
class Alternation:
    """Medians over the rounds: seconds of `a`, seconds of `b`, and the ratio a / b within a round, with its range."""

    ratio: float
    a: float
    b: float
    least: float
    most: float


def alternate(
    a: Callable[[], Any],
    b: Callable[[], Any],
    rounds: int,
    *,
    clock: Callable[[], float] = time.process_time,
    warm: bool = True,
) -> Alternation:
    """Time two calls in turn, `rounds` times; the one that goes first changes. `warm`: one unmeasured round before.

    The default clock is CPU time of the process; give `time.perf_counter` for wall time.
    """
    if rounds < 1:
        raise ValueError(f"rounds is {rounds}, expected at least 1; give an odd number for a clean median")
    if warm:
        a(), b()
    pairs: list[tuple[float, float]] = []
    for number in range(rounds):
        if number % 2:
            second = seconds(b, clock)
            pairs.append((seconds(a, clock), second))
        else:
            pairs.append((seconds(a, clock), seconds(b, clock)))
    ratios = [first / second for first, second in pairs]
    return Alternation(
        statistics.median(ratios),
        statistics.median(first for first, _ in pairs),
        statistics.median(second for _, second in pairs),
        min(ratios),
        max(ratios),
    )


def seconds(call: Callable[[], Any], clock: Callable[[], float] = time.process_time) -> float:
    """What one call takes by this clock."""
    start = clock()
    call()
    return clock() - start


@contextmanager
def threads(count: int) -> Iterator[None]:
    """torch on so many threads, and back to what it was. Set OMP_NUM_THREADS too where numpy or faiss is timed."""
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def peak_bytes(call: Callable[[], Any]) -> int:
    """How far resident memory rose above its start while `call` ran. Linux only; meaningful in a fresh process only."""
    _RESET.write_text("5")  # sets the high-water mark of this process back to what it holds now
    before = _status_bytes("VmRSS")
    call()
    return _status_bytes("VmHWM") - before


def fresh_process(module: str, *arguments: str, threads: int = 1, gives_back: bool = True) -> str:
    """What `python -m module arguments` prints, run on so many threads.

    Memory it frees goes back to the system at once (glibc); without `gives_back` only as it does for any user.
    """
    environment = {"OMP_NUM_THREADS": str(threads)}
    if gives_back:
        environment |= {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[1:])} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def describe() -> str:
    """One line: processor, memory, system, Python and the versions that matter to the figures."""
    found = [f"{name} {release}" for name in PACKAGES if (release := _version(name))]
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{_processor()}, {os.cpu_count() or 1} cores, {_memory():.0f} GB; {system}; {', '.join(found)}"


def _status_bytes(field: str) -> int:
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
