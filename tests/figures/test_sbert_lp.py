"""Figures of SBERT-LP carry their records' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from labkit import figures
from labkit.corpora import Pairs
from labkit.figures import unrolled
from labkit.figures.palette import NEGATIVE, POSITIVE
from labkit.sbert_lp.sweeps import compared
from labkit.sbert_lp.view import changed
from tests.figures.examples import ALL, EVIL, a_change, a_structure, an_around


def test_a_star_has_its_spokes_and_one_direction_for_a_sentence_in_both() -> None:
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
    with pytest.raises(ValueError, match="side"):
        figures.star(an_around(), "left")


def test_errors_and_eigenvalues_are_the_records() -> None:
    figure = ALL["rebuilt"]()
    drawn = {
        row: (x, y) for trace in figure.data[1:3] for row, x, y in zip(trace.customdata, trace.x, trace.y, strict=True)
    }
    assert drawn[1] == (0.2, 0.4)
    assert drawn[2] == (1e-6, 1e-6)
    assert figure.data[3].customdata[0] == 1
    assert [trace.marker.symbol for trace in figure.data[1:3]] == ["circle", "diamond"]
    spectrum = ALL["spectrum"]().data[0]
    assert spectrum.marker.color[:2] == (NEGATIVE, POSITIVE)
    np.testing.assert_array_equal(spectrum.customdata, a_structure().eigenvalues)


def test_the_sweep_has_a_line_for_each_k_and_every_other_way() -> None:
    lines = {trace.name: list(zip(trace.x, trace.y, strict=True)) for trace in ALL["tried"]().data}
    assert lines["LP, k = 5"] == [(8, 0.3), (16, 0.45)]
    assert lines["LP, k = 10"] == [(8, 0.47)]
    assert lines["PCA"] == [(8, 0.52), (16, 0.54)]
    assert lines["raw"] == [(8, 0.5), (16, 0.5)]
    assert lines["all but the top 1"] == [(8, 0.51), (16, 0.51)]
    bars = ALL["chosen"]().data[0]
    assert bars.text == ("0.500", "0.510", "0.520", "0.530", "0.440")


def test_shares_of_couples_add_up() -> None:
    found = a_change()
    bars = ALL["counts"]().data
    assert sum(bar.x[0] for bar in bars) == pytest.approx(1)
    shares = {bar.name.rsplit(" ", 1)[0]: bar.x[0] for bar in bars}
    assert list(shares) == ["right in both", "mended", "spoilt", "wrong in both"]
    assert round(shares["mended"] * found.found.couples) == found.found.mended
    assert round(shares["spoilt"] * found.found.couples) == found.found.spoilt


def test_slopes_are_of_the_kind_that_is_asked() -> None:
    told = compared(Pairs(["a", "c", EVIL], ["b", "d", "f"], [5, 3, 1], graded=True), split="train")
    # (closer, farther): the first pair, of grade 5, was below the second and rises above it; the third stays below
    before, after = (np.ones((6, 2)) for _ in range(2))
    place = [told.sentences.index(text) for text in ("b", "d", "f")]
    before[place], after[place] = [[1, 0.2], [1, 0.8], [-1, 1]], [[1, 0.9], [1, 0.3], [-1, 1]]
    found = changed(told, before, after)
    assert (found.found.mended, found.found.spoilt) == (1, 0)
    figure = figures.order_slopes(found, "mended")
    example = found.found.mended_examples[0]
    assert tuple(figure.data[0].y) == (example.before[0], example.after[0])
    assert tuple(figure.data[1].y) == (example.before[1], example.after[1])
    with pytest.raises(ValueError, match="spoilt"):
        figures.order_slopes(found, "spoilt")


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
