"""What cosine similarity says of pairs against what a person said of them.

In: one cosine for each pair and its label or score. Out: a plotly figure. Where the two hills lie on one another, or
the cloud has no slope, similarity as it stands does not tell; that is what there is to learn.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from labkit.figures.palette import INK, PLAIN, style


def similarity_histogram(cosine: np.ndarray, labels: np.ndarray, *, height: int = 450) -> go.Figure:
    """How the cosines of the two labels lie on one axis, each as a share of its own pairs."""
    figure = go.Figure()
    for label, name in ((1, "the same"), (0, "not the same")):
        colour, _ = style(0 if label else 3)
        figure.add_trace(
            go.Histogram(
                x=cosine[labels == label],
                name=name,
                histnorm="probability",
                xbins={"start": -1.0, "end": 1.025, "size": 0.05},
                marker={"color": colour, "pattern": {"shape": "" if label else "/"}},
                opacity=0.65,
                hovertemplate="cosine %{x}: %{y:.1%} of the pairs<extra>%{fullData.name}</extra>",
            )
        )
    low = float(min(0.0, cosine.min(initial=0.0)))
    figure.update_layout(barmode="overlay")
    return _framed(figure, "cosine similarity of the two sentences", "share of the pairs", (low - 0.03, 1.05), height)


def similarity_scatter(cosine: np.ndarray, scores: np.ndarray, *, height: int = 450) -> go.Figure:
    """A person's score upwards against the cosine."""
    colour, _ = style(0)
    figure = go.Figure(
        go.Scatter(
            x=cosine,
            y=scores,
            mode="markers",
            customdata=np.arange(len(scores)),
            marker={"size": 7, "color": colour, "opacity": 0.45},
            hovertemplate="cosine %{x:.2f}, score %{y:.1f}<extra></extra>",
        )
    )
    low = float(min(0.0, cosine.min(initial=0.0)))
    return _framed(figure, "cosine similarity of the two sentences", "a person's score", (low - 0.03, 1.05), height)


def _framed(figure: go.Figure, x: str, y: str, span: tuple[float, float], height: int) -> go.Figure:
    figure.update_xaxes(title=x, range=span)
    figure.update_yaxes(title=y, gridcolor=INK, gridwidth=0.3)
    figure.update_layout(height=height, legend={"y": 0.99}, **PLAIN)
    return figure
