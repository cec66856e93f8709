"""Pictures made in another process are those made here; what it refuses is refused, and its end is survived."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import umap_process
from scipy import sparse
from umap_process import NICE, PictureProcess

from labkit.projection import epochs, project
from labkit.projection.epochs import journey
from labkit.runs import Snapshots
from tests.waiting import HANG, until

ROWS = np.random.default_rng(0).normal(size=(60, 6)).astype(np.float32)
OWNER = """
import sys
import numpy as np
sys.path.insert(0, "app")
from umap_process import PictureProcess
found, rows = PictureProcess(), np.random.default_rng(0).normal(size=(20_000, 3)).astype(np.float32)
found.project(rows[:60], "pca")
print(found._process.pid, flush=True)
found.project(rows, "tsne")  # takes far longer than the test waits
"""


@pytest.fixture(scope="module")
def pictures() -> Iterator[PictureProcess]:
    found = PictureProcess()
    yield found
    found.close()


@pytest.mark.whole
@pytest.mark.parametrize(
    ("rows", "method", "dimensions"),
    [(ROWS, "pca", 3), (sparse.csr_array(np.where(ROWS > 0, ROWS, 0)), "lle", 2)],
    ids=["dense", "sparse"],
)
def test_the_same_picture(pictures: PictureProcess, rows: Any, method: str, dimensions: int) -> None:
    here, there = project(rows, method, dimensions), pictures.project(rows, method, dimensions)
    np.testing.assert_allclose(there.points, here.points, rtol=1e-5, atol=1e-6)
    assert (there.name, there.method, there.quality, there.shown) == (here.name, here.method, here.quality, here.shown)
    assert dict(there.settings) == dict(here.settings)


@pytest.mark.whole
def test_refused_there_is_refused_here_and_the_next_is_answered_politely(pictures: PictureProcess) -> None:
    with pytest.raises(ValueError, match="4"):
        pictures.project(ROWS[:2], "pca")
    assert pictures.project(ROWS, "pca").points.shape == (60, 2)
    if hasattr(os, "getpriority"):  # it gives way to everybody else
        own, its = (os.getpriority(os.PRIO_PROCESS, process) for process in (0, pictures._process.pid))
        assert its == min(19, own + NICE)


@pytest.mark.whole
def test_the_same_epochs(pictures: PictureProcess) -> None:
    snapshots = np.stack([ROWS, ROWS + 1, ROWS * np.linspace(0, 1, 6, dtype=np.float32)])
    here, there = epochs(snapshots, "pca", seed=3), pictures.epochs(list(snapshots), "pca", seed=3)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(other.points, one.points, atol=1e-4 * np.abs(one.points).max())
        assert (other.method, dict(other.settings)) == (one.method, dict(one.settings))
    common = pictures.epochs(snapshots, "pca", common=True)
    np.testing.assert_allclose(common[2].points, epochs(snapshots, common=True)[2].points, atol=1e-5)
    run = Snapshots(tuple(map(str, range(60))), ("a", "b", "c") * 20, np.array([0, 1]), snapshots[:2])
    through = journey(run, "pca", arrange=pictures.epochs)
    for one, other in zip(journey(run, "pca").pictures, through.pictures, strict=True):
        np.testing.assert_allclose(other.points, one.points, atol=1e-5)


@pytest.mark.whole
def test_a_process_that_was_killed_is_started_again(pictures: PictureProcess) -> None:
    pictures.project(ROWS, "pca")
    process = pictures._process
    process.kill()
    process.wait(HANG)
    assert pictures.project(ROWS, "pca").points.shape == (60, 2)
    assert pictures._process is not process


def test_one_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    stays = """import time; print('{"refused": "not now"}', flush=True); time.sleep(10_000)"""
    monkeypatch.setattr(umap_process, "PROGRAM", (sys.executable, "-c", stays))
    monkeypatch.setattr(umap_process, "LEAVE", 0.01)
    found = PictureProcess()
    with pytest.raises(ValueError):
        found.project(ROWS, "pca")
    process = found._process
    found.close()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes where Linux lists them")
@pytest.mark.whole
def test_it_ends_with_its_owner_in_the_middle_of_its_work() -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    process = int(owner.stdout.readline())
    time.sleep(0.5)  # it is at work
    assert alive(process)
    owner.kill()
    owner.wait(HANG)
    until(lambda: not alive(process))


def alive(process: int) -> bool:
    """A process that has ended and that nobody has asked about counts as gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
