"""The picture of clusters: what is chosen, ringed and typed is where its points are; many points stay few bytes."""

from __future__ import annotations

import numpy as np
import pytest

from labkit.brush import MOST
from labkit.corpora import Labelled
from labkit.figures import clusters
from labkit.figures.clusters import DRAWN, READABLE
from labkit.figures.colouring import REST, colouring, columns
from labkit.figures.density import GRID, density
from labkit.projection import Projection

EVIL = "<img src=//evil> =1+1"


def some(n: int, dimensions: int = 2, classes: int = 3) -> tuple[Projection, Labelled]:
    points = np.random.default_rng(0).normal(size=(n, dimensions)).astype(np.float32)
    extra = {"height": [float(row) for row in range(n)], "kind": [EVIL if row % 2 else "x" for row in range(n)]}
    texts = [f"{EVIL} {row}" for row in range(n)]
    return Projection("PCA", points), Labelled(texts, [f"c{row % classes}" for row in range(n)], extra=extra)


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
    with pytest.raises(ValueError, match="column is 'colour', expected one of class, split"):
        clusters(picture, shown, by="colour")


def test_few_distinct_numbers_are_names_and_so_is_what_is_missing() -> None:
    shown = Labelled(["a b"] * 20, ["x"] * 20, extra={"grade": [1, 2] * 10, "gap": [*range(19), float("nan")]})
    assert colouring(shown, "grade").names == ("1", "2")
    assert len(colouring(shown, "gap").names) == 20


def test_the_most_frequent_have_a_colour_and_the_rest_is_one() -> None:
    shown = Labelled([str(row) for row in range(10)], list("aabbbcdeeb"))
    found = colouring(shown, most=2)
    assert found.names == ("a", "b", REST)
    assert found.codes.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 1]
    assert found.rest == 2
    assert colouring(shown, most=5).rest is None
    picture = Projection("PCA", np.zeros((10, 2), np.float32))
    assert [trace.name for trace in clusters(picture, shown, most=2).data] == [REST, "a", "b"]  # the rest below
    with pytest.raises(ValueError, match="most is 0"):
        colouring(shown, most=0)


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


def test_density_counts_every_point_where_it_is() -> None:
    points = np.concatenate([np.zeros((300, 2)), np.tile([10.0, 0.0], (100, 1)), [[0, 10]]])
    x, y, found = density(points)
    assert found.shape == (GRID, GRID)
    assert found.sum() == pytest.approx(401, rel=0.02)
    row, column = np.unravel_index(found.argmax(), found.shape)
    assert abs(x[column]) < 0.5
    assert abs(y[row]) < 0.5
    assert found[y < 5][:, x > 5].sum() == pytest.approx(100, rel=0.02)
    assert found[y > 5][:, x < 5].sum() == pytest.approx(1, rel=0.05)
    assert np.isfinite(density(np.zeros((5, 2)))[2]).all()  # all on one spot
