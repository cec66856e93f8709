"""A sentence in the middle and its neighbours around it. In: an `Around`. Out: a plotly figure for one of its sides.

The farther out, the larger the distance of the vectors at length 1, √(2 - 2 cosine); the thicker the line, the larger
the weight; blue adds, orange and dotted takes away. A full mark is a neighbour on both sides, in the same direction in
either star; a hollow one is near here only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from labkit.figures.drawing import Entries, below, drawn
from labkit.figures.palette import CLEAR, FAINT, INK, NEGATIVE, POSITIVE
from labkit.figures.text import lines

if TYPE_CHECKING:  # so that a page that draws something else need not wait for torch
    from labkit.reembedding.around import Around, Spoke

THICK = 9.0  # pixels of the largest weight


def star(found: Around, side: str, *, height: int = 360) -> go.Figure:
    """`side` is before or after; both have the same scale."""
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
        "hovertemplate": f"{lines(found.text)}<extra>the sentence</extra>",
        "name": "",
        "showlegend": False,
    }
    between = -180.0 / len(numbers)  # the scale stands where no spoke does
    scale = {"range": [0, max(reach, 1e-6)], "nticks": 4, "tickfont": {"size": 11, "color": INK}, "angle": between}
    radial = scale | {"gridcolor": FAINT, "linecolor": CLEAR, "tickangle": 0, "ticks": ""}
    angular = {"showticklabels": False, "ticks": "", "gridcolor": CLEAR, "linecolor": FAINT}
    return drawn(
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
        "customdata": [[spoke.weight, spoke.cosine, spoke.rank, lines(spoke.text)] for spoke in spokes],
        "hovertemplate": (
            "no. %{text}, rank %{customdata[2]}, weight %{customdata[0]:+.3f}, cosine %{customdata[1]:.3f}<br>"
            "%{customdata[3]}<extra></extra>"
        ),
    }


def _distance(spoke: Spoke) -> float:
    return math.sqrt(max(2 - 2 * spoke.cosine, 0.0))


def _outward(angle: float) -> str:
    """Where the number of a spoke goes, so that it does not lie on the line."""
    if 60 <= angle <= 120:
        return "top center"
    if 240 <= angle <= 300:
        return "bottom center"
    return "middle left" if 90 < angle < 270 else "middle right"
