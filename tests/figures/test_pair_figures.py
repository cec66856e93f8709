"""Figures of pairs, of triplets and of FILM carry their records' numbers, and nothing in a sentence becomes markup."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
import pytest
import torch

from labkit import figures
from labkit.figures import descents, tangent_and_arc, triplet_losses, two_ways
from labkit.figures.drawing import NEGATIVE, POSITIVE
from labkit.film import explain_pair
from labkit.film.reading import WordRow
from labkit.film.rule import Rule, curves
from labkit.film.stiefel import Step, both_ways, minimise, random_point, walk
from labkit.pairs import pair_weights
from labkit.sentpwnet.method import PairSettings, loss_of
from labkit.sentpwnet.view import (
    EpochWeights,
    Examined,
    SentenceBatch,
    anchor_curves,
    cosines,
    examine,
    lone_curves,
    one_triplet,
)
from labkit.thematic.network import LOSSES

EVIL = "<b onclick=x>bad</b> <img src=//a>"
CLASSES = (EVIL, EVIL, "y", "y")


@pytest.fixture
def found() -> Examined:
    same = np.array([[a == b for b in CLASSES] for a in CLASSES])
    batch = SentenceBatch((EVIL, "two", EVIL, "four"), CLASSES, same & ~np.eye(4, dtype=bool), ~same)
    vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.8, 0.6], [0.0, 1.0]])
    return examine(batch, cosines(vectors), PairSettings(beta=5.0, base=0.5, epsilon=0.1))


def texts_of(figure: go.Figure) -> Iterator[str]:
    """Every text of a figure, wherever it stands."""

    def walk(value: object) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for inner in value.values():
                yield from walk(inner)
        elif isinstance(value, (list, tuple)):
            for inner in value:
                yield from walk(inner)

    yield from walk(figure.to_plotly_json() | {"data": [trace.to_plotly_json() for trace in figure.data]})


def all_figures(found: Examined) -> dict[str, go.Figure]:
    from scipy import sparse

    x = sparse.csr_matrix([[0.6, 0.8]])
    told = explain_pair((EVIL, EVIL), x, x, np.eye(2), (EVIL, "w"), share=0.5)
    row = WordRow(7, 0.5, ((EVIL, 0.2),), (("w", 0.1),), 2.0, 0.5)
    rates = curves(np.array([1, 2, 3, 1]), np.array([1, 1, 0, 0]), most=3)
    rule = Rule(rates, np.ones(3), np.ones(3), 2, 4, False)
    ones = np.ones((2, 3))
    return {
        "similarity": figures.similarity_heatmap(found, anchor=1),
        "weight": figures.weight_heatmap(found),
        "kept": figures.kept_heatmap(found),
        "anchor": figures.anchor_bars(found, 0, other=2),
        "curves": figures.weight_curves(anchor_curves(found, 0)),
        "epochs": figures.weights_over_epochs(EpochWeights(np.arange(2), ones, ones, ones[:, 0], ones[:, 0], 4)),
        "strengths": figures.row_strengths([row], chosen=7),
        "words": figures.row_words(row),
        "components": figures.row_components(np.array([0.5, -1.0]), (EVIL, "w")),
        "rows": figures.explained_rows(told),
        "of words": figures.explained_words(told),
        "word pairs": figures.word_pairs(told),
        "rule": figures.mutual_rule_curves(rule, k=3),
    }


def test_no_sentence_becomes_markup(found: Examined) -> None:
    seen = 0
    for name, figure in all_figures(found).items():
        for text in texts_of(figure):
            assert "<b " not in text, name
            assert "<img" not in text, name
            seen += "&lt;" in text
    assert seen >= 8  # the evil sentence did come through, as text


def test_heatmaps_have_the_records_cells(found: Examined) -> None:
    similar, weight, kept = (
        draw(found) for draw in (figures.similarity_heatmap, figures.weight_heatmap, figures.kept_heatmap)
    )
    np.testing.assert_allclose(similar.data[0].z, found.similarity, atol=1e-6)
    np.testing.assert_array_equal(weight.data[0].customdata, found.weight)
    np.testing.assert_array_equal(
        np.sign(weight.data[0].z), np.sign(found.weight) * np.where(found.batch.negative, -1, 1)
    )
    assert np.abs(weight.data[0].z).max() == 1
    code = np.asarray(kept.data[0].z)
    np.testing.assert_array_equal(code == 1, found.kept_positive)
    np.testing.assert_array_equal(code == 3, found.kept_negative)
    assert (code == 2).sum() + (code == 1).sum() == found.batch.positive.sum()
    scale = kept.data[0].colorscale
    assert [place for place, _ in scale] == sorted(place for place, _ in scale)
    assert scale[2][1] == POSITIVE  # the second of five steps
    assert scale[6][1] == NEGATIVE


def test_the_anchor_has_a_frame(found: Examined) -> None:
    (frame,) = [shape for shape in figures.similarity_heatmap(found, anchor=2).layout.shapes if shape.type == "rect"]
    assert frame.y0 < 2 < frame.y1
    assert not [shape for shape in figures.similarity_heatmap(found).layout.shapes if shape.type == "rect"]


def test_anchor_bars_are_its_row(found: Examined) -> None:
    figure = figures.anchor_bars(found, 0)
    for panel, values in (("y", found.similarity), ("y2", found.weight)):
        bars = [trace for trace in figure.data if trace.type == "bar" and trace.yaxis == panel]
        drawn = {int(data[0]): y for bar in bars for data, y in zip(bar.customdata, bar.y, strict=True)}
        assert drawn == {row: pytest.approx(values[0, row]) for row in (1, 2, 3)}
    lines = sorted(trace.y[0] for trace in figure.data if trace.type == "scatter")
    assert lines == pytest.approx(sorted([found.floor(0), found.ceiling(0)]))


def test_numbers_under_many_bars_leave_each_other_room() -> None:
    m = 50
    same = np.eye(m, dtype=bool)[::-1]
    batch = SentenceBatch(("text",) * m, ("x",) * m, same & ~np.eye(m, dtype=bool), ~same & ~np.eye(m, dtype=bool))
    similarity = cosines(np.random.default_rng(0).normal(size=(m, 3)))
    axis = figures.anchor_bars(examine(batch, similarity, PairSettings()), 3).layout.xaxis2
    order = [row for row in np.argsort(-similarity[3], kind="stable").tolist() if row != 3]
    assert len(axis.ticktext) == 13
    assert [order[place] for place in axis.tickvals] == list(axis.ticktext)


def test_each_row_of_l_has_a_bar_of_its_share_and_a_mark_of_its_stability() -> None:
    rows = [
        WordRow(7, 0.5, (("cat", 0.2),), (("dog", 0.1),), 2.0, 0.25),
        WordRow(3, 0.4, (("cow", 0.2),), (), 1.0, 0.75),
    ]
    figure = figures.row_strengths(rows, chosen=3)
    bars, marks = figure.data
    assert (list(bars.x), list(bars.y)) == (["7", "3"], [0.5, 0.4])
    assert bars.marker.color[0] != bars.marker.color[1]
    assert [list(ends) for ends in bars.customdata] == [["cat", "dog", 7], ["cow", "–", 3]]
    assert (list(marks.x), list(marks.y), marks.yaxis) == (["7", "3"], [0.25, 0.75], "y2")
    assert (bars.showlegend, marks.showlegend) == (False, False)  # the axes name both
    assert (figure.layout.yaxis.showgrid, figure.layout.yaxis2.showgrid) == (None, False)  # one grid, not two


SETTINGS = PairSettings(alpha=3.0, beta=7.0, base=0.4, margin=0.3)


def weighed(loss: str, positive: float, negative: float) -> tuple[float, float]:
    """The two weights of an anchor with one positive and one negative, by automatic differentiation."""
    row = torch.tensor([[1.0, positive, negative]], dtype=torch.float64)
    P, N = torch.tensor([[False, True, False]]), torch.tensor([[False, False, True]])
    found = pair_weights(loss_of(replace(SETTINGS, loss=loss)), row, P, N)[0]
    return float(found[1]), float(found[2])


def test_a_lone_pair_has_the_weight_of_the_package_and_the_slope_of_its_curve() -> None:
    for curve in lone_curves(SETTINGS, other=0.2):
        slope = np.gradient(curve.value, curve.similarity)
        away = abs(curve.similarity - SETTINGS.margin) > 0.02  # the contrastive loss has its corner there
        np.testing.assert_allclose(abs(slope)[away][1:-1], curve.weight[away][1:-1], atol=1e-3)
        assert (slope[away] <= 0).all() if curve.kind == "positive" else (slope[away] >= 0).all()
        for place in (40, 220, 333):
            s = float(curve.similarity[place])
            at = (s, 0.2) if curve.kind == "positive" else (0.2, s)
            assert curve.weight[place] == pytest.approx(weighed(curve.loss, *at)[curve.kind == "negative"])


def test_loss_curves_show_the_slope_where_the_tangent_touches() -> None:
    curves = lone_curves(SETTINGS, other=0.2)
    figure = figures.loss_curves(curves, at=-0.3)
    assert {trace.name for trace in figure.data} == {"contrastive", "soft triplet", "locality"}
    for number, curve in enumerate(curves):
        line, touch, below, point = figure.data[4 * number : 4 * number + 4]
        np.testing.assert_array_equal(line.y, curve.value)
        np.testing.assert_array_equal(below.y, curve.weight)
        rise = (touch.y[1] - touch.y[0]) / (touch.x[1] - touch.x[0])
        assert point.x[0] == pytest.approx(-0.3)
        assert rise == pytest.approx(point.y[0] if curve.kind == "negative" else -point.y[0])
    with pytest.raises(ValueError, match="at is 2"):
        figures.loss_curves(curves, at=2)


def test_arrows_are_as_long_as_the_weights_and_their_part_along_the_circle() -> None:
    triplets = one_triplet(0.28, 0.6, SETTINGS)
    figure = figures.pull_and_push(triplets)
    arrows = [each for each in figure.layout.annotations if each.showarrow]
    assert [each.loss for each in triplets] == ["contrastive", "soft-triplet", "locality"]
    for panel, each in enumerate(triplets):
        assert (each.pull, each.push) == pytest.approx(weighed(each.loss, 0.28, 0.6))
        pull, pull_along, push, push_along = arrows[4 * panel : 4 * panel + 4]
        assert {arrow.xref for arrow in (pull, pull_along, push, push_along)} == {("x", "x2", "x3")[panel]}
        for straight, along, weight, up in ((pull, pull_along, each.pull, 1), (push, push_along, each.push, -1)):
            start, end = np.array([along.ax, along.ay]), np.array([along.x, along.y])
            assert (straight.x, straight.y) == pytest.approx((start[0], start[1] + up * 0.75 * weight))
            assert start @ (end - start) == pytest.approx(0)  # along the circle
            rest = np.array([straight.x, straight.y]) - start
            assert (end - start) @ (end - start) == pytest.approx(
                (end - start) @ rest
            )  # the part of it that lies there
        assert (pull_along.ax, push_along.ax) == pytest.approx((-0.96, 0.8))
    with pytest.raises(ValueError, match="triplets are empty"):
        figures.pull_and_push([])


def test_no_curve_without_a_pair() -> None:
    with pytest.raises(ValueError, match="curves are empty"):
        figures.weight_curves([])
    with pytest.raises(ValueError, match="no word that enough sentences have"):
        figures.row_words(WordRow(0, 1.0, (), (), 0.0))
    with pytest.raises(ValueError, match="row has shape"):
        figures.row_components(np.ones(3), ("a",))


def test_staircases_end_at_the_similarity(found: Examined) -> None:
    from scipy import sparse

    random = np.random.default_rng(0)
    words = tuple(f"w{i}" for i in range(30))
    a, b = (sparse.csr_matrix(random.random((1, 30))) for _ in range(2))
    told = explain_pair(("a", "b"), a, b, random.normal(size=(20, 30)), words, share=0.3)
    for draw in (figures.explained_rows, figures.explained_words):
        steps = draw(told, top=5).data[0]
        assert sum(steps.y[:-1]) == pytest.approx(told.similarity) == pytest.approx(steps.y[-1])
        assert steps.measure[-1] == "total"
    assert np.sum(figures.word_pairs(told, most=30).data[0].z) == pytest.approx(told.similarity)
    kinds = ("row of L", "shared", "pair of words")
    rows, shared, pairs = (sum(line["part"] for line in told.table() if line["kind"] == kind) for kind in kinds)
    assert rows + shared == pytest.approx(pairs) == pytest.approx(told.similarity)


def test_components_name_the_largest_apart() -> None:
    row = np.zeros(900)
    row[[10, 12, 500, 505, 700]] = [5, 4, -3, 2, 1]
    named = figures.row_components(row, [f"w{i}" for i in range(900)], named=4).data[1]
    assert list(named.text) == ["w10", "w500", "w505", "w700"]  # w12 stands too near w10
    assert list(named.y) == [5, -3, 2, 1]


def test_a_square_of_words_has_its_numbers_where_they_can_be_read() -> None:
    from scipy import sparse

    a, b = sparse.csr_matrix([[0.8, 0.6]]), sparse.csr_matrix([[0.6, -0.8]])
    heat, numbers = figures.word_pairs(explain_pair(("v", "w"), a, b, np.eye(2), ("v", "w"), share=0.5)).data
    shown = {(y, x): text for y, x, text in zip(numbers.y, numbers.x, numbers.text, strict=True)}
    assert shown == {
        (y, x): f"{value:+.2f}" for (y, x), value in np.ndenumerate(np.array(heat.z)) if abs(value) >= 0.005
    }
    assert len(shown) >= 2


# --- losses of triplets ------------------------------------------------------------------------------------------


def test_losses_and_slopes_are_those_of_the_package() -> None:
    figure = triplet_losses(reach=3)
    drawn = {(trace.name, trace.xaxis): (np.array(trace.x), np.array(trace.y)) for trace in figure.data}
    assert {name for name, _ in drawn} == set(LOSSES)
    x, y = drawn["ratio", "x"]
    np.testing.assert_allclose(y, 2 / (1 + np.exp(-x)))
    for name in LOSSES:
        x, y = drawn[name, "x"]
        slope = drawn[name, "x2"][1]
        away = np.abs(x + 1) > 0.1  # the hinge has its corner there
        np.testing.assert_allclose(np.gradient(y, x)[away], slope[away], atol=0.02)
    assert len({trace.line.dash for trace in figure.data}) == 3


def test_a_reach_is_above_nothing() -> None:
    with pytest.raises(ValueError, match="reach is 0"):
        triplet_losses(reach=0)


# --- descent on the Stiefel manifold -----------------------------------------------------------------------------


def objective(P: np.ndarray) -> tuple[float, np.ndarray]:
    A = np.diag(np.arange(1.0, 7.0))
    return float(np.trace(P.T @ A @ P)) / 2, A @ P


def test_a_walk_stays_on_the_manifold_along_the_curve_only() -> None:
    P = random_point(6, 2, 0)
    found = walk(objective, P, (1e-3, 0.1, 1.0))
    assert max(found.curve_drift) < 1e-13
    assert found.straight_drift[2] > 0.1
    assert found.straight_drift[0] < found.straight_drift[1] < found.straight_drift[2]
    slope = (found.curve[0] - objective(P)[0]) / 1e-3
    assert (found.straight[0] - objective(P)[0]) / 1e-3 == pytest.approx(slope, rel=1e-2)  # the same direction
    assert slope < 0


def test_two_ways_show_both_with_the_chosen_length() -> None:
    found = walk(objective, random_point(6, 2, 0), (0.01, 0.1))
    figure = two_ways(found, length=0.08)
    assert [tuple(trace.y) for trace in figure.data][::2] == [found.curve, found.straight]
    assert tuple(figure.data[3].y) == found.straight_drift
    assert {shape.x0 for shape in figure.layout.shapes} == {0.1}
    assert figure.layout.xaxis.type == "log"
    assert f"φ = {found.curve[1]:.3f}" in figure.data[0].name
    assert f"off by {found.straight_drift[1]:.0e}" in figure.data[2].name
    assert not two_ways(found).layout.shapes


def test_descents_are_drawn_above_the_lowest_value() -> None:
    steps = minimise(objective, random_point(6, 2, 0), iterations=5).steps
    least = steps[-1].value
    figure = descents({"one": steps, "two": (Step(least + 1, 0.0, 0.0, 0.0),)}, least)
    assert list(figure.data[0].y)[:-1] == pytest.approx([step.value - least for step in steps[:-1]])
    assert figure.data[0].y[-1] > 0  # a logarithm has no place for 0
    assert figure.data[2].y[0] == pytest.approx(1.0)
    assert figure.data[3].y[0] > 0
    assert [trace.name for trace in figure.data if trace.showlegend] == ["one", "two"]


def test_a_straight_step_leaves_the_circle_and_a_cayley_step_does_not() -> None:
    P, lengths = random_point(2, 1, 0), np.linspace(0, 2, 21)
    curve, straight = both_ways(P, np.array([[0.3], [-1.0]]), lengths)
    figure = tangent_and_arc(lengths, curve, straight, every=5)
    arc, tangent = (trace for trace in figure.data if trace.mode == "lines" and trace.showlegend is False)
    assert np.hypot(arc.x, arc.y) == pytest.approx(np.ones(21))
    assert (np.diff(np.hypot(tangent.x, tangent.y)) > 0).all()
    away = np.array([tangent.x, tangent.y]).T - P.T
    assert away @ P == pytest.approx(np.zeros((21, 1)))  # it is the tangent at P
    marks = [trace for trace in figure.data if trace.mode == "markers" and trace.name]
    assert [list(trace.customdata) for trace in marks] == [[0.5, 1.0, 1.5, 2.0]] * 2
    assert {trace.marker.symbol for trace in marks} == {"circle", "diamond"}  # colour is not all that tells them apart
    assert [note.text for note in figure.layout.annotations] == ["P", "τ = 2", "τ = 2"]
    assert figure.layout.yaxis.scaleanchor == "x"  # a circle is round
