"""PCA, whitening and all-but-the-top against worked examples, scikit-learn and their properties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from labkit.baselines.transforms import Affine, all_but_the_top, pca, principal_axes, whitening
from labkit.corpora import Labelled, load
from labkit.methods import METHODS

# mean (2, 0), spread 3 along (1, 1)/√2, spread 1 across it
CROSS = np.array([[3.0, 3.0], [-3.0, -3.0], [1.0, -1.0], [-1.0, 1.0]]) / np.sqrt(2) + [2.0, 0.0]
ROWS = np.random.default_rng(0).standard_normal((200, 12)) @ np.random.default_rng(1).standard_normal((12, 12)) + 3


def test_worked_example() -> None:
    centre, variances, _ = principal_axes(CROSS)
    np.testing.assert_allclose(centre, [2, 0], atol=1e-12)
    np.testing.assert_allclose(variances, [9 / 2, 1 / 2])
    np.testing.assert_allclose(np.abs(pca(CROSS, 1)(CROSS))[:, 0], [3, 3, 0, 0], atol=1e-6)
    np.testing.assert_allclose(
        np.abs(whitening(CROSS)(CROSS)), np.sqrt(2) * np.array([[1, 0], [1, 0], [0, 1], [0, 1]]), atol=1e-6
    )
    left = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, -1.0], [-1.0, 1.0]]) / np.sqrt(2)
    np.testing.assert_allclose(all_but_the_top(CROSS, 1)(CROSS), left, atol=1e-6)


@pytest.mark.parametrize("whiten", [False, True])
def test_against_scikit_learn(whiten: bool) -> None:
    ours = whitening(ROWS, 5)(ROWS) if whiten else pca(ROWS, 5)(ROWS)
    # scikit-learn divides by n - 1
    theirs = PCA(5, whiten=whiten).fit_transform(ROWS) * (np.sqrt(200 / 199) if whiten else 1)
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-3)


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_properties(seed: int, size: int) -> None:
    random = np.random.default_rng(seed)
    rows = random.standard_normal((60, 7)) * random.uniform(0.5, 3, 7) + random.standard_normal(7)
    white = whitening(rows, size)(rows).astype(np.float64)
    np.testing.assert_allclose(white.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(white.T @ white / 60, np.eye(size), atol=1e-4)
    kept, left = pca(rows, size)(rows), all_but_the_top(rows, size)(rows)
    np.testing.assert_allclose(left.mean(axis=0), 0, atol=1e-5)
    # what PCA keeps, all-but-the-top removes
    total = ((rows - rows.mean(axis=0)) ** 2).sum()
    np.testing.assert_allclose(
        (kept.astype(np.float64) ** 2).sum() + (left.astype(np.float64) ** 2).sum(), total, rtol=1e-4
    )


def test_directions_without_variance_are_left_out() -> None:
    mixed = ROWS[:, :2] @ [[0.37], [0.21]]  # three directions in five columns, up to rounding
    flat = np.hstack([ROWS[:, :3], mixed, np.full((200, 1), 7.0)]).astype(np.float32)
    assert whitening(flat)(flat).shape == (200, 3)
    assert pca(flat, 100)(flat).shape == (200, 3)
    assert np.isfinite(whitening(flat)(flat)).all()
    assert np.abs(whitening(flat)(flat)).max() < 10  # no amplified noise


def test_zeros_stay_zeros() -> None:
    moved = Affine(np.ones(2, np.float32), np.eye(2, dtype=np.float32))(np.array([[0, 0], [1, 2]], np.float32))
    np.testing.assert_array_equal(moved, [[0, 0], [0, 1]])
    method = METHODS["whitening"](base="lsa", dimension=2)
    method.fit(Labelled(["red cat", "red dog", "blue sky", "blue lake", "red sky"], ["x"] * 5))
    assert method.similarity(["zyx"], ["qwv"])[0, 0] == 0  # both words are unknown


@pytest.mark.parametrize("rows", [np.ones((1, 3)), np.full((4, 2), 0.1)])
@pytest.mark.parametrize("make", [pca, whitening, all_but_the_top])
def test_equal_vectors_have_no_axes(rows: np.ndarray, make: Any) -> None:
    with pytest.raises(ValueError, match=f"{len(rows)} sentences"):
        make(rows, 1)
    with pytest.raises(ValueError, match="components"):
        all_but_the_top(CROSS, 2)


def test_one_component_for_every_hundred_columns() -> None:
    wide = np.random.default_rng(2).standard_normal((40, 210))
    matrix = all_but_the_top(wide).matrix
    assert round(210 - np.trace(matrix)) == 2
    assert round(12 - np.trace(all_but_the_top(ROWS).matrix)) == 1


def test_whitening_of_a_base_whitens_the_training_sentences() -> None:
    corpus = load("questions")
    method = METHODS["whitening"](base="lsa", dimension=20)
    method.fit(corpus)
    train = corpus.part("train").sentences()
    rows = method.encode(train).astype(np.float64)
    rows = rows[np.abs(rows).sum(axis=1) > 0]
    np.testing.assert_allclose(rows.T @ rows / len(rows), np.eye(20), atol=0.01)
