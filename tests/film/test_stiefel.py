"""Steps on the Stiefel manifold: a worked example, two equivalent forms, finite differences, eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.film import stiefel
from labkit.film.stiefel import (
    bb_length,
    cayley,
    cayley_direct,
    cayley_woodbury,
    drift,
    minimise,
    random_point,
    stationarity,
)


def leading(A: np.ndarray) -> stiefel.Objective:
    """-tr(Pᵀ A P)/2: its minimum spans the leading eigenvectors of A."""
    return lambda P: (-float(np.vdot(P, A @ P)) / 2, -A @ P)


@pytest.fixture
def spread(random: np.random.Generator) -> np.ndarray:
    A = random.standard_normal((12, 12))
    return A @ A.T


@pytest.mark.parametrize("form", [cayley_direct, cayley_woodbury, cayley])
def test_step_of_2_against_a_unit_gradient_is_a_quarter_turn(form) -> None:
    # A = [[0, -1], [1, 0]], and (I + A)⁻¹ (I - A) = [[0, 1], [-1, 0]]
    assert form(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]), 2.0) == pytest.approx(np.array([[0.0], [-1.0]]))


@pytest.mark.parametrize("length", [0.1, 30.0])
def test_both_forms_agree_and_stay_on_the_manifold(random, length: float) -> None:
    P, gradient = random_point(30, 4, seed=1), random.standard_normal((30, 4))
    direct, woodbury = cayley_direct(P, gradient, length), cayley_woodbury(P, gradient, length)
    assert np.abs(direct - woodbury).max() < 1e-12
    assert max(drift(direct), drift(woodbury)) < 1e-12


def test_the_curve_starts_downhill(random) -> None:
    A = random.standard_normal((9, 9))
    objective, P = leading(A + A.T), random_point(9, 3, seed=3)
    gradient = objective(P)[1]
    skew = gradient @ P.T - P @ gradient.T
    ends = [objective(cayley(P, gradient, step))[0] for step in (1e-6, -1e-6)]
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(-np.sum(skew**2) / 2, rel=1e-7)
    assert skew @ P == pytest.approx(stationarity(P, gradient), abs=1e-12)


def test_minimum_spans_the_leading_eigenvectors(spread) -> None:
    P, rows = minimise(leading(spread), random_point(12, 3, seed=4), iterations=500, tolerance=1e-9)
    roots, vectors = np.linalg.eigh(spread)
    assert rows[-1]["stationarity"] <= 1e-9 * rows[0]["stationarity"]
    assert rows[-1]["objective"] == pytest.approx(-roots[-3:].sum() / 2, rel=1e-12)
    assert np.linalg.svd(P.T @ vectors[:, -3:], compute_uv=False) == pytest.approx(np.ones(3), abs=1e-9)
    assert max(row["drift"] for row in rows) < 1e-12


def test_worked_examples_of_bb_lengths() -> None:
    dP, dF = np.array([[3.0], [4.0]]), np.array([[1.0], [-2.0]])
    assert bb_length(dP, dF, long=True) == 25 / 5
    assert bb_length(dP, dF, long=False) == 5 / 5
    assert bb_length(0 * dP, dF, long=True) is None
    assert bb_length(dP, 0 * dF, long=False) is None
