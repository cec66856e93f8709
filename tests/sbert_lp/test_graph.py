"""Copies and components on small examples, W against plain loops, reconstruction weights against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.manifold._locally_linear import barycenter_weights

from labkit.evaluation.neighbours import nearest_others
from labkit.sbert_lp.graph import (
    COPY,
    copies,
    radius,
    reconstruction_weights,
    terminal_components,
    weak_components,
    weight_matrix,
    weights_of_grams,
)


def test_radius_by_hand() -> None:
    assert radius(np.array([[0.0, 0.0], [2.0, 0.0]])) == pytest.approx(1)
    assert radius(sparse.csr_matrix([[0.0, 0.0], [2.0, 0.0]])) == pytest.approx(1)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_copies_refer_to_the_first_row(connected: np.ndarray, kind) -> None:
    rows = np.concatenate([connected, connected[[5, 7, 5]], connected[:1]])
    found = copies(kind(rows))
    assert found[: len(connected)].tolist() == list(range(len(connected)))
    assert found[len(connected) :].tolist() == [5, 7, 5, 0]


def test_tiny_differences_make_a_copy_and_larger_ones_do_not(connected: np.ndarray) -> None:
    step = np.zeros(connected.shape[1])
    step[0] = COPY * radius(connected)
    rows = np.concatenate([connected, connected[:1] + 0.5 * step, connected[1:2] + 3 * step])
    assert copies(rows)[-2:].tolist() == [0, len(rows) - 1]
    chain = np.concatenate([connected, connected[:1] + 0.7 * step, connected[:1] + 1.4 * step])
    assert copies(chain)[-2:].tolist() == [0, 0]  # each is a copy of the previous one


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_zero_and_minus_zero_are_equal(kind) -> None:
    assert copies(kind(np.array([[0.0, 1.0], [2.0, 3.0], [-0.0, 1.0]]))).tolist() == [0, 1, 0]


# --- components --------------------------------------------------------------------------------------------------


def of_edges(edges: dict[int, list[int]]) -> sparse.csr_array:
    m = len(edges)
    W = np.zeros((m, m))
    for row, targets in edges.items():
        W[row, targets] = 1 / len(targets)
    return sparse.csr_array(W)


def test_components_by_hand() -> None:
    """0 <-> 1 <- 2 -> 3 <-> 4, and 5 <-> 6: two weak components and three terminal ones."""
    W = of_edges({0: [1], 1: [0], 2: [1, 3], 3: [4], 4: [3], 5: [6], 6: [5]})
    assert weak_components(W).tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert terminal_components(W) == 3
    W = of_edges({0: [1], 1: [0], 2: [3], 3: [4], 4: [2], 5: [6], 6: [5]})
    assert weak_components(W).tolist() == [1, 1, 0, 0, 0, 2, 2]  # largest first, then by first row


@pytest.mark.parametrize("seed", [0, 3])
def test_terminal_components_count_the_zeros_of_m(seed: int) -> None:
    """Random weights on a sparse random graph: dim ker (I - W) is the number of terminal components."""
    random = np.random.default_rng(seed)
    neighbours = np.array([random.choice(np.delete(np.arange(40), row), 2, replace=False) for row in range(40)])
    weights = random.standard_normal((40, 2)) + 2
    W = weight_matrix(neighbours, weights / weights.sum(axis=1, keepdims=True))
    singular = np.linalg.svd(np.eye(40) - W.toarray(), compute_uv=False)
    assert (singular < 1e-10).sum() == terminal_components(W)


def test_weight_matrix_against_plain_loops_with_an_edge_of_weight_zero() -> None:
    random = np.random.default_rng(0)
    neighbours = np.array([[1, 2], [2, 0], [0, 1], [0, 2]])
    weights = random.random((4, 2))
    W = weight_matrix(neighbours, weights).toarray()
    for row in range(4):
        for place in range(2):
            assert W[row, neighbours[row, place]] == weights[row, place]
    assert W.sum() == pytest.approx(weights.sum())
    W = weight_matrix(np.array([[1, 2], [0, 2], [0, 1]]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert W.nnz == 6
    assert terminal_components(W) == 1
    assert weak_components(W).tolist() == [0, 0, 0]


# --- weights -----------------------------------------------------------------------------------------------------


def test_weights_by_hand() -> None:
    """x = 1 between 0 and 4 is 0.75 · 0 + 0.25 · 4. G = [[1, -3], [-3, 9]], reg = 1e-9."""
    found = reconstruction_weights(np.array([[1.0]]), np.array([[0.0], [4.0]]), np.array([[0, 1]]), reg=1e-9)
    assert found[0] == pytest.approx([0.75, 0.25], abs=1e-6)
    # G = [[1, 0], [0, 3]], tr 4, reg 0.25 adds 1: w ~ (1/2, 1/4) = (2/3, 1/3)
    base = np.array([[1.0, 0.0], [0.0, 3**0.5]])
    found = reconstruction_weights(np.zeros((1, 2)), base, np.array([[0, 1]]), reg=0.25)
    assert found[0] == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize("k", [5, 60])
def test_weights_against_scikit_learn(connected: np.ndarray, k: int) -> None:
    """For k below and above the dimension. Both add reg · tr(G)."""
    neighbours = nearest_others(connected, k)
    wanted = barycenter_weights(connected, connected, neighbours, reg=1e-3)
    found = reconstruction_weights(connected, connected, neighbours, reg=1e-3)
    assert found == pytest.approx(wanted, abs=1e-8)
    single = connected.astype(np.float32)
    solved = reconstruction_weights(single, single, neighbours)
    assert solved == pytest.approx(wanted, abs=1e-3)
    assert solved.sum(axis=1) == pytest.approx(1, abs=1e-12)  # float32 Gram matrices are solved in float64


def test_weights_do_not_depend_on_chunks_or_sparsity(connected: np.ndarray) -> None:
    neighbours = nearest_others(connected, 8)
    whole = reconstruction_weights(connected, connected, neighbours)
    one = reconstruction_weights(connected[7:8], connected, neighbours[7:8])
    assert one[0] == pytest.approx(whole[7], abs=1e-12)
    rows = np.where(np.abs(connected) > 0.1, connected, 0)
    neighbours = nearest_others(rows, 8)
    dense = reconstruction_weights(rows, rows, neighbours)
    thin = sparse.csr_matrix(rows)
    assert reconstruction_weights(thin, thin, neighbours) == pytest.approx(dense, abs=1e-9)


def test_a_gram_matrix_that_cannot_be_factorised_gets_a_larger_reg() -> None:
    """Neighbours on opposite sides: G = [[1, -1], [-1, 1]] is singular, and rounding may make it indefinite."""
    G = torch.tensor([[[1.0, -1.0], [-1.0, 1.0]]], dtype=torch.float64)
    for rounded in (G, G - 1e-3 * torch.eye(2)):
        assert weights_of_grams(rounded, 1e-4).tolist() == [pytest.approx([0.5, 0.5])]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_rows_with_nan(kind: type) -> None:
    """reg used to be raised until G could be factorised, which never happens with NaN."""
    rows = np.array([[1.0, 0], [0, 1], [np.nan, 1]])
    with pytest.raises(ValueError, match="NaN"):
        reconstruction_weights(kind(rows), kind(rows), np.array([[1, 2], [0, 2], [0, 1]]))
