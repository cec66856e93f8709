"""One row of the batch as bars: how similar the anchor's others are, which the miner kept, and what they weigh.

In: an `Examined` and the anchor. Out: a figure, the most similar on the left. Blue is positive, orange negative; a
hatched bar was dropped. The dashed lines are the two limits of the keep rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import Entries, below, drawn
from labkit.figures.palette import FAINT, INK, NEGATIVE, POSITIVE
from labkit.figures.panels import on, stacked
from labkit.figures.text import lines

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.weighing.examined import Examined

READABLE = 16  # numbers that fit side by side under half a page
KINDS = (("positive", POSITIVE), ("negative", NEGATIVE))


def anchor_bars(found: Examined, anchor: int, *, other: int | None = None, height: int = 430) -> go.Figure:
    """Above the similarities, below the weights; `other` is marked with an arrow."""
    order = [row for row in np.argsort(-found.similarity[anchor], kind="stable").tolist() if row != anchor]
    place = {row: position for position, row in enumerate(order)}
    traces: list[Entries] = []
    for kind, colour in KINDS:
        for kept in (True, False):
            rows = [row for row in order if found.batch.kind(anchor, row) == kind and found.kept[anchor, row] == kept]
            if rows:
                bars = _bars(found, rows, place, f"{kind}, {'kept' if kept else 'dropped'}", colour, kept)
                weights = {"y": found.weight[anchor, rows], "showlegend": False}
                traces += [bars | on(1) | {"y": found.similarity[anchor, rows]}, bars | on(2) | weights]
    unknown = [row for row in order if found.batch.kind(anchor, row) == "unknown"]
    if unknown:
        bars = _bars(found, unknown, place, "no pair", INK, False)
        traces.append(bars | on(1) | {"y": found.similarity[anchor, unknown]})
    if found.settings.miner == "informative":
        traces += _limit(found.floor(anchor), "negatives above are kept", NEGATIVE, len(order))
        traces += _limit(found.ceiling(anchor), "positives below are kept", POSITIVE, len(order))
    step = -(-len(order) // READABLE)  # of more bars every second, third, ... has its number
    ticks = {"tickvals": list(place.values())[::step], "ticktext": order[::step], "tickangle": 0}
    layout = stacked(
        (0.6, 0.4),
        gap=0.06,
        x={"showgrid": False, "tickfont": {"size": 11}} | ticks,
        y={"gridcolor": FAINT, "zerolinecolor": INK},
    )
    layout["xaxis"] |= {"matches": "x2", "showticklabels": False}
    layout["xaxis2"] |= {"title": "number of the other sentence"}
    layout["yaxis"] |= {"title": "similarity"}
    layout["yaxis2"] |= {"title": "weight", "rangemode": "tozero"}
    if other in place:
        top = max(0.0, float(found.similarity[anchor, other]))
        arrow = {"text": "▼", "yshift": 9, "showarrow": False, "font": {"size": 17, "color": INK}}
        layout["annotations"] = [arrow | {"x": place[other], "y": top}]
    legend = below(-0.24) | {"font": {"size": 12}}
    return drawn(traces, barmode="overlay", bargap=0.15, height=height, legend=legend, **layout)


def _bars(found: Examined, rows: list[int], place: dict[int, int], name: str, colour: str, kept: bool) -> Entries:
    """Bars of one kind, without their heights."""
    return {
        "type": "bar",
        "x": [place[row] for row in rows],
        "name": name,
        "legendgroup": name,
        "showlegend": True,
        "customdata": [[row, lines(found.batch.texts[row])] for row in rows],
        "marker": {"color": colour, "pattern": {"shape": "" if kept else "/", "fillmode": "replace", "solidity": 0.3}},
        "hovertemplate": "%{y:.4g}, sentence %{customdata[0]}<br>%{customdata[1]}<extra>%{fullData.name}</extra>",
    }


def _limit(value: float, name: str, colour: str, count: int) -> list[Entries]:
    """A limit of the keep rule; none where the anchor lacks what it is measured by."""
    if not np.isfinite(value):
        return []
    line = {
        "type": "scatter",
        "x": [-0.5, count - 0.5],
        "y": [value, value],
        "mode": "lines",
        "line": {"dash": "dash", "color": colour, "width": 2},
        "name": name,
        "hovertemplate": "%{y:.3f}<extra>%{fullData.name}</extra>",
    }
    return [line | on(1)]
