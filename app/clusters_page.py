"""Page "Clusters": what a method does to a space of sentences, as pictures of it, two beside each other if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import brushing
import cached
import choosing
import frame
import spaces
import streamlit as st
from brush import MOST
from clusters_epochs import show_epochs
from clusters_reading import LISTED, clear, landing, marked_rows, search, show_list, show_reading, type_in
from clusters_sides import WIDTHS, Look, draw, opened_side, save_vectors, show_figures
from clusters_text import ABOUT, CODE, FORMULAS, PARTS, THINNED, WHOLE

from labkit.corpora import Labelled
from labkit.corpora.relations import FEW
from labkit.figures.clusters import CLASS, columns
from labkit.projection import NAMES
from labkit.projection.placement import matching

NOW, EPOCHS = VIEWS = ["Sentences", "Over the epochs"]
TEST, ALL = "of the test split", "of all splits"
AMOUNTS = (300, 1_000, 2_000, 5_000, 20_000, 100_000)
LONGEST = {"pca": 100_000, "tsne": 20_000, "umap": 20_000, "lle": 5_000}  # sentences that somebody can wait for
SOLID = ("pca", "umap")
NARROW = """<style>
.stMarkdown table :is(th, td) {padding: 0.25rem 0.3rem; font-size: 0.78rem}
.st-key-reading :is(p, li, [data-testid=stText]) {font-size: 0.875rem; line-height: 1.4}
.st-key-reading li {margin: 0 0 0.4rem 1.2rem; padding: 0}
@media (max-width: 640px) {
  :is(.st-key-reading, :has(> .st-key-reading)) {height: auto !important; max-height: none !important}
}
</style>"""


def sentences_of(opened: cached.Opened) -> tuple[Labelled, tuple[Any, ...], str]:
    """The sentences shown, the key that stands for them, and the line that chooses them."""
    parts = [TEST, ALL] if "test" in opened.corpus.splits and not opened.own else [ALL]
    part = st.sidebar.selectbox("Sentences", parts, key="part", **frame.KEEP)
    if part == TEST:
        return cached.sentences(opened.corpus, opened.key, "test", 0), (opened.key, "test"), "pictured(corpus)"
    most = st.sidebar.select_slider("… at most", AMOUNTS, 1_000, format_func="{:,}".format, key="amount", **frame.KEEP)
    shown = cached.sentences(opened.corpus, opened.key, "all", most)
    return shown, (opened.key, most), f"points(corpus, classes=len(corpus), most={most})"


def look_of(shown: Labelled | None, order: tuple[str, ...]) -> Look:
    """How to draw it, from the sidebar; without sentences of the corpus the view is that of the epochs."""
    bar, keep, epochs = st.sidebar, frame.KEEP, shown is None
    bar.header("Picture")
    how = bar.radio(
        "Arranged by", list(NAMES), index=1, format_func=NAMES.__getitem__, horizontal=True, key="how", **keep
    )
    flat = epochs or how not in SOLID
    solid = bar.toggle("In three dimensions (PCA, UMAP)", key="solid", disabled=flat, **keep) and not flat
    by = CLASS if shown is None else bar.selectbox("Colour", columns(shown), key="colour", **keep)
    most = bar.slider("Classes with a colour of their own", 2, 36, 12, key="classes", **keep)
    many = shown is not None and len(shown) > MOST
    density = bar.toggle("Lines of equal density", value=many, key="density", disabled=epochs or solid, **keep)
    if shown is not None and len(shown) > LONGEST[how]:
        bar.info(f"{NAMES[how]} of {len(shown):,} sentences takes minutes: PCA is shown. Choose fewer sentences.")
        how = "pca"
    return Look(how, 3 if solid else 2, by, most, density and not epochs, order)


def told_thinned(opened: cached.Opened, shown: Labelled) -> None:
    """How many of how many, where not all are shown."""
    every, classes = cached.all_sentences(opened.corpus, opened.key)
    if len(shown) < every:
        some = len(set(shown.labels))
        how = WHOLE if some < classes and some > FEW else PARTS
        st.caption(THINNED.format(shown=len(shown), all=every, some=some, classes=classes, how=how))


def show_now(opened: cached.Opened, chosen: dict[str, spaces.Space], bar: Sequence[Any]) -> None:
    """The sentences of the corpus in the spaces as they are."""
    shown, key, line = sentences_of(opened)
    look = look_of(shown, cached.classes(opened.corpus, opened.key))
    query, typed = search(bar[0]), type_in(bar[1])
    clear(bar[2])
    if key[1] != "test":
        told_thinned(opened, shown)
    left, right = st.columns(WIDTHS[len(chosen)])
    with left:
        slots = {name: column.container() for name, column in zip(chosen, st.columns(len(chosen)), strict=True)}
    tables, pictures = ({name: slot.container() for name, slot in slots.items()} for _ in range(2))
    arranged = (look.how, look.dimensions, *(space.key for space in chosen.values()))
    state = brushing.marked(key, arranged, (look, query, typed), len(shown))
    made = [opened_side(name, space, shown, key, look, pictures[name]) for name, space in chosen.items()]
    sides = [side for side, _ in made]
    landed = {side.name: landing(typed, side) for side in sides} if typed else {}
    read = brushing.read(len(shown))
    found = matching(shown.texts, query, most=LISTED) if query.strip() else []
    for side, place in made:
        rows = marked_rows(state.of(side.name), state.source, sides, side)
        star = landed[side.name].where if typed else None
        points = None if star is None else star.points
        with place:
            draw(side, look, sides[0], chosen=rows, found=found, ring=state.ring(side.name, read), landed=points)
    brushing.ringed()
    with right:
        show_reading(sides, query, found, landed)
    for side in sides:  # after the pictures, so that they do not wait for the figures
        with slots[side.name]:
            show_figures(side, tables[side.name])
            save_vectors(side)
    with left:
        show_list(shown, marked_rows(state.now, state.source, sides, sides[0]), query, found)
    settings = {"how": look.how, "dimensions": look.dimensions, "by": look.by, "most": look.most}
    for side in sides:
        lines = CODE.format(corpus=name_of(opened), method=side.space.code, shown=line, **settings)
        frame.code(lines, side.told if len(sides) > 1 else "")


def name_of(opened: cached.Opened) -> str:
    """As lines of code call it."""
    return "mine.csv" if opened.own else opened.corpus.name


def page() -> None:
    st.html(NARROW)
    frame.head("Clusters: what a method does to a space", ABOUT, *FORMULAS)
    opened = choosing.corpus()
    if opened is None:
        return
    left = spaces.choose("left", "Vectors", opened, optional=False)
    right = spaces.choose("right", "Beside them", opened, optional=True)
    chosen = {name: space for name, space in (("left", left), ("right", right)) if space is not None}
    if not chosen:
        return
    first, *bar = st.columns([2.6, 2.6, 3.2, 1], vertical_alignment="center")
    with first:
        view = frame.view(VIEWS)
    if view == EPOCHS:
        look = look_of(None, cached.classes(opened.corpus, opened.key))
        show_epochs(name_of(opened), opened, chosen, look, bar)
    else:
        show_now(opened, chosen, bar)
    frame.share(own_file=opened.own)


frame.run(page)
