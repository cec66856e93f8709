"""Figures of FILM: its rows, its descent on the Stiefel manifold, and its rule of mutual neighbours.

In: records of `labkit.film`. Out: plotly figures. Blue is the positive end, orange the negative. What a row of L adds
to one similarity is in `similarity`, next to its parts by words.

row_strengths, row_words, row_components    the rows of L (`WordRow`), figure 5 of the paper
tangent_and_arc, two_ways, descents         steps that keep PᵀP = I, and steps that do not (`Walk`, `Step`)
mutual_rule_curves                          the rule of mutual neighbours for every k (`Rule`), figure 4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    series,
    short,
)
from labkit.figures.panels import below, on, side_by_side, ticks, upright
from labkit.palette import COLOURS, DASHES, INK, NEGATIVE, POSITIVE

if TYPE_CHECKING:
    from labkit.film.reading import WordRow
    from labkit.film.rule import Rule
    from labkit.film.stiefel import Step, Walk


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
        raise ValueError(
            f"row {row.number} has no word that enough sentences have, expected at least one; lower `min_count`"
        )
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


# --- descent on the Stiefel manifold -----------------------------------------------------------------------------

LEAST = 1e-17  # smallest value drawn, since a log axis has no 0


def tangent_and_arc(lengths: np.ndarray, cayley: np.ndarray, straight: np.ndarray, *, every: int = 10) -> go.Figure:
    """Draw steps on the smallest Stiefel manifold, the circle `PᵀP = 1`: along the Cayley curve, and straight on.

    `cayley` and `straight` (t, 2, 1) start at one point, with a step of length 0. Each `every`th step is marked, and a
    dotted line connects where two steps of its length lead.
    """
    turn = np.linspace(0, 2 * np.pi, 181)
    arc, tangent = cayley[..., 0], straight[..., 0]  # (t, 2)
    marked = slice(every, None, every)
    gaps = np.full_like(arc[marked], np.nan)
    joins = np.stack([arc[marked], tangent[marked], gaps], axis=1).reshape(-1, 2)
    silent = {"hoverinfo": "skip", "showlegend": False}
    traces = [
        curve(np.cos(turn), np.sin(turn), INK, width=None, hoverinfo="skip", name="all P with PᵀP = 1"),
        curve(joins[:, 0], joins[:, 1], INK, "dot", None, hoverinfo="skip", name="the same τ"),
    ]
    ways = ((arc, "Cayley step (eq. 24)", "circle"), (tangent, "straight on (eq. 22)", "diamond"))
    for number, (way, name, mark) in enumerate(ways):
        marker = {"color": COLOURS[number], "size": 11, "symbol": mark}
        hover = {"customdata": list(lengths[marked]), "hovertemplate": "τ = %{customdata:g}", "hoverinfo": "all"}
        x, y = way.T
        traces.append(curve(x, y, COLOURS[number], DASHES[number], 3.5) | silent)
        traces.append(marks(x[marked], y[marked], marker, name=name) | hover)
    traces.append(marks(arc[:1, 0], arc[:1, 1], {"size": 14, "color": INK}) | silent)
    words = [(arc[0], "P", -14), *((way[-1], f"τ = {lengths[-1]:g}", 32) for way, *_ in ways)]
    notes = [annotation(text, *place, xshift=aside, yshift=12, font=None) for place, text, aside in words]
    seen = np.concatenate([arc, tangent, [[-1, -1], [1, 1]]])
    low, high = seen.min(0) - 0.15, seen.max(0) + 0.3
    x, y = ({"visible": False, "range": [low[side], high[side]]} for side in (0, 1))
    layout: Entries = {"xaxis": x, "yaxis": y | {"scaleanchor": "x"}, "annotations": notes, "legend": below(0)}
    return figure_of(traces, height=430, margin=margin(10), **layout)


def two_ways(walk: Walk, *, length: float | None = None) -> go.Figure:
    """Draw φ and `|PᵀP - I|` over the length τ of a step, along the Cayley curve and straight on.

    With a `length`, the nearest of the walk's lengths is marked, and the legend gives its values.
    """
    ways = (
        ("along the Cayley curve (eq. 24)", walk.curve, walk.curve_drift),
        ("straight on (eq. 22)", walk.straight, walk.straight_drift),
    )
    at = None if length is None else int(np.argmin(np.abs(np.log(np.divide(walk.lengths, length)))))
    traces: list[Entries] = []
    for number, (name, values, drifts) in enumerate(ways):
        at_length = "" if at is None else f": φ = {values[at]:.3f}, off by {drifts[at]:.0e}"
        traces += _both(number, name + at_length, walk.lengths, values, drifts)
    dotted = {"color": INK, "dash": "dot"}
    lines = [] if at is None else [upright(walk.lengths[at], dotted, panel) for panel in (1, 2)]
    x = {"title": "τ", "type": "log", "dtick": 1, "tickformat": "~g"}
    return figure_of(traces, shapes=lines, height=380, **_layout("φ after a step of length τ", x))


def descents(runs: Mapping[str, Sequence[Step]], least: float) -> go.Figure:
    """Draw φ above `least`, the lowest value known, and `|PᵀP - I|` after each step, a line for each descent."""
    traces: list[Entries] = []
    for number, (name, steps) in enumerate(runs.items()):
        above = [max(step.value - least, LEAST) for step in steps]
        traces += _both(number, name, list(range(len(steps))), above, [step.drift for step in steps])
    layout = _layout("φ above the lowest known", {"title": "step"})
    layout["yaxis"] |= {"type": "log", "dtick": 1, "tickformat": "~g"}
    return figure_of(traces, height=400, **layout)


def _both(
    number: int, name: str, x: Sequence[float], left: Sequence[float], right: Sequence[float]
) -> tuple[Entries, Entries]:
    """Return the lines of one way or one descent in both panels."""
    drifts = [max(value, LEAST) for value in right]
    label: Entries = {"legendgroup": name, "mode": "lines"}
    return (
        series(number, list(x), list(left), name, "%{y:.4g}", showlegend=True, **label, **on(1)),
        series(number, list(x), drifts, name, "%{y:.4g}", showlegend=False, **label, **on(2)),
    )


def _layout(left: str, x: Entries) -> Entries:
    titles = (left, "largest entry of |PᵀP − I|")
    layout = side_by_side(titles, gap=0.12, size=14, x=x, y={})
    layout["yaxis2"] |= {"type": "log", "tickformat": ".0e", "nticks": 8}
    return layout | {"legend": below(-0.25), "margin": margin(34)}


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
