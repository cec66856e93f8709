"""A process of its own that makes pictures, for whoever asks, one after the other, so that a server goes on answering.

In: rows (n, d), or those of each epoch, and what `labkit.projection` takes. Out: its `Projection`, or its ValueError.

    pictures = PictureProcess()
    pictures.warm()                                     UMAP compiles there, and nobody waits
    pictures.project(rows, "umap")                      as labkit.projection.project
    journey(snapshots, "umap", arrange=pictures.epochs) as labkit.projection.epochs

UMAP compiles when it is first used, and two at once in one process abort it. There it compiles once, in a process that
lives as long as its owner. What runs in it is this file, `python app/umap_process.py`: an order a line, an answer a
line. It gives way to everybody else on the machine, and ends at once when its owner is gone, however that one ended:
then its standard input does.

Owner and worker hand each other arrays as files of a folder, the rest as what JSON can say, and no pickle: the rows as
(n, d) dense or CSR, or (e, n, d), those of each epoch; a `Projection`, or one for each epoch, with its quality, where
PCA's basis stays behind.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import starmap
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TextIO

import numpy as np
from scipy import sparse

from labkit.atomic import NoRoom, room_for
from labkit.progress import Progress, silent
from labkit.projection import epochs, project
from labkit.projection.picture import NAMES, Projection, Quality

# --- what is handed over -----------------------------------------------------------------------------------------

ROWS, POINTS = "rows.npz", "points.npz"  # np.save forgets why it failed


def store_rows(folder: Path, rows: Any) -> None:
    """Write rows into the folder of an order."""
    if sparse.issparse(rows):
        sparse.save_npz(folder / ROWS, sparse.csr_matrix(rows))
    else:
        np.savez(folder / ROWS, rows=rows)


def stored_rows(folder: Path) -> Any:
    """Read rows as they were written."""
    with np.load(folder / ROWS, allow_pickle=False) as file:
        if "rows" in file.files:
            return file["rows"]
    return sparse.load_npz(folder / ROWS)


def store_pictures(folder: Path, pictures: Sequence[Projection]) -> list[dict[str, Any]]:
    """Write points into the folder; what is known of each picture, to be told beside them."""
    with room_for(folder / POINTS):
        np.savez(folder / POINTS, points=np.stack([each.points for each in pictures]))
    return [
        {
            "method": each.method,
            "settings": dict(each.settings),
            "quality": None if each.quality is None else asdict(each.quality),
        }
        for each in pictures
    ]


def stored_pictures(folder: Path, records: Sequence[Mapping[str, Any]]) -> tuple[Projection, ...]:
    """The pictures as they were, from the points in the folder and what was told beside them."""
    with np.load(folder / POINTS, allow_pickle=False) as file:
        return tuple(starmap(_picture, zip(file["points"], records, strict=True)))


def _picture(points: np.ndarray, record: Mapping[str, Any]) -> Projection:
    quality = None if record["quality"] is None else Quality(**record["quality"])
    shown, kl = (None, None) if quality is None else (quality.shown, quality.kl)
    return Projection(NAMES[record["method"]], points, shown, kl, record["method"], record["settings"], quality)


# --- the owner ---------------------------------------------------------------------------------------------------

PROGRAM = (sys.executable, "-P", str(Path(__file__).resolve()))
LEAVE = 20.0  # seconds that the process may take to end
FIRST = np.random.default_rng(0).standard_normal((60, 8)).astype(np.float32)  # rows to compile with


class PictureProcess:
    """The process is started at the first order; who comes while it works waits his turn."""

    def __init__(self) -> None:
        self._turn = threading.Lock()
        self._warming = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self.warmed = threading.Event()  # UMAP has been compiled: a picture takes seconds, not a minute

    def project(
        self, rows: Any, method: str, dimensions: int = 2, seed: int = 0, *, landmarks: int | None = None
    ) -> Projection:
        """Make a picture as `labkit.projection.project` does."""
        order = {"call": "project", "method": method, "dimensions": dimensions, "seed": seed, "landmarks": landmarks}
        return self._ordered(rows, order)[0]

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
        """Make the pictures of epochs as `labkit.projection.epochs` does, of dense rows, without progress."""
        progress(0, None, "epochs")
        order = {"call": "epochs", "method": method, "dimensions": dimensions, "seed": seed, "common": common}
        return self._ordered(np.stack(list(snapshots)), order)

    def warm(self, after: float = 0.0) -> None:
        """Start the process in so many seconds, in the background and once, and let UMAP compile there."""
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
                store_rows(folder, rows)
            reply = self._answer(json.dumps(order | {"folder": name}))
            if "refused" in reply:
                raise ValueError(reply["refused"])
            if order["method"] == "umap":
                self.warmed.set()
            return stored_pictures(folder, reply["pictures"])

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
            raise ValueError("the process that computes pictures ended unexpectedly; try again, or use fewer sentences")
        reply: dict[str, Any] = json.loads(line)
        return reply


# --- the worker --------------------------------------------------------------------------------------------------

NICE = 10


def serve(orders: Iterable[str], replies: TextIO) -> None:
    """Each order in turn; one that is refused is answered with its sentence."""
    for line in orders:
        try:
            reply: dict[str, Any] = {"pictures": carry_out(**json.loads(line))}
        except (ValueError, NoRoom) as refused:
            reply = {"refused": str(refused)}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def carry_out(folder: str, call: str, **wanted: Any) -> list[dict[str, Any]]:
    """One order: its rows lie in the folder, and so do its pictures' points afterwards."""
    rows = stored_rows(Path(folder))
    pictures = epochs(rows, **wanted) if call == "epochs" else (project(rows, **wanted),)
    return store_pictures(Path(folder), pictures)


def arriving() -> Iterator[str]:
    """The lines of standard input. Where it ends, so does the process, whatever it is at: nobody waits for it."""
    lines: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            lines.put(line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield lines.get()


def main() -> None:
    """Answer until there is nobody to answer."""
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever prints must not stand between the answers
    with suppress(AttributeError, OSError):
        os.nice(NICE)
    serve(arriving(), answers)


if __name__ == "__main__":
    main()
