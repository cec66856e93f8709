"""Panels lie where plotly would put them, and classes look different."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots
from scipy.spatial.distance import pdist

from labkit.figures.drawing import Entries, figure_of
from labkit.figures.palette import COLOURS, style
from labkit.figures.panels import grid, on, side_by_side, stacked


@pytest.mark.parametrize("shared", [False, True])
def test_panels_side_by_side_are_where_plotly_puts_them(shared: bool) -> None:
    titles = ["one", "two", "three"]
    y: Entries = {"gridcolor": "#808080"}
    layout = side_by_side(titles, gap=0.07, size=13, x={"title": "t"}, y=y, shared=shared)
    ours = figure_of([{"type": "bar", "y": [1]} | on(panel) for panel in (1, 2, 3)], **layout)
    theirs = make_subplots(1, 3, horizontal_spacing=0.07, subplot_titles=titles, shared_yaxes=shared)
    same_axes(ours, theirs, 3)
    assert [(note.text, note.y) for note in ours.layout.annotations] == [(title, 1.0) for title in titles]
    places = [note.x for note in theirs.layout.annotations]
    assert [note.x for note in ours.layout.annotations] == pytest.approx(places)
    assert [bar.xaxis for bar in ours.data] == ["x", "x2", "x3"]
    assert ours.layout.xaxis3.title.text == "t"
    assert ours.layout.yaxis2.gridcolor == "#808080"


def test_panels_above_each_other_are_where_plotly_puts_them() -> None:
    ours = figure_of([], **stacked((0.5, 0.3, 0.2), gap=0.06, x={}, y={}))
    same_axes(ours, make_subplots(3, 1, vertical_spacing=0.06, row_heights=[0.5, 0.3, 0.2]), 3)


def same_axes(ours: go.Figure, theirs: go.Figure, panels: int) -> None:
    for name in (f"{letter}axis{panel if panel > 1 else ''}" for letter in "xy" for panel in range(1, panels + 1)):
        mine, other = ours.layout[name], theirs.layout[name]
        assert mine.domain == pytest.approx(other.domain)
        assert (mine.anchor, mine.matches, mine.showticklabels) == (other.anchor, other.matches, other.showticklabels)


def test_thirty_six_classes_look_different() -> None:
    assert len({style(number) for number in range(36)}) == 36
    assert style(36) == style(0)


def test_panels_of_a_grid_do_not_overlap_and_go_row_by_row() -> None:
    layout = grid(["a", "b", "c"], columns=2, gap=(0.1, 0.2), size=12, x={"visible": True}, y={})
    assert layout["xaxis"]["domain"] == layout["xaxis3"]["domain"] == pytest.approx([0, 0.45])
    assert layout["xaxis2"]["domain"] == pytest.approx([0.55, 1])
    assert layout["yaxis"]["domain"] == layout["yaxis2"]["domain"] == pytest.approx([0.6, 1])
    assert layout["yaxis3"]["domain"] == pytest.approx([0, 0.4])
    assert layout["xaxis3"]["visible"]
    assert [(each["text"], each["y"]) for each in layout["annotations"]] == [("a", 1.0), ("b", 1.0), ("c", 0.4)]


def test_colours_stay_apart_for_eyes_that_do_not_tell_red_from_green() -> None:
    """Deuteranopia as Machado, Oliveira and Fernandes (2009) simulate it, on linear RGB."""
    seen = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
    rgb = np.array([[int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)] for colour in COLOURS])
    shown = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ seen.T
    assert pdist(shown.clip(0, 1)).min() > 0.1
