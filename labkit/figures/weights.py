"""Weights as curves: against similarity for the three losses, and over the epochs of a run.

In: `AnchorCurve`s or `EpochWeights`. Out: plotly figures with weights in powers of ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labkit.figures.palette import COLOURS, FAINT, INK, MARKS, NEGATIVE, PLAIN, POSITIVE

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.weighing.curves import AnchorCurve
    from labkit.weighing.epochs import EpochWeights

LEAST = 1e-6  # what weighs less is drawn here: a logarithm has no 0
LOSSES = {  # loss -> colour, mark, dash, name
    "locality": (COLOURS[2], MARKS[0], "solid", "locality"),
    "soft-triplet": (COLOURS[3], MARKS[1], "dash", "soft triplet"),
    "contrastive": (COLOURS[5], MARKS[2], "dot", "contrastive"),
}


def weight_curves(curves: Sequence[AnchorCurve], *, height: int = 430) -> go.Figure:
    """Positives on the left, negatives on the right: a mark is a pair of the anchor, a line the closed form."""
    if not curves:
        raise ValueError("curves are empty, expected at least one; choose an anchor of which the miner keeps a pair")
    figure = make_subplots(
        rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=("positives", "negatives")
    )
    seen: set[str] = set()
    for curve in curves:
        colour, mark, dash, name = LOSSES[curve.loss]
        column = 1 if curve.kind == "positive" else 2
        shared = {"legendgroup": name, "name": name}
        line = {"color": colour, "dash": dash, "width": 2.5}
        closed = _visible(curve.closed)
        figure.add_trace(
            go.Scatter(x=curve.grid, y=closed, mode="lines", line=line, showlegend=False, hoverinfo="skip", **shared),
            row=1,
            col=column,
        )
        marker = {"color": colour, "symbol": mark, "size": 9, "line": {"color": INK, "width": 0.7}}
        hover = "similarity %{x:.3f}, weight %{customdata:.4g}<extra>%{fullData.name}</extra>"
        points = go.Scatter(
            x=curve.similarity,
            y=_visible(curve.weight),
            customdata=curve.weight,
            mode="markers",
            marker=marker,
            showlegend=name not in seen,
            hovertemplate=hover,
            **shared,
        )
        figure.add_trace(points, row=1, col=column)
        seen.add(name)
    figure.update_xaxes(title="similarity s of the pair", gridcolor=FAINT, zerolinecolor=FAINT)
    figure.update_yaxes(type="log", exponentformat="power", gridcolor=FAINT, tickfont={"size": 13})
    figure.update_yaxes(title="weight", row=1, col=1)
    legend = {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0}
    figure.update_layout(height=height, legend=legend, **PLAIN | {"margin": {"l": 10, "r": 10, "t": 34, "b": 10}})
    return figure.update_annotations(font={"size": 15, "color": INK})


def weights_over_epochs(found: EpochWeights, *, height: int = 430) -> go.Figure:
    """Above the median weight of either kind with the middle four fifths, below the shares of pairs kept."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.07, row_heights=[0.6, 0.4])
    kinds = (
        ("positive", POSITIVE, "rgba(0, 114, 178, 0.18)", MARKS[0], "solid", found.positive, found.kept_positive),
        ("negative", NEGATIVE, "rgba(230, 159, 0, 0.18)", MARKS[1], "dash", found.negative, found.kept_negative),
    )
    for name, colour, pale, mark, dash, weights, kept in kinds:
        low, middle, high = _visible(weights).T
        band = {"x": [*found.epochs, *found.epochs[::-1]], "y": [*high, *low[::-1]], "fillcolor": pale}
        figure.add_trace(
            go.Scatter(**band, fill="toself", mode="none", showlegend=False, hoverinfo="skip", legendgroup=name),
            row=1,
            col=1,
        )
        style = {"line": {"color": colour, "dash": dash}, "marker": {"symbol": mark, "size": 8, "color": colour}}
        shared = {"x": found.epochs, "mode": "lines+markers", "name": name, "legendgroup": name, **style}
        hover = "epoch %{x}: %{y:.3g}<extra>%{fullData.name}</extra>"
        figure.add_trace(go.Scatter(y=middle, hovertemplate=hover, **shared), row=1, col=1)
        figure.add_trace(go.Scatter(y=kept, showlegend=False, hovertemplate=hover, **shared), row=2, col=1)
    figure.update_xaxes(gridcolor=FAINT, dtick=max(1, len(found.epochs) // 12))
    figure.update_xaxes(title="epoch (0: before training)", row=2, col=1)
    figure.update_yaxes(gridcolor=FAINT)
    figure.update_yaxes(
        title="weight", type="log", exponentformat="power", dtick=1, tickfont={"size": 13}, row=1, col=1
    )
    figure.update_yaxes(title="share kept", tickformat=".0%", range=[-0.03, 1.05], row=2, col=1)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    return figure.update_layout(height=height, legend=legend, **PLAIN)


def _visible(weights: np.ndarray) -> np.ndarray:
    return np.maximum(weights, LEAST)
