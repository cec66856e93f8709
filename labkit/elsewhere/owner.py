"""The owner's side: a process that makes pictures, for whoever asks, one picture after the other.

In: rows (n, d), or those of each epoch, and what `labkit.projection` takes. Out: its `Projection`, or its ValueError.

    elsewhere = Elsewhere()
    elsewhere.warm()                                     UMAP compiles there, and nobody waits
    elsewhere.project(rows, "umap")                      as labkit.projection.project
    journey(snapshots, "umap", arrange=elsewhere.epochs) as labkit.projection.epochs
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from labkit.atomic import room_for
from labkit.elsewhere.parcels import read_pictures, write_rows
from labkit.progress import Progress, silent
from labkit.projection.record import Projection

PROGRAM = (sys.executable, "-m", "labkit.elsewhere.worker")
LEAVE = 20.0  # seconds that the process may take to end
FIRST = np.random.default_rng(0).standard_normal((60, 8)).astype(np.float32)  # rows to compile with


class Elsewhere:
    """The process is started at the first order; who comes while it works waits his turn."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._warming = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self.warmed = threading.Event()  # UMAP has been compiled: a picture takes seconds, not a minute

    def project(self, rows: Any, method: str, dimensions: int = 2, seed: int = 0) -> Projection:
        """As `labkit.projection.project`."""
        (made,) = self._ordered(rows, {"call": "project", "method": method, "dimensions": dimensions, "seed": seed})
        return made

    def epochs(
        self,
        snapshots: Sequence[Any] | np.ndarray,
        method: str,
        dimensions: int = 2,
        seed: int = 0,
        progress: Progress = silent,
        *,
        common: bool = False,
    ) -> tuple[Projection, ...]:
        """As `labkit.projection.epochs`, of dense rows; how far it is, is not told."""
        progress(0, None, "epochs")
        order = {"call": "epochs", "method": method, "dimensions": dimensions, "seed": seed, "common": common}
        return self._ordered(np.stack(list(snapshots)), order)

    def warm(self, after: float = 0.0) -> None:
        """In the background, once: in so many seconds, start the process and let UMAP compile there."""
        if self._warming.acquire(blocking=False):  # never given back: once is enough
            threading.Thread(target=self._warm, args=(after,), daemon=True).start()

    def close(self) -> None:
        """The process ends when it is told that nothing more will come."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(LEAVE)
            except subprocess.TimeoutExpired:  # in the midst of a picture that nobody waits for
                process.kill()
                process.wait()

    def _warm(self, after: float) -> None:
        time.sleep(after)
        if not self.warmed.is_set():
            with suppress(ValueError):  # whoever asks for a picture hears of it
                self.project(FIRST, "umap")

    def _ordered(self, rows: Any, order: dict[str, Any]) -> tuple[Projection, ...]:
        with self._turn, tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with room_for(folder):
                write_rows(folder, rows)
            reply = self._answer(json.dumps(order | {"folder": name}))
            if "refused" in reply:
                raise ValueError(reply["refused"])
            if order["method"] == "umap":
                self.warmed.set()
            return read_pictures(folder, reply["pictures"])

    def _answer(self, order: str) -> dict[str, Any]:
        if self._process is None or self._process.poll() is not None:
            self.warmed.clear()
            pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
            # a session of its own: Ctrl-C in the owner's terminal is the owner's, whose end is the worker's
            self._process = subprocess.Popen(
                PROGRAM, stdin=pipe, stdout=pipe, stderr=nothing, text=True, start_new_session=True
            )
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
