"""A curled up line, and what methods that give each point one number make of it. In: points of the plane. Out: a plotly
figure: the line itself, then a panel for each method.

A colour says how far along the line a point lies, in every panel the same; so do the ticks, for those to whom colours
say little.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import FAINT, RISING, Entries, drawn, grid, margin, on


def unrolled(points: Any, along: Any, found: Mapping[str, Any], *, height: int = 620) -> go.Figure:
    """`points` (n, 2), `along` (n,) how far along the line each lies; `found`: what to call it -> a number a point.

    A method has unrolled the line where its points rise, or fall, all the way. Each of them is drawn from 0 to 1, and
    turned to rise, since neither a sign nor a size is anything that such a method tells.
    """
    points, along = np.asarray(points, dtype=float), np.asarray(along, dtype=float)
    if points.shape != (len(along), 2):
        raise ValueError(f"points have the shape {points.shape}, expected ({len(along)}, 2), a row for each of along")
    share = _share(along)
    marker = {"size": 5, "color": share, "colorscale": RISING, "line": {"width": 0}}
    dots: Entries = {"type": "scatter", "mode": "markers", "marker": marker, "showlegend": False}
    told = {"customdata": share, "hovertemplate": "%{customdata:.0%} along the line<extra></extra>"}
    traces = [dots | told | on(1) | {"x": points[:, 0], "y": points[:, 1]}]
    ends = points[[along.argmin(), along.argmax()]]
    words = {
        "mode": "text",
        "text": ["start\u2002", "end"],
        "textposition": ["middle left", "top center"],
        "textfont": {"size": 13},
    }
    traces.append({"type": "scatter", "showlegend": False, "hoverinfo": "skip", "cliponaxis": False} | words | on(1))
    traces[-1] |= {"x": ends[:, 0], "y": ends[:, 1]}
    for panel, (name, values) in enumerate(found.items(), 2):
        number = _share(np.asarray(values, dtype=float).ravel())
        if len(number) != len(share):
            raise ValueError(f"{name!r} has {len(number)} numbers, expected {len(share)}, one for each point")
        if np.corrcoef(number, share)[0, 1] < 0:
            number = 1 - number
        told = {"hovertemplate": "%{x:.0%} along the line: %{y:.2f}<extra></extra>", "name": name}
        traces.append(dots | told | on(panel) | {"x": share, "y": number})
    axis = {"gridcolor": FAINT, "zeroline": False, "range": [-0.05, 1.05], "tickvals": [0, 0.5, 1]}
    layout = grid(
        ["the line, seen from above", *found],
        columns=2,
        gap=(0.12, 0.18),
        size=14,
        x=axis | {"title": {"text": "along the line", "standoff": 4}, "ticktext": ["start", "half", "end"]},
        y=axis | {"title": {"text": "the number found", "standoff": 2}, "ticktext": ["0", "", "1"]},
    )
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False}
    layout |= {
        "xaxis": bare | {"domain": layout["xaxis"]["domain"], "anchor": "y"},
        "yaxis": bare | {"domain": layout["yaxis"]["domain"], "anchor": "x", "scaleanchor": "x"},
    }
    return drawn(traces, height=height, margin=margin(44), **layout)


def _share(values: np.ndarray) -> np.ndarray:
    """From 0 to 1."""
    return (values - values.min()) / max(float(np.ptp(values)), 1e-12)
