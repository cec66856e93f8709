"""A batch as a square: a row for each anchor, a column for each other sentence, those of one class side by side.

In: an `Examined`. Out: one figure each for similarity, weight, and what the miner kept. The three have the same
axes, and `anchor` is the row with a frame. Cells carry numbers of rows and columns, not sentences: a table has those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import Entries, below, drawn
from labkit.figures.palette import CLEAR, DIVERGING, INK, NEGATIVE, POSITIVE, RISING
from labkit.figures.text import short

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.weighing.examined import Examined

BAR = {"orientation": "h", "thickness": 12, "y": -0.03, "yanchor": "top", "tickfont": {"size": 12}}  # below the square
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
    heat = {
        "z": found.similarity.astype(np.float32),
        "zmax": 1.0,
        "zmin": min(0.0, float(found.similarity.min())),
        "colorscale": RISING,
        "colorbar": BAR,
        "hovertemplate": "row %{y}, column %{x}: similarity %{z:.3f}<extra></extra>",
    }
    return _square([heat], found, anchor, names, height=height)


def weight_heatmap(found: Examined, *, anchor: int | None = None, names: bool = True, height: int = 340) -> go.Figure:
    """The weight of every kept pair, on a scale of powers of ten: blue pulls, orange pushes, no colour is 0."""
    largest = float(found.weight.max()) or 1.0
    depth = np.clip(1 + np.log10(np.maximum(found.weight / largest, 1e-300)) / DECADES, 0, 1)
    ticks = [1 - step / DECADES for step in range(DECADES)]
    scale = [f"{largest * 10.0**-step:.2g}" for step in range(DECADES)]
    both = {
        "tickvals": [*(-tick for tick in ticks[::2]), 0.0, *ticks[::2][::-1]],
        "ticktext": [*scale[::2], "0", *scale[::2][::-1]],
    }
    heat = {
        "z": np.where(found.batch.negative, -depth, depth).astype(np.float32),
        "customdata": found.weight,
        "zmin": -1,
        "zmax": 1,
        "colorscale": DIVERGING,
        "colorbar": BAR | both,
        "hovertemplate": "row %{y}, column %{x}: weight %{customdata:.4g}<extra></extra>",
    }
    return _square([heat], found, anchor, names, height=height)


def kept_heatmap(found: Examined, *, anchor: int | None = None, names: bool = True, height: int = 340) -> go.Figure:
    """Which positive (+) and negative (−) pairs the miner kept for the loss; a cell without colour is no pair."""
    P, N = found.batch.positive, found.batch.negative
    code = np.where(P, np.where(found.kept_positive, 1, 2), np.where(N, np.where(found.kept_negative, 3, 4), 0))
    colours = [CLEAR, *(colour for colour, _, _ in STATES)]
    steps = [[(step + end) / 5, colour] for step, colour in enumerate(colours) for end in (0, 1)]
    heat = {
        "z": code,
        "zmin": -0.5,
        "zmax": 4.5,
        "colorscale": steps,
        "showscale": False,
        "text": np.array(["", *(sign for _, sign, _ in STATES)])[code] if len(P) <= READABLE else None,
        "texttemplate": "%{text}" if len(P) <= READABLE else None,
        "textfont": {"color": "#FFFFFF" if len(P) > READABLE else "#000000", "size": 10},
        "customdata": np.array(["no pair", *(name for _, _, name in STATES)])[code],
        "hovertemplate": "row %{y}, column %{x}: %{customdata}<extra></extra>",
    }
    told = [
        {"x": [None], "y": [None], "mode": "markers", "name": name}
        | {"marker": {"symbol": "square", "size": 13, "color": colour}}
        for colour, _, name in STATES
    ]  # without a point: for the legend
    legend = below(-0.02) | {"font": {"size": 12}, "itemclick": False}
    return _square([heat, *told], found, anchor, names, height=height, legend=legend)


def _square(traces: list[Entries], found: Examined, anchor: int | None, names: bool, **layout: Any) -> go.Figure:
    """The first trace as a heatmap: row 0 on top, a name for each class that has room, lines between classes."""
    classes, m = found.batch.classes, len(found.batch)
    starts = [row for row in range(m) if row == 0 or classes[row] != classes[row - 1]]
    named = [(start, end) for start, end in zip(starts, [*starts[1:], m], strict=True) if end - start > m / 40]
    bare = {"showgrid": False, "zeroline": False, "ticks": "", "constrain": "domain"}
    upwards = {
        "tickvals": [(start + end - 1) / 2 for start, end in named],
        "ticktext": [short(classes[start], 12) for start, _ in named],
        "range": [m - 0.1, -0.9],
        "constraintoward": "top",
        "showticklabels": names,
        "scaleanchor": "x",
        "tickfont": {"size": 11},
    }
    return drawn(
        [{"type": "heatmap"} | traces[0], *traces[1:]],
        xaxis=bare | {"showticklabels": False, "range": [-0.9, m - 0.1]},
        yaxis=bare | upwards,
        shapes=[*_borders(starts[1:], m), *([] if anchor is None else [_frame(anchor, m)])],
        **layout,
    )


def _borders(starts: list[int], m: int) -> list[Entries]:
    """An upright and a level line before each of these rows."""
    line = {"type": "line", "line": {"color": INK, "width": 0.6}}
    uprights = [{"x0": row - 0.5, "x1": row - 0.5, "y0": -0.5, "y1": m - 0.5} for row in starts]
    levels = [{"x0": -0.5, "x1": m - 0.5, "y0": row - 0.5, "y1": row - 0.5} for row in starts]
    return [line | ends for ends in (*uprights, *levels)]


def _frame(anchor: int, m: int) -> Entries:
    edge = {"color": "#D55E00", "width": 2}
    return {"type": "rect", "x0": -0.9, "x1": m - 0.1, "y0": anchor - 0.9, "y1": anchor + 0.9, "line": edge}
