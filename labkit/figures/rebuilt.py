"""How well sentences are rebuilt from their neighbours, all at once. In: a `Structure`. Out: plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.palette import COLOURS, FAINT, INK, MARKS, NEGATIVE, PLAIN, POSITIVE
from labkit.figures.text import lines

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.reembedding.structure import Structure

LEAST = 1e-6  # smaller errors are drawn here: a logarithm has no 0
FLAT = 1e-10  # and smaller eigenvalues here


def rebuilt(found: Structure, *, chosen: int | None = None, height: int = 400) -> go.Figure:
    """A mark for each sentence: what its weights leave over in the base, and in the new space; both as shares.

    The mark of another part of the neighbour graph differs. Each carries its number (`customdata`).
    """
    figure = go.Figure()
    before, after = (np.maximum(values, LEAST) for values in (found.errors, found.kept))
    low, high = float(min(before.min(), after.min())), float(max(before.max(), after.max()))
    ends = [low / 1.5, high * 1.5]
    line = {"color": INK, "dash": "dot", "width": 1.5}
    figure.add_trace(go.Scatter(x=ends, y=ends, mode="lines", line=line, hoverinfo="skip", showlegend=False))
    parts = found.components
    for part in range(min(len(parts), len(MARKS))):
        last = part == len(MARKS) - 1
        rows = np.flatnonzero(found.component >= part if last else found.component == part).tolist()
        name = f"part {part + 1}{' and on' if last and len(parts) > len(MARKS) else ''}: {len(rows)} sentences"
        marker = {"size": 7, "color": COLOURS[part], "symbol": MARKS[part], "opacity": 0.6, "line": {"width": 0}}
        figure.add_trace(
            go.Scatter(
                x=before[rows],
                y=after[rows],
                mode="markers",
                name=name,
                marker=marker,
                customdata=rows,
                hovertext=[lines(found.sentences[row]) for row in rows],
                hovertemplate="no. %{customdata}: %{x:.3g} → %{y:.3g}<br>%{hovertext}<extra></extra>",
                showlegend=len(parts) > 1,
            )
        )
    if chosen is not None:
        marker = {"size": 18, "color": COLOURS[3], "symbol": "circle-open", "line": {"width": 3}}
        place = {"x": [before[chosen]], "y": [after[chosen]], "customdata": [chosen]}
        shared = {"mode": "markers", "marker": marker, "hoverinfo": "skip", "name": f"no. {chosen}"}
        figure.add_trace(go.Scatter(**place, **shared))
    axis = {"type": "log", "gridcolor": FAINT, "exponentformat": "power", "dtick": 1, "zeroline": False}
    figure.update_xaxes(title="left over in the base", range=_span(before), **axis)
    figure.update_yaxes(title="left over after", range=_span(after), **axis)
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "font": {"size": 12}}
    return figure.update_layout(height=height, legend=legend, dragmode="pan", **PLAIN)


def _span(values: np.ndarray) -> list[float]:
    """From a little below the smallest to a little above the largest, as powers of ten."""
    low, high = np.log10([values.min(), values.max()])
    room = 0.05 * max(high - low, 1.0)
    return [low - room, high + room]


def spectrum(found: Structure, *, height: int = 400) -> go.Figure:
    """The eigenvalues that were kept, rising: what each direction costs. Those that are 0 are orange, at the edge."""
    values = np.maximum(found.eigenvalues, FLAT)
    zero = np.arange(len(values)) < found.zeros
    marker = {
        "color": [NEGATIVE if flat else POSITIVE for flat in zero],
        "symbol": [MARKS[1] if flat else MARKS[0] for flat in zero],
        "size": 8,
    }
    number = np.arange(1, len(values) + 1)
    hover = "direction %{x}: λ = %{customdata:.3g}<extra></extra>"
    trace = go.Scatter(x=number, y=values, mode="markers", marker=marker, customdata=found.eigenvalues)
    figure = go.Figure(trace.update(hovertemplate=hover))
    figure.update_xaxes(title="direction, the flattest first", gridcolor=FAINT)
    figure.update_yaxes(title="eigenvalue λ", type="log", exponentformat="power", gridcolor=FAINT)
    return figure.update_layout(height=height, **PLAIN)
