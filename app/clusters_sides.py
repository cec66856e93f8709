"""The sides of the page "Clusters": the space that a side shows, its picture, and its figures.

A space is a run that comes with the lab, vectors fitted here, a stored run, or a file of vectors. It is named at once
and opened only when its vectors are needed: stored pictures do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cached
import choosing
import frame
import marking
import numpy as np
import plotly.graph_objects as go
import streamlit as st
from marking import rows_with_same_text

from labkit import figures
from labkit.corpora import Labelled
from labkit.embedding_files import embedding_bytes
from labkit.evaluation.classes import Separation
from labkit.evaluation.inputs import unit
from labkit.figures.clusters import MOST, colouring
from labkit.lab.shipped import DEMONSTRATIONS, Origin, standing
from labkit.lab.shipped import picture as stored_picture
from labkit.projection import NAMES, Placement, Projection, place
from labkit.projection.placement import unknown_words

if TYPE_CHECKING:
    from labkit.method import Method

NOTHING = "nothing"
FILE = "your own vectors"
SHIPPED = "run "
HEIGHT = 430
WIDTHS = {1: [6, 4], 2: [7, 3]}  # of the pictures, and of what is read beside them, by the number of pictures
FIRST_LOOK = "A first look, by PCA, while {how} is being made …"
UNPREPARED = "UMAP prepares itself once after the app has started, for up to a minute; no other picture waits for it."
IN_SPACE = "Points in space cannot be clicked. Search above: what is found gets a ring, and can be read from the list."


# --- the space of a side -----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Space:
    """`open` gives the method; `origin` tells what a stored picture was made from, None where there can be none."""

    key: str
    name: str
    code: str
    open: Callable[[], Method]
    origin: Callable[[], Origin] | None = None
    note: str = ""


def choose_space(side: str, label: str, opened: cached.Opened, *, optional: bool) -> Space | None:
    """The space of one side, from the sidebar. None: none is wished for, or it is not there, and the page says why."""
    shipped = [] if opened.own else [name for name, run in DEMONSTRATIONS.items() if run.corpus == opened.corpus.name]
    shipped = [name for name in shipped if DEMONSTRATIONS[name].here]
    runs = [SHIPPED + name for name in shipped]
    options = [*runs, *choosing.VECTORS, choosing.STORED, FILE, *([NOTHING] if optional else [])]
    default = (runs[0] if runs else NOTHING) if optional else "mean-vectors"
    name = st.sidebar.selectbox(
        label,
        options,
        index=options.index(default),
        format_func=lambda option: choosing.VECTORS.get(option, option),
        key=side,
        **frame.KEEP,
    )
    if name == NOTHING:
        return None
    if name == choosing.STORED:
        return _stored(side, opened)
    if name == FILE:
        return _file(side, opened)
    if name in runs:
        return _shipped(name.removeprefix(SHIPPED))
    code = f'method = METHODS["{name}"]()\nmethod.fit(corpus)'
    return Space(
        f"{name} {opened.key}",
        choosing.VECTORS[name],
        code,
        partial(cached.fitted, opened.corpus, opened.key, name),
        None if opened.own else partial(cached.unfitted, name, opened.key),
    )


def _shipped(name: str) -> Space:
    """A run that comes with the lab, and whether it is worth more than it costs."""
    folder = DEMONSTRATIONS[name].folder
    found = standing(name)
    return _run(
        folder, name, f'method = load_run(DEMONSTRATIONS["{name}"].folder)', "" if found is None else f"{found}."
    )


def _run(folder: Path, name: str, code: str, note: str = "") -> Space:
    written = (folder / "run.json").stat().st_mtime_ns
    opening = partial(cached.opened_run, str(folder), written)
    return Space(f"{folder} {written}", name, code, opening, partial(cached.trained, str(folder), written), note)


def _stored(side: str, opened: cached.Opened) -> Space | None:
    """A run from the folders that the visitor names."""
    found = choosing.runs_in(choosing.run_folders(f"{side}-folders"))
    if not found:
        st.info("There is no such run in the folders named in the sidebar. One is made in a minute or two:")
        st.code(f"labkit train sentpwnet --corpus {'FILE' if opened.own else opened.corpus.name}", language="bash")
        return None
    name = st.sidebar.selectbox("Run", list(found), index=0, key=f"{side}-run", **frame.KEEP)
    return _run(found[name], name, f"method = load_run({str(found[name])!r})")


def _file(side: str, opened: cached.Opened) -> Space | None:
    """Vectors that the visitor brings."""
    file = frame.visitor_file("Vectors of these sentences: .npz, .npy or .parquet", f"{side}-file")
    if file is None:
        st.info(
            "Choose a file with vectors in the sidebar: what `labkit encode` writes, or a matrix with a row for each "
            "distinct sentence of the corpus. It stays on this machine."
        )
        return None
    name, data = file
    opening = partial(cached.given, name, data, opened.corpus, opened.key)
    code = "from labkit.baselines.base import Matrix, MatrixSettings\n"
    code += f'method = Matrix(MatrixSettings(file="vectors{Path(name).suffix}"))\nmethod.fit(corpus)'
    return Space(f"{cached.digest(data)} {opened.key}", "your vectors", code, opening)


# --- its picture -------------------------------------------------------------------------------------------------


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
    space: Space
    shown: Labelled
    key: tuple[Any, ...]
    picture: Projection
    vectors: Callable[[], tuple[Any, Any]]

    @property
    def chart(self) -> str:
        """The key of the picture's widget."""
        return f"picture-{self.name}-{marking.times_cleared()}"

    @property
    def title(self) -> str:
        """The name of the side, and of the space that it shows."""
        return f"{self.name}, {self.space.name}"


def opened_side(
    name: str, space: Space, shown: Labelled, key: tuple[Any, ...], look: Look, box: Any
) -> tuple[Side, Any]:
    """The side with its picture, and where in `box` to draw it. While it is made, PCA's is shown, which takes no time.

    The place is the same each time: a picture that is moved is drawn anew, and forgets how far one has zoomed into it.
    """

    def vectors() -> tuple[Any, Any]:
        return cached.embedded_rows(space.open(), space.key, shown, key)

    found = stored_picture(space.origin(), shown.texts, look.how, look.dimensions) if space.origin else None
    preview, slot = box.empty(), box
    if found is None:
        rows, wanted = vectors()[1], (space.key, key, look.how, look.dimensions)
        if look.how != "pca" and wanted not in cached.made_before():
            slot = box.empty()  # what is there from before goes
            first = cached.arranged(rows, space.key, key, "pca", look.dimensions)
            looks: dict[str, Any] = {"by": look.by, "most": look.most, "order": look.order}
            figure = figures.clusters(first, shown, **looks, named=True, narrow=True, height=HEIGHT)
            with preview.container():
                show_first_look(figure, look.how, f"preview-{name}")
        found = cached.arranged(rows, *wanted)
        preview.empty()
    return Side(name, space, shown, key, found, vectors), slot.container()


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
    marks: dict[str, Any] = {}
    if dimensions == 2:
        carry = partial(rows_with_same_text, texts=side.shown.texts, onto=first.shown.texts)
        marks["on_select"] = partial(marking.on_marked, side.name, side.chart, count, carry)
        marks["selection_mode"] = ("points", "box", "lasso") if count <= MOST else ("box",)
    frame.picture(figure, key=side.chart, alt=alt, rows=rows, tools=("select2d", "lasso2d"), **marks)
    if dimensions == 3:
        st.caption(IN_SPACE)


def show_figures(side: Side, box: Any) -> None:
    """Write the figures of space and picture into the box, and here how far the picture can be trusted."""
    labels, picture = side.shown.labels, side.picture
    in_space = (side.space.key, side.key)
    in_picture = (*in_space, picture.method, picture.points.shape[1])
    if not {in_space, in_picture} <= cached.made_before():
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


def show_first_look(figure: go.Figure, how: str, key: str) -> None:
    """The picture by PCA, in the place of the one that is `how`."""
    side = key.removeprefix("preview-")
    st.plotly_chart(figure, key=key, alt=f"A first look at the sentences, by PCA: the picture on the {side}.")
    st.caption(first_look_note(how))


def first_look_note(how: str) -> str:
    """What is being made, and why it may take a while."""
    note = FIRST_LOOK.format(how=NAMES[how])
    return note if how != "umap" or cached.picture_process().warmed.is_set() else f"{note} {UNPREPARED}"


def picture_rows(projection: Projection, shown: Labelled) -> Iterator[dict[str, Any]]:
    """One line a sentence."""
    axes = [f"{projection.name} {number}" for number in range(1, projection.points.shape[1] + 1)]
    for row, (line, point) in enumerate(zip(shown.rows(), projection.points.tolist(), strict=True)):
        yield {"row": row, **line, **dict(zip(axes, point, strict=True))}


# --- a typed sentence on it --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Landed:
    """A typed sentence's vector, and where it lies in the picture: nowhere if none of its words is known."""

    row: Any
    where: Placement | None
    unknown: tuple[str, ...]


def landing(typed: str, side: Side) -> Landed:
    """The typed sentence's vector, and where it lies in the picture."""
    method = side.space.open()
    unknown, known = unknown_words(method, typed)
    cosine = method.similarity_name == "cosine"
    row = method.encode([typed], normalize_embeddings=cosine)
    if not known:
        return Landed(row, None, unknown)
    unit_row = row if cosine else unit(row)
    return Landed(row, place(side.picture, side.vectors()[1], unit_row), unknown)
