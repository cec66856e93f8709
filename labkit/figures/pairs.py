"""The figures of pairs and their weights: a batch, one anchor of it, losses and their slopes, a training.

In: records of `labkit.sentpwnet.view`. Out: plotly figures. Blue is positive, orange negative.

similarity_heatmap, weight_heatmap, kept_heatmap   a batch as a square (`Examined`): a row for each anchor, a column for
                                                   each other sentence, those of one class side by side
anchor_bars                                        one row of it as bars
triplet_losses, loss_curves, weight_curves         losses and the weights that they give (`LoneCurve`, `AnchorCurve`)
pull_and_push                                      the weights of a triplet as arrows (`Triplet`)
weights_over_epochs                                the weights of a run's probe (`EpochWeights`)

The three squares have the same axes, and `anchor` is the row with a frame. Their cells carry numbers of rows and
columns, not sentences: a table has those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import (
    ABOVE,
    CLEAR,
    COLOURS,
    DIVERGING,
    FAINT,
    INK,
    MARKS,
    NEGATIVE,
    POSITIVE,
    RISING,
    Entries,
    below,
    figure_of,
    lines,
    margin,
    on,
    panel_suffix,
    short,
    side_by_side,
    stacked,
)

if TYPE_CHECKING:
    from labkit.sentpwnet.view import AnchorCurve, EpochWeights, Examined, LoneCurve, WeighedTriplet


# --- a batch as a square -----------------------------------------------------------------------------------------

BAR = {"orientation": "h", "thickness": 12, "y": -0.03, "yanchor": "top", "tickfont": {"size": 12}}  # below the square
DECADES = 4  # of weights below the largest that still show a colour
READABLE = 20  # sentences: in a larger batch a sign in a cell cannot be read
PALE = {POSITIVE: "rgba(0, 114, 178, 0.28)", NEGATIVE: "rgba(230, 159, 0, 0.28)"}
STATES = (  # code of a cell - 1: colour, sign, what it says
    (POSITIVE, "+", "+ kept"),
    (PALE[POSITIVE], "", "+ dropped"),
    (NEGATIVE, "−", "− kept"),
    (PALE[NEGATIVE], "", "− dropped"),
)


def similarity_heatmap(
    found: Examined, *, anchor: int | None = None, names: bool = True, height: int = 340
) -> go.Figure:
    """The cosine of every two sentences of the batch."""
    heat = {
        "z": found.similarity.astype(np.float32),
        "zmax": 1.0,
        "zmin": min(0.0, float(found.similarity.min())),
        "colorscale": RISING,
        "colorbar": BAR,
        "hovertemplate": "row %{y}, column %{x}: similarity %{z:.3f}<extra></extra>",
    }
    return _square([heat], found, anchor, names, height=height)


def weight_heatmap(found: Examined, *, anchor: int | None = None, names: bool = True, height: int = 340) -> go.Figure:
    """The weight of every kept pair, on a scale of powers of ten: blue pulls, orange pushes, no colour is 0."""
    largest = float(found.weight.max()) or 1.0
    depth = np.clip(1 + np.log10(np.maximum(found.weight / largest, 1e-300)) / DECADES, 0, 1)
    ticks = [1 - step / DECADES for step in range(DECADES)]
    scale = [f"{largest * 10.0**-step:.2g}" for step in range(DECADES)]
    both = {
        "tickvals": [*(-tick for tick in ticks[::2]), 0.0, *ticks[::2][::-1]],
        "ticktext": [*scale[::2], "0", *scale[::2][::-1]],
    }
    heat = {
        "z": np.where(found.batch.negative, -depth, depth).astype(np.float32),
        "customdata": found.weight,
        "zmin": -1,
        "zmax": 1,
        "colorscale": DIVERGING,
        "colorbar": BAR | both,
        "hovertemplate": "row %{y}, column %{x}: weight %{customdata:.4g}<extra></extra>",
    }
    return _square([heat], found, anchor, names, height=height)


def kept_heatmap(found: Examined, *, anchor: int | None = None, names: bool = True, height: int = 340) -> go.Figure:
    """The positive (+) and negative (−) pairs that the miner kept for the loss; a cell without colour is no pair."""
    P, N = found.batch.positive, found.batch.negative
    code = np.where(P, np.where(found.kept_positive, 1, 2), np.where(N, np.where(found.kept_negative, 3, 4), 0))
    colours = [CLEAR, *(colour for colour, _, _ in STATES)]
    steps = [[(step + end) / 5, colour] for step, colour in enumerate(colours) for end in (0, 1)]
    heat = {
        "z": code,
        "zmin": -0.5,
        "zmax": 4.5,
        "colorscale": steps,
        "showscale": False,
        "text": np.array(["", *(sign for _, sign, _ in STATES)])[code] if len(P) <= READABLE else None,
        "texttemplate": "%{text}" if len(P) <= READABLE else None,
        "textfont": {"color": "#FFFFFF" if len(P) > READABLE else "#000000", "size": 10},
        "customdata": np.array(["no pair", *(name for _, _, name in STATES)])[code],
        "hovertemplate": "row %{y}, column %{x}: %{customdata}<extra></extra>",
    }
    entries = [
        {"x": [None], "y": [None], "mode": "markers", "name": name}
        | {"marker": {"symbol": "square", "size": 13, "color": colour}}
        for colour, _, name in STATES
    ]  # without a point: for the legend
    legend = below(-0.02) | {"font": {"size": 12}, "itemclick": False}
    return _square([heat, *entries], found, anchor, names, height=height, legend=legend)


def _square(traces: list[Entries], found: Examined, anchor: int | None, names: bool, **layout: Any) -> go.Figure:
    """The first trace as a heatmap: row 0 on top, a name for each class that has room, lines between classes."""
    classes, m = found.batch.classes, len(found.batch)
    starts = [row for row in range(m) if row == 0 or classes[row] != classes[row - 1]]
    named = [(start, end) for start, end in zip(starts, [*starts[1:], m], strict=True) if end - start > m / 40]
    bare = {"showgrid": False, "zeroline": False, "ticks": "", "constrain": "domain"}
    upwards = {
        "tickvals": [(start + end - 1) / 2 for start, end in named],
        "ticktext": [short(classes[start], 12) for start, _ in named],
        "range": [m - 0.1, -0.9],
        "constraintoward": "top",
        "showticklabels": names,
        "scaleanchor": "x",
        "tickfont": {"size": 11},
    }
    return figure_of(
        [{"type": "heatmap"} | traces[0], *traces[1:]],
        xaxis=bare | {"showticklabels": False, "range": [-0.9, m - 0.1]},
        yaxis=bare | upwards,
        shapes=[*_borders(starts[1:], m), *([] if anchor is None else [_frame(anchor, m)])],
        **layout,
    )


def _borders(starts: list[int], m: int) -> list[Entries]:
    """An upright and a level line before each of these rows."""
    line = {"type": "line", "line": {"color": INK, "width": 0.6}}
    uprights = [{"x0": row - 0.5, "x1": row - 0.5, "y0": -0.5, "y1": m - 0.5} for row in starts]
    levels = [{"x0": -0.5, "x1": m - 0.5, "y0": row - 0.5, "y1": row - 0.5} for row in starts]
    return [line | ends for ends in (*uprights, *levels)]


def _frame(anchor: int, m: int) -> Entries:
    edge = {"color": "#D55E00", "width": 2}
    return {"type": "rect", "x0": -0.9, "x1": m - 0.1, "y0": anchor - 0.9, "y1": anchor + 0.9, "line": edge}


# --- one anchor as bars ------------------------------------------------------------------------------------------

NUMBERS_THAT_FIT = 16  # numbers that fit side by side under half a page
KINDS = (("positive", POSITIVE), ("negative", NEGATIVE))


def anchor_bars(found: Examined, anchor: int, *, other: int | None = None, height: int = 430) -> go.Figure:
    """The anchor's others, the most similar on the left: similarities above, weights below; an arrow marks `other`.

    A hatched bar was dropped by the miner. The dashed lines are the two limits of its rule.
    """
    order = [row for row in np.argsort(-found.similarity[anchor], kind="stable").tolist() if row != anchor]
    place = {row: position for position, row in enumerate(order)}
    traces: list[Entries] = []
    for kind, colour in KINDS:
        for kept in (True, False):
            rows = [row for row in order if found.batch.kind(anchor, row) == kind and found.kept[anchor, row] == kept]
            if rows:
                bars = _bars(found, rows, place, f"{kind}, {'kept' if kept else 'dropped'}", colour, kept)
                weights = {"y": found.weight[anchor, rows], "showlegend": False}
                traces += [bars | on(1) | {"y": found.similarity[anchor, rows]}, bars | on(2) | weights]
    unknown = [row for row in order if found.batch.kind(anchor, row) == "unknown"]
    if unknown:
        bars = _bars(found, unknown, place, "no pair", INK, False)
        traces.append(bars | on(1) | {"y": found.similarity[anchor, unknown]})
    if found.settings.miner == "informative":
        traces += _limit(found.floor(anchor), "negatives above are kept", NEGATIVE, len(order))
        traces += _limit(found.ceiling(anchor), "positives below are kept", POSITIVE, len(order))
    step = -(-len(order) // NUMBERS_THAT_FIT)  # of more bars every second, third, ... has its number
    ticks = {"tickvals": list(place.values())[::step], "ticktext": order[::step], "tickangle": 0}
    layout = stacked(
        (0.6, 0.4),
        gap=0.06,
        x={"showgrid": False, "tickfont": {"size": 11}} | ticks,
        y={"gridcolor": FAINT, "zerolinecolor": INK},
    )
    layout["xaxis"] |= {"matches": "x2", "showticklabels": False}
    layout["xaxis2"] |= {"title": "number of the other sentence"}
    layout["yaxis"] |= {"title": "similarity"}
    layout["yaxis2"] |= {"title": "weight", "rangemode": "tozero"}
    if other in place:
        top = max(0.0, float(found.similarity[anchor, other]))
        arrow = {"text": "▼", "yshift": 9, "showarrow": False, "font": {"size": 17, "color": INK}}
        layout["annotations"] = [arrow | {"x": place[other], "y": top}]
    legend = below(-0.24) | {"font": {"size": 12}}
    return figure_of(traces, barmode="overlay", bargap=0.15, height=height, legend=legend, **layout)


def _bars(found: Examined, rows: list[int], place: dict[int, int], name: str, colour: str, kept: bool) -> Entries:
    """Bars of one kind, without their heights."""
    return {
        "type": "bar",
        "x": [place[row] for row in rows],
        "name": name,
        "legendgroup": name,
        "showlegend": True,
        "customdata": [[row, lines(found.batch.texts[row])] for row in rows],
        "marker": {"color": colour, "pattern": {"shape": "" if kept else "/", "fillmode": "replace", "solidity": 0.3}},
        "hovertemplate": "%{y:.4g}, sentence %{customdata[0]}<br>%{customdata[1]}<extra>%{fullData.name}</extra>",
    }


def _limit(value: float, name: str, colour: str, count: int) -> list[Entries]:
    """A limit of the keep rule; none where the anchor lacks what it is measured by."""
    if not np.isfinite(value):
        return []
    line = {
        "type": "scatter",
        "x": [-0.5, count - 0.5],
        "y": [value, value],
        "mode": "lines",
        "line": {"dash": "dash", "color": colour, "width": 2},
        "name": name,
        "hovertemplate": "%{y:.3f}<extra>%{fullData.name}</extra>",
    }
    return [line | on(1)]


# --- losses of triplets ------------------------------------------------------------------------------------------

DASHES = ("solid", "dash", "dot")


def triplet_losses(*, reach: float = 6.0, height: int = 360) -> go.Figure:
    """Each loss of `labkit.thematic` and its slope, d⁺ - d⁻ from -reach to reach; above 0 the order is wrong."""
    import torch  # takes seconds, and no other figure needs it

    from labkit.thematic.network import LOSSES

    if not reach > 0:
        raise ValueError(f"reach is {reach}, expected a number above 0; 6 shows where the ratio loss goes flat")
    traces: list[Entries] = []
    for (name, loss), colour, dash in zip(LOSSES.items(), COLOURS, DASHES, strict=False):
        gap = torch.linspace(-reach, reach, 241, dtype=torch.float64, requires_grad=True)
        values = loss(gap, torch.zeros_like(gap))
        slopes = torch.autograd.grad(values.sum(), gap)[0]
        shared = {
            "type": "scatter",
            "x": gap.detach().numpy(),
            "name": name,
            "legendgroup": name,
            "line": {"color": colour, "dash": dash, "width": 2.5},
        }
        traces += [
            shared | on(1) | {"y": values.detach().numpy(), "showlegend": True},
            shared | on(2) | {"y": slopes.detach().numpy(), "showlegend": False},
        ]
    layout = side_by_side(
        ("loss", "its slope: the weight of the triplet"),
        gap=0.1,
        size=16,
        x={"title": "d⁺ - d⁻", "gridcolor": FAINT, "zerolinecolor": FAINT},
        y={"gridcolor": FAINT, "zerolinecolor": FAINT},
    )
    return figure_of(traces, height=height, legend={"orientation": "h", "y": -0.25}, margin=margin(30), **layout)


# --- weights as curves and arrows --------------------------------------------------------------------------------

ARROW_LENGTH = 0.75  # how long the arrow of the weight 1 is, on a circle of radius 1
LEAST = 1e-6  # what weighs less is drawn here: a logarithm has no 0
LOSSES = {  # loss -> colour, mark, dash, name
    "locality": (COLOURS[2], MARKS[0], "solid", "locality"),
    "soft-triplet": (COLOURS[3], MARKS[1], "dash", "soft triplet"),
    "contrastive": (COLOURS[5], MARKS[2], "dot", "contrastive"),
}


def weight_curves(curves: Sequence[AnchorCurve], *, height: int = 430) -> go.Figure:
    """Positives on the left, negatives on the right: a mark is a pair of the anchor, a line the closed form."""
    if not curves:
        raise ValueError("curves are empty, expected at least one; choose an anchor of which the miner keeps a pair")
    traces: list[Entries] = []
    for curve in curves:
        colour, mark, dash, name = LOSSES[curve.loss]
        shared = {"type": "scatter", "name": name, "legendgroup": name, **on(1 if curve.kind == "positive" else 2)}
        closed = {
            "x": curve.grid,
            "y": _visible(curve.closed),
            "mode": "lines",
            "line": {"color": colour, "dash": dash, "width": 2.5},
            "showlegend": False,
            "hoverinfo": "skip",
        }
        points = {
            "x": curve.similarity,
            "y": _visible(curve.weight),
            "customdata": curve.weight,
            "mode": "markers",
            "marker": {"color": colour, "symbol": mark, "size": 9, "line": {"color": INK, "width": 0.7}},
            "showlegend": all(name != trace["name"] for trace in traces),
            "hovertemplate": "similarity %{x:.3f}, weight %{customdata:.4g}<extra>%{fullData.name}</extra>",
        }
        traces += [shared | closed, shared | points]
    x = {"title": "similarity s of the pair", "gridcolor": FAINT, "zerolinecolor": FAINT}
    y = {"type": "log", "exponentformat": "power", "gridcolor": FAINT, "tickfont": {"size": 13}}
    layout = side_by_side(("positives", "negatives"), gap=0.04, size=15, x=x, y=y, shared=True)
    layout["yaxis"] |= {"title": "weight"}
    return figure_of(traces, height=height, legend=below(-0.22), margin=margin(34), **layout)


def loss_curves(curves: Sequence[LoneCurve], *, at: float, height: int = 520) -> go.Figure:
    """What a lone pair costs, with the tangent at the similarity `at`; below it the size of the slope."""
    if not -1 <= at <= 1:
        raise ValueError(f"at is {at}, expected a cosine from -1 to 1: the similarity where the tangents touch")
    traces: list[Entries] = []
    for curve in curves:
        colour, mark, dash, name = LOSSES[curve.loss]
        panel = 1 if curve.kind == "positive" else 2
        place = int(np.argmin(np.abs(curve.similarity - at)))
        s, value, weight = (float(each[place]) for each in (curve.similarity, curve.value, curve.weight))
        slope = weight if curve.kind == "negative" else -weight
        shared = {"type": "scatter", "name": name, "legendgroup": name, "showlegend": False}
        line = {"mode": "lines", "x": curve.similarity, "line": {"color": colour, "dash": dash, "width": 2.5}}
        touch = {"mode": "lines", "x": [s - 0.25, s + 0.25], "line": {"color": colour, "width": 6}, "opacity": 0.45}
        size = 9 if curve.loss == "contrastive" else 13  # the last one must not hide the first
        point = {"mode": "markers", "x": [s], "marker": {"color": colour, "symbol": mark, "size": size}}
        traces += [
            shared | line | on(panel) | {"y": curve.value, "hoverinfo": "skip", "showlegend": panel == 1},
            shared | touch | on(panel) | {"y": [value - 0.25 * slope, value + 0.25 * slope], "hoverinfo": "skip"},
            shared | line | on(panel + 2) | {"y": curve.weight, "hoverinfo": "skip"},
            shared | point | on(panel + 2) | {"y": [weight], "hovertemplate": "weight %{y:.3f}"},
        ]
    x = {"gridcolor": FAINT, "zerolinecolor": FAINT, "range": [-1.05, 1.05], "dtick": 0.5, "tickfont": {"size": 12}}
    y = {"gridcolor": FAINT, "zerolinecolor": FAINT, "tickfont": {"size": 12}}
    layout = side_by_side(("a positive", "a negative"), gap=0.05, size=15, x=x, y=y)
    for column in (1, 2):
        upper, lower = ("", "3") if column == 1 else ("2", "4")
        layout[f"xaxis{lower}"] = layout[f"xaxis{upper}"] | {"anchor": f"y{lower}", "title": "similarity s"}
        layout[f"yaxis{lower}"] = y | {"domain": [0.0, 0.42], "anchor": f"x{lower}", "range": [-0.05, 1.08]}
        layout[f"xaxis{upper}"] |= {"showticklabels": False}
        layout[f"yaxis{upper}"] |= {"domain": [0.5, 1.0], "range": [-1.15, 1.8]}
    layout["yaxis"] |= {"title": "loss"}
    layout["yaxis3"] |= {"title": "weight"}
    for hidden in ("yaxis2", "yaxis4"):
        layout[hidden] |= {"showticklabels": False}
    return figure_of(traces, height=height, legend=below(-0.16), margin=margin(34), **layout)


def pull_and_push(triplets: Sequence[WeighedTriplet], *, height: int = 400) -> go.Figure:
    """A circle for each loss, the anchor on top, its positive on the left, its negative on the right.

    Thin arrows are as long as the weight, along the anchor's vector: that is what the chain rule gives. Thick arrows
    are what is left of them along the circle, for vectors keep their length.
    """
    if not triplets:
        raise ValueError("triplets are empty, expected at least one; one_triplet gives one for each loss")
    turn = np.linspace(0, 2 * np.pi, 181)
    traces: list[Entries] = []
    arrows: list[Entries] = []
    titles = [LOSSES[each.loss][3] for each in triplets]
    for panel, each in enumerate(triplets, 1):
        circle = {"x": np.sin(turn), "y": np.cos(turn), "mode": "lines", "line": {"color": INK, "width": 1}}
        traces.append({"type": "scatter", "showlegend": False, "hoverinfo": "skip"} | circle | on(panel))
        for name, side, similarity, weight, colour, mark in (
            ("anchor", 0, 1.0, 0.0, INK, "star"),
            ("positive, pulled", -1, each.positive, each.pull, POSITIVE, MARKS[0]),
            ("negative, pushed", 1, each.negative, -each.push, NEGATIVE, MARKS[1]),
        ):
            sine = float(np.sqrt(max(0.0, 1 - similarity**2)))
            point = np.array([side * sine, similarity])
            along = np.array([-side * similarity, sine])  # the direction towards the anchor, along the circle
            marker = {"color": colour, "symbol": mark, "size": 11, "line": {"color": INK, "width": 1}}
            traces.append(
                {"type": "scatter", "mode": "markers", "name": name, "legendgroup": name, "marker": marker}
                | {"x": [point[0]], "y": [point[1]], "showlegend": panel == 1}
                | {"hovertemplate": f"similarity {similarity:.2f}, weight {abs(weight):.3f}<extra>{name}</extra>"}
                | on(panel)
            )
            ends = ((weight * np.array([0.0, 1.0]), INK, 1.2), (weight * sine * along, colour, 2.6))
            arrows += [_arrow(point, point + ARROW_LENGTH * end, hue, width, panel) for end, hue, width in ends]
        tail = panel_suffix(panel)
        words = f"pull {each.pull:.2f}<br>push {each.push:.2f}"
        here = {"x": 0.0, "y": 0.0, "xref": f"x{tail}", "yref": f"y{tail}", "showarrow": False}
        arrows.append({"text": words, "font": {"size": 13, "color": INK}} | here)
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False, "fixedrange": True}
    layout = side_by_side(titles, gap=0.02, size=15, x=bare | {"range": [-1.35, 1.35]}, y=bare | {"range": [-1.8, 1.8]})
    for panel in range(1, len(titles) + 1):
        tail = panel_suffix(panel)
        layout[f"yaxis{tail}"] |= {"scaleanchor": f"x{tail}", "constrain": "domain", "constraintoward": "top"}
        layout[f"xaxis{tail}"] |= {"constrain": "domain"}
    layout["annotations"] += [each for each in arrows if each]
    return figure_of(traces, height=height, legend=below(-0.02), margin=margin(34), **layout)


def _arrow(start: np.ndarray, end: np.ndarray, colour: str, width: float, panel: int) -> Entries:
    """An arrow in the units of a panel; nothing where it would be shorter than its head."""
    if np.hypot(*(end - start)) < 0.02:
        return {}
    tail = panel_suffix(panel)
    axes = {"xref": f"x{tail}", "yref": f"y{tail}", "axref": f"x{tail}", "ayref": f"y{tail}"}
    ends = {"x": end[0], "y": end[1], "ax": start[0], "ay": start[1]}
    head = {"arrowhead": 2, "arrowsize": 0.8 if width > 2 else 1.2, "arrowwidth": width, "arrowcolor": colour}
    return {"showarrow": True, "text": ""} | axes | ends | head


def weights_over_epochs(found: EpochWeights, *, height: int = 430) -> go.Figure:
    """The median weight of either kind with the middle four fifths; below it the shares of pairs kept."""
    kinds = (
        ("positive", POSITIVE, "rgba(0, 114, 178, 0.18)", MARKS[0], "solid", found.positive, found.kept_positive),
        ("negative", NEGATIVE, "rgba(230, 159, 0, 0.18)", MARKS[1], "dash", found.negative, found.kept_negative),
    )
    traces: list[Entries] = []
    for name, colour, pale, mark, dash, weights, kept in kinds:
        low, middle, high = _visible(weights).T
        shared = {"type": "scatter", "legendgroup": name}
        band = {
            "x": [*found.epochs, *found.epochs[::-1]],
            "y": [*high, *low[::-1]],
            "fill": "toself",
            "fillcolor": pale,
            "mode": "none",
            "showlegend": False,
            "hoverinfo": "skip",
        }
        line = {
            "x": found.epochs,
            "name": name,
            "mode": "lines+markers",
            "line": {"color": colour, "dash": dash},
            "marker": {"symbol": mark, "size": 8, "color": colour},
            "hovertemplate": "epoch %{x}: %{y:.3g}<extra>%{fullData.name}</extra>",
        }
        traces += [
            shared | band | on(1),
            shared | line | on(1) | {"y": middle},
            shared | line | on(2) | {"y": kept, "showlegend": False},
        ]
    x = {"gridcolor": FAINT, "dtick": max(1, len(found.epochs) // 12)}
    layout = stacked((0.6, 0.4), gap=0.07, x=x, y={"gridcolor": FAINT})
    layout["xaxis"] |= {"matches": "x2", "showticklabels": False}
    layout["xaxis2"] |= {"title": "epoch (0: before training)"}
    layout["yaxis"] |= {
        "title": "weight", "type": "log", "exponentformat": "power", "dtick": 1, "tickfont": {"size": 13}
    }  # fmt: skip
    layout["yaxis2"] |= {"title": "share kept", "tickformat": ".0%", "range": [-0.03, 1.05]}
    return figure_of(traces, height=height, legend=ABOVE, **layout)


def _visible(weights: np.ndarray) -> np.ndarray:
    return np.maximum(weights, LEAST)
