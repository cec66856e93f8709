"""The bottom of M against dense `eigh` in float64, for graphs of one part, of several, and with many zeros."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import linalg, sparse

from labkit.sbert_lp.eigenvectors import bottom
from labkit.sbert_lp.graph import neighbour_graph, terminal_components, weak_components, weight_matrix
from labkit.sbert_lp.weights import reconstruction_weights


def graph(rows: np.ndarray, k: int, reg: float = 1e-3) -> sparse.csr_array:
    neighbours = neighbour_graph(rows, k).neighbours
    return weight_matrix(neighbours, reconstruction_weights(rows, rows, neighbours, reg=reg).values)


def oracle(W: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """All eigenpairs of M on what is orthogonal to 1, by projecting onto an explicit basis of it."""
    m = W.shape[0]
    M = (np.eye(m) - W.toarray()).T @ (np.eye(m) - W.toarray())
    basis = linalg.null_space(np.ones((1, m)))
    values, vectors = linalg.eigh(basis.T @ M @ basis)
    return values, basis @ vectors


def largest_angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(linalg.subspace_angles(a, b).max())


@pytest.mark.parametrize("dense_up_to", [2_500, 0])
def test_same_subspace_as_dense(connected: np.ndarray, dense_up_to: int) -> None:
    W = graph(connected, 10)
    assert weak_components(W).max() == 0
    values, vectors = oracle(W)
    gaps = np.diff(values[:60]) / values[1:60]
    p = int(gaps[5:].argmax()) + 6  # the clearest gap: there the subspace is well defined
    found = bottom(W, p, dense_up_to=dense_up_to)
    assert found.values == pytest.approx(values[:p], abs=1e-9)
    assert largest_angle(found.vectors, vectors[:, :p]) < 1e-6
    assert np.abs(found.vectors.T @ found.vectors - np.eye(p)).max() < 1e-10
    assert np.abs(found.vectors.sum(axis=0)).max() < 1e-8
    assert found.residual < 1e-6


@pytest.mark.parametrize("dense_up_to", [2_500, 0])
@pytest.mark.parametrize("p", [2, 3, 25])
def test_merged_spectra_are_those_of_the_joint_problem(clusters: np.ndarray, dense_up_to: int, p: int) -> None:
    W = graph(clusters, 12)
    assert weak_components(W).max() == 3
    values, vectors = oracle(W)
    found = bottom(W, p, dense_up_to=dense_up_to)
    assert found.values == pytest.approx(values[:p], abs=1e-9)
    assert (found.values[: min(p, 3)] == 0).all()  # the contrasts of four components come first
    assert (found.owner[: min(p, 3)] == -1).all()
    constant = np.full(len(clusters), len(clusters) ** -0.5)
    assert np.abs(constant @ found.vectors).max() < 1e-8  # no leak of the constant
    assert np.abs(found.vectors.T @ found.vectors - np.eye(p)).max() < 1e-8  # contrasts among themselves too
    if values[p] > 1.01 * values[p - 1] and p >= 3:
        assert largest_angle(found.vectors, vectors[:, :p]) < 1e-6


def test_contrasts_by_hand() -> None:
    """Components of 3 and 2 rows: one contrast, (1/3, 1/3, 1/3, -1/2, -1/2) at length 1."""
    W = sparse.csr_array(linalg.block_diag((np.ones((3, 3)) - np.eye(3)) / 2, 1 - np.eye(2)))
    found = bottom(W, 1)
    wanted = np.array([1 / 3, 1 / 3, 1 / 3, -1 / 2, -1 / 2])
    assert found.vectors[:, 0] * np.sign(found.vectors[0, 0]) == pytest.approx(wanted / np.linalg.norm(wanted))
    assert found.component.tolist() == [0, 0, 0, 1, 1]
    assert found.zeros == found.terminal == 2


def test_the_second_contrast_leaves_the_first_component_alone() -> None:
    """Components of 4, 3 and 2 rows: each contrast tells one component from those after it, not from all others."""
    sizes = (4, 3, 2)
    W = sparse.csr_array(linalg.block_diag(*[(np.ones((n, n)) - np.eye(n)) / (n - 1) for n in sizes]))
    found = bottom(W, 2)
    first, second = (found.vectors[:, column] * np.sign(found.vectors[row, column]) for column, row in ((0, 0), (1, 4)))
    wanted = np.array([1 / 4] * 4 + [-1 / 5] * 5), np.array([0.0] * 4 + [1 / 3] * 3 + [-1 / 2] * 2)
    assert first == pytest.approx(wanted[0] / np.linalg.norm(wanted[0]))
    assert second == pytest.approx(wanted[1] / np.linalg.norm(wanted[1]))


def many_zeros(parts: int = 12, seed: int = 0) -> sparse.csr_array:
    """One weak component with many terminal ones: rings that nothing leaves, and rows that look at all of them."""
    random = np.random.default_rng(seed)
    m = parts * 8 + 60
    W = np.zeros((m, m))
    for part in range(parts):
        rows = part * 8 + np.arange(8)
        for row in rows:
            W[row, random.choice(rows[rows != row], 4, replace=False)] = random.random(4)
        W[rows, np.roll(rows, 1)] += 0.5
    for row in range(parts * 8, m):
        W[row, random.choice(np.delete(np.arange(m), row), 5, replace=False)] = random.random(5)
    return sparse.csr_array(W / W.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("dense_up_to", [2_500, 0])
@pytest.mark.parametrize("seed", range(3))
def test_zeros_are_the_terminal_components(dense_up_to: int, seed: int) -> None:
    """A search that starts from one vector sees one copy of an eigenvalue: it is begun again until all are there."""
    W = many_zeros(seed=seed)
    assert weak_components(W).max() == 0
    assert len(terminal_components(W)) >= 12
    found = bottom(W, 20, dense_up_to=dense_up_to)
    assert found.zeros == found.terminal == len(terminal_components(W))
    assert found.values == pytest.approx(oracle(W)[0][:20], abs=1e-9)
    assert np.abs(found.vectors.sum(axis=0)).max() < 1e-8


def test_a_seed_gives_one_answer(connected: np.ndarray) -> None:
    W = graph(connected, 10)
    one, two = (bottom(W, 12, dense_up_to=0, seed=3) for _ in range(2))
    assert np.array_equal(one.vectors, two.vectors)


def test_signs_are_settled(connected: np.ndarray) -> None:
    """The largest entry of each vector is positive, so that one seed is one answer whatever LAPACK is at work."""
    W = graph(connected, 10)
    for limit in (2_500, 0):
        found = bottom(W, 12, dense_up_to=limit).vectors
        assert (found[np.abs(found).argmax(axis=0), np.arange(12)] > 0).all()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_dense_on_cuda(connected: np.ndarray) -> None:
    W = graph(connected, 10)
    assert bottom(W, 12, device="cuda").values == pytest.approx(bottom(W, 12).values, abs=1e-10)
