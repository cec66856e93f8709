"""Pictures made in another process are those made here; what it refuses is refused, and its end is survived."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

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


@pytest.mark.parametrize("rows", [ROWS, sparse.csr_array(np.where(ROWS > 0, ROWS, 0))])
@pytest.mark.parametrize(("method", "dimensions"), [("pca", 3), ("lle", 2)])
def test_the_same_picture(pictures: PictureProcess, rows, method: str, dimensions: int) -> None:  # type: ignore[no-untyped-def]
    here, there = project(rows, method, dimensions), pictures.project(rows, method, dimensions)
    np.testing.assert_array_equal(there.points, here.points)
    assert (there.name, there.method, there.quality, there.shown) == (here.name, here.method, here.quality, here.shown)
    assert dict(there.settings) == dict(here.settings)


def test_many_at_once_wait_their_turn(pictures: PictureProcess) -> None:
    found: dict[int, np.ndarray] = {}

    def ask(number: int) -> None:
        found[number] = pictures.project(ROWS[number:], "pca").points

    threads = [Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number in range(4):
        np.testing.assert_array_equal(found[number], project(ROWS[number:], "pca").points)


def test_refused_there_is_refused_here_and_the_next_is_answered(pictures: PictureProcess) -> None:
    with pytest.raises(ValueError, match="expected at least 4"):
        pictures.project(ROWS[:2], "pca")
    assert pictures.project(ROWS, "pca").points.shape == (60, 2)


@pytest.mark.whole
def test_a_process_that_was_killed_is_started_again(pictures: PictureProcess) -> None:
    pictures.project(ROWS, "pca")
    process = pictures._process
    assert process is not None
    process.kill()
    process.wait(HANG)
    assert pictures.project(ROWS, "pca").points.shape == (60, 2)
    assert pictures._process is not process


def test_one_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    stays = """import time; print('{"refused": "not now"}', flush=True); time.sleep(10_000)"""
    monkeypatch.setattr(umap_process, "PROGRAM", (sys.executable, "-c", stays))
    monkeypatch.setattr(umap_process, "LEAVE", 0.01)
    found = PictureProcess()
    with pytest.raises(ValueError, match="not now"):
        found.project(ROWS, "pca")
    process = found._process
    assert process is not None
    found.close()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_the_same_epochs(pictures: PictureProcess, method: str) -> None:
    snapshots = np.stack([ROWS, ROWS + 1, ROWS * np.linspace(0, 1, 6, dtype=np.float32)])
    here, there = epochs(snapshots, method, seed=3), pictures.epochs(list(snapshots), method, seed=3)
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(other.points, one.points, atol=1e-4 * np.abs(one.points).max())
        assert (other.method, dict(other.settings)) == (one.method, dict(one.settings))
    common = pictures.epochs(snapshots, "pca", common=True)
    np.testing.assert_allclose(common[2].points, epochs(snapshots, common=True)[2].points, atol=1e-5)


def test_a_journey_goes_through_it(pictures: PictureProcess) -> None:
    labels = ("a", "b", "c") * 20
    snapshots = Snapshots(tuple(map(str, range(60))), labels, np.array([0, 1]), np.stack([ROWS, ROWS + 1]))
    here, there = journey(snapshots, "pca"), journey(snapshots, "pca", arrange=pictures.epochs)
    for one, other in zip(here.pictures, there.pictures, strict=True):
        np.testing.assert_allclose(other.points, one.points, atol=1e-5)
    assert there.epochs == here.epochs


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="no such thing on this system")
def test_it_gives_way_to_everybody_else(pictures: PictureProcess) -> None:
    pictures.project(ROWS, "pca")
    assert pictures._process is not None
    own, its = (os.getpriority(os.PRIO_PROCESS, process) for process in (0, pictures._process.pid))
    assert its == min(19, own + NICE)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes where Linux lists them")
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.whole
def test_it_ends_with_its_owner_in_the_midst_of_its_work(end: signal.Signals) -> None:
    owner = subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    process = int(owner.stdout.readline())
    time.sleep(0.5)  # it is at work
    assert alive(process)
    owner.send_signal(end)
    owner.wait(HANG)
    until(lambda: not alive(process))


def alive(process: int) -> bool:
    """A process that has ended and that nobody has asked about counts as gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_warming_is_in_the_background_once_and_only_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    found, done, asked = PictureProcess(), Event(), []

    def project(rows: np.ndarray, method: str) -> None:
        asked.append((len(rows), method))
        done.set()
        raise ValueError("it has ended")  # which whoever asks for a picture hears, too

    monkeypatch.setattr(found, "project", project)
    for _ in range(3):
        found.warm()
    assert done.wait(HANG)
    time.sleep(0.1)
    assert asked == [(60, "umap")]

    warm = PictureProcess()
    monkeypatch.setattr(warm, "project", project)
    warm.warmed.set()  # somebody was quicker
    warm.warm()
    time.sleep(0.1)
    assert asked == [(60, "umap")]


@pytest.mark.skipif(not os.environ.get("LABKIT_SLOW"), reason="UMAP compiles for seconds; set LABKIT_SLOW=1")
def test_the_real_one_warms_itself_and_makes_pictures() -> None:
    found = PictureProcess()
    found.warm()
    assert found.warmed.wait(HANG)
    many = np.random.default_rng(0).normal(size=(5_000, 10)).astype(np.float32)
    assert found.project(many, "umap").points.shape == (5_000, 2)
    found.close()
