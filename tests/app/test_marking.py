"""The rows that an event of a picture marks; events come from a browser and may be nonsense."""

from __future__ import annotations

import marking
import numpy as np
import pytest
import streamlit as st
from dot_map import bits
from marking import rows_of, rows_with_same_text


def points(*rows: object) -> dict[str, object]:
    return {"selection": {"points": [{"customdata": row} for row in rows], "box": [], "lasso": []}}


def test_points_name_their_rows() -> None:
    assert rows_of(points(3, [1], 3, 2.0), 5) == [3, 1, 2]
    assert rows_of({"selection": {"points": [{"x": 1.0}]}}, 5) == []  # a ring has no row
    assert rows_of(points(-1, 5, "x", None, float("nan"), []), 5) == []


def test_a_map_sends_a_row_or_bits_of_rows() -> None:
    assert rows_of({"marked": {"row": 3}}, 5) == [3]
    assert rows_of({"marked": {"row": 5}}, 5) == rows_of({"marked": None}, 5) == rows_of({"marked": {}}, 5) == []
    rows = np.flatnonzero(np.random.default_rng(0).integers(0, 2, 19)).tolist()
    assert rows_of({"marked": {"rows": bits(rows, 19)}}, 19) == rows
    assert rows_of({"marked": {"rows": bits([1, 18], 19)}}, 5) == [1]


@pytest.mark.parametrize(
    "event",
    [None, "x", {"selection": None}, {"selection": {"points": "x"}}, {"marked": "x"}, {"marked": {"row": "1"}},
     {"marked": {"rows": "?"}}, {"marked": {"rows": 5}}],
)  # fmt: skip
def test_nonsense_marks_nothing(event: object) -> None:
    assert rows_of(event, 5) == []


def test_a_mark_in_the_other_picture_is_shown_in_both(monkeypatch: pytest.MonkeyPatch) -> None:
    state = marking.Marked(source="left", rows=[1, 2])
    monkeypatch.setattr(st, "session_state", {marking.STATE: state, "picture-right": points(3, 4)})
    marking.on_marked("right", "picture-right", 5, list)
    assert (state.source, state.rows, state.baked) == ("right", [3, 4], [1, 2])  # the right shows the new rows itself


def test_rows_with_the_same_text() -> None:
    assert rows_with_same_text([0, 1], ["a", "b"], ["b", "x", "a"]) == [2, 0]
    assert rows_with_same_text([1], ["a", "b"], ["a", "b"]) == [1]
