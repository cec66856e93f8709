"""The figures of SBERT-LP: neighbourhoods before and after the new embedding, and whether it helps.

In: records of `labkit.sbert_lp.view` and `labkit.sbert_lp.sweeps`. Out: plotly figures.

star                        one sentence and its neighbours, with their weights (an `Around`)
order_counts, order_slopes  pairs of pairs that changed order (a `Changed`)
rebuilt, spectrum           how well all sentences are rebuilt from their neighbours (a `Structure`)
tried_curves, chosen_bars   every k and p on dev, and on test what was chosen there (a `Tried`)
unrolled                    a curled line of the plane, and the one number that each method gives its points
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import (
    ABOVE,
    CLEAR,
    COLOURS,
    FAINT,
    INK,
    MARKS,
    NEGATIVE,
    POSITIVE,
    RISING,
    Entries,
    below,
    figure_of,
    grid,
    hover_lines,
    margin,
    on,
    side_by_side,
)

if TYPE_CHECKING:
    from labkit.sbert_lp.sweeps import Tried
    from labkit.sbert_lp.view import Around, Changed, Spoke, Structure


# --- one sentence ------------------------------------------------------------------------------------------------

THICK = 9.0  # pixels of the largest weight


def star(found: Around, side: str, *, height: int = 360) -> go.Figure:
    """A sentence in the middle and its neighbours around it; `side` is before or after, both on the same scale.

    The farther out, the larger the distance of the vectors at length 1, √(2 - 2 cosine); the thicker the line, the
    larger the weight; blue adds, orange and dotted takes away. A full mark is a neighbour on both sides, in the same
    direction in either star; a hollow one is near here only.
    """
    if side not in ("before", "after"):
        raise ValueError(f"side is {side!r}, expected before or after")
    spokes = found.before if side == "before" else found.after
    numbers = list(dict.fromkeys(spoke.number for spoke in (*found.before, *found.after)))
    angle = {number: 360.0 * place / len(numbers) for place, number in enumerate(numbers)}
    reach = 1.12 * max(_distance(spoke) for spoke in (*found.before, *found.after))
    largest = max(abs(spoke.weight) for spoke in spokes)
    traces = [_line(spoke, angle[spoke.number], largest) for spoke in spokes]
    traces += [
        _marks([spoke for spoke in spokes if spoke.both == both], angle, both, name)
        for both, name in ((True, "near on both sides"), (False, "near here only"))
    ]
    centre = {
        "type": "scatterpolar",
        "r": [0],
        "theta": [0],
        "mode": "markers",
        "marker": {"symbol": "star", "size": 15, "color": INK},
        "hovertemplate": f"{hover_lines(found.text)}<extra>the sentence</extra>",
        "name": "",
        "showlegend": False,
    }
    between = -180.0 / len(numbers)  # the scale stands where no spoke does
    scale = {"range": [0, max(reach, 1e-6)], "nticks": 4, "tickfont": {"size": 11, "color": INK}, "angle": between}
    radial = scale | {"gridcolor": FAINT, "linecolor": CLEAR, "tickangle": 0, "ticks": ""}
    angular = {"showticklabels": False, "ticks": "", "gridcolor": CLEAR, "linecolor": FAINT}
    return figure_of(
        [*traces, centre],
        polar={"bgcolor": CLEAR, "radialaxis": radial, "angularaxis": angular},
        height=height,
        legend=below(-0.04) | {"x": 0.5, "xanchor": "center", "font": {"size": 12}},
    )


def _line(spoke: Spoke, angle: float, largest: float) -> Entries:
    away = spoke.weight < 0
    return {
        "type": "scatterpolar",
        "r": [0, _distance(spoke)],
        "theta": [angle, angle],
        "mode": "lines",
        "line": {
            "color": NEGATIVE if away else POSITIVE,
            "width": 0.8 + THICK * abs(spoke.weight) / max(largest, 1e-12),
            "dash": "dot" if away else "solid",
        },
        "opacity": 0.75,
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _marks(spokes: list[Spoke], angle: dict[int, float], both: bool, name: str) -> Entries:
    """The ends, with the numbers of their sentences."""
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
        "customdata": [[spoke.weight, spoke.cosine, spoke.rank, hover_lines(spoke.text)] for spoke in spokes],
        "hovertemplate": (
            "no. %{text}, rank %{customdata[2]}, weight %{customdata[0]:+.3f}, cosine %{customdata[1]:.3f}<br>"
            "%{customdata[3]}<extra></extra>"
        ),
    }


def _distance(spoke: Spoke) -> float:
    return math.sqrt(max(2 - 2 * spoke.cosine, 0.0))


def _outward(angle: float) -> str:
    """The place of a spoke's number, so that it does not lie on the line."""
    if 60 <= angle <= 120:
        return "top center"
    if 240 <= angle <= 300:
        return "bottom center"
    return "middle left" if 90 < angle < 270 else "middle right"


# --- pairs that changed order ------------------------------------------------------------------------------------

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
    return figure_of(
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
            text = "<br>".join(hover_lines(each[pair]) for each in (found.pairs.text_a, found.pairs.text_b))
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
    return figure_of(traces, height=height, legend=below(-0.22), margin=margin(30), **layout)


# --- all sentences rebuilt ---------------------------------------------------------------------------------------

LEAST = 1e-6  # smaller errors are drawn here: a logarithm has no 0
FLAT = 1e-10  # and smaller eigenvalues here


def rebuilt(found: Structure, *, chosen: int | None = None, height: int = 400) -> go.Figure:
    """A mark for each sentence: what its weights leave over in the base, and in the new space; both as shares.

    The mark of another part of the neighbour graph differs. Each carries its number (`customdata`).
    """
    before, after = (np.maximum(values, LEAST) for values in (found.errors, found.kept))
    low, high = float(min(before.min(), after.min())), float(max(before.max(), after.max()))
    ends = [low / 1.5, high * 1.5]
    line = {"color": INK, "dash": "dot", "width": 1.5}
    same = {"type": "scatter", "x": ends, "y": ends, "mode": "lines", "line": line, "hoverinfo": "skip"}
    traces: list[Entries] = [same | {"showlegend": False}]
    traces += [_part(found, part, before, after) for part in range(min(len(found.components), len(MARKS)))]
    if chosen is not None:
        ring = {"size": 18, "color": COLOURS[3], "symbol": "circle-open", "line": {"width": 3}}
        place = {"x": [before[chosen]], "y": [after[chosen]], "customdata": [chosen]}
        mark = {"type": "scatter", "mode": "markers", "marker": ring, "hoverinfo": "skip", "name": f"no. {chosen}"}
        traces.append(mark | place)
    axis = {"type": "log", "gridcolor": FAINT, "exponentformat": "power", "dtick": 1, "zeroline": False}
    return figure_of(
        traces,
        xaxis=axis | {"title": "left over in the base", "range": _span(before)},
        yaxis=axis | {"title": "left over after", "range": _span(after)},
        height=height,
        legend=ABOVE | {"font": {"size": 12}},
        dragmode="pan",
    )


def _part(found: Structure, part: int, before: np.ndarray, after: np.ndarray) -> Entries:
    """The sentences of one part of the neighbour graph; those of all further parts have the last mark."""
    count = len(found.components)
    last = part == len(MARKS) - 1
    rows = np.flatnonzero(found.component >= part if last else found.component == part).tolist()
    return {
        "type": "scatter",
        "x": before[rows],
        "y": after[rows],
        "mode": "markers",
        "name": f"part {part + 1}{' and on' if last and count > len(MARKS) else ''}: {len(rows)} sentences",
        "marker": {"size": 7, "color": COLOURS[part], "symbol": MARKS[part], "opacity": 0.6, "line": {"width": 0}},
        "customdata": rows,
        "hovertext": [hover_lines(found.sentences[row]) for row in rows],
        "hovertemplate": "no. %{customdata}: %{x:.3g} → %{y:.3g}<br>%{hovertext}<extra></extra>",
        "showlegend": count > 1,
    }


def _span(values: np.ndarray) -> list[float]:
    """The range of an axis, as powers of ten: a little more than the values on either side."""
    low, high = np.log10([values.min(), values.max()])
    room = 0.05 * max(high - low, 1.0)
    return [low - room, high + room]


def spectrum(found: Structure, *, height: int = 400) -> go.Figure:
    """The eigenvalues that were kept, rising: what each direction costs. Those that are 0 are orange, at the edge."""
    values = np.maximum(found.eigenvalues, FLAT)
    zero = np.arange(len(values)) < found.zeros
    directions = {
        "type": "scatter",
        "x": np.arange(1, len(values) + 1),
        "y": values,
        "mode": "markers",
        "marker": {
            "color": [NEGATIVE if flat else POSITIVE for flat in zero],
            "symbol": [MARKS[1] if flat else MARKS[0] for flat in zero],
            "size": 8,
        },
        "customdata": found.eigenvalues,
        "hovertemplate": "direction %{x}: λ = %{customdata:.3g}<extra></extra>",
    }
    return figure_of(
        [directions],
        xaxis={"title": "direction, the flattest first", "gridcolor": FAINT},
        yaxis={"title": "eigenvalue λ", "type": "log", "exponentformat": "power", "gridcolor": FAINT},
        height=height,
    )


# --- k and p tried -----------------------------------------------------------------------------------------------

NAMES = {
    "raw": "raw",
    "pca": "PCA",
    "whitening": "whitening",
    "all-but-the-top": "all but the top",
    "lp": "locality preserving",
}
DASHES = {"pca": "dash", "whitening": "dashdot"}


def tried_curves(found: Tried, *, height: int = 430) -> go.Figure:
    """The figure on dev: a line for each k over p, PCA and whitening over p, raw and all-but-the-top as level lines."""
    sizes = sorted({point.size for point in found.points if point.transform in ("pca", "whitening", "lp")})
    counts = sorted({point.neighbours for point in found.points if point.transform == "lp"})
    curves: list[Entries] = []
    for number, k in enumerate(counts):
        line = {"color": COLOURS[number % len(COLOURS)], "width": 2.5}
        marker = {"symbol": MARKS[number % len(MARKS)], "size": 9}
        points = [point for point in found.points if point.transform == "lp" and point.neighbours == k]
        curves += _tried_line([(point.size, point.value) for point in points], f"LP, k = {k}", line, marker)
    for name, dash in DASHES.items():
        points = [point for point in found.points if point.transform == name]
        line = {"color": INK, "width": 2, "dash": dash}
        curves += _tried_line(
            [(point.size, point.value) for point in points], NAMES[name], line, {"size": 5, "symbol": "x"}
        )
    level = {point.transform: point for point in found.chosen}
    ends = sizes or [1, 2]
    raw, top = level["raw"], level.get("all-but-the-top")
    curves += _tried_line([(size, raw.value) for size in ends], "raw", {"color": INK, "width": 3}, None)
    if top is not None:
        name = f"all but the top {top.size}"
        curves += _tried_line(
            [(size, top.value) for size in ends], name, {"color": INK, "width": 2, "dash": "dot"}, None
        )
    ticks = {"tickvals": sizes, "ticktext": [str(size) for size in sizes]}
    return figure_of(
        curves,
        xaxis={"title": "dimensions p", "type": "log", "gridcolor": FAINT} | ticks,
        yaxis={"title": f"{found.measure}, dev", "gridcolor": FAINT},
        height=height,
        legend=below(-0.24) | {"font": {"size": 12}},
    )


def chosen_bars(found: Tried, *, height: int = 430) -> go.Figure:
    """The figure on test of each way as it was best on dev, written at the end of its bar."""
    names = []
    for point in found.chosen:
        size = f"p={point.size}" if point.transform != "all-but-the-top" else f"{point.size} removed"
        numbers = [f"k={point.neighbours}"] * (point.neighbours > 0) + [size] * (point.size > 0)
        names.append(f"{NAMES[point.transform]}<br>{' '.join(numbers)}")
    colours = [COLOURS[0] if point.transform == "lp" else INK for point in found.chosen]
    bars = {
        "type": "bar",
        "y": list(range(len(names))),
        "x": list(found.test),
        "orientation": "h",
        "marker": {"color": colours},
        "text": [f"{value:.3f}" for value in found.test],
        "textposition": "outside",
        "textfont": {"size": 14},
        "cliponaxis": False,
        "hovertemplate": "%{x:.4f}<extra></extra>",
    }
    least, most = min(0.0, *found.test), max(found.test)
    span = [least, most + 0.16 * (most - least)]
    ticks = {"tickvals": list(range(len(names))), "ticktext": names, "tickfont": {"size": 13}}
    return figure_of(
        [bars],
        xaxis={"title": f"{found.measure}, test", "gridcolor": FAINT, "range": span},
        yaxis=ticks | {"autorange": "reversed"},
        height=height,
        bargap=0.35,
    )


def _tried_line(points: list[tuple[int, float]], name: str, line: Entries, marker: Entries | None) -> list[Entries]:
    """One line of the sweep; nothing where there are no points."""
    if not points:
        return []
    x, y = zip(*points, strict=True)
    return [
        {
            "type": "scatter",
            "x": x,
            "y": y,
            "name": name,
            "mode": "lines" if marker is None else "lines+markers",
            "line": line,
            "marker": marker,
            "hovertemplate": "p = %{x}: %{y:.4f}<extra>%{fullData.name}</extra>",
        }
    ]


# --- a line unrolled ---------------------------------------------------------------------------------------------


def unrolled(points: Any, along: Any, found: Mapping[str, Any], *, height: int = 620) -> go.Figure:
    """Draw a curled line of the plane, and beside it the one number that each method gives every point of it.

    `points` (n, 2), `along` (n,) how far along the line each lies; `found`: name of a method -> a
    number for each point. A colour says in every panel how far along the line a point lies; so do the ticks.

    A method has unrolled the line where its points rise, or fall, all the way. Each of them is drawn from 0 to 1, and
    turned to rise, since neither a sign nor a size is anything that such a method tells.
    """
    points, along = np.asarray(points, dtype=float), np.asarray(along, dtype=float)
    if points.shape != (len(along), 2):
        raise ValueError(f"points have the shape {points.shape}, expected ({len(along)}, 2), a row for each of along")
    share = _share(along)
    marker = {"size": 5, "color": share, "colorscale": RISING, "line": {"width": 0}}
    dots: Entries = {"type": "scatter", "mode": "markers", "marker": marker, "showlegend": False}
    hover = {"customdata": share, "hovertemplate": "%{customdata:.0%} along the line<extra></extra>"}
    traces = [dots | hover | on(1) | {"x": points[:, 0], "y": points[:, 1]}]
    ends = points[[along.argmin(), along.argmax()]]
    words = {
        "mode": "text",
        "text": ["start\u2002", "end"],
        "textposition": ["middle left", "top center"],
        "textfont": {"size": 13},
    }
    traces.append({"type": "scatter", "showlegend": False, "hoverinfo": "skip", "cliponaxis": False} | words | on(1))
    traces[-1] |= {"x": ends[:, 0], "y": ends[:, 1]}
    for panel, (name, values) in enumerate(found.items(), 2):
        number = _share(np.asarray(values, dtype=float).ravel())
        if len(number) != len(share):
            raise ValueError(f"{name!r} has {len(number)} numbers, expected {len(share)}, one for each point")
        if np.corrcoef(number, share)[0, 1] < 0:
            number = 1 - number
        hover = {"hovertemplate": "%{x:.0%} along the line: %{y:.2f}<extra></extra>", "name": name}
        traces.append(dots | hover | on(panel) | {"x": share, "y": number})
    axis = {"gridcolor": FAINT, "zeroline": False, "range": [-0.05, 1.05], "tickvals": [0, 0.5, 1]}
    layout = grid(
        ["the line, seen from above", *found],
        columns=2,
        gap=(0.12, 0.18),
        size=14,
        x=axis | {"title": {"text": "along the line", "standoff": 4}, "ticktext": ["start", "half", "end"]},
        y=axis | {"title": {"text": "the number found", "standoff": 2}, "ticktext": ["0", "", "1"]},
    )
    bare = {"showgrid": False, "zeroline": False, "showticklabels": False}
    layout |= {
        "xaxis": bare | {"domain": layout["xaxis"]["domain"], "anchor": "y"},
        "yaxis": bare | {"domain": layout["yaxis"]["domain"], "anchor": "x", "scaleanchor": "x"},
    }
    return figure_of(traces, height=height, margin=margin(44), **layout)


def _share(values: np.ndarray) -> np.ndarray:
    """Move and stretch values so that they go from 0 to 1."""
    return (values - values.min()) / max(float(np.ptp(values)), 1e-12)
