"""Pictures over epochs: alignment, common axes, and the scores of a training's journey."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from labkit.evaluation.classes import separation
from labkit.figures import clusters_over_epochs
from labkit.projection import Projection, aligned, epochs, laid_over, procrustes, project
from labkit.projection.epochs import Journey, journey, picture_radius
from labkit.runs import Snapshots


def training(count: int = 4, size: int = 40) -> np.ndarray:
    """Snapshots (e, n, d) of two classes that move apart."""
    random = np.random.default_rng(0)
    rows, apart = random.standard_normal((size, 10)), np.repeat([[1.0], [-1.0]], size // 2, axis=0) * np.eye(10)[3]
    return np.stack([rows + step * apart for step in range(count)])


def test_quarter_turn_and_a_mirror_by_hand() -> None:
    points = np.array([[2.0, 0], [0, 1], [-2, 0], [0, -1]])
    turned = points @ np.array([[0.0, 1], [-1, 0]]) + 7
    np.testing.assert_allclose(procrustes(turned, points), [[0, -1], [1, 0]], atol=1e-12)
    lopsided = np.array([[2.0, 0], [0, 1], [-2, 0], [1, -1]])
    np.testing.assert_allclose(procrustes(lopsided * [1, -1], lopsided), [[1, 0], [0, -1]], atol=1e-12)


def test_alignment_moves_points_and_basis_together_and_keeps_distances() -> None:
    rows = training()[0] + 3
    one, two = project(rows, measure=False), project(training()[1], measure=False)
    moved = aligned(one, two, scale=2.0)
    beside = epochs([rows, 2 * rows + 5], common=True, measure=False)[0]  # not around 0: both epochs share a centre
    assert np.abs(beside.points.mean(axis=0)).max() > 1
    for picture in (aligned(one), moved, aligned(beside, two)):
        np.testing.assert_allclose(picture.points, picture.basis(rows), atol=1e-4)
        np.testing.assert_allclose(picture.points.mean(axis=0), 0, atol=1e-5)
    assert picture_radius(moved.points) == pytest.approx(2 * picture_radius(one.points), rel=1e-5)
    far = np.linalg.norm(moved.points - 2 * two.points, axis=1).sum()
    assert far <= np.linalg.norm(2 * one.points - 2 * two.points, axis=1).sum()


@pytest.mark.parametrize("method", ["pca", "tsne", "lle"])
def test_aligned_pictures_are_nearer_to_each_other(method: str) -> None:
    snapshots = training(3)
    pictures = epochs(snapshots, method, measure=False)
    assert [picture.points.shape for picture in pictures] == [(40, 2)] * 3
    for a, b in pairwise(pictures):
        np.testing.assert_allclose(procrustes(b.points, a.points), np.eye(2), atol=1e-3)
    sizes = [picture_radius(picture.points) for picture in pictures]
    if method == "pca":
        assert sizes[0] < sizes[1] < sizes[2]  # the classes visibly move apart
    else:
        assert sizes == pytest.approx([sizes[0]] * 3, rel=1e-4)


@pytest.mark.parametrize("sparsely", [False, True])
def test_one_basis_for_all_epochs(sparsely: bool) -> None:
    snapshots = training()
    given = [sparse.csr_array(rows) for rows in snapshots] if sparsely else snapshots
    pictures = epochs(given, "pca", common=True)
    assert len({id(picture.basis) for picture in pictures}) == 1
    ways = np.diff([picture.points for picture in pictures], axis=0)
    np.testing.assert_allclose(ways[0], ways[2], atol=1e-4)  # straight, like the paths of the vectors
    for rows, picture in zip(snapshots, pictures, strict=True):
        np.testing.assert_allclose(picture.shown, picture.points.var(axis=0).sum() / rows.var(axis=0).sum(), rtol=1e-4)
    assert pictures[-1].shown > pictures[0].shown


# --- the journey of a run ----------------------------------------------------------------------------------------


EVIL = "<b>x</b><img src=//a>"


@pytest.fixture(scope="module")
def snapshots() -> Snapshots:
    """Twelve sentences in three classes that contract."""
    random = np.random.default_rng(0)
    labels = tuple(name for name in ("a", EVIL, "c") for _ in range(4))
    centres = np.repeat(random.normal(size=(3, 5)), 4, axis=0)
    noise = random.normal(size=(12, 5))
    vectors = np.stack([centres + noise / (epoch + 1) for epoch in range(3)]).astype(np.float32)
    return Snapshots(tuple(f"{EVIL} {row}" for row in range(12)), labels, np.array([0, 2, 4]), vectors)


@pytest.fixture(scope="module")
def found(snapshots: Snapshots) -> Journey:
    return journey(snapshots, "pca", common=True)


def test_scores_are_those_of_the_unit_vectors_and_of_the_pictures(snapshots: Snapshots, found: Journey) -> None:
    for place, vectors in enumerate(snapshots.vectors):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        assert found.space[place] == separation(unit, snapshots.labels)
        assert found.drawn[place] == separation(found.pictures[place].points, snapshots.labels)
    assert found.epochs == (0, 2, 4)
    assert found.space[2].ratio > found.space[0].ratio
    rows = found.rows()
    assert len(rows) == 6
    expected = {"epoch": 4, "measured in": "the embedding space", **vars(found.space[2])}
    assert rows[4] == {name: value for name, value in expected.items() if name != "by_class"}


def test_each_picture_of_a_journey_has_the_shape_of_its_epoch_and_fills_the_axes() -> None:
    rows = np.stack([np.random.default_rng(0).normal(size=(9, 4)) * share + 1 for share in (1e-3, 0.1, 1)])
    texts, labels = tuple(map(str, range(9))), ("a", "b", "c") * 3
    found = journey(Snapshots(texts, labels, np.arange(3), rows.astype(np.float32)), "pca", common=True)
    plain = epochs([each / np.linalg.norm(each, axis=1, keepdims=True) for each in rows], "pca", common=True)
    for picture, bare in zip(found.pictures, plain, strict=True):
        wide, high = np.ptp(picture.points, axis=0)
        assert max(wide / 1.5, high) == pytest.approx(1)
        apart, expected = pdist(picture.points), pdist(bare.points)
        np.testing.assert_allclose(apart / apart.max(), expected / expected.max(), atol=1e-4)
    assert wide > high  # in the last picture


def test_points_move_and_axes_do_not(found: Journey) -> None:
    figure = clusters_over_epochs(found, at=1)
    points = np.concatenate([picture.points for picture in found.pictures])
    (low_x, high_x), (low_y, high_y) = figure.layout.xaxis.range, figure.layout.yaxis.range
    assert low_x < points[:, 0].min() < points[:, 0].max() < high_x
    assert low_y < points[:, 1].min() < points[:, 1].max() < high_y
    assert [frame.name for frame in figure.frames] == ["0", "2", "4"]
    for place, frame in enumerate(figure.frames):
        assert not frame.layout.to_plotly_json()
        for trace, moved in zip(figure.data[:3], frame.data, strict=False):
            expected = found.pictures[place].points[trace.customdata]
            np.testing.assert_allclose(np.stack([moved.x, moved.y], 1), expected, atol=1e-4)
        assert list(frame.data[-2].y) == [found.space[place].ratio, found.drawn[place].ratio]
        assert frame.name in frame.data[-1].text[0]  # the shown epoch follows
        assert list(frame.traces) == [0, 1, 2, 3, 4, 7, 8]
    dots = [set(frame.data[-2].ids) for frame in figure.frames]  # distinct ids, so that no dot moves between frames
    assert not set.intersection(*dots)
    np.testing.assert_array_equal(figure.data[0].x, found.pictures[1].points[:4, 0])
    assert list(figure.data[5].y) == [each.ratio for each in found.space]
    play = figure.layout.updatemenus[0].buttons[0]
    assert list(play.args[0]) == ["0", "2", "4"]  # all epochs, whichever is shown
    assert play.args[1]["transition"]["duration"] > 0
    back = clusters_over_epochs(found, kept=2, back=True).layout.updatemenus[0].buttons[0]
    assert list(back.args[0]) == ["0", "2", "4", "2"]  # it ends at the epoch whose weights are kept


def test_laid_over_removes_rotation_shift_and_scale() -> None:
    onto = np.random.default_rng(0).standard_normal((40, 2)).astype(np.float32)
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    old, new = laid_over(Projection("t-SNE", (5 + 3 * onto @ turn).astype(np.float32)), Projection("PCA", onto + 7))
    np.testing.assert_allclose(old.points, new.points, atol=1e-5)
    np.testing.assert_allclose(new.points, onto - onto.mean(axis=0), atol=1e-5)
    (flat, _) = laid_over(Projection("PCA", np.ones((40, 2), np.float32)), new)
    assert not flat.points.any()


def test_invalid_arguments() -> None:
    for argument, call in {
        "common": lambda: epochs(training(), "tsne", common=True),
        "snapshots": lambda: journey(Snapshots((), ())),
    }.items():
        with pytest.raises(ValueError, match=argument):
            call()
