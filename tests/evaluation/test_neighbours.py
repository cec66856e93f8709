"""Nearest rows against plain loops, in the cases where float32 alone would be wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from labkit.evaluation import nearest, neighbours


def brute(queries, base, k):
    """All distances in float64, sorted; equals by index."""
    distances = cdist(queries.astype(float), base.astype(float))
    order = np.lexsort((np.broadcast_to(np.arange(len(base)), distances.shape), distances))[:, :k]
    return order, np.take_along_axis(distances, order, 1)


def clouds(kind, random):
    queries, base = random.standard_normal((150, 12)), random.standard_normal((2500, 12))
    if kind == "offset":
        return queries + 1e8, base + 1e8
    if kind == "collapsed":  # classes far apart, members closer than float32 can tell
        return (
            1e-4 * queries + 10 * random.integers(0, 3, (150, 1)),
            1e-4 * base + 10 * random.integers(0, 3, (2500, 1)),
        )
    if kind == "huge":
        return 1e30 * queries, 1e30 * base
    if kind == "tiny":
        return 1e-30 * queries, 1e-30 * base
    if kind == "float32":
        return queries.astype(np.float32), base.astype(np.float32)
    return queries, base


@pytest.mark.parametrize("kind", ["plain", "offset", "collapsed", "huge", "tiny", "float32"])
@pytest.mark.parametrize("k", [1, 10])
def test_as_plain_loops(kind, k):
    queries, base = clouds(kind, np.random.default_rng(1))
    indices, distances = nearest(queries, base, k)
    wanted, wanted_distances = brute(queries, base, k)
    np.testing.assert_array_equal(indices, wanted)
    np.testing.assert_allclose(distances, wanted_distances, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 40, 700, 1601])
def test_every_size_and_every_k(n):
    random = np.random.default_rng(n)
    base = random.standard_normal((n, 3))
    for k in {1, n // 2 or 1, n}:
        np.testing.assert_array_equal(nearest(base[:20], base, k)[0], brute(base[:20], base, k)[0])


def test_blocks_do_not_show(monkeypatch):
    queries, base = clouds("plain", np.random.default_rng(2))
    whole = nearest(queries, base, 4)
    monkeypatch.setattr(neighbours, "BLOCK", 6000)
    monkeypatch.setattr(neighbours.blocks, "__defaults__", (6000,))
    for one, other in zip(whole, nearest(queries, base, 4), strict=True):
        np.testing.assert_array_equal(one, other)


def test_copies_come_in_the_order_of_their_index():
    random = np.random.default_rng(3)
    base = np.repeat(random.standard_normal((400, 8)), 3, axis=0)
    indices, distances = nearest(base[::3], base, 3)
    np.testing.assert_array_equal(indices, np.arange(1200).reshape(400, 3))
    assert not distances.any()


def test_a_row_is_not_its_own_neighbour_but_a_copy_is():
    rows = np.array([[0.0], [1.0], [1.0], [5.0]])
    np.testing.assert_array_equal(neighbours.nearest_others(rows, 1)[:, 0], [1, 2, 1, 1])
    alike = np.zeros((50, 2))
    found = neighbours.nearest_others(alike, 2)
    assert found.shape == (50, 2)
    assert not (found == np.arange(50)[:, None]).any()


def test_sparse_rows():
    rows = sparse.random_array((300, 40), density=0.2, rng=np.random.default_rng(4), format="csr")
    indices, distances = nearest(rows[:30], rows, 5)
    wanted, wanted_distances = brute(rows[:30].toarray(), rows.toarray(), 5)
    np.testing.assert_array_equal(indices, wanted)
    np.testing.assert_allclose(distances, wanted_distances, atol=1e-12)
    np.testing.assert_array_equal(nearest(rows[:30].toarray(), rows, 5)[0], wanted)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("size", [1e150, 1e300, 1e-200, 1e-300])
def test_rows_of_any_size_have_the_same_neighbours(size, form):
    rows = np.random.default_rng(0).normal(size=(80, 5))
    expected, distances = nearest(form(rows[:9]), form(rows), 4)
    found, apart = nearest(form(size * rows[:9]), form(size * rows), 4)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_allclose(apart / size, distances, rtol=1e-12)
