"""Panel of "Why": FILM's rows as a gallery, each with its words and its highest and lowest sentences."""

from __future__ import annotations

from textwrap import shorten

import cached
import choosing
import frame
import numpy as np
import streamlit as st
import why

from labkit import figures
from labkit.film.reading import RowEnds, WordRow
from labkit.shipped import DEMONSTRATIONS

AT_ONCE, COLUMNS = 8, 4  # rows in the gallery
WORDS = 4  # of each end of a row
SENTENCES = 300  # among which the highest and lowest of a row are found
LONGEST = 70  # letters of a sentence
LEARN = "Train FILM here (up to a minute)"
ROW = "Each row computes one number of the new vector. Some words raise it, others lower it."
NOTHING = "No bundled FILM run was trained on this corpus. Train one here, or see FILM on questions."


def film_of(chosen: choosing.Space, opened: cached.Opened) -> choosing.Space | None:
    """The chosen vectors if they are FILM's, else the bundled run of this corpus; or FILM learned here on request."""
    if st.toggle(LEARN, key="film", **frame.KEEP):
        rows = st.slider("Rows of L, at most", 10, 100, 40, 10, key="dimension", width=260, **frame.KEEP)
        return choosing.fitted(opened, "film", dimension=rows)
    if chosen.method.name == "film":
        return chosen
    for name in choosing.lab_runs("film", opened.corpus.name):
        return choosing.run_in(DEMONSTRATIONS[name].folder, name)
    st.caption(NOTHING)
    questions = choosing.choose_corpus
    st.button("Show FILM on questions", on_click=questions, args=("questions",), type="primary", key="film-questions")
    return None


def show(chosen: choosing.Space, opened: cached.Opened, a: str, b: str) -> None:
    """The pair by rows, the gallery, and one row with all its components."""
    st.markdown(ROW)
    controls = st.container(horizontal=True, vertical_alignment="bottom")
    with controls:
        film = film_of(chosen, opened)
    if film is None:
        return
    with controls:
        rotated = st.toggle("Varimax: same similarities, rows easier to read", True, key="varimax", **frame.KEEP)
        stable = st.toggle("Stability of each row (three more fits)", key="stability", disabled=rotated, **frame.KEEP)
    rows = cached.film_rows(film, rotated, stable and not rotated, opened)
    with controls, st.container(width=320):
        starts = range(0, len(rows), AT_ONCE)
        start = choosing.number_on_slider("First row shown (0 is the strongest)", starts, "first", 0)
    ends = cached.film_ends(film, rotated, opened, SENTENCES)
    shown = rows[start : start + AT_ONCE]
    share = sum(row.share for row in shown)
    st.markdown(f"**These {len(shown)} of {len(rows)} rows make up {share:.0%} of the map.**")
    for place in range(0, len(shown), COLUMNS):
        for column, row in zip(st.columns(COLUMNS), shown[place : place + COLUMNS], strict=False):
            with column, st.container(border=True):
                show_row(row, ends[row.number])
    show_components(film, opened, rows, rotated)
    show_pair(film, opened, a, b)


def show_row(row: WordRow, ends: RowEnds) -> None:
    """One row as a small picture, with its highest and lowest sentences."""
    stability = "" if np.isnan(row.stability) else f" · stability {row.stability:.2f}"
    st.caption(f"**Row {row.number}** · {row.share:.1%} · about {row.effective_words:.0f} words{stability}")
    few = WordRow(row.number, row.share, row.positive[:WORDS], row.negative[:WORDS], row.effective_words, row.stability)
    picture = figures.row_words(few, height=190)
    alt = f"Bars: the words with the largest effects on row {row.number}; blue pulls it up, orange down."
    st.plotly_chart(picture, key=f"row-{row.number}", alt=alt, config={"displayModeBar": False})
    for sign, texts in (("▲", ends.highest), ("▼", ends.lowest)):
        st.text("\n".join(f"{sign} {shorten(text, LONGEST, placeholder=' …')}" for text in texts) or f"{sign} none")


def show_components(film: choosing.Space, opened: cached.Opened, rows: tuple[WordRow, ...], rotated: bool) -> None:
    """One row with all its components, and the strengths of all rows."""
    with st.expander("All components of one row, and the strength of every row"):
        place = choosing.number_on_slider("Row (0 is the strongest)", range(len(rows)), "row", 0)
        row, L = rows[place], cached.film_matrix(film, rotated)
        names = film.method.words.names
        left, right = st.columns([2, 1])
        with left:
            alt = f"A line for each of {L.shape[1]} components of row {row.number}, the largest with their words."
            frame.picture(
                figures.row_components(L[row.number], names, height=380),
                key="row_components",
                alt=alt,
                rows=lambda: [{"word": w, "component": c} for w, c in zip(names, L[row.number].tolist(), strict=True)],
            )
        with right:
            alt = f"Bars: the words with the largest effects on row {row.number}; blue pulls it up, orange down."
            frame.picture(figures.row_words(row), key="row_words", alt=alt, rows=row.words)
        alt = f"Bars: the share of each of {len(rows)} rows of L, the strongest first. Row {row.number} is chosen."
        picture = figures.row_strengths(rows, chosen=row.number, height=230)
        frame.picture(picture, key="row_strengths", alt=alt, rows=lambda: [each.table() for each in rows])
        corpus = opened if "corpus" in film.code else None
        choosing.show_code(ROW_CODE, film, corpus, "one row", rotated=rotated, number=row.number)


def show_pair(film: choosing.Space, opened: cached.Opened, a: str, b: str) -> None:
    """The similarity of the two sentences as a sum over rows, with what words in common add."""
    explained = cached.explained(film, a, b, "exact")
    if not explained.word_pairs:
        return
    why.say_unknown(explained.unknown)
    of_rows = sum(part for _, part in explained.rows)
    st.markdown(
        f"**This pair by rows: {of_rows:.4f} from the rows of L + {explained.shared:.4f} from words in common = "
        f"{explained.similarity:.4f}**"
    )
    alt = f"Steps that add up to the similarity {explained.similarity:.3f}: the part of each row of L."
    frame.picture(figures.explained_rows(explained), key="explained_rows", alt=alt, rows=explained.table)
    corpus = opened if "corpus" in film.code else None
    choosing.show_code(PAIR_CODE, film, corpus, "by rows", a=a, b=b)


ROW_CODE = """\
from labkit.figures import row_words
row_words(method.rows(top=10, rotated={rotated})[{number}]).show()
"""
PAIR_CODE = """\
from labkit.figures import explained_rows
explained_rows(method.explain({a!r}, {b!r})).show()
"""
