"""Pictures made in a process of their own, one after the other, so that a server with many visitors goes on answering.

UMAP compiles for most of a minute when it is first used, and two at once in one process abort it. Here it compiles
once, in a process that lives as long as its owner. In: rows (n, d), dense or CSR, and what `labkit.projection.project`
takes. Out: its `Projection`, or its ValueError. The two talk in lines of JSON and files of arrays; nothing is pickled.

    python -m labkit.elsewhere      the other side: reads an order a line, until there are no more
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from scipy import sparse

from labkit.projection import Projection, project
from labkit.projection.record import NAMES, Quality

ROWS, POINTS = "rows.npz", "points.npy"


class Elsewhere:
    """A process that is started at the first order; who comes while it works waits his turn."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def project(self, rows: Any, method: str, dimensions: int = 2, seed: int = 0) -> Projection:
        """As `labkit.projection.project`."""
        with self._turn, tempfile.TemporaryDirectory() as folder:
            if sparse.issparse(rows):
                sparse.save_npz(Path(folder) / ROWS, sparse.csr_matrix(rows))
            else:
                np.savez(Path(folder) / ROWS, rows=rows)
            order = {"folder": folder, "method": method, "dimensions": dimensions, "seed": seed}
            reply = self._answer(json.dumps(order))
            if "refused" in reply:
                raise ValueError(reply["refused"])
            points = np.load(Path(folder) / POINTS, allow_pickle=False)
        quality = Quality(**reply["quality"])
        return Projection(
            NAMES[method], points, quality.shown, quality.kl, method, settings=reply["settings"], quality=quality
        )

    def close(self) -> None:
        """The process ends when it is told that nothing more will come."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(20)
        self._process = None

    def _answer(self, order: str) -> dict[str, Any]:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-m", "labkit.elsewhere"]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(order + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise ValueError(
                "the process that arranges pictures has ended, expected its answer; ask again, or for fewer sentences"
            )
        found: dict[str, Any] = json.loads(line)
        return found


def serve(orders: Iterable[str], replies: TextIO) -> None:
    """Each order in turn; one that is refused is answered with its sentence."""
    for line in orders:
        order = json.loads(line)
        folder = Path(order.pop("folder"))
        try:
            made = project(_rows(folder / ROWS), **order)
            np.save(folder / POINTS, made.points)
            assert made.quality is not None  # measured unless it is forbidden
            reply: dict[str, Any] = {"quality": asdict(made.quality), "settings": dict(made.settings)}
        except ValueError as refused:
            reply = {"refused": str(refused)}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _rows(file: Path) -> Any:
    with np.load(file, allow_pickle=False) as found:
        if "rows" in found.files:
            return found["rows"]
    return sparse.load_npz(file)


if __name__ == "__main__":
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever prints must not stand between the answers
    serve(sys.stdin, answers)
