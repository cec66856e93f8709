"""The figures of FILM: its rows, its descent on the Stiefel manifold, a similarity taken apart, and its rule.

In: records of `labkit.film`. Out: plotly figures. Blue is the positive end, orange the negative.

row_strengths, row_words, row_components       the rows of L (`WordRow`), figure 5 of the paper
tangent_and_arc, two_ways, descents            steps that keep PᵀP = I, and steps that do not (`Walk`, `Step`)
explained_rows, explained_words, word_pairs    a similarity by rows of L, words, pairs of words (`Explanation`)
mutual_rule_curves                             the rule of mutual neighbours for every k (`Rule`), figure 4
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import (
    COLOURS,
    DIVERGING,
    FAINT,
    INK,
    NEGATIVE,
    POSITIVE,
    Entries,
    below,
    figure_of,
    margin,
    on,
    short,
    side_by_side,
    upright,
)

if TYPE_CHECKING:
    from labkit.film.reading import Explanation, WordRow
    from labkit.film.rule import Rule
    from labkit.film.stiefel import Step, Walk


# --- rows of L ---------------------------------------------------------------------------------------------------


def row_strengths(rows: Sequence[WordRow], *, chosen: int | None = None, height: int = 300) -> go.Figure:
    """A bar for each row of L in the given order, its share of the whole; a mark for its stability where measured."""
    colours = [COLOURS[3] if row.number == chosen else POSITIVE for row in rows]
    hover = "row %{customdata[2]}: %{y:.1%} of the whole<br>+ %{customdata[0]}<br>− %{customdata[1]}<extra></extra>"
    ends = [
        [*(short(" ".join(word for word, _ in end[:5]) or "–", 60) for end in (row.positive, row.negative)), row.number]
        for row in rows
    ]
    places = [str(row.number) for row in rows]
    bars = {
        "type": "bar",
        "x": places,
        "y": [row.share for row in rows],
        "name": "share of the whole",
        "marker": {"color": colours},
        "customdata": ends,
        "hovertemplate": hover,
        "showlegend": False,
    }
    across = {"title": "number of the row", "type": "category", "showgrid": False}
    layout: Entries = {
        "xaxis": across | {"tickangle": 0, "tickfont": {"size": 12}},
        "yaxis": {"title": "share of the whole", "tickformat": ".1%", "gridcolor": FAINT},
    }
    stable = np.array([row.stability for row in rows])
    if not np.isfinite(stable).any():
        return figure_of([bars], height=height, bargap=0.2, **layout)
    marks = {
        "type": "scatter",
        "x": places,
        "y": stable,
        "mode": "markers",
        "marker": {"symbol": "diamond", "size": 7, "color": NEGATIVE, "line": {"color": INK, "width": 0.5}},
        "name": "stability",
        "yaxis": "y2",
        "hovertemplate": "stability %{y:.2f}<extra></extra>",
        "showlegend": False,
    }
    right = {"title": "stability (diamonds)", "overlaying": "y", "side": "right"}
    layout["yaxis2"] = right | {"range": [0, 1.05], "showgrid": False, "gridcolor": FAINT}
    return figure_of([bars, marks], height=height, bargap=0.2, **layout)


def row_words(row: WordRow, *, height: int = 420) -> go.Figure:
    """The words that pull a row up and down, each by its effect `L[l, w] · rms(x_w)`."""
    entries = [*row.positive, *((word, -effect) for word, effect in reversed(row.negative))]
    if not entries:
        raise ValueError(
            f"row {row.number} has no word that enough sentences have, expected at least one; lower `least`"
        )
    effects = [effect for _, effect in entries]
    bars = {
        "type": "bar",
        "x": effects,
        "y": [f"{place}" for place in range(len(entries))],
        "orientation": "h",
        "marker": {"color": [POSITIVE if effect > 0 else NEGATIVE for effect in effects]},
        "hovertemplate": "effect %{x:+.4g}<extra></extra>",
    }
    names = {"tickvals": list(range(len(entries))), "ticktext": [short(word, 24) for word, _ in entries]}
    return figure_of(
        [bars],
        xaxis={"title": "pulls down   ←   effect   →   pulls up", "gridcolor": FAINT, "zerolinecolor": INK},
        yaxis=names | {"autorange": "reversed", "tickfont": {"size": 15}},
        height=height,
        bargap=0.25,
    )


def row_components(row: np.ndarray, words: Sequence[str], *, named: int = 8, height: int = 340) -> go.Figure:
    """Figure 5: every component of one row of L (D,), a line each, the largest with their words."""
    if row.shape != (len(words),):
        raise ValueError(f"row has shape {row.shape}, expected {(len(words),)}, a component for each word")
    columns = np.arange(len(row))
    gap = np.full(len(row), np.nan)
    stems = {"x": np.stack([columns, columns, gap], axis=1).ravel(), "y": np.stack([gap * 0, row, gap], axis=1).ravel()}
    stems["y"][0::3] = 0.0
    stems["y"] = stems["y"].astype(np.float32)
    line = {"color": POSITIVE, "width": 1}
    lines = {"type": "scatter", "mode": "lines", "line": line, "hoverinfo": "skip", "showlegend": False}
    largest = _apart(np.argsort(-np.abs(row), kind="stable")[: 4 * named], row, len(row) / 9)[:named]
    named_components = {
        "type": "scatter",
        "x": largest,
        "y": row[largest],
        "mode": "markers+text",
        "marker": {"color": COLOURS[3], "size": 7},
        "text": [short(words[w], 24) for w in largest],
        "textposition": ["top center" if row[w] > 0 else "bottom center" for w in largest],
        "textfont": {"color": INK, "size": 13},
        "cliponaxis": False,
        "hovertemplate": "%{text}: %{y:+.4g}<extra></extra>",
        "showlegend": False,
    }
    reach = 1.18 * float(np.abs(row).max()) or 1.0
    return figure_of(
        [lines | stems, named_components],
        xaxis={"title": f"the {len(row):,} words, in the order of the alphabet", "showgrid": False},
        yaxis={"title": "component", "gridcolor": FAINT, "zerolinecolor": INK, "range": [-reach, reach]},
        height=height,
    )


def _apart(columns: np.ndarray, row: np.ndarray, least: float) -> list[int]:
    """The columns, in their order, whose words do not run into one another on their side of the axis."""
    kept: list[int] = []
    for column in columns.tolist():
        if all(abs(column - other) >= least or row[column] * row[other] < 0 for other in kept):
            kept.append(column)
    return kept


# --- descent on the Stiefel manifold -----------------------------------------------------------------------------

LEAST = 1e-17  # a logarithm has no place for 0
DASHES = ("solid", "dash", "dot", "dashdot")


def tangent_and_arc(
    lengths: np.ndarray, curve: np.ndarray, straight: np.ndarray, *, every: int = 10, height: int = 430
) -> go.Figure:
    """Steps on the smallest Stiefel manifold, the circle `PᵀP = 1`: along the Cayley curve, and straight on.

    `curve` and `straight` (t, 2, 1) begin at one point, with a step of length 0. Each `every`th step is marked, and a
    dotted line joins where two steps of its length lead.
    """
    turn = np.linspace(0, 2 * np.pi, 181)
    arc, tangent = curve[..., 0], straight[..., 0]  # (t, 2)
    marked = slice(every, None, every)
    gaps = np.full_like(arc[marked], np.nan)
    joins = np.stack([arc[marked], tangent[marked], gaps], axis=1).reshape(-1, 2)
    plain: Entries = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    traces: list[Entries] = [
        plain | _at(np.stack([np.cos(turn), np.sin(turn)], 1)) | {"line": {"color": INK}, "name": "all P with PᵀP = 1"},
        plain | _at(joins) | {"line": {"color": INK, "dash": "dot"}, "name": "the same τ"},
    ]
    ways = ((arc, "Cayley step (eq. 24)", "circle"), (tangent, "straight on (eq. 22)", "diamond"))
    for number, (way, name, mark) in enumerate(ways):
        colour = {"color": COLOURS[number]}
        line = plain | _at(way) | {"line": colour | {"width": 3.5, "dash": DASHES[number]}, "showlegend": False}
        dots = {"mode": "markers", "marker": colour | {"size": 11, "symbol": mark}, "name": name}
        hover = {"customdata": list(lengths[marked]), "hovertemplate": "τ = %{customdata:g}", "hoverinfo": "all"}
        traces += [line, plain | _at(way[marked]) | dots | hover]
    traces.append(plain | _at(arc[:1]) | {"mode": "markers", "marker": {"size": 14, "color": INK}, "showlegend": False})
    words = [(arc[0], "P", -14), *((way[-1], f"τ = {lengths[-1]:g}", 32) for way, *_ in ways)]
    notes = [
        {"x": x, "y": y, "text": text, "xshift": aside, "yshift": 12, "showarrow": False}
        for (x, y), text, aside in words
    ]
    seen = np.concatenate([arc, tangent, [[-1, -1], [1, 1]]])
    low, high = seen.min(0) - 0.15, seen.max(0) + 0.3
    axes = [{"visible": False, "range": [low[side], high[side]]} for side in (0, 1)]
    layout: Entries = {
        "xaxis": axes[0],
        "yaxis": axes[1] | {"scaleanchor": "x"},
        "annotations": notes,
        "legend": below(0),
    }
    return figure_of(traces, height=height, margin=margin(10), **layout)


def _at(points: np.ndarray) -> Entries:
    return {"x": points[:, 0], "y": points[:, 1]}


def two_ways(found: Walk, *, length: float | None = None, height: int = 380) -> go.Figure:
    """φ and `|PᵀP - I|` over the length τ of a step, on the Cayley curve and straight on. With a length the nearest of
    the walk's is marked, and the legend says what was found there."""
    ways = (
        ("along the Cayley curve (eq. 24)", found.curve, found.curve_drift),
        ("straight on (eq. 22)", found.straight, found.straight_drift),
    )
    at = (
        None if length is None else min(range(len(found.lengths)), key=lambda n: abs(np.log(found.lengths[n] / length)))
    )
    traces: list[Entries] = []
    for number, (name, values, drifts) in enumerate(ways):
        at_length = "" if at is None else f": φ = {values[at]:.3f}, off by {drifts[at]:.0e}"
        traces += _both(number, name + at_length, found.lengths, values, drifts)
    mark = {"color": INK, "dash": "dot"}
    marks = [] if at is None else [upright(found.lengths[at], mark, panel) for panel in (1, 2)]
    x = {"title": "τ", "type": "log", "gridcolor": FAINT, "dtick": 1, "tickformat": "~g"}
    layout = _layout("φ after a step of length τ", x)
    return figure_of(traces, shapes=marks, height=height, **layout)


def descents(runs: Mapping[str, Sequence[Step]], least: float, *, height: int = 400) -> go.Figure:
    """φ above `least`, the lowest value known, and `|PᵀP - I|` after each step, a line for each descent."""
    traces: list[Entries] = []
    for number, (name, steps) in enumerate(runs.items()):
        above = [max(step.value - least, LEAST) for step in steps]
        traces += _both(number, name, list(range(len(steps))), above, [step.drift for step in steps])
    layout = _layout("φ above the lowest known", {"title": "step", "gridcolor": FAINT})
    layout["yaxis"] |= {"type": "log", "dtick": 1, "tickformat": "~g"}
    return figure_of(traces, height=height, **layout)


def _both(
    number: int, name: str, x: Sequence[float], left: Sequence[float], right: Sequence[float]
) -> tuple[Entries, Entries]:
    """One way or one descent, in either panel."""
    shared = {
        "type": "scatter",
        "x": list(x),
        "name": name,
        "mode": "lines",
        "line": {"color": COLOURS[number % len(COLOURS)], "dash": DASHES[number % len(DASHES)], "width": 2.5},
        "legendgroup": name,
        "hovertemplate": "%{y:.4g}",
    }
    drifts = [max(value, LEAST) for value in right]
    return (
        shared | on(1) | {"y": list(left), "showlegend": True},
        shared | on(2) | {"y": drifts, "showlegend": False},
    )


def _layout(left: str, x: Entries) -> Entries:
    titles = (left, "largest entry of |PᵀP − I|")
    layout = side_by_side(titles, gap=0.12, size=14, x=x, y={"gridcolor": FAINT})
    layout["yaxis2"] |= {"type": "log", "tickformat": ".0e", "nticks": 8}
    return layout | {"legend": below(-0.25), "margin": margin(34)}


# --- a similarity taken apart ------------------------------------------------------------------------------------

READABLE = 200  # cells of a square: in more of them a number cannot be read


def explained_rows(found: Explanation, *, top: int = 10, height: int = 380) -> go.Figure:
    """A step for each of the strongest rows, one for the words in common (TF-IDF), one for all the other rows."""
    parts = [(f"row {row}", part) for row, part in found.rows[:top]]
    rest = found.rows[top:]
    parts += [(f"{len(rest)} other rows", sum(part for _, part in rest))] if rest else []
    parts += [("words in common", found.shared)] if found.shared else []
    return _staircase(parts, found.similarity, height)


def explained_words(found: Explanation, *, top: int = 10, height: int = 380) -> go.Figure:
    """A step for each word of both sentences, half of what it takes part in; a: the first sentence, b: the second."""
    named = [(f"{word} (a)", part) for word, part in found.words_a] + [
        (f"{word} (b)", part) for word, part in found.words_b
    ]
    named.sort(key=lambda entry: -abs(entry[1]))
    rest = named[top:]
    parts = [(short(name, 22), part) for name, part in named[:top]]
    parts += [(f"{len(rest)} other words", sum(part for _, part in rest))] if rest else []
    return _staircase(parts, found.similarity, height)


def word_pairs(found: Explanation, *, most: int = 30, height: int = 420) -> go.Figure:
    """What each word of a contributes with each of b: all cells together are the similarity."""
    if not found.word_pairs:
        raise ValueError(
            "explanation has no pair of words, expected both sentences to have a word that was met in training; "
            "choose other sentences"
        )
    a, b = ([word for word, _ in words[:most]] for words in (found.words_a, found.words_b))
    part = {(s, t): value for s, t, value in found.word_pairs}
    z = np.array([[part[s, t] for t in b] for s in a])
    reach = float(np.abs(z).max()) or 1.0
    heat = {
        "type": "heatmap",
        "z": z,
        "zmin": -reach,
        "zmax": reach,
        "colorscale": DIVERGING,
        "colorbar": {"thickness": 12, "tickfont": {"size": 12}, "tickformat": "+.2f"},
        "hovertemplate": "%{z:+.4f}<extra></extra>",
    }
    bare = {"showgrid": False, "zeroline": False}
    return figure_of(
        [heat, _numbers(z, reach)] if z.size <= READABLE else [heat],
        xaxis=bare | _named(b) | {"title": "words of b", "tickangle": -40},
        yaxis=bare | _named(a) | {"title": "words of a", "autorange": "reversed"},
        height=height,
    )


def _named(words: Sequence[str]) -> Entries:
    """The part of an axis that sets a word at each whole number."""
    return {"tickvals": list(range(len(words))), "ticktext": [short(word, 16) for word in words]}


def _numbers(z: np.ndarray, reach: float) -> Entries:
    """The numbers of a square's cells: grey on what is pale, so that they are read on a light page and a dark one."""
    rows, columns = np.nonzero(np.abs(z) >= 0.005)
    values = z[rows, columns]
    strong = np.where(values > 0, "#FFFFFF", "#000000")  # on blue, on orange
    return {
        "type": "scatter",
        "x": columns,
        "y": rows,
        "mode": "text",
        "text": [f"{value:+.2f}" for value in values],
        "textfont": {"size": 11, "color": np.where(np.abs(values) > 0.45 * reach, strong, INK).tolist()},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _staircase(parts: Sequence[tuple[str, float]], total: float, height: int) -> go.Figure:
    """Steps that begin at 0 and end at the total: what is not shown one by one is one more step, so nothing is lost."""
    values = [part for _, part in parts]
    steps = {
        "type": "waterfall",
        "x": list(range(len(parts) + 1)),
        "y": [*values, total],
        "measure": ["relative"] * len(parts) + ["total"],
        "text": [f"{value:+.2f}" for value in values] + [f"{total:.3f}"],
        "textposition": "outside",
        "textfont": {"size": 12, "color": INK},
        "textangle": 0,
        "constraintext": "none",
        "cliponaxis": False,
        "increasing": {"marker": {"color": POSITIVE}},
        "decreasing": {"marker": {"color": NEGATIVE}},
        "totals": {"marker": {"color": "#009E73"}},
        "connector": {"line": {"color": INK, "width": 1}},
        "hovertemplate": "%{customdata:+.4f}<extra></extra>",
        "customdata": [*values, total],
    }
    names = [*(name for name, _ in parts), "similarity"]
    levels = np.concatenate([[0.0], np.cumsum(values), [total]])
    room = 0.12 * (float(np.ptp(levels)) or 1.0)
    span = [float(levels.min()) - (room if levels.min() < 0 else 0), float(levels.max()) + room]
    return figure_of(
        [steps],
        xaxis={"tickvals": list(range(len(names))), "ticktext": names, "tickangle": -40, "showgrid": False},
        yaxis={"title": "similarity", "gridcolor": FAINT, "zerolinecolor": INK, "range": span},
        height=height,
        showlegend=False,
        bargap=0.25,
    )


# --- the rule of mutual neighbours -------------------------------------------------------------------------------

RATES = (  # attribute, name, colour, dash
    ("tpr", "TPR: same, said same", COLOURS[0], "solid"),
    ("tnr", "TNR: not same, said not same", COLOURS[2], "solid"),
    ("fpr", "FPR: not same, said same", COLOURS[3], "dash"),
    ("fnr", "FNR: same, said not same", COLOURS[1], "dot"),
)


def mutual_rule_curves(found: Rule, *, k: int | None = None, height: int = 430) -> go.Figure:
    """The rule for every k: four rates on the left, two log losses on the right; dotted is the k that dev chose."""
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
    return figure_of(traces, shapes=shapes, height=height, legend=below(-0.2), margin=margin(34), **layout)


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
