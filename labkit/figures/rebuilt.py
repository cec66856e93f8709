"""How well sentences are rebuilt from their neighbours, all at once. In: a `Structure`. Out: plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import ABOVE, Entries, drawn
from labkit.figures.palette import COLOURS, FAINT, INK, MARKS, NEGATIVE, POSITIVE
from labkit.figures.text import lines

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.reembedding.structure import Structure

LEAST = 1e-6  # smaller errors are drawn here: a logarithm has no 0
FLAT = 1e-10  # and smaller eigenvalues here


def rebuilt(found: Structure, *, chosen: int | None = None, height: int = 400) -> go.Figure:
    """A mark for each sentence: what its weights leave over in the base, and in the new space; both as shares.

    The mark of another part of the neighbour graph differs. Each carries its number (`customdata`).
    """
    before, after = (np.maximum(values, LEAST) for values in (found.errors, found.kept))
    low, high = float(min(before.min(), after.min())), float(max(before.max(), after.max()))
    ends = [low / 1.5, high * 1.5]
    line = {"color": INK, "dash": "dot", "width": 1.5}
    same = {"type": "scatter", "x": ends, "y": ends, "mode": "lines", "line": line, "hoverinfo": "skip"}
    traces: list[Entries] = [same | {"showlegend": False}]
    traces += [_part(found, part, before, after) for part in range(min(len(found.components), len(MARKS)))]
    if chosen is not None:
        ring = {"size": 18, "color": COLOURS[3], "symbol": "circle-open", "line": {"width": 3}}
        place = {"x": [before[chosen]], "y": [after[chosen]], "customdata": [chosen]}
        mark = {"type": "scatter", "mode": "markers", "marker": ring, "hoverinfo": "skip", "name": f"no. {chosen}"}
        traces.append(mark | place)
    axis = {"type": "log", "gridcolor": FAINT, "exponentformat": "power", "dtick": 1, "zeroline": False}
    return drawn(
        traces,
        xaxis=axis | {"title": "left over in the base", "range": _span(before)},
        yaxis=axis | {"title": "left over after", "range": _span(after)},
        height=height,
        legend=ABOVE | {"font": {"size": 12}},
        dragmode="pan",
    )


def _part(found: Structure, part: int, before: np.ndarray, after: np.ndarray) -> Entries:
    """The sentences of one part of the neighbour graph; those of all further parts have the last mark."""
    count = len(found.components)
    last = part == len(MARKS) - 1
    rows = np.flatnonzero(found.component >= part if last else found.component == part).tolist()
    return {
        "type": "scatter",
        "x": before[rows],
        "y": after[rows],
        "mode": "markers",
        "name": f"part {part + 1}{' and on' if last and count > len(MARKS) else ''}: {len(rows)} sentences",
        "marker": {"size": 7, "color": COLOURS[part], "symbol": MARKS[part], "opacity": 0.6, "line": {"width": 0}},
        "customdata": rows,
        "hovertext": [lines(found.sentences[row]) for row in rows],
        "hovertemplate": "no. %{customdata}: %{x:.3g} → %{y:.3g}<br>%{hovertext}<extra></extra>",
        "showlegend": count > 1,
    }


def _span(values: np.ndarray) -> list[float]:
    """From a little below the smallest to a little above the largest, as powers of ten."""
    low, high = np.log10([values.min(), values.max()])
    room = 0.05 * max(high - low, 1.0)
    return [low - room, high + room]


def spectrum(found: Structure, *, height: int = 400) -> go.Figure:
    """The eigenvalues that were kept, rising: what each direction costs. Those that are 0 are orange, at the edge."""
    values = np.maximum(found.eigenvalues, FLAT)
    zero = np.arange(len(values)) < found.zeros
    directions = {
        "type": "scatter",
        "x": np.arange(1, len(values) + 1),
        "y": values,
        "mode": "markers",
        "marker": {
            "color": [NEGATIVE if flat else POSITIVE for flat in zero],
            "symbol": [MARKS[1] if flat else MARKS[0] for flat in zero],
            "size": 8,
        },
        "customdata": found.eigenvalues,
        "hovertemplate": "direction %{x}: λ = %{customdata:.3g}<extra></extra>",
    }
    return drawn(
        [directions],
        xaxis={"title": "direction, the flattest first", "gridcolor": FAINT},
        yaxis={"title": "eigenvalue λ", "type": "log", "exponentformat": "power", "gridcolor": FAINT},
        height=height,
    )
