"""The machine, and how all benchmarks measure: two calls in turn, memory in a separate process.

The load of a shared machine changes. The two calls alternate and their ratio is taken within each round, so a busy
minute slows both.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

PACKAGES = ("torch", "numpy", "scipy", "scikit-learn", "pytorch-metric-learning", "sentence-transformers", "faiss-cpu")


@dataclass(frozen=True)
class Alternation:
    """Median CPU seconds of `a` and of `b`, and the median ratio a / b within a round, with its range."""

    ratio: float
    a: float
    b: float
    least: float
    most: float


def alternate(a: Callable[[], Any], b: Callable[[], Any], rounds: int, *, warm: bool = True) -> Alternation:
    """Time two calls in turn, `rounds` times; `b` goes first in every second round. `warm` adds an untimed round."""
    if warm:
        a(), b()
    taken: dict[Callable[[], Any], list[float]] = {a: [], b: []}
    for number in range(rounds):
        for call in (b, a) if number % 2 else (a, b):
            taken[call].append(seconds(call))
    ratios = [first / second for first, second in zip(taken[a], taken[b], strict=True)]
    ratio, of_a, of_b = map(statistics.median, (ratios, taken[a], taken[b]))
    return Alternation(ratio, of_a, of_b, min(ratios), max(ratios))


def seconds(call: Callable[[], Any]) -> float:
    """CPU seconds of one call in this process."""
    start = time.process_time()
    call()
    return time.process_time() - start


@contextmanager
def one_thread() -> Iterator[None]:
    """Restrict torch to one thread. Where numpy or faiss is timed, set OMP_NUM_THREADS too."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def measured(call: Callable[[], Any]) -> tuple[int, int, float]:
    """Resident bytes of this process before a call, peak bytes, and the call's CPU seconds. Linux only."""
    Path("/proc/self/clear_refs").write_text("5")  # resets VmHWM, the peak
    before = _status_bytes("VmRSS")
    spent = seconds(call)
    return before, _status_bytes("VmHWM"), spent


def fresh_process(function: Callable[..., Any], *arguments: Any, return_freed: bool = True) -> Any:
    """The result of a module's function in a new process on one thread.

    By default, freed memory goes back to the system at once (glibc); without `return_freed`, as for any user.
    """
    environment = {"OMP_NUM_THREADS": "1"}
    if return_freed:
        environment |= {"MALLOC_MMAP_THRESHOLD_": "131072", "MALLOC_TRIM_THRESHOLD_": "131072"}
    with patch.dict(os.environ, environment), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def process_tree(arguments: Sequence[str], folder: Path) -> tuple[str, float, int]:
    """Run Python with these arguments in a folder: its output, and CPU seconds and peak bytes of all its processes."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    before, peak, output = _cpu_of_ended(), 0, folder / "output.txt"
    with output.open("w") as file:
        running = subprocess.Popen(
            [sys.executable, *arguments], cwd=folder, stdout=file, stderr=subprocess.STDOUT, env=environment
        )
        while running.poll() is None:
            peak = max(peak, sum(map(_shared_bytes, [running.pid, *_children(running.pid)])))
            time.sleep(0.05)
    if running.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with {running.returncode}: {output.read_text()}")
    return output.read_text(), _cpu_of_ended() - before, peak


def describe() -> str:
    """One line: processor, memory, system, Python and the versions of the packages that are measured."""
    found = []
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            found.append(f"{name} {version(name)}")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GB; {system}; {', '.join(found)}"


def _status_bytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def _cpu_of_ended() -> float:
    """CPU seconds of all child processes that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _shared_bytes(process: int) -> int:
    """Memory of a process, 0 if it has ended; a page shared by n processes counts 1/n for each (PSS)."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except OSError:
        return 0


def _children(process: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def _processor() -> str:
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text().splitlines() if listing.exists() else []
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
