"""Sentences as points in a plane or in space; each class has a colour and a mark.

In: a `Projection` and a `Labelled` with its sentences in the same order. Out: a plotly figure in which each point
carries its row number (`customdata`), so that a page can find the sentence behind a click. Marks on top of the points
(a typed sentence, a ring) carry none.

Up to 1,000 points, the figure contains their sentences as hover labels. Above 3,000 points, a GPU draws them. Above
`MOST` points, an empty layer with the same axes covers them and receives the mouse events: a selected box then reports
its corners instead of a list of tens of thousands of points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import unescape
from types import MappingProxyType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import plotly.graph_objects as go

from labkit.corpora.records import SPLITS, Labelled
from labkit.evaluation.classes import NO_CLASS
from labkit.evaluation.regions import Regions, placed
from labkit.figures import drawing as draw
from labkit.figures.drawing import Entries
from labkit.palette import CLEAR, COLOURS, INK, RISING, STYLES, style
from labkit.projection.picture import Projection
from labkit.text import words

MOST = 5_000  # maximum of points in the list of an event; more would take megabytes

# --- what colours the points -------------------------------------------------------------------------------------

CLASS, SPLIT, LENGTH = "class", "split", "words in it"
TRUST, MOVED = "trust", "neighbours changed"  # columns of shares
FEW = 12  # up to this many distinct numbers, each gets its own colour


@dataclass(frozen=True, eq=False)
class Colouring:
    """What colours the points of a picture: their class, or any other column.

    `codes` (n,) number the `names`; without names, `values` (n,) are on a scale. `rest` is the code of all other names.
    `styles` gives for each name the number of its colour and mark (`labkit.palette.style`).
    """

    column: str
    codes: np.ndarray
    names: tuple[str, ...] = ()
    values: np.ndarray | None = None
    rest: int | None = None
    styles: tuple[int, ...] = ()


# Cached for the sentences in use: for 20,000 of them, it takes longer than the rest of a picture.
_KEPT: WeakKeyDictionary[Labelled, dict[str, Colouring]] = WeakKeyDictionary()


def with_column(shown: Labelled, name: str, values: np.ndarray) -> Labelled:
    """Return the same sentences with a column of numbers, such as TRUST or MOVED, to colour by."""
    return replace(shown, extra={**shown.extra, name: np.asarray(values).tolist()})


def columns(shown: Labelled) -> list[str]:
    """Return the columns that can colour points."""
    return list(dict.fromkeys([CLASS, SPLIT, LENGTH, *(str(name) for name in shown.extra)]))


def colouring(shown: Labelled, column: str = CLASS, *, most: int | None = None, order: Sequence[str] = ()) -> Colouring:
    """Colour points by a column; the `most` most frequent names have their own colours, and all other names share one.

    With an `order` of the classes of a whole corpus (`labkit.corpora.relations.class_order`), the place of a class in
    it is the number of its colour, whatever else is shown. If two classes would have the same colour, as the 1st and
    the 37th would, only the first gets it.
    """
    kept = _KEPT.setdefault(shown, {})
    if column not in kept:
        kept[column] = _each_its_own(shown, column)
    full = kept[column]
    if column == SPLIT:
        order = SPLITS
    if full.values is None and order and column in (CLASS, SPLIT):
        return _in_order(full, most, order)
    if most is None or len(full.names) <= most:
        return full
    return _with_rest(full, np.sort(np.argsort(-np.bincount(full.codes), kind="stable")[:most]).tolist())


def _in_order(full: Colouring, most: int | None, order: Sequence[str]) -> Colouring:
    """Order names by their place in `order`; names that are missing there come last."""
    place = {name: number for number, name in enumerate(order)}
    places = [place.get(name, len(order) + code) for code, name in enumerate(full.names)]
    codes = sorted(range(len(full.names)), key=places.__getitem__)
    if most is not None:
        first: dict[int, int] = {}  # number of a colour -> the first name that has it
        for code in codes:
            first.setdefault(places[code] % STYLES, code)
        sizes = np.bincount(full.codes)
        largest = sorted(first.values(), key=lambda code: -sizes[code])[:most]
        codes = [code for code in codes if code in largest]
    return _with_rest(full, codes, [places[code] % STYLES for code in codes])


def _with_rest(full: Colouring, codes: Sequence[int], styles: Sequence[int] = ()) -> Colouring:
    """Keep only these names, in this order; all other names, if any, become one, which says how many they are."""
    new, rest = np.full(len(full.names), len(codes)), None
    new[list(codes)] = np.arange(len(codes))
    names, styles = tuple(full.names[code] for code in codes), tuple(styles or range(len(codes)))
    if left := len(full.names) - len(codes):
        names, styles, rest = (*names, f"{left} other{'s' * (left > 1)}"), (*styles, len(codes)), len(codes)
    return Colouring(full.column, new[full.codes], names, rest=rest, styles=styles)


def _each_its_own(shown: Labelled, column: str) -> Colouring:
    """Give every name its own colour, in the order of first appearance."""
    import pandas as pd  # takes a second

    values = pd.Series(list(_values(shown, column)), dtype=object)
    if column in (TRUST, MOVED) or (column not in (CLASS, SPLIT) and values.nunique() > FEW):
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float32)
        if np.isfinite(numbers).all():
            return Colouring(column, np.zeros(len(values), np.int64), values=numbers)
    codes, names = pd.factorize(values.map(str))
    return Colouring(column, codes, tuple(names), styles=tuple(range(len(names))))


def _values(shown: Labelled, column: str) -> Sequence[Any]:
    if column == CLASS:
        return shown.labels
    if column == SPLIT:
        return shown.splits
    if column == LENGTH:
        return [len(words(text)) for text in shown.texts]
    if column not in shown.extra:
        raise ValueError(f"column is {column!r}, expected one of {', '.join(columns(shown))}")
    return shown.extra[column]


# --- the picture -------------------------------------------------------------------------------------------------

READABLE = 1_000  # points; above, the figure contains no sentences
DRAWN = 3_000  # points; above, WebGL draws them
SIZES = ((1_100, 8, 0.8), (3_000, 6, 0.65), (10_000, 4, 0.5), (30_000, 3, 0.4))  # to n: size, opacity
MANY = (2.5, 0.3)
SMALLER = 0.9  # size of a point in a small picture, as a share of the usual one
DIMMED = 0.3  # opacity in 3-D if some points have a ring, which opaque points would hide
FADED = 0.35  # opacity of points that are not chosen, as a share of the usual one
SOLID = {"triangle-up": "x", "star": "diamond-open"}  # replacements for marks that 3-D plots lack
PLAIN = draw.EMPTY | {"ticks": ""}  # an axis
LETTERS, HOVER = 15, 44  # characters of a name in a small picture, and of each of the two lines of a hover label
TAILS = (0.05, 0.95)  # the shares of sentences below the ends of the scale of MOVED
AROUND = 8  # points around a name
LOOSE = 100  # points of a picture in which no name needs to cover any of them
SEARCHED, PLACES = 400, 60  # points of a class among which its densest places are found, and the places tried
RING, SPOT = 20.0, 5.0  # pixels from the middle of a ring or of a point that no name covers
BELOW = draw.below(-0.02) | {"entrywidth": 94, "font": {"size": 12}}
UNDER = {"orientation": "h", "x": 0.5, "y": -0.02, "yanchor": "top", "len": 0.9}  # position of a colour scale
LETTER, LINE = 7.0, 15.0  # pixels of a character and of a line of text
ENTRY, SCALE = 19, 60  # pixels of a legend line, and of a colour scale, below a picture
WAYS = {  # outcome of a sentence that moved -> colour, dash, mark and opacity of the line to its new point
    "worse": (COLOURS[3], "dash", "x", 0.9),
    "better": (COLOURS[2], "solid", "triangle-up", 0.9),
    "neither": (COLOURS[0], "dot", "circle-open", 0.9),
    "others": (INK, "solid", "circle", 0.5),
}
STEPS = (0, 1, -1)  # numbers of lines by which a text may be moved to avoid another one


def clusters(
    projection: Projection,
    points: Labelled,
    *,
    by: str = CLASS,
    most: int | None = None,
    order: Sequence[str] = (),
    chosen: Sequence[int] | np.ndarray | None = None,
    found: Sequence[int] | np.ndarray = (),
    ring: int | None = None,
    landed: np.ndarray | None = None,
    before: np.ndarray | None = None,
    ways: Mapping[str, Sequence[int] | np.ndarray] = MappingProxyType({}),
    named: bool = False,
    regions: Regions | None = None,
    narrow: bool = False,
    legend: bool | None = None,
    height: int = 450,
    svg: bool = False,
) -> go.Figure:
    """Draw one trace per class, so that a click on its name in the legend hides it.

    by        the column that colours (`labkit.figures.clusters`), with at most `most` coloured names
    order     the classes of the whole corpus, so that a class has one colour in all pictures
    chosen    rows that stand out while all other rows fade; in 3-D all rows fade, and the chosen ones have a small ring
    found     rows with a small ring            ring      the row with a large ring
    landed    typed sentences, (m, 2 or 3)
    before    earlier points, (n, 2); the legend then explains the lines, and lists classes only if they are not `named`
    ways      outcome (`labkit.evaluation.neighbours.OUTCOMES`) -> rows: a line from their earlier points to these;
              "others" -> rows: thin grey lines
    named     whether to write the names of classes in the plane, where they do not overlap
    regions   words of regions to write instead
    narrow    for a small screen: the legend is below, and axes without meaning have no titles
    legend    whether to show a legend; either way, the axes keep the full `height`, so that pictures next to each other
              can share one legend. None: the legend takes its room from the height
    svg       no WebGL in the plane, whatever the number of points: for browsers without it, and for print
    """
    n, dimensions = projection.points.shape
    if n != len(points):
        raise ValueError(f"projection has {n} points, expected {len(points)}, one per sentence")
    colours = colouring(points, by, most=most, order=order)
    drawing: list[Entries] = []
    if before is not None and dimensions == 2:
        drawing += [_way(before, projection.points, *way) for way in ways.items() if len(way[1])]
    cut = {"letters": LETTERS} if narrow else {}
    for trace, rows in traces(projection.points, points, colours, **cut):
        if narrow:
            trace["marker"]["size"] *= SMALLER
        if narrow and colours.values is not None:
            trace["marker"]["colorbar"] |= UNDER if before is None else UNDER | {"y": -0.1}  # below the legend
        if chosen is not None and dimensions == 2:
            trace["selectedpoints"] = np.flatnonzero(np.isin(rows, chosen)).tolist()
        if dimensions == 3 and (chosen is not None or len(found)):
            trace["marker"]["opacity"] *= DIMMED
        trace["showlegend"] &= before is None or not named
        drawing.append(trace)
    if chosen is not None and dimensions == 3:
        drawing.append(_over(projection.points[list(chosen)], n, "circle-open", 15, "#D55E00", "marked"))
    if len(found):
        drawing.append(_over(projection.points[list(found)], n, "circle-open", 15, "#D55E00", "found"))
    if ring is not None:
        drawing.append(_over(projection.points[[ring]], n, "circle-open", 26, "#D55E00", ""))
    if landed is not None:
        drawing.append(_over(landed, n, "star", 20, "#F0E442", "typed"))
    if dimensions == 2 and n > MOST:
        drawing.append(_cover(projection.points))
    listed = {"itemsizing": "constant", "traceorder": "normal"} | (BELOW if narrow else {"font": {"size": 13}})
    hover = {"align": "left", "font": {"size": 14}}
    inside = height - (150 if legend is None else 20)  # about the pixels of the axes
    axes = _space(projection) if dimensions == 3 else _plane(projection, titles=not narrow, covered=n > MOST)
    if regions is not None and dimensions == 2:  # with a margin, so that no texts overlap
        axes["annotations"] = words_in(projection.points, regions, (240.0 if narrow else 400.0, inside - 60.0))
    elif named and dimensions == 2:
        names = colours if colours.names else colouring(points, CLASS, most=most, order=order)  # numbers: none
        if len(names.names) > 1:
            size = (300.0 if narrow else 500.0, float(inside))
            axes["annotations"] = names_in(projection.points, names, size, chosen=chosen, ring=ring)
    if svg:
        drawing = [trace | ({"type": "scatter"} if trace.get("type") == "scattergl" else {}) for trace in drawing]
    if legend is not None:
        axes |= fixed(drawing, height, legend=legend)
    layout: Entries = {"height": height, "legend": listed, "hoverlabel": hover, "dragmode": "pan"} | axes
    return draw.figure_of(drawing, **layout)


def fixed(drawing: Sequence[Entries], height: int, *, legend: bool, **numbers: int) -> Entries:
    """Return the part of a layout that keeps the axes equally large with and without a legend.

    The legend has its own room below the axes, in two columns. `numbers`: margins in pixels for labels of the axes.
    """
    names = sum(bool(trace.get("name")) and trace.get("showlegend", True) for trace in drawing)
    scales = [trace["marker"] for trace in drawing if "colorbar" in trace.get("marker", {})]
    for marker in scales:
        marker["showscale"] = legend
    room = (SCALE if scales else ENTRY * math.ceil(names / 2) + 12) if legend and (scales or names) else 10
    around = draw.margin(10) | numbers | {"b": room + numbers.get("b", 0), "autoexpand": False}
    return {"height": height + room - 10, "margin": around, "showlegend": legend and names > 0}


def names_in(
    points: np.ndarray,
    colours: Colouring,
    size: tuple[float, float],
    axes: np.ndarray | None = None,
    *,
    chosen: Sequence[int] | np.ndarray | None = None,
    ring: int | None = None,
) -> list[Entries]:
    """Write each name at the densest place of its class, or at the next dense one that is free.

    No name covers the `ring` or, if there are few points and room, a point. Classes without a `chosen` row fade with
    their points.

    `size`: the approximate size of the picture in pixels, at one scale for both axes; `axes` (2, 2): the ranges of the
    axes, if they are not those of the points.
    """
    spans = np.ptp(points, axis=0) * 1.1 if axes is None else np.ptp(axes, axis=1)
    pixels = min(side / max(float(span), 1e-12) for side, span in zip(size, spans, strict=True))
    taken: list[tuple[float, float, float]] = []
    if ring is not None:  # two lines high
        middle, height = (points[ring] * pixels).tolist()
        taken = [(middle, height - LINE / 2, RING), (middle, height + LINE / 2, RING)]
    placed = []
    loose = [(x, y, SPOT) for x, y in (points * pixels).tolist()] if len(points) <= LOOSE else []
    for code, name in enumerate(draw.telling(colours.names, LETTERS)):
        rows = np.flatnonzero(colours.codes == code)
        if len(rows) and (chosen is None or np.isin(rows, chosen).any()):
            text = draw.short(name, LETTERS)
            wanted = [(text, x, y, x * pixels, "center") for x, y in dense_places(points[rows])]
            steps = STEPS if len(rows) > AROUND else STEPS[1:]  # a name would cover one of a few points
            for spots in (loose, []):  # or else over points, rather than nowhere
                around = [*taken, *spots]
                if new := _without_overlap(wanted, pixels, steps, around, most=1):
                    taken.append(around[-1])
                    placed += new
                    break
    return placed


def dense_places(points: np.ndarray) -> list[list[float]]:
    """Return up to PLACES places among points (n, 2) of a class, the densest first.

    A place is the mean of a point and its nearest neighbours; more than SEARCHED points are sampled.
    """
    points = points[:: -(-len(points) // SEARCHED)].astype(np.float64)
    near = min(AROUND, max(1, len(points) // 3))
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    order = np.argsort(np.partition(apart, near - 1, axis=1)[:, near - 1], kind="stable")[:PLACES]
    nearest = np.argsort(apart[order], axis=1, kind="stable")[:, :near]
    return points[nearest].mean(axis=1).tolist()


def words_in(points: np.ndarray, regions: Regions, size: tuple[float, float]) -> list[Entries]:
    """Place the words of each region at the centre of its points, within the picture; the largest regions come first.

    Words that do not fit are omitted. `size` is as in `names_in`.
    """
    low, spans = points.min(axis=0), np.maximum(np.ptp(points, axis=0), 1e-12)
    pixels = min(side / float(span) for side, span in zip(size, spans * 1.1, strict=True))
    wanted = []
    for name, x, y in placed(regions, points):
        half, middle, end = LETTER * len(name) / 2, (x - low[0]) * pixels, spans[0] * pixels
        anchor = "left" if middle < half else "right" if middle > end - half else "center"
        middle += {"left": half, "right": -half, "center": 0.0}[anchor]
        wanted.append((draw.short(name, len(name)), x, y, middle, anchor))
    return _without_overlap(wanted, pixels, STEPS, [])  # farther away, they would seem to name something else


def _without_overlap(
    wanted: Sequence[tuple[str, float, float, float, str]],
    pixels: float,
    steps: Sequence[int],
    taken: list[tuple[float, float, float]],
    *,
    most: int | None = None,
) -> list[Entries]:
    """Place texts at (x, y), given their middle in pixels and anchor.

    A text that does not fit is moved or omitted. `taken`: middle, height and half the width in pixels of what is
    already there; the new texts, at most `most`, are added to it.
    """
    placed: list[Entries] = []
    for text, x, y, middle, anchor in wanted:
        if len(placed) == most:
            break
        half = LETTER * len(unescape(text)) / 2
        for step in steps:
            height = y * pixels + step * LINE
            if all(abs(middle - a) > half + width or abs(height - b) > LINE - 0.5 for a, b, width in taken):
                taken.append((middle, height, half))
                font = {"size": 12, "shadow": "auto", "weight": 600}
                placed.append(draw.annotation(text, x, y, yshift=step * LINE, xanchor=anchor, font=font))
                break
    return placed


def traces(
    points: np.ndarray, shown: Labelled, colours: Colouring, *, letters: int = 28
) -> Iterator[tuple[Entries, np.ndarray]]:
    """Yield a trace for each name of a colouring, or one for all numbers, with its rows.

    The legend shortens names to `letters` characters; a hover label has a line of the sentence and one of its class.
    """
    n, dimensions = points.shape
    size, opacity = next(((size, opacity) for most, size, opacity in SIZES if n <= most), MANY)
    size = size * 0.6 if dimensions == 3 else size
    kind = "scatter3d" if dimensions == 3 else "scattergl" if n > DRAWN else "scatter"
    about = _about(shown, colours) if n <= READABLE else []
    names = list(enumerate(draw.telling(colours.names, letters) if colours.names else (colours.column,)))
    for code, name in sorted(names, key=lambda entry: entry[0] != colours.rest):  # the rest is drawn first
        rest = code == colours.rest or name == NO_CLASS  # points without a class are as faint as the rest
        rows = np.flatnonzero(colours.codes == code).astype(np.int32)
        marker = _marker(colours, colours.rest if rest else code, rows) | {"line": {"width": 0}}
        marker |= {"size": size * 0.75, "opacity": opacity * 0.55} if rest else {"size": size, "opacity": opacity}
        if dimensions == 3:
            marker["symbol"] = SOLID.get(marker["symbol"], marker["symbol"])
        trace = {
            "type": kind,
            "mode": "markers",
            "name": draw.short(name, letters),
            "marker": marker,
            "showlegend": len(colours.names) > 1,
            "legendrank": 2_000 if rest else 1_000,
            **{axis: points[rows, number].astype(np.float32) for number, axis in enumerate("xyz"[:dimensions])},
        }
        if dimensions == 2:
            trace["unselected"] = {"marker": {"opacity": FADED * marker["opacity"]}}
        if n <= MOST:
            trace["customdata"] = rows
        if n <= READABLE:
            trace["text"] = [
                f"{draw.short(' '.join(shown.texts[row].split()), HOVER)}<br>— {draw.short(about[row], HOVER)}"
                for row in rows.tolist()
            ]
            trace["hovertemplate"] = "%{text}<extra></extra>"
        elif n <= MOST and colours.values is not None:
            trace["hovertemplate"] = f"{draw.short(colours.column, 20)} %{{marker.color:.3g}}<extra></extra>"
        else:
            trace["hoverinfo"] = "none" if n <= MOST else "skip"  # "none" still receives clicks
        yield trace, rows


def _about(shown: Labelled, colours: Colouring) -> list[str]:
    """Return the second part of each hover label: the sentence's name in the colouring column, or class and value."""
    if colours.values is None:
        whole = colouring(shown, colours.column)  # `colours` may join several names
        return [whole.names[code] for code in whole.codes.tolist()]
    column = draw.short(colours.column, 20)
    values = zip(shown.labels, colours.values.tolist(), strict=True)
    return [f"{label}, {column} {value:.3g}" for label, value in values]


def _marker(colours: Colouring, code: int | None, rows: np.ndarray) -> Entries:
    if colours.values is not None:
        bar = {"thickness": 12, "title": {"text": draw.short(colours.column, 20)}}
        share = colours.column == TRUST and 0 <= colours.values.min() <= colours.values.max() <= 1
        scale: Entries = {"cmin": 0, "cmax": 1} if share else {}  # the same scale in two pictures next to each other
        if colours.column == MOVED and np.ptp(colours.values):  # most sentences change nearly all of their neighbours
            scale = dict(zip(("cmin", "cmax"), np.quantile(colours.values, TAILS).tolist(), strict=True))
        return {"color": colours.values[rows], "colorscale": RISING, "colorbar": bar, "symbol": "circle"} | scale
    if code is None or code == colours.rest:
        return {"color": INK, "symbol": "circle"}
    colour, mark = style(colours.styles[code])
    return {"color": colour, "symbol": mark}


def _way(before: np.ndarray, points: np.ndarray, outcome: str, rows: Sequence[int] | np.ndarray) -> Entries:
    """Return a line for each of these rows: from its earlier point, which has a mark, to its current point."""
    colour, dash, mark, opacity = WAYS[outcome]
    gaps = np.full((len(rows), 2), np.nan)
    x, y = np.stack([before[rows], points[rows], gaps], axis=1).reshape(-1, 2).astype(np.float32).T
    size, width = (3, 0.8) if outcome == "others" else (8, 2)
    marker = {"symbol": mark, "size": [size, 0, 0] * len(rows), "color": colour, "opacity": 1, "line": {"width": 0}}
    about: Entries = {"mode": "lines+markers", "name": outcome, "marker": marker, "hoverinfo": "skip"}
    about |= {"zorder": int(outcome != "others")}  # coloured ones are above the points
    return draw.curve(x, y, colour, dash, width, opacity=opacity, unselected={"marker": {"opacity": 1}}, **about)


def _over(points: np.ndarray, n: int, mark: str, size: float, colour: str, name: str) -> Entries:
    """Return marks on top of the n points of a picture, in the plane or in space."""
    places = dict(zip("xyz", np.asarray(points, np.float32).T, strict=False))
    open_ = mark == "circle-open"
    line = {"color": colour if open_ else "#000000", "width": (4 if size > 20 else 3) if open_ else 1.5}
    marker = {"symbol": mark, "size": size, "color": colour, "line": line}
    shared = {"mode": "markers", "name": name, "showlegend": bool(name), "hoverinfo": "skip", **places}
    if len(places) == 3:
        return shared | {"type": "scatter3d", "marker": marker | {"symbol": SOLID.get(mark, mark), "size": size * 0.6}}
    kind = "scattergl" if n > DRAWN else "scatter"
    return shared | {"type": kind, "marker": marker, "unselected": {"marker": {"opacity": 1}}}


def _plane(projection: Projection, *, titles: bool, covered: bool) -> Entries:
    """Return axes without numbers, because only nearness is meaningful. `covered`: also the axes of `_cover`."""
    x, y = ({"title": f"{projection.name} {number}"} if titles else {} for number in (1, 2))
    axes = {"xaxis": PLAIN | x, "yaxis": PLAIN | y | {"scaleanchor": "x"}}
    if covered:
        axes |= {"xaxis2": PLAIN | {"matches": "x", "anchor": "y2"}, "yaxis2": PLAIN | {"matches": "y", "anchor": "x2"}}
    return axes


def _space(projection: Projection) -> Entries:
    grid = {"showticklabels": False, "backgroundcolor": CLEAR, "gridcolor": INK, "zeroline": False}
    axes = {
        f"{axis}axis": grid | {"title": {"text": f"{projection.name} {number}", "font": {"size": 13}}}
        for number, axis in enumerate("xyz", 1)
    }
    return {"scene": {"aspectmode": "data"} | axes}


def _cover(points: np.ndarray) -> Entries:
    x, y = ([float(along.min()), float(along.max())] for along in points.T)
    return draw.curve(x, y, CLEAR, width=None, hoverinfo="skip", showlegend=False, **draw.on(2))
