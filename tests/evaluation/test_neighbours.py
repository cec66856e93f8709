"""Nearest rows against plain loops, also where float32 alone would be wrong, and changes of neighbours."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from labkit.evaluation import moved_together, nearest, neighbours
from labkit.progress import collected


def brute(queries, base, k):
    """The k nearest by float64 distances, ties by index."""
    distances = cdist(queries.astype(float), base.astype(float))
    order = np.lexsort((np.broadcast_to(np.arange(len(base)), distances.shape), distances))[:, :k]
    return order, np.take_along_axis(distances, order, 1)


def clouds(kind, random):
    queries, base = random.standard_normal((150, 12)), random.standard_normal((2500, 12))
    if kind == "offset":
        return queries + 1e8, base + 1e8
    if kind == "collapsed":  # classes far apart, members closer than float32 resolves
        return (
            1e-4 * queries + 10 * random.integers(0, 3, (150, 1)),
            1e-4 * base + 10 * random.integers(0, 3, (2500, 1)),
        )
    if kind == "float32":
        return queries.astype(np.float32), base.astype(np.float32)
    if kind == "sparse":
        return np.where(np.abs(queries) < 0.5, 0, queries), np.where(np.abs(base) < 0.5, 0, base)
    return queries, base


@pytest.mark.parametrize("kind", ["plain", "offset", "collapsed", "float32", "sparse"])
def test_equals_plain_loops(kind):
    k = 10
    queries, base = clouds(kind, np.random.default_rng(1))
    form = sparse.csr_array if kind == "sparse" else np.asarray
    indices, distances = nearest(form(queries), form(base), k)
    wanted, wanted_distances = brute(queries, base, k)
    np.testing.assert_array_equal(indices, wanted)
    np.testing.assert_allclose(distances, wanted_distances, rtol=1e-9)
    np.testing.assert_array_equal(nearest(queries, form(base), k)[0], wanted)


def test_copies_are_neighbours_in_the_order_of_their_index():
    random = np.random.default_rng(3)
    base = np.repeat(random.standard_normal((400, 8)), 3, axis=0)
    indices, distances = nearest(base[::3], base, 3)
    np.testing.assert_array_equal(indices, np.arange(1200).reshape(400, 3))
    assert not distances.any()
    # a row is not its own neighbour, but a copy is
    rows = np.array([[0.0], [1.0], [1.0], [5.0]])
    np.testing.assert_array_equal(neighbours.nearest_others(rows, 1)[:, 0], [1, 2, 1, 1])
    alike = np.zeros((50, 2))
    found = neighbours.nearest_others(alike, 2)
    assert found.shape == (50, 2)
    assert not (found == np.arange(50)[:, None]).any()


LINE = np.array([[0.0], [1.0], [3.0], [7.0]])  # nearest rows: 1, 0, 1, 2
SWAPPED = np.array([[0.0], [1.0], [7.0], [6.0]])  # nearest rows: 1, 0, 3, 2


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_estimated_time_grows_with_both_sides(form, monkeypatch):
    """The fake clock takes 1 s for a block of 10 × 10, so 40 × 1000 take 400 s, plus half.

    Searches of few pairs are not timed.
    """
    clock = iter(range(100))
    monkeypatch.setattr(neighbours, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    rows = form(np.ones((10, 3)))
    neighbours.foreseen(40, rows, 1000, remedy="x")
    monkeypatch.setattr(neighbours, "MOMENT", 40 * 1000 - 1)
    with collected() as notes:
        neighbours.foreseen(40, rows, 1000, remedy="x")
        neighbours.foreseen(40, rows, 1000, workers=2, remedy="x")
    assert [note.split(" at the pace")[0].rpartition("about ")[2] for note in notes] == ["10 min", "5 min"]
    assert "40 rows among 1,000" in notes[0]
    monkeypatch.setattr(neighbours, "LONGEST", 599)
    with pytest.raises(ValueError):
        neighbours.foreseen(40, rows, 1000, remedy="take fewer")
    with collected():
        neighbours.foreseen(40, rows, 1000, insist=True, remedy="x")


def test_worked_example_of_movement():
    moved = neighbours.movement(LINE, SWAPPED, 1)
    assert moved.before[:, 0].tolist() == [1, 0, 1, 2]
    assert moved.after[:, 0].tolist() == [1, 0, 3, 2]
    assert (moved.change.tolist(), moved.new.tolist(), moved.k) == ([0, 0, 1, 0], [0, 0, 1, 0], 1)
    assert moved.ranked.tolist() == [2, 0, 1, 3]
    two = neighbours.movement(LINE, SWAPPED, 2)  # {1,2} {0,2} {0,1} {1,2}  ->  {1,3} {0,3} {1,3} {1,2}
    assert two.change == pytest.approx([1 - 1 / 3, 1 - 1 / 3, 1 - 1 / 3, 0])


def test_worked_example_of_better_and_worse():
    # nine sentences of the classes b, a and c
    labels = [*"bbbbaaaac"]
    before = np.array([[1, 2], [4, 0], [1, 4], [1, 2], [5, 6], [0, 1], [5, 7], [6, 5], [0, 1]])
    after = np.array([[4, 5], [0, 2], [4, 5], [4, 1], [5, 6], [4, 6], [5, 7], [0, 6], [4, 5]])
    moved = neighbours.Movement(before, after, np.linspace(0, 0.8, 9))
    found = neighbours.moves(moved, labels)
    assert found.outcome.tolist() == ["worse", "better", "worse", "worse", "", "better", "", "worse", "neither"]
    assert found.own.tolist() == [[2, 0], [1, 2], [1, 0], [2, 1], [2, 2], [0, 2], [2, 2], [2, 1], [0, 0]]
    assert [found.rows(outcome).tolist() for outcome in neighbours.OUTCOMES] == [[0, 2, 3, 7], [5, 1], [8]]
    assert [(way, rows.tolist()) for way, rows in moved_together(found).items()] == [
        (("worse", "b", "a"), [0, 2, 3]),
        (("worse", "a", "b"), [7]),
        (("better", "a", "b"), [1]),
        (("better", "b", "a"), [5]),
        (("neither", "b", "a"), [8]),
    ]
