"""FILM's rows: how strong each is, the words at its two ends, and all its components (figure 5 of the paper).

In: `Row` records, or a row of L. Out: plotly figures. Blue is the positive end, orange the negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import Entries, drawn
from labkit.figures.palette import COLOURS, FAINT, INK, NEGATIVE, POSITIVE
from labkit.figures.text import short

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.film.rows import Row


def row_strengths(rows: Sequence[Row], *, chosen: int | None = None, height: int = 300) -> go.Figure:
    """A bar for each row of L in the given order, its share of the whole; a mark for its stability where measured."""
    colours = [COLOURS[3] if row.number == chosen else POSITIVE for row in rows]
    hover = "row %{customdata[2]}: %{y:.1%} of the whole<br>+ %{customdata[0]}<br>− %{customdata[1]}<extra></extra>"
    ends = [
        [*(short(" ".join(word for word, _ in end[:5]) or "–", 60) for end in (row.positive, row.negative)), row.number]
        for row in rows
    ]
    places = [str(row.number) for row in rows]
    bars = {
        "type": "bar",
        "x": places,
        "y": [row.share for row in rows],
        "name": "share of the whole",
        "marker": {"color": colours},
        "customdata": ends,
        "hovertemplate": hover,
        "showlegend": False,
    }
    across = {"title": "number of the row", "type": "category", "showgrid": False}
    layout: Entries = {
        "xaxis": across | {"tickangle": 0, "tickfont": {"size": 12}},
        "yaxis": {"title": "share of the whole", "tickformat": ".1%", "gridcolor": FAINT},
    }
    stable = np.array([row.stability for row in rows])
    if not np.isfinite(stable).any():
        return drawn([bars], height=height, bargap=0.2, **layout)
    marks = {
        "type": "scatter",
        "x": places,
        "y": stable,
        "mode": "markers",
        "marker": {"symbol": "diamond", "size": 7, "color": NEGATIVE, "line": {"color": INK, "width": 0.5}},
        "name": "stability",
        "yaxis": "y2",
        "hovertemplate": "stability %{y:.2f}<extra></extra>",
        "showlegend": False,
    }
    right = {"title": "stability (diamonds)", "overlaying": "y", "side": "right"}
    layout["yaxis2"] = right | {"range": [0, 1.05], "showgrid": False, "gridcolor": FAINT}
    return drawn([bars, marks], height=height, bargap=0.2, **layout)


def row_words(row: Row, *, height: int = 420) -> go.Figure:
    """The words that pull a row up and down, each by its effect `L[l, w] · rms(x_w)`."""
    entries = [*row.positive, *((word, -effect) for word, effect in reversed(row.negative))]
    if not entries:
        raise ValueError(
            f"row {row.number} has no word that enough sentences have, expected at least one; lower `least`"
        )
    effects = [effect for _, effect in entries]
    bars = {
        "type": "bar",
        "x": effects,
        "y": [f"{place}" for place in range(len(entries))],
        "orientation": "h",
        "marker": {"color": [POSITIVE if effect > 0 else NEGATIVE for effect in effects]},
        "hovertemplate": "effect %{x:+.4g}<extra></extra>",
    }
    names = {"tickvals": list(range(len(entries))), "ticktext": [short(word, 24) for word, _ in entries]}
    return drawn(
        [bars],
        xaxis={"title": "pulls down   ←   effect   →   pulls up", "gridcolor": FAINT, "zerolinecolor": INK},
        yaxis=names | {"autorange": "reversed", "tickfont": {"size": 15}},
        height=height,
        bargap=0.25,
    )


def row_components(row: np.ndarray, words: Sequence[str], *, named: int = 8, height: int = 340) -> go.Figure:
    """Figure 5: every component of one row of L (D,), a line each, the largest with their words."""
    if row.shape != (len(words),):
        raise ValueError(f"row has shape {row.shape}, expected {(len(words),)}, a component for each word")
    columns = np.arange(len(row))
    gap = np.full(len(row), np.nan)
    stems = {"x": np.stack([columns, columns, gap], axis=1).ravel(), "y": np.stack([gap * 0, row, gap], axis=1).ravel()}
    stems["y"][0::3] = 0.0
    stems["y"] = stems["y"].astype(np.float32)
    line = {"color": POSITIVE, "width": 1}
    lines = {"type": "scatter", "mode": "lines", "line": line, "hoverinfo": "skip", "showlegend": False}
    largest = _apart(np.argsort(-np.abs(row), kind="stable")[: 4 * named], row, len(row) / 9)[:named]
    told = {
        "type": "scatter",
        "x": largest,
        "y": row[largest],
        "mode": "markers+text",
        "marker": {"color": COLOURS[3], "size": 7},
        "text": [short(words[w], 24) for w in largest],
        "textposition": ["top center" if row[w] > 0 else "bottom center" for w in largest],
        "textfont": {"color": INK, "size": 13},
        "cliponaxis": False,
        "hovertemplate": "%{text}: %{y:+.4g}<extra></extra>",
        "showlegend": False,
    }
    reach = 1.18 * float(np.abs(row).max()) or 1.0
    return drawn(
        [lines | stems, told],
        xaxis={"title": f"the {len(row):,} words, in the order of the alphabet", "showgrid": False},
        yaxis={"title": "component", "gridcolor": FAINT, "zerolinecolor": INK, "range": [-reach, reach]},
        height=height,
    )


def _apart(columns: np.ndarray, row: np.ndarray, least: float) -> list[int]:
    """Of these columns, in order, those whose words do not run into one another on their side of the axis."""
    kept: list[int] = []
    for column in columns.tolist():
        if all(abs(column - other) >= least or row[column] * row[other] < 0 for other in kept):
            kept.append(column)
    return kept
