"""Weights as curves: against similarity for the three losses, and over the epochs of a run; weights as arrows.

In: `AnchorCurve`s, `LoneCurve`s, `Triplet`s or `EpochWeights`. Out: plotly figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import ABOVE, Entries, below, drawn, margin
from labkit.figures.palette import COLOURS, FAINT, INK, MARKS, NEGATIVE, POSITIVE
from labkit.figures.panels import on, side_by_side, stacked

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.weighing.curves import AnchorCurve, LoneCurve, Triplet
    from labkit.weighing.epochs import EpochWeights

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
    return drawn(traces, height=height, legend=below(-0.22), margin=margin(34), **layout)


def loss_curves(curves: Sequence[LoneCurve], *, at: float, height: int = 520) -> go.Figure:
    """Above what a lone pair costs, with the tangent at the similarity `at`; below the size of its slope."""
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
    return drawn(traces, height=height, legend=below(-0.16), margin=margin(34), **layout)


REACH = 0.75  # how long the arrow of the weight 1 is, on a circle of radius 1


def pull_and_push(triplets: Sequence[Triplet], *, height: int = 400) -> go.Figure:
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
            arrows += [_arrow(point, point + REACH * end, hue, width, panel) for end, hue, width in ends]
        tail = "" if panel == 1 else str(panel)
        words = f"pull {each.pull:.2f}<br>push {each.push:.2f}"
        here = {"x": 0.0, "y": 0.0, "xref": f"x{tail}", "yref": f"y{tail}", "showarrow": False}
        arrows.append({"text": words, "font": {"size": 13, "color": INK}} | here)
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False, "fixedrange": True}
    layout = side_by_side(titles, gap=0.02, size=15, x=bare | {"range": [-1.35, 1.35]}, y=bare | {"range": [-1.8, 1.8]})
    for panel in range(1, len(titles) + 1):
        tail = "" if panel == 1 else str(panel)
        layout[f"yaxis{tail}"] |= {"scaleanchor": f"x{tail}", "constrain": "domain", "constraintoward": "top"}
        layout[f"xaxis{tail}"] |= {"constrain": "domain"}
    layout["annotations"] += [each for each in arrows if each]
    return drawn(traces, height=height, legend=below(-0.02), margin=margin(34), **layout)


def _arrow(start: np.ndarray, end: np.ndarray, colour: str, width: float, panel: int) -> Entries:
    """An arrow in the units of a panel; nothing where it would be shorter than its head."""
    if np.hypot(*(end - start)) < 0.02:
        return {}
    tail = "" if panel == 1 else str(panel)
    axes = {"xref": f"x{tail}", "yref": f"y{tail}", "axref": f"x{tail}", "ayref": f"y{tail}"}
    ends = {"x": end[0], "y": end[1], "ax": start[0], "ay": start[1]}
    head = {"arrowhead": 2, "arrowsize": 0.8 if width > 2 else 1.2, "arrowwidth": width, "arrowcolor": colour}
    return {"showarrow": True, "text": ""} | axes | ends | head


def weights_over_epochs(found: EpochWeights, *, height: int = 430) -> go.Figure:
    """Above the median weight of either kind with the middle four fifths, below the shares of pairs kept."""
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
    return drawn(traces, height=height, legend=ABOVE, **layout)


def _visible(weights: np.ndarray) -> np.ndarray:
    return np.maximum(weights, LEAST)
