"""How trainings went: a panel for each figure, a line for each run. In: histories by name. Out: a plotly figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from labkit.figures.drawing import Entries, below, drawn, margin
from labkit.figures.palette import COLOURS, FAINT, INK, MARKS
from labkit.figures.panels import on, side_by_side
from labkit.figures.text import short
from labkit.history import History
from labkit.measures import DEV, spoken

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def told(histories: Mapping[str, History]) -> list[str]:
    """The figures worth a look: what is minimised comes first, then what dev says.

    >>> told({"a": History(({"epoch": 1, "loss": 2.0, "gradient": 0.1, "dev_auc": 0.7},))})
    ['loss', 'dev_auc']
    """
    columns = list(dict.fromkeys(name for found in histories.values() for name in found.columns if name != "epoch"))
    return [name for name in columns if name in ("loss", "objective")] + [
        name for name in columns if name.startswith(DEV)
    ]


def training_curves(
    histories: Mapping[str, History], columns: Sequence[str] | None = None, *, height: int = 300
) -> go.Figure:
    """Figure against epoch; a run that has no such figure is left out of its panel."""
    columns = told(histories) if columns is None else list(columns)
    if not columns:
        raise ValueError(
            "histories have no loss and no dev figure, expected a method that is trained in epochs; "
            "choose the columns to draw"
        )
    traces: list[Entries] = []
    for number, (name, history) in enumerate(histories.items()):
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        own = [(panel, column) for panel, column in enumerate(columns, 1) if column in history.columns]
        for panel, column in own:
            curve = {
                "type": "scatter",
                "x": history.column("epoch"),
                "y": history.column(column),
                "mode": "lines+markers",
                "line": {"color": colour, "dash": DASHES[number % len(DASHES)], "width": 2},
                "marker": {"symbol": mark, "size": 7, "color": colour},
                "name": short(name, 40),
                "legendgroup": name,
                "showlegend": len(histories) > 1 and panel == own[0][0],
                "hovertemplate": "epoch %{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
            }
            traces.append(curve | on(panel))
    epochs = max(len(history) for history in histories.values())
    grid = {"gridcolor": FAINT, "zeroline": False}
    layout = side_by_side(
        [spoken(name) for name in columns],
        gap=0.12,
        size=16,
        x=grid | {"title": "epoch", "dtick": max(1, round(epochs / 8)), "tick0": 0},
        y=grid,
    )
    return drawn(traces, height=height, legend=below(-0.3), margin=margin(34), **layout)


def decoder_curves(history: History, words: int, *, height: int = 330) -> go.Figure:
    """P-thought's two losses over the epochs in one panel; dotted: what a guess among all its words costs."""
    guess = math.log(words)
    traces: list[Entries] = [
        {
            "type": "scatter",
            "x": history.column("epoch"),
            "y": history.column(column),
            "mode": "lines+markers",
            "line": {"color": COLOURS[number], "dash": DASHES[number], "width": 2},
            "marker": {"symbol": MARKS[number], "size": 9, "color": COLOURS[number]},
            "name": name,
            "hovertemplate": "epoch %{x}: %{y:.3f}<extra>%{fullData.name}</extra>",
        }
        for number, (name, column) in enumerate((("copy", "l_auto"), ("paraphrase", "l_para")))
    ]
    dotted = {"color": INK, "width": 2, "dash": "dot"}
    across = {"type": "line", "x0": 0, "x1": 1, "xref": "x domain", "y0": guess, "y1": guess, "line": dotted}
    said = {"text": f"a guess among {words:,} words", "x": 1, "xref": "x domain", "xanchor": "right", "y": guess}
    grid = {"gridcolor": FAINT, "zeroline": False}
    return drawn(
        traces,
        shapes=[across],
        annotations=[said | {"yanchor": "bottom", "showarrow": False, "font": {"color": INK}}],
        xaxis=grid | {"title": "epoch", "dtick": 1},
        yaxis=grid | {"title": "loss: mean of -log p", "range": [0, guess * 1.12]},
        height=height,
        legend=below(-0.25),
        margin=margin(10),
    )
