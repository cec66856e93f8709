"""Figures of FILM: its rows, and its rule of mutual neighbours.

In: records of `labkit.film`. Out: plotly figures. Blue is the positive end, orange the negative. What a row of L adds
to one similarity is in `similarity`, next to its parts by words.

row_strengths, row_words, row_components    the rows of L (`WordRow`), figure 5 of the paper
mutual_rule_curves                          the rule of mutual neighbours for every k (`Rule`), figure 4
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import (
    NAME,
    Entries,
    annotation,
    bars,
    curve,
    figure_of,
    level_bars,
    margin,
    marks,
    short,
)
from labkit.figures.panels import below, on, side_by_side, ticks, upright
from labkit.palette import COLOURS, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from labkit.film.reading import WordRow
    from labkit.film.rule import Rule


# --- rows of L ---------------------------------------------------------------------------------------------------


def row_strengths(rows: Sequence[WordRow], *, chosen: int | None = None, height: int = 300) -> go.Figure:
    """Draw a bar for each row of L, its share of the whole, and a mark for its stability if measured."""
    colours = [COLOURS[3] if row.number == chosen else POSITIVE for row in rows]
    hover = "row %{customdata[2]}: %{y:.1%} of the whole<br>+ %{customdata[0]}<br>− %{customdata[1]}<extra></extra>"
    ends = [
        [*(short(" ".join(word for word, _ in end[:5]) or "–", 60) for end in (row.positive, row.negative)), row.number]
        for row in rows
    ]
    places = [str(row.number) for row in rows]
    label = {"name": "share of the whole", "customdata": ends, "hovertemplate": hover, "showlegend": False}
    shares = bars(places, [row.share for row in rows], {"color": colours}) | label
    across = {"title": "number of the row", "type": "category", "showgrid": False}
    layout: Entries = {
        "xaxis": across | {"tickangle": 0, "tickfont": {"size": 12}},
        "yaxis": {"title": "share of the whole", "tickformat": ".1%"},
    }
    stable = np.array([row.stability for row in rows])
    if not np.isfinite(stable).any():
        return figure_of([shares], height=height, bargap=0.2, **layout)
    marker = {"symbol": "diamond", "size": 7, "color": NEGATIVE, "line": {"color": INK, "width": 0.5}}
    label = {"name": "stability", "hovertemplate": "stability %{y:.2f}<extra></extra>", "showlegend": False}
    right = {"title": "stability (diamonds)", "overlaying": "y", "side": "right"}
    layout["yaxis2"] = right | {"range": [0, 1.05], "showgrid": False}
    return figure_of([shares, marks(places, stable, marker, yaxis="y2") | label], height=height, bargap=0.2, **layout)


SMALL = 300  # pixels; a lower picture is one of many


def row_words(row: WordRow, *, height: int = 420) -> go.Figure:
    """Draw the words that pull a row up and down, each by its effect `L[l, w] · rms(x_w)`.

    A small picture has no title below its axis.
    """
    entries = [*row.positive, *((word, -effect) for word, effect in reversed(row.negative))]
    if not entries:
        raise ValueError(f"row {row.number} has no word that occurs in enough sentences; lower `min_count`")
    effects = [effect for _, effect in entries]
    marker = {"color": [POSITIVE if effect > 0 else NEGATIVE for effect in effects]}
    small = height < SMALL
    places = [f"{place}" for place in range(len(entries))]
    names = ticks([word for word, _ in entries], 24)
    return figure_of(
        [level_bars(effects, places, marker, hovertemplate="effect %{x:+.4g}<extra></extra>")],
        xaxis={"title": None if small else "pulls down   ←   effect   →   pulls up", "zerolinecolor": INK},
        yaxis=names | {"autorange": "reversed", "tickfont": {"size": 12 if small else 15}},
        height=height,
        bargap=0.25,
    )


def row_components(row: np.ndarray, words: Sequence[str], *, named: int = 8, height: int = 340) -> go.Figure:
    """Draw figure 5: every component of one row of L (D,) as a line, the largest ones with their words."""
    if row.shape != (len(words),):
        raise ValueError(f"row has shape {row.shape}, expected {(len(words),)}, a component for each word")
    columns = np.arange(len(row))
    gap = np.full(len(row), np.nan)
    x, y = np.stack([columns, columns, gap], axis=1).ravel(), np.stack([np.zeros(len(row)), row, gap], axis=1).ravel()
    stems = curve(x, y.astype(np.float32), POSITIVE, width=1, hoverinfo="skip", showlegend=False)
    largest = _apart(np.argsort(-np.abs(row), kind="stable")[: 4 * named], row, len(row) / 9)[:named]
    named_components = marks(
        largest,
        row[largest],
        {"color": COLOURS[3], "size": 7},
        text=[short(words[w], 24) for w in largest],
        textposition=["top center" if row[w] > 0 else "bottom center" for w in largest],
        textfont={"color": INK, "size": 13},
        cliponaxis=False,
        hovertemplate="%{text}: %{y:+.4g}<extra></extra>",
        showlegend=False,
    ) | {"mode": "markers+text"}
    reach = 1.18 * float(np.abs(row).max()) or 1.0
    return figure_of(
        [stems, named_components],
        xaxis={"title": f"the {len(row):,} words, in the order of the alphabet", "showgrid": False},
        yaxis={"title": "component", "zerolinecolor": INK, "range": [-reach, reach]},
        height=height,
    )


def _apart(columns: np.ndarray, row: np.ndarray, least: float) -> list[int]:
    """Return the columns, in order, whose words do not overlap on their side of the axis."""
    kept: list[int] = []
    for column in columns.tolist():
        if all(abs(column - other) >= least or row[column] * row[other] < 0 for other in kept):
            kept.append(column)
    return kept


# --- the rule of mutual neighbours -------------------------------------------------------------------------------

RATES = (  # attribute, name, colour, dash
    ("tpr", "TPR: same, said same", COLOURS[0], "solid"),
    ("tnr", "TNR: not same, said not same", COLOURS[2], "solid"),
    ("fpr", "FPR: not same, said same", COLOURS[3], "dash"),
    ("fnr", "FNR: same, said not same", COLOURS[1], "dot"),
)


def mutual_rule_curves(rule: Rule, *, k: int | None = None) -> go.Figure:
    """Draw the rule for every k: four rates on the left, two log losses on the right; dotted is the k chosen on dev."""
    curves = [(1, getattr(rule.test, attribute), *look) for attribute, *look in RATES]
    curves.append((2, rule.hard, "yes and no as 1 and 0", COLOURS[4], "dash"))
    curves.append((2, rule.soft, "yes and no as their shares on dev", COLOURS[5], "solid"))
    hover = f"k = %{{x}}: %{{y:.3f}}{NAME}"
    traces = [
        curve(rule.test.k, values, colour, dash, name=name, hovertemplate=hover) | on(panel)
        for panel, values, name, colour, dash in curves
    ]
    last = float(rule.test.k[-1])
    titles = ("rates on test", "cross-entropy on test")
    x = {"title": "k", "range": [0, last + 1]}
    layout = side_by_side(titles, gap=0.1, size=14, x=x, y={})
    layout["yaxis"] |= {"range": [-0.02, 1.02]}
    losses = [0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 30]
    layout["yaxis2"] |= {"type": "log", "tickvals": losses, "ticktext": [f"{loss:g}" for loss in losses]}
    end = {"xref": "x", "yref": "y", "xanchor": "right", "yshift": 10}
    layout["annotations"] += [
        annotation(attribute.upper(), last, float(getattr(rule.test, attribute)[-1]), size=14, **end)
        for attribute, *_ in RATES
    ]
    places = [(rule.chosen, {"color": INK, "dash": "dot"})]
    places += [(k, {"color": INK})] if k not in (None, rule.chosen) else []
    shapes = [upright(place, line, panel) for panel in (1, 2) for place, line in places]
    return figure_of(traces, shapes=shapes, height=430, legend=below(-0.2), margin=margin(34), **layout)
