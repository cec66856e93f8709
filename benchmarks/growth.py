"""How time and memory of each command grow with the number of rows.

Generates sentences of about forty words in twelve classes (`labkit data make corpus topics`) and runs every command on
them as a user types it, in its own process. CPU seconds are those of all its processes; memory is their peak sum, and
memory that they share counts once. Networks train for one epoch. A million rows take hours: LABKIT_GROWTH=1000000 adds
them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.dump import cpu_seconds, peak_of
from benchmarks.machine import describe

ROWS = (1_000, 10_000, 100_000)
ONE_EPOCH = ("--set", "epochs=1")
COMMANDS = (  # each needs what those before it have written
    ("data", "make", "corpus", "topics", "--rows", "{rows}", "--out", "c.csv"),
    ("data", "check", "c.csv"),
    ("data", "dedup", "c.csv", "--out", "distinct"),
    ("train", "tfidf", "--corpus", "c.csv", "--out", "tfidf"),
    ("train", "mean-vectors", "--corpus", "c.csv", "--out", "means"),
    ("train", "bag", "--corpus", "c.csv", *ONE_EPOCH, "--out", "bag"),
    ("train", "sentpwnet", "--corpus", "c.csv", "--set", "encoder=mean", *ONE_EPOCH, "--out", "sentpwnet"),
    ("evaluate", "means"),
    ("encode", "means", "distinct", "--out", "vectors"),
    ("neighbours", "vectors", "--index", "faiss", "--out", "near"),
    ("data", "mine", "means", "--corpus", "c.csv", "--out", "mined.csv"),
    ("data", "cluster", "c.csv", "--out", "found.csv"),
)


def main() -> str:
    """The table: a row for each command, CPU seconds and MB for each number of rows."""
    rows = (*ROWS, *map(int, filter(None, [os.environ.get("LABKIT_GROWTH")])))
    cells: dict[tuple[str, ...], list[str]] = {command: [] for command in COMMANDS}
    for count in rows:
        with tempfile.TemporaryDirectory() as folder:
            for command, row in cells.items():
                taken, peak = measured(tuple(word.format(rows=count) for word in command), Path(folder))
                row.append(f"{taken:,.0f} s, {peak / 1e6:,.0f} MB")
                print(f"{count:,}", *command, row[-1], file=sys.stderr, flush=True)
    head = [f"| command | {' | '.join(f'{count:,}' for count in rows)} |", "| --- " + "| ---: " * len(rows) + "|"]
    body = [f"| `{' '.join(command)}` | {' | '.join(row)} |" for command, row in cells.items()]
    return "\n".join([describe(), "", *head, *body])


def measured(command: tuple[str, ...], folder: Path) -> tuple[float, int]:
    """CPU seconds of a command in a folder, and its peak bytes."""
    before = cpu_seconds()
    with (folder / "said.txt").open("w") as said:
        running = subprocess.Popen(
            [sys.executable, "-m", "labkit", *command],
            cwd=folder,
            stdout=said,
            stderr=said,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        peak = peak_of(running)
    if running.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {running.returncode}: {(folder / 'said.txt').read_text()}")
    return cpu_seconds() - before, peak
