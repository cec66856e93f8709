"""Figure 4 of the FILM paper: the rule of mutual neighbours for every k. In: a `Rule`. Out: a plotly figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labkit.figures.palette import COLOURS, FAINT, INK, PLAIN

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
    figure = make_subplots(
        rows=1, cols=2, horizontal_spacing=0.1, subplot_titles=("rates on test", "cross-entropy on test")
    )
    hover = "k = %{x}: %{y:.3f}<extra>%{fullData.name}</extra>"
    for attribute, name, colour, dash in RATES:
        line = {"color": colour, "dash": dash, "width": 2.5}
        trace = go.Scatter(x=found.test.k, y=getattr(found.test, attribute), name=name, mode="lines", line=line)
        figure.add_trace(trace.update(hovertemplate=hover), row=1, col=1)
        end = {"x": float(found.test.k[-1]), "y": float(getattr(found.test, attribute)[-1]), "font": {"color": INK}}
        figure.add_annotation(text=attribute.upper(), xanchor="right", yshift=10, showarrow=False, **end, row=1, col=1)
    losses = (
        ("yes and no as 1 and 0 (the paper's)", found.hard, COLOURS[4], "dash"),
        ("yes and no as their shares on dev", found.soft, COLOURS[5], "solid"),
    )
    for name, values, colour, dash in losses:
        line = {"color": colour, "dash": dash, "width": 2.5}
        trace = go.Scatter(x=found.test.k, y=values, name=name, mode="lines", line=line)
        figure.add_trace(trace.update(hovertemplate=hover), row=1, col=2)
    for column in (1, 2):
        figure.add_vline(x=found.chosen, line_dash="dot", line_color=INK, row=1, col=column)
        if k is not None and k != found.chosen:
            figure.add_vline(x=k, line_color=INK, row=1, col=column)
    figure.update_xaxes(title="k", gridcolor=FAINT, range=[0, float(found.test.k[-1]) + 1])
    figure.update_yaxes(gridcolor=FAINT)
    figure.update_yaxes(range=[-0.02, 1.02], row=1, col=1)
    ticks = [0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 30]
    figure.update_yaxes(type="log", tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], row=1, col=2)
    legend = {"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0}
    figure.update_layout(height=height, legend=legend, **PLAIN | {"margin": {"l": 10, "r": 10, "t": 34, "b": 10}})
    return figure.update_annotations(font={"size": 14, "color": INK})
