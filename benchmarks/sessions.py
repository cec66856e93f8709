"""How long do thirty simultaneous visitors of the app wait while a model trains?

Visitors without a browser (`visitor.py`) open a page together; then each moves a slider repeatedly, with pauses. On
Clusters, all upload the same file of 20,000 sentences; then the same file of 1,500; then each a different file of
1,500. The last line says how much longer a move takes with different files.

Before them, one visitor opens the page alone: the column "first of all" includes imports, reading the file and fitting
its vectors. Times are wall seconds from a request to the server's last message, without drawing in a browser. Memory is
that of the app without the training: before the visitors come, when all have the page, after half of the remaining time
and at the end.
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.machine import describe
from benchmarks.visitor import Visitor

SESSIONS = 30
SECONDS, THINK = 60.0, 4.0  # in which each visitor moves the slider; mean pause between two moves
ROWS, OWN = 20_000, 1_500  # rows of the file for all, and of one for each visitor
HEAD = (
    "| page | visitors | first of all | first run, median | p95 | moves | move, median | p95 | MB per move "
    "| CPU s per move | app's MB |\n|" + 11 * " --- |"
)
TRAINING = "view=Train&preset=Another+method&method=sentpwnet&sentpwnet.epochs=120&sentpwnet.patience=0"


@dataclass(frozen=True)
class Use:
    """A page, the settings in its address, a slider and the range of its moves."""

    page: str
    query: str
    slider: str
    least: int
    most: int
    uploads: tuple[bytes, ...] = ()  # assigned to the visitors in turn
    files: str = ""  # their description


@dataclass
class Measured:
    """Seconds of the first runs and of the moves, bytes of the moves, errors, and the app's MB over time."""

    first: list[float] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def sentences(rows: int, seed: int = 0) -> bytes:
    """A CSV of generated sentences in twenty classes; half of the words are those of the class."""
    chance = random.Random(seed)
    lines = ["text,label"]
    for row in range(rows):
        kind = chance.randrange(20)
        words = [f"{'word' if chance.random() < 0.5 else f'topic{kind}x'}{chance.randrange(60)}" for _ in range(9)]
        lines.append(f"{' '.join(words)} n{row},class {kind}")
    return "\n".join(lines).encode()


async def together(address: str, process: int, use: Use, visitors: int, seconds: float) -> Measured:
    """All visitors at once; with 0 seconds, each only opens the page."""
    found = Measured(memory=[memory(process)])
    watching = asyncio.create_task(_watch(process, found, visitors, seconds))
    await asyncio.gather(*(_visit(address, use, seconds, found, number) for number in range(visitors)))
    watching.cancel()
    found.memory.append(memory(process))
    return found


async def _watch(process: int, found: Measured, visitors: int, seconds: float) -> None:
    """Record the app's MB when all have the page, and after half of the remaining time."""
    while len(found.first) < visitors:
        await asyncio.sleep(0.2)
    found.memory.append(memory(process))
    await asyncio.sleep(seconds / 2)
    found.memory.append(memory(process))


async def _visit(address: str, use: Use, seconds: float, found: Measured, number: int) -> None:
    chance = random.Random(number)
    async with Visitor(address, use.page, use.query) as visitor:
        took, _ = await visitor.run()
        if use.uploads:
            took += (await visitor.bring("Your own file", "mine.csv", use.uploads[number % len(use.uploads)]))[0]
        found.first.append(took)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(chance.uniform(0.5, 1.5) * THINK)
            took, size = await visitor.move(use.slider, chance.randint(use.least, use.most))
            found.moves.append(took)
            found.received.append(size)
        found.errors.extend(visitor.errors)


@contextmanager
def app(folder: Path) -> Iterator[tuple[str, int]]:
    """Start an app; its address and process number."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    here = {"LABKIT_RUNS": str(folder), "STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false"}
    command = [sys.executable, "-m", "labkit", "app", "--port", str(port), "--no-browser"]
    process = subprocess.Popen(command, env=os.environ | here, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/_stcore/health", timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def memory(process: int) -> float:
    """Resident megabytes of a process."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def cpu(process: int) -> float:
    """CPU seconds of a process so far."""
    times = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


async def training(address: str) -> None:
    """Start a training in the app."""
    async with Visitor(address, "train", TRAINING) as visitor:
        await visitor.run()
        await visitor.press("Train")
        if visitor.errors:
            raise RuntimeError(visitor.errors[0])


def line(use: Use, alone: Measured, found: Measured, spent: float) -> str:
    """A row of the table."""
    high_first, high_move = (statistics.quantiles(values, n=20)[-1] for values in (found.first, found.moves))
    first = f"{alone.first[0]:.1f} s | {statistics.median(found.first):.2f} s | {high_first:.2f} s"
    moves = f"{len(found.moves)} | {statistics.median(found.moves):.3f} s | {high_move:.3f} s"
    size = f"{statistics.mean(found.received) / 1e6:.2f} | {spent / len(found.moves):.3f}"
    errors = f" ({len(found.errors)} errors: {found.errors[0]})" if found.errors else ""
    megabytes = ", ".join(f"{each:.0f}" for each in found.memory)
    return f"| {use.page}{use.files}{errors} | {SESSIONS} | {first} | {moves} | {size} | {megabytes} |"


def clusters(uploads: tuple[bytes, ...], files: str) -> Use:
    """The page Clusters with uploaded files."""
    return Use("space", "corpus=your+own+file&amount=20%2C000&how=PCA", "Number of coloured", 2, 36, uploads, files)


def main() -> str:
    """The table, and below it how much longer a move takes with different files."""
    uses = (
        clusters((sentences(ROWS),), f", one file of {ROWS:,} rows"),
        Use("why", "", "α", 1, 20),
        clusters((sentences(OWN),), f", one file of {OWN:,} rows"),
        clusters(tuple(sentences(OWN, 1 + number) for number in range(SESSIONS)), f", a file of {OWN:,} rows each"),
    )
    table, medians = [describe(), "", HEAD], []
    with tempfile.TemporaryDirectory() as folder, app(Path(folder)) as (address, process):
        asyncio.run(training(address))
        for use in uses:
            alone = asyncio.run(together(address, process, use, 1, 0.0))
            start = cpu(process)
            found = asyncio.run(together(address, process, use, SESSIONS, SECONDS))
            table.append(line(use, alone, found, cpu(process) - start))
            medians.append(statistics.median(found.moves))
    times = medians[-1] / medians[-2]
    return "\n".join([*table, "", f"With a file for each visitor, a move takes {times:.2f} times as long (medians)."])
