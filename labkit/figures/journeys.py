"""A run's probe over the epochs: points that travel within fixed axes, and below them the curve of inter / intra.

In: a `Journey`. Out: a plotly figure with a frame for each epoch, so that it plays in the browser on its own. It stands
at the epoch `at`; its button plays from the first epoch to that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labkit.figures.clusters import traces
from labkit.figures.colouring import CLASS, colouring
from labkit.figures.palette import COLOURS, FAINT, INK, PLAIN
from labkit.journey import Journey

STEP, TRAVEL = 800, 600  # milliseconds: from one epoch to the next, and on the way
CURVES = (  # attribute of a Journey, name, colour, dash
    ("space", "inter/intra, space", COLOURS[0], "solid"),
    ("drawn", "inter/intra, picture", COLOURS[3], "dash"),
)


def clusters_over_epochs(
    journey: Journey,
    *,
    at: int | None = None,
    by: str = CLASS,
    most: int | None = None,
    chosen: Sequence[int] | np.ndarray | None = None,
    ring: int | None = None,
    height: int = 600,
) -> go.Figure:
    """The picture at the `at`-th kept epoch (the last), and the curves; the rest as in `clusters`."""
    at = len(journey) - 1 if at is None else at
    if not 0 <= at < len(journey):
        raise ValueError(f"at is {at}, expected 0 to {len(journey) - 1}, the place of a kept epoch")
    colours = colouring(journey.shown, by, most=most)
    figure = make_subplots(rows=2, cols=1, row_heights=[0.78, 0.22], vertical_spacing=0.11)
    groups: list[np.ndarray] = []
    for trace, rows in traces(journey.pictures[at].points, journey.shown, colours):
        if chosen is not None:
            trace.selectedpoints = np.flatnonzero(np.isin(rows, chosen)).tolist()
        figure.add_trace(trace, row=1, col=1)
        groups.append(rows)
    marker = {"symbol": "circle-open", "size": 20, "color": "#D55E00", "line": {"width": 3}}
    ringed = np.array([], np.int32) if ring is None else np.array([ring])
    groups.append(ringed)
    figure.add_trace(_still(journey.pictures[at].points[ringed], marker), row=1, col=1)
    for attribute, name, colour, dash in CURVES:
        line = {"color": colour, "dash": dash, "width": 2.5}
        curve = go.Scatter(x=journey.epochs, y=_ratios(journey, attribute), mode="lines", name=name, line=line)
        hover = "epoch %{x}: %{y:.3f}<extra>%{fullData.name}</extra>"
        figure.add_trace(curve.update(hovertemplate=hover), row=2, col=1)
    now = [_ratios(journey, attribute)[at] for attribute, *_ in CURVES]
    dot = {"size": 11, "color": [colour for _, _, colour, _ in CURVES], "line": {"width": 1.5, "color": INK}}
    figure.add_trace(_still(np.array([[journey.epochs[at]] * 2, now]).T, dot), row=2, col=1)
    figure.frames = [_frame(journey, place, groups) for place in range(len(journey))]
    return _laid(figure, journey, at, height)


def _ratios(journey: Journey, attribute: str) -> list[float | None]:
    """As plotly draws them: none where there is no finite number."""
    found = [separation.ratio for separation in getattr(journey, attribute)]
    return [ratio if np.isfinite(ratio) else None for ratio in found]


def _still(points: np.ndarray, marker: dict[str, Any]) -> go.Scatter:
    """Marks that are on top, without a name and without an answer."""
    x, y = np.reshape(points, (-1, 2)).T.tolist()
    return go.Scatter(x=x, y=y, mode="markers", marker=marker, hoverinfo="skip", showlegend=False)


def _frame(journey: Journey, place: int, groups: list[np.ndarray]) -> go.Frame:
    """What moves: the points of each trace, the ring, the dots on the curves. Plain lists: frames take no others."""
    points = journey.pictures[place].points.round(4)
    data = [go.Scatter(x=points[rows, 0].tolist(), y=points[rows, 1].tolist()) for rows in groups]
    now = [_ratios(journey, attribute)[place] for attribute, *_ in CURVES]
    data.append(go.Scatter(x=[journey.epochs[place]] * 2, y=now))
    moving = [*range(len(groups)), len(groups) + len(CURVES)]
    return go.Frame(
        name=str(journey.epochs[place]), data=data, traces=moving, layout={"annotations": [_said(journey, place)]}
    )


def _said(journey: Journey, place: int) -> dict[str, Any]:
    text = f"epoch {journey.epochs[place]}" + (" (before training)" if journey.epochs[place] == 0 else "")
    here = {"xref": "paper", "yref": "paper", "x": 0, "y": 1.01, "xanchor": "left", "yanchor": "bottom"}
    return {"text": text, "showarrow": False, "font": {"size": 16, "color": INK}, **here}


def _laid(figure: go.Figure, journey: Journey, at: int, height: int) -> go.Figure:
    """Fixed axes for all epochs, the button, and a legend below, where a narrow screen has room."""
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    x, y = journey.axes.tolist()
    figure.update_xaxes(range=x, constrain="domain", row=1, col=1, **bare)
    figure.update_yaxes(range=y, scaleanchor="x", constrain="domain", row=1, col=1, **bare)
    ticks = max(1, round((journey.epochs[-1] - journey.epochs[0]) / 10))
    figure.update_xaxes(title="epoch", title_standoff=2, dtick=ticks, gridcolor=FAINT, zeroline=False, row=2, col=1)
    figure.update_yaxes(rangemode="tozero", gridcolor=FAINT, zeroline=False, row=2, col=1)
    play = {
        "frame": {"duration": STEP, "redraw": False},
        "transition": {"duration": TRAVEL, "easing": "cubic-in-out"},
        "fromcurrent": False,
        "mode": "immediate",
    }
    way = [str(epoch) for epoch in journey.epochs[: at + 1]]
    stop = {"frame": {"duration": 0, "redraw": False}, "mode": "immediate"}
    buttons = [
        {"label": "▶ Play", "method": "animate", "args": [way, play]},
        {"label": "❚❚ Stop", "method": "animate", "args": [[None], stop]},
    ]
    where = {"x": 1, "y": 0.21, "xanchor": "right", "yanchor": "bottom", "direction": "left", "pad": {"r": 0, "b": 2}}
    menu = {
        "type": "buttons",
        "buttons": buttons,
        "showactive": False,
        "font": {"color": INK},
        "bgcolor": "rgba(0,0,0,0)",
    }
    below = {"orientation": "h", "x": 0, "y": -0.13, "yanchor": "top", "entrywidth": 88, "font": {"size": 12}}
    return figure.update_layout(
        height=height,
        annotations=[_said(journey, at)],
        updatemenus=[menu | where],
        legend=below | {"itemsizing": "constant"},
        dragmode="pan",
        **PLAIN | {"margin": {"l": 10, "r": 10, "t": 32, "b": 10}},
    )
