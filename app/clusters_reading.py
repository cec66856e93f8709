"""The sentences behind the points of the page "Clusters": to search, to type, to read, with their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import brushing
import frame
import streamlit as st
from brush import Brush, carried
from clusters_sides import Side
from clusters_text import LISTING, NOTHING_READ, PLACED, UNKNOWN_ALL, UNKNOWN_SOME

from labkit.corpora import Labelled
from labkit.evaluation.inputs import unit
from labkit.projection import Placement, place
from labkit.projection.placement import neighbours, unknown_words

LISTED = 500  # sentences
PANEL = 600  # pixels: as high as the pictures beside it, with their figures


@dataclass(frozen=True, eq=False)
class Landed:
    """A typed sentence's vector, and where it lies in the picture: nowhere if none of its words is known."""

    row: Any
    where: Placement | None
    unknown: tuple[str, ...]


def search(column: Any) -> str:
    """What to search for; it stays out of the address."""
    label = "Search the sentences"
    query: str = column.text_input(
        label, key=brushing.QUERY, max_chars=200, placeholder=f"{label}: words", label_visibility="collapsed"
    )
    return query


def type_in(column: Any) -> str:
    """A sentence of the visitor's own, which stays out of the address, too."""
    label, hint = "Type a new sentence and see where it lands", "Type a new sentence: where does it land?"
    typed: str = column.text_input(
        label, key=brushing.TYPED, max_chars=2_000, placeholder=hint, label_visibility="collapsed"
    )
    return typed.strip()


def clear(column: Any) -> None:
    """One button for all that is marked, searched for, typed and read."""
    about = "Take away what is marked, searched for, typed and read"
    column.button("Clear", key="clear", on_click=brushing.clear, help=about, width="stretch")


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


def marked_rows(found: Brush, source: str, sides: list[Side], onto: Side) -> list[int] | None:
    """What is marked, as rows of the sentences of `onto`; None where nothing is."""
    marked = next((side for side in sides if side.name == source), None)
    if marked is None or not found:
        return None
    return carried(found.inside(marked.picture.points).tolist(), marked.shown.texts, onto.shown.texts)


def show_list(shown: Labelled, rows: list[int] | None, query: str, found: list[int]) -> None:
    """The sentences that are found, else those that are marked, as a table below the pictures."""
    if rows is None and not query.strip():
        return
    told = listed(shown, rows, query, found)
    lines = [{"row": row, "class": shown.labels[row], "sentence": shown.texts[row]} for row in told]
    narrow = {name: st.column_config.Column(width="small") for name in ("row", "class")}
    alt = "Marked or found sentences with row number and class."
    st.dataframe(lines, hide_index=True, height=215, column_config=narrow, alt=alt)


def listed(shown: Labelled, rows: list[int] | None, query: str, found: list[int]) -> list[int]:
    """What is searched for is sought everywhere, and goes before what is marked; else all that there is."""
    if query.strip():
        return found
    return list(range(len(shown)) if rows is None else rows)[:LISTED]


def show_reading(sides: list[Side], query: str, found: list[int], landed: dict[str, Landed]) -> None:
    """Beside the pictures: what is marked or found, the sentence that is read, whole, and the neighbours of it and of a
    typed one on every side."""
    first = sides[0]
    state: brushing.Marked = st.session_state[brushing.STATE]
    rows = marked_rows(state.now, state.source, sides, first)
    with st.container(height=PANEL, border=False, key="reading"):
        row = choose(first.shown, rows, query, found)
        if row is None and not landed:
            st.caption(NOTHING_READ)
        for side in sides:
            if side.name in landed:
                show_landed(side, landed[side.name])
        for side in sides:
            own = [] if row is None else carried([row], first.shown.texts, side.shown.texts)
            if own:
                show_neighbours("The sentence read", side, side.vectors()[0][own], own[0])


def choose(shown: Labelled, rows: list[int] | None, query: str, found: list[int]) -> int | None:
    """How many are marked or found, and the choice of one of them to read; its row, and the sentence whole."""
    counts = [("Found", len(found))] if query.strip() else []
    counts += [("Marked", len(rows))] if rows is not None else []
    for name, count in counts:
        more = f", the first {LISTED} of them" if name == "Found" and count >= LISTED else ""
        st.markdown(LISTING.format(name=name, count=count, all=len(shown), more=more))
    row = brushing.read(len(shown))
    st.session_state[brushing.READ] = row
    st.selectbox(
        "Sentence to read, with its nearest neighbours",
        sorted({*listed(shown, rows, query, found), *([] if row is None else [row])}),
        index=None,
        format_func=lambda row: f"{row} · {shown.texts[row]}",
        placeholder="click a point, or choose here",
        key=brushing.READ,
        on_change=brushing.chosen,
        args=(brushing.READ,),
    )
    if row is not None:
        st.text(f"{shown.texts[row]}\n— {shown.labels[row]}")
    return row


def show_landed(side: Side, landed: Landed) -> None:
    """The neighbours of a typed sentence; a warning, and none, where no word of it is known."""
    names = {"space": frame.plain(side.space.name), "words": frame.plain(", ".join(landed.unknown))}
    if landed.where is None:
        st.warning(UNKNOWN_ALL.format(**names))
        return
    if landed.unknown:
        st.warning(UNKNOWN_SOME.format(**names))
    show_neighbours("Your sentence", side, landed.row)
    st.caption(PLACED.format(how=landed.where.how))


def show_neighbours(title: str, side: Side, asked: Any, row: int | None = None) -> None:
    """The nearest in the embedding space, each sentence whole; `row` is the one asked about, if it is one of those
    shown."""
    found = neighbours(side.space.open(), asked, side.vectors()[0], side.shown, without=row)
    label = None if row is None else side.shown.labels[row]
    lines = [
        f"{number}. **{each.similarity:.3f}** · {'✓ ' if each.label == label else ''}{frame.plain(each.label)} · "
        f"{frame.plain(each.text)}"
        for number, each in enumerate(found, 1)
    ]
    st.markdown(f"**{title}: nearest in the embedding space of {frame.plain(side.space.name)}**")
    st.markdown("\n".join(lines))
