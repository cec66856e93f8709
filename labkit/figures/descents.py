"""Descent on the Stiefel manifold. In: records. Out: plotly figures.

`tangent_and_arc` draws steps on the smallest such manifold, a circle. Two ways from one point, and several descents
step by step, have on the left what is minimised, on the right how far the columns are from orthonormal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import Entries, below, drawn, margin
from labkit.figures.palette import COLOURS, FAINT, INK
from labkit.figures.panels import on, side_by_side, upright

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.film.stiefel import Step
    from labkit.film.walking import Walk

LEAST = 1e-17  # a logarithm has no place for 0
DASHES = ("solid", "dash", "dot", "dashdot")


def tangent_and_arc(
    lengths: np.ndarray, curve: np.ndarray, straight: np.ndarray, *, every: int = 10, height: int = 430
) -> go.Figure:
    """Steps from one point of the circle `PᵀP = 1`, (t, 2, 1) each: along the Cayley curve and straight on, the first
    of length 0. Each `every`th is marked, and a dotted line joins where two steps of its length lead."""
    turn = np.linspace(0, 2 * np.pi, 181)
    arc, tangent = curve[..., 0], straight[..., 0]  # (t, 2)
    marked = slice(every, None, every)
    gaps = np.full_like(arc[marked], np.nan)
    joins = np.stack([arc[marked], tangent[marked], gaps], axis=1).reshape(-1, 2)
    plain: Entries = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    traces: list[Entries] = [
        plain | _at(np.stack([np.cos(turn), np.sin(turn)], 1)) | {"line": {"color": INK}, "name": "all P with PᵀP = 1"},
        plain | _at(joins) | {"line": {"color": INK, "dash": "dot"}, "name": "the same τ"},
    ]
    ways = ((arc, "Cayley step (eq. 24)", "circle"), (tangent, "straight on (eq. 22)", "diamond"))
    for number, (way, name, mark) in enumerate(ways):
        colour = {"color": COLOURS[number]}
        line = plain | _at(way) | {"line": colour | {"width": 3.5, "dash": DASHES[number]}, "showlegend": False}
        dots = {"mode": "markers", "marker": colour | {"size": 11, "symbol": mark}, "name": name}
        told = {"customdata": list(lengths[marked]), "hovertemplate": "τ = %{customdata:g}", "hoverinfo": "all"}
        traces += [line, plain | _at(way[marked]) | dots | told]
    traces.append(plain | _at(arc[:1]) | {"mode": "markers", "marker": {"size": 14, "color": INK}, "showlegend": False})
    words = [(arc[0], "P", -14), *((way[-1], f"τ = {lengths[-1]:g}", 32) for way, *_ in ways)]
    notes = [
        {"x": x, "y": y, "text": text, "xshift": aside, "yshift": 12, "showarrow": False}
        for (x, y), text, aside in words
    ]
    seen = np.concatenate([arc, tangent, [[-1, -1], [1, 1]]])
    low, high = seen.min(0) - 0.15, seen.max(0) + 0.3
    axes = [{"visible": False, "range": [low[side], high[side]]} for side in (0, 1)]
    layout: Entries = {
        "xaxis": axes[0],
        "yaxis": axes[1] | {"scaleanchor": "x"},
        "annotations": notes,
        "legend": below(0),
    }
    return drawn(traces, height=height, margin=margin(10), **layout)


def _at(points: np.ndarray) -> Entries:
    return {"x": points[:, 0], "y": points[:, 1]}


def two_ways(found: Walk, *, length: float | None = None, height: int = 380) -> go.Figure:
    """φ and `|PᵀP - I|` over the length τ of a step, on the Cayley curve and straight on. With a length the nearest of
    the walk's is marked, and the legend says what was found there."""
    ways = (
        ("along the Cayley curve (eq. 24)", found.curve, found.curve_drift),
        ("straight on (eq. 22)", found.straight, found.straight_drift),
    )
    at = (
        None if length is None else min(range(len(found.lengths)), key=lambda n: abs(np.log(found.lengths[n] / length)))
    )
    traces: list[Entries] = []
    for number, (name, values, drifts) in enumerate(ways):
        told = "" if at is None else f": φ = {values[at]:.3f}, off by {drifts[at]:.0e}"
        traces += _both(number, name + told, found.lengths, values, drifts)
    mark = {"color": INK, "dash": "dot"}
    marks = [] if at is None else [upright(found.lengths[at], mark, panel) for panel in (1, 2)]
    x = {"title": "τ", "type": "log", "gridcolor": FAINT, "dtick": 1, "tickformat": "~g"}
    layout = _layout("φ after a step of length τ", x)
    return drawn(traces, shapes=marks, height=height, **layout)


def descents(runs: Mapping[str, Sequence[Step]], least: float, *, height: int = 400) -> go.Figure:
    """φ above `least`, the lowest value known, and `|PᵀP - I|` after each step, a line for each descent."""
    traces: list[Entries] = []
    for number, (name, steps) in enumerate(runs.items()):
        above = [max(step.value - least, LEAST) for step in steps]
        traces += _both(number, name, list(range(len(steps))), above, [step.drift for step in steps])
    layout = _layout("φ above the lowest known", {"title": "step", "gridcolor": FAINT})
    layout["yaxis"] |= {"type": "log", "dtick": 1, "tickformat": "~g"}
    return drawn(traces, height=height, **layout)


def _both(
    number: int, name: str, x: Sequence[float], left: Sequence[float], right: Sequence[float]
) -> tuple[Entries, Entries]:
    """One way or one descent, in either panel."""
    shared = {
        "type": "scatter",
        "x": list(x),
        "name": name,
        "mode": "lines",
        "line": {"color": COLOURS[number % len(COLOURS)], "dash": DASHES[number % len(DASHES)], "width": 2.5},
        "legendgroup": name,
        "hovertemplate": "%{y:.4g}",
    }
    drifts = [max(value, LEAST) for value in right]
    return (
        shared | on(1) | {"y": list(left), "showlegend": True},
        shared | on(2) | {"y": drifts, "showlegend": False},
    )


def _layout(left: str, x: Entries) -> Entries:
    titles = (left, "largest entry of |PᵀP − I|")
    layout = side_by_side(titles, gap=0.12, size=14, x=x, y={"gridcolor": FAINT})
    layout["yaxis2"] |= {"type": "log", "tickformat": ".0e", "nticks": 8}
    return layout | {"legend": below(-0.25), "margin": margin(34)}
