"""A process that is killed again and again, later each time, until it comes to its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from labkit.corpora.shards import WORK, is_shards
from tests.waiting import until


def killed_until_done(script: str, folder: Path, out: Path, *, more: int = 40) -> int:
    """How often the script, which makes shards in `out`, was killed: when `more` files of its work are there."""
    kills, least = 0, 1
    while not is_shards(out):
        process = subprocess.Popen(
            [sys.executable, "-c", script], cwd=folder, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        )
        until(lambda: is_shards(out) or process.poll() is not None or _files(out) >= least)  # noqa: B023
        if is_shards(out) or process.poll() is not None:
            assert process.wait() == 0
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills, least = kills + 1, _files(out) + more
    return kills


def _files(out: Path) -> int:
    return sum(len(files) for _, _, files in os.walk(out / WORK))
