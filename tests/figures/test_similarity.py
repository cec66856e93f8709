"""Figures of labelled pairs carry their numbers."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.figures import similarity_histogram, similarity_scatter, threshold_curves


def test_histogram_has_both_labels_and_scatter_all_pairs() -> None:
    cosine, labels = np.array([0.1, 0.9, 0.5, 1.0]), np.array([0, 1, 0, 1])
    figure = similarity_histogram(cosine, labels)
    assert sorted(figure.data[0].x) == [0.9, 1.0]
    assert sorted(figure.data[1].x) == [0.1, 0.5]
    assert figure.data[0].xbins.end > 1.0  # a cosine of exactly 1 has a bin
    scatter = similarity_scatter(cosine, np.array([1.0, 5, 2, 4]))
    assert scatter.data[0].y.tolist() == [1.0, 5.0, 2.0, 4.0]


def test_threshold_curves_mark_what_dev_chooses_and_what_leaks() -> None:
    dev, test = np.array([0.1, 0.2, 0.8, 0.9]), np.array([0.1, 0.6, 0.7, 0.9])
    figure = threshold_curves(dev, np.array([0, 0, 1, 1]), test, np.array([0, 0, 1, 1]))
    traces = {trace.name: trace for trace in figure.data}
    assert traces["chosen on dev"].x[0] == pytest.approx(0.5)
    assert traces["chosen on dev"].y[0] == 0.75  # 0.6 is called the same
    assert traces["chosen on test: leaks"].x[0] == pytest.approx(0.65)
    assert traces["chosen on test: leaks"].y[0] == 1.0
    curve = dict(zip(np.round(traces["dev"].x, 3), traces["dev"].y, strict=True))
    assert curve[0.5] == 1.0
    assert curve[0.1] == 0.75
    assert curve[0.9] == 0.5
