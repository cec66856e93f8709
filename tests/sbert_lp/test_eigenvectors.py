"""The smallest eigenvectors of M against dense `eigh` in float64; the filtered search on known spectra."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.special import eval_chebyt

from labkit.evaluation.neighbours import nearest_others
from labkit.sbert_lp import eigenvectors
from labkit.sbert_lp.eigenvectors import bottom, cut_for, degree_for, smallest
from labkit.sbert_lp.graph import reconstruction_weights, terminal_components, weak_components, weight_matrix


def test_about_the_requested_number_is_below_the_cut_and_the_bound_is_above_all() -> None:
    values = np.linspace(0.01, 4, 900)
    cut, highest = cut_for(diagonal(values), 900, 75, np.random.default_rng(0))
    assert 40 < (values < cut).sum() < 120
    assert 4 <= highest < 6
    # 1.5 √(4 / 0.01) = 30, limited to at least 8 and at most 120
    assert [degree_for(cut, 4.0) for cut in (0.01, 2.0, 1e-6)] == [30, 8, 120]


# --- the filtered search -----------------------------------------------------------------------------------------


def diagonal(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: (x.T * values).T


def last(size: int) -> np.ndarray:
    """The last axis, as an excluded direction."""
    return np.eye(size)[:, -1:]


def test_filter_is_the_scaled_chebyshev_polynomial() -> None:
    values, degree, cut, highest = np.linspace(0, 4, 50), 13, 0.3, 4.0
    made = eigenvectors.ChebyshevFilter(diagonal(values), degree, cut, highest)(np.ones((50, 1)))[:, 0]
    centre, half = (highest + cut) / 2, (highest - cut) / 2
    wanted = eval_chebyt(degree, (values - centre) / half) / eval_chebyt(degree, -centre / half)
    assert made == pytest.approx(wanted, abs=1e-12)
    assert made[0] == pytest.approx(1)
    assert np.abs(made[values > cut]).max() < np.abs(made[values < cut]).min()


def test_the_smallest_are_found() -> None:
    values = np.random.default_rng(1).permutation(np.linspace(0.01, 4, 900))
    found = smallest(diagonal(values), 900, 30, apart=last(900))
    assert found.values == pytest.approx(np.sort(values[:-1])[:30], abs=1e-10)
    assert np.abs(found.vectors.T @ found.vectors - np.eye(30)).max() < 1e-10
    assert np.abs(found.vectors[-1]).max() < 1e-12  # orthogonal to the excluded axis
    assert found.residual < 1e-6


def test_repeated_eigenvalues_are_all_found() -> None:
    """Each eigenvalue has multiplicity six; in exact arithmetic, a search from one start vector finds one copy."""
    values = np.repeat(np.linspace(0.1, 8, 100), 6)
    found = smallest(diagonal(values), 600, 20, apart=last(600))
    assert found.values == pytest.approx(np.sort(values)[:20], abs=1e-8)


@pytest.mark.parametrize("zeros", [0, 29])
def test_thirty_zeros_are_found_even_if_not_announced(zeros: int) -> None:
    values = np.concatenate([np.zeros(30), np.linspace(0.2, 4, 570)])
    found = smallest(diagonal(values), 600, 40, apart=np.eye(600)[:, :1], zeros=zeros)
    assert found.values == pytest.approx(np.sort(values)[1:41], abs=1e-8)
    assert int((found.values < eigenvectors.ZERO).sum()) == 29


@pytest.mark.parametrize("missed", [0, 15, 27])
def test_a_missed_eigenvalue_is_noticed_however_small(missed: int) -> None:
    """The 31 smallest range from 1e-7 to 2e-5, next to others of order 1; one of the 31 is missed."""
    values = np.concatenate([np.logspace(-7, -4, 40), np.linspace(0.01, 4, 860)])
    product, axes = diagonal(values), np.eye(900)
    cut, highest = cut_for(product, 900, 100, np.random.default_rng(0))
    made = eigenvectors.ChebyshevFilter(product, degree_for(cut, highest), cut, highest)
    known = [900 - 1, *range(31)]
    bound = values[30] * (1 - eigenvectors.SAME)
    assert not eigenvectors._below(made, bound, axes[:, known], np.random.default_rng(1))
    known.remove(missed)
    assert eigenvectors._below(made, bound, axes[:, known], np.random.default_rng(1))


# --- graphs with one component, with several, and with many zeros ------------------------------------------------


def weights_of(rows: np.ndarray, k: int, reg: float = 1e-3) -> sparse.csr_array:
    neighbours = nearest_others(rows, k)
    return weight_matrix(neighbours, reconstruction_weights(rows, rows, neighbours, reg=reg))


def oracle(W: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """All eigenpairs of M orthogonal to 1, by projection onto an explicit basis."""
    m = W.shape[0]
    M = (np.eye(m) - W.toarray()).T @ (np.eye(m) - W.toarray())
    basis = linalg.null_space(np.ones((1, m)))
    values, vectors = linalg.eigh(basis.T @ M @ basis)
    return values, basis @ vectors


def largest_angle(a: np.ndarray, b: np.ndarray) -> float:
    return float(linalg.subspace_angles(a, b).max())


@pytest.fixture(params=[2_500, 0])
def dense(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both solvers: dense, and the filtered search."""
    monkeypatch.setattr(eigenvectors, "DENSE", request.param)


@pytest.mark.usefixtures("dense")
def test_same_subspace_as_the_dense_solver(connected: np.ndarray) -> None:
    W = weights_of(connected, 10)
    assert weak_components(W).max() == 0
    values, vectors = oracle(W)
    gaps = np.diff(values[:60]) / values[1:60]
    p = int(gaps[5:].argmax()) + 6  # at the widest gap, the subspace is well defined
    found = bottom(W, p)
    assert found.values == pytest.approx(values[:p], abs=1e-9)
    assert largest_angle(found.vectors, vectors[:, :p]) < 1e-6
    assert np.abs(found.vectors.T @ found.vectors - np.eye(p)).max() < 1e-10
    assert np.abs(found.vectors.sum(axis=0)).max() < 1e-8
    assert found.residual < 1e-6
    # the largest entry of each vector is positive, so that a seed gives the same result with every LAPACK
    assert (found.vectors[np.abs(found.vectors).argmax(axis=0), np.arange(p)] > 0).all()


@pytest.mark.usefixtures("dense")
@pytest.mark.parametrize("p", [2, 25])
def test_merged_spectra_are_those_of_the_joint_problem(clusters: np.ndarray, p: int) -> None:
    W = weights_of(clusters, 12)
    assert weak_components(W).max() == 3
    values, vectors = oracle(W)
    found = bottom(W, p)
    assert found.values == pytest.approx(values[:p], abs=1e-9)
    assert (found.values[: min(p, 3)] == 0).all()  # the contrasts of four components come first
    assert (found.owner[: min(p, 3)] == -1).all()
    constant = np.full(len(clusters), len(clusters) ** -0.5)
    assert np.abs(constant @ found.vectors).max() < 1e-8  # orthogonal to the constant
    assert np.abs(found.vectors.T @ found.vectors - np.eye(p)).max() < 1e-8  # the contrasts are orthonormal, too
    if values[p] > 1.01 * values[p - 1] and p >= 3:
        assert largest_angle(found.vectors, vectors[:, :p]) < 1e-6


def test_contrasts_by_hand() -> None:
    """Components of 4, 3 and 2 rows: each contrast separates one component from the later ones, not from all others."""
    sizes = (4, 3, 2)
    W = sparse.csr_array(linalg.block_diag(*[(np.ones((n, n)) - np.eye(n)) / (n - 1) for n in sizes]))
    found = bottom(W, 2)
    first, second = (found.vectors[:, column] * np.sign(found.vectors[row, column]) for column, row in ((0, 0), (1, 4)))
    wanted = np.array([1 / 4] * 4 + [-1 / 5] * 5), np.array([0.0] * 4 + [1 / 3] * 3 + [-1 / 2] * 2)
    assert first == pytest.approx(wanted[0] / np.linalg.norm(wanted[0]))
    assert second == pytest.approx(wanted[1] / np.linalg.norm(wanted[1]))
    assert found.component.tolist() == [0] * 4 + [1] * 3 + [2] * 2


def many_zeros(parts: int = 12) -> sparse.csr_array:
    """One weak component with many terminal ones: rings without outgoing edges, and rows with edges to any others."""
    random = np.random.default_rng(0)
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


@pytest.mark.usefixtures("dense")
def test_zeros_are_the_terminal_components() -> None:
    """A search from one start vector finds one copy of an eigenvalue, so it restarts until all are found."""
    W = many_zeros()
    assert weak_components(W).max() == 0
    assert terminal_components(W) >= 12
    found = bottom(W, 20)
    zeros = 1 + (found.values < eigenvectors.ZERO).sum()
    assert zeros == terminal_components(W)
    assert found.values == pytest.approx(oracle(W)[0][:20], abs=1e-9)
    assert np.abs(found.vectors.sum(axis=0)).max() < 1e-8
