"""Figures of similarity show the numbers of their records: labelled pairs, and the parts of one pair."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from scipy import sparse

from labkit import figures
from labkit.explanation import REST, Explanation, Parts
from labkit.film.reading import film_explanation
from tests.figures.examples import some_companions


def explained(names_a: str, names_b: str, *, rest: bool = False, seed: int = 0, way: str = "exact") -> Explanation:
    """The explanation of two sentences with a random vector for each word and, if asked for, for the rest."""
    random = np.random.default_rng(seed)
    a, b = (
        Parts.of_sum(names.split(), random.normal(size=(len(names.split()), 4)), 0.1 * rest * random.normal(size=4))
        for names in (names_a, names_b)
    )
    return Explanation.of_parts((names_a, names_b), way, a, b)


def heat(figure: go.Figure) -> Any:
    """The heatmap of a figure."""
    return next(trace for trace in figure.data if trace.type == "heatmap")


# --- cosines of pairs --------------------------------------------------------------------------------------------


def test_hills_are_shares_of_the_pairs_and_lines_mark_the_means() -> None:
    cosines, labels = np.array([0.9, 0.1, 0.9, 1.0, -0.4]), np.array([1, 0, 1, 1, 0])
    same, other = figures.similarity_histogram(cosines, labels).data
    for hill, values in ((same, [0.9, 0.9, 1.0]), (other, [0.1, -0.4])):
        near = [int(np.abs(hill.x - value).argmin()) for value in values]
        assert hill.y[near].tolist() == pytest.approx([near.count(place) / len(values) for place in near])
        assert sum(hill.y) == pytest.approx(1)
    measured = some_companions()
    figure = figures.coherence_hills(measured)
    assert [line.x0 for line in figure.layout.shapes] == [measured.figures.within, measured.figures.between]
    within = np.repeat(figure.data[0].x, np.rint(figure.data[0].y * len(measured.within)).astype(int))
    assert within == pytest.approx(np.sort(measured.within), abs=figure.data[0].width)


def test_named_curves_end_at_the_whole() -> None:
    (line,) = figures.named_curves({"a": [1, 2, 3]}, across="x", upwards="y", whole=4.0).data
    assert list(line.x) == [0, 2, 4]


# --- the parts of a similarity -----------------------------------------------------------------------------------


def test_staircases_end_at_the_similarity() -> None:
    random = np.random.default_rng(0)
    words = tuple(f"w{i}" for i in range(30))
    a, b = (Parts.of_sum(words, sparse.csr_array(np.diag(random.random(30)))) for _ in range(2))
    told = film_explanation(("a", "b"), a, b, random.normal(size=(20, 30)), 0.3)
    for draw in (figures.explained_rows, figures.explained_words):
        steps = draw(told, top=5).data[0]
        assert sum(steps.x[:-1]) == pytest.approx(told.similarity) == pytest.approx(steps.x[-1])
        assert steps.measure[-1] == "total"
    assert np.sum(figures.word_pairs(told, most=30).data[0].z) == pytest.approx(told.similarity)
    kinds = ("row of L", "shared", "pair of words")
    rows, shared, pairs = (sum(float(line["part"]) for line in told.table() if line["kind"] == kind) for kind in kinds)
    assert rows + shared == pytest.approx(pairs) == pytest.approx(told.similarity)


def test_parts_that_do_not_add_up_have_no_total() -> None:
    told = replace(explained("red car", "blue car"), way="left-out", own_a=(0.5, 0.3), own_b=(-0.4, 0.2), gap=0.4)
    figure = figures.explained_words(told)
    assert figure.data[0].type == "bar"
    assert list(figure.data[0].x) == [0.5, -0.4, 0.3, 0.2]
    assert list(figure.layout.yaxis.ticktext) == ["red (a)", "blue (b)", "car (a)", "car (b)"]  # no gap, no similarity
    assert len(figures.explained_words(told, top=3).data[0].x) == 3


def test_repeated_word_has_two_places_in_sentence_order() -> None:
    told = explained("the cat the dog", "dog the dog", rest=True)
    assert told.names_a == ("the", "cat", "the", "dog", REST)
    figure = figures.word_pairs(told)
    np.testing.assert_array_equal(heat(figure).z, told.parts)
    assert list(figure.layout.yaxis.ticktext) == list(told.names_a)
    assert list(figure.layout.xaxis.ticktext) == list(told.names_b)
    lines = {(shape.x0, shape.y0) for shape in figure.layout.shapes}
    assert lines == {(2.5, 0), (0, 3.5)}  # before the rest of each sentence
    assert not figures.word_pairs(explained("the cat", "dog")).layout.shapes


def test_long_sentences_show_their_strongest_words_in_order() -> None:
    told = explained(" ".join(f"v{i}" for i in range(9)), " ".join(f"w{i}" for i in range(7)))
    figure = figures.word_pairs(told, most=4)
    rows = [told.names_a.index(name) for name in figure.layout.yaxis.ticktext]
    assert rows == sorted(np.argsort(np.abs(told.own_a))[-4:])
    columns = sorted(np.argsort(np.abs(told.own_b))[-4:])
    np.testing.assert_array_equal(heat(figure).z, np.array(told.parts)[np.ix_(rows, columns)])
