"""Pairs that changed order: how many, and some of them. In: a `Changed`. Out: plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.drawing import below, drawn, margin
from labkit.figures.palette import COLOURS, FAINT, INK, MARKS, NEGATIVE, POSITIVE
from labkit.figures.panels import on, side_by_side
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
    bars = []
    for field, name, colour, ink in KINDS:
        count = getattr(found.found, field)
        share = count / found.found.couples
        bars.append(
            {
                "type": "bar",
                "x": [share],
                "y": [""],
                "orientation": "h",
                "name": f"{name} {share:.1%}",
                "marker": {"color": colour},
                "text": f"{share:.1%}" if share > 0.035 else "",
                "textfont": {"color": ink, "size": 15},
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "hovertemplate": f"{name}: {count:,} (%{{x:.2%}})<extra></extra>",
            }
        )
    two_by_two = {"entrywidth": 0.48, "entrywidthmode": "fraction"}  # on a narrow screen too
    return drawn(
        bars,
        xaxis={"tickformat": ".0%", "range": [0, 1], "showgrid": False},
        yaxis={"showticklabels": False},
        legend=below(-0.35) | two_by_two | {"traceorder": "normal", "font": {"size": 13}},
        barmode="stack",
        bargap=0.1,
        height=height,
    )


def order_slopes(found: Changed, kind: str, *, height: int = 280) -> go.Figure:
    """The clearest that were mended, or spoilt: the cosines of two pairs each. That of the closer should be above."""
    examples = {"mended": found.found.mended_examples, "spoilt": found.found.spoilt_examples}[kind]
    if not examples:
        raise ValueError(f"changed has no couple that was {kind}, expected at least one; ask for more pairs")
    titles = [f"{kind} {number}" for number in range(1, len(examples) + 1)]
    traces = []
    for panel, example in enumerate(examples, 1):
        for side, (name, colour, mark, dash) in enumerate(SIDES):
            pair = (example.higher, example.lower)[side]
            text = "<br>".join(lines(each[pair]) for each in (found.pairs.text_a, found.pairs.text_b))
            slope = {
                "type": "scatter",
                "x": ["before", "after"],
                "y": [example.before[side], example.after[side]],
                "mode": "lines+markers",
                "name": name,
                "legendgroup": name,
                "showlegend": panel == 1,
                "line": {"color": colour, "dash": dash, "width": 3},
                "marker": {"symbol": mark, "size": 10},
                "hovertemplate": f"grade {example.gold[side]:g}, cosine %{{y:.3f}}<br>{text}<extra></extra>",
            }
            traces.append(slope | on(panel))
    layout = side_by_side(
        titles,
        gap=0.04,
        size=13,
        x={"range": [-0.3, 1.3], "showgrid": False, "tickfont": {"size": 11}, "tickangle": -40},
        y={"gridcolor": FAINT, "zerolinecolor": INK},
        shared=True,
    )
    layout["yaxis"] |= {"title": "cosine"}
    return drawn(traces, height=height, legend=below(-0.22), margin=margin(30), **layout)
