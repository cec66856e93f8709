"""The sides of the Space page: the space that a side shows, its picture, and its scores.

A space is a run, vectors fitted here, or a file of vectors. It is named at once but opened only when its vectors are
needed, so stored pictures do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import cached
import choosing
import dot_map
import frame
import marking
import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from choosing import Space
from keeping import once
from marking import rows_with_same_text
from space_look import COARSE, FINE, OF_CLASSES, Look

from labkit import figures
from labkit.arrays import unit
from labkit.corpora import Labelled, Sentences
from labkit.embedding_files import embedding_bytes
from labkit.evaluation.classes import Separation, separation
from labkit.evaluation.regions import CountedWords, PlacedName, counted_words, regions, words_on_map
from labkit.figure_names import written
from labkit.figures.clusters import MOST, colouring
from labkit.progress import lasting
from labkit.projection import NAMES, Projection, epochs, project
from labkit.projection.epochs import Journey, in_classes_of, journey
from labkit.projection.picture import atlas_bytes
from labkit.shipped import picture as stored_picture

NOTHING = "nothing"
FILE = "your own vectors"
HEIGHT = 480  # approximate pixels of the axes
WIDTHS = [5, 2]  # of the pictures, and of the text next to them
SECONDS = {"tsne": 33.0, "umap": 10.0}  # on one core, for as many sentences as there are landmarks


# --- the space of a side -----------------------------------------------------------------------------------------


def choose_space(
    side: str, opened: cached.Opened, runs: Mapping[str, Path], others: str | None, *, optional: bool
) -> Space | None:
    """The space of one side. None: no space is selected, or it is missing and the page says why."""
    options = [*runs, *choosing.VECTORS, FILE, *([NOTHING] if optional else [])]
    plain = "sif" if isinstance(opened.corpus, Sentences) else "mean-vectors"  # whose classes are to be found
    default = next(iter(runs), NOTHING) if optional else plain
    name = choosing.choose_vectors(options, default, f"{side.capitalize()} model", side, others)
    if name != FILE:
        return None if name == NOTHING else choosing.space_of(opened, name, runs)
    file = frame.visitor_file("Vectors of these sentences (.npz, .npy or .parquet)", f"{side}-file")
    if file is None:
        st.info(
            "Upload vectors above: the .npz or .parquet output of `labkit encode`, or a matrix (.npy) with a row for "
            "each distinct sentence of the corpus. The file stays on this machine."
        )
        return None
    code = "from labkit.baselines.base import Matrix, MatrixSettings\n"
    code += f'method = Matrix(MatrixSettings(file="vectors{Path(file.name).suffix}"))\nmethod.fit(corpus)'
    opening = partial(cached.uploaded_vectors, file, opened)
    return Space(f"{file.key} {opened.key}", "your vectors", code, opening)


# --- its picture -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Side:
    """A space with its picture; `vectors` gives the sentences' rows as the method compares them, and at unit length."""

    name: str
    space: Space
    shown: Labelled
    key: tuple[Any, ...]
    picture: Projection
    vectors: Callable[[], tuple[Any, Any]]

    @property
    def chart(self) -> str:
        """The key of the picture's widget."""
        return f"picture-{self.name}-{marking.state_of_marks().changes}"

    @property
    def title(self) -> str:
        """The name of the side, and of the space that it shows."""
        return f"{self.name}, {self.space.name}"


def opened_side(name: str, space: Space, shown: Labelled, key: tuple[Any, ...], look: Look) -> Side:
    """The side with its picture: a stored one, or one that is computed now and cached."""
    vectors, how = partial(cached.sentence_vectors, space, shown, key), look.how
    landmarks = cached.landmarks_for(how, len(shown))

    def arrange() -> Projection:
        make = partial(cached.made_apart, project) if how == "umap" else project
        picture = make(vectors()[1], how, look.dimensions, landmarks=landmarks)
        picture.points.flags.writeable = False
        return picture

    picture = stored_picture(space.origin(), shown.texts, how, look.dimensions) if space.origin else None
    if picture is None:
        vectors()  # with a note of its own on what the page is doing
        made = ("picture", space.key, key, how, look.dimensions)
        placed = 0 if landmarks is None else len(shown) - landmarks
        seconds = SECONDS.get(how, 0.0) * (len(shown) - placed) / cached.LANDMARKS + 1e-4 * placed
        said = f"Arranging the picture: this takes about {lasting(seconds)} on an idle core, but only the first time …"
        picture = once(said, made, arrange)
    return Side(name, space, shown, key, picture, vectors)


def journey_of(space: Space, how: str, opened: cached.Opened) -> Journey:
    """A run's probe over its epochs, in the classes of the corpus; PCA uses one basis for all epochs."""
    arrange = partial(cached.made_apart, epochs) if how == "umap" else epochs

    def make() -> Journey:
        made = in_classes_of(journey(space.method.snapshots, how, common=how == "pca", arrange=arrange), opened.corpus)
        # a recorder in another library's training counts steps
        return replace(made, unit="step") if "step" in space.method.history.columns else made

    return once("Arranging the pictures of all epochs …", ("journey", space.key, how, opened.key), make)


def side_of(name: str, space: Space, journey: Journey, at: int) -> Side:
    """The side as it was at the `at`-th kept epoch."""
    rows = space.method.snapshots.vectors[at]
    return Side(name, space, journey.shown, (space.key, at), journey.pictures[at], lambda: (rows, unit(rows)))


def show_title(name: str, space: Space, opened: cached.Opened, count: int, split: Any, how: str) -> None:
    """The name of a side's space, and what its picture shows: `count` sentences of a split or of all, and how."""
    every, of = cached.classes_of_corpus(opened)[1], f"{split} split, " if isinstance(split, str) else ""
    with st.container(key=f"title-{name}"):
        st.markdown(f"**{frame.plain(space.name)}** · {count:,} of {every:,} sentences ({of}{NAMES[how]})")


def show_plain(side: Side, look: Look, first: Side, save: Any, **marks: Any) -> None:
    """The picture, which can be clicked and marked if it is flat; marks are converted to rows of `first`."""
    rows = partial(picture_rows, side.picture, side.shown)
    if look.as_map:
        key, by = dot_map.key_of(side.name), look.by_column(side.shown)
        dot_map.put_map(
            side.name,
            dot_map.map_bytes(side.name, side.picture, side.shown, by, look.most, look.order),
            {**marks, "count": len(side.shown)},
            words=words_of_map(side, look.labels),
            alt=alt_of(side, look),
            on_marked=on_marked_in(side, first, key),
        )
        with save:
            frame.csv_button(rows, key)
        return
    drawing = look.colours(side.shown) | {"narrow": True, "height": HEIGHT}
    drawing["legend"] = look.colouring(side.shown).values is not None  # a scale
    if look.labels in (COARSE, FINE) and look.dimensions == 2:
        fine = look.labels == FINE
        make = partial(regions, words_of(side), side.picture.points, side.shown.labels, fine=fine)
        made = ("regions", side.space.key, side.key, look.how, fine)
        drawing["regions"] = once("Looking for words …", made, make)
    figure = figures.clusters(side.picture, side.shown, **drawing, **marks)
    with st.container(key=f"tall-{side.name}"):
        show_side(figure, side, first, look, rows, save)


def on_marked_in(side: Side, first: Side, key: str) -> Callable[[], None]:
    """What happens when something is marked in the picture of a side, whose widget has this key."""
    carry = partial(rows_with_same_text, texts=side.shown.texts, onto=first.shown.texts)
    return partial(marking.on_marked, side.name, key, len(side.shown), carry)


def alt_of(side: Side, look: Look) -> str:
    """A picture in words."""
    count, dimensions = side.picture.points.shape
    return (
        f"The space of {side.space.name} by {side.picture.name}: {count:,} sentences of "
        f"{len(colouring(side.shown).names):,} classes as points in {dimensions} dimensions, coloured by "
        f"{look.by_column(side.shown)}. "
        "To read sentences and their neighbours as text, use the search field and the list next to the pictures."
    )


def words_of(side: Side) -> CountedWords:
    """How often each word occurs in each sentence of a side."""
    return once("Counting the words …", ("words", side.key), lambda: counted_words(side.shown.texts))


def words_of_map(side: Side, labels: str) -> Sequence[Sequence[PlacedName]] | None:
    """The names written on a side's map, for the whole map and for a close-up; None: those of its classes."""
    if labels not in (COARSE, FINE):
        return None if labels == OF_CLASSES else ((), ())
    fine, shown = labels == FINE, side.shown
    key = ("words on the map", side.space.key, side.key, side.picture.method, fine)
    make = partial(words_on_map, shown.texts, side.picture.points, shown.labels, fine=fine)
    return once("Looking for words …", key, make)


def show_side(figure: go.Figure, side: Side, first: Side, look: Look, rows: frame.Rows, save: Any = None) -> None:
    """A figure of a side's sentences as points, as high as the window allows, with alt text, export and tools."""
    count, dimensions = side.picture.points.shape
    marks: dict[str, Any] = {"height": "stretch"}
    figure.layout.meta = {"title": f"{side.space.name}, {frame.corpus_name()}, {side.picture.name}"}  # if saved
    if dimensions == 3:
        figure.layout.uirevision = side.space.key  # it keeps its rotation when a ring is drawn
    elif count <= MOST:
        marks["on_select"] = on_marked_in(side, first, side.chart)
        marks["selection_mode"] = ("points", "box", "lasso")
    marks |= {"tools": ("select2d", "lasso2d"), "save": save}
    frame.picture(figure, key=side.chart, alt=alt_of(side, look), rows=rows, **marks)


def show_figures(sides: Sequence[Side]) -> list[Separation]:
    """Show the scores of all spaces and pictures, and how far the pictures can be trusted; return the scores of the
    spaces, or none if there is only one class."""
    notes: list[str] = []
    measured: list[tuple[str, Separation]] = []
    with st.expander("Scores", icon=":material/table:"):
        for side in sides:
            notes += [f"{side.space.name}: {side.space.note}"] if side.space.note else []
            notes += [f"The picture of {side.space.name}: {side.picture.quality}."] if side.picture.quality else []
            labels, rows, points = side.shown.labels, side.vectors()[1], side.picture.points
            if len(set(labels)) == 1:  # there are no classes to separate
                continue
            key = ("separation", side.space.key, side.key)
            space = once("", key, partial(separation, rows, labels))
            drawn = once("", (*key, side.picture.method, points.shape[1]), partial(separation, points, labels))
            measured += [(side.space.name, space), (f"its picture ({side.picture.name})", drawn)]
            if space.sample < len(labels):  # for sparse rows, the ratio is measured on the sample, too
                sampled = "silhouette and Hit@1" if isinstance(rows, np.ndarray) else "all scores of the space"
                notes.append(f"For {side.space.name}, {sampled} are measured on {space.sample:,} sentences.")
        if measured:
            figures_table(measured)
            st.caption("All are measured on the sentences shown. **What am I looking at?** explains them.")
        st.caption(frame.plain(" ".join(notes)))
    return [each for _, each in measured[::2]]


def figures_table(measured: Sequence[tuple[str, Separation]]) -> None:
    """A table with the three scores of each space and picture."""
    names = {"inter/intra": "ratio", "silhouette": "silhouette", "Hit@1": "hit"}
    rows = [[where, *(getattr(each, of) for of in names.values())] for where, each in measured]
    table = pd.DataFrame(rows, columns=["measured in", *names]).style
    table = table.format(partial(written, form=".3f"), subset=list(names))
    st.dataframe(table, hide_index=True, placeholder="–", alt="Scores of each space and picture.")


def save_files(side: Side) -> None:
    """The model of a run, the vectors behind a picture, and the picture, as files."""

    def vectors() -> bytes:
        return embedding_bytes(list(side.shown.texts), side.vectors()[0], ".npz")

    def atlas() -> bytes:
        return atlas_bytes(side.picture, side.shown, side.vectors()[1])

    if side.space.folder is not None:
        frame.save_model(side.space.folder, f"{side.name}-model")
    kind = "application/octet-stream"
    frame.download("Vectors as NPZ", vectors, "vectors.npz", kind, f"{side.name}-vectors.npz")
    if side.picture.points.shape[1] == 2:
        frame.download("Picture for embedding-atlas", atlas, "picture.parquet", kind, f"{side.name}-picture.parquet")


def picture_rows(projection: Projection, shown: Labelled) -> Iterator[dict[str, Any]]:
    """One row per sentence."""
    axes = [f"{projection.name} {number}" for number in range(1, projection.points.shape[1] + 1)]
    for row, (line, point) in enumerate(zip(shown.rows(), projection.points.tolist(), strict=True)):
        yield {"row": row, **line, **dict(zip(axes, point, strict=True))}
