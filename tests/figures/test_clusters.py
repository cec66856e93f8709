"""The picture of clusters: colours, names and marked points, and few bytes for many points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from labkit.corpora import Labelled
from labkit.figures import clusters
from labkit.figures.clusters import DRAWN, MOVED, READABLE, TRUST, colouring, columns, with_column
from labkit.palette import COLOURS, style
from labkit.projection import Projection

EVIL = "<img src=//evil> =1+1"


def some(n: int, dimensions: int = 2, classes: int = 3) -> tuple[Projection, Labelled]:
    points = np.random.default_rng(0).normal(size=(n, dimensions)).astype(np.float32)
    extra = {"height": [float(row) for row in range(n)], "kind": [EVIL if row % 2 else "x" for row in range(n)]}
    texts = [f"{EVIL} {row}" for row in range(n)]
    return Projection("PCA", points), Labelled(
        texts, [f"c{row % classes}" for row in range(n)], extra=extra, splits="train"
    )


def test_the_most_frequent_classes_have_colours_and_the_rest_shares_one() -> None:
    shown = Labelled([str(row) for row in range(10)], list("aabbbcdeeb"))
    found = colouring(shown, most=2)
    assert found.names == ("a", "b", "3 others")
    assert found.codes.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 1]
    assert found.rest == 2
    assert colouring(shown, most=5).rest is None
    picture = Projection("PCA", np.zeros((10, 2), np.float32))
    assert [trace.name for trace in clusters(picture, shown, most=2).data] == ["3 others", "a", "b"]  # drawn first


def test_class_keeps_its_colour_whatever_else_is_shown() -> None:
    order = [f"c{number}" for number in range(80)]
    seen: dict[str, int] = {}
    for names in (order[:20], order[10:50], order[60:], [order[3], order[39], "not in it"]):
        found = colouring(Labelled([str(row) for row in range(len(names))], names), most=12, order=order)
        coloured = dict(zip(found.names, found.styles, strict=True))
        rest = coloured.pop(found.names[found.rest], None) if found.rest is not None else None
        assert len(set(coloured.values())) == len(coloured)  # no two in a picture look alike
        assert (rest is None) == (len(coloured) == len(names))
        assert all(seen.setdefault(name, number) == number for name, number in coloured.items())
    assert coloured == {"c3": 3, "not in it": 10}  # the 4th and the 40th share a style, which the 4th keeps


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


@pytest.mark.parametrize(("n", "kind"), [(READABLE, "scatter"), (READABLE + 1, "scatter"), (DRAWN + 1, "scattergl")])
def test_sentences_are_sent_only_with_few_points(n: int, kind: str) -> None:
    figure = clusters(*some(n))
    assert {trace.type for trace in figure.data} == {kind}
    text = figure.to_json()
    assert "<img" not in text
    assert ("evil" in text) == (n <= READABLE)
    assert all(trace.x.dtype == np.float32 for trace in figure.data)


POINTS = Labelled(["one", "<b>two</b>", "three", "four"], ["x", "<i>y</i>", "x", "z"])
PROJECTION = Projection("PCA", np.arange(8, dtype=np.float32).reshape(4, 2), 0.5)


def test_trace_for_each_class_with_row_numbers() -> None:
    figure = clusters(PROJECTION, POINTS)
    assert [trace.name for trace in figure.data] == ["x", "&lt;i&gt;y&lt;/i&gt;", "z"]
    assert list(figure.data[0].customdata) == [0, 2]
    assert figure.data[0].x.tolist() == [0.0, 4.0]
    assert figure.data[0].y.tolist() == [1.0, 5.0]
    assert figure.data[1].text[0].startswith("&lt;b&gt;two")
    with pytest.raises(ValueError, match="projection"):
        clusters(PROJECTION, POINTS.take([0, 1, 2]))


# --- measured columns, words of regions, and who moved --------------------------------------------------------------


def test_lines_of_who_moved_differ_in_colour_and_in_dash_and_mark() -> None:
    picture, shown = some(12)
    ways = {"worse": [3, 1], "better": [0, 2, 4], "neither": []}
    figure = clusters(picture, shown, before=-picture.points, ways=ways)
    worse, better = (trace for trace in figure.data if trace.name.split()[0] in ways)
    np.testing.assert_allclose(worse.x[[0, 1, 3, 4]], picture.points[[3, 3, 1, 1], 0] * [-1, 1, -1, 1], rtol=1e-6)
    assert len(better.x) == 9
    assert len({(each.line.color, each.line.dash, each.marker.symbol) for each in (worse, better)}) == 2
    assert all(getattr(worse.line, name) != getattr(better.line, name) for name in ("color", "dash"))
    named = clusters(picture, shown, before=-picture.points, ways=ways, named=True)  # the names are in the picture
    assert [trace.name for trace in named.data if trace.showlegend is not False] == ["worse", "better"]


def test_scale_of_a_measured_column() -> None:
    picture, shown = some(12)
    trusted = with_column(shown, TRUST, np.arange(12) % 3 / 2)  # few distinct numbers, but a scale
    assert (trusted.texts, trusted.labels) == (shown.texts, shown.labels)
    (points,) = clusters(picture, trusted, by=TRUST).data
    assert (points.marker.cmin, points.marker.cmax) == (0, 1)
    np.testing.assert_array_equal(points.marker.color, (np.arange(12) % 3 / 2).astype(np.float32))
    assert "0.5" in points.text[1]
    other = clusters(picture, with_column(shown, TRUST, np.arange(12)), by=TRUST).data[0]  # the corpus's own
    assert other.marker.cmax is None
    moved = clusters(picture, with_column(shown, MOVED, [0.1, 1.0, *[0.8, 0.9] * 5]), by=MOVED).data[0]
    assert 0.1 < moved.marker.cmin < 0.8 < 0.9 < moved.marker.cmax < 1  # the scale covers most sentences


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


def test_every_class_has_its_name_at_its_own_points() -> None:
    random = np.random.default_rng(0)
    centres = np.repeat([[-3, 0], [3, 0], [0, 0]], [10, 30, 40], axis=0)  # "a" has two clusters, with others between
    points = (centres + random.normal(0, 0.05, (80, 2))).astype(np.float32)
    shown = Labelled([f"text {row}" for row in range(80)], ["a"] * 40 + ["b"] * 20 + ["c"] * 20)
    picture = Projection("PCA", points)

    named = {note.text: (note.x, note.y) for note in clusters(picture, shown, named=True).layout.annotations}
    assert set(named) == {"a", "b", "c"}  # "b" and "c" are mixed
    assert named["a"] == pytest.approx((3, 0), abs=0.1)  # the denser one, not the middle of both
    for name, rows in (("b", range(40, 60)), ("c", range(60, 80))):
        assert np.abs(points[list(rows)] - named[name]).sum(axis=1).min() < 0.1


def test_classes_look_different_and_colours_differ_under_deuteranopia() -> None:
    assert len({style(number) for number in range(36)}) == 36
    assert style(36) == style(0)
    # deuteranopia as simulated by Machado, Oliveira and Fernandes (2009), on linear RGB
    seen = np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]])
    rgb = np.array([[int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)] for colour in COLOURS])
    shown = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ seen.T
    assert pdist(shown.clip(0, 1)).min() > 0.1
