"""Figures carry what their records say, and nothing in a sentence becomes markup."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.corpora import Labelled
from labkit.figures import clusters, similarity_histogram, similarity_scatter
from labkit.figures.drawing import hover_lines, style
from labkit.projection import Projection

POINTS = Labelled(["one", "<b>two</b>", "three", "four"], ["x", "<i>y</i>", "x", "z"])
PROJECTION = Projection("PCA", np.arange(8, dtype=np.float32).reshape(4, 2), 0.5)


def test_a_trace_for_each_class_with_row_numbers() -> None:
    figure = clusters(PROJECTION, POINTS)
    assert [trace.name for trace in figure.data] == ["x", "&lt;i&gt;y&lt;/i&gt;", "z"]
    assert list(figure.data[0].customdata) == [0, 2]
    assert figure.data[0].x.tolist() == [0.0, 4.0]
    assert figure.data[0].y.tolist() == [1.0, 5.0]
    assert "PCA" in figure.layout.xaxis.title.text
    with pytest.raises(ValueError, match="projection has 4 points, expected 3"):
        clusters(PROJECTION, POINTS.take([0, 1, 2]))


def test_sentences_are_text_not_markup() -> None:
    assert clusters(PROJECTION, POINTS).data[1].text[0] == "&lt;b&gt;two&lt;/b&gt;<br>— &lt;i&gt;y&lt;/i&gt;"


def test_a_hover_label_has_four_lines_at_most() -> None:
    told = hover_lines("word " * 100).split("<br>")
    assert [len(line) for line in told] == [59] * 4  # twelve words each


def test_thirty_six_classes_look_different() -> None:
    assert len({style(number) for number in range(36)}) == 36
    assert style(36) == style(0)


def test_histogram_has_both_labels_and_scatter_all_pairs() -> None:
    cosine, labels = np.array([0.1, 0.9, 0.5, 1.0]), np.array([0, 1, 0, 1])
    figure = similarity_histogram(cosine, labels)
    assert sorted(figure.data[0].x) == [0.9, 1.0]
    assert sorted(figure.data[1].x) == [0.1, 0.5]
    assert figure.data[0].xbins.end > 1.0  # a cosine of exactly 1 has a bin
    scatter = similarity_scatter(cosine, np.array([1.0, 5, 2, 4]))
    assert scatter.data[0].y.tolist() == [1.0, 5.0, 2.0, 4.0]
