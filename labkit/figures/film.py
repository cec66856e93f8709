"""Figures of FILM: its rows, and its rule of mutual neighbours.

In: records of `labkit.film`. Out: plotly figures. Blue is the positive end, orange the negative. The part of a row of L
in one similarity is drawn by `similarity`, like the parts by words.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from labkit.figure_names import written
from labkit.figures import drawing as draw
from labkit.palette import COLOURS, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from labkit.film.reading import RowOfPair
    from labkit.film.rule import Rule


# --- rows of L ---------------------------------------------------------------------------------------------------

WORDS, DIGITS = 4, 3  # words of each sentence, the others are one bar; decimals


def row_of_pair(row: RowOfPair, *, height: int = 270) -> go.Figure:
    """Draw the words of a and b that make up their two numbers on a row; grey bars are the numbers, the sums of all.

    Numbers have three decimals. The last bar of each sentence shows the remainder, so that its bars add up.
    """
    entries: list[tuple[str, float, str]] = []
    ends = []
    for side, number, words in zip("ab", row.numbers, row.words, strict=True):
        shown = [(word, round(value, DIGITS)) for word, value in words[:WORDS]]
        name = f"{len(words) - WORDS} other words" if len(words) > WORDS else shown.pop()[0] if shown else ""
        if name:
            shown.append((name, round(round(number, DIGITS) - sum(value for _, value in shown), DIGITS)))
        entries += [(word, value, POSITIVE if value > 0 else NEGATIVE) for word, value in shown]
        entries.append((f"sum: {side}", round(number, DIGITS), INK))
        ends.append(len(entries) - 0.5)
    values = [value for _, value, _ in entries]
    marker = {"color": [colour for *_, colour in entries]}
    text = {"text": list(map(written, values)), "textposition": "outside", "cliponaxis": False}
    text |= {"constraintext": "none"}  # as large as it says, although the bars are thin
    hover = "%{customdata}: %{x:+.3f}<extra></extra>"
    names = draw.ticks([name for name, *_ in entries], 18)
    room = 0.3 * max(map(abs, values), default=1.0)
    bars = draw.bars(values, list(range(len(entries))), marker, orientation="h", hovertemplate=hover, **text)
    return draw.figure_of(
        [bars | {"customdata": names["ticktext"], "textfont": {"size": 12, "color": INK}}],
        shapes=[draw.stroke((0, 1), (ends[0], ends[0]), {"color": INK, "width": 0.6}, xref="x domain")],
        xaxis={"zerolinecolor": INK, "range": [min(0, *values) - room, max(0, *values) + room], "nticks": 5},
        yaxis=names | {"autorange": "reversed", "tickfont": {"size": 12}, "showgrid": False},
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
UNIT, LINE = 280, 20  # pixels of a rate of 1, and of a name with its room
HOVER = f"k = %{{x}}: %{{y:.3f}}{draw.NAME}"


def mutual_rule_curves(rule: Rule, *, k: int | None = None) -> go.Figure:
    """Draw the four rates of the rule for every k. The k chosen on dev is dotted."""
    rates, last = rule.test.rates, float(rule.test.k[-1])
    traces = [
        draw.curve(rule.test.k, rates[attribute], colour, dash, name=name, hovertemplate=HOVER)
        for attribute, name, colour, dash in RATES
    ]
    names, above = [], inf
    for value, name in sorted(((float(rates[name][-1]), name) for name, *_ in RATES), reverse=True):
        shift = 10 if UNIT * (above - value) > LINE else -10  # below its curve if that ends just below another one
        names.append(draw.annotation(name.upper(), last, value, size=14, yshift=shift, xanchor="right"))
        above = value
    return _for_every_k(rule, traces, k, {"title": "rate on test", "range": [-0.02, 1.02]}, annotations=names)


def mutual_rule_losses(rule: Rule, *, k: int | None = None) -> go.Figure:
    """Draw both log losses of the rule for every k. The k chosen on dev is dotted."""
    looks = ((rule.hard, "yes and no as 1 and 0", COLOURS[4], "dash"),
             (rule.soft, "yes and no as their shares of duplicates on dev", COLOURS[5], "solid"))  # fmt: skip
    traces = [
        draw.curve(rule.test.k, values, colour, dash, name=name, hovertemplate=HOVER)
        for values, name, colour, dash in looks
    ]
    losses = [0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 30]
    ticks = {"tickvals": losses, "ticktext": [f"{loss:g}" for loss in losses]}
    return _for_every_k(rule, traces, k, {"type": "log", "title": "cross-entropy on test"} | ticks)


def _for_every_k(rule: Rule, traces: list[Any], k: int | None, y: dict[str, Any], **layout: Any) -> go.Figure:
    """Draw curves over k, with the chosen k and the selected one marked."""
    places = [(rule.chosen, {"color": INK, "dash": "dot"})]
    places += [(k, {"color": INK})] if k not in (None, rule.chosen) else []
    return draw.figure_of(
        traces,
        shapes=[draw.upright(place, line) for place, line in places],
        xaxis={"title": "k", "range": [0, float(rule.test.k[-1]) + 1]},
        yaxis=y,
        height=390,
        legend=draw.below(-0.2),
        **layout,
    )
