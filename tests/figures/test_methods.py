"""Figures of SBERT-LP, P-thought and the thematic network show their records' numbers; no figure has markup."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import pytest
from scipy import sparse

from labkit import figures
from labkit.explanation import Parts
from labkit.figures import unrolled
from labkit.film.reading import film_explanation, rows_of_pair
from labkit.film.rule import Rule, curves
from labkit.palette import NEGATIVE, POSITIVE
from labkit.sentpwnet.view import Examined, anchor_curves
from tests.figures.examples import ALL, EVIL, an_around, attended, some_themes, texts_of

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
    for trace in panels[:2]:  # regardless of sign and scale
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


# --- no sentence becomes markup in any figure ------------------------------------------------------------------------


def all_figures(found: Examined) -> dict[str, go.Figure]:
    counts = Parts.of_sum((EVIL, "w"), sparse.csr_array(np.diag([0.6, 0.8])))
    told = film_explanation((EVIL, EVIL), counts, counts, np.eye(2), 0.5)
    row = rows_of_pair(counts, counts, np.eye(2), 0.5)[1]
    rates = curves(np.array([1, 2, 3, 1]), np.array([1, 1, 0, 0]), most=3)
    rule = Rule(rates, np.ones(3), np.ones(3), 2, 4, False)
    return {name: make() for name, make in ALL.items()} | {
        "similarity": figures.similarity_heatmap(found, anchor=1),
        "weight": figures.weight_heatmap(found),
        "anchor": figures.anchor_bars(found, 0, other=2),
        "curves": figures.weight_curves(anchor_curves(found, 0)),
        "words": figures.row_of_pair(row),
        "rows": figures.explained_rows(told),
        "of words": figures.explained_words(told),
        "word pairs": figures.word_pairs(told),
        "named": figures.named_curves({EVIL: [1, 2]}, across="x", upwards="y"),
        "rule": figures.mutual_rule_curves(rule, k=3),
    }


def test_no_sentence_becomes_markup(found: Examined) -> None:
    seen = 0
    for name, figure in all_figures(found).items():
        assert figure.layout.paper_bgcolor == "rgba(0, 0, 0, 0)", name  # for light and dark pages
        for text in texts_of(figure.to_plotly_json()):
            assert "<b " not in text, name
            assert "<img" not in text, name
            seen += "&lt;" in text
    assert seen >= 12  # the hostile sentence is there, as text
