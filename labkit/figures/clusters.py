"""Sentences as points of the plane, a colour and a mark for each class.

In: a `Projection` and a `Labelled` with its sentences in the same order. Out: a plotly figure in which each point
carries its row number (`customdata`), so that a page can find the sentence behind a click.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from labkit.corpora.records import Labelled
from labkit.figures.palette import PLAIN, style
from labkit.figures.text import lines, short
from labkit.projection import Projection


def clusters(projection: Projection, points: Labelled, *, height: int = 450) -> go.Figure:
    """One trace a class, so that a click on its name in the legend hides it."""
    if len(projection.points) != len(points):
        raise ValueError(f"projection has {len(projection.points)} points, expected {len(points)}, one a sentence")
    figure = go.Figure()
    labels = np.array(points.labels)
    for number, name in enumerate(dict.fromkeys(points.labels)):
        rows = np.flatnonzero(labels == name).tolist()
        colour, mark = style(number)
        figure.add_trace(
            go.Scatter(
                x=projection.points[rows, 0],
                y=projection.points[rows, 1],
                mode="markers",
                name=short(name, 28),
                customdata=rows,
                text=[lines(points.texts[row]) for row in rows],
                hovertemplate="%{text}<extra>%{fullData.name}</extra>",
                marker={"size": 8, "color": colour, "symbol": mark, "opacity": 0.8, "line": {"width": 0}},
            )
        )
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False, title=f"{projection.name} 1")
    figure.update_yaxes(
        showticklabels=False, showgrid=False, zeroline=False, title=f"{projection.name} 2", scaleanchor="x"
    )
    figure.update_layout(
        height=height,
        legend={"itemsizing": "constant", "font": {"size": 13}},
        hoverlabel={"align": "left", "font": {"size": 14}},
        dragmode="pan",
        **PLAIN,
    )
    return figure
