"""Figures of FILM: its rows, and its rule of mutual neighbours.

In: records of `labkit.film`. Out: plotly figures. Blue is the positive end, orange the negative. The part of a row of L
in one similarity is drawn by `similarity`, like the parts by words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from labkit.figures import drawing as draw
from labkit.palette import COLOURS, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from labkit.film.reading import WordRow
    from labkit.film.rule import Rule


# --- rows of L ---------------------------------------------------------------------------------------------------


SMALL = 300  # pixels; a picture of smaller height is one of many


def row_words(row: WordRow, *, height: int = 420) -> go.Figure:
    """Draw the words that pull a row up or down, and the effect of each, `L[l, w] · rms(x_w)`.

    A small picture has no title below its axis.
    """
    entries = [*row.positive, *((word, -effect) for word, effect in reversed(row.negative))]
    effects = [effect for _, effect in entries]
    marker = {"color": [POSITIVE if effect > 0 else NEGATIVE for effect in effects]}
    small = height < SMALL
    places = [f"{place}" for place in range(len(entries))]
    names = draw.ticks([word for word, _ in entries], 24)
    return draw.figure_of(
        [draw.bars(effects, places, marker, hovertemplate="effect %{x:+.4g}<extra></extra>", orientation="h")],
        xaxis={"title": None if small else "pulls down   ←   effect   →   pulls up", "zerolinecolor": INK},
        yaxis=names | {"autorange": "reversed", "tickfont": {"size": 12 if small else 15}},
        height=height,
        bargap=0.25,
    )


# --- the rule of mutual neighbours -------------------------------------------------------------------------------

RATES = (  # attribute, name, colour, dash
    ("tpr", "TPR: same, predicted same", COLOURS[0], "solid"),
    ("tnr", "TNR: not same, predicted not same", COLOURS[2], "solid"),
    ("fpr", "FPR: not same, predicted same", COLOURS[3], "dash"),
    ("fnr", "FNR: same, predicted not same", COLOURS[1], "dot"),
)


def mutual_rule_curves(rule: Rule, *, k: int | None = None) -> go.Figure:
    """Draw the rule for every k: four rates (left) and two log losses (right). The k chosen on dev is dotted."""
    rates: dict[str, Any] = rule.test.rates
    curves = [(1, rates[attribute], *look) for attribute, *look in RATES]
    curves.append((2, rule.hard, "yes and no as 1 and 0", COLOURS[4], "dash"))
    curves.append((2, rule.soft, "yes and no as their shares on dev", COLOURS[5], "solid"))
    hover = f"k = %{{x}}: %{{y:.3f}}{draw.NAME}"
    traces = [
        draw.curve(rule.test.k, values, colour, dash, name=name, hovertemplate=hover) | draw.on(panel)
        for panel, values, name, colour, dash in curves
    ]
    last = float(rule.test.k[-1])
    titles = ("rates on test", "cross-entropy on test")
    x = {"title": "k", "range": [0, last + 1]}
    layout = draw.side_by_side(titles, gap=0.1, size=14, x=x, y={})
    layout["yaxis"] |= {"range": [-0.02, 1.02]}
    losses = [0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 30]
    layout["yaxis2"] |= {"type": "log", "tickvals": losses, "ticktext": [f"{loss:g}" for loss in losses]}
    end = {"xref": "x", "yref": "y", "xanchor": "right", "yshift": 10}
    layout["annotations"] += [
        draw.annotation(attribute.upper(), last, float(rates[attribute][-1]), size=14, **end) for attribute, *_ in RATES
    ]
    places = [(rule.chosen, {"color": INK, "dash": "dot"})]
    places += [(k, {"color": INK})] if k not in (None, rule.chosen) else []
    shapes = [draw.upright(place, line, panel) for panel in (1, 2) for place, line in places]
    return draw.figure_of(traces, shapes=shapes, height=430, legend=draw.below(-0.2), margin=draw.margin(34), **layout)
