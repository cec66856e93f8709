"""How long do thirty people wait who use the app at once, while a training runs in it?

Starts an app of its own, begins a training in it, and lets visitors without a browser (`visitor.py`) open a
page together; then each of them moves a slider again and again, with a pause for thought between. On Clusters they
bring a file of 20,000 sentences, the same for all; then one of 1,500, the same for all; then each a file of 1,500 that
nobody else has, and the last line says how much longer a move takes for that. Somebody has been there before them, as a
teacher has: what only the first of all waits for (imports, reading the file, fitting its vectors) has a column of its
own. Wall seconds from asking to done, as the server gives it: a browser has to draw it, too. Memory is the app's own,
without the training's: before the thirty come, when all have the page, after half of the moves, and at the end.

    python -m benchmarks sessions         python -m benchmarks.sessions --sessions 30 --seconds 60 --rows 20000
"""

from __future__ import annotations

import argparse
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

SESSIONS, SECONDS, ROWS, THINK = 30, 60.0, 20_000, 4.0
OWN = 1_500  # rows of a file that each has of his own
HEAD = (
    "| page | visitors | first of all | first run, median | p95 | moves | a move, median | p95 | MB a move "
    "| CPU s a move | app's MB |\n|" + 11 * " --- |"
)
TRAINING = "view=Train&preset=Another+method&method=sentpwnet&sentpwnet.epochs=120&sentpwnet.patience=0"


@dataclass(frozen=True)
class Use:
    """A page, the settings in its address, and the slider that is moved between two ends."""

    page: str
    query: str
    slider: str
    least: int
    most: int
    uploads: tuple[bytes, ...] = ()  # the visitors' files, in turn
    said: str = ""


@dataclass
class Measured:
    """Seconds of the first runs and of the moves, the bytes of a move, and the app's MB now and then."""

    first: list[float] = field(default_factory=list)
    moves: list[float] = field(default_factory=list)
    received: list[int] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def sentences(rows: int, seed: int = 0) -> bytes:
    """A CSV of made sentences of twenty classes; each class has words of its own."""
    chance = random.Random(seed)
    lines = ["text,label"]
    for row in range(rows):
        kind = chance.randrange(20)
        words = [f"{'word' if chance.random() < 0.5 else f'topic{kind}x'}{chance.randrange(60)}" for _ in range(9)]
        lines.append(f"{' '.join(words)} n{row},class {kind}")
    return "\n".join(lines).encode()


async def use(address: str, use: Use, sessions: int, seconds: float, think: float, process: int) -> Measured:
    """Everybody at once; without seconds each sees the page and goes."""
    found = Measured(memory=[memory(process)])
    watching = asyncio.create_task(_watch(found, sessions, seconds, process))
    await asyncio.gather(*(_one(address, use, seconds, think, found, number) for number in range(sessions)))
    watching.cancel()
    found.memory.append(memory(process))
    return found


async def _watch(found: Measured, sessions: int, seconds: float, process: int) -> None:
    """The app's MB when all have the page, and after half of the time that is left."""
    while len(found.first) < sessions:
        await asyncio.sleep(0.2)
    found.memory.append(memory(process))
    await asyncio.sleep(seconds / 2)
    found.memory.append(memory(process))


async def _one(address: str, use: Use, seconds: float, think: float, found: Measured, number: int) -> None:
    chance = random.Random(number)
    async with Visitor(address, use.page, use.query) as visitor:
        took, _ = await visitor.run()
        if use.uploads:
            took += (await visitor.bring("Your own file", "mine.csv", use.uploads[number % len(use.uploads)]))[0]
        found.first.append(took)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            await asyncio.sleep(chance.uniform(0.5, 1.5) * think)
            took, size = await visitor.move(use.slider, chance.randint(use.least, use.most))
            found.moves.append(took)
            found.received.append(size)
        found.errors.extend(visitor.errors)


@contextmanager
def app(folder: Path) -> Iterator[tuple[str, int]]:
    """A started app: its address and its process."""
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
    """Begin a training."""
    async with Visitor(address, "train", TRAINING) as visitor:
        await visitor.run()
        await visitor.press("Train")
        if visitor.errors:
            raise RuntimeError(visitor.errors[0])


def high(values: list[float]) -> float:
    """Nineteen of twenty are below."""
    return statistics.quantiles(values, n=20)[-1] if len(values) > 1 else values[0]


def line(use: Use, alone: Measured, found: Measured, sessions: int, spent: float) -> str:
    """A row of the table."""
    first = f"{alone.first[0]:.1f} s | {statistics.median(found.first):.2f} s | {high(found.first):.2f} s"
    moves = f"{len(found.moves)} | {statistics.median(found.moves):.3f} s | {high(found.moves):.3f} s"
    size = f"{statistics.mean(found.received) / 1e6:.2f} | {spent / len(found.moves):.3f}"
    errors = f" ({len(found.errors)} errors: {found.errors[0]})" if found.errors else ""
    megabytes = ", ".join(f"{each:.0f}" for each in found.memory)
    return f"| {use.page}{use.said}{errors} | {sessions} | {first} | {moves} | {size} | {megabytes} |"


def clusters(uploads: tuple[bytes, ...], said: str) -> Use:
    """The page with files that are brought."""
    return Use("space", "corpus=your+own+file&amount=20%2C000&how=PCA", "Number of coloured", 2, 36, uploads, said)


def measure(sessions: int, seconds: float, rows: int, think: float) -> str:
    """The table, and below it the price of a file of one's own."""
    uses = (
        clusters((sentences(rows),), f", one file of {rows:,} rows"),
        Use("why", "", "α", 1, 20),
        clusters((sentences(OWN),), f", one file of {OWN:,} rows"),
        clusters(tuple(sentences(OWN, 1 + number) for number in range(sessions)), f", a file of {OWN:,} rows each"),
    )
    table, medians = [describe(), "", HEAD], []
    with tempfile.TemporaryDirectory() as folder, app(Path(folder)) as (address, process):
        asyncio.run(training(address))
        for each in uses:
            alone = asyncio.run(use(address, each, 1, 0.0, think, process))
            start = cpu(process)
            found = asyncio.run(use(address, each, sessions, seconds, think, process))
            table.append(line(each, alone, found, sessions, cpu(process) - start))
            medians.append(statistics.median(found.moves))
    times = medians[-1] / medians[-2]
    return "\n".join([*table, "", f"With a file of one's own a move takes {times:.2f} times as long (medians).", ""])


def main() -> str:
    return measure(SESSIONS, SECONDS, ROWS, THINK)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sessions", description=__doc__)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for which each visitor moves the slider")
    parser.add_argument("--rows", type=int, default=ROWS, help="of the file brought to Clusters")
    parser.add_argument("--think", type=float, default=THINK, help="mean seconds between two moves of a visitor")
    options = parser.parse_args()
    print(measure(options.sessions, options.seconds, options.rows, options.think))
