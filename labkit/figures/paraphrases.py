"""Groups of paraphrases: in the plane, and as two hills of cosines. In: records. Out: plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import (
    COLOURS,
    FAINT,
    INK,
    MARKS,
    NEGATIVE,
    POSITIVE,
    Entries,
    below,
    figure_of,
    lines,
    margin,
    short,
    upright,
)

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.projection import Projection
    from labkit.pthought.view import Companions, Handful


def paraphrase_groups(shown: Handful, plane: Projection, *, legend: bool = True, height: int = 400) -> go.Figure:
    """Figure 3: a mark and a colour for each group, lines from its sentences to their middle, its letter on top."""
    if len(plane.points) != len(shown.texts):
        raise ValueError(f"plane has {len(plane.points)} points, expected {len(shown.texts)}, one a sentence")
    points = np.asarray(plane.points, dtype=np.float64)
    letters = np.array(shown.letters)
    traces: list[Entries] = []
    tops: list[Entries] = []
    for number, (letter, name) in enumerate(sorted(shown.first.items())):
        rows = np.flatnonzero(letters == letter)
        middle = points[rows].mean(axis=0)
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        ends = np.stack([points[rows], np.tile(middle, (len(rows), 1)), np.full((len(rows), 2), np.nan)], axis=1)
        x, y = ends.reshape(-1, 2).T
        rays = {
            "x": x,
            "y": y,
            "mode": "lines",
            "line": {"color": colour, "width": 1},
            "opacity": 0.5,
            "hoverinfo": "skip",
            "showlegend": False,
        }
        marks = {
            "x": points[rows, 0],
            "y": points[rows, 1],
            "mode": "markers",
            "name": f"{letter}  {short(name, 46)}",
            "showlegend": legend,
            "marker": {"size": 11, "color": colour, "symbol": mark, "line": {"width": 0.5, "color": INK}},
            "customdata": [lines(shown.texts[row]) for row in rows],
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        shared = {"type": "scatter", "legendgroup": letter}
        traces += [shared | rays, shared | marks]
        top = points[rows][points[rows, 1].argmax()]
        where = {"x": top[0], "y": top[1], "yshift": 17, "showarrow": False, "font": {"size": 18, "color": INK}}
        tops.append({"text": f"<b>{letter}</b>"} | where)
    box = {"showline": True, "mirror": True, "linecolor": FAINT}
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False} | box
    return figure_of(
        traces,
        annotations=tops,
        xaxis=bare,
        yaxis=bare | {"scaleanchor": "x"},
        height=height,
        legend=below(-0.03) | {"font": {"size": 12}},
        dragmode="pan",
    )


def coherence_hills(found: Companions, *, height: int = 300) -> go.Figure:
    """How often which cosine, within groups and between them; the lines are the two means, their gap the lift."""
    kinds = (
        ("within groups", found.within, found.figures.within, POSITIVE, ""),
        ("between groups", found.between, found.figures.between, NEGATIVE, "/"),
    )
    low = min(-0.05, float(min(found.within.min(), found.between.min())))
    edges = np.linspace(low, 1.0, 43)
    bars, means, numbers = [], [], []
    for name, values, mean, colour, hatch in kinds:
        pattern = {"shape": hatch, "fillmode": "overlay", "solidity": 0.25}
        bars.append(
            {
                "type": "bar",
                "x": (edges[1:] + edges[:-1]) / 2,
                "y": np.histogram(values, edges)[0] / len(values),
                "width": edges[1] - edges[0],
                "name": name,
                "marker": {"color": colour, "opacity": 0.65, "pattern": pattern, "line": {"width": 0}},
                "hovertemplate": "cosine %{x:.2f}: %{y:.1%} of the pairs<extra>%{fullData.name}</extra>",
            }
        )
        means.append(upright(mean, {"color": colour, "width": 3, "dash": "dash" if hatch else "solid"}))
        where = {"x": mean, "y": 1.0, "yref": "paper", "yanchor": "bottom"}
        numbers.append({"text": f"{mean:.2f}", "showarrow": False, "font": {"color": INK}} | where)
    return figure_of(
        bars,
        shapes=means,
        annotations=numbers,
        xaxis={"title": "cosine", "gridcolor": FAINT, "range": [low, 1.02]},
        yaxis={"title": "share of the pairs", "tickformat": ".0%", "gridcolor": FAINT},
        barmode="overlay",
        bargap=0,
        height=height,
        legend=below(-0.3),
        margin=margin(28),
    )
