"""Panels lie where plotly would put them, and classes look different."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots
from scipy.spatial.distance import pdist

from labkit.figures.drawing import figure_of
from labkit.figures.panels import side_by_side, stacked
from labkit.palette import COLOURS, style


@pytest.mark.parametrize("shared", [False, True])
def test_panels_side_by_side_are_where_plotly_puts_them(shared: bool) -> None:
    titles = ["one", "two", "three"]
    layout = side_by_side(titles, gap=0.07, size=13, x={"title": "t"}, y={}, shared=shared)
    same_axes(figure_of([], **layout), make_subplots(1, 3, horizontal_spacing=0.07, shared_yaxes=shared), 3)
    assert [note["text"] for note in layout["annotations"]] == titles


def test_panels_in_rows_are_where_plotly_puts_them() -> None:
    layout = side_by_side(["a", "b", "c"], columns=2, gap=(0.1, 0.2), size=12, x={}, y={})
    theirs = make_subplots(2, 2, horizontal_spacing=0.1, vertical_spacing=0.2, subplot_titles=["a", "b", "c"])
    same_axes(figure_of([], **layout), theirs, 3)
    places = [(note.x, note.y) for note in theirs.layout.annotations]
    assert [(note["x"], note["y"]) for note in layout["annotations"]] == [pytest.approx(place) for place in places]
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


def test_colours_stay_apart_for_eyes_that_do_not_tell_red_from_green() -> None:
    """Deuteranopia as Machado, Oliveira and Fernandes (2009) simulate it, on linear RGB."""
    seen = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
    rgb = np.array([[int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)] for colour in COLOURS])
    shown = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ seen.T
    assert pdist(shown.clip(0, 1)).min() > 0.1
