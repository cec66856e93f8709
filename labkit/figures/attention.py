"""How much each word of a sentence counts, drawn on the sentence itself. In: `Attended`. Out: HTML, or a plotly figure.

The shade is a help only: the share stands under each word as a number, and heavy words are bold.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.palette import FAINT, NEGATIVE, PLAIN, POSITIVE
from labkit.figures.text import short

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.methods.thematic import Attended

HEAVY = 1.5  # times an even share, from which on a word is bold


def marked(attended: Attended, *, before: str = "") -> str:
    """The sentence as HTML: behind each word a shade, under it its share in percent. Every word is shown as text.

    `before`: a text in front, such as the number of a cluster.
    """
    largest = max(float(attended.shares.max()), 1e-9)
    even = 1 / len(attended.words)
    parts = []
    for word, share in zip(attended.words, attended.shares.tolist(), strict=True):
        shade = 0.55 * share / largest
        weight = 700 if share > HEAVY * even else 400
        parts.append(
            '<span style="display:inline-block;vertical-align:top;text-align:center;margin:0 .12em .35em 0;'
            'line-height:1.05">'
            f'<span style="background:rgba(0,114,178,{shade:.2f});border-radius:.2em;padding:0 .18em;'
            f'font-weight:{weight}">{escape(word)}</span><br>'
            f'<span style="font-size:.62em;opacity:.75">{100 * share:.0f}</span></span>'
        )
    head = (
        f'<span style="margin-right:.6em;opacity:.75;vertical-align:top;line-height:1.05">{escape(before)}</span>'
        if before
        else ""
    )
    return f'<p style="margin:0 0 .2em 0">{head}{" ".join(parts)}</p>'


def attention_bars(attended: Attended, *, height: int = 380) -> go.Figure:
    """Each word in its order: a bar for its share of the vector, a mark for the bare attention."""
    places = list(range(len(attended.words)))
    figure = go.Figure(
        go.Bar(
            x=places,
            y=attended.shares,
            name="share of the vector",
            marker={"color": POSITIVE},
            hovertemplate="share %{y:.1%}<extra></extra>",
        )
    )
    marker = {"symbol": "diamond", "size": 9, "color": NEGATIVE, "line": {"width": 1, "color": "#000000"}}
    dots = {"x": places, "y": attended.weights, "mode": "markers", "marker": marker, "name": "attention"}
    figure.add_trace(go.Scatter(hovertemplate="attention %{y:.1%}<extra></extra>", **dots))
    figure.add_hline(y=1 / len(places), line={"dash": "dot", "color": "#808080", "width": 1.5})
    figure.update_xaxes(
        tickvals=places, ticktext=[short(word, 18) for word in attended.words], tickangle=-45, showgrid=False
    )
    figure.update_yaxes(tickformat=".0%", gridcolor=FAINT, rangemode="tozero")
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    return figure.update_layout(height=height, legend=legend, bargap=0.25, **PLAIN)
