"""Figures of themes carry their records' numbers."""

from __future__ import annotations

import numpy as np

from labkit import figures
from labkit.figures import three_encoders
from labkit.figures.palette import COLOURS
from tests.figures.examples import ALL, attended, some_themes


def test_ribbon_and_counts_are_the_clusters() -> None:
    found, figure = some_themes(), ALL["ribbon"]()
    for row, numbers in enumerate((found.article.truth, found.kmeans.found, found.iclust.found), 1):
        assert list(figure.data[row].text) == [str(number + 1) for number in numbers.tolist()]
    wrong = int((found.kmeans.found != found.article.truth).sum() + (found.iclust.found != found.article.truth).sum())
    assert sum(shape.type == "rect" for shape in figure.layout.shapes) == wrong > 0
    counts = ALL["section counts"]()
    np.testing.assert_array_equal(counts.data[0].z, found.kmeans.counts)
    assert sum(int(note.text.strip("</b>")) for note in counts.layout.annotations) == len(found.article.sentences)


def test_marked_words_can_be_read_without_colour() -> None:
    html = figures.marked(attended(), before="<2> ·")
    assert "<b onclick" not in html
    assert "&lt;b onclick=x&gt;bad&lt;/b&gt;" in html
    assert "&lt;2&gt; ·" in html
    assert [part.split("<")[0] for part in html.split('opacity:.75">')[1:]] == ["70", "10", "20"]
    assert html.count("font-weight:700") == 1  # only the first has more than half again an even share
    shades = [float(part.split(")")[0]) for part in html.split("rgba(0,114,178,")[1:]]
    assert shades[0] > shades[2] > shades[1]
    bars = ALL["attention"]().data
    np.testing.assert_array_equal(bars[0].y, attended().shares)
    np.testing.assert_array_equal(bars[1].y, attended().weights)


def test_three_encoders_show_which_places_get_into_the_vector() -> None:
    figure = three_encoders(("a", "b", "c", "d"))
    blue = [each for each in figure.data if each.mode == "lines" and each.line.color == COLOURS[0]]
    tops = {panel: [each for each in blue if each.xaxis == panel and each.y[1] > 4] for panel in ("x", "x2", "x3")}
    assert [line.x[0] for line in tops["x"]] == [1]  # of the answers the largest alone
    assert [line.x[0] for line in tops["x2"]] == [3]  # of the states the last alone
    assert [line.x[0] for line in tops["x3"]] == [0, 1, 2, 3]  # all, each with its share
    assert len({line.line.width for line in tops["x3"]}) > 1
