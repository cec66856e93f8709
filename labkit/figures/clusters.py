"""Sentences as points of the plane or of space, a colour and a mark for each class.

In: a `Projection` and a `Labelled` with its sentences in the same order. Out: a plotly figure in which each point
carries its row number (`customdata`), so that a page can find the sentence behind a click. What is drawn on top of the
points (a typed sentence, a ring) carries none.

Of up to 1,000 points the sentences are in the figure, to be read in passing; of more, none. Above 3,000 points a GPU
draws them. Above `labkit.brush.MOST` they lie under an empty layer of the same axes, which takes the mouse: a box drawn
on it says where it is, and does not list tens of thousands of points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from labkit.brush import MOST
from labkit.corpora.records import Labelled
from labkit.figures.colouring import CLASS, Colouring, colouring
from labkit.figures.density import contours
from labkit.figures.palette import CLEAR, INK, PLAIN, RISING, style
from labkit.figures.text import lines, short
from labkit.projection.record import Projection

READABLE = 1_000  # points: above, the figure holds no sentence
DRAWN = 3_000  # points: above, WebGL
SIZES = ((300, 10, 0.85), (1_100, 8, 0.8), (3_000, 6, 0.65), (10_000, 4, 0.5), (30_000, 3, 0.4))  # to n: size, opacity
MANY = (2.5, 0.3)
FADED = 0.12  # opacity of what is not chosen, as a share of what it was
SOLID = {"triangle-up": "x", "star": "diamond-open"}  # marks that there are in space instead


def clusters(
    projection: Projection,
    points: Labelled,
    *,
    by: str = CLASS,
    most: int | None = None,
    chosen: Sequence[int] | np.ndarray | None = None,
    ring: int | None = None,
    landed: np.ndarray | None = None,
    density: bool = False,
    height: int = 450,
) -> go.Figure:
    """One trace a class, so that a click on its name in the legend hides it.

    by        the column that colours (`labkit.figures.colouring`), `most` of its names with a colour of their own
    chosen    rows that stand out, the others fade       ring      the row with a ring around it
    landed    where typed sentences lie, (m, 2 or 3)     density   with lines of equal density
    """
    n, dimensions = projection.points.shape
    if n != len(points):
        raise ValueError(f"projection has {n} points, expected {len(points)}, one a sentence")
    colours = colouring(points, by, most=most)
    figure = go.Figure()
    if density and dimensions == 2:
        figure.add_trace(contours(projection.points))
    for trace, rows in traces(projection.points, points, colours):
        figure.add_trace(trace)
        if chosen is not None:
            figure.data[-1].selectedpoints = np.flatnonzero(np.isin(rows, chosen)).tolist()
    if ring is not None:
        figure.add_trace(_over(projection.points[[ring]], f"{dimensions}d", n, "circle-open", 20, "#D55E00", ""))
    if landed is not None:
        figure.add_trace(_over(landed, f"{dimensions}d", n, "star", 20, "#F0E442", "typed"))
    _axes(figure, projection)
    if dimensions == 2 and n > MOST:
        _cover(figure, projection.points)
    legend = {"itemsizing": "constant", "font": {"size": 13}, "traceorder": "normal"}
    hover = {"align": "left", "font": {"size": 14}}
    return figure.update_layout(height=height, legend=legend, hoverlabel=hover, dragmode="pan", **PLAIN)


def traces(points: np.ndarray, shown: Labelled, colours: Colouring) -> Iterator[tuple[Any, np.ndarray]]:
    """A trace for each name of a colouring, or one for all numbers; with the rows that it holds."""
    n, dimensions = points.shape
    size, opacity = next(((size, opacity) for most, size, opacity in SIZES if n <= most), MANY)
    size = size * 0.6 if dimensions == 3 else size
    kind = go.Scatter3d if dimensions == 3 else go.Scattergl if n > DRAWN else go.Scatter
    names = list(enumerate(colours.names or (colours.column,)))
    for code, name in sorted(names, key=lambda entry: entry[0] != colours.rest):  # the rest lies below all others
        rows = np.flatnonzero(colours.codes == code).astype(np.int32)
        marker = _marker(colours, code, rows) | {"size": size, "opacity": opacity, "line": {"width": 0}}
        if code == colours.rest:
            marker |= {"size": size * 0.75, "opacity": opacity * 0.55}
        if dimensions == 3:
            marker["symbol"] = SOLID.get(marker["symbol"], marker["symbol"])
        places = {axis: points[rows, number].astype(np.float32) for number, axis in enumerate("xyz"[:dimensions])}
        trace = kind(mode="markers", name=short(name, 28), marker=marker, showlegend=bool(colours.names), **places)
        trace.legendrank = 2_000 if code == colours.rest else 1_000
        if dimensions == 2:
            trace.unselected = {"marker": {"opacity": FADED * marker["opacity"]}}
        if n <= MOST:
            trace.customdata = rows
        if n <= READABLE:
            trace.text = [lines(shown.texts[row]) for row in rows.tolist()]
            trace.hovertemplate = "%{text}<extra>%{fullData.name}</extra>"
        else:
            trace.hoverinfo = "none" if n <= MOST else "skip"  # "none" still takes a click
        yield trace, rows


def _marker(colours: Colouring, code: int, rows: np.ndarray) -> dict[str, Any]:
    if colours.values is not None:
        bar = {"thickness": 12, "title": {"text": short(colours.column, 20)}}
        return {"color": colours.values[rows], "colorscale": RISING, "colorbar": bar, "symbol": "circle"}
    if code == colours.rest:
        return {"color": INK, "symbol": "circle"}
    colour, mark = style(code)
    return {"color": colour, "symbol": mark}


def _over(points: np.ndarray, space: str, n: int, mark: str, size: float, colour: str, name: str) -> Any:
    """A mark on top of the points."""
    places = dict(zip("xyz", np.asarray(points, np.float32).T, strict=False))
    line = {"color": colour if mark == "circle-open" else "#000000", "width": 3 if mark == "circle-open" else 1.5}
    marker = {"symbol": mark, "size": size, "color": colour, "line": line}
    if space == "3d":
        marker |= {"symbol": SOLID.get(mark, mark), "size": size * 0.6}
        return go.Scatter3d(mode="markers", marker=marker, name=name, showlegend=bool(name), hoverinfo="skip", **places)
    kind = go.Scattergl if n > DRAWN else go.Scatter
    return kind(
        mode="markers", marker=marker, name=name, showlegend=bool(name), hoverinfo="skip",
        unselected={"marker": {"opacity": 1}}, **places,
    )  # fmt: skip


def _axes(figure: go.Figure, projection: Projection) -> None:
    """No numbers: only which is near which can be read from a picture."""
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    if projection.points.shape[1] == 3:
        titles = {
            f"{axis}axis_title": {"text": f"{projection.name} {place}", "font": {"size": 13}}
            for place, axis in enumerate("xyz", 1)
        }
        grid = {"showticklabels": False, "backgroundcolor": CLEAR, "gridcolor": INK, "zeroline": False}
        figure.update_scenes(aspectmode="data", xaxis=grid, yaxis=grid, zaxis=grid, **titles)
        return
    figure.update_xaxes(title=f"{projection.name} 1", **bare)
    figure.update_yaxes(title=f"{projection.name} 2", scaleanchor="x", **bare)


def _cover(figure: go.Figure, points: np.ndarray) -> None:
    """The empty layer over many points."""
    low, high = points.min(axis=0).tolist(), points.max(axis=0).tolist()
    corners = {"x": [low[0], high[0]], "y": [low[1], high[1]]}
    empty = {"mode": "lines", "line": {"color": CLEAR}, "hoverinfo": "skip", "showlegend": False}
    figure.add_trace(go.Scatter(xaxis="x2", yaxis="y2", **corners, **empty))
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
    figure.update_layout(
        xaxis2={"matches": "x", "anchor": "y2", **bare}, yaxis2={"matches": "y", "anchor": "x2", **bare}
    )
