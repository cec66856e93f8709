"""Page "Clusters": what a method does to a space of sentences, as pictures of it, two beside each other if wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import cached
import choosing
import frame
import marking
import numpy as np
import streamlit as st
import why
from choosing import Space
from clusters_moved import (
    CODE_OF_LABELS,
    Comparison,
    choose_comparison,
    code_of_colour,
    comparisons,
    in_colour,
    measured_columns,
    show_apart,
    show_moved,
)
from clusters_sides import (
    LABELS,
    WIDTHS,
    Landed,
    Look,
    Side,
    choose_space,
    figures_table,
    landing,
    opened_side,
    save_vectors,
    show_figures,
    show_first_look,
    show_name,
    show_plain,
    show_side,
)
from marking import Brush, rows_with_same_text

from labkit import figures
from labkit.corpora import Labelled
from labkit.corpora.relations import FEW, UNLABELLED
from labkit.evaluation.classes import NO_CLASS, WAYS, seconds_of_hdbscan
from labkit.evaluation.geometry import EpochCosines
from labkit.evaluation.inputs import unit
from labkit.figure_names import spoken
from labkit.figures.clusters import CLASS, MOST, columns
from labkit.figures.epochs import probe_columns
from labkit.progress import lasting
from labkit.projection import NAMES
from labkit.projection.epochs import Journey
from labkit.projection.placement import matching, neighbours

Ask = Callable[[int, str, bool, Callable[[], str | None] | None], None]  # number, neighbour, typed, the right one
NOW, EPOCHS, MEASURED, WHO = VIEWS = ["Sentences", "Over the epochs", "Cosines", "Who moved"]
NOTHING_COMPARED = "Choose other vectors beside these in the sidebar, or a run that was trained in epochs."
SAME_EPOCH = "Both ends of the slider are at epoch {epoch}: draw one of them to another epoch."
TEST, ALL = "of the test split", "of all splits"
AMOUNTS = (300, 1_000, 2_000, 5_000, 20_000, 100_000, 1_000_000)
PLOTTED = 2_000  # sentences: above, a map
PRINTED = 100_000  # sentences that plotly can still draw
UNDRAWN = 5_000  # sentences that a browser without WebGL can draw
LISTED = 500  # sentences
PANEL = 600  # pixels: as high as the pictures beside it, with their figures
LONGEST = {"lle": 5_000}  # sentences that somebody can wait for
SOLID = ("pca", "umap")
NARROW = """<style>
.stMarkdown table :is(th, td) {padding: 0.25rem 0.3rem; font-size: 0.78rem}
.st-key-reading :is(p, li, [data-testid=stText]) {font-size: 0.875rem; line-height: 1.4}
.st-key-suggested button {min-height: 1.7rem; padding: 0; text-align: left}
.st-key-reading li {margin: 0 0 0.4rem 1.2rem; padding: 0}
@media (max-width: 640px) {
  :is(.st-key-reading, :has(> .st-key-reading)) {height: auto !important; max-height: none !important}
}
</style>"""
ABOUT = """\
Each point is a sentence; its colour and mark are its class. A method turns every sentence into a vector of many
numbers, the **embedding space**; the **picture** lays these vectors out in two or three dimensions, and no picture
keeps all of them. So each figure is given twice: measured in the embedding space, and in the picture. Trust the first.

* **inter / intra**: how far apart the centres of the classes are, over how wide the classes are. Larger: clearer.
* **silhouette**: from -1 to 1, whether a sentence is nearer to its own class (a) than to the next (b), on average.
* **Hit@1**: the share of sentences whose nearest neighbour is of their class.

Two colours are measured, sentence by sentence. **Trust**: of its 5 nearest in the embedding space, the share that is
among its 5 nearest in the picture. **What moved**: how much of its 10 nearest changed, from the left space to the right
one or from one epoch of a run to a later one; 0: none of them, 1: all.

**PCA** is linear: far apart means far apart. **t-SNE**, **UMAP** and **LLE** keep neighbours together; how large a
cluster looks, and how far from the next, means little there. Vectors have length one: near means a large cosine.
"""
FORMULAS = (
    r"\frac{\text{inter}}{\text{intra}} = \frac{\frac1C \sum_c \min_{c' \neq c} \|\mu_c - \mu_{c'}\|}"
    r"{\frac1n \sum_i \|x_i - \mu_{c(i)}\|}",
    r"\text{silhouette} = \frac1n \sum_i \frac{b_i - a_i}{\max(a_i, b_i)}",
    r"\text{Hit@1} = \frac1n \left|\{i : c(\arg\min_{j \neq i} \|x_i - x_j\|) = c(i)\}\right|",
)
THINNED = "{shown:,} of {all:,} sentences, {some:,} of {classes:,} classes are shown. {how} The sidebar can show more."
THINNED_BARE = "{shown:,} of {all:,} sentences are shown, drawn by a seed. The sidebar can show more."
NOT_FOUND = "nobody"
FOUND_BY = (
    "k-means makes as many classes as you say; density makes one of each dense region, as many as there are, and "
    "leaves what lies between them in the class none. They are found in the vectors of the first picture, and named by "
    "the words that set each apart from the others."
)
WHOLE = "Each class is whole; which classes are shown is drawn by a seed."
PARTS = "The same share of each class is drawn by a seed."
SEARCH = (marking.QUERY, "Search the sentences", "Search for words", 200)  # key, label, hint, letters
TYPE = (marking.TYPED, "Type a new sentence and see where it lands", "Type a new sentence", 2_000)
NOTHING_READ = "Click a point, search for words, or type a sentence: it is shown here in full, with its neighbours."
PLACED = "Where it lies: {how}."
UNKNOWN_ALL = (
    "{space} has never met any of these words: {words}. Its vector says nothing about the sentence, which "
    "therefore has no place in the picture and no neighbours."
)
UNKNOWN_SOME = "{space} has never met these words, and leaves them out: {words}."
EPOCHS_SHOWN = (
    "The {count} sentences are those of the run's probe, the same at every epoch, in axes that stay as they are. {how} "
    "The arrow keys move the slider from epoch to epoch; Play (reached by Tab, pressed by Enter) goes from the first "
    "to the one on the slider."
)
MEASURED_EPOCHS = """\
Measured on {count} sentences of the run's probe, the same at every epoch (0: before training), by cosine.

* **MAP@R, R-precision**: of a sentence whose class has R others, what its R nearest are; 1: all of its class. A tie is
  a miss, and MAP@R asks for the order, too.
* **alignment**: the mean squared distance of positive pairs. **uniformity**: the log of the mean of exp(-2 × squared
  distance) over all pairs; near -4 the sphere is covered evenly. A collapse has the best alignment, noise the best
  uniformity: read them together.
* **mean cosine, effective rank**: how far all vectors point one way, and how many directions the rest of them uses.
"""
HOW_EPOCHS = {
    "pca": "One PCA is made of all epochs together: a path is straight where that of the vectors is.",
    "tsne": "t-SNE starts each epoch from the picture before, in the unit of the first picture.",
    "umap": "UMAP starts each epoch from the picture before, in the unit of the first picture.",
    "lle": "The LLE of each epoch is turned to match the one before, in the unit of the first picture.",
}


# --- the view of now ---------------------------------------------------------------------------------------------


def sentences_of(opened: cached.Opened) -> tuple[Labelled, tuple[Any, ...], str]:
    """The sentences shown, the key that stands for them, and the line that chooses them."""
    parts = [TEST, ALL] if "test" in opened.corpus.splits and not opened.own else [ALL]
    part = st.sidebar.selectbox("Sentences", parts, key="part", **frame.KEEP)
    if part == TEST:
        return cached.sentences_shown(opened, "test", 0), (opened.key, "test"), PICTURED
    most = st.sidebar.select_slider(
        "Sentences at most", AMOUNTS, 1_000, format_func="{:,}".format, key="amount", **frame.KEEP
    )
    if marking.NO_WEBGL in st.session_state and most > UNDRAWN:
        most = UNDRAWN
        st.sidebar.warning(f"This browser has no WebGL: at most {most:,} sentences are drawn.")
    shown = cached.sentences_shown(opened, "all", most)
    return shown, (opened.key, most), POINTS.format(most=most)


def found_in(space: Space, shown: Labelled, key: tuple[Any, ...]) -> tuple[Labelled, tuple[str, int] | None]:
    """The sentences with the classes that are found in these vectors, and how: by which way, and how many.

    Sentences without labels have some at once; of others it is wished for, and is a colour beside their own classes.
    """
    bar, bare = st.sidebar, set(shown.labels) == {UNLABELLED}
    name = "found-bare" if bare else "found"
    colour = None if bare else partial(colour_by_found, name)
    way = bar.selectbox(
        "Classes found by",
        [NOT_FOUND, *WAYS],
        index=int(bare),
        format_func=lambda way: WAYS.get(way, way),
        key=name,
        on_change=colour,
        help=FOUND_BY,
        **frame.KEEP,
    )
    if way == NOT_FOUND:
        return shown, None
    count = bar.slider("Classes to find", 2, 36, 12, key="found-count", **frame.KEEP) if way == "kmeans" else 0
    if way == "density" and (seconds := seconds_of_hdbscan(len(shown))) > 3:
        bar.caption(f"Density of {len(shown):,} sentences takes about {lasting(seconds)}, once.")
    return cached.with_classes_found(space, shown, key, way, count), (way, count)


def colour_by_found(name: str) -> None:
    """Somebody has asked for classes to be found: they colour the points; or no more, and the own ones do."""
    st.session_state["colour"] = CLASS if st.session_state[name] == NOT_FOUND else cached.FOUND


def save_found(shown: Labelled) -> None:
    """The classes that were found, as a file, or as the corpus of all pages."""
    found = shown.extra.get(cached.FOUND, shown.labels)
    rows = [{"text": text, "label": label} for text, label in zip(shown.texts, found, strict=True)]
    with st.popover("Use the classes found", icon=":material/category:", type="tertiary", key="use-found"):
        st.caption(f"{len(rows):,} sentences in {len(set(found)):,} classes, as a corpus with the columns text, label.")
        frame.csv_button(lambda: rows, "found", "found")
        use = partial(choosing.use_found, shown.texts, found)
        st.button("Make them the corpus of all pages", key="found-corpus", on_click=use)


def look_of(opened: cached.Opened, shown: Labelled | None, *, moved: bool = True) -> Look:
    """How to draw it, from the sidebar; without sentences of the corpus the view is that of the epochs. `moved`: there
    are two spaces to compare."""
    bar, keep, epochs = st.sidebar, frame.KEEP, shown is None
    bar.header("Picture")
    how = bar.radio(
        "Arranged by", list(NAMES), index=1, format_func=NAMES.__getitem__, horizontal=True, key="how", **keep
    )
    count = 0 if shown is None else len(shown)
    flat = epochs or how not in SOLID or count > PRINTED
    solid = bar.toggle("In three dimensions (PCA, UMAP)", key="solid", disabled=flat, **keep) and not flat
    named = [CLASS] if shown is None else columns(shown)
    by = bar.selectbox("Colour", [*named, *measured_columns(shown, moved=moved)], key="colour", **keep)
    most = bar.slider("Classes with a colour of their own", 2, 36, 12, key="classes", **keep)
    as_map = not solid and wants_map(count)
    labels = LABELS[0] if epochs else bar.selectbox("Labels", LABELS, key="labels", disabled=solid, **keep)
    density = bar.toggle(
        "Lines of equal density", value=count > MOST, key="density", disabled=epochs or solid or as_map, **keep
    )
    if count > LONGEST.get(how, count):
        bar.info(f"{NAMES[how]} of {count:,} sentences takes minutes: PCA is shown. Choose fewer sentences.")
        how = "pca"
    order = cached.classes_of_corpus(opened)[0]
    if order == (UNLABELLED,) and shown is not None:  # the largest of the classes found first
        sizes = Counter(shown.labels)
        order = tuple(sorted(sizes, key=lambda name: (name == NO_CLASS, -sizes[name], name)))
    return Look(how, 3 if solid else 2, by, most, density and not epochs, order, labels, as_map)


def wants_map(count: int) -> bool:
    """Whether so many sentences are drawn as a map: what plotly draws can be printed, and is asked for if wished."""
    if count <= PLOTTED or marking.NO_WEBGL in st.session_state:
        return False
    about = (
        "An image of lines and shapes, that can be saved as SVG or HTML; slower, and a lasso ends at a few thousand."
    )
    printed = count <= PRINTED
    plotted = st.sidebar.toggle(
        "Draw by plotly, for print", key="plotly", disabled=not printed, help=about, **frame.KEEP
    )
    return not (plotted and printed)


def show_thinned(opened: cached.Opened, shown: Labelled) -> None:
    """How many of how many, where not all are shown."""
    classes, every = cached.classes_of_corpus(opened)
    if len(shown) < every:
        if classes == (UNLABELLED,):
            st.caption(THINNED_BARE.format(shown=len(shown), all=every))
            return
        some = len(set(shown.labels))
        how = WHOLE if FEW < some < len(classes) else PARTS
        st.caption(THINNED.format(shown=len(shown), all=every, some=some, classes=len(classes), how=how))


def show_now(opened: cached.Opened, chosen: dict[str, Space], bar: Sequence[Any]) -> None:
    """The sentences of the corpus in the spaces as they are."""
    shown, key, line = sentences_of(opened)
    shown, found = found_in(next(iter(chosen.values())), shown, key)
    look = look_of(opened, shown, moved=len(chosen) == 2)
    query, typed = typed_text(bar[0], *SEARCH), typed_text(bar[1], *TYPE)
    clear_button(bar[2])
    if key[1] != "test":
        show_thinned(opened, shown)
    left, right = st.columns(WIDTHS[len(chosen)])
    with left:
        columns = zip(chosen, st.columns(len(chosen)), strict=True)
        slots = {name: column.container(gap="xxsmall") for name, column in columns}
        below, saves = st.container(), st.container(horizontal=True)
    names, pictures = ({name: slot.container(gap=None) for name, slot in slots.items()} for _ in range(2))
    arranged = (look.how, look.dimensions, *(space.key for space in chosen.values()))
    marking.update_marks(key, arranged, (look, found, query, typed), len(shown))
    for name, space in chosen.items():
        with names[name]:
            show_name(space)
    placed = [opened_side(name, space, shown, key, look, pictures[name]) for name, space in chosen.items()]
    sides = [replace(side, key=(key, found)) for side, _ in placed]  # whose figures are those of the classes found
    landed = {side.name: landing(typed, side) for side in sides} if typed else {}
    matches = matching(shown.texts, query, most=LISTED) if query else None
    coloured = []
    for side, (_, place) in zip(sides, placed, strict=True):
        with place:
            coloured.append(in_colour(side, look, sides[0], sides[-1]))
    legends = look.legends([side.shown for side in coloured])
    for side, (_, place), legend in zip(coloured, placed, legends, strict=True):
        star = landed[side.name].where if typed else None
        with place:
            show_plain(
                side,
                look,
                sides[0],
                frame.Saving(f"Save the {side.name}" if len(sides) > 1 else "Save", saves, partial(save_vectors, side)),
                legend=legend,
                landed=None if star is None else star.points,
                **marks_on(side, sides, matches, whole=look.as_map),
            )
    st.html(marking.RING, unsafe_allow_javascript=True)
    with right:
        show_reading(sides, matches, landed, opened, typed)
    with slots[sides[-1].name] if len(sides) > 1 else below:  # beside the legend
        show_figures(sides, st.container())  # after the pictures, so that they do not wait for the figures
    if found:
        with saves:
            save_found(shown)
    with left:
        show_list(sides, matches)
    for side in sides:
        landmarks = cached.landmarks_for(look.how, len(shown))
        among = "" if landmarks is None else f", landmarks={landmarks}"
        values = {"shown": line, "dimensions": look.dimensions, "landmarks": among}
        show_side_code(CODE, side, sides, opened, look, **values | code_of(found, side, sides[0]))


# --- the sentences behind the points: to search, to type, to read ------------------------------------------------


def typed_text(column: Any, key: str, label: str, hint: str, most: int) -> str:
    """What to search for, or a sentence of the visitor's own; it stays out of the address."""
    text: str = column.text_input(label, key=key, max_chars=most, placeholder=hint, label_visibility="collapsed")
    return text.strip()


def clear_button(column: Any) -> None:
    """One button for all that is marked, searched for, typed and read."""
    about = "Clear what is marked, searched for, typed and read."
    column.button("Clear", key="clear", on_click=marking.clear, help=about, width="stretch")


def marked_rows(brush: Brush, sides: list[Side], onto: Side) -> list[int] | None:
    """What is marked, as rows of the sentences of `onto`; None where nothing is."""
    marked = next((side for side in sides if side.name == marking.state_of_marks().source), None)
    if marked is None or not brush:
        return None
    return rows_with_same_text(
        marking.rows_inside(brush, marked.picture).tolist(), marked.shown.texts, onto.shown.texts
    )


def marks_on(side: Side, sides: list[Side], matches: list[int] | None, *, whole: bool = False) -> dict[str, Any]:
    """What stands out in the picture of a side: what is marked, what is found, and the sentence that is read.

    A map is told the `whole`; plotly shows some of it by itself.
    """
    state, texts = marking.state_of_marks(), sides[0].shown.texts
    row = marking.read_row(len(texts))
    ring = row if whole else state.ring(side.name, row)
    here = partial(rows_with_same_text, texts=texts, onto=side.shown.texts)
    return {
        "chosen": marked_rows(state.now if whole else state.of(side.name), sides, side),
        "found": here(matches or []),
        "ring": next(iter(here([] if ring is None else [ring])), None),
    }


def show_list(sides: list[Side], matches: list[int] | None) -> None:
    """The sentences that are found, else those that are marked, as a table below the pictures."""
    shown, rows = sides[0].shown, marked_rows(marking.state_of_marks().now, sides, sides[0])
    if rows is None and matches is None:
        return
    lines = [
        {"row": row, **({} if shown.labels[row] == UNLABELLED else {"class": shown.labels[row]})}
        | {"sentence": shown.texts[row]}
        for row in rows_to_read(shown, rows, matches)
    ]
    alt = "Marked or found sentences with row number and class."
    frame.table(lines, alt, widths={"row": "small", "class": "small"}, height=215)


def rows_to_read(shown: Labelled, rows: list[int] | None, matches: list[int] | None) -> list[int]:
    """What is searched for is sought everywhere, and goes before what is marked; else all that there is."""
    if matches is not None:
        return matches
    return list(range(len(shown)) if rows is None else rows)[:LISTED]


def show_reading(
    sides: list[Side],
    matches: list[int] | None,
    landed: Mapping[str, Landed],
    opened: cached.Opened | None = None,
    typed: str = "",
) -> None:
    """Show beside the pictures what is marked or found, the sentence that is read, and the nearest to it.

    With the corpus each neighbour has the question why it is near.
    """
    first = sides[0]
    with st.container(height=PANEL, border=False, key="reading"):
        row = choose_row(first, marked_rows(marking.state_of_marks().now, sides, first), matches)
        if row is None and not landed:
            st.caption(NOTHING_READ)
        for side in sides:
            if side.name in landed:
                show_landed(side, landed[side.name], partial(why_near, typed, side, sides, opened))
        for side in sides:
            own = [] if row is None else rows_with_same_text([row], first.shown.texts, side.shown.texts)
            if own:
                ask = partial(why_near, side.shown.texts[own[0]], side, sides, opened)
                show_neighbours("The sentence read", side, side.vectors()[0][own], ask, own[0])


def choose_row(side: Side, rows: list[int] | None, matches: list[int] | None) -> int | None:
    """How many are marked or found, what sets the marked ones apart, and the choice of one of them to read; its row,
    and the sentence whole."""
    shown = side.shown
    for name, listed in (("Found", matches), ("Marked", rows)):
        if listed is not None:
            more = f", the first {LISTED} of them" if name == "Found" and len(listed) >= LISTED else ""
            st.markdown(f"**{name} sentences**: {len(listed):,} of {len(shown):,}{more}")
    show_apart(side, rows or [])
    row = marking.read_row(len(shown))
    st.session_state[marking.READ] = row
    st.selectbox(
        "Sentence to read, with its nearest neighbours",
        sorted({*rows_to_read(shown, rows, matches), *([] if row is None else [row])}),
        index=None,
        format_func=lambda row: f"{row} · {shown.texts[row]}",
        placeholder="click a point, or choose here",
        key=marking.READ,
        on_change=marking.on_chosen,
    )
    if row is not None:
        label = shown.labels[row]
        st.text(shown.texts[row] + (f"\n— {label}" if label != UNLABELLED else ""))
    return row


def show_landed(side: Side, landed: Landed, ask: Ask) -> None:
    """The neighbours of a typed sentence; a warning, and none, where no word of it is known."""
    names = {"space": frame.plain(side.space.name), "words": frame.plain(", ".join(landed.unknown))}
    if landed.where is None:
        st.warning(UNKNOWN_ALL.format(**names))
        return
    if landed.unknown:
        st.warning(UNKNOWN_SOME.format(**names))
    show_neighbours("Your sentence", side, landed.row, ask)
    st.caption(PLACED.format(how=landed.where.how))


def show_neighbours(title: str, side: Side, asked: Any, ask: Ask, row: int | None = None) -> None:
    """The nearest in the embedding space, each sentence whole, and beside it the question why; `row` is the one asked
    about, if it is one of those shown."""
    near = partial(neighbours, side.space.method, asked, side.vectors()[0], side.shown, without=row)
    label = None if row is None else side.shown.labels[row]
    bare = set(side.shown.labels) == {UNLABELLED}

    def right() -> str | None:
        return next((each.text for each in near(k=len(side.shown)) if each.label == label), None)

    st.markdown(f"**{title}: nearest in the embedding space of {frame.plain(side.space.name)}**")
    for number, each in enumerate(near(), 1):
        tick = "✓ " if each.label == label else ""
        text, question = st.columns([4, 1], gap="small")
        of = "" if bare else f"{tick}{frame.plain(each.label)} · "
        text.markdown(f"{number}. **{each.similarity:.3f}** · {of}{frame.plain(each.text)}")
        with question:
            ask(number, each.text, row is None, right if label is not None and not tick else None)


def why_near(
    text: str,
    side: Side,
    sides: list[Side],
    opened: cached.Opened | None,
    number: int,
    neighbour: str,
    typed: bool,
    right: Callable[[], str | None] | None,
) -> None:
    """The question why a neighbour is near, in this space and in the one beside it."""
    if opened is None:  # vectors of an epoch, which no method has any more
        return
    spaces = [side.space, *(other.space for other in sides if other is not side)]
    name = f"{side.name}-{'typed' if typed else 'read'}-{number}"
    why.button(name, spaces, opened, text, neighbour, label=f"Why {number}?", icon=None, right=right)


# --- the view over the epochs ------------------------------------------------------------------------------------


def show_epochs(opened: cached.Opened, chosen: dict[str, Space], bar: Sequence[Any]) -> None:
    """Every side that was trained in epochs, all at the epoch of one slider, which goes into the bar above."""
    look = look_of(opened, None)
    trained = {name: space for name, space in chosen.items() if len(space.method.snapshots.epochs)}
    if not trained:
        choosing.show_command(choosing.NO_EPOCHS, "sentpwnet", opened, " --epochs 5")
        return
    journeys = {name: journey_of(name, space, look, opened) for name, space in trained.items()}
    epochs = sorted({int(epoch) for journey in journeys.values() for epoch in journey.epochs})
    with bar[1]:
        epoch = choosing.number_on_slider("Epoch", epochs, "epoch", epochs[-1], label_visibility="collapsed")
    places = {name: max(0, int(np.searchsorted(each.epochs, epoch, "right")) - 1) for name, each in journeys.items()}
    sides = [side_of(name, space, journeys[name], places[name]) for name, space in trained.items()]
    first = sides[0]
    arranged = (look.how, epoch, *(side.key for side in sides))
    marking.update_marks(("epochs", first.space.key), arranged, look, len(first.shown))
    query = typed_text(bar[0], *SEARCH)
    clear_button(bar[2])
    matches = matching(first.shown.texts, query, most=LISTED) if query else None
    left, right = st.columns(WIDTHS[len(sides)])
    columns, coloured = left.columns(len(sides)), []
    for column, side in zip(columns, sides, strict=True):
        with column:
            show_name(side.space)
            start = side_of(side.name, side.space, journeys[side.name], 0)
            coloured.append(in_colour(side, look, start, side).shown)
    for column, side, shown, legend in zip(columns, sides, coloured, look.legends(coloured), strict=True):
        with column:
            journey = replace(journeys[side.name], shown=shown)
            show_journey(journey, places[side.name], side, first, look, legend, marks_on(side, sides, matches))
    st.html(marking.RING + frame.BUTTONS, unsafe_allow_javascript=True)
    with right:
        show_reading(sides, matches, {})
    with left:
        st.caption(EPOCHS_SHOWN.format(count=len(first.shown), how=HOW_EPOCHS[look.how]))
        show_list(sides, matches)
    for side in sides:
        show_side_code(EPOCHS_CODE, side, sides, opened, look, common=look.how == "pca", at=places[side.name])


def show_measured(opened: cached.Opened, chosen: dict[str, Space], bar: Sequence[Any]) -> None:
    """The figures, the cosines and the spectrum of every side that was trained in epochs."""
    trained = {name: space for name, space in chosen.items() if len(space.method.snapshots.epochs)}
    if not trained:
        choosing.show_command(choosing.NO_EPOCHS, "sentpwnet", opened, " --epochs 5")
        return
    measured = {name: cached.measured_epochs(space) for name, space in trained.items()}
    names = {name: f"{name}, {space.name}" if len(trained) > 1 else space.name for name, space in trained.items()}
    histories = {names[name]: history for name, (history, _) in measured.items()}
    shown = probe_columns(histories)
    frame.picture(
        figures.training_curves(histories, shown),
        key="probe_curves",
        alt=f"Figures of the probe over the epochs of {', '.join(histories)}: {', '.join(map(spoken, shown))}.",
        rows=lambda: [{"run": name, **line} for name, history in histories.items() for line in history.rows],
    )
    st.caption(MEASURED_EPOCHS.format(count=max(len(space.method.snapshots.texts) for space in trained.values())))
    for place, (name, space) in zip(st.columns(len(trained)), trained.items(), strict=True):
        with place:
            show_cosines(names[name], name, space, measured[name][1])


def show_cosines(title: str, side: str, space: Space, cosines: EpochCosines) -> None:
    """The hills of a side's cosines, and below them its spectrum."""
    first, last = cosines.means[0], cosines.means[-1]
    said = f"the means of positive and negative pairs go from {first[0]:.2f} and {first[1]:.2f} to {last[0]:.2f} and "
    st.markdown(f"**{frame.plain(title)}: cosines**")
    frame.picture(
        figures.cosine_ridges(cosines),
        key=f"cosine_ridges-{side}",
        alt=f"Cosines of {title} over {len(cosines.epochs)} epochs: {said}{last[1]:.2f}.",
        rows=cosines.rows,
    )
    st.markdown(f"**{frame.plain(title)}: spectrum**")
    frame.picture(
        figures.spectra_over_epochs(cosines),
        key=f"spectra-{side}",
        alt=f"Singular values of {title} as shares of their sum, over {len(cosines.epochs)} epochs.",
        rows=cosines.spectrum_rows,
    )
    choosing.show_code(MEASURED_CODE, space, of=title)


def journey_of(name: str, space: Space, look: Look, opened: cached.Opened) -> Journey:
    """A run's pictures; while they are made, its last one by PCA."""
    if look.how == "pca" or ("journey", space.key, look.how) in cached.made_before():
        return cached.arranged_epochs(space, look.how, opened)
    first = cached.arranged_epochs(space, "pca", opened)
    preview = st.empty()
    show_first_look(preview, name, first.pictures[-1], first.shown, look, 500)
    journey = cached.arranged_epochs(space, look.how, opened)
    preview.empty()
    return journey


def side_of(name: str, space: Space, journey: Journey, at: int) -> Side:
    """The side as it was at the `at`-th kept epoch."""
    rows = space.method.snapshots.vectors[at]
    return Side(name, space, journey.shown, (space.key, at), journey.pictures[at], lambda: (rows, unit(rows)))


def show_journey(
    journey: Journey, at: int, side: Side, first: Side, look: Look, legend: bool | None, marks: Mapping[str, Any]
) -> None:
    """The picture that plays, with what is marked on it, and below it the figures of the epoch it stands at."""
    where = f"epoch {journey.epochs[at]}"
    drawing = {"height": 480 if legend is None else 400, "legend": legend}
    figure = figures.clusters_over_epochs(journey, at=at, **drawing, **look.colours(journey.shown), **marks)
    show_side(figure, side, first, look, journey.rows)
    figures_table(st, [f"space, {where}", f"picture, {where}"], [journey.space[at], journey.drawn[at]])


def code_of(found: tuple[str, int] | None, side: Side, first: Side) -> dict[str, str]:
    """The lines that find the classes again, if there are any, and the order of their colours.

    They are found in the vectors of the first picture: another one's code makes these, too, before its own.
    """
    if found is None:
        return {"found": "", "order": ORDER}
    bare = cached.FOUND not in side.shown.extra
    as_what = "labels=found" if bare else f"extra={{**shown.extra, {cached.FOUND!r}: found}}"
    rows = "vectors" if side is first else "first.encode(shown.texts, normalize_embeddings=True)"
    way, count = found
    code = FOUND_CODE.format(rows=rows, way=way, count=count, what=as_what)
    return {"found": code, "order": ORDER_FOUND if bare else ORDER} | (
        {} if side is first else {"before": f"{first.space.code}\nfirst = method"}
    )


# --- the view of who moved ---------------------------------------------------------------------------------------


def show_who(opened: cached.Opened, chosen: dict[str, Space], bar: Sequence[Any]) -> None:
    """Two spaces over each other: those of the sides, or two epochs of a run."""
    options = comparisons(chosen)
    if not options:
        st.info(NOTHING_COMPARED)
        return
    with bar[0]:
        wanted = choose_comparison(options)
    clear_button(bar[2])
    if wanted.epochs_of:
        show_who_in_epochs(opened, chosen[wanted.epochs_of], wanted, bar[1])
        return
    shown, key, line = sentences_of(opened)
    look = replace(look_of(opened, shown), dimensions=2, as_map=False)
    arranged = ("who", look.how, *(space.key for space in chosen.values()))
    marking.update_marks(key, arranged, look, len(shown))
    box = st.container()
    sides = [opened_side(name, space, shown, key, look, box)[0] for name, space in chosen.items()]
    show_moved(*sides, (sides[0].space.name, sides[1].space.name), look)
    both = f"{sides[0].space.code}\nbefore = method\n{sides[1].space.code}\nafter = method"
    choosing.show_code(WHO_CODE, replace(sides[1].space, code=both), opened, shown=line, how=look.how)


def show_who_in_epochs(opened: cached.Opened, space: Space, wanted: Comparison, place: Any) -> None:
    """One epoch of a run over another one, at first the first and the last."""
    look, name = look_of(opened, None), wanted.epochs_of
    journey = journey_of(name, space, look, opened)
    epochs = [int(epoch) for epoch in journey.epochs]
    with place:
        ends = choosing.two_on_slider(
            "Two epochs", epochs, ("since", "epoch"), (epochs[0], epochs[-1]), label_visibility="collapsed"
        )
    if ends[0] == ends[1]:
        st.info(SAME_EPOCH.format(epoch=ends[0]))
        return
    first, at = map(epochs.index, ends)
    before, after = (side_of(name, space, journey, number) for number in (first, at))
    marking.update_marks(("epochs", space.key), ("who", look.how, *ends), look, len(journey.shown))
    names = tuple(f"{space.name} at epoch {number}" for number in ends)
    show_moved(before, after, (names[0], names[1]), look)
    choosing.show_code(WHO_EPOCHS_CODE, space, how=look.how, first=first, at=at)


# --- the page ----------------------------------------------------------------------------------------------------


def show_side_code(lines: str, side: Side, sides: list[Side], opened: cached.Opened, look: Look, **values: Any) -> None:
    """The lines that make the picture of a side."""
    of = side.title if len(sides) > 1 else ""
    space, measured = code_of_colour(side, sides, look, values.get("at"))
    if before := values.pop("before", ""):
        space = replace(space, code=f"{before}\n{space.code}")
    values |= {"by": look.by, "most": look.most, "measured": measured, "labels": CODE_OF_LABELS[look.labels]}
    choosing.show_code(lines, space, opened, of, how=look.how, **values)


def page() -> None:
    st.html(NARROW)
    frame.head("Clusters: what did training change?", ABOUT, *FORMULAS)
    opened = choosing.corpus()
    if opened is None:
        return
    left = choose_space("left", "Vectors", opened, optional=False)
    right = choose_space("right", "Beside them", opened, optional=True)
    chosen = {name: space for name, space in (("left", left), ("right", right)) if space is not None}
    if not chosen:
        return
    first, *bar = st.columns([4.8, 1.9, 2.3, 0.9], vertical_alignment="center")
    with first:
        view = frame.view(VIEWS)
    show = {NOW: show_now, EPOCHS: show_epochs, MEASURED: show_measured, WHO: show_who}[view]
    show(opened, chosen, bar)
    frame.show_link(own_file=opened.own)


PICTURED = """\
from labkit.lab.shipped import pictured
shown = pictured(corpus)"""
POINTS = """\
from labkit.corpora.relations import points
shown = points(corpus, classes=len(corpus), most={most})"""
CODE = """\
from labkit.figures import clusters
from labkit.projection import project
{shown}
vectors = method.encode(shown.texts, normalize_embeddings=True)
picture = project(vectors, {how!r}, {dimensions}{landmarks})
{found}
{measured}
clusters(picture, shown, by={by!r}, most={most}, order={order}{labels}).show()
"""
ORDER = "class_order(corpus)"
ORDER_FOUND = 'sorted(set(found), key=lambda name: (name == "none", -found.count(name), name))'
FOUND_CODE = """\
from dataclasses import replace
from labkit.evaluation.classes import found_clusters
from labkit.evaluation.regions import found_classes
found = found_classes(shown.texts, found_clusters({rows}, {way!r}, {count}))
shown = replace(shown, {what})"""
EPOCHS_CODE = """\
from labkit.corpora.relations import class_order
from labkit.figures import clusters_over_epochs
from labkit.projection.epochs import in_classes_of, journey
epochs = in_classes_of(journey(method.snapshots, {how!r}, common={common}), corpus)
{measured}
clusters_over_epochs(epochs, at={at}, by={by!r}, most={most}, order=class_order(corpus), named=True).show()
"""
MEASURED_CODE = """\
from labkit.evaluation.geometry import cosines_over_epochs, figures_over_epochs
from labkit.figures import cosine_ridges, spectra_over_epochs, training_curves
from labkit.figures.epochs import probe_columns
histories = {{"this run": figures_over_epochs(method.snapshots)}}
training_curves(histories, probe_columns(histories)).show()
cosine_ridges(cosines_over_epochs(method.snapshots)).show()
spectra_over_epochs(cosines_over_epochs(method.snapshots)).show()
"""
MOVED_LINES = """\
moved = movement(*spaces)
for group in moved_together(moved, shown.labels):
    print(group)
old, new = laid_over(*(project(rows, {how!r}) for rows in spaces))
clusters(new, shown, before=old.points, chosen=moved.ranked[:200], named=True).show()
movement_bars(moved).show()
"""
WHO_CODE = (
    """\
from labkit.evaluation import moved_together, movement
from labkit.figures import clusters, movement_bars
from labkit.projection import laid_over, project
{shown}
spaces = [method.encode(shown.texts, normalize_embeddings=True) for method in (before, after)]
"""
    + MOVED_LINES
)
WHO_EPOCHS_CODE = (
    """\
from labkit.evaluation import moved_together, movement
from labkit.figures import clusters, movement_bars
from labkit.projection import laid_over, project, unit
from labkit.projection.epochs import probe
shown = probe(method.snapshots)
spaces = [unit(method.snapshots.vectors[place]) for place in ({first}, {at})]
"""
    + MOVED_LINES
)

frame.run(page)
