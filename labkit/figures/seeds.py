"""An ablation at a glance: a line for each variant, a dot for each seed, their mean and spread. In: `Figures`.

The band is the spread around the best mean: whatever mean lies in it is a tie with the best, whoever leads by a hair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.drawing import ABOVE, drawn
from labkit.figures.palette import COLOURS, FAINT, INK
from labkit.figures.text import short
from labkit.measures import spoken

if TYPE_CHECKING:  # the record's module makes notebooks too, and needs what figures do not
    from labkit.course.ablation import Figures

ROW, REST = 34, 70  # pixels


def seed_dots(found: Figures, measure: str, *, height: int | None = None) -> go.Figure:
    """`measure` to the right; a variant measured once (no seeds, no chance in it) has its mean alone."""
    names = list(found.figures)
    if not names or measure not in next(iter(found.figures[names[0]].values())):
        raise ValueError(f"measure is {measure!r}, which ablation {found.name!r} has not; name one of its figures")
    spreads = {name: found.spread(name, measure) for name in names}
    best = max(spreads.values(), key=lambda each: each.mean)
    rows = [(row, value) for row, name in enumerate(names) for value in spreads[name].values]
    seeds = {
        "type": "scatter",
        "x": [value for _, value in rows],
        "y": [row for row, _ in rows],
        "mode": "markers",
        "name": "one seed",
        "text": [f"seed {seed}" for name in names for seed in found.figures[name]],
        "marker": {"size": 8, "color": INK, "symbol": "circle-open"},
        "hovertemplate": "%{text}: %{x:.4f}<extra></extra>",
    }
    means = {
        "type": "scatter",
        "x": [spreads[name].mean for name in names],
        "y": list(range(len(names))),
        "mode": "markers",
        "name": "mean ± spread",
        "error_x": {"array": [spreads[name].spread for name in names], "color": COLOURS[0], "thickness": 2},
        "marker": {"size": 11, "color": COLOURS[0], "symbol": "diamond"},
        "hovertemplate": "mean %{x:.4f}<extra></extra>",
    }
    across = {"x0": best.mean - best.spread, "x1": best.mean + best.spread, "xref": "x"}
    band = {"type": "rect", "fillcolor": FAINT, "line": {"width": 0}, "y0": 0, "y1": 1, "yref": "y domain"}
    ticks = {"tickvals": list(range(len(names))), "ticktext": [short(name, 34) for name in names]}
    return drawn(
        [seeds, means],
        shapes=[band | across],
        xaxis={"title": spoken(measure), "gridcolor": FAINT, "zeroline": False},
        yaxis=ticks | {"range": [len(names) - 0.5, -0.5], "showgrid": False, "zeroline": False},
        height=height or REST + 40 + ROW * len(names),
        legend=ABOVE,
    )
