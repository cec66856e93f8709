"""Pairs that changed order: how many, and some of them. In: a `Changed`. Out: plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labkit.figures.palette import COLOURS, FAINT, INK, MARKS, NEGATIVE, PLAIN, POSITIVE
from labkit.figures.text import lines

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.reembedding.order import Changed

KINDS = (  # field of the record, what it says, colour, colour of the text on it
    ("kept", "right in both", "#A0A0A0", "#000000"),
    ("mended", "mended", POSITIVE, "#FFFFFF"),
    ("spoilt", "spoilt", NEGATIVE, "#000000"),
    ("wrong", "wrong in both", "#D0D0D0", "#000000"),
)
SIDES = (("the closer pair", COLOURS[2], MARKS[0], "solid"), ("the farther pair", COLOURS[3], MARKS[1], "dash"))


def order_counts(found: Changed, *, height: int = 160) -> go.Figure:
    """One bar of all couples of pairs, in the shares that either space orders rightly."""
    figure = go.Figure()
    for field, name, colour, ink in KINDS:
        count = getattr(found.found, field)
        share = count / found.found.couples
        figure.add_trace(
            go.Bar(
                x=[share],
                y=[""],
                orientation="h",
                name=f"{name} {share:.1%}",
                marker={"color": colour},
                text=f"{share:.1%}" if share > 0.035 else "",
                textfont={"color": ink, "size": 15},
                textposition="inside",
                insidetextanchor="middle",
                textangle=0,
                hovertemplate=f"{name}: {count:,} (%{{x:.2%}})<extra></extra>",
            )
        )
    figure.update_xaxes(tickformat=".0%", range=[0, 1], showgrid=False)
    figure.update_yaxes(showticklabels=False)
    legend = {"orientation": "h", "y": -0.35, "yanchor": "top", "x": 0, "traceorder": "normal", "font": {"size": 13}}
    legend |= {"entrywidth": 0.48, "entrywidthmode": "fraction"}  # two by two, on a narrow screen too
    return figure.update_layout(barmode="stack", height=height, legend=legend, bargap=0.1, **PLAIN)


def order_slopes(found: Changed, kind: str, *, height: int = 280) -> go.Figure:
    """The clearest that were mended, or spoilt: the cosines of two pairs each. That of the closer should be above."""
    examples = {"mended": found.found.mended_examples, "spoilt": found.found.spoilt_examples}[kind]
    if not examples:
        raise ValueError(f"changed has no couple that was {kind}, expected at least one; ask for more pairs")
    titles = [f"{kind} {number}" for number in range(1, len(examples) + 1)]
    figure = make_subplots(rows=1, cols=len(titles), shared_yaxes=True, horizontal_spacing=0.04, subplot_titles=titles)
    for column, example in enumerate(examples, 1):
        for side, (name, colour, mark, dash) in enumerate(SIDES):
            pair = (example.higher, example.lower)[side]
            text = "<br>".join(lines(each[pair]) for each in (found.pairs.text_a, found.pairs.text_b))
            figure.add_trace(
                go.Scatter(
                    x=["before", "after"],
                    y=[example.before[side], example.after[side]],
                    mode="lines+markers",
                    name=name,
                    legendgroup=name,
                    showlegend=column == 1,
                    line={"color": colour, "dash": dash, "width": 3},
                    marker={"symbol": mark, "size": 10},
                    hovertemplate=f"grade {example.gold[side]:g}, cosine %{{y:.3f}}<br>{text}<extra></extra>",
                ),
                row=1,
                col=column,
            )
    figure.update_xaxes(range=[-0.3, 1.3], showgrid=False, tickfont={"size": 11}, tickangle=-40)
    figure.update_yaxes(gridcolor=FAINT, zerolinecolor=INK)
    figure.update_yaxes(title="cosine", row=1, col=1)
    legend = {"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0}
    figure.update_layout(height=height, legend=legend, **PLAIN | {"margin": {"l": 10, "r": 10, "t": 30, "b": 10}})
    return figure.update_annotations(font={"size": 13, "color": INK})
