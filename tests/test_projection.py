"""Pictures: PCA against a plain SVD, t-SNE by what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from labkit.projection import PROJECTIONS, pca, tsne


def clouds(count: int = 40) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    centres = random.standard_normal((3, 20)) * 4
    labels = np.repeat(np.arange(3), count)
    return centres[labels] + random.standard_normal((3 * count, 20)), labels


def test_pca_is_the_svd_of_the_centred_rows() -> None:
    vectors, _ = clouds()
    u, sigma, _ = np.linalg.svd(vectors - vectors.mean(0), full_matrices=False)
    found = pca(vectors)
    np.testing.assert_allclose(np.abs(found.points), np.abs(u[:, :2] * sigma[:2]), rtol=1e-4, atol=1e-4)
    assert found.shown == pytest.approx((sigma[:2] ** 2).sum() / (sigma**2).sum())


def test_tsne_keeps_clusters_together() -> None:
    vectors, labels = clouds()
    found = tsne(vectors).points
    assert KNeighborsClassifier(5).fit(found[::2], labels[::2]).score(found[1::2], labels[1::2]) > 0.95


@pytest.mark.parametrize("name", PROJECTIONS)
def test_same_seed_same_picture_for_dense_and_sparse(name: str) -> None:
    vectors, _ = clouds(10)
    for given in (vectors, sparse.csr_array(np.maximum(vectors, 0))):
        one, two = (PROJECTIONS[name](given, seed=1) for _ in range(2))
        assert one.points.shape == (30, 2)
        assert one.points.dtype == np.float32
        assert one.points.tobytes() == two.points.tobytes()
        assert np.isfinite(one.points).all()


@pytest.mark.parametrize("name", PROJECTIONS)
def test_few_points_one_dimension_and_zero_rows(name: str) -> None:
    assert PROJECTIONS[name](np.array([[1.0], [2.0], [3.0], [0.0], [5.0]])).points.shape == (5, 2)
    with pytest.raises(ValueError, match="vectors has 3 rows, expected at least 4"):
        PROJECTIONS[name](np.eye(3))
    with pytest.raises(ValueError, match="value in row 2 that is not finite"):
        PROJECTIONS[name](np.array([[1.0, 2], [1, 2], [np.nan, 0], [3, 1]]))
