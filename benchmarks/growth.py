"""How do the time and memory of each command grow with the number of rows?

Each command runs in its own process on sentences of about forty words in fourteen classes (`labkit data make corpus
topics`). CPU seconds and peak memory count all its processes; memory that they share counts once. Networks train for
one epoch. A million rows take hours: LABKIT_GROWTH=1000000 adds them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from benchmarks.machine import describe, process_tree

ROWS = (1_000, 10_000, 100_000)
ONE_EPOCH = ("--set", "epochs=1")
COMMANDS = (  # each needs the files of those before it
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
    """The table: one row for each command, with CPU seconds and MB for each number of rows."""
    rows = (*ROWS, *map(int, filter(None, [os.environ.get("LABKIT_GROWTH")])))
    cells: dict[tuple[str, ...], list[str]] = {command: [] for command in COMMANDS}
    for count in rows:
        with tempfile.TemporaryDirectory() as folder:
            for command, row in cells.items():
                words = ["-m", "labkit", *(word.format(rows=count) for word in command)]
                _, taken, peak = process_tree(words, Path(folder))
                row.append(f"{taken:,.0f} s, {peak / 1e6:,.0f} MB")
                print(f"{count:,}", *command, row[-1], file=sys.stderr, flush=True)
    head = [f"| command | {' | '.join(f'{count:,}' for count in rows)} |", "| --- " + "| ---: " * len(rows) + "|"]
    body = [f"| `{' '.join(command)}` | {' | '.join(row)} |" for command, row in cells.items()]
    return "\n".join([describe(), "", *head, *body])
