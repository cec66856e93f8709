"""Groups of paraphrases: in the plane, and as two distributions of cosines. In: records. Out: plotly figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import (
    NAME,
    annotation,
    bars,
    below,
    figure_of,
    margin,
    upright,
)
from labkit.palette import NEGATIVE, POSITIVE

if TYPE_CHECKING:  # so that pages with other figures need not wait for torch
    from labkit.pthought.view import Companions


def coherence_hills(companions: Companions, *, height: int = 300) -> go.Figure:
    """Draw the distribution of cosines within and between groups; lines mark the two means, whose gap is the lift."""
    kinds = (
        ("within groups", companions.within, companions.figures.within, POSITIVE, ""),
        ("between groups", companions.between, companions.figures.between, NEGATIVE, "/"),
    )
    low = min(-0.05, float(min(companions.within.min(), companions.between.min())))
    edges = np.linspace(low, 1.0, 43)
    hills, means, numbers = [], [], []
    for name, values, mean, colour, hatch in kinds:
        pattern = {"shape": hatch, "fillmode": "overlay", "solidity": 0.25}
        hill = bars(
            (edges[1:] + edges[:-1]) / 2,
            np.histogram(values, edges)[0] / len(values),
            {"color": colour, "opacity": 0.65, "pattern": pattern, "line": {"width": 0}},
            width=edges[1] - edges[0],
            name=name,
            hovertemplate=f"cosine %{{x:.2f}}: %{{y:.1%}} of the pairs{NAME}",
        )
        hills.append(hill)
        means.append(upright(mean, {"color": colour, "width": 3, "dash": "dash" if hatch else "solid"}))
        numbers.append(annotation(f"{mean:.2f}", mean, 1.0, yref="paper", yanchor="bottom"))
    return figure_of(
        hills,
        shapes=means,
        annotations=numbers,
        xaxis={"title": "cosine", "range": [low, 1.02]},
        yaxis={"title": "share of the pairs", "tickformat": ".0%"},
        barmode="overlay",
        bargap=0,
        height=height,
        legend=below(-0.3),
        margin=margin(28),
    )
