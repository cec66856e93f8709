"""One side of the page "Clusters": its picture with what can be done to it, and its figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import brushing
import cached
import frame
import numpy as np
import plotly.graph_objects as go
import spaces
import streamlit as st
import waiting
from brush import MOST, carried
from clusters_text import IN_SPACE
from export import picture_rows

from labkit import figures
from labkit.corpora import Labelled
from labkit.embedding_files import embedding_bytes
from labkit.evaluation.classes import Separation
from labkit.figures.clusters import colouring
from labkit.lab.shipped import picture as stored_picture
from labkit.projection import Projection

HEIGHT = 430
WIDTHS = {1: [6, 4], 2: [7, 3]}  # of the pictures, and of what is read beside them, by the number of pictures


@dataclass(frozen=True)
class Look:
    """How pictures are drawn: the choices of the sidebar."""

    how: str
    dimensions: int
    by: str
    most: int
    density: bool
    order: tuple[str, ...] = ()  # of the classes of the whole corpus


@dataclass(frozen=True, eq=False)
class Side:
    """A space with its picture; `vectors` gives the sentences' rows as the method compares them, and at unit length."""

    name: str
    space: spaces.Space
    shown: Labelled
    key: tuple[Any, ...]
    picture: Projection
    vectors: Callable[[], tuple[Any, Any]]

    @property
    def chart(self) -> str:
        """The key of the picture's widget."""
        return f"picture-{self.name}-{brushing.cleared()}"

    @property
    def told(self) -> str:
        """Which side it is, and what is there."""
        return f"{self.name}, {self.space.name}"


def opened_side(
    name: str, space: spaces.Space, shown: Labelled, key: tuple[Any, ...], look: Look, box: Any
) -> tuple[Side, Any]:
    """The side with its picture, and where in `box` to draw it. While it is made, PCA's is shown, which takes no time.

    The place is the same each time: a picture that is moved is drawn anew, and forgets how far one has zoomed into it.
    """

    def vectors() -> tuple[Any, Any]:
        return cached.embedded_rows(space.open(), space.key, shown, key)

    found = stored_picture(space.origin(), shown.texts, look.how, look.dimensions) if space.origin else None
    preview, place = box.empty(), box
    if found is None:
        rows, wanted = vectors()[1], (space.key, key, look.how, look.dimensions)
        if look.how != "pca" and wanted not in cached.ready():
            place = box.empty()  # what is there from before goes
            first = cached.arranged(rows, space.key, key, "pca", look.dimensions)
            looks: dict[str, Any] = {"by": look.by, "most": look.most, "order": look.order}
            figure = figures.clusters(first, shown, **looks, named=True, narrow=True, height=HEIGHT)
            with preview.container():
                waiting.show(figure, look.how, f"preview-{name}")
        found = cached.arranged(rows, *wanted)
        preview.empty()
    return Side(name, space, shown, key, found, vectors), place.container()


def draw(side: Side, look: Look, first: Side, **marks: Any) -> None:
    """The picture, to be clicked and marked as long as it is flat; what is marked is told as rows of `first`."""
    looks: dict[str, Any] = {"by": look.by, "most": look.most, "order": look.order, "density": look.density}
    looks |= {"named": True, "narrow": True, "height": HEIGHT}
    figure = figures.clusters(side.picture, side.shown, **looks, **marks)
    show(figure, side, first, look, partial(picture_rows, side.picture, side.shown))


def show(figure: go.Figure, side: Side, first: Side, look: Look, rows: frame.Rows) -> None:
    """A figure of a side's sentences as points, with its alt text, its export and its tools."""
    count, dimensions = side.picture.points.shape
    alt = (
        f"The space of {side.space.name} by {side.picture.name}, {side.name}: {count:,} sentences of "
        f"{len(colouring(side.shown).names):,} classes as points in {dimensions} dimensions, coloured by {look.by}. "
        "Search and choose above and beside the pictures to read sentences and their neighbours as text."
    )
    marking: dict[str, Any] = {}
    if dimensions == 2:
        carry = partial(_carried, side.shown.texts, first.shown.texts)
        marking["on_select"] = partial(brushing.heard, side.name, side.chart, count, carry)
        marking["selection_mode"] = ("points", "box", "lasso") if count <= MOST else ("box",)
    frame.picture(figure, key=side.chart, alt=alt, rows=rows, tools=("select2d", "lasso2d"), **marking)
    if dimensions == 3:
        st.caption(IN_SPACE)


def _carried(texts: Sequence[str], onto: Sequence[str], rows: Sequence[int]) -> list[int]:
    return carried(rows, texts, onto)


def show_figures(side: Side, box: Any) -> None:
    """Into the box the figures in the embedding space and in the picture; here, how far the picture can be trusted."""
    labels, picture = side.shown.labels, side.picture
    in_space = (side.space.key, side.key)
    in_picture = (*in_space, picture.method, picture.points.shape[1])
    if not {in_space, in_picture} <= cached.ready():
        box = box.empty()
        figures_table(box, side.space.name, {"embedding space": None, f"picture ({picture.name})": None})
    space = cached.separated(side.vectors()[1], labels, *in_space)
    drawn = cached.separated(picture.points, labels, *in_picture)
    figures_table(box, side.space.name, {"embedding space": space, f"picture ({picture.name})": drawn})
    said = [side.space.note] if side.space.note else []
    said += [f"The picture: {picture.quality}."] if picture.quality else []
    if space.sample < len(labels):
        all_three = not isinstance(
            side.vectors()[1], np.ndarray
        )  # of sparse rows the ratio is measured on the sample, too
        said.append(f"{'All in the space' if all_three else 'Silhouette and Hit@1'} of a sample of {space.sample:,}.")
    st.caption(frame.plain(" ".join(said)))


def figures_table(box: Any, name: str, found: Mapping[str, Separation | None]) -> None:
    """The name of a space, and below it where something was measured -> the three figures; None: not yet."""
    lines = [f"| {frame.plain(name)} | inter/intra | silhouette | Hit@1 |", "|:--|--:|--:|--:|"]
    for where, each in found.items():
        values = () if each is None else (each.ratio, each.silhouette, each.hit)
        cells = ["–" if np.isnan(value) else f"{value:.3f}" for value in values] or ["…"] * 3
        lines.append("| " + " | ".join([where, *cells]) + " |")
    box.markdown("\n".join(lines))


def save_vectors(side: Side) -> None:
    """The vectors behind a picture as files."""
    with st.popover("Save the vectors", icon=":material/download:", type="tertiary", key=f"vectors-{side.name}"):
        for ending, name in ((".npz", "NPZ"), (".parquet", "Parquet")):
            st.download_button(
                f"Vectors as {name}",
                lambda ending=ending: embedding_bytes(list(side.shown.texts), side.vectors()[0], ending),  # type: ignore[misc]
                f"vectors{ending}",
                "application/octet-stream",
                key=f"vectors-{side.name}{ending}",
                on_click="ignore",
            )
