"""How much each word of a sentence counts, drawn on the sentence itself. In: `Attended`. Out: HTML, or a plotly figure.

The shade is a help only: the share stands under each word as a number, and heavy words are bold.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.drawing import ABOVE, drawn
from labkit.figures.palette import FAINT, INK, NEGATIVE, POSITIVE
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
    bars = {
        "type": "bar",
        "x": places,
        "y": attended.shares,
        "name": "share of the vector",
        "marker": {"color": POSITIVE},
        "hovertemplate": "share %{y:.1%}<extra></extra>",
    }
    dots = {
        "type": "scatter",
        "x": places,
        "y": attended.weights,
        "mode": "markers",
        "marker": {"symbol": "diamond", "size": 9, "color": NEGATIVE, "line": {"width": 1, "color": "#000000"}},
        "name": "attention",
        "hovertemplate": "attention %{y:.1%}<extra></extra>",
    }
    even = {
        "type": "line",
        **{"x0": 0, "x1": 1, "xref": "x domain"},
        **{"y0": 1 / len(places), "y1": 1 / len(places), "yref": "y"},
        "line": {"dash": "dot", "color": INK, "width": 1.5},
    }
    names = [short(word, 18) for word in attended.words]
    return drawn(
        [bars, dots],
        shapes=[even],
        xaxis={"tickvals": places, "ticktext": names, "tickangle": -45, "showgrid": False},
        yaxis={"tickformat": ".0%", "gridcolor": FAINT, "rangemode": "tozero"},
        height=height,
        legend=ABOVE,
        bargap=0.25,
    )
