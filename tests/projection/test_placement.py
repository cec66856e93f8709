"""New sentences in a picture: PCA's is exact, the others' is a mean whose weights are known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from labkit.projection import Projection, aligned, place, project
from labkit.sbert_lp import LocalityPreserving


def clouds() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    centres = 3 * random.standard_normal((3, 1, 12))
    rows = (centres + random.standard_normal((3, 40, 12))).reshape(-1, 12)
    return rows, np.repeat(np.arange(3), 40)


def test_pca_places_exactly() -> None:
    rows, _ = clouds()
    found = project(rows[:100], measure=False)
    _, _, vt = np.linalg.svd(rows[:100] - rows[:100].mean(axis=0))
    wanted = (rows[100:] - rows[:100].mean(axis=0)) @ vt[:2].T
    for base, new in ((rows[:100], rows[100:]), (sparse.csr_array(rows[:100]), sparse.csr_array(rows[100:]))):
        placed = place(found, base, new)
        np.testing.assert_allclose(np.abs(placed.points), np.abs(wanted), atol=1e-4)
        assert placed.points.dtype == np.float32
        assert "exactly" in placed.how
        assert placed.weights is None


@pytest.mark.parametrize("method", ["pca", "tsne", "lle"])
def test_a_sentence_of_the_picture_lands_on_itself_also_after_turning(method: str) -> None:
    rows, _ = clouds()
    found = project(rows, method, measure=False)
    for picture in (found, aligned(found, project(rows[::-1], measure=False), scale=3.0)):
        np.testing.assert_allclose(place(picture, rows, rows[:7]).points, picture.points[:7], atol=2e-4)


@pytest.mark.parametrize("method", ["tsne", "lle"])
def test_a_new_sentence_lands_among_its_class(method: str) -> None:
    rows, labels = clouds()
    known = np.arange(len(rows)) % 4 > 0
    found = project(rows[known], method, measure=False)
    placed = place(found, rows[known], rows[~known])
    np.testing.assert_allclose(placed.weights.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(
        placed.points, (placed.weights[:, :, None] * found.points[placed.neighbours]).sum(axis=1), atol=1e-5
    )
    nearest = ((placed.points[:, None] - found.points[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert (labels[known][nearest] == labels[~known]).mean() > 0.9
    assert "nearest embeddings" in placed.how


def test_weights_by_hand() -> None:
    """At the same distance from two points of four, far from the others: half way between these two."""
    rows = np.array([[0.0, 0], [2, 0], [900, 0], [0, 900]])
    picture = Projection("t-SNE", np.array([[0, 0], [4, 2], [50, 50], [60, 60]], np.float32), method="tsne")
    placed = place(picture, rows, np.array([[1.0, 0]]))
    np.testing.assert_allclose(placed.weights[0, :2], [0.5, 0.5], atol=0.2)
    np.testing.assert_allclose(placed.weights[0, 0], placed.weights[0, 1])
    assert placed.neighbours[0, :2].tolist() == [0, 1]


def test_about_three_neighbours_count() -> None:
    """exp of the weights' entropy: nearly all of one would show nothing new, nearly all alike only the middle."""
    rows, _ = clouds()
    placed = place(project(rows[:100], "tsne", measure=False), rows[:100], rows[100:])
    weights = np.clip(placed.weights.astype(np.float64), 1e-12, None)
    np.testing.assert_allclose(np.exp(-(weights * np.log(weights)).sum(axis=1)), 3, rtol=1e-3)


def test_lle_places_as_its_own_transform_does() -> None:
    rows, _ = clouds()
    new = rows[:5] + 0.1
    found = project(rows, "lle", neighbours=50, measure=False)
    own = LocalityPreserving(50, 2, random_state=0).fit(rows)
    np.testing.assert_allclose(found.points, own.embedding_, atol=1e-5)
    np.testing.assert_allclose(place(found, rows, new).points, own.transform(new), atol=1e-4)


def test_refusals() -> None:
    rows, _ = clouds()
    found = project(rows, measure=False)
    with pytest.raises(ValueError, match="embeddings has 5 rows, expected 120 like the picture"):
        place(found, rows[:5], rows[:1])
    with pytest.raises(ValueError, match="new has 3 columns, expected 12"):
        place(found, rows, np.zeros((1, 3)))
    with pytest.raises(ValueError, match="new holds 12 NaN"):
        place(found, rows, np.full((1, 12), np.nan))
