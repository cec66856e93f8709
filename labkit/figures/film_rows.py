"""FILM's rows: how strong each is, the words at its two ends, and all its components (figure 5 of the paper).

In: `Row` records, or a row of L. Out: plotly figures. Blue is the positive end, orange the negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.palette import COLOURS, FAINT, INK, NEGATIVE, PLAIN, POSITIVE
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
    bars = go.Bar(
        x=places, y=[row.share for row in rows], marker={"color": colours}, customdata=ends, hovertemplate=hover
    )
    figure = go.Figure(bars.update(name="share of the whole", showlegend=False))
    stable = np.array([row.stability for row in rows])
    if np.isfinite(stable).any():
        marker = {"symbol": "diamond", "size": 7, "color": NEGATIVE, "line": {"color": INK, "width": 0.5}}
        hover = "stability %{y:.2f}<extra></extra>"
        marks = {"x": places, "y": stable, "mode": "markers", "marker": marker, "name": "stability", "yaxis": "y2"}
        figure.add_trace(go.Scatter(hovertemplate=hover, showlegend=False, **marks))
        axis = {
            "title": "stability (diamonds)",
            "overlaying": "y",
            "side": "right",
            "range": [0, 1.05],
            "showgrid": False,
        }
        figure.update_layout(yaxis2=axis)
    figure.update_xaxes(title="number of the row", type="category", showgrid=False, tickangle=0, tickfont={"size": 12})
    figure.update_yaxes(gridcolor=FAINT)
    figure.update_layout(yaxis={"title": "share of the whole", "tickformat": ".1%"})
    return figure.update_layout(height=height, bargap=0.2, **PLAIN)


def row_words(row: Row, *, height: int = 420) -> go.Figure:
    """The words that pull a row up and down, each by its effect `L[l, w] · rms(x_w)`."""
    entries = [*row.positive, *((word, -effect) for word, effect in reversed(row.negative))]
    if not entries:
        raise ValueError(
            f"row {row.number} has no word that enough sentences have, expected at least one; lower `least`"
        )
    effects = [effect for _, effect in entries]
    bars = go.Bar(
        x=effects,
        y=[f"{place}" for place in range(len(entries))],
        orientation="h",
        marker={"color": [POSITIVE if effect > 0 else NEGATIVE for effect in effects]},
        hovertemplate="effect %{x:+.4g}<extra></extra>",
    )
    figure = go.Figure(bars)
    names = [short(word, 24) for word, _ in entries]
    figure.update_yaxes(tickvals=list(range(len(entries))), ticktext=names, autorange="reversed", tickfont={"size": 15})
    figure.update_xaxes(title="pulls down   ←   effect   →   pulls up", gridcolor=FAINT, zerolinecolor=INK)
    return figure.update_layout(height=height, bargap=0.25, **PLAIN)


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
    figure = go.Figure(go.Scatter(mode="lines", line=line, hoverinfo="skip", showlegend=False, **stems))
    largest = _apart(np.argsort(-np.abs(row), kind="stable")[: 4 * named], row, len(row) / 9)[:named]
    figure.add_trace(
        go.Scatter(
            x=largest,
            y=row[largest],
            mode="markers+text",
            marker={"color": COLOURS[3], "size": 7},
            text=[short(words[w], 24) for w in largest],
            textposition=["top center" if row[w] > 0 else "bottom center" for w in largest],
            textfont={"color": INK, "size": 13},
            cliponaxis=False,
            hovertemplate="%{text}: %{y:+.4g}<extra></extra>",
            showlegend=False,
        )
    )
    reach = 1.18 * float(np.abs(row).max()) or 1.0
    figure.update_xaxes(title=f"the {len(row):,} words, in the order of the alphabet", showgrid=False)
    figure.update_yaxes(title="component", gridcolor=FAINT, zerolinecolor=INK, range=[-reach, reach])
    return figure.update_layout(height=height, **PLAIN)


def _apart(columns: np.ndarray, row: np.ndarray, least: float) -> list[int]:
    """Of these columns, in order, those whose words do not run into one another on their side of the axis."""
    kept: list[int] = []
    for column in columns.tolist():
        if all(abs(column - other) >= least or row[column] * row[other] < 0 for other in kept):
            kept.append(column)
    return kept
