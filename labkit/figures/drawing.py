"""What all figures share: colours and marks, a figure made in one pass, its traces, axes, panels, sentences as labels.

Traces and layout go in as plain dicts of plotly's own names, a `go.Figure` comes out.

Plotly checks what it is given, and each `add_trace`, `add_shape` or `update_layout` checks and copies once more. A
square of fourteen lines takes ten times as long when it is drawn step by step, and thirty visitors notice. So the
modules beside this one only collect dicts, and this is the one place that makes a figure of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import accumulate
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

# --- colours and marks -------------------------------------------------------------------------------------------

# Six of the eight colours of Okabe and Ito (2008), the strongest first: they keep apart on a projector, in print, and
# for eyes that do not tell red from green. Their black and yellow are left out, since each vanishes on one of the two
# backgrounds. Beyond six classes the mark changes as well.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")
MARKS = ("circle", "diamond", "square", "cross", "triangle-up", "star")
STYLES = len(COLOURS) * len(MARKS)
INK = "#767676"  # as dark as it must be on white (4.5:1), and as light as it can be then on black
CLEAR = "rgba(0, 0, 0, 0)"

# The two kinds of a pair, everywhere the same: blue pulls together, orange pushes apart.
POSITIVE, NEGATIVE = COLOURS[0], COLOURS[1]
FAINT = "rgba(128, 128, 128, 0.25)"  # lines of a grid, on light and on dark
# From much orange through nothing to much blue; two clear colours in the middle, for one would turn both to grey there.
DIVERGING = [[0, NEGATIVE], [0.5, "rgba(230, 159, 0, 0)"], [0.5, "rgba(0, 114, 178, 0)"], [1, POSITIVE]]
# From nothing to much (Nuñez and others, 2018): rises in lightness alike for all eyes, prints in grey.
RISING = "Cividis"


def style(number: int) -> tuple[str, str]:
    """(colour, mark) of the n-th class: all 36 combinations before one comes again.

    >>> style(0), style(7)
    (('#0072B2', 'circle'), ('#E69F00', 'diamond'))
    """
    turn = number // len(COLOURS)
    return COLOURS[number % len(COLOURS)], MARKS[turn % len(MARKS)]


# --- one figure --------------------------------------------------------------------------------------------------

Entries = dict[str, Any]  # of a trace, an axis, a shape, ...: plotly's name -> value
ABOVE: Entries = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}  # where a legend stands


def figure_of(traces: Iterable[Entries], *, frames: Iterable[Entries] = (), **layout: Any) -> go.Figure:
    """The traces, the last on top. No ground of its own, so that it fits a light page and a dark one.

    >>> figure_of([{"type": "bar", "y": [1, 2]}], height=200).layout.height
    200
    """
    plain = {"font": {"color": INK, "size": 14}, "margin": margin(10), "paper_bgcolor": CLEAR, "plot_bgcolor": CLEAR}
    return go.Figure({"data": list(traces), "layout": plain | layout, "frames": list(frames)})


def margin(top: int) -> Entries:
    """Pixels around the axes and what is written on them."""
    return {"l": 10, "r": 10, "t": top, "b": 10}


def below(y: float) -> Entries:
    """A legend below the figure: its upper edge at `y` of the figure's height, which is negative."""
    return {"orientation": "h", "y": y, "yanchor": "top", "x": 0}


# --- traces, notes and axes --------------------------------------------------------------------------------------

BARE: Entries = {"showgrid": False, "zeroline": False}  # an axis without lines
EMPTY = BARE | {"showticklabels": False}  # an axis without numbers, too
NAME = "<extra>%{fullData.name}</extra>"  # the end of a hover label: the name of the trace, beside the label


def curve(x: Any, y: Any, colour: str, dash: str | None = None, width: float | None = 2.5, **more: Any) -> Entries:
    """A trace: a line through points."""
    line = {"color": colour, "dash": dash, "width": width}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line} | more


def marks(x: Any, y: Any, marker: Entries, **more: Any) -> Entries:
    """A trace: a mark at each point."""
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker} | more


def bars(x: Any, y: Any, marker: Entries, **more: Any) -> Entries:
    """A trace: a bar for each number."""
    return {"type": "bar", "x": x, "y": y, "marker": marker} | more


def level_bars(x: Any, y: Any, marker: Entries, **more: Any) -> Entries:
    """A trace: bars that lie, so that names have room on the left."""
    return bars(x, y, marker, orientation="h", **more)


def note(text: str, x: Any, y: Any, *, size: int | None = None, **more: Any) -> Entries:
    """A text at a place, without an arrow."""
    return {"text": text, "x": x, "y": y, "showarrow": False, "font": {"color": INK, "size": size}} | more


def rectangle(x: tuple[float, float], y: tuple[float, float], colour: str, width: float, **more: Any) -> Entries:
    """A shape: a frame from one x to another, and from one y to another."""
    ends = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1]}
    return {"type": "rect", "line": {"color": colour, "width": width}} | ends | more


def stroke(x: tuple[float, float], y: tuple[float, float], line: Entries, **more: Any) -> Entries:
    """A shape: a line from one point to another."""
    return {"type": "line", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "line": line} | more


def ticks(names: Sequence[str], most: int) -> Entries:
    """The part of an axis that sets a name, cut to fit, at each whole number."""
    return {"tickvals": list(range(len(names))), "ticktext": [short(name, most) for name in names]}


# --- panels ------------------------------------------------------------------------------------------------------


def on(panel: int) -> Entries:
    """The axes of a panel, as a trace names them.

    >>> on(1), on(2)
    ({'xaxis': 'x', 'yaxis': 'y'}, {'xaxis': 'x2', 'yaxis': 'y2'})
    """
    return {"xaxis": f"x{panel_suffix(panel)}", "yaxis": f"y{panel_suffix(panel)}"}


def side_by_side(
    titles: Sequence[str], *, gap: float, size: int, x: Entries, y: Entries, shared: bool = False
) -> Entries:
    """The layout of panels of one width, their titles, and `x` and `y` for each of their axes.

    `shared`: all have the scale of the first, which alone has numbers.
    """
    spans = _spans([1.0] * len(titles), gap)
    layout = _axes(spans, [[0.0, 1.0]] * len(titles), x, y)
    for panel in range(2, len(titles) + 1) if shared else ():
        layout[f"yaxis{panel}"] |= {"matches": "y", "showticklabels": False}
    return layout | {"annotations": _heads(titles, spans, [1.0] * len(titles), size)}


def grid(
    titles: Sequence[str], *, columns: int, gap: tuple[float, float], size: int, x: Entries, y: Entries
) -> Entries:
    """The layout of panels of one size, row by row from the top left, their titles, and `x` and `y` for each of their
    axes. `gap`: between two columns, and between two rows."""
    rows = -(-len(titles) // columns)
    across, upwards = _spans([1.0] * columns, gap[0]), _spans([1.0] * rows, gap[1])[::-1]
    places = [(across[n % columns], upwards[n // columns]) for n in range(len(titles))]
    widths, heights = [width for width, _ in places], [height for _, height in places]
    heads = _heads(titles, widths, [top for _, top in heights], size)
    return _axes(widths, heights, x, y) | {"annotations": heads}


def _heads(titles: Sequence[str], widths: Sequence[list[float]], tops: Sequence[float], size: int) -> list[Entries]:
    """The titles of panels, each above the middle of its own."""
    here = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
    return [
        note(title, sum(width) / 2, top, size=size, **here)
        for title, width, top in zip(titles, widths, tops, strict=True)
    ]


def stacked(shares: Sequence[float], *, gap: float, x: Entries, y: Entries) -> Entries:
    """The layout of panels one above the other, the first on top, each with its share of the height."""
    spans = _spans(shares[::-1], gap)[::-1]
    return _axes([[0.0, 1.0]] * len(shares), spans, x, y)


def upright(x: float, line: Entries, panel: int = 1) -> Entries:
    """A shape: a line at `x` over the whole height of a panel."""
    tail = panel_suffix(panel)
    return stroke((x, x), (0, 1), line, xref=f"x{tail}", yref=f"y{tail} domain")


def _axes(across: Sequence[list[float]], upwards: Sequence[list[float]], x: Entries, y: Entries) -> Entries:
    axes: Entries = {}
    for panel, (width, height) in enumerate(zip(across, upwards, strict=True), 1):
        tail = panel_suffix(panel)
        axes[f"xaxis{tail}"] = {"domain": width, "anchor": f"y{tail}"} | x
        axes[f"yaxis{tail}"] = {"domain": height, "anchor": f"x{tail}"} | y
    return axes


def _spans(shares: Sequence[float], gap: float) -> list[list[float]]:
    """Begin and end of each panel on a length of 1, of which the gaps take their part first."""
    room = (1 - gap * (len(shares) - 1)) / sum(shares)
    ends = [room * total + gap * number for number, total in enumerate(accumulate(shares))]
    # plotly refuses what is beyond 0 and 1, were it by the last binary place
    return [[max(0.0, end - room * share), min(1.0, end)] for share, end in zip(shares, ends, strict=True)]


def panel_suffix(panel: int) -> str:
    """What plotly writes behind x and y for this panel: nothing for the first, then its number."""
    return "" if panel == 1 else str(panel)


# --- sentences as labels -----------------------------------------------------------------------------------------


def short(text: str, most: int) -> str:
    """A sentence cut to fit, with its angle brackets shown and not obeyed.

    >>> short("one <b>two</b> three", 12)
    'one &lt;b&gt;two…'
    """
    return escape(text if len(text) <= most else text[: most - 1].rstrip("</> ") + "…", quote=False)


def hover_lines(text: str, *, width: int = 60, most: int = 4) -> str:
    """A sentence in a few short lines, for a hover label."""
    return "<br>".join(short(line, width + 10) for line in wrap(text, width)[:most])


def telling(names: Sequence[str], most: int) -> list[str]:
    """Names cut to fit by the words that tell them apart: of a long one those that the fewest others have.

    >>> telling(["Any advice on getting a visa", "Any advice on a guitar", "choir"], 12)
    ['getting visa', 'guitar', 'choir']
    """
    split = [[word for word in name.split() if word.strip("?!.,;:")] for name in names]
    common = Counter(word.casefold() for words in split for word in set(words))
    return [
        name if len(name) <= most else _telling_words(words, common, most)
        for name, words in zip(names, split, strict=True)
    ]


def _telling_words(words: Sequence[str], common: Counter[str], most: int) -> str:
    clean = [word.strip("?!.,;:") for word in words]
    best = sorted(range(len(words)), key=lambda at: (common[words[at].casefold()], -len(clean[at]), at))
    kept: list[int] = []
    for at in best:
        if (common[words[at].casefold()] == 1 and len(clean[at]) > 2) or not kept:
            wanted = sorted([*kept, at])
            if len(" ".join(clean[each] for each in wanted)) <= most or not kept:
                kept = wanted
    name = " ".join(clean[at] for at in kept)
    return name if len(name) <= most else name[: most - 1] + "…"
