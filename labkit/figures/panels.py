"""Several panels in one figure: where their axes lie, what stands above them. Out: plain entries of traces and layouts.

Panel 1 has the axes x and y, panel 2 x2 and y2, and so on: from left to right, or from top to bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from labkit.figures.drawing import Entries
from labkit.figures.palette import INK


def on(panel: int) -> Entries:
    """Of a trace: the axes of its panel.

    >>> on(1), on(2)
    ({'xaxis': 'x', 'yaxis': 'y'}, {'xaxis': 'x2', 'yaxis': 'y2'})
    """
    return {"xaxis": f"x{_number(panel)}", "yaxis": f"y{_number(panel)}"}


def side_by_side(
    titles: Sequence[str], *, gap: float, size: int, x: Entries, y: Entries, shared: bool = False
) -> Entries:
    """Of a layout: panels of one width, their titles, and `x` and `y` for each of their axes.

    `shared`: all have the scale of the first, which alone has numbers.
    """
    spans = _spans([1.0] * len(titles), gap)
    layout = _axes(spans, [[0.0, 1.0]] * len(titles), x, y)
    for panel in range(2, len(titles) + 1) if shared else ():
        layout[f"yaxis{panel}"] |= {"matches": "y", "showticklabels": False}
    here = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom", "y": 1.0, "showarrow": False}
    font = {"size": size, "color": INK}
    heads = [
        {"text": title, "x": (start + end) / 2, "font": font} | here
        for title, (start, end) in zip(titles, spans, strict=True)
    ]
    return layout | {"annotations": heads}


def grid(
    titles: Sequence[str], *, columns: int, gap: tuple[float, float], size: int, x: Entries, y: Entries
) -> Entries:
    """Of a layout: panels of one size, row by row from the top left, their titles, and `x` and `y` for each of their
    axes. `gap`: between two columns, and between two rows."""
    rows = -(-len(titles) // columns)
    across, upwards = _spans([1.0] * columns, gap[0]), _spans([1.0] * rows, gap[1])[::-1]
    places = [(across[n % columns], upwards[n // columns]) for n in range(len(titles))]
    head = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom", "showarrow": False}
    head |= {"font": {"size": size, "color": INK}}
    heads = [
        head | {"text": title, "x": sum(width) / 2, "y": height[1]}
        for title, (width, height) in zip(titles, places, strict=True)
    ]
    return _axes([width for width, _ in places], [height for _, height in places], x, y) | {"annotations": heads}


def stacked(shares: Sequence[float], *, gap: float, x: Entries, y: Entries) -> Entries:
    """Of a layout: panels one above the other, the first on top, each with its share of the height."""
    spans = _spans(shares[::-1], gap)[::-1]
    return _axes([[0.0, 1.0]] * len(shares), spans, x, y)


def upright(x: float, line: Entries, panel: int = 1) -> Entries:
    """A shape: a line at `x` over the whole height of a panel."""
    tail = _number(panel)
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1, "xref": f"x{tail}", "yref": f"y{tail} domain"}
    return {"type": "line", "line": line} | ends


def _axes(across: Sequence[list[float]], upwards: Sequence[list[float]], x: Entries, y: Entries) -> Entries:
    axes: Entries = {}
    for panel, (width, height) in enumerate(zip(across, upwards, strict=True), 1):
        tail = _number(panel)
        axes[f"xaxis{tail}"] = {"domain": width, "anchor": f"y{tail}"} | x
        axes[f"yaxis{tail}"] = {"domain": height, "anchor": f"x{tail}"} | y
    return axes


def _spans(shares: Sequence[float], gap: float) -> list[list[float]]:
    """Begin and end of each panel on a length of 1, of which the gaps take their part first."""
    room = (1 - gap * (len(shares) - 1)) / sum(shares)
    ends = [room * total + gap * number for number, total in enumerate(accumulate(shares))]
    # plotly refuses what is beyond 0 and 1, were it by the last binary place
    return [[max(0.0, end - room * share), min(1.0, end)] for share, end in zip(shares, ends, strict=True)]


def _number(panel: int) -> str:
    return "" if panel == 1 else str(panel)
