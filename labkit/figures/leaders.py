"""The runs of a comparison as bars, the best on top. In: the `Line`s of `labkit.leaderboard`. Out: a plotly figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.palette import COLOURS, FAINT, INK, PLAIN
from labkit.figures.text import short

if TYPE_CHECKING:
    from labkit.leaderboard import Line

ROW, LEAST = 42, 200  # pixels of a line, and of the whole
LOOKS = {  # verdict -> colour, pattern: a tie and what cannot be told have one
    "best": (COLOURS[0], ""),
    "tie": (COLOURS[5], "/"),
    "behind": (COLOURS[1], ""),
    "unknown": (INK, "."),
}


def leader_bars(lines: Sequence[Line], figure: str | None = None) -> go.Figure:
    """A bar for each line: the mean of a figure (else of the leading one), and a stroke for every seed."""
    if not lines:
        raise ValueError("lines are empty, expected at least one; choose a run")
    figure = figure or lines[0].measure
    shown = [(place, line) for place, line in enumerate(lines) if figure in line.means]
    if not shown:
        raise ValueError(f"figure is {figure!r}, expected one of {', '.join(lines[0].means)}; choose one of them")
    drawn = go.Figure()
    for verdict, (colour, pattern) in LOOKS.items():
        mine = [(place, line) for place, line in shown if line.verdict == verdict]
        if mine:
            drawn.add_trace(
                go.Bar(
                    x=[line.means[figure] for _, line in mine],
                    y=[place for place, _ in mine],
                    orientation="h",
                    name={"unknown": "too few seeds to tell", "tie": "tie with the best"}.get(verdict, verdict),
                    marker={"color": colour, "pattern": {"shape": pattern, "fillmode": "replace", "solidity": 0.4}},
                    text=[f"{line.means[figure]:.3f}" for _, line in mine],
                    textposition="outside",
                    textfont={"color": INK},
                    cliponaxis=False,
                    hovertemplate="%{x:.4f}<extra>%{fullData.name}</extra>",
                )
            )
    dots = [
        (result.scores.figures[figure], place)
        for place, line in shown
        if len(line.results) > 1
        for result in line.results
    ]
    if dots:
        drawn.add_trace(
            go.Scatter(
                x=[value for value, _ in dots],
                y=[place for _, place in dots],
                mode="markers",
                name="a seed each",
                marker={"symbol": "line-ns-open", "size": 14, "color": "#000000", "line": {"width": 2}},
                hovertemplate="%{x:.4f}<extra>%{fullData.name}</extra>",
            )
        )
    drawn.update_yaxes(
        tickvals=[place for place, _ in shown],
        ticktext=[short(line.name, 32) for _, line in shown],
        range=[len(lines) - 0.4, -0.6],
        automargin=True,
    )
    drawn.update_xaxes(title=figure, gridcolor=FAINT, zerolinecolor=INK, rangemode="tozero")
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"}
    room = PLAIN | {"margin": {"l": 10, "r": 50, "t": 30, "b": 10}}
    return drawn.update_layout(
        height=max(LEAST, 90 + ROW * len(lines)), legend=legend, showlegend=True, bargap=0.3, barmode="overlay", **room
    )
