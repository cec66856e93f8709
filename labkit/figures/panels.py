"""The layout of figures: legends, axes, and panels next to or above one another. In and out: entries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from labkit.figures.drawing import Entries, annotation, short, stroke

ABOVE: Entries = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}  # a legend above the figure
BARE: Entries = {"showgrid": False}  # an axis without lines
EMPTY = BARE | {"showticklabels": False}  # an axis without lines and numbers


def below(y: float) -> Entries:
    """Return a legend below the figure, its upper edge at `y` of the figure's height, which is negative."""
    return {"orientation": "h", "y": y, "yanchor": "top", "x": 0}


def ticks(names: Sequence[str], most: int) -> Entries:
    """Return the part of an axis that puts a name, shortened, at each whole number."""
    return {"tickvals": list(range(len(names))), "ticktext": [short(name, most) for name in names]}


def on(panel: int) -> Entries:
    """Return the axes of a panel, as a trace names them.

    >>> on(1), on(2)
    ({'xaxis': 'x', 'yaxis': 'y'}, {'xaxis': 'x2', 'yaxis': 'y2'})
    """
    return {"xaxis": f"x{panel_suffix(panel)}", "yaxis": f"y{panel_suffix(panel)}"}


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

    All panels share one row unless there are fewer `columns`. `gap` is the space between columns and between rows; `x`
    and `y` are set on each axis. With `shared`, all panels use the scale of the first, which alone has tick labels.
    """
    columns = columns or len(titles)
    across, upwards = gap if isinstance(gap, tuple) else (gap, gap)
    widths, heights = _spans([1.0] * columns, across), _spans([1.0] * -(-len(titles) // columns), upwards)[::-1]
    places = [(widths[n % columns], heights[n // columns]) for n in range(len(titles))]
    layout = _axes(places, x, y)
    for panel in range(2, len(titles) + 1) if shared else ():
        layout[f"yaxis{panel}"] |= {"matches": "y", "showticklabels": False}
    here = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
    layout["annotations"] = [
        annotation(title, sum(width) / 2, height[1], size=size, **here)
        for title, (width, height) in zip(titles, places, strict=True)
    ]
    return layout


def stacked(shares: Sequence[float], *, gap: float, x: Entries, y: Entries) -> Entries:
    """Return the layout of panels on top of one another, the first at the top, each with its share of the height."""
    return _axes([([0.0, 1.0], span) for span in _spans(shares[::-1], gap)[::-1]], x, y)


def upright(x: float, line: Entries, panel: int = 1) -> Entries:
    """Return a shape: a line at `x` over the full height of a panel."""
    tail = panel_suffix(panel)
    return stroke((x, x), (0, 1), line, xref=f"x{tail}", yref=f"y{tail} domain")


def _axes(places: Sequence[tuple[list[float], list[float]]], x: Entries, y: Entries) -> Entries:
    axes: Entries = {}
    for panel, (width, height) in enumerate(places, 1):
        tail = panel_suffix(panel)
        axes[f"xaxis{tail}"] = {"domain": width, "anchor": f"y{tail}"} | x
        axes[f"yaxis{tail}"] = {"domain": height, "anchor": f"x{tail}"} | y
    return axes


def _spans(shares: Sequence[float], gap: float) -> list[list[float]]:
    """Return the begin and end of each panel on a length of 1, after subtracting the gaps."""
    room = (1 - gap * (len(shares) - 1)) / sum(shares)
    ends = [room * total + gap * number for number, total in enumerate(accumulate(shares))]
    # plotly refuses values outside 0 to 1, even by rounding
    return [[max(0.0, end - room * share), min(1.0, end)] for share, end in zip(shares, ends, strict=True)]


def panel_suffix(panel: int) -> str:
    """Return plotly's suffix of x and y for this panel: nothing for the first, then its number."""
    return "" if panel == 1 else str(panel)
