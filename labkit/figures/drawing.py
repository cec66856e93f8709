"""Functions for all figures: a figure made in one pass, traces, shapes and panels, and sentences as labels.

Traces and layout are plain dicts with plotly's own names; the result is a `go.Figure`.

Plotly validates its input, and each `add_trace`, `add_shape` or `update_layout` validates and copies it again. Drawing
a square with fourteen lines step by step takes ten times as long, which thirty visitors notice. The modules of this
package therefore only collect dicts, and only this module makes figures from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from labkit.palette import CLEAR, DASHES, FAINT, INK, look

# --- one figure --------------------------------------------------------------------------------------------------

Entries = dict[str, Any]  # plotly's name -> value, for a trace, an axis, a shape, ...


def figure_of(traces: Iterable[Entries], *, frames: Iterable[Entries] = (), **layout: Any) -> go.Figure:
    """Make a figure from the traces, the last one on top, with a transparent background for light and dark pages.

    >>> figure_of([{"type": "bar", "y": [1, 2]}], height=200).layout.height
    200
    """
    plain = {"font": {"color": INK, "size": 14}, "margin": margin(10), "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR}
    axes = {name: _axis(entries) for name, entries in layout.items() if name.startswith(("xaxis", "yaxis"))}
    return go.Figure({"data": list(traces), "layout": plain | layout | axes, "frames": list(frames)})


def _axis(entries: Entries) -> Entries:
    """Add a faint grid to an axis; the line at 0 is drawn only if it has a colour of its own."""
    return {"gridcolor": FAINT, "zeroline": "zerolinecolor" in entries} | entries


def margin(top: int) -> Entries:
    """Return the margins in pixels, with `top` at the top."""
    return {"l": 10, "r": 10, "t": top, "b": 10}


# --- traces, notes and shapes --------------------------------------------------------------------------------------

NAME = "<extra>%{fullData.name}</extra>"  # the end of a hover label; shows the name of the trace


def curve(x: Any, y: Any, colour: str, dash: str | None = None, width: float | None = 2.5, **more: Any) -> Entries:
    """Return a trace: a line through points."""
    line = {"color": colour, "dash": dash, "width": width}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line} | more


def series(number: int, x: Any, y: Any, name: str, hover: str, **more: Any) -> Entries:
    """Return a trace: the n-th of a few lines, with its own colour, mark and dash, and its whole name on hover."""
    colour, mark = look(number)
    marker = {"symbol": mark, "size": 8, "color": colour}
    whole = f"<extra>{hover_lines(name)}</extra>"
    label = {"name": middle(name, 40), "hovertemplate": hover + whole, "mode": "lines+markers", "marker": marker}
    return curve(x, y, colour, DASHES[number % len(DASHES)], 2) | label | more


def marks(x: Any, y: Any, marker: Entries, **more: Any) -> Entries:
    """Return a trace: a mark at each point."""
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker} | more


def intervals(x: Sequence[float], y: Any, ends: Iterable[tuple[float, float]], marker: Entries, **more: Any) -> Entries:
    """Return a trace: a mark at each point, and a line between the two ends of its interval along x."""
    low, high = zip(*ends, strict=True) if x else ((), ())
    reach = {"array": np.subtract(high, x), "arrayminus": np.subtract(x, low)}
    lines = {"type": "data", "symmetric": False, "color": marker["color"], "thickness": 2}
    outline = {"line": {"width": 2.5, "color": marker["color"]}}
    return marks(x, y, outline | marker, error_x=lines | reach, **more)


def bars(x: Any, y: Any, marker: Entries, **more: Any) -> Entries:
    """Return a trace: a bar for each number."""
    return {"type": "bar", "x": x, "y": y, "marker": marker} | more


def cells(z: Any, lowest: float, highest: float, colours: Any, **more: Any) -> Entries:
    """Return a trace: a grid of cells, coloured by their numbers."""
    return {"type": "heatmap", "z": z, "zmin": lowest, "zmax": highest, "colorscale": colours} | more


def words_at(x: Any, y: Any, words: Any, font: Entries, **more: Any) -> Entries:
    """Return a trace: a word at each point, without a hover label."""
    text = {"mode": "text", "text": words, "textfont": font, "hoverinfo": "skip"}
    return {"type": "scatter", "x": x, "y": y} | text | more


def annotation(text: str, x: Any, y: Any, *, size: int | None = None, **more: Any) -> Entries:
    """Return an annotation: a text at a place, without an arrow."""
    return {"text": text, "x": x, "y": y, "showarrow": False, "font": {"color": INK, "size": size}} | more


def rectangle(x: tuple[float, float], y: tuple[float, float], colour: str, width: float, **more: Any) -> Entries:
    """Return a shape: a rectangle between two x and two y."""
    ends = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1]}
    return {"type": "rect", "line": {"color": colour, "width": width}} | ends | more


def stroke(x: tuple[float, float], y: tuple[float, float], line: Entries, **more: Any) -> Entries:
    """Return a shape: a line from one point to another."""
    return {"type": "line", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "line": line} | more


# --- legends, axes and panels --------------------------------------------------------------------------------------

ABOVE: Entries = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}  # a legend above the figure
BARE: Entries = {"showgrid": False}  # an axis without lines
EMPTY = BARE | {"showticklabels": False}  # an axis without lines and numbers


def below(y: float) -> Entries:
    """Return a legend below the figure; its upper edge is at `y`, a negative share of the figure's height."""
    return {"orientation": "h", "y": y, "yanchor": "top", "x": 0}


def ticks(names: Sequence[str], most: int) -> Entries:
    """Return the part of an axis that puts a shortened name at each whole number."""
    return {"tickvals": list(range(len(names))), "ticktext": [short(name, most) for name in names]}


def panel_suffix(panel: int) -> str:
    """Return plotly's suffix for x and y in this panel: empty for the first panel, otherwise its number."""
    return "" if panel == 1 else str(panel)


def on(panel: int) -> Entries:
    """Return the axes of a panel, as a trace refers to them.

    >>> on(1), on(2)
    ({'xaxis': 'x', 'yaxis': 'y'}, {'xaxis': 'x2', 'yaxis': 'y2'})
    """
    return {"xaxis": f"x{panel_suffix(panel)}", "yaxis": f"y{panel_suffix(panel)}"}


def upright(x: float, line: Entries, panel: int = 1) -> Entries:
    """Return a shape: a line at `x` over the full height of a panel."""
    tail = panel_suffix(panel)
    return stroke((x, x), (0, 1), line, xref=f"x{tail}", yref=f"y{tail} domain")


def side_by_side(
    titles: Sequence[str],
    *,
    columns: int | None = None,
    gap: float | tuple[float, float],
    size: int,
    x: Entries,
    y: Entries,
    shared: bool = False,
) -> Entries:
    """Return the layout of panels of one size, row by row from the top left, with their titles and axes.

    All panels are in one row unless `columns` is smaller. `gap` is the space between columns and between rows; `x` and
    `y` are set on each axis. With `shared`, the panels of a row share the scale of the first one.
    """
    columns = columns or len(titles)
    rows, (across, upwards) = -(-len(titles) // columns), gap if isinstance(gap, tuple) else (gap, gap)
    grid: list[list[Entries | None]] = [
        [{} if row * columns + column < len(titles) else None for column in range(columns)] for row in range(rows)
    ]
    font, spaces = {"color": INK, "size": size}, {"horizontal_spacing": across, "vertical_spacing": upwards}
    layout = _panels(x, y, rows, columns, subplot_titles=titles, specs=grid, shared_yaxes=shared, **spaces)
    layout["annotations"] = [title | {"font": font} for title in layout["annotations"]]
    return layout


def stacked(shares: Sequence[float], *, gap: float, x: Entries, y: Entries) -> Entries:
    """Return the layout of panels stacked from top to bottom, each with its share of the height."""
    return _panels(x, y, len(shares), 1, row_heights=list(shares), vertical_spacing=gap)


def _panels(x: Entries, y: Entries, *grid: int, **how: Any) -> Entries:
    layout: Entries = make_subplots(*grid, **how).layout.to_plotly_json()
    del layout["template"]
    for name in layout:
        if name.startswith(("xaxis", "yaxis")):
            layout[name] |= x if name[0] == "x" else y
    return layout


# --- sentences as labels -----------------------------------------------------------------------------------------


def short(text: str, most: int) -> str:
    """Shorten a sentence to at most `most` characters and escape its angle brackets.

    >>> short("one <b>two</b> three", 12)
    'one &lt;b&gt;two…'
    """
    return escape(text if len(text) <= most else text[: most - 1].rstrip("</> ") + "…", quote=False)


def middle(text: str, most: int) -> str:
    """Shorten a name to at most `most` characters in the middle, because similar names differ at their ends.

    >>> middle("sentpwnet-questions-seed3", 16)
    'sentpwne…s-seed3'
    """
    cut = text if len(text) <= most else f"{text[: most // 2]}…{text[len(text) - (most - 1) // 2 :]}"
    return short(cut, most)


@lru_cache(50_000)  # a picture is redrawn at every move
def hover_lines(text: str, *, width: int = 60, most: int = 4) -> str:
    """Wrap a sentence into a few short lines for a hover label."""
    return "<br>".join(short(line, width + 10) for line in wrap(text, width, max_lines=most, placeholder=" …"))


def telling(names: Sequence[str], most: int) -> list[str]:
    """Shorten names to their most distinctive words: those that occur in the fewest other names.

    Shortened names that are still equal are numbered.

    >>> telling(["Any advice on getting a visa", "Any advice on a guitar", "choir"], 12)
    ['getting visa', 'guitar', 'choir']
    >>> telling(["to the airport by bus", "by bus to the airport"], 10)
    ['airport', 'airport 2']
    """
    split = [[word for each in name.split() if (word := each.strip("?!.,;:"))] for name in names]
    common = Counter(word for words in split for word in {each.casefold() for each in words})
    found: list[str] = []
    for name, words in zip(names, split, strict=True):
        if len(name) > most:
            rarest = min(words, key=lambda word: (common[word.casefold()], -len(word)), default=name)
            own = [word for word in words if common[word.casefold()] == 1 and len(word) > 2] or [rarest]
            while len(own) > 1 and len(" ".join(own)) > most:
                own.remove(min(own, key=len))
            name = " ".join(own)
            name = name if len(name) <= most else name[: most - 1] + "…"
        found.append(name)
    times = [found[:place].count(name) if len(names[place]) > most else 0 for place, name in enumerate(found)]
    return [f"{name} {time + 1}" if time else name for name, time in zip(found, times, strict=True)]
