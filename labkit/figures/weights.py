"""Weights as curves: against similarity for the three losses, and over the epochs of a run.

In: `AnchorCurve`s or `EpochWeights`. Out: plotly figures with weights in powers of ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import ABOVE, Entries, below, drawn, margin
from labkit.figures.palette import COLOURS, FAINT, INK, MARKS, NEGATIVE, POSITIVE
from labkit.figures.panels import on, side_by_side, stacked

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
    traces: list[Entries] = []
    for curve in curves:
        colour, mark, dash, name = LOSSES[curve.loss]
        shared = {"type": "scatter", "name": name, "legendgroup": name, **on(1 if curve.kind == "positive" else 2)}
        closed = {
            "x": curve.grid,
            "y": _visible(curve.closed),
            "mode": "lines",
            "line": {"color": colour, "dash": dash, "width": 2.5},
            "showlegend": False,
            "hoverinfo": "skip",
        }
        points = {
            "x": curve.similarity,
            "y": _visible(curve.weight),
            "customdata": curve.weight,
            "mode": "markers",
            "marker": {"color": colour, "symbol": mark, "size": 9, "line": {"color": INK, "width": 0.7}},
            "showlegend": all(name != trace["name"] for trace in traces),
            "hovertemplate": "similarity %{x:.3f}, weight %{customdata:.4g}<extra>%{fullData.name}</extra>",
        }
        traces += [shared | closed, shared | points]
    x = {"title": "similarity s of the pair", "gridcolor": FAINT, "zerolinecolor": FAINT}
    y = {"type": "log", "exponentformat": "power", "gridcolor": FAINT, "tickfont": {"size": 13}}
    layout = side_by_side(("positives", "negatives"), gap=0.04, size=15, x=x, y=y, shared=True)
    layout["yaxis"] |= {"title": "weight"}
    return drawn(traces, height=height, legend=below(-0.22), margin=margin(34), **layout)


def weights_over_epochs(found: EpochWeights, *, height: int = 430) -> go.Figure:
    """Above the median weight of either kind with the middle four fifths, below the shares of pairs kept."""
    kinds = (
        ("positive", POSITIVE, "rgba(0, 114, 178, 0.18)", MARKS[0], "solid", found.positive, found.kept_positive),
        ("negative", NEGATIVE, "rgba(230, 159, 0, 0.18)", MARKS[1], "dash", found.negative, found.kept_negative),
    )
    traces: list[Entries] = []
    for name, colour, pale, mark, dash, weights, kept in kinds:
        low, middle, high = _visible(weights).T
        shared = {"type": "scatter", "legendgroup": name}
        band = {
            "x": [*found.epochs, *found.epochs[::-1]],
            "y": [*high, *low[::-1]],
            "fill": "toself",
            "fillcolor": pale,
            "mode": "none",
            "showlegend": False,
            "hoverinfo": "skip",
        }
        line = {
            "x": found.epochs,
            "name": name,
            "mode": "lines+markers",
            "line": {"color": colour, "dash": dash},
            "marker": {"symbol": mark, "size": 8, "color": colour},
            "hovertemplate": "epoch %{x}: %{y:.3g}<extra>%{fullData.name}</extra>",
        }
        traces += [
            shared | band | on(1),
            shared | line | on(1) | {"y": middle},
            shared | line | on(2) | {"y": kept, "showlegend": False},
        ]
    x = {"gridcolor": FAINT, "dtick": max(1, len(found.epochs) // 12)}
    layout = stacked((0.6, 0.4), gap=0.07, x=x, y={"gridcolor": FAINT})
    layout["xaxis"] |= {"matches": "x2", "showticklabels": False}
    layout["xaxis2"] |= {"title": "epoch (0: before training)"}
    layout["yaxis"] |= {
        "title": "weight", "type": "log", "exponentformat": "power", "dtick": 1, "tickfont": {"size": 13}
    }  # fmt: skip
    layout["yaxis2"] |= {"title": "share kept", "tickformat": ".0%", "range": [-0.03, 1.05]}
    return drawn(traces, height=height, legend=ABOVE, **layout)


def _visible(weights: np.ndarray) -> np.ndarray:
    return np.maximum(weights, LEAST)
