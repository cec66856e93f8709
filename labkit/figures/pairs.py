"""Figures of pairs and their weights: a batch, one of its anchors, losses and their slopes.

In: records of `labkit.sentpwnet.view`. Out: plotly figures. Blue is positive, orange negative.

The square of a batch has a row for each anchor and a column for each other sentence, sorted by class; the row `anchor`
has a frame. Cells are labelled with the numbers of row and column; a table lists the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from labkit.figures import drawing as draw
from labkit.figures.drawing import Entries
from labkit.palette import COLOURS, DASHES, DIVERGING, FAINT, INK, MARKS, NEGATIVE, POSITIVE, RISING

if TYPE_CHECKING:
    from labkit.sentpwnet.view import AnchorCurve, Examined, WeighedTriplet


# --- a batch as a square -----------------------------------------------------------------------------------------

BAR = {"orientation": "h", "thickness": 12, "y": -0.03, "yanchor": "top", "tickfont": {"size": 12}}  # below the square
DECADES = 4  # weights this many powers of ten below the largest still have a colour


def similarity_heatmap(examined: Examined, *, anchor: int | None = None, height: int = 340) -> go.Figure:
    """Draw the cosines of all pairs of sentences in the batch."""
    lowest = min(0.0, float(examined.similarity.min()))
    hover = {"hovertemplate": "row %{y}, column %{x}: similarity %{z:.3f}<extra></extra>"}
    heat = draw.cells(examined.similarity.astype(np.float32), lowest, 1.0, RISING, colorbar=BAR) | hover
    return _square([heat], examined, anchor, True, height=height)


def weight_heatmap(
    examined: Examined, *, anchor: int | None = None, names: bool = True, clickable: bool = False, height: int = 340
) -> go.Figure:
    """Draw the weight of every kept pair on a log scale: blue pulls, orange pushes, and 0 has no colour.

    With `clickable`, an invisible mark on each cell takes clicks; its `customdata` is the row and the column.
    """
    largest = float(examined.weight.max()) or 1.0
    depth = np.clip(1 + np.log10(np.maximum(examined.weight / largest, 1e-300)) / DECADES, 0, 1)
    ticks = [1 - step / DECADES for step in range(DECADES)]
    scale = [f"{largest * 10.0**-step:.2g}" for step in range(DECADES)]
    both = {
        "tickvals": [*(-tick for tick in ticks[::2]), 0.0, *ticks[::2][::-1]],
        "ticktext": [*scale[::2], "0", *scale[::2][::-1]],
    }
    hover = {"hovertemplate": "row %{y}, column %{x}: weight %{customdata:.4g}<extra></extra>"}
    signed = np.where(examined.batch.negative, -depth, depth).astype(np.float32)
    heat = draw.cells(signed, -1, 1, DIVERGING, colorbar=BAR | both, customdata=examined.weight) | hover
    return _square([heat, *([_targets(examined)] if clickable else [])], examined, anchor, names, height=height)


def _targets(examined: Examined) -> Entries:
    """Return an invisible mark on each cell, because a click on the heatmap itself selects nothing."""
    rows, columns = (each.ravel() for each in np.indices(examined.weight.shape))
    marker = {"symbol": "square", "size": 9, "opacity": 0}
    hover = {"hovertemplate": "row %{y}, column %{x}: weight %{text}<extra></extra>"}
    weights = [f"{weight:.4g}" for weight in examined.weight.ravel().tolist()]
    pairs = np.stack([rows, columns], axis=1).tolist()
    return draw.marks(columns, rows, marker, customdata=pairs, text=weights, showlegend=False) | hover


def _square(traces: list[Entries], examined: Examined, anchor: int | None, names: bool, **layout: Any) -> go.Figure:
    """Draw the cells of the first trace: row 0 on top, class names where they fit, lines between classes."""
    classes, m = examined.batch.classes, len(examined.batch)
    starts = [row for row in range(m) if row == 0 or classes[row] != classes[row - 1]]
    named = [(start, end) for start, end in zip(starts, [*starts[1:], m], strict=True) if end - start > m / 40]
    bare = draw.BARE | {"ticks": "", "constrain": "domain"}
    upwards = {
        "tickvals": [(start + end - 1) / 2 for start, end in named],
        "ticktext": [draw.short(classes[start], 12) for start, _ in named],
        "range": [m - 0.1, -0.9],
        "constraintoward": "top",
        "showticklabels": names,
        "scaleanchor": "x",
        "tickfont": {"size": 11},
    }
    whole, line = (-0.5, m - 0.5), {"color": INK, "width": 0.6}
    borders = [draw.stroke((row - 0.5, row - 0.5), whole, line) for row in starts[1:]]
    borders += [draw.stroke(whole, (row - 0.5, row - 0.5), line) for row in starts[1:]]
    if anchor is not None:
        borders.append(draw.rectangle((-0.9, m - 0.1), (anchor - 0.9, anchor + 0.9), "#D55E00", 2))
    return draw.figure_of(
        traces,
        xaxis=bare | {"showticklabels": False, "range": [-0.9, m - 0.1]},
        yaxis=bare | upwards,
        shapes=borders,
        **layout,
    )


# --- one anchor as bars ------------------------------------------------------------------------------------------

KINDS = (("positive", POSITIVE), ("negative", NEGATIVE))
PLAYED = {"positive": ("same class", "pulls"), "negative": ("other class", "pushes")}  # the words of the playground
HEADROOM = 0.15  # of similarity, above the most similar pair: for the arrow and for the limit of the usual ε
NEAR = 2  # bars on each side of a weight's label that it must clear
TICKS = (0.01, 0.1, 1, 2, 5, 10, 20, 50, 100)  # of a setting on a log scale
VANISHED = 0.01  # share of the weight below which the legend says so of a kind, because its bars cannot be seen
BAR_WIDTH = 0.85  # share of a bar's place; by default, plotly makes bars of a kind as wide as its smallest gap


def written(weight: float) -> str:
    """Write a weight with three decimals.

    >>> written(0.15312), written(0.0008), written(0)
    ('0.153', 'below 0.001', '0')
    """
    return f"{weight:.3f}" if weight >= 0.001 else "below 0.001" if weight else "0"


def percent(share: float) -> str:
    """Write a share in whole percent. A small part never seems larger than the whole that contains it.

    >>> percent(0.126), percent(0.008), percent(0), percent(0.996)
    ('13 %', 'less than 1 %', '0 %', 'more than 99 %')
    """
    bound = "less than 1 %" if 0 < share < 0.01 else "more than 99 %" if 0.99 < share < 1 else ""
    return bound or f"{100 * share:.0f} %"


def anchor_bars(
    examined: Examined,
    anchor: int,
    *,
    other: int | None = None,
    heaviest: float | None = None,
    before: np.ndarray | None = None,
    height: int = 430,
) -> go.Figure:
    """Draw the anchor's pairs, the most similar on the left: similarities above, weights below.

    An arrow marks `other`, and its weight is written above its bar. A hatched bar was dropped by the miner. The dashed
    lines are the two limits of the miner's rule. `heaviest` is the end of the axis of weights, so that two pictures can
    be compared. `before` (m,): the anchor's weights at pinned settings, drawn as outlines. The legend names a kind of
    pairs whose weights have vanished.
    """
    similarity, weight = examined.similarity[anchor], examined.weight[anchor]
    order = [row for row in np.argsort(-similarity, kind="stable").tolist() if row != anchor]
    place = {row: position for position, row in enumerate(order)}
    kinds = {row: examined.batch.kind(anchor, row) for row in order}
    traces: list[Entries] = []
    vanished = _vanished(examined, anchor)
    for (kind, colour), kept in product((*KINDS, ("unknown", INK)), (True, False)):
        rows = [row for row in order if kinds[row] == kind and examined.kept[anchor, row] == kept]
        if rows:
            what, moves = PLAYED.get(kind, ("no pair", ""))
            name = f"{what}, {moves + vanished.get(kind, '') if kept else 'dropped'}" if moves else what
            pattern = {"shape": "" if kept else "/", "fillmode": "replace", "solidity": 0.3}
            shared: Entries = {"name": name, "legendgroup": name, "width": BAR_WIDTH}
            shared["customdata"] = [[row, draw.hover_lines(examined.batch.texts[row])] for row in rows]
            shared["hovertemplate"] = f"%{{y:.4g}}, sentence %{{customdata[0]}}<br>%{{customdata[1]}}{draw.NAME}"
            for panel, heights in ((1, similarity[rows]), (2, weight[rows])):
                bars = draw.bars([place[row] for row in rows], heights, {"color": colour, "pattern": pattern}, **shared)
                traces.append(bars | draw.on(panel) | {"showlegend": panel == 1})
    if before is not None:
        outline = {"color": "rgba(0, 0, 0, 0)", "line": {"color": INK, "width": 1.5}}
        shared = {"name": "pinned", "width": BAR_WIDTH, "hoverinfo": "skip", "showlegend": True}
        shared["customdata"] = [[row] for row in order]
        traces.append(draw.bars([place[row] for row in order], before[order], outline, **shared) | draw.on(2))
    if examined.settings.miner == "informative":
        for value, name, colour in (
            (examined.floor(anchor), "other class: pushed only above this line", NEGATIVE),
            (examined.ceiling(anchor), "same class: pulled only below this line", POSITIVE),
        ):
            if np.isfinite(value):  # otherwise the anchor has no pair that defines the limit
                ends, hover = [-0.5, len(order) - 0.5], f"%{{y:.3f}}{draw.NAME}"
                traces.append(
                    draw.curve(ends, [value, value], colour, "dash", 2, name=name, hovertemplate=hover) | draw.on(1)
                )
    layout = draw.stacked(
        (0.6, 0.4), gap=0.06, x={"showgrid": False, "showticklabels": False}, y={"zerolinecolor": INK}
    )
    layout["xaxis"] |= {"matches": "x2"}
    layout["xaxis2"] |= {"title": "other sentences, most similar first"}
    lowest = min(0.0, float(similarity.min()))
    highest = max((float(similarity[row]) for row in order), default=1.0)
    layout["yaxis"] |= {"title": "similarity", "range": [1.08 * lowest, min(1.08, highest + HEADROOM)]}
    layout["yaxis2"] |= {"title": "weight", "rangemode": "tozero"}
    if heaviest is not None:
        layout["yaxis2"] |= {"range": [0, heaviest]}
    layout["annotations"] = []
    if other in place:
        at, tall = place[other], weight if before is None else np.maximum(weight, before)
        top = float(tall[order[max(0, at - NEAR) : at + NEAR + 1]].max())
        halo = {"color": INK, "size": 14, "weight": 600, "shadow": "auto"}
        layout["annotations"] = [
            draw.annotation("▼", at, max(0.0, float(similarity[other])), size=17, yshift=9),
            draw.annotation(written(float(weight[other])), at, top, yshift=10, xref="x2", yref="y2", font=halo),
        ]
    legend = draw.below(-0.16) | {"font": {"size": 12}}
    return draw.figure_of(traces, barmode="overlay", height=height, legend=legend, **layout)


def _vanished(examined: Examined, anchor: int) -> dict[str, str]:
    """Return the kinds whose pairs together have almost no weight, with their share in words."""
    weight, said = examined.weight[anchor], {}
    for kind, kept in (("positive", examined.kept_positive[anchor]), ("negative", examined.kept_negative[anchor])):
        share = weight[kept].sum() / (weight.sum() or 1.0)
        if kept.any() and share < VANISHED and weight.any():
            said[kind] = f": {percent(share)} of the weight"
    return said


def weight_over(
    values: Sequence[float],
    weights: np.ndarray,
    now: float,
    *,
    sign: str,
    pinned: float | None = None,
    kind: str = "negative",
    height: int = 150,
) -> go.Figure:
    """Draw a pair's weight over a setting, in the colour of its kind: a full mark now, and a hollow one if pinned."""
    colour, log = dict(KINDS)[kind], values[0] > 0 and values[-1] / values[0] >= 20
    marked: list[tuple[float, Entries, str]] = [(now, {"size": 11, "color": colour}, "now")]
    if pinned is not None and pinned != now:
        ring = {"size": 11, "color": "rgba(0, 0, 0, 0)", "line": {"width": 2, "color": INK}}
        marked.insert(0, (pinned, ring, "pinned"))
    hover = f"{sign} %{{x:.3g}}: weight %{{y:.3f}}<extra></extra>"
    traces = [draw.curve(values, weights, colour, hovertemplate=hover)]
    said: list[str] = []
    for value, marker, name in marked:
        high = float(weights[list(values).index(value)])
        traces.append(draw.marks([value], [high], marker, hovertemplate=hover, cliponaxis=False))
        said.insert(0, f"{name} {written(high)}")
    corner: Entries = {"xref": "x domain", "yref": "y domain", "xanchor": "right", "yanchor": "bottom"}
    most = float(weights.max()) or 1.0
    small = {"tickfont": {"size": 12}}
    return draw.figure_of(
        traces,
        annotations=[draw.annotation(", ".join(said), 1, 1, size=12, **corner)],
        height=height,
        showlegend=False,
        margin={"l": 10, "r": 10, "t": 20, "b": 4},
        xaxis=small | ({"type": "log", "tickvals": TICKS} if log else {}),
        yaxis={"title": f"weight by {sign}", "range": [-0.03 * most, 1.1 * most], "nticks": 4, **small},
    )


# --- losses of triplets ------------------------------------------------------------------------------------------


def triplet_losses() -> go.Figure:
    """Draw the losses of `labkit.thematic` and their slopes against d⁺ - d⁻, which is above 0 if the order is wrong."""
    import torch  # takes seconds, and no other figure needs it

    from labkit.thematic.network import LOSSES

    traces: list[Entries] = []
    for (name, loss), colour, dash in zip(LOSSES.items(), COLOURS, DASHES, strict=False):
        gap = torch.linspace(-6, 6, 241, dtype=torch.float64, requires_grad=True)
        values = loss(gap, torch.zeros_like(gap))
        slopes = torch.autograd.grad(values.sum(), gap)[0]
        x, shared = gap.detach().numpy(), {"name": name, "legendgroup": name, "mode": None}
        traces += [
            draw.curve(x, values.detach().numpy(), colour, dash, showlegend=True) | shared | draw.on(1),
            draw.curve(x, slopes.detach().numpy(), colour, dash, showlegend=False) | shared | draw.on(2),
        ]
    layout = draw.side_by_side(
        ("loss", "its slope: the weight of the triplet"),
        gap=0.1,
        size=16,
        x={"title": "d⁺ - d⁻", "zerolinecolor": FAINT},
        y={"zerolinecolor": FAINT},
    )
    return draw.figure_of(traces, height=360, legend={"orientation": "h", "y": -0.25}, margin=draw.margin(30), **layout)


# --- weights as curves and arrows --------------------------------------------------------------------------------

ARROW_LENGTH = 0.75  # length of the arrow for weight 1, on a circle of radius 1
LEAST = 1e-6  # smaller weights are drawn here, because a log axis has no 0
STYLES = (  # colour, mark and dash of a loss, in the order of the table of losses; no two losses share two of these
    (COLOURS[2], MARKS[0], "solid"),
    (COLOURS[5], MARKS[2], "dot"),
    (COLOURS[3], MARKS[1], "dash"),
    (COLOURS[0], MARKS[3], "dashdot"),
    (COLOURS[4], MARKS[4], "longdash"),
    (COLOURS[1], MARKS[5], "longdashdot"),
    (INK, "triangle-down", "dash"),
    (COLOURS[5], "x", "longdash"),
    (COLOURS[1], "star", "solid"),
    (COLOURS[0], "hexagon", "dot"),
)


def look_of_loss(loss: str) -> tuple[str, str, str, str]:
    """Return colour, mark, dash and title of a loss."""
    from labkit.pairs.losses import LOSSES  # brings torch, which takes seconds

    return (*STYLES[list(LOSSES).index(loss) % len(STYLES)], LOSSES[loss].title)


def weight_curves(curves: Sequence[AnchorCurve]) -> go.Figure:
    """Draw positives on the left and negatives on the right, one mark each, and a line that moves the hardest pair."""
    if not curves:
        raise ValueError("curves are empty; choose an anchor for which the miner keeps a pair")
    traces: list[Entries] = []
    for each in curves:
        colour, mark, dash, name = look_of_loss(each.loss)
        shared = {"name": name, "legendgroup": name, **draw.on(1 if each.kind == "positive" else 2)}
        line = {"showlegend": False, "hoverinfo": "skip"}
        points = {
            "customdata": each.weight,
            "showlegend": all(name != trace["name"] for trace in traces),
            "hovertemplate": f"similarity %{{x:.3f}}, weight %{{customdata:.4g}}{draw.NAME}",
        }
        marker = {"color": colour, "symbol": mark, "size": 9, "line": {"color": INK, "width": 0.7}}
        traces += [
            draw.curve(each.grid, _visible(each.moved), colour, dash) | shared | line,
            draw.marks(each.similarity, _visible(each.weight), marker) | shared | points,
        ]
    x = {"title": "similarity", "zerolinecolor": FAINT}
    y = {"type": "log", "exponentformat": "power", "tickfont": {"size": 13}}
    layout = draw.side_by_side(("positives", "negatives"), gap=0.04, size=15, x=x, y=y, shared=True)
    layout["yaxis"] |= {"title": "weight"}
    return draw.figure_of(traces, height=430, legend=draw.below(-0.22), margin=draw.margin(34), **layout)


def pull_and_push(triplets: Sequence[WeighedTriplet]) -> go.Figure:
    """Draw a circle for each loss: the anchor on top, its positive on the left, its negative on the right.

    Thin arrows, along the anchor's vector, have the weight as their length: the chain rule's gradient. Thick arrows are
    the component along the circle, because vectors keep their length.
    """
    if not triplets:
        raise ValueError("triplets are empty; `one_triplet` returns one for each loss")
    turn = np.linspace(0, 2 * np.pi, 181)
    traces: list[Entries] = []
    arrows: list[Entries] = []
    titles = [look_of_loss(each.loss)[3] for each in triplets]
    for panel, each in enumerate(triplets, 1):
        circle = draw.curve(np.sin(turn), np.cos(turn), INK, width=1, showlegend=False, hoverinfo="skip")
        traces.append(circle | draw.on(panel))
        for name, side, similarity, weight, colour, mark in (
            ("anchor", 0, 1.0, 0.0, INK, "star"),
            ("positive, pulled", -1, each.positive, each.pull, POSITIVE, MARKS[0]),
            ("negative, pushed", 1, each.negative, -each.push, NEGATIVE, MARKS[1]),
        ):
            sine = float(np.sqrt(max(0.0, 1 - similarity**2)))
            point = np.array([side * sine, similarity])
            along = np.array([-side * similarity, sine])  # the direction towards the anchor, along the circle
            marker = {"color": colour, "symbol": mark, "size": 11, "line": {"color": INK, "width": 1}}
            hover = f"similarity {similarity:.2f}, weight {abs(weight):.3f}<extra>{name}</extra>"
            shared = {"name": name, "legendgroup": name, "showlegend": panel == 1, "hovertemplate": hover}
            traces.append(draw.marks([point[0]], [point[1]], marker) | shared | draw.on(panel))
            ends = ((weight * np.array([0.0, 1.0]), INK, 1.2), (weight * sine * along, colour, 2.6))
            arrows += [_arrow(point, point + ARROW_LENGTH * end, hue, width, panel) for end, hue, width in ends]
        tail = draw.panel_suffix(panel)
        words = f"pull {each.pull:.2f}<br>push {each.push:.2f}"
        arrows.append(draw.annotation(words, 0.0, 0.0, size=13, xref=f"x{tail}", yref=f"y{tail}"))
    bare = draw.EMPTY | {"fixedrange": True}
    layout = draw.side_by_side(
        titles, gap=0.02, size=15, x=bare | {"range": [-1.35, 1.35]}, y=bare | {"range": [-1.8, 1.8]}
    )
    for panel in range(1, len(titles) + 1):
        tail = draw.panel_suffix(panel)
        layout[f"yaxis{tail}"] |= {"scaleanchor": f"x{tail}", "constrain": "domain", "constraintoward": "top"}
        layout[f"xaxis{tail}"] |= {"constrain": "domain"}
    layout["annotations"] += [each for each in arrows if each]
    return draw.figure_of(traces, height=400, legend=draw.below(-0.02), margin=draw.margin(34), **layout)


def _arrow(start: np.ndarray, end: np.ndarray, colour: str, width: float, panel: int) -> Entries:
    """Return an arrow in the units of a panel, or nothing if it would be shorter than its head."""
    if np.hypot(*(end - start)) < 0.02:
        return {}
    tail = draw.panel_suffix(panel)
    axes = {"xref": f"x{tail}", "yref": f"y{tail}", "axref": f"x{tail}", "ayref": f"y{tail}"}
    ends = {"x": end[0], "y": end[1], "ax": start[0], "ay": start[1]}
    head = {"arrowhead": 2, "arrowsize": 0.8 if width > 2 else 1.2, "arrowwidth": width, "arrowcolor": colour}
    return {"showarrow": True, "text": ""} | axes | ends | head


def _visible(weights: np.ndarray) -> np.ndarray:
    return np.maximum(weights, LEAST)
