"""The filtered search on matrices whose spectrum is known: diagonals, with copies, and where Lanczos gives up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from scipy.special import eval_chebyt

from labkit.sbert_lp import eigenvectors
from labkit.sbert_lp.eigenvectors import cut_for, degree_for, smallest


def diagonal(values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: (x.T * values).T


def last(size: int) -> np.ndarray:
    """The last axis, as what is kept apart."""
    return np.eye(size)[:, -1:]


def test_the_filter_is_the_scaled_chebyshev_polynomial() -> None:
    values, degree, cut, highest = np.linspace(0, 4, 50), 13, 0.3, 4.0
    made = eigenvectors._filter_of(degree, cut, highest)(diagonal(values), np.ones((50, 1)))[:, 0]
    centre, half = (highest + cut) / 2, (highest - cut) / 2
    wanted = eval_chebyt(degree, (values - centre) / half) / eval_chebyt(degree, -centre / half)
    assert made == pytest.approx(wanted, abs=1e-12)
    assert made[0] == pytest.approx(1)
    assert np.abs(made[values > cut]).max() < np.abs(made[values < cut]).min()


def test_degrees_by_hand() -> None:
    """1.5 √(4 / 0.01) = 30, and never below 8 or above 120."""
    assert [degree_for(cut, 4.0) for cut in (0.01, 2.0, 1e-6)] == [30, 8, 120]


def test_the_smallest_are_found() -> None:
    values = np.random.default_rng(1).permutation(np.linspace(0.01, 4, 900))
    found = smallest(diagonal(values), 900, 30, apart=last(900))
    assert found.values == pytest.approx(np.sort(values[:-1])[:30], abs=1e-10)
    assert np.abs(found.vectors.T @ found.vectors - np.eye(30)).max() < 1e-10
    assert np.abs(found.vectors[-1]).max() < 1e-12  # what is kept apart stays apart
    assert found.residual < 1e-6


def test_copies_of_an_eigenvalue_are_all_found() -> None:
    """Each eigenvalue six times: in exact arithmetic one start sees one of the six."""
    values = np.repeat(np.linspace(0.1, 8, 100), 6)
    found = smallest(diagonal(values), 600, 20, apart=last(600))
    assert found.values == pytest.approx(np.sort(values)[:20], abs=1e-8)


@pytest.mark.parametrize("zeros", [0, 29])
def test_thirty_zeros(zeros: int) -> None:
    """Announced or not."""
    values = np.concatenate([np.zeros(30), np.linspace(0.2, 4, 570)])
    found = smallest(diagonal(values), 600, 40, apart=np.eye(600)[:, :1], zeros=zeros)
    assert found.values == pytest.approx(np.sort(values)[1:41], abs=1e-8)
    assert int((found.values < eigenvectors.ZERO).sum()) == 29


@pytest.mark.parametrize("missed", range(0, 30, 3))
def test_what_was_missed_is_noticed_however_small(missed: int) -> None:
    """Thirty-one smallest from 1e-7 to 2e-5 beside others of order 1, one of them not known."""
    values = np.concatenate([np.logspace(-7, -4, 40), np.linspace(0.01, 4, 860)])
    product, axes = diagonal(values), np.eye(900)
    cut, highest = cut_for(product, 900, 100, np.random.default_rng(0))
    made = eigenvectors._filter_of(degree_for(cut, highest), cut, highest)
    known = [900 - 1, *range(31)]
    bound = values[30] * (1 - eigenvectors.SAME)
    assert not eigenvectors._below(product, bound, made, axes[:, known], np.random.default_rng(1))
    known.remove(missed)
    assert eigenvectors._below(product, bound, made, axes[:, known], np.random.default_rng(1))


def test_a_cut_that_was_guessed_too_low_is_raised(monkeypatch) -> None:
    values = np.linspace(0.01, 4, 900)
    monkeypatch.setattr(eigenvectors, "cut_for", lambda *_: (0.03, 4.04))
    found = smallest(diagonal(values), 900, 30, apart=last(900))
    assert found.values == pytest.approx(values[:30], abs=1e-8)


def test_where_lanczos_gives_up_what_it_has_is_used(monkeypatch) -> None:
    """Five of thirty vectors are handed over the first time; the searches after that bring the others."""
    calls = []

    def tired(operator, count, **settings):
        values, vectors = eigsh(operator, count, **settings)
        calls.append(count)
        if len(calls) == 1:
            raise ArpackNoConvergence("%s", values[-5:], vectors[:, -5:])
        return values, vectors

    monkeypatch.setattr(eigenvectors, "eigsh", tired)
    values = np.linspace(0, 4, 900)
    found = smallest(diagonal(values), 900, 30, apart=np.eye(900)[:, :1])  # the constant, whose eigenvalue is 0
    assert len(calls) > 1
    assert found.values == pytest.approx(values[1:31], abs=1e-8)
    assert np.abs(found.vectors[0]).max() < 1e-10
    assert found.residual < 1e-5


def test_rough_vectors_are_polished() -> None:
    values = np.linspace(0, 4, 900)
    rough = np.eye(900)[:, 1:31] + 1e-4 * np.random.default_rng(0).standard_normal((900, 30))
    found = eigenvectors._settled(diagonal(values), rough, 30, 25, 0)
    assert found.residual > 1e-3
    polished = eigenvectors._polished(diagonal(values), found, 0.3, 4.04, np.eye(900)[:, :1])
    assert polished.residual < 1e-6
    assert polished.values == pytest.approx(values[1:31], abs=1e-10)
    assert np.abs(polished.vectors[0]).max() < 1e-10


def test_a_seed_gives_one_answer() -> None:
    values = np.linspace(0.01, 4, 900)
    one, two, other = (smallest(diagonal(values), 900, 5, apart=last(900), seed=seed).vectors for seed in (1, 1, 2))
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
