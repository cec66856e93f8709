"""Figures of SBERT-LP, P-thought and the thematic network carry their records' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.figures import unrolled
from labkit.palette import NEGATIVE, POSITIVE
from tests.figures.examples import ALL, an_around, attended, some_themes

# --- SBERT-LP -------------------------------------------------------------------------------------------------------


def test_star_has_its_spokes_and_one_direction_for_a_sentence_in_both() -> None:
    stars = [ALL[f"star {side}"]() for side in ("before", "after")]
    places = []
    for star, spokes in zip(stars, (an_around().before, an_around().after), strict=True):
        drawn = {
            text: (r, theta)
            for trace in star.data[2:4]
            for text, r, theta in zip(trace.text or (), trace.r, trace.theta, strict=False)
        }
        for spoke in spokes:
            assert drawn[str(spoke.number)][0] == pytest.approx(np.sqrt(2 - 2 * spoke.cosine))
        places.append(drawn)
    assert places[0]["3"][1] == places[1]["3"][1]
    assert places[0]["5"][1] != places[1]["9"][1]
    assert [trace.line.color for trace in stars[1].data[:2]] == [POSITIVE, NEGATIVE]
    assert stars[1].data[1].line.dash == "dot"
    assert stars[0].data[0].line.width > stars[0].data[1].line.width
    assert stars[0].layout.polar.radialaxis.range == stars[1].layout.polar.radialaxis.range


ALONG = np.linspace(1, 3, 9)


POINTS = np.stack([np.cos(ALONG), 5 + np.sin(ALONG)], axis=1)


def test_each_method_has_a_panel_and_every_panel_the_colours_of_the_line() -> None:
    figure = unrolled(POINTS, ALONG, {"one": 3 * ALONG, "fallen": -ALONG, "lost": np.cos(9 * ALONG)})
    line, ends, *panels = figure.data
    np.testing.assert_allclose(np.stack([line.x, line.y], axis=1), POINTS)
    assert [each.strip() for each in ends.text] == ["start", "end"]
    np.testing.assert_allclose(np.stack([ends.x, ends.y], axis=1), POINTS[[0, -1]])
    shares = np.linspace(0, 1, 9)
    for trace in (line, *panels):
        np.testing.assert_allclose(trace.marker.color, shares)
    for trace in panels:
        np.testing.assert_allclose(trace.x, shares)
        assert (min(trace.y), max(trace.y)) == pytest.approx((0, 1))
    for trace in panels[:2]:  # neither a sign nor a size is told
        np.testing.assert_allclose(trace.y, shares, atol=1e-12)
    assert (np.diff(panels[2].y) < 0).any()


# --- thematic -------------------------------------------------------------------------------------------------------


def test_ribbon_and_counts_are_the_clusters() -> None:
    found, figure = some_themes(), ALL["ribbon"]()
    for row, numbers in enumerate((found.article.truth, found.kmeans.found, found.iclust.found), 1):
        assert list(figure.data[row].text) == [str(number + 1) for number in numbers.tolist()]
    wrong = int((found.kmeans.found != found.article.truth).sum() + (found.iclust.found != found.article.truth).sum())
    assert sum(shape.type == "rect" for shape in figure.layout.shapes) == wrong > 0
    counts = ALL["section counts"]()
    np.testing.assert_array_equal(counts.data[0].z, found.kmeans.counts)
    assert sum(int(note.text.strip("</b>")) for note in counts.layout.annotations) == len(found.article.sentences)


def test_attention_bars_are_the_shares() -> None:
    bars = ALL["attention"]().data
    np.testing.assert_array_equal(bars[0].y, attended().shares)
    np.testing.assert_array_equal(bars[1].y, attended().weights)
