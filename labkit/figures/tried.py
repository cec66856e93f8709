"""Does the new space help? Every k and p on dev, what was chosen there on test. In: a `Tried`. Out: plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.drawing import Entries, below, drawn
from labkit.figures.palette import COLOURS, FAINT, INK, MARKS

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.reembedding.tried import Tried

NAMES = {
    "raw": "raw",
    "pca": "PCA",
    "whitening": "whitening",
    "all-but-the-top": "all but the top",
    "lp": "locality preserving",
}
DASHES = {"pca": "dash", "whitening": "dashdot"}


def tried_curves(found: Tried, *, height: int = 430) -> go.Figure:
    """On dev: a line for each k over p; PCA and whitening over the same p; raw and all-but-the-top as level lines."""
    sizes = sorted({point.size for point in found.points if point.transform in ("pca", "whitening", "lp")})
    counts = sorted({point.neighbours for point in found.points if point.transform == "lp"})
    lines: list[Entries] = []
    for number, k in enumerate(counts):
        line = {"color": COLOURS[number % len(COLOURS)], "width": 2.5}
        marker = {"symbol": MARKS[number % len(MARKS)], "size": 9}
        points = [point for point in found.points if point.transform == "lp" and point.neighbours == k]
        lines += _line([(point.size, point.value) for point in points], f"LP, k = {k}", line, marker)
    for name, dash in DASHES.items():
        points = [point for point in found.points if point.transform == name]
        line = {"color": INK, "width": 2, "dash": dash}
        lines += _line([(point.size, point.value) for point in points], NAMES[name], line, {"size": 5, "symbol": "x"})
    level = {point.transform: point for point in found.chosen}
    ends = sizes or [1, 2]
    raw, top = level["raw"], level.get("all-but-the-top")
    lines += _line([(size, raw.value) for size in ends], "raw", {"color": INK, "width": 3}, None)
    if top is not None:
        name = f"all but the top {top.size}"
        lines += _line([(size, top.value) for size in ends], name, {"color": INK, "width": 2, "dash": "dot"}, None)
    ticks = {"tickvals": sizes, "ticktext": [str(size) for size in sizes]}
    return drawn(
        lines,
        xaxis={"title": "dimensions p", "type": "log", "gridcolor": FAINT} | ticks,
        yaxis={"title": f"{found.measure}, dev", "gridcolor": FAINT},
        height=height,
        legend=below(-0.24) | {"font": {"size": 12}},
    )


def chosen_bars(found: Tried, *, height: int = 430) -> go.Figure:
    """On test: each way as it was best on dev, the figure at the end of its bar."""
    names = []
    for point in found.chosen:
        size = f"p={point.size}" if point.transform != "all-but-the-top" else f"{point.size} removed"
        told = [f"k={point.neighbours}"] * (point.neighbours > 0) + [size] * (point.size > 0)
        names.append(f"{NAMES[point.transform]}<br>{' '.join(told)}")
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
    return drawn(
        [bars],
        xaxis={"title": f"{found.measure}, test", "gridcolor": FAINT, "range": span},
        yaxis=ticks | {"autorange": "reversed"},
        height=height,
        bargap=0.35,
    )


def _line(points: list[tuple[int, float]], name: str, line: Entries, marker: Entries | None) -> list[Entries]:
    """None where there are no points."""
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
