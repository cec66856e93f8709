"""Pictures made in another process are those made here; what it refuses is refused, and its end is survived."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import numpy as np
import pytest
from scipy import sparse

from labkit.elsewhere import Elsewhere
from labkit.projection import project

ROWS = np.random.default_rng(0).normal(size=(60, 6)).astype(np.float32)


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[Elsewhere]:
    found = Elsewhere()
    yield found
    found.close()


@pytest.mark.parametrize("rows", [ROWS, sparse.csr_array(np.where(ROWS > 0, ROWS, 0))])
@pytest.mark.parametrize(("method", "dimensions"), [("pca", 3), ("lle", 2)])
def test_the_same_picture(elsewhere: Elsewhere, rows, method: str, dimensions: int) -> None:  # type: ignore[no-untyped-def]
    here, there = project(rows, method, dimensions), elsewhere.project(rows, method, dimensions)
    np.testing.assert_array_equal(there.points, here.points)
    assert (there.name, there.method, there.quality, there.shown) == (here.name, here.method, here.quality, here.shown)
    assert dict(there.settings) == dict(here.settings)


def test_many_at_once_wait_their_turn(elsewhere: Elsewhere) -> None:
    found: dict[int, np.ndarray] = {}

    def ask(number: int) -> None:
        found[number] = elsewhere.project(ROWS[number:], "pca").points

    threads = [Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for number in range(4):
        np.testing.assert_array_equal(found[number], project(ROWS[number:], "pca").points)


def test_refused_there_is_refused_here_and_the_next_is_answered(elsewhere: Elsewhere) -> None:
    with pytest.raises(ValueError, match="expected at least 4"):
        elsewhere.project(ROWS[:2], "pca")
    assert elsewhere.project(ROWS, "pca").points.shape == (60, 2)


def test_a_process_that_was_killed_is_started_again(elsewhere: Elsewhere) -> None:
    elsewhere.project(ROWS, "pca")
    process = elsewhere._process
    assert process is not None
    process.kill()
    process.wait(20)
    assert elsewhere.project(ROWS, "pca").points.shape == (60, 2)
    assert elsewhere._process is not process
