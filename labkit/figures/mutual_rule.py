"""Figure 4 of the FILM paper: the rule of mutual neighbours for every k. In: a `Rule`. Out: a plotly figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import Entries, below, drawn, margin
from labkit.figures.palette import COLOURS, FAINT, INK
from labkit.figures.panels import on, side_by_side, upright

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.film.rule import Rule

RATES = (  # attribute, name, colour, dash
    ("tpr", "TPR: same, said same", COLOURS[0], "solid"),
    ("tnr", "TNR: not same, said not same", COLOURS[2], "solid"),
    ("fpr", "FPR: not same, said same", COLOURS[3], "dash"),
    ("fnr", "FNR: same, said not same", COLOURS[1], "dot"),
)


def mutual_rule_curves(found: Rule, *, k: int | None = None, height: int = 430) -> go.Figure:
    """On the left the four rates, on the right the two log losses; dotted the k that dev chose, whole the given k."""
    traces = [
        _curve(found, getattr(found.test, attribute), name, colour, dash) | on(1)
        for attribute, name, colour, dash in RATES
    ]
    traces += [
        _curve(found, found.hard, "yes and no as 1 and 0", COLOURS[4], "dash") | on(2),
        _curve(found, found.soft, "yes and no as their shares on dev", COLOURS[5], "solid") | on(2),
    ]
    last = float(found.test.k[-1])
    titles = ("rates on test", "cross-entropy on test")
    x = {"title": "k", "gridcolor": FAINT, "range": [0, last + 1]}
    layout = side_by_side(titles, gap=0.1, size=14, x=x, y={"gridcolor": FAINT})
    layout["yaxis"] |= {"range": [-0.02, 1.02]}
    ticks = [0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 30]
    layout["yaxis2"] |= {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:g}" for tick in ticks]}
    end = {"x": last, "xref": "x", "yref": "y", "xanchor": "right", "yshift": 10, "showarrow": False}
    layout["annotations"] += [
        end
        | {"text": attribute.upper(), "y": float(getattr(found.test, attribute)[-1])}
        | {"font": {"color": INK, "size": 14}}
        for attribute, *_ in RATES
    ]
    marks = [(found.chosen, {"color": INK, "dash": "dot"})]
    marks += [(k, {"color": INK})] if k not in (None, found.chosen) else []
    shapes = [upright(place, line, panel) for panel in (1, 2) for place, line in marks]
    return drawn(traces, shapes=shapes, height=height, legend=below(-0.2), margin=margin(34), **layout)


def _curve(found: Rule, values: np.ndarray, name: str, colour: str, dash: str) -> Entries:
    return {
        "type": "scatter",
        "x": found.test.k,
        "y": values,
        "name": name,
        "mode": "lines",
        "line": {"color": colour, "dash": dash, "width": 2.5},
        "hovertemplate": "k = %{x}: %{y:.3f}<extra>%{fullData.name}</extra>",
    }
