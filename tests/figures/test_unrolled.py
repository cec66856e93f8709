"""The picture of a line unrolled shows what each method found, and where along the line each point lies."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.figures import unrolled
from labkit.figures.drawing import grid

ALONG = np.linspace(1, 3, 9)
POINTS = np.stack([np.cos(ALONG), 5 + np.sin(ALONG)], axis=1)


def test_each_method_has_a_panel_and_every_panel_the_colours_of_the_line() -> None:
    figure = unrolled(POINTS, ALONG, {"one": 3 * ALONG, "fallen": -ALONG, "lost": np.cos(9 * ALONG)})
    line, ends, *panels = figure.data
    np.testing.assert_allclose(np.stack([line.x, line.y], axis=1), POINTS)
    assert [each.strip() for each in ends.text] == ["start", "end"]
    np.testing.assert_allclose(np.stack([ends.x, ends.y], axis=1), POINTS[[0, -1]])
    shares = np.linspace(0, 1, 9)
    for trace in (line, *panels):
        np.testing.assert_allclose(trace.marker.color, shares)
    for trace in panels:
        np.testing.assert_allclose(trace.x, shares)
        assert (min(trace.y), max(trace.y)) == pytest.approx((0, 1))
    for trace in panels[:2]:  # neither a sign nor a size is told
        np.testing.assert_allclose(trace.y, shares, atol=1e-12)
    assert (np.diff(panels[2].y) < 0).any()
    assert [each.text for each in figure.layout.annotations][1:] == ["one", "fallen", "lost"]


def test_what_does_not_go_together_is_told() -> None:
    with pytest.raises(ValueError, match="shape"):
        unrolled(POINTS, ALONG[:-1], {})
    with pytest.raises(ValueError, match="'one' has 8 numbers"):
        unrolled(POINTS, ALONG, {"one": ALONG[:-1]})


def test_panels_of_a_grid_do_not_overlap_and_go_row_by_row() -> None:
    layout = grid(["a", "b", "c"], columns=2, gap=(0.1, 0.2), size=12, x={"visible": True}, y={})
    assert layout["xaxis"]["domain"] == layout["xaxis3"]["domain"] == pytest.approx([0, 0.45])
    assert layout["xaxis2"]["domain"] == pytest.approx([0.55, 1])
    assert layout["yaxis"]["domain"] == layout["yaxis2"]["domain"] == pytest.approx([0.6, 1])
    assert layout["yaxis3"]["domain"] == pytest.approx([0, 0.4])
    assert layout["xaxis3"]["visible"]
    assert [(each["text"], each["y"]) for each in layout["annotations"]] == [("a", 1.0), ("b", 1.0), ("c", 0.4)]
