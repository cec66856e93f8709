"""How trainings went: a panel for each figure, a line for each run. In: histories by name. Out: a plotly figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labkit.figures.palette import COLOURS, FAINT, MARKS, PLAIN
from labkit.figures.text import short
from labkit.history import History

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def told(histories: Mapping[str, History]) -> list[str]:
    """The figures worth a look: what is minimised comes first, then what dev says.

    >>> told({"a": History(({"epoch": 1, "loss": 2.0, "gradient": 0.1, "dev_auc": 0.7},))})
    ['loss', 'dev_auc']
    """
    columns = list(dict.fromkeys(name for found in histories.values() for name in found.columns if name != "epoch"))
    return [name for name in columns if name in ("loss", "objective")] + [
        name for name in columns if name.startswith("dev")
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
    figure = make_subplots(rows=1, cols=len(columns), subplot_titles=columns, horizontal_spacing=0.12)
    named: set[str] = set()
    for number, (name, history) in enumerate(histories.items()):
        colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
        line = {"color": colour, "dash": DASHES[number % len(DASHES)], "width": 2}
        for place, column in enumerate(columns, start=1):
            if column not in history.columns:
                continue
            values = {"x": history.column("epoch"), "y": history.column(column)}
            figure.add_trace(
                go.Scatter(
                    **values,
                    mode="lines+markers",
                    line=line,
                    marker={"symbol": mark, "size": 7, "color": colour},
                    name=short(name, 40),
                    legendgroup=name,
                    showlegend=len(histories) > 1 and name not in named,
                    hovertemplate="epoch %{x}: %{y:.4g}<extra>%{fullData.name}</extra>",
                ),
                row=1,
                col=place,
            )
            named.add(name)
    epochs = max(len(history) for history in histories.values())
    figure.update_xaxes(title="epoch", gridcolor=FAINT, zeroline=False, dtick=max(1, round(epochs / 8)), tick0=0)
    figure.update_yaxes(gridcolor=FAINT, zeroline=False)
    legend = {"orientation": "h", "y": -0.3, "yanchor": "top", "x": 0}
    return figure.update_layout(
        height=height, legend=legend, **PLAIN | {"margin": {"l": 10, "r": 10, "t": 34, "b": 10}}
    )
