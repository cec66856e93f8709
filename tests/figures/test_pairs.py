"""Figures of pairs and triplets show the numbers of their records."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from labkit import figures
from labkit.figures import triplet_losses
from labkit.pairs import pair_weights
from labkit.sentpwnet.method import PairSettings, loss_of
from labkit.sentpwnet.view import Examined, one_triplet
from labkit.thematic.network import LOSSES


def test_heatmaps_have_the_records_cells_and_a_click_names_two_sentences(found: Examined) -> None:
    similar, weight = figures.similarity_heatmap(found), figures.weight_heatmap(found)
    np.testing.assert_allclose(similar.data[0].z, found.similarity, atol=1e-6)
    np.testing.assert_array_equal(weight.data[0].customdata, found.weight)
    np.testing.assert_array_equal(
        np.sign(weight.data[0].z), np.sign(found.weight) * np.where(found.batch.negative, -1, 1)
    )
    assert np.abs(weight.data[0].z).max() == 1
    m = len(found.batch)
    points = figures.weight_heatmap(found, anchor=0, clickable=True).data[-1]
    assert [tuple(each) for each in points.customdata] == [(row, column) for row in range(m) for column in range(m)]
    assert [(y, x) for x, y in zip(points.x, points.y, strict=True)] == [tuple(each) for each in points.customdata]


def test_bars_of_an_anchor_are_its_row(found: Examined) -> None:
    figure = figures.anchor_bars(found, 0)
    for panel, values in (("y", found.similarity), ("y2", found.weight)):
        bars = [trace for trace in figure.data if trace.type == "bar" and trace.yaxis == panel]
        drawn = {int(data[0]): y for bar in bars for data, y in zip(bar.customdata, bar.y, strict=True)}
        assert drawn == {row: pytest.approx(values[0, row]) for row in (1, 2, 3)}
    lines = sorted(trace.y[0] for trace in figure.data if trace.type == "scatter")
    assert lines == pytest.approx(sorted([found.floor(0), found.ceiling(0)]))
    bars = [trace for trace in figures.anchor_bars(found, 0).data if trace.type == "bar"]
    assert {trace.width for trace in bars} == {0.85}  # otherwise plotly widens the bars of a kind with gaps


def test_the_weight_of_the_other_is_labelled_and_pinned_weights_are_outlines(found: Examined) -> None:
    figure = figures.anchor_bars(found, 0, other=2, before=2 * found.weight[0])
    assert figure.layout.annotations[1].text == f"{found.weight[0, 2]:.3f}"
    tiny = replace(found, weight=1e-9 * found.weight)
    assert "e-" not in figures.anchor_bars(tiny, 0, other=2).layout.annotations[1].text
    (ghost,) = [trace for trace in figure.data if trace.name == "pinned"]
    assert dict(zip((data[0] for data in ghost.customdata), ghost.y, strict=True)) == {
        row: pytest.approx(2 * found.weight[0, row]) for row in (1, 2, 3)
    }


def pushes(figure: Any) -> str:
    """The name of the kept negatives in the legend."""
    (name,) = {trace.name for trace in figure.data if "pushes" in (trace.name or "")}
    return str(name)


def test_the_legend_names_a_vanished_kind_and_the_label_of_a_weight_covers_no_neighbour(found: Examined) -> None:
    weight = np.where(found.batch.negative, 1e-7, 0.5) * found.kept
    figure = figures.anchor_bars(replace(found, weight=weight), 0, other=int(found.kept_negative[0].argmax()))
    (label,) = figure.layout.annotations[1:]
    assert label.y == 0.5  # above the neighbouring bars
    assert {trace.name for trace in figure.data if "1 %" in (trace.name or "")} == {pushes(figure)}
    assert "%" not in pushes(figures.anchor_bars(replace(found, weight=0.5 * found.kept), 0, other=2))


def test_a_weight_over_a_setting_marks_the_current_and_the_pinned_value() -> None:
    values, weights = [1.0, 10.0, 100.0], np.array([0.1, 0.3, 0.0])
    figure = figures.weight_over(values, weights, 10.0, sign="β", pinned=1.0)
    assert [(trace.x[0], trace.y[0]) for trace in figure.data[1:]] == [(1.0, 0.1), (10.0, 0.3)]
    (note,) = figure.layout.annotations
    assert re.findall(r"[\d.]+", note.text) == ["0.300", "0.100"]
    assert (note.yref, note.y, note.yanchor) == ("y domain", 1, "bottom")  # above the axes, away from all marks
    assert figure.layout.yaxis.range[1] > max(weights)
    assert len(figures.weight_over(values, weights, 10.0, sign="β").data) == 2


SETTINGS = PairSettings(alpha=3.0, beta=7.0, base=0.4, margin=0.3, temperature=0.4)


def weighed(loss: str, positive: float, negative: float) -> tuple[float, float]:
    """The two weights of an anchor with one positive and one negative, by automatic differentiation."""
    row = torch.tensor([[1.0, positive, negative]], dtype=torch.float64)
    P, N = torch.tensor([[False, True, False]]), torch.tensor([[False, False, True]])
    found = pair_weights(loss_of(replace(SETTINGS, loss=loss)), row, P, N)[0]
    return float(found[1]), float(found[2])


def test_arrows_are_as_long_as_the_weights_and_their_part_along_the_circle() -> None:
    triplets = one_triplet(0.28, 0.6, SETTINGS)
    figure = figures.pull_and_push(triplets)
    arrows = [each for each in figure.layout.annotations if each.showarrow]
    assert [each.loss for each in triplets] == ["contrastive", "soft-triplet", "locality"]
    for panel, each in enumerate(triplets):
        assert (each.pull, each.push) == pytest.approx(weighed(each.loss, 0.28, 0.6))
        pull, pull_along, push, push_along = arrows[4 * panel : 4 * panel + 4]
        assert {arrow.xref for arrow in (pull, pull_along, push, push_along)} == {("x", "x2", "x3")[panel]}
        for straight, along, weight, up in ((pull, pull_along, each.pull, 1), (push, push_along, each.push, -1)):
            start, end = np.array([along.ax, along.ay]), np.array([along.x, along.y])
            assert (straight.x, straight.y) == pytest.approx((start[0], start[1] + up * 0.75 * weight))
            assert start @ (end - start) == pytest.approx(0)  # along the circle
            rest = np.array([straight.x, straight.y]) - start
            assert (end - start) @ (end - start) == pytest.approx((end - start) @ rest)  # a projection
        assert (pull_along.ax, push_along.ax) == pytest.approx((-0.96, 0.8))


def test_losses_and_slopes_are_those_of_the_package() -> None:
    figure = triplet_losses()
    drawn = {(trace.name, trace.xaxis): (np.array(trace.x), np.array(trace.y)) for trace in figure.data}
    assert {name for name, _ in drawn} == set(LOSSES)
    x, y = drawn["ratio", "x"]
    np.testing.assert_allclose(y, 2 / (1 + np.exp(-x)))
    for name in LOSSES:
        x, y = drawn[name, "x"]
        slope = drawn[name, "x2"][1]
        away = np.abs(x + 1) > 0.1  # the hinge has a kink there
        np.testing.assert_allclose(np.gradient(y, x)[away], slope[away], atol=0.02)
    assert len({trace.line.dash for trace in figure.data}) == 3
