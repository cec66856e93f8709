"""A figure in one pass: traces and layout go in as plain dicts of plotly's own names, a `go.Figure` comes out.

Plotly checks what it is given, and each `add_trace`, `add_shape` or `update_layout` checks and copies once more. A
square of fourteen lines takes ten times as long when it is drawn step by step, and thirty visitors notice. So the
modules beside this one only collect dicts, and this is the one place that makes a figure of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

from labkit.figures.palette import CLEAR, INK

Entries = dict[str, Any]  # of a trace, an axis, a shape, ...: plotly's name -> value
ABOVE: Entries = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}  # where a legend stands


def drawn(traces: Iterable[Entries], *, frames: Iterable[Entries] = (), **layout: Any) -> go.Figure:
    """The traces, the last on top. No ground of its own, so that it fits a light page and a dark one.

    >>> drawn([{"type": "bar", "y": [1, 2]}], height=200).layout.height
    200
    """
    plain = {"font": {"color": INK, "size": 14}, "margin": margin(10), "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR}
    return go.Figure({"data": list(traces), "layout": plain | layout, "frames": list(frames)})


def margin(top: int) -> Entries:
    """Pixels around the axes and what is written on them."""
    return {"l": 10, "r": 10, "t": top, "b": 10}


def below(y: float) -> Entries:
    """Where a legend stands: its upper edge at `y` of the figure's height, which is negative."""
    return {"orientation": "h", "y": y, "yanchor": "top", "x": 0}
