"""A brush keeps what an event names, and nothing that makes no sense: events come from a browser."""

from __future__ import annotations

import numpy as np
import pytest
from marking import MOST, Brush, brush_of, rows_with_same_text


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


def test_of_many_points_only_the_corners_of_boxes_count() -> None:
    event = points(1, 2)
    good = {"x": [4, 1.5], "y": [0, -2]}
    event["selection"]["box"] = [good, {"x": [1], "y": [0, 1]}, {"x": ["a", 2], "y": [0, 1]}, {"x": [float("inf"), 2]}]  # type: ignore[index]
    assert brush_of(event, MOST + 1) == Brush(boxes=((1.5, 4.0, -2.0, 0.0),))
    assert brush_of(event, MOST) == Brush(rows=(1, 2))


def test_inside_by_row_and_by_box() -> None:
    drawn = np.array([[0, 0], [1, 1], [2, 2], [3, 3]], np.float32)
    assert Brush(rows=(3, 0, 99)).inside(drawn).tolist() == [0, 3]
    assert Brush(boxes=((0.5, 2, 0.5, 2), (3, 9, 3, 9))).inside(drawn).tolist() == [1, 2, 3]
    assert Brush(boxes=((0.5, 2, 5, 9),)).inside(drawn).tolist() == []


def test_rows_with_the_same_text() -> None:
    assert rows_with_same_text([0, 1], ["a", "b"], ["b", "x", "a"]) == [2, 0]
    assert rows_with_same_text([1], ["a", "b"], ["a", "b"]) == [1]
