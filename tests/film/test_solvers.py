"""Four ways to one minimum."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.film.objective import TripletHinge
from labkit.film.solvers import Solution, averaged, calibrated, cayley_bb, closed_form, factorised
from labkit.film.stiefel import drift, random_point


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


def test_all_reach_the_same_value(problem) -> None:
    start = Solution(random_point(10, 10, seed=0), np.full(10, 0.3))  # of full rank, where there is one minimum
    stiefel = cayley_bb(problem, start, iterations=1000, tolerance=1e-8)
    factor = factorised(problem, start, iterations=1000, tolerance=1e-14)
    plain = factorised(problem, start, iterations=1000, tolerance=1e-14, model=False)
    values = [problem.by_factor(found.B)[0] for found in (stiefel, factor, plain)]
    assert values == pytest.approx([values[0]] * 3, rel=1e-6)
    assert pytest.approx(factor.B.T @ factor.B, abs=1e-3) == stiefel.B.T @ stiefel.B


def test_batches_come_near(problem) -> None:
    problem = calibrated(problem, 10, margin=1.0)
    best = factorised(problem, closed_form(problem, 10), iterations=500, tolerance=1e-12).rows[-1]["objective"]
    found = averaged(problem, 10, batch=30, epochs=100, margin=1.0)
    assert problem.by_factor(found.B)[0] == pytest.approx(found.rows[-1]["objective"], rel=1e-9)
    assert found.rows[-1]["objective"] < best * 1.02
    assert found.rows[-1]["objective"] < found.rows[0]["objective"]


def test_the_gap_holds_the_distance_to_the_best_of_any_rank(problem, start) -> None:
    low = factorised(problem, start, iterations=500, tolerance=1e-12)
    full = Solution(random_point(10, 10, seed=0), np.full(10, 0.1))
    whole = factorised(problem, full, iterations=3000, tolerance=1e-14)
    assert whole.rows[-1]["gap"] == pytest.approx(0, abs=1e-4 * whole.rows[-1]["objective"])
    assert low.rows[-1]["gap"] >= low.rows[-1]["objective"] - whole.rows[-1]["objective"] - 1e-9


def test_the_gauge_and_the_history(problem, start) -> None:
    for found in (cayley_bb(problem, start, iterations=30), factorised(problem, start, iterations=30)):
        assert drift(found.P) < 1e-12
        assert (np.diff(found.s) <= 1e-12).all()
        assert (found.P[np.abs(found.P).argmax(axis=0), np.arange(4)] > 0).all()
        assert [row["epoch"] for row in found.rows] == list(range(len(found.rows)))
        assert found.rows[-1]["objective"] == pytest.approx(problem.by_factor(found.B)[0], rel=1e-9)
        assert found.rows[-1]["objective"] < found.rows[0]["objective"]
        assert found.rows[-1]["drift"] < 1e-12


def test_no_steps_leave_the_start(problem) -> None:
    start = closed_form(problem, 4)
    found = factorised(problem, start, iterations=0, model=False)
    assert pytest.approx(start.B, abs=1e-12) == found.B
    assert len(found.rows) == 1


def test_the_margin_is_measured_on_the_closed_form(problem) -> None:
    z = problem.z(problem.V @ closed_form(problem, 4).B.T)
    assert calibrated(problem, 4, margin=3.0).margin == pytest.approx(3 * np.median(np.abs(z)))


def test_single_precision_follows_double(problem, start) -> None:
    single = TripletHinge(
        problem.V.astype(np.float32),
        problem.M.astype(np.float32),
        problem.margins.astype(np.float32),
        problem.softness,
        problem.margin,
    )
    found = factorised(single, start, iterations=60, tolerance=1e-6)
    wanted = factorised(problem, start, iterations=60, tolerance=1e-6)
    assert problem.by_factor(found.B)[0] == pytest.approx(wanted.rows[-1]["objective"], rel=1e-3)
