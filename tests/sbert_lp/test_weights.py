"""Reconstruction weights against scikit-learn's, a constrained least squares, and cases worked by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.manifold._locally_linear import barycenter_weights

from labkit.evaluation.neighbours import nearest_others
from labkit.sbert_lp.weights import reconstruction_weights, weights_of_grams


def test_point_between_two_by_hand() -> None:
    """x = 1 between 0 and 4: 0.75 · 0 + 0.25 · 4. G = [[1, -3], [-3, 9]], reg = 1e-9."""
    found = reconstruction_weights(np.array([[1.0]]), np.array([[0.0], [4.0]]), np.array([[0, 1]]), reg=1e-9)
    assert found[0] == pytest.approx([0.75, 0.25], abs=1e-6)


def test_reg_by_hand() -> None:
    """G = [[1, 0], [0, 3]], tr 4, reg 0.25 adds 1: w ~ (1/2, 1/4) = (2/3, 1/3)."""
    base = np.array([[1.0, 0.0], [0.0, 3**0.5]])
    found = reconstruction_weights(np.zeros((1, 2)), base, np.array([[0, 1]]), reg=0.25)
    assert found[0] == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize("k", [5, 60])
def test_as_scikit_learn(connected: np.ndarray, k: int) -> None:
    """For k below and above the dimension. scikit-learn's R is reg · tr(G), ours too."""
    neighbours = nearest_others(connected, k)
    wanted = barycenter_weights(connected, connected, neighbours, reg=1e-3)
    found = reconstruction_weights(connected, connected, neighbours, reg=1e-3)
    assert found == pytest.approx(wanted, abs=1e-8)
    single = connected.astype(np.float32)
    solved = reconstruction_weights(single, single, neighbours)
    assert solved == pytest.approx(wanted, abs=1e-3)
    assert solved.sum(axis=1) == pytest.approx(1, abs=1e-12)  # Grams in float32, solutions in float64


def test_sparse_rows_as_dense(connected: np.ndarray) -> None:
    rows = np.where(np.abs(connected) > 0.1, connected, 0)
    neighbours = nearest_others(rows, 8)
    dense = reconstruction_weights(rows, rows, neighbours)
    thin = sparse.csr_matrix(rows)
    assert reconstruction_weights(thin, thin, neighbours) == pytest.approx(dense, abs=1e-9)


def test_same_in_any_chunk(connected: np.ndarray) -> None:
    neighbours = nearest_others(connected, 8)
    whole = reconstruction_weights(connected, connected, neighbours)
    one = reconstruction_weights(connected[7:8], connected, neighbours[7:8])
    assert one[0] == pytest.approx(whole[7], abs=1e-12)


def test_gram_that_cannot_be_factorised_gets_more_reg() -> None:
    """Neighbours on opposite sides: G = [[1, -1], [-1, 1]] is singular, and rounding may make it worse."""
    G = torch.tensor([[[1.0, -1.0], [-1.0, 1.0]]], dtype=torch.float64)
    for rounded in (G, G - 1e-3 * torch.eye(2)):
        assert weights_of_grams(rounded, 1e-4).tolist() == [pytest.approx([0.5, 0.5])]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_rows_with_nan_are_refused(kind: type) -> None:
    """reg was raised until G could be factorised, which it never can."""
    rows = np.array([[1.0, 0], [0, 1], [np.nan, 1]])
    with pytest.raises(ValueError, match="NaN"):
        reconstruction_weights(kind(rows), kind(rows), np.array([[1, 2], [0, 2], [0, 1]]))
