"""One row of the batch as bars: how similar the anchor's others are, which the miner kept, and what they weigh.

In: an `Examined` and the anchor. Out: a figure, the most similar on the left. Blue is positive, orange negative; a
hatched bar was dropped. The dashed lines are the two limits of the keep rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labkit.figures.palette import FAINT, INK, NEGATIVE, PLAIN, POSITIVE
from labkit.figures.text import lines

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.weighing.examined import Examined

READABLE = 16  # numbers that fit side by side under half a page
KINDS = (("positive", POSITIVE), ("negative", NEGATIVE))


def anchor_bars(found: Examined, anchor: int, *, other: int | None = None, height: int = 430) -> go.Figure:
    """Above the similarities, below the weights; `other` is marked with an arrow."""
    order = [row for row in np.argsort(-found.similarity[anchor], kind="stable").tolist() if row != anchor]
    place = {row: position for position, row in enumerate(order)}
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.6, 0.4])
    for kind, colour in KINDS:
        for kept in (True, False):
            rows = [row for row in order if found.batch.kind(anchor, row) == kind and found.kept[anchor, row] == kept]
            if rows:
                name = f"{kind}, {'kept' if kept else 'dropped'}"
                _bars(figure, found.similarity[anchor], rows, place, name, colour, kept, found.batch.texts, 1)
                _bars(figure, found.weight[anchor], rows, place, name, colour, kept, found.batch.texts, 2)
    unknown = [row for row in order if found.batch.kind(anchor, row) == "unknown"]
    if unknown:
        _bars(figure, found.similarity[anchor], unknown, place, "no pair", INK, False, found.batch.texts, 1)
    if found.settings.miner == "informative":
        _limit(figure, found.floor(anchor), "negatives above are kept", NEGATIVE, len(order))
        _limit(figure, found.ceiling(anchor), "positives below are kept", POSITIVE, len(order))
    if other in place:
        top = max(0.0, float(found.similarity[anchor, other]))
        figure.add_annotation(
            text="▼", x=place[other], y=top, yshift=9, showarrow=False, font={"size": 17, "color": INK}
        )
    step = -(-len(order) // READABLE)  # of more bars every second, third, ... has its number
    ticks = {"tickvals": list(place.values())[::step], "ticktext": order[::step], "tickangle": 0}
    figure.update_xaxes(showgrid=False, tickfont={"size": 11}, **ticks)
    figure.update_xaxes(showticklabels=False, row=1, col=1)
    figure.update_xaxes(title="number of the other sentence", row=2, col=1)
    figure.update_yaxes(gridcolor=FAINT, zerolinecolor=INK)
    figure.update_yaxes(title="similarity", row=1, col=1)
    figure.update_yaxes(title="weight", rangemode="tozero", row=2, col=1)
    legend = {"orientation": "h", "y": -0.24, "yanchor": "top", "x": 0, "font": {"size": 12}}
    return figure.update_layout(barmode="overlay", bargap=0.15, height=height, legend=legend, **PLAIN)


def _bars(
    figure: go.Figure, values: np.ndarray, rows: list[int], place: dict[int, int], name: str, colour: str, kept: bool,
    texts: tuple[str, ...], panel: int,
) -> None:  # fmt: skip
    """Bars of one kind in one of the two panels."""
    figure.add_trace(
        go.Bar(
            x=[place[row] for row in rows],
            y=values[rows],
            name=name,
            legendgroup=name,
            showlegend=panel == 1,
            customdata=[[row, lines(texts[row])] for row in rows],
            marker={"color": colour, "pattern": {"shape": "" if kept else "/", "fillmode": "replace", "solidity": 0.3}},
            hovertemplate="%{y:.4g}, sentence %{customdata[0]}<br>%{customdata[1]}<extra>%{fullData.name}</extra>",
        ),
        row=panel,
        col=1,
    )


def _limit(figure: go.Figure, value: float, name: str, colour: str, count: int) -> None:
    """A limit of the keep rule; none where the anchor lacks what it is measured by."""
    if np.isfinite(value):
        line = {"dash": "dash", "color": colour, "width": 2}
        ends = {"x": [-0.5, count - 0.5], "y": [value, value], "mode": "lines", "line": line, "name": name}
        figure.add_trace(go.Scatter(hovertemplate="%{y:.3f}<extra>%{fullData.name}</extra>", **ends), row=1, col=1)
