"""Groups of paraphrases: in the plane, and as two distributions of cosines. In: records. Out: plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import NAME, Entries, annotation, bars, curve, figure_of, hover_lines, margin, marks, short
from labkit.figures.panels import EMPTY, below, upright
from labkit.palette import FAINT, INK, NEGATIVE, POSITIVE, look

if TYPE_CHECKING:  # so that pages with other figures need not wait for torch
    from labkit.projection import Projection
    from labkit.pthought.view import Companions, Handful


def paraphrase_groups(shown: Handful, plane: Projection, *, legend: bool = True, height: int = 400) -> go.Figure:
    """Draw figure 3: a mark and a colour for each group, lines from its sentences to their middle, its letter."""
    if len(plane.points) != len(shown.texts):
        raise ValueError(f"plane has {len(plane.points)} points, expected {len(shown.texts)}, one per sentence")
    points = np.asarray(plane.points, dtype=np.float64)
    letters = np.array(shown.letters)
    traces: list[Entries] = []
    tops: list[Entries] = []
    for number, (letter, name) in enumerate(sorted(shown.first.items())):
        rows = np.flatnonzero(letters == letter)
        middle = points[rows].mean(axis=0)
        colour, mark = look(number)
        ends = np.stack([points[rows], np.tile(middle, (len(rows), 1)), np.full((len(rows), 2), np.nan)], axis=1)
        rays = {"opacity": 0.5, "hoverinfo": "skip", "showlegend": False}
        sentences = marks(
            points[rows, 0],
            points[rows, 1],
            {"size": 11, "color": colour, "symbol": mark, "line": {"width": 0.5, "color": INK}},
            legendgroup=letter,
            name=f"{letter}  {short(name, 46)}",
            showlegend=legend,
            customdata=[hover_lines(shown.texts[row]) for row in rows],
            hovertemplate="%{customdata}<extra></extra>",
        )
        x, y = ends.reshape(-1, 2).T
        traces += [curve(x, y, colour, width=1, legendgroup=letter) | rays, sentences]
        top = points[rows][points[rows, 1].argmax()]
        tops.append(annotation(f"<b>{letter}</b>", *top, size=18, yshift=17))
    box = EMPTY | {"showline": True, "mirror": True, "linecolor": FAINT}
    return figure_of(
        traces,
        annotations=tops,
        xaxis=box,
        yaxis=box | {"scaleanchor": "x"},
        height=height,
        legend=below(-0.03) | {"font": {"size": 12}},
        dragmode="pan",
    )


def coherence_hills(companions: Companions, *, height: int = 300) -> go.Figure:
    """Draw the distribution of cosines within and between groups; lines mark the two means, whose gap is the lift."""
    kinds = (
        ("within groups", companions.within, companions.figures.within, POSITIVE, ""),
        ("between groups", companions.between, companions.figures.between, NEGATIVE, "/"),
    )
    low = min(-0.05, float(min(companions.within.min(), companions.between.min())))
    edges = np.linspace(low, 1.0, 43)
    hills, means, numbers = [], [], []
    for name, values, mean, colour, hatch in kinds:
        pattern = {"shape": hatch, "fillmode": "overlay", "solidity": 0.25}
        hill = bars(
            (edges[1:] + edges[:-1]) / 2,
            np.histogram(values, edges)[0] / len(values),
            {"color": colour, "opacity": 0.65, "pattern": pattern, "line": {"width": 0}},
            width=edges[1] - edges[0],
            name=name,
            hovertemplate=f"cosine %{{x:.2f}}: %{{y:.1%}} of the pairs{NAME}",
        )
        hills.append(hill)
        means.append(upright(mean, {"color": colour, "width": 3, "dash": "dash" if hatch else "solid"}))
        numbers.append(annotation(f"{mean:.2f}", mean, 1.0, yref="paper", yanchor="bottom"))
    return figure_of(
        hills,
        shapes=means,
        annotations=numbers,
        xaxis={"title": "cosine", "range": [low, 1.02]},
        yaxis={"title": "share of the pairs", "tickformat": ".0%"},
        barmode="overlay",
        bargap=0,
        height=height,
        legend=below(-0.3),
        margin=margin(28),
    )
