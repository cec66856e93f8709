"""The guessed shape of a spectrum: exact where Lanczos can go all its way, and near enough where it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from labkit.sbert_lp import eigenvectors
from labkit.sbert_lp.eigenvectors import cut_for


def test_lanczos_of_all_steps_is_exact() -> None:
    random = np.random.default_rng(0)
    half = random.standard_normal((12, 12))
    M, start = half @ half.T, random.standard_normal(12)
    start /= np.linalg.norm(start)
    values, first, rest = eigenvectors._tridiagonal(lambda x: M @ x, start, 12)
    wanted, vectors = linalg.eigh(M)
    assert values == pytest.approx(wanted, abs=1e-8)
    assert first**2 == pytest.approx((vectors.T @ start) ** 2, abs=1e-8)
    assert rest == pytest.approx(0, abs=1e-6)


def test_the_cut_lies_about_where_it_should() -> None:
    values = np.linspace(0, 1, 5_000) ** 2
    cut, highest = cut_for(lambda x: values * x, 5_000, 250, np.random.default_rng(0))
    assert 100 < (values < cut).sum() < 500
    assert 1 <= highest < 1.5
