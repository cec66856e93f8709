"""Figures of SBERT-LP: neighbourhoods before and after the new embedding, and whether it helps.

In: records of `labkit.sbert_lp.view` and `labkit.sbert_lp.sweeps`. Out: plotly figures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from labkit.figures import drawing as draw
from labkit.figures.drawing import Entries
from labkit.palette import CLEAR, COLOURS, FAINT, INK, NEGATIVE, POSITIVE, RISING

if TYPE_CHECKING:
    from labkit.sbert_lp.sweeps import Point, Tried
    from labkit.sbert_lp.view import Around, Changed, Spoke


# --- one sentence ------------------------------------------------------------------------------------------------

THICK = 9.0  # pixels of the largest weight


def star(sentence: Around, side: str, *, height: int = 360) -> go.Figure:
    """Draw a sentence in the middle and its neighbours around it; `side` is before or after, on the same scale.

    The distance from the centre is that of the unit vectors, √(2 - 2 cosine). Lines are thicker for larger weights;
    they are blue for positive weights, and orange and dotted for negative ones. A filled mark is a neighbour on both
    sides, in the same direction in both stars; a hollow mark is a neighbour on this side only.
    """
    spokes = {"before": sentence.before, "after": sentence.after}[side]
    both_sides = (*sentence.before, *sentence.after)
    numbers = list(dict.fromkeys(spoke.number for spoke in both_sides))
    angle = {number: 360.0 * place / len(numbers) for place, number in enumerate(numbers)}
    reach = 1.12 * max(_distance(spoke) for spoke in both_sides)
    largest = max(abs(spoke.weight) for spoke in spokes)
    traces = [_line(spoke, angle[spoke.number], largest) for spoke in spokes]
    traces += [
        _ends([spoke for spoke in spokes if spoke.both == both], angle, both, name)
        for both, name in ((True, "near on both sides"), (False, "near here only"))
    ]
    hover = {"hovertemplate": f"{draw.hover_lines(sentence.text)}<extra>the sentence</extra>", "name": ""}
    marker = {"symbol": "star", "size": 15, "color": INK}
    centre = {"type": "scatterpolar", "r": [0], "theta": [0], "mode": "markers", "marker": marker, "showlegend": False}
    between = -180.0 / len(numbers)  # the scale is placed between two spokes
    scale = {"range": [0, max(reach, 1e-6)], "nticks": 4, "tickfont": {"size": 11, "color": INK}, "angle": between}
    radial = scale | {"gridcolor": FAINT, "linecolor": CLEAR, "tickangle": 0, "ticks": ""}
    angular = {"showticklabels": False, "ticks": "", "gridcolor": CLEAR, "linecolor": FAINT}
    return draw.figure_of(
        [*traces, centre | hover],
        polar={"bgcolor": CLEAR, "radialaxis": radial, "angularaxis": angular},
        height=height,
        legend=draw.below(-0.04) | {"x": 0.5, "xanchor": "center", "font": {"size": 12}},
    )


def _line(spoke: Spoke, angle: float, largest: float) -> Entries:
    colour, dash = (NEGATIVE, "dot") if spoke.weight < 0 else (POSITIVE, "solid")
    width = 0.8 + THICK * abs(spoke.weight) / max(largest, 1e-12)
    line = {"mode": "lines", "line": {"color": colour, "width": width, "dash": dash}, "opacity": 0.75}
    ends = {"r": [0, _distance(spoke)], "theta": [angle, angle]}
    return {"type": "scatterpolar", "hoverinfo": "skip", "showlegend": False} | line | ends


def _ends(spokes: list[Spoke], angle: dict[int, float], both: bool, name: str) -> Entries:
    """Return the ends of the spokes, with the numbers of their sentences."""
    return {
        "type": "scatterpolar",
        "r": [_distance(spoke) for spoke in spokes] or None,
        "theta": [angle[spoke.number] for spoke in spokes] or None,
        "mode": "markers+text",
        "name": name,
        "marker": {"size": 9, "color": INK, "symbol": "circle" if both else "circle-open", "line": {"width": 2}},
        "text": [str(spoke.number) for spoke in spokes],
        "textposition": [_outward(angle[spoke.number]) for spoke in spokes],
        "textfont": {"size": 11, "color": INK},
        "cliponaxis": False,
        "customdata": [[spoke.weight, spoke.cosine, spoke.rank, draw.hover_lines(spoke.text)] for spoke in spokes],
        "hovertemplate": (
            "no. %{text}, rank %{customdata[2]}, weight %{customdata[0]:+.3f}, cosine %{customdata[1]:.3f}<br>"
            "%{customdata[3]}<extra></extra>"
        ),
    }


def _distance(spoke: Spoke) -> float:
    return math.sqrt(max(2 - 2 * spoke.cosine, 0.0))


def _outward(angle: float) -> str:
    """Return the place of a spoke's number, so that it does not overlap the line."""
    if 60 <= angle <= 120:
        return "top center"
    if 240 <= angle <= 300:
        return "bottom center"
    return "middle left" if 90 < angle < 270 else "middle right"


# --- pairs that changed order ------------------------------------------------------------------------------------

KINDS = (  # field of the record, its name, colour, colour of the text on it
    ("kept", "right in both", "#A0A0A0", "#000000"),
    ("fixed", "fixed", POSITIVE, "#FFFFFF"),
    ("broken", "broken", NEGATIVE, "#000000"),
    ("wrong", "wrong in both", "#D0D0D0", "#000000"),
)


def order_counts(changed: Changed, *, height: int = 160) -> go.Figure:
    """Draw all comparisons of two pairs as one bar, split by which space orders them correctly."""
    parts = []
    for field, name, colour, ink in KINDS:
        count = getattr(changed.found, field)
        share = count / changed.found.comparisons
        part = draw.bars(
            [share],
            [""],
            {"color": colour},
            name=f"{name} {100 * share:.1f} %",
            text=f"{100 * share:.1f} %" if share > 0.035 else "",
            textfont={"color": ink, "size": 15},
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            hovertemplate=f"{name}: {count:,} (%{{x:.2%}})<extra></extra>",
            orientation="h",
        )
        parts.append(part)
    two_by_two = {"entrywidth": 0.48, "entrywidthmode": "fraction"}  # on a narrow screen too
    return draw.figure_of(
        parts,
        xaxis={"tickformat": ".0%", "range": [0, 1], "showgrid": False},
        yaxis={"showticklabels": False},
        legend=draw.below(-0.35) | two_by_two | {"traceorder": "normal", "font": {"size": 13}},
        barmode="stack",
        bargap=0.1,
        height=height,
    )


# --- choices of k and p-------------------------------------------------------------------------------------------

NAMES = {
    "raw": "raw",
    "pca": "PCA",
    "whitening": "whitening",
    "all-but-the-top": "all but the top",
    "lp": "locality preserving",
}
LINE_OF = {"pca": ("dash", "x"), "whitening": ("dashdot", "triangle-up-open")}


def tried_curves(trial: Tried) -> go.Figure:
    """Draw the dev score against p, with one line for each k, for PCA and for whitening.

    Raw and all-but-the-top are horizontal lines.
    """
    sizes = sorted({point.size for point in trial.points if point.transform in (*LINE_OF, "lp")})
    hover = {"hovertemplate": f"p = %{{x}}: %{{y:.4f}}{draw.NAME}"}
    ways: dict[tuple[str, int], list[Point]] = {}
    for point in sorted(trial.points, key=lambda point: point.neighbours):  # stable within one k and method
        ways.setdefault((point.transform, point.neighbours), []).append(point)
    traces: list[Entries] = []
    for number, k in enumerate(k for name, k in ways if name == "lp"):
        x, y = zip(*((point.size, point.value) for point in ways["lp", k]), strict=True)
        traces.append(draw.series(number, x, y, f"LP, k = {k}", "p = %{x}: %{y:.4f}"))
    for name, (dash, symbol) in LINE_OF.items():
        if (name, 0) in ways:
            x, y = zip(*((point.size, point.value) for point in ways[name, 0]), strict=True)
            line = draw.curve(x, y, INK, dash, 2, name=NAMES[name], marker={"size": 9, "symbol": symbol}) | hover
            traces.append(line | {"mode": "lines+markers"})
    level = {point.transform: point for point in trial.chosen}
    ends = sizes or [1, 2]
    raw, top = level["raw"], level.get("all-but-the-top")
    traces.append(draw.curve(ends, [raw.value] * len(ends), INK, width=3, name="raw") | hover)
    if top is not None:
        name = f"all but the top {top.size}"
        traces.append(draw.curve(ends, [top.value] * len(ends), INK, "dot", 2, name=name) | hover)
    numbers = {"tickvals": sizes, "ticktext": [str(size) for size in sizes]}
    return draw.figure_of(
        traces,
        xaxis={"title": "dimensions p", "type": "log"} | numbers,
        yaxis={"title": f"{trial.measure}, dev"},
        height=430,
        legend=draw.below(-0.24) | {"font": {"size": 12}, "itemwidth": 50},
    )


def chosen_bars(trial: Tried) -> go.Figure:
    """Draw the test score of each method with its best settings on dev; the score is at the end of the bar."""
    names = []
    for point in trial.chosen:
        size = f"p={point.size}" if point.transform != "all-but-the-top" else f"{point.size} removed"
        numbers = [f"k={point.neighbours}"] * (point.neighbours > 0) + [size] * (point.size > 0)
        names.append(f"{NAMES[point.transform]}<br>{' '.join(numbers)}")
    places = list(range(len(names)))
    ways = draw.bars(
        list(trial.test),
        places,
        {"color": [COLOURS[0] if point.transform == "lp" else INK for point in trial.chosen]},
        text=[f"{value:.3f}" for value in trial.test],
        textposition="outside",
        textfont={"size": 14},
        cliponaxis=False,
        hovertemplate="%{x:.4f}<extra></extra>",
        orientation="h",
    )
    least, most = min(0.0, *trial.test), max(trial.test)
    span = [least, most + 0.16 * (most - least)]
    return draw.figure_of(
        [ways],
        xaxis={"title": f"{trial.measure}, test", "range": span},
        yaxis={"tickvals": places, "ticktext": names, "tickfont": {"size": 13}, "autorange": "reversed"},
        height=430,
        bargap=0.35,
    )


# --- a line unrolled ---------------------------------------------------------------------------------------------


def unrolled(points: Any, along: Any, numbers: Mapping[str, Any]) -> go.Figure:
    """Draw a curled line in the plane, and next to it the number that each method assigns to every point.

    `points` (n, 2), `along` (n,) the position of each point along the line; `numbers`: name of a method -> a number for
    each point. In every panel, colours and ticks show the position along the line.

    A method has unrolled the line if its numbers always rise or always fall. They are scaled to 0 to 1 and flipped so
    that they rise, because such a method determines neither sign nor scale.
    """
    points, along = np.asarray(points, dtype=float), np.asarray(along, dtype=float)
    share = _share(along)
    marker = {"size": 5, "color": share, "colorscale": RISING, "line": {"width": 0}}
    hover = {"customdata": share, "hovertemplate": "%{customdata:.0%} along the line<extra></extra>"}
    traces = [draw.marks(points[:, 0], points[:, 1], marker, showlegend=False) | hover | draw.on(1)]
    x, y = points[[along.argmin(), along.argmax()]].T
    places = {"textposition": ["middle left", "top center"], "cliponaxis": False}
    traces.append(draw.words_at(x, y, ["start\u2002", "end"], {"size": 13}, showlegend=False) | places | draw.on(1))
    for panel, (name, values) in enumerate(numbers.items(), 2):
        number = _share(np.asarray(values, dtype=float).ravel())
        if np.corrcoef(number, share)[0, 1] < 0:
            number = 1 - number
        hover = {"hovertemplate": "%{x:.0%} along the line: %{y:.2f}<extra></extra>", "name": name}
        traces.append(draw.marks(share, number, marker, showlegend=False) | hover | draw.on(panel))
    axis = {"range": [-0.05, 1.05], "tickvals": [0, 0.5, 1]}
    layout = draw.side_by_side(
        ["the line, seen from above", *numbers],
        columns=2,
        gap=(0.12, 0.18),
        size=14,
        x=axis | {"title": {"text": "along the line", "standoff": 4}, "ticktext": ["start", "half", "end"]},
        y=axis | {"title": {"text": "the number found", "standoff": 2}, "ticktext": ["0", "", "1"]},
    )
    layout |= {
        "xaxis": draw.EMPTY | {"domain": layout["xaxis"]["domain"], "anchor": "y"},
        "yaxis": draw.EMPTY | {"domain": layout["yaxis"]["domain"], "anchor": "x", "scaleanchor": "x"},
    }
    return draw.figure_of(traces, height=620, margin=draw.margin(44), **layout)


def _share(values: np.ndarray) -> np.ndarray:
    return (values - values.min()) / max(float(np.ptp(values)), 1e-12)
