"""The sentences behind the points of the page "Clusters": to search, to type, to read, with their neighbours."""

from __future__ import annotations

from typing import Any

import brushing
import frame
import numpy as np
import streamlit as st
from clusters_sides import Side

from labkit.brush import Brush, carried
from labkit.corpora import Labelled
from labkit.neighbourhood import matching, neighbours
from labkit.projection import Placement, place

LISTED = 500  # sentences

Landed = tuple[Any, Placement]


def inputs(*, typing: bool) -> tuple[str, str]:
    """What to search for, and a sentence of the visitor's own; both stay out of the address."""
    left, right = st.columns(2)
    query = left.text_input("Search the sentences", key="query", max_chars=200, placeholder="words, in any order")
    if not typing:
        return query, ""
    label, hint = "Type a new sentence and see where it lands", "it stays on this machine"
    return query, right.text_input(label, key="typed", max_chars=2_000, placeholder=hint).strip()


def landing(typed: str, side: Side) -> Landed:
    """The typed sentence's vector, and where it lies in the picture."""
    method = side.space.open()
    cosine = method.similarity_name == "cosine"
    row = method.encode([typed], normalize_embeddings=cosine)
    unit_row = row if cosine else row / np.maximum(np.linalg.norm(row), 1e-12)
    return row, place(side.picture, side.vectors()[1], unit_row)


def marked_rows(found: Brush, source: str, sides: list[Side], onto: Side) -> list[int] | None:
    """What is marked, as rows of the sentences of `onto`; None where nothing is."""
    marked = next((side for side in sides if side.name == source), None)
    if marked is None or not found:
        return None
    return carried(found.inside(marked.picture.points).tolist(), marked.shown.texts, onto.shown.texts)


def show_reading(sides: list[Side], query: str, landed: dict[str, Landed]) -> None:
    """What is marked or found, the sentence that is read, and the neighbours of it and of a typed one on every side."""
    first = sides[0]
    state: brushing.Marked = st.session_state[brushing.STATE]
    row = show_list(first.shown, marked_rows(state.now, state.source, sides, first), query)
    for column, side in zip(st.columns(len(sides)), sides, strict=True):
        with column:
            if side.name in landed:
                asked, where = landed[side.name]
                show_neighbours("Your sentence", side, asked)
                st.caption(f"Where it lies: {where.how}.")
            own = [] if row is None else carried([row], first.shown.texts, side.shown.texts)
            if own:
                show_neighbours("The sentence read", side, side.vectors()[0][own], own[0])


def show_list(shown: Labelled, rows: list[int] | None, query: str) -> int | None:
    """The marked or found sentences as text, and the choice of one of them to read; its row."""
    found = matching(shown.texts, query, rows, most=LISTED)
    if rows is not None or query.strip():
        count = len(found) if rows is None or query.strip() else len(rows)
        more = f", the first {LISTED} of them" if count >= LISTED else ""
        st.markdown(f"**{'Found' if rows is None else 'Marked'} sentences**: {count:,} of {len(shown):,}{more}")
        lines = [{"row": row, "class": shown.labels[row], "sentence": shown.texts[row]} for row in found]
        narrow = {name: st.column_config.Column(width="small") for name in ("row", "class")}
        alt = "Marked or found sentences with row number and class."
        st.dataframe(lines, hide_index=True, height=215, column_config=narrow, alt=alt)
    row = brushing.read(len(shown))
    st.session_state["read"] = row
    st.selectbox(
        "Sentence to read, with its nearest neighbours",
        sorted({*found, *([] if row is None else [row])}),
        index=None,
        format_func=lambda row: f"{row} · {shown.texts[row]}",
        placeholder="click a point, or choose here",
        key="read",
        on_change=brushing.chosen,
        args=("read",),
    )
    if row is not None:
        st.text(f"{shown.texts[row]}\n— {shown.labels[row]}")
    return row


def show_neighbours(title: str, side: Side, asked: Any, row: int | None = None) -> None:
    """The nearest in the embedding space, as a table; `row` is the one asked about, if it is one of those shown."""
    found = neighbours(side.space.open(), asked, side.vectors()[0], side.shown, without=row)
    label = None if row is None else side.shown.labels[row]
    st.markdown(f"**{title}: nearest in the embedding space of {frame.plain(side.space.name)}**")
    lines = [
        {
            "similarity": each.similarity,
            "class": ("✓ " if each.label == label else "") + each.label,
            "sentence": each.text,
        }
        for each in found
    ]
    st.dataframe(
        lines,
        hide_index=True,
        column_config={
            "similarity": st.column_config.NumberColumn(format="%.3f", width="small"),
            "class": st.column_config.Column(width="small"),
        },
        alt=f"The {len(found)} nearest sentences in the embedding space of this side, with similarity and class.",
    )
