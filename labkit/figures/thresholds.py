"""Accuracy at every threshold, on the pairs that choose it and on those that are scored. In: scores and labels of both.

Each curve has its own top. The honest figure is where the top of dev meets the curve of test; the top of test itself
is what a threshold chosen there would report.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from labkit.evaluation import best_threshold
from labkit.figures.drawing import ABOVE, drawn
from labkit.figures.palette import COLOURS, FAINT, INK

STEPS = 201


def threshold_curves(
    dev_scores: ArrayLike, dev_labels: ArrayLike, test_scores: ArrayLike, test_labels: ArrayLike, *, height: int = 380
) -> go.Figure:
    """Scores (n,) and 0/1 labels (n,) of either; the rule is: positive where score > threshold."""
    dev, test = (np.asarray(dev_scores), np.asarray(dev_labels)), (np.asarray(test_scores), np.asarray(test_labels))
    honest, leaking = best_threshold(*dev), best_threshold(*test)
    lowest, highest = min(dev[0].min(), test[0].min()), max(dev[0].max(), test[0].max())
    thresholds = np.linspace(lowest, highest, STEPS)
    curves = [
        {
            "type": "scatter",
            "x": thresholds,
            "y": [accuracy_at(*part, float(t)) for t in thresholds],
            "name": name,
            "mode": "lines",
            "line": {"color": colour, "dash": dash, "width": 2.5},
            "hovertemplate": "threshold %{x:.3f}: %{y:.3f}<extra>" + name + "</extra>",
        }
        for name, part, colour, dash in (("dev", dev, COLOURS[1], "dash"), ("test", test, COLOURS[0], "solid"))
    ]
    marks = [
        {
            "type": "scatter",
            "x": [min(max(t, lowest), highest)],  # a threshold without end is drawn at the edge
            "y": [accuracy_at(*test, t)],
            "name": name,
            "mode": "markers+text",
            "text": [f"{accuracy_at(*test, t):.3f}"],
            "textposition": place,
            "marker": {"size": 13, "symbol": mark, "color": INK},
            "hovertemplate": "threshold %{x:.3f}: %{y:.3f} on test<extra>" + name + "</extra>",
        }
        for name, t, mark, place in (
            ("chosen on dev", honest, "circle", "bottom center"),
            ("chosen on test: leaks", leaking, "x", "top center"),
        )
    ]
    return drawn(
        [*curves, *marks],
        xaxis={"title": "threshold t: same where cosine > t", "gridcolor": FAINT},
        yaxis={"title": "accuracy", "gridcolor": FAINT},
        height=height,
        legend=ABOVE,
    )


def accuracy_at(scores: np.ndarray, labels: np.ndarray, threshold: float) -> float:
    """Share of right decisions.

    >>> accuracy_at(np.array([0.1, 0.6, 0.9]), np.array([0, 0, 1]), 0.5) == 2 / 3
    True
    """
    return float(((scores > threshold) == (np.asarray(labels) == 1)).mean())
