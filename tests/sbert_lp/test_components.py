"""Weak and terminal components against networkx's definitions worked by hand, and W by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.sbert_lp.graph import terminal_components, weak_components, weight_matrix


def graph(edges: dict[int, list[int]]) -> sparse.csr_array:
    m = len(edges)
    W = np.zeros((m, m))
    for row, targets in edges.items():
        W[row, targets] = 1 / len(targets)
    return sparse.csr_array(W)


def test_by_hand() -> None:
    """0 <-> 1 <- 2 -> 3 <-> 4, and 5 <-> 6: two weak components; from 2 one reaches two that nothing leaves."""
    W = graph({0: [1], 1: [0], 2: [1, 3], 3: [4], 4: [3], 5: [6], 6: [5]})
    assert weak_components(W).tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert sorted(rows.tolist() for rows in terminal_components(W)) == [[0, 1], [3, 4], [5, 6]]


def test_the_largest_component_comes_first_and_of_equals_the_earliest() -> None:
    W = graph({0: [1], 1: [0], 2: [3], 3: [4], 4: [2], 5: [6], 6: [5]})
    assert weak_components(W).tolist() == [1, 1, 0, 0, 0, 2, 2]


def test_a_weight_of_zero_is_an_edge_all_the_same() -> None:
    W = weight_matrix(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert W.nnz == 6
    assert len(terminal_components(W)) == 1
    assert weak_components(W).tolist() == [0, 0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_terminal_components_count_the_zeros_of_m(seed: int) -> None:
    """Random weights on a random graph of few edges: dim ker (I - W) is the number of terminal components."""
    random = np.random.default_rng(seed)
    neighbours = np.array([random.choice(np.delete(np.arange(40), row), 2, replace=False) for row in range(40)])
    weights = random.standard_normal((40, 2)) + 2
    W = weight_matrix(neighbours, weights / weights.sum(axis=1, keepdims=True))
    singular = np.linalg.svd(np.eye(40) - W.toarray(), compute_uv=False)
    assert (singular < 1e-10).sum() == len(terminal_components(W))


def test_weight_matrix_by_loops() -> None:
    random = np.random.default_rng(0)
    neighbours = np.array([[1, 2], [2, 0], [0, 1], [0, 2]])
    weights = random.random((4, 2))
    W = weight_matrix(neighbours, weights).toarray()
    for row in range(4):
        for place in range(2):
            assert W[row, neighbours[row, place]] == weights[row, place]
    assert W.sum() == pytest.approx(weights.sum())
