"""A brush keeps what an event names, and nothing that makes no sense: events come from a browser."""

from __future__ import annotations

import marking
import numpy as np
import pytest
import streamlit as st
from marking import CORNERS, Brush, brush_of, brush_on_map, in_polygon, rows_with_same_text


def points(*rows: object) -> dict[str, object]:
    return {"selection": {"points": [{"customdata": row} for row in rows], "box": [], "lasso": []}}


def test_points_by_their_rows() -> None:
    assert brush_of(points(3, [1], 3, 2.0), 5) == Brush(rows=(3, 1, 2))
    assert brush_of({"selection": {"points": [{"x": 1.0}]}}, 5) == Brush()


@pytest.mark.parametrize(
    "event",
    [None, {}, "x", {"selection": None}, {"selection": {"points": "x"}}, points(-1, 5, "x", None, float("nan"), [])],
)
def test_nonsense_marks_nothing(event: object) -> None:
    assert not brush_of(event, 5)


def test_a_mark_in_the_other_picture_is_shown_in_both(monkeypatch: pytest.MonkeyPatch) -> None:
    state = marking.Marked(source="left", now=Brush(rows=(1, 2)))
    monkeypatch.setattr(st, "session_state", {marking.STATE: state, "picture-right": points(3, 4)})
    marking.on_marked("right", "picture-right", 5, list)
    assert state.of("left") == state.of("right") == Brush(rows=(3, 4))


# --- polygons ----------------------------------------------------------------------------------------------------

TRIANGLE = ((0.0, 0.0), (4.0, 0.0), (0.0, 4.0))
LATTICE = np.array([[x, y] for y in range(5) for x in range(5)], np.float32)  # (0, 0), (1, 0), ...


def winding(point: np.ndarray, corners: np.ndarray) -> int:
    """How often a polygon goes round a point: the angles from corner to corner, seen from there, over a full turn."""
    seen = corners - point
    turns = np.angle((np.roll(seen, -1, 0) @ [1, 1j]) / (seen @ [1, 1j]))
    return round(float(turns.sum()) / (2 * np.pi))


def test_points_in_a_triangle_by_hand() -> None:
    inside = in_polygon(LATTICE, [(0.5, 0.5), (3.7, 0.5), (0.5, 3.7)])
    assert LATTICE[inside].tolist() == [[1, 1], [2, 1], [3, 1], [1, 2], [2, 2], [1, 3]]
    assert LATTICE[in_polygon(LATTICE, TRIANGLE[::-1])].tolist() == LATTICE[in_polygon(LATTICE, TRIANGLE)].tolist()


def test_a_star_of_one_line_leaves_out_what_it_goes_round_twice() -> None:
    star = [(np.cos(turn), np.sin(turn)) for turn in np.arange(5) * 4 * np.pi / 5]
    assert in_polygon(np.array([[0, 0], [0.8, 0.0], [2, 0]]), star).tolist() == [False, True, False]


@pytest.mark.parametrize("seed", range(2))
def test_points_in_a_polygon_as_by_winding_numbers(seed: int) -> None:
    generator = np.random.default_rng(seed)
    angles = np.sort(generator.uniform(0, 2 * np.pi, 40))
    corners = (generator.uniform(0.3, 2, 40) * [np.cos(angles), np.sin(angles)]).T
    points = generator.normal(size=(500, 2))
    wanted = [winding(point, corners) % 2 == 1 for point in points]
    assert in_polygon(points, [tuple(corner) for corner in corners.tolist()]).tolist() == wanted
    assert 0 < sum(wanted) < 500


def test_polygons_side_by_side_share_no_point_and_lose_none() -> None:
    tiles = [((x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)) for x in range(5) for y in range(5)]
    halves = [[*tile[:3]] for tile in tiles] + [[tile[0], *tile[2:]] for tile in tiles]
    assert sum(in_polygon(LATTICE, half).astype(int) for half in halves).tolist() == [1] * 25


def drawn(polygon: object) -> dict[str, object]:
    return {"marked": {"polygon": polygon}}


def test_a_map_sends_a_row_or_corners() -> None:
    assert brush_on_map({"marked": {"row": 3}}, 5) == Brush(rows=(3,))
    assert brush_on_map(drawn([[0, 0], [4, 0], [0, 4]]), 5) == Brush(polygons=(TRIANGLE,))
    assert brush_on_map(drawn([[0, i] for i in range(CORNERS)]), 5)
    assert Brush(rows=(0,), polygons=(TRIANGLE,)).inside(LATTICE[[7, 24, 6]]).tolist() == [0, 2]


BAD_CORNERS: list[object] = [
    None, "abc", [], [[0, 0], [1, 1]], [[0, 0], [4, 0], [0, float("nan")]], [[0, 0], [4, 0], [0, float("inf")]],
    [[0, 0], [4, 0], [0, 10**400]], [[0, 0], [4, 0], ["0", 4]], [[0, 0], [4, 0], [0, 4, 1]], {"0": [0, 0]},
    [[0, 0], [4, 0], [0, 4], "x"], [[0, i] for i in range(CORNERS + 1)],
]  # fmt: skip


def test_nonsense_marks_nothing_on_a_map() -> None:
    for event in (None, {}, {"marked": None}, {"marked": "x"}, {"marked": {"row": 5}}, {"marked": {"row": "1"}}):
        assert not brush_on_map(event, 5)
    for corners in BAD_CORNERS:
        assert not brush_on_map(drawn(corners), 5), corners


def test_rows_with_the_same_text() -> None:
    assert rows_with_same_text([0, 1], ["a", "b"], ["b", "x", "a"]) == [2, 0]
    assert rows_with_same_text([1], ["a", "b"], ["a", "b"]) == [1]
