"""The picture of clusters: what is chosen, ringed and typed is where its points are; many points stay few bytes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from labkit.corpora import Labelled
from labkit.evaluation.neighbours import Movement
from labkit.figures import clusters, movement_bars
from labkit.figures.clusters import (
    DRAWN,
    GRID,
    MOST,
    READABLE,
    REST,
    TRUST,
    WAYS,
    colouring,
    columns,
    density,
    with_column,
)
from labkit.projection import Projection

EVIL = "<img src=//evil> =1+1"


def some(n: int, dimensions: int = 2, classes: int = 3) -> tuple[Projection, Labelled]:
    points = np.random.default_rng(0).normal(size=(n, dimensions)).astype(np.float32)
    extra = {"height": [float(row) for row in range(n)], "kind": [EVIL if row % 2 else "x" for row in range(n)]}
    texts = [f"{EVIL} {row}" for row in range(n)]
    return Projection("PCA", points), Labelled(
        texts, [f"c{row % classes}" for row in range(n)], extra=extra, splits="train"
    )


def test_the_most_frequent_have_a_colour_and_the_rest_is_one() -> None:
    shown = Labelled([str(row) for row in range(10)], list("aabbbcdeeb"))
    found = colouring(shown, most=2)
    assert found.names == ("a", "b", REST)
    assert found.codes.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 1]
    assert found.rest == 2
    assert colouring(shown, most=5).rest is None
    picture = Projection("PCA", np.zeros((10, 2), np.float32))
    assert [trace.name for trace in clusters(picture, shown, most=2).data] == [REST, "a", "b"]  # the rest below


def test_a_class_has_the_colour_of_its_place_in_the_order_whatever_else_is_shown() -> None:
    order = [f"c{number}" for number in range(80)]
    seen: dict[str, int] = {}
    for names in (order[:20], order[10:50], order[60:], [order[3], order[39], "not in it"]):
        found = colouring(Labelled([str(row) for row in range(len(names))], names), most=12, order=order)
        coloured = dict(zip(found.names, found.styles, strict=True))
        rest = coloured.pop(REST, None)
        assert len(set(coloured.values())) == len(coloured)  # no two of a picture look alike
        assert (rest is None) == (len(coloured) == len(names))
        assert all(seen.setdefault(name, number) == number for name, number in coloured.items())
    assert coloured == {"c3": 3, "not in it": 10}  # the 4th and the 40th have one colour: the first keeps it


def test_names_lie_in_the_middle_of_their_points_and_not_on_one_another() -> None:
    points = np.repeat(np.array([[0.0, 0.0], [10.0, 10.0], [10.0, 10.0]], np.float32), 5, axis=0)
    crowd = np.concatenate([points, np.tile([5.0, 5.0], (60, 1)).astype(np.float32)])
    labels = ["left"] * 5 + ["one"] * 5 + ["<two>"] * 5 + [f"crowd {row % 12}" for row in range(60)]
    picture, shown = Projection("PCA", crowd), Labelled([str(row) for row in range(75)], labels)
    assert not clusters(picture, shown).layout.annotations
    written = {text.text: text for text in clusters(picture, shown, named=True, narrow=True).layout.annotations}
    assert (written["left"].x, written["left"].y, written["left"].yshift) == (0, 0, 0)
    assert written["one"].yshift != written["&lt;two&gt;"].yshift
    crowded = [text.yshift for name, text in written.items() if name.startswith("crowd")]
    assert 1 < len(crowded) == len(set(crowded)) < 12  # for the others there is no room
    assert not clusters(picture, shown, by="words in it", named=True).layout.annotations[1:]


def test_chosen_ringed_and_typed() -> None:
    picture, shown = some(12)
    figure = clusters(picture, shown, chosen=[0, 3, 7], ring=5, landed=np.array([[9.0, 8.0]]))
    chosen = [trace.customdata[list(trace.selectedpoints)].tolist() for trace in figure.data[:3]]
    assert chosen == [[0, 3], [7], []]
    ring, star = figure.data[3:]
    assert (ring.x[0], ring.y[0]) == tuple(picture.points[5])
    assert (star.x[0], star.y[0], star.name) == (9, 8, "typed")
    assert ring.customdata is star.customdata is None
    assert all(trace.selectedpoints is None for trace in clusters(picture, shown).data)


def test_space_has_three_axes_and_marks_that_plotly_knows_there() -> None:
    picture, shown = some(80, 3, classes=36)
    figure = clusters(picture, shown, ring=2, landed=picture.points[:1], density=True)
    assert {trace.type for trace in figure.data} == {"scatter3d"}
    np.testing.assert_array_equal(figure.data[1].z, picture.points[figure.data[1].customdata, 2])


@pytest.mark.parametrize("dimensions", [2, 3])
def test_found_and_in_space_chosen_have_rings_larger_than_their_points(dimensions: int) -> None:
    picture, shown = some(20, dimensions, classes=1)
    figure = clusters(picture, shown, chosen=[2, 9], found=[4, 7, 8], ring=4)
    points, *marks, ring = figure.data
    rings = {mark.name: mark for mark in marks}
    assert set(rings) == ({"found"} if dimensions == 2 else {"found", "marked"})
    for name, rows in (("found", [4, 7, 8]), ("marked", [2, 9])):
        if name in rings:
            lies = np.stack([rings[name][axis] for axis in "xyz"[:dimensions]], axis=1)
            np.testing.assert_array_equal(lies, picture.points[rows])
            assert rings[name].marker.symbol == "circle-open"
            assert points.marker.size < rings[name].marker.size < ring.marker.size
            assert rings[name].customdata is None  # a click goes to the point
    assert len(clusters(picture, shown, chosen=[], found=[]).data) == dimensions - 1
    usual = clusters(picture, shown, ring=4).data[0].marker.opacity
    assert (points.marker.opacity < usual) == (dimensions == 3)  # a cloud would hide the rings


@pytest.mark.parametrize(("n", "kind"), [(READABLE, "scatter"), (READABLE + 1, "scatter"), (DRAWN + 1, "scattergl")])
def test_sentences_travel_with_few_points_only(n: int, kind: str) -> None:
    figure = clusters(*some(n))
    assert {trace.type for trace in figure.data} == {kind}
    text = figure.to_json()
    assert "<img" not in text
    assert ("evil" in text) == (n <= READABLE)
    assert all(trace.x.dtype == np.float32 for trace in figure.data)


def test_many_points_are_bytes_not_text_and_lie_under_a_layer_that_names_none() -> None:
    n = 20_000
    assert n > MOST
    picture, shown = some(n)
    figure = clusters(picture, shown, chosen=np.arange(0, n, 100), density=True)
    assert len(figure.to_json()) < 8 * 4 / 3 * n + 120_000  # two float32 a point, in base 64, and a grid
    cover = figure.data[-1]
    assert (cover.mode, cover.xaxis, cover.yaxis) == ("lines", "x2", "y2")
    assert (figure.layout.xaxis2.matches, figure.layout.yaxis2.matches) == ("x", "y")
    assert all(trace.customdata is None for trace in figure.data)
    assert sum(len(trace.selectedpoints) for trace in figure.data[1:4]) == 200


def test_density_is_numpys_histogram_smoothed() -> None:
    points = np.random.default_rng(1).normal(size=(500, 2)) * [1.0, 20.0]
    x, y, found = density(points)
    low, high = points.min(axis=0), points.max(axis=0)
    span = list(zip(low - 0.1 * (high - low), high + 0.1 * (high - low), strict=True))
    counts, across, upwards = np.histogram2d(*points.T, bins=GRID, range=span)
    np.testing.assert_allclose(found, gaussian_filter(counts, 1.5, mode="constant").T, atol=1e-12)
    np.testing.assert_allclose(x, (across[1:] + across[:-1]) / 2)
    np.testing.assert_allclose(y, (upwards[1:] + upwards[:-1]) / 2)


POINTS = Labelled(["one", "<b>two</b>", "three", "four"], ["x", "<i>y</i>", "x", "z"])
PROJECTION = Projection("PCA", np.arange(8, dtype=np.float32).reshape(4, 2), 0.5)


def test_a_trace_for_each_class_with_row_numbers() -> None:
    figure = clusters(PROJECTION, POINTS)
    assert [trace.name for trace in figure.data] == ["x", "&lt;i&gt;y&lt;/i&gt;", "z"]
    assert list(figure.data[0].customdata) == [0, 2]
    assert figure.data[0].x.tolist() == [0.0, 4.0]
    assert figure.data[0].y.tolist() == [1.0, 5.0]
    assert figure.data[1].text[0].startswith("&lt;b&gt;two")
    with pytest.raises(ValueError, match="projection"):
        clusters(PROJECTION, POINTS.take([0, 1, 2]))


# --- measured columns, words of regions, and who moved --------------------------------------------------------------


def test_a_measured_column_lies_on_a_scale_from_0_to_1_and_is_said_by_the_hover() -> None:
    picture, shown = some(12)
    trusted = with_column(shown, TRUST, np.arange(12) % 3 / 2)  # few numbers, and yet no names
    assert (trusted.texts, trusted.labels) == (shown.texts, shown.labels)
    (points,) = clusters(picture, trusted, by=TRUST).data
    assert (points.marker.cmin, points.marker.cmax) == (0, 1)
    np.testing.assert_array_equal(points.marker.color, (np.arange(12) % 3 / 2).astype(np.float32))
    assert "0.5" in points.text[1]
    other = clusters(picture, with_column(shown, TRUST, np.arange(12)), by=TRUST).data[0]  # of a corpus' own
    assert other.marker.cmax is None


def test_a_line_leads_from_where_each_chosen_one_stood() -> None:
    picture, shown = some(12)
    before = picture.points + np.array([0, 5])
    line, rings = clusters(picture, shown, before=before, chosen=[7, 2]).data[:2]
    np.testing.assert_array_equal(np.isnan(line.x), [False, False, True] * 2)
    for number, row in enumerate((7, 2)):
        ends = np.stack([line.x, line.y], axis=1)[3 * number : 3 * number + 2]
        np.testing.assert_allclose(ends, [before[row], picture.points[row]], rtol=1e-6)
        assert (rings.x[number], rings.y[number]) == pytest.approx(before[row])
    assert line.customdata is rings.customdata is None
    picture, shown = some(WAYS + 9)
    assert len(clusters(picture, shown, before=picture.points).data[1].x) == WAYS
    assert all(trace.type == "scatter3d" for trace in clusters(*some(9, 3), before=np.zeros((9, 2))).data)


def test_bars_of_new_neighbours() -> None:
    before = np.array([[1, 2], [0, 2], [0, 1]])
    after = np.array([[1, 2], [0, 3], [4, 3]])
    moved = Movement(before, after, np.array([0, 2 / 3, 1]))
    (every,) = movement_bars(moved).data
    assert (list(every.x), list(every.y)) == ([0, 1, 2], [1, 1, 1])
    np.testing.assert_allclose(every.customdata, [0, 2 / 3, 1])
    assert list(movement_bars(moved, [2]).data[1].y) == [0, 0, 1]


def test_every_column_can_colour() -> None:
    picture, shown = some(40)
    assert columns(shown) == ["class", "split", "words in it", "height", "kind"]
    by_height = clusters(picture, shown, by="height").data[0]
    assert by_height.marker.color.tolist() == list(range(40))
    assert by_height.customdata.tolist() == list(range(40))
    assert by_height.showlegend is False
    kinds = clusters(picture, shown, by="kind")
    assert [trace.name for trace in kinds.data] == ["x", "&lt;img src=//evil&gt; =1+1"]
    assert [trace.name for trace in clusters(picture, shown, by="split").data] == ["train"]
    with pytest.raises(ValueError, match="column"):
        clusters(picture, shown, by="colour")
