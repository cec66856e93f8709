"""Page "Clusters": what a method does to a space of sentences, as pictures of it, two beside each other if wanted."""

from __future__ import annotations

from typing import Any

import brushing
import cached
import choosing
import frame
import spaces
import streamlit as st
from clusters_epochs import show_epochs
from clusters_reading import LISTED, inputs, landing, marked_rows, show_reading
from clusters_sides import Look, draw, opened_side, save_vectors, show_figures
from clusters_text import ABOUT, CODE, FORMULAS

from labkit.brush import MOST
from labkit.corpora import Labelled
from labkit.figures.colouring import CLASS, columns
from labkit.neighbourhood import matching
from labkit.projection import NAMES

NOW, EPOCHS = VIEWS = ["Sentences", "Over the epochs"]
TEST, ALL = "of the test split", "of all splits"
AMOUNTS = (300, 1_000, 2_000, 5_000, 20_000, 100_000)
LONGEST = {"pca": 100_000, "tsne": 20_000, "umap": 20_000, "lle": 5_000}  # sentences that somebody can wait for
SOLID = ("pca", "umap")
NARROW = "<style>@media (max-width: 640px) {.stMarkdown table :is(th, td) {padding: 0.3rem 0.4rem}}</style>"


def sentences_of(opened: cached.Opened) -> tuple[Labelled, tuple[Any, ...], str]:
    """The sentences shown, the key that stands for them, and the line that chooses them."""
    parts = [TEST, ALL] if "test" in opened.corpus.splits and not opened.own else [ALL]
    part = st.sidebar.selectbox("Sentences", parts, key="part", **frame.KEEP)
    if part == TEST:
        return cached.sentences(opened.corpus, opened.key, "test", 0), (opened.key, "test"), "pictured(corpus)"
    most = st.sidebar.select_slider("… at most", AMOUNTS, 1_000, format_func="{:,}".format, key="amount", **frame.KEEP)
    shown = cached.sentences(opened.corpus, opened.key, "all", most)
    return shown, (opened.key, most), f"points(corpus, classes=len(corpus), most={most})"


def look_of(shown: Labelled | None) -> Look:
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
    return Look(how, 3 if solid else 2, by, most, density and not epochs)


def show_now(opened: cached.Opened, chosen: dict[str, spaces.Space]) -> None:
    """The sentences of the corpus in the spaces as they are."""
    shown, key, line = sentences_of(opened)
    look = look_of(shown)
    slots = {name: column.container() for name, column in zip(chosen, st.columns(len(chosen)), strict=True)}
    tables, pictures = ({name: slot.container() for name, slot in slots.items()} for _ in range(2))
    below = st.container()
    with below:
        query, typed = inputs(typing=True)
    arranged = (look.how, look.dimensions, *(space.key for space in chosen.values()))
    state = brushing.marked(key, arranged, (look, query, typed), len(shown))
    made = [opened_side(name, space, shown, key, look, pictures[name]) for name, space in chosen.items()]
    sides = [side for side, _ in made]
    landed = {side.name: landing(typed, side) for side in sides} if typed else {}
    ring = brushing.read(len(shown)) if state.ring else None
    inside = marked_rows(state.now, state.source, sides, sides[0])
    found = matching(shown.texts, query, inside, most=LISTED) if query.strip() else ()
    for side, place in made:
        rows = marked_rows(state.of(side.name), state.source, sides, side)
        star = landed[side.name][1].points if typed else None
        with place:
            draw(side, look, sides[0], chosen=rows, found=found, ring=ring, landed=star)
    for side in sides:  # after the pictures, so that they do not wait for the figures
        with slots[side.name]:
            show_figures(side, tables[side.name])
            save_vectors(side)
    with below:
        show_reading(sides, query, landed)
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
    narrow, wide = st.columns([1, 2])
    with narrow:
        view = frame.view(VIEWS)
    if view == EPOCHS:
        show_epochs(name_of(opened), chosen, look_of(None), wide)
    else:
        show_now(opened, chosen)
    frame.share(own_file=opened.own)


frame.run(page)
