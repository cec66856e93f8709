"""The runs of a comparison as bars, the best on top. In: the `Line`s of `labkit.leaderboard`. Out: a plotly figure.

The name of a run stands above its bar, so that the bars have the whole width even on a telephone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.drawing import ABOVE, Entries, drawn, margin
from labkit.figures.palette import COLOURS, FAINT, INK
from labkit.figures.text import short
from labkit.measures import spoken

if TYPE_CHECKING:
    from labkit.leaderboard import Line

ROW, LEAST = 50, 200  # pixels of a line, and of the whole
BAR = 0.5  # height of a bar, as a share of a line
LOOKS = {  # verdict -> colour, pattern: a tie and what cannot be told have one
    "best": (COLOURS[0], ""),
    "tie": (COLOURS[5], "/"),
    "behind": (COLOURS[1], ""),
    "unknown": (INK, "."),
    "no order": (COLOURS[4], ""),
}
SPOKEN = {
    "tie": "tie with the best",
    "unknown": "too few seeds to tell",
    "no order": "neither better nor worse when larger",
}  # verdict -> words
SAW = "saw the test sentences"  # of a run that leads, or does not, with them


def leader_bars(lines: Sequence[Line]) -> go.Figure:
    """A bar for each line: the mean of the figure that they were judged by, and a stroke for every seed."""
    if not lines:
        raise ValueError("lines are empty, expected at least one; choose a run")
    figure = lines[0].figure
    shown = [(place, line) for place, line in enumerate(lines) if figure in line.means]
    if not shown:
        raise ValueError(f"figure is {figure!r}, expected one of {', '.join(lines[0].means)}; choose one of them")
    traces = [
        _bars([(place, line) for place, line in shown if line.verdict == verdict], figure, verdict)
        for verdict in LOOKS
        if any(line.verdict == verdict for _, line in shown)
    ]
    dots = [
        (result.scores.figures[figure], place)
        for place, line in shown
        if len(line.results) > 1
        for result in line.results
    ]
    if dots:
        strokes = {
            "type": "scatter",
            "x": [value for value, _ in dots],
            "y": [place for _, place in dots],
            "mode": "markers",
            "name": "a seed each",
            "marker": {"symbol": "line-ns-open", "size": 14, "color": "#000000", "line": {"width": 2}},
            "hovertemplate": "%{x:.4f}<extra>%{fullData.name}</extra>",
        }
        traces.append(strokes)
    where = {"xref": "paper", "x": 0, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    font = {"size": 13, "color": INK}
    names = [where | {"y": place - BAR / 2, "text": named(line), "font": font} for place, line in shown]
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False}
    return drawn(
        traces,
        annotations=names,
        xaxis={"title": spoken(figure), "gridcolor": FAINT, "zerolinecolor": INK, "rangemode": "tozero"},
        yaxis=bare | {"range": [len(lines) - 0.6, -0.8]},
        height=max(LEAST, 90 + ROW * len(lines)),
        legend=ABOVE | {"traceorder": "normal"},
        showlegend=True,
        barmode="overlay",
        margin=margin(30) | {"r": 50},
    )


def named(line: Line) -> str:
    """Above its bar: the line's name, and whether it has seen what it is tested on."""
    return f"{short(line.name, 26)} · {SAW}" if line.saw_test else short(line.name, 48)


def _bars(mine: list[tuple[int, Line]], figure: str, verdict: str) -> Entries:
    """The lines of one verdict, at their places."""
    colour, pattern = LOOKS[verdict]
    return {
        "type": "bar",
        "x": [line.means[figure] for _, line in mine],
        "y": [place for place, _ in mine],
        "orientation": "h",
        "width": BAR,
        "name": SPOKEN.get(verdict, verdict),
        "marker": {"color": colour, "pattern": {"shape": pattern, "fillmode": "replace", "solidity": 0.4}},
        "text": [f"{line.means[figure]:.3f}" for _, line in mine],
        "textposition": "outside",
        "textfont": {"color": INK},
        "cliponaxis": False,
        "hovertemplate": "%{x:.4f}<extra>%{fullData.name}</extra>",
    }
