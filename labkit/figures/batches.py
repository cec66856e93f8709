"""A batch as a square: a row for each anchor, a column for each other sentence, those of one class side by side.

In: an `Examined`. Out: one figure each for similarity, weight, and what the miner kept. The three have the same
axes, and `anchor` is the row with a frame. Cells carry numbers of rows and columns, not sentences: a table has those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.palette import CLEAR, DIVERGING, INK, NEGATIVE, PLAIN, POSITIVE, RISING
from labkit.figures.text import short

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.weighing.examined import Examined

DECADES = 4  # of weights below the largest that still show a colour
READABLE = 20  # sentences: in a larger batch a sign in a cell cannot be read
PALE = {POSITIVE: "rgba(0, 114, 178, 0.28)", NEGATIVE: "rgba(230, 159, 0, 0.28)"}
STATES = (  # code of a cell - 1: colour, sign, what it says
    (POSITIVE, "+", "+ kept"),
    (PALE[POSITIVE], "", "+ dropped"),
    (NEGATIVE, "−", "− kept"),
    (PALE[NEGATIVE], "", "− dropped"),
)


def similarity_heatmap(
    found: Examined, *, anchor: int | None = None, names: bool = True, height: int = 340
) -> go.Figure:
    """The cosine of every two sentences of the batch."""
    heat = go.Heatmap(
        z=found.similarity.astype(np.float32),
        zmax=1.0,
        zmin=min(0.0, float(found.similarity.min())),
        colorscale=RISING,
        colorbar=_bar(None, None),
        hovertemplate="row %{y}, column %{x}: similarity %{z:.3f}<extra></extra>",
    )
    return _squared(go.Figure(heat), found, anchor, names, height)


def weight_heatmap(found: Examined, *, anchor: int | None = None, names: bool = True, height: int = 340) -> go.Figure:
    """The weight of every kept pair, on a scale of powers of ten: blue pulls, orange pushes, no colour is 0."""
    largest = float(found.weight.max()) or 1.0
    depth = np.clip(1 + np.log10(np.maximum(found.weight / largest, 1e-300)) / DECADES, 0, 1)
    ticks = [1 - step / DECADES for step in range(DECADES)]
    scale = [f"{largest * 10.0**-step:.2g}" for step in range(DECADES)]
    heat = go.Heatmap(
        z=np.where(found.batch.negative, -depth, depth).astype(np.float32),
        customdata=found.weight,
        zmin=-1,
        zmax=1,
        colorscale=DIVERGING,
        colorbar=_bar([-tick for tick in ticks[::2]] + [0.0] + ticks[::2][::-1], [*scale[::2], "0", *scale[::2][::-1]]),
        hovertemplate="row %{y}, column %{x}: weight %{customdata:.4g}<extra></extra>",
    )
    return _squared(go.Figure(heat), found, anchor, names, height)


def kept_heatmap(found: Examined, *, anchor: int | None = None, names: bool = True, height: int = 340) -> go.Figure:
    """Which positive (+) and negative (−) pairs the miner kept for the loss; a cell without colour is no pair."""
    P, N = found.batch.positive, found.batch.negative
    code = np.where(P, np.where(found.kept_positive, 1, 2), np.where(N, np.where(found.kept_negative, 3, 4), 0))
    colours = [CLEAR, *(colour for colour, _, _ in STATES)]
    steps = [[(step + end) / 5, colour] for step, colour in enumerate(colours) for end in (0, 1)]
    heat = go.Heatmap(
        z=code,
        zmin=-0.5,
        zmax=4.5,
        colorscale=steps,
        showscale=False,
        text=np.array(["", *(sign for _, sign, _ in STATES)])[code] if len(P) <= READABLE else None,
        texttemplate="%{text}" if len(P) <= READABLE else None,
        textfont={"color": "#FFFFFF" if len(P) > READABLE else "#000000", "size": 10},
        customdata=np.array(["no pair", *(name for _, _, name in STATES)])[code],
        hovertemplate="row %{y}, column %{x}: %{customdata}<extra></extra>",
    )
    figure = go.Figure(heat)
    for colour, _, name in STATES:
        marker = {"symbol": "square", "size": 13, "color": colour}
        figure.add_trace(go.Scatter(x=[None], y=[None], mode="markers", marker=marker, name=name))
    _squared(figure, found, anchor, names, height)
    legend = {"orientation": "h", "yanchor": "top", "y": -0.02, "x": 0, "font": {"size": 12}, "itemclick": False}
    return figure.update_layout(legend=legend)


def _bar(ticks: list[float] | None, names: list[str] | None) -> dict[str, object]:
    """A scale below the square."""
    shared = {"orientation": "h", "thickness": 12, "y": -0.03, "yanchor": "top", "tickfont": {"size": 12}}
    return shared if ticks is None else shared | {"tickvals": ticks, "ticktext": names}


def _squared(figure: go.Figure, found: Examined, anchor: int | None, names: bool, height: int) -> go.Figure:
    """The shared axes: the first row on top, a name for each class that has room, a line between classes."""
    classes, m = found.batch.classes, len(found.batch)
    starts = [row for row in range(m) if row == 0 or classes[row] != classes[row - 1]]
    ends = [*starts[1:], m]
    for start in starts[1:]:
        for line in ({"x0": start - 0.5, "x1": start - 0.5, "y0": -0.5, "y1": m - 0.5},
                     {"y0": start - 0.5, "y1": start - 0.5, "x0": -0.5, "x1": m - 0.5}):  # fmt: skip
            figure.add_shape(type="line", line={"color": INK, "width": 0.6}, **line)
    if anchor is not None:
        edge = {"color": "#D55E00", "width": 2}
        figure.add_shape(type="rect", x0=-0.9, x1=m - 0.1, y0=anchor - 0.9, y1=anchor + 0.9, line=edge)
    named = [(start, end) for start, end in zip(starts, ends, strict=True) if end - start > m / 40]
    figure.update_yaxes(
        tickvals=[(start + end - 1) / 2 for start, end in named],
        ticktext=[short(classes[start], 12) for start, _ in named],
        range=[m - 0.1, -0.9],
        constrain="domain",
        constraintoward="top",
        showticklabels=names,
        scaleanchor="x",
        tickfont={"size": 11},
    )
    figure.update_xaxes(showticklabels=False, range=[-0.9, m - 0.1], constrain="domain")
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(showgrid=False, zeroline=False, ticks="")
    return figure.update_layout(height=height, **PLAIN)
