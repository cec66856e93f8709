"""One column of a paper's table: the printed figure and ours for each row. In: a `StoredTable`. Out: a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from labkit.figures.drawing import ABOVE, drawn, margin
from labkit.figures.palette import COLOURS, FAINT, INK
from labkit.figures.text import short

if TYPE_CHECKING:
    from labkit.papers.stored import StoredTable

ROW, LEAST = 30, 220  # pixels of a row, and of the whole


def ours_beside_paper(table: StoredTable, column: str) -> go.Figure:
    """An open diamond is the paper's figure, a disc ours, its bar the spread over the seeds.

    A disc with something to know of it, such as that the model was trained on these texts, is open and has an asterisk.
    """
    if column not in table.columns:
        raise ValueError(f"column is {column!r}, expected one of {', '.join(table.columns)}; choose one of them")
    figures = [figure for figure in table.figures if figure.column == column]
    place = {row: number for number, row in enumerate(table.rows)}
    printed = [figure for figure in figures if figure.published is not None]
    ours = [figure for figure in figures if figure.mean is not None]
    marked = {figure.row for figure in ours if figure.why}
    nothing: list[Any] = [None]  # a trace without points would be left out of the legend
    hover = "%{x:.4g}<extra>%{fullData.name}</extra>"
    theirs = {
        "type": "scatter",
        "x": [figure.published for figure in printed],
        "y": [place[figure.row] for figure in printed],
        "mode": "markers",
        "name": "paper",
        "marker": {"symbol": "diamond-open", "size": 12, "color": COLOURS[1], "line": {"width": 2.5}},
        "hovertemplate": hover,
    }
    spreads = [figure.spread or 0.0 for figure in ours]
    own = {
        "type": "scatter",
        "x": [figure.mean for figure in ours] or nothing,
        "y": [place[figure.row] for figure in ours] or nothing,
        "error_x": {"type": "data", "array": spreads, "color": INK, "thickness": 1.5},
        "mode": "markers",
        "name": "ours, ± spread over seeds" if ours else "ours: not run here",
        "marker": {
            "symbol": ["circle-open" if figure.why else "circle" for figure in ours] or "circle",
            "size": 10,
            "color": COLOURS[0],
            "line": {"width": 2.5, "color": COLOURS[0]},
        },
        "text": [f"<br>* {short(figure.why, 60)}" if figure.why else "" for figure in ours],
        "hovertemplate": hover.replace("<extra>", "%{text}<extra>"),
    }
    upwards = {
        "tickvals": list(place.values()),
        "ticktext": [short(row, 34) + " *" * (row in marked) for row in place],
        "range": [len(place) - 0.4, -0.6],
        "automargin": True,
    }
    grid = {"gridcolor": FAINT, "zeroline": False}
    return drawn(
        [theirs, own],
        xaxis=grid | {"title": short(column, 60)},
        yaxis=grid | upwards,
        height=max(LEAST, 90 + ROW * len(place)),
        legend=ABOVE,
        showlegend=True,
        margin=margin(30),
    )
