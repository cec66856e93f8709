"""Figures of FILM carry their records' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from labkit import figures
from labkit.figures import descents, tangent_and_arc, two_ways
from labkit.film.reading import WordRow
from labkit.film.stiefel import Step, both_ways, minimise, random_point, walk


def test_each_row_of_l_has_a_bar_of_its_share_and_a_mark_of_its_stability() -> None:
    rows = [
        WordRow(7, 0.5, (("cat", 0.2),), (("dog", 0.1),), 2.0, 0.25),
        WordRow(3, 0.4, (("cow", 0.2),), (), 1.0, 0.75),
    ]
    figure = figures.row_strengths(rows, chosen=3)
    bars, marks = figure.data
    assert (list(bars.x), list(bars.y)) == (["7", "3"], [0.5, 0.4])
    assert bars.marker.color[0] != bars.marker.color[1]
    assert [list(ends) for ends in bars.customdata] == [["cat", "dog", 7], ["cow", "–", 3]]
    assert (list(marks.x), list(marks.y), marks.yaxis) == (["7", "3"], [0.25, 0.75], "y2")


def test_components_name_the_largest_apart() -> None:
    row = np.zeros(900)
    row[[10, 12, 500, 505, 700]] = [5, 4, -3, 2, 1]
    named = figures.row_components(row, [f"w{i}" for i in range(900)], named=4).data[1]
    assert list(named.text) == ["w10", "w500", "w505", "w700"]  # w12 stands too near w10
    assert list(named.y) == [5, -3, 2, 1]


def objective(P: np.ndarray) -> tuple[float, np.ndarray]:
    A = np.diag(np.arange(1.0, 7.0))
    return float(np.trace(P.T @ A @ P)) / 2, A @ P


def test_two_ways_show_both_with_the_chosen_length() -> None:
    found = walk(objective, random_point(6, 2, 0), (0.01, 0.1))
    figure = two_ways(found, length=0.08)
    assert [tuple(trace.y) for trace in figure.data][::2] == [found.curve, found.straight]
    assert tuple(figure.data[3].y) == found.straight_drift
    assert {shape.x0 for shape in figure.layout.shapes} == {0.1}
    assert figure.layout.xaxis.type == "log"
    assert not two_ways(found).layout.shapes


def test_descents_are_drawn_above_the_lowest_value() -> None:
    steps = minimise(objective, random_point(6, 2, 0), iterations=5).steps
    least = steps[-1].value
    figure = descents({"one": steps, "two": (Step(least + 1, 0.0, 0.0, 0.0),)}, least)
    assert list(figure.data[0].y)[:-1] == pytest.approx([step.value - least for step in steps[:-1]])
    assert figure.data[0].y[-1] > 0  # a logarithm has no place for 0
    assert figure.data[2].y[0] == pytest.approx(1.0)
    assert figure.data[3].y[0] > 0
    assert [trace.name for trace in figure.data if trace.showlegend] == ["one", "two"]


def test_a_straight_step_leaves_the_circle_and_a_cayley_step_does_not() -> None:
    P, lengths = random_point(2, 1, 0), np.linspace(0, 2, 21)
    curve, straight = both_ways(P, np.array([[0.3], [-1.0]]), lengths)
    figure = tangent_and_arc(lengths, curve, straight, every=5)
    arc, tangent = (trace for trace in figure.data if trace.mode == "lines" and trace.showlegend is False)
    assert np.hypot(arc.x, arc.y) == pytest.approx(np.ones(21))
    assert (np.diff(np.hypot(tangent.x, tangent.y)) > 0).all()
    away = np.array([tangent.x, tangent.y]).T - P.T
    assert away @ P == pytest.approx(np.zeros((21, 1)))  # it is the tangent at P
    marks = [trace for trace in figure.data if trace.mode == "markers" and trace.name]
    assert [list(trace.customdata) for trace in marks] == [[0.5, 1.0, 1.5, 2.0]] * 2
    assert {trace.marker.symbol for trace in marks} == {"circle", "diamond"}  # colour is not all that tells them apart
    assert figure.layout.yaxis.scaleanchor == "x"  # a circle is round


def test_a_walk_stays_on_the_manifold_along_the_curve_only() -> None:
    P = random_point(6, 2, 0)
    found = walk(objective, P, (1e-3, 0.1, 1.0))
    assert max(found.curve_drift) < 1e-13
    assert found.straight_drift[2] > 0.1
    assert found.straight_drift[0] < found.straight_drift[1] < found.straight_drift[2]
    slope = (found.curve[0] - objective(P)[0]) / 1e-3
    assert (found.straight[0] - objective(P)[0]) / 1e-3 == pytest.approx(slope, rel=1e-2)  # the same direction
    assert slope < 0
