"""A journey: an epoch's figures are those of its vectors and of its picture; its figure moves points, never axes."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.evaluation.classes import separation
from labkit.figures import clusters_over_epochs
from labkit.projection.epochs import Journey, journey
from labkit.runs import Snapshots

EVIL = "<b>x</b><img src=//a>"


@pytest.fixture(scope="module")
def snapshots() -> Snapshots:
    """Twelve sentences of three classes that draw together."""
    random = np.random.default_rng(0)
    labels = tuple(name for name in ("a", EVIL, "c") for _ in range(4))
    centres = np.repeat(random.normal(size=(3, 5)), 4, axis=0)
    noise = random.normal(size=(12, 5))
    vectors = np.stack([centres + noise / (epoch + 1) for epoch in range(3)]).astype(np.float32)
    return Snapshots(tuple(f"{EVIL} {row}" for row in range(12)), labels, np.array([0, 2, 4]), vectors)


@pytest.fixture(scope="module")
def found(snapshots: Snapshots) -> Journey:
    return journey(snapshots, "pca", common=True)


def test_figures_are_those_of_the_unit_vectors_and_of_the_pictures(snapshots: Snapshots, found: Journey) -> None:
    for place, vectors in enumerate(snapshots.vectors):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        assert found.space[place] == separation(unit, snapshots.labels)
        assert found.drawn[place] == separation(found.pictures[place].points, snapshots.labels)
    assert found.epochs == (0, 2, 4)
    assert found.space[2].ratio > found.space[0].ratio
    rows = found.rows()
    assert len(rows) == 6
    assert rows[4] == {"epoch": 4, "measured in": "the embedding space", **vars(found.space[2])}


def test_points_move_and_axes_do_not(found: Journey) -> None:
    figure = clusters_over_epochs(found, at=1)
    points = np.concatenate([picture.points for picture in found.pictures])
    (low_x, high_x), (low_y, high_y) = figure.layout.xaxis.range, figure.layout.yaxis.range
    assert low_x < points[:, 0].min() < points[:, 0].max() < high_x
    assert low_y < points[:, 1].min() < points[:, 1].max() < high_y
    assert [frame.name for frame in figure.frames] == ["0", "2", "4"]
    for place, frame in enumerate(figure.frames):
        assert set(frame.layout.to_plotly_json()) == {"annotations"}
        for trace, moved in zip(figure.data[:3], frame.data, strict=False):
            expected = found.pictures[place].points[trace.customdata]
            np.testing.assert_allclose(np.stack([moved.x, moved.y], 1), expected, atol=1e-4)
        assert list(frame.data[-1].y) == [found.space[place].ratio, found.drawn[place].ratio]
        assert list(frame.traces) == [0, 1, 2, 3, 4, 7]
    np.testing.assert_array_equal(figure.data[0].x, found.pictures[1].points[:4, 0])
    assert list(figure.data[5].y) == [each.ratio for each in found.space]
    play = figure.layout.updatemenus[0].buttons[0]
    assert list(play.args[0]) == ["0", "2"]  # to the epoch it stands at
    assert play.args[1]["transition"]["duration"] > 0


def test_marks_and_names(found: Journey) -> None:
    figure = clusters_over_epochs(found, chosen=[0, 4, 5], found=[1, 5], ring=4)
    assert [list(trace.selectedpoints) for trace in figure.data[:3]] == [[0], [0, 1], []]
    for place, rows in ((3, [1, 5]), (4, [4])):  # rings, which travel with their points
        assert list(figure.data[place].x) == pytest.approx(found.pictures[2].points[rows, 0].tolist())
        assert list(figure.frames[0].data[place].x) == pytest.approx(found.pictures[0].points[rows, 0], abs=1e-4)
    assert figure.data[3].marker.size < figure.data[4].marker.size
    assert (figure.data[3].name, figure.data[3].showlegend) == ("found", True)
    assert not clusters_over_epochs(found).data[3].showlegend
    assert "<b>" not in figure.data[1].name
    assert "<img" not in figure.data[1].text[0]
    with pytest.raises(ValueError, match="at is 3, expected 0 to 2"):
        clusters_over_epochs(found, at=3)


def test_without_snapshots_it_says_what_to_train() -> None:
    with pytest.raises(ValueError, match="labkit train sentpwnet"):
        journey(Snapshots((), ()))
