"""What cosine similarity says of pairs against what a person said of them.

In: one cosine for each pair and its label or score. Out: a plotly figure. Where the two hills lie on one another, or
the cloud has no slope, similarity as it stands does not tell; that is what there is to learn.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from labkit.figures.drawing import Entries, drawn
from labkit.figures.palette import INK, style


def similarity_histogram(cosine: np.ndarray, labels: np.ndarray, *, height: int = 450) -> go.Figure:
    """How the cosines of the two labels lie on one axis, each as a share of its own pairs."""
    hills = [
        {
            "type": "histogram",
            "x": cosine[labels == label],
            "name": name,
            "histnorm": "probability",
            "xbins": {"start": -1.0, "end": 1.025, "size": 0.05},
            "marker": {"color": style(number)[0], "pattern": {"shape": hatch}},
            "opacity": 0.65,
            "hovertemplate": "cosine %{x}: %{y:.1%} of the pairs<extra>%{fullData.name}</extra>",
        }
        for label, name, number, hatch in ((1, "the same", 0, ""), (0, "not the same", 3, "/"))
    ]
    return drawn(hills, barmode="overlay", height=height, **_framed(cosine, "share of the pairs"))


def similarity_scatter(cosine: np.ndarray, scores: np.ndarray, *, height: int = 450) -> go.Figure:
    """A person's score upwards against the cosine."""
    cloud = {
        "type": "scatter",
        "x": cosine,
        "y": scores,
        "mode": "markers",
        "customdata": np.arange(len(scores)),
        "marker": {"size": 7, "color": style(0)[0], "opacity": 0.45},
        "hovertemplate": "cosine %{x:.2f}, score %{y:.1f}<extra></extra>",
    }
    return drawn([cloud], height=height, **_framed(cosine, "a person's score"))


def _framed(cosine: np.ndarray, upwards: str) -> Entries:
    low = float(min(0.0, cosine.min(initial=0.0)))
    return {
        "xaxis": {"title": "cosine similarity of the two sentences", "range": [low - 0.03, 1.05]},
        "yaxis": {"title": upwards, "gridcolor": INK, "gridwidth": 0.3},
        "legend": {"y": 0.99},
    }
