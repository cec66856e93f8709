"""Copies and neighbour graphs against plain search; components worked by hand, and W by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.sbert_lp.graph import (
    COPY,
    copies,
    radius,
    terminal_components,
    weak_components,
    weight_matrix,
)


def test_radius_by_hand() -> None:
    assert radius(np.array([[0.0, 0.0], [2.0, 0.0]])) == pytest.approx(1)
    assert radius(sparse.csr_matrix([[0.0, 0.0], [2.0, 0.0]])) == pytest.approx(1)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_copies_name_their_first(connected: np.ndarray, kind) -> None:
    rows = np.concatenate([connected, connected[[5, 7, 5]], connected[:1]])
    found = copies(kind(rows))
    assert found[: len(connected)].tolist() == list(range(len(connected)))
    assert found[len(connected) :].tolist() == [5, 7, 5, 0]


def test_nearly_the_same_is_a_copy_and_a_little_further_is_not(connected: np.ndarray) -> None:
    step = np.zeros(connected.shape[1])
    step[0] = COPY * radius(connected)
    rows = np.concatenate([connected, connected[:1] + 0.5 * step, connected[1:2] + 3 * step])
    assert copies(rows)[-2:].tolist() == [0, len(rows) - 1]


def test_chain_of_near_copies_is_one(connected: np.ndarray) -> None:
    step = np.zeros(connected.shape[1])
    step[0] = 0.7 * COPY * radius(connected)
    rows = np.concatenate([connected, connected[:1] + step, connected[:1] + 2 * step])
    assert copies(rows)[-2:].tolist() == [0, 0]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_zero_and_minus_zero_are_one(kind) -> None:
    assert copies(kind(np.array([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0]]))).tolist() == [0, 1, 0]


# --- components --------------------------------------------------------------------------------------------------


def of_edges(edges: dict[int, list[int]]) -> sparse.csr_array:
    m = len(edges)
    W = np.zeros((m, m))
    for row, targets in edges.items():
        W[row, targets] = 1 / len(targets)
    return sparse.csr_array(W)


def test_by_hand() -> None:
    """0 <-> 1 <- 2 -> 3 <-> 4, and 5 <-> 6: two weak components; from 2 one reaches two that nothing leaves."""
    W = of_edges({0: [1], 1: [0], 2: [1, 3], 3: [4], 4: [3], 5: [6], 6: [5]})
    assert weak_components(W).tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert terminal_components(W) == 3


def test_largest_component_comes_first_and_of_equals_the_earliest() -> None:
    W = of_edges({0: [1], 1: [0], 2: [3], 3: [4], 4: [2], 5: [6], 6: [5]})
    assert weak_components(W).tolist() == [1, 1, 0, 0, 0, 2, 2]


def test_weight_of_zero_is_an_edge_all_the_same() -> None:
    W = weight_matrix(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert W.nnz == 6
    assert terminal_components(W) == 1
    assert weak_components(W).tolist() == [0, 0, 0]


@pytest.mark.parametrize("seed", [0, 3])
def test_terminal_components_count_the_zeros_of_m(seed: int) -> None:
    """Random weights on a random graph of few edges: dim ker (I - W) is the number of terminal components."""
    random = np.random.default_rng(seed)
    neighbours = np.array([random.choice(np.delete(np.arange(40), row), 2, replace=False) for row in range(40)])
    weights = random.standard_normal((40, 2)) + 2
    W = weight_matrix(neighbours, weights / weights.sum(axis=1, keepdims=True))
    singular = np.linalg.svd(np.eye(40) - W.toarray(), compute_uv=False)
    assert (singular < 1e-10).sum() == terminal_components(W)


def test_weight_matrix_by_loops() -> None:
    random = np.random.default_rng(0)
    neighbours = np.array([[1, 2], [2, 0], [0, 1], [0, 2]])
    weights = random.random((4, 2))
    W = weight_matrix(neighbours, weights).toarray()
    for row in range(4):
        for place in range(2):
            assert W[row, neighbours[row, place]] == weights[row, place]
    assert W.sum() == pytest.approx(weights.sum())
