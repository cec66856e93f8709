"""Solvers reach the same minimum; L from rows and triplets: the paper's identities, the eigenproblem, settings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg, sparse

from labkit.film import solvers
from labkit.film.method import FilmSettings
from labkit.film.objective import TripletHinge, supervision
from labkit.film.solvers import (
    SOLVERS,
    Projected,
    Solution,
    averaged,
    calibrated,
    cayley_bb,
    closed_form,
    factorised,
    learn,
)
from labkit.film.stiefel import drift, random_point
from labkit.film.triplets import Clusters, Recipe, cluster_triplets


@pytest.fixture
def problem() -> TripletHinge:
    """120 rows of 10 features in 40 clusters; hinges of all three kinds at the minimum."""
    random = np.random.default_rng(1)
    cluster = np.arange(120) % 40
    V = np.linalg.qr(random.standard_normal((40, 10))[cluster] + 0.5 * random.standard_normal((120, 10)))[0]
    triplets = np.array(
        [(i, (i + 40) % 120, (i + 1 + random.integers(38)) % 120) for i in range(120) for _ in range(4)]
    )
    return calibrated(TripletHinge.of(V, triplets, 1.0), 4, margin=1.0)


@pytest.fixture
def start(problem) -> Solution:
    return Solution(random_point(10, 4, seed=0), np.full(4, closed_form(problem, 4).s.mean()))


def test_both_solvers_reach_the_same_value(problem) -> None:
    start = Solution(random_point(10, 10, seed=0), np.full(10, 0.3))  # with full rank, there is one minimum
    stiefel = cayley_bb(problem, start, iterations=1000, tolerance=1e-8)
    factor = factorised(problem, start, iterations=1000, tolerance=1e-14)
    assert problem.by_factor(factor.B)[0] == pytest.approx(problem.by_factor(stiefel.B)[0], rel=1e-6)
    assert pytest.approx(factor.B.T @ factor.B, abs=1e-3) == stiefel.B.T @ stiefel.B


def test_batches_come_close_to_the_minimum(problem) -> None:
    problem = calibrated(problem, 10, margin=1.0)
    best = factorised(problem, closed_form(problem, 10), iterations=500, tolerance=1e-12).rows[-1]["objective"]
    found = averaged(problem, 10, batch=30, epochs=100, margin=1.0)
    assert problem.by_factor(found.B)[0] == pytest.approx(found.rows[-1]["objective"], rel=1e-9)
    assert found.rows[-1]["objective"] < best * 1.02
    assert found.rows[-1]["objective"] < found.rows[0]["objective"]


def test_gauge_and_the_history(problem, start) -> None:
    for found in (cayley_bb(problem, start, iterations=30), factorised(problem, start, iterations=30)):
        assert drift(found.P) < 1e-12
        assert (np.diff(found.s) <= 1e-12).all()
        assert (found.P[np.abs(found.P).argmax(axis=0), np.arange(4)] > 0).all()
        assert [row["epoch"] for row in found.rows] == list(range(len(found.rows)))
        assert found.rows[-1]["objective"] == pytest.approx(problem.by_factor(found.B)[0], rel=1e-9)
        assert found.rows[-1]["objective"] < found.rows[0]["objective"]
        assert found.rows[-1]["drift"] < 1e-12


def test_margin_is_measured_on_the_closed_form(problem) -> None:
    z = problem.z(problem.V @ closed_form(problem, 4).B.T)
    assert calibrated(problem, 4, margin=3.0).margin == pytest.approx(3 * np.median(np.abs(z)))


# --- from rows and triplets to L ---------------------------------------------------------------------------------


def questions(columns: int, clusters: int = 60, each: int = 4) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Unit rows with a few words each, from their cluster and from a common pool, and their clusters."""
    random = np.random.default_rng(0)
    own = random.integers(columns, size=(clusters, 8))
    rows = []
    for cluster in np.repeat(np.arange(clusters), each):
        row = np.zeros(columns)
        row[random.choice(own[cluster], 3)] += 1
        row[random.integers(columns // 4, size=4)] += 1
        rows.append(row / np.linalg.norm(row))
    return sparse.csr_matrix(np.array(rows)), np.repeat(np.arange(clusters), each)


@pytest.fixture(scope="module")
def small() -> tuple[sparse.csr_matrix, np.ndarray]:
    X, classes = questions(150)
    return X, cluster_triplets(Clusters.from_classes(classes), Recipe())


@pytest.mark.parametrize("columns", [150, 900])
def test_directions_solve_the_generalised_eigenproblem(columns: int) -> None:
    X, classes = questions(columns)
    M, _ = supervision(cluster_triplets(Clusters.from_classes(classes), Recipe()), X.shape[0])
    W, found = solvers.directions(X, M, 12, ridge=0.5, iterations=60)
    dense, supervised = X.toarray(), M.toarray()
    A = dense.T @ (supervised + supervised.T) @ dense / 2
    B = dense.T @ dense + 0.5 * np.eye(columns)
    k = linalg.eigh(A, B, eigvals_only=True)[::-1][:12]
    assert (columns > solvers.DENSE) == (columns == 900)  # covers both ways of solving it
    assert found == pytest.approx(k, rel=1e-4)
    assert pytest.approx(np.eye(12), abs=1e-9) == W.T @ B @ W
    assert pytest.approx(np.diag(k), abs=1e-9) == W.T @ A @ W


def test_y_is_l_x_on_the_training_rows(small) -> None:
    X, _ = small
    dense = X.toarray()
    _, sizes, Ut = linalg.svd(dense, full_matrices=False)
    R = Ut[:30].T / sizes[:30]
    V = Projected(X, R)[np.arange(X.shape[0])]
    assert pytest.approx(np.eye(30), abs=1e-12) == V.T @ V  # V of the SVD, orthonormal columns
    B = np.random.default_rng(0).standard_normal((5, 30))
    L = B @ R.T  # L = B Σ⁻¹ Uᵀ
    assert np.abs(dense @ L.T - V @ B.T).max() < 1e-10
    assert np.abs((V @ B.T).T @ V / sizes[:30] @ Ut[:30] - L).max() < 1e-10  # L = Y V Σ⁻¹ Uᵀ (eq. 6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("batch", [0, 64])
def test_every_solver_brings_positives_closer(small, solver: str, batch: int) -> None:
    X, triplets = small
    settings = FilmSettings(solver=solver, dimension=20, iterations=40, batch=batch, device="cpu")
    L, rows = learn(X, triplets, settings)

    def wrong(Y: np.ndarray) -> float:
        i, j, k = triplets.T
        return float((np.sum(Y[i] * (Y[j] - Y[k]), axis=1) <= 0).mean())

    assert L.shape == (20, 150)
    assert wrong(X @ L.T) < wrong(X.toarray()) / 2
    again, same_rows = learn(X, triplets, settings)
    assert (L == again).all()
    assert rows == same_rows
    assert {"epoch", "objective", "drift"} <= set(rows[-1])


def test_x_is_never_converted_to_dense(small, monkeypatch) -> None:
    X, triplets = small
    for name in ("toarray", "todense"):
        monkeypatch.setattr(sparse.csr_matrix, name, lambda *_: pytest.fail("made dense"))
    for solver in SOLVERS:
        learn(X, triplets, FilmSettings(solver=solver, dimension=5, iterations=3))


@pytest.mark.parametrize("solver", SOLVERS)
def test_without_a_useful_direction_l_is_zero_with_a_warning(solver: str) -> None:
    X, triplets = sparse.csr_matrix(np.ones((4, 1))), np.array([(0, 1, 2), (1, 0, 3)])
    with pytest.warns(UserWarning, match="direction"):
        assert not learn(X, triplets, FilmSettings(solver=solver, dimension=1))[0].any()


def test_closed_form_setting_is_the_closed_form_on_svd_features(small) -> None:
    X, triplets = small
    settings = FilmSettings(solver="closed-form", dimension=6, rank=25)
    R = solvers._projection(X, triplets, settings, 0, lambda *_: None)
    wanted = closed_form(TripletHinge.of(X @ R, triplets, 1.0), 6)
    assert pytest.approx(wanted.B @ R.T, abs=1e-9) == learn(X, triplets, settings)[0]


def test_each_setting_changes_l(small) -> None:
    X, triplets = small
    base = FilmSettings(dimension=10, iterations=5)
    L, _ = learn(X, triplets, base)
    for change in ({"ridge": 3.0}, {"margin": 0.2}, {"rank": 30}, {"iterations": 0}):
        assert np.abs(learn(X, triplets, replace(base, **change))[0] - L).max() > 1e-6
    with pytest.raises(ValueError, match="rank"):
        learn(X, triplets, FilmSettings(dimension=9, rank=5))
    batches = [learn(X, triplets, FilmSettings(dimension=10, batch=50, epochs=epochs))[1] for epochs in (1, 4)]
    assert [len(rows) for rows in batches] == [2, 5]
