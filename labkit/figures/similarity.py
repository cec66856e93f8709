"""The figures of labelled pairs: what cosine says of them against what a person said, and the threshold between.

In: one cosine for each pair and its label or score. Out: plotly figures. Where the two hills lie on one another, or
the cloud has no slope, similarity as it stands does not tell; that is what there is to learn.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from labkit.evaluation import best_threshold
from labkit.figures.drawing import NAME, Entries, curve, figure_of, marks
from labkit.figures.palette import COLOURS, FAINT, INK, style
from labkit.figures.panels import ABOVE

# --- cosines of pairs --------------------------------------------------------------------------------------------


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
            "hovertemplate": f"cosine %{{x}}: %{{y:.1%}} of the pairs{NAME}",
        }
        for label, name, number, hatch in ((1, "the same", 0, ""), (0, "not the same", 3, "/"))
    ]
    return figure_of(hills, barmode="overlay", height=height, **_framed(cosine, "share of the pairs"))


def similarity_scatter(cosine: np.ndarray, scores: np.ndarray) -> go.Figure:
    """A person's score upwards against the cosine."""
    hover = {"customdata": np.arange(len(scores)), "hovertemplate": "cosine %{x:.2f}, score %{y:.1f}<extra></extra>"}
    cloud = marks(cosine, scores, {"size": 7, "color": style(0)[0], "opacity": 0.45}) | hover
    return figure_of([cloud], height=450, **_framed(cosine, "a person's score"))


def _framed(cosine: np.ndarray, upwards: str) -> Entries:
    low = float(min(0.0, cosine.min(initial=0.0)))
    return {
        "xaxis": {"title": "cosine similarity of the two sentences", "range": [low - 0.03, 1.05]},
        "yaxis": {"title": upwards, "gridcolor": INK, "gridwidth": 0.3},
        "legend": {"y": 0.99},
    }


# --- accuracy at every threshold ---------------------------------------------------------------------------------

STEPS = 201


def threshold_curves(
    dev_scores: ArrayLike, dev_labels: ArrayLike, test_scores: ArrayLike, test_labels: ArrayLike
) -> go.Figure:
    """Accuracy at every threshold, on the pairs that choose it and on those that are scored.

    In: scores (n,) and 0/1 labels (n,) of either; the rule is: positive where score > threshold. Each curve has its own
    top. The honest figure is where the top of dev meets the curve of test; the top of test itself is what a threshold
    chosen there would report.
    """
    dev, test = (np.asarray(dev_scores), np.asarray(dev_labels)), (np.asarray(test_scores), np.asarray(test_labels))
    honest, leaking = best_threshold(*dev), best_threshold(*test)
    lowest, highest = min(dev[0].min(), test[0].min()), max(dev[0].max(), test[0].max())
    thresholds = np.linspace(lowest, highest, STEPS)
    traces = [
        curve(
            thresholds,
            [accuracy_at(*part, float(t)) for t in thresholds],
            colour,
            dash,
            name=name,
            hovertemplate="threshold %{x:.3f}: %{y:.3f}<extra>" + name + "</extra>",
        )
        for name, part, colour, dash in (("dev", dev, COLOURS[1], "dash"), ("test", test, COLOURS[0], "solid"))
    ]
    for name, t, mark, place in (
        ("chosen on dev", honest, "circle", "bottom center"),
        ("chosen on test: leaks", leaking, "x", "top center"),
    ):
        at = min(max(t, lowest), highest)  # a threshold without end is drawn at the edge
        accuracy = accuracy_at(*test, t)
        hover = {"hovertemplate": "threshold %{x:.3f}: %{y:.3f} on test<extra>" + name + "</extra>"}
        label = {"mode": "markers+text", "text": [f"{accuracy:.3f}"], "textposition": place}
        traces.append(marks([at], [accuracy], {"size": 13, "symbol": mark, "color": INK}, name=name) | label | hover)
    return figure_of(
        traces,
        xaxis={"title": "threshold t: same where cosine > t", "gridcolor": FAINT},
        yaxis={"title": "accuracy", "gridcolor": FAINT},
        height=380,
        legend=ABOVE,
    )


def accuracy_at(scores: np.ndarray, labels: np.ndarray, threshold: float) -> float:
    """The share of right decisions.

    >>> accuracy_at(np.array([0.1, 0.6, 0.9]), np.array([0, 0, 1]), 0.5) == 2 / 3
    True
    """
    return float(((scores > threshold) == (np.asarray(labels) == 1)).mean())
