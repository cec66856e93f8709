"""Figures of the notebooks on training carry their records' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.figures import seed_dots, three_encoders, threshold_curves
from labkit.figures.drawing import COLOURS
from labkit.lab.course.ablation import Figures


def table() -> Figures:
    values = {"one": (0.80, 0.82, 0.84), "two": (0.70, 0.70, 0.73), "<b>still</b>": (0.5,)}
    cells = {name: {seed: {"auc": value} for seed, value in enumerate(each)} for name, each in values.items()}
    return Figures("t", "f", cells, {})


def test_seed_dots_show_every_seed_the_means_and_the_band_of_ties() -> None:
    figure = seed_dots(table(), "auc")
    dots, means = figure.data
    assert list(dots.x) == [0.80, 0.82, 0.84, 0.70, 0.70, 0.73, 0.5]
    assert list(dots.y) == [0, 0, 0, 1, 1, 1, 2]
    assert list(means.x) == pytest.approx([0.82, 0.71, 0.5])
    assert list(means.error_x.array) == pytest.approx([0.02, 3**0.5 / 100, 0.0])
    band = figure.layout.shapes[0]
    assert (band.x0, band.x1) == pytest.approx((0.80, 0.84))
    assert list(figure.layout.yaxis.ticktext)[:2] == ["one", "two"]
    assert "<b>" not in figure.layout.yaxis.ticktext[2]  # a name is text, no markup
    with pytest.raises(ValueError, match="has not"):
        seed_dots(table(), "f1")


def test_threshold_curves_mark_what_dev_chooses_and_what_leaks() -> None:
    dev, test = np.array([0.1, 0.2, 0.8, 0.9]), np.array([0.1, 0.6, 0.7, 0.9])
    figure = threshold_curves(dev, np.array([0, 0, 1, 1]), test, np.array([0, 0, 1, 1]))
    traces = {trace.name: trace for trace in figure.data}
    assert traces["chosen on dev"].x[0] == pytest.approx(0.5)
    assert traces["chosen on dev"].y[0] == 0.75  # 0.6 is called the same
    assert traces["chosen on test: leaks"].x[0] == pytest.approx(0.65)
    assert traces["chosen on test: leaks"].y[0] == 1.0
    curve = dict(zip(np.round(traces["dev"].x, 3), traces["dev"].y, strict=True))
    assert curve[0.5] == 1.0
    assert curve[0.1] == 0.75
    assert curve[0.9] == 0.5


def test_three_encoders_show_which_places_get_into_the_vector() -> None:
    figure = three_encoders(("a", "b", "c", "d"))
    blue = [each for each in figure.data if each.mode == "lines" and each.line.color == COLOURS[0]]
    tops = {panel: [each for each in blue if each.xaxis == panel and each.y[1] > 4] for panel in ("x", "x2", "x3")}
    assert [line.x[0] for line in tops["x"]] == [1]  # of the answers the largest alone
    assert [line.x[0] for line in tops["x2"]] == [3]  # of the states the last alone
    assert [line.x[0] for line in tops["x3"]] == [0, 1, 2, 3]  # all, each with its share
    assert len({line.line.width for line in tops["x3"]}) > 1
    assert [each.text for each in figure.data if each.mode == "text" and len(each.text) == 4] == [tuple("abcd")] * 3
    with pytest.raises(ValueError, match="words are 2, expected 4"):
        three_encoders(("a", "b"))
