"""Descent on the Stiefel manifold: two ways from one point, and several descents step by step. In: records. Out: plotly
figures; on the left what is minimised, on the right how far the columns are from orthonormal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labkit.figures.palette import COLOURS, FAINT, INK, PLAIN

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.film.stiefel import Step
    from labkit.film.walking import Walk

LEAST = 1e-17  # a logarithm has no place for 0
DASHES = ("solid", "dash", "dot", "dashdot")


def two_ways(found: Walk, *, length: float | None = None, height: int = 380) -> go.Figure:
    """φ and `|PᵀP - I|` over the length τ of a step, on the Cayley curve and straight on. With a length the nearest of
    the walk's is marked, and the legend says what was found there."""
    figure = _panels("φ after a step of length τ", "largest entry of |PᵀP − I|")
    ways = (
        ("along the Cayley curve (eq. 24)", found.curve, found.curve_drift),
        ("straight on (eq. 22)", found.straight, found.straight_drift),
    )
    at = (
        None if length is None else min(range(len(found.lengths)), key=lambda n: abs(np.log(found.lengths[n] / length)))
    )
    for number, (name, values, drifts) in enumerate(ways):
        told = "" if at is None else f": φ = {values[at]:.3f}, off by {drifts[at]:.0e}"
        _both(figure, number, name + told, found.lengths, values, drifts)
    if at is not None:
        for column in (1, 2):
            figure.add_vline(x=found.lengths[at], line_color=INK, line_dash="dot", row=1, col=column)
    figure.update_xaxes(title="τ", type="log", gridcolor=FAINT, dtick=1, tickformat="~g")
    return _finished(figure, height)


def descents(runs: Mapping[str, Sequence[Step]], least: float, *, height: int = 400) -> go.Figure:
    """φ above `least`, the lowest value known, and `|PᵀP - I|` after each step, a line for each descent."""
    figure = _panels("φ above the lowest known", "largest entry of |PᵀP − I|")
    for number, (name, steps) in enumerate(runs.items()):
        above = [max(step.value - least, LEAST) for step in steps]
        _both(figure, number, name, list(range(len(steps))), above, [step.drift for step in steps])
    figure.update_yaxes(type="log", dtick=1, tickformat="~g", row=1, col=1)
    figure.update_xaxes(title="step", gridcolor=FAINT)
    return _finished(figure, height)


def _panels(left: str, right: str) -> go.Figure:
    return make_subplots(rows=1, cols=2, horizontal_spacing=0.12, subplot_titles=(left, right))


def _both(
    figure: go.Figure, number: int, name: str, x: Sequence[float], left: Sequence[float], right: Sequence[float]
) -> None:
    line = {"color": COLOURS[number % len(COLOURS)], "dash": DASHES[number % len(DASHES)], "width": 2.5}
    for column, values in ((1, left), (2, [max(value, LEAST) for value in right])):
        trace = go.Scatter(x=list(x), y=list(values), name=name, mode="lines", line=line, legendgroup=name)
        figure.add_trace(trace.update(showlegend=column == 1, hovertemplate="%{y:.4g}"), row=1, col=column)


def _finished(figure: go.Figure, height: int) -> go.Figure:
    figure.update_yaxes(gridcolor=FAINT)
    figure.update_yaxes(type="log", tickformat=".0e", nticks=8, row=1, col=2)
    legend = {"orientation": "h", "y": -0.25, "yanchor": "top", "x": 0}
    figure.update_layout(height=height, legend=legend, **PLAIN | {"margin": {"l": 10, "r": 10, "t": 34, "b": 10}})
    return figure.update_annotations(font={"size": 14, "color": INK})
