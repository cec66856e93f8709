"""The Why page: two sentences, the weight of their pair, the words that make them alike, and FILM's rows."""

from __future__ import annotations

from dataclasses import replace
from textwrap import shorten
from typing import Any

import cached
import choosing
import frame
import numpy as np
import streamlit as st
import why
import why_pair

from labkit import figures
from labkit.film.reading import RowEnds, WordRow
from labkit.shipped import DEMONSTRATIONS

ABOUT = """\
**The weight.** Sentence a is the *anchor* of one row of the batch. The other sentences of its class are its positives,
and all the rest are its negatives. A **miner** selects some of the pairs. A **loss** is a function of their cosines.
The size of its slope is the **weight** of a pair: it says how hard the loss pulls a positive or pushes a negative. With
the locality loss, the weight depends on how similar the pair is *by itself* and on how it compares with *the anchor's
other pairs*. With the informative miner, this is the multi-similarity loss (Wang et al. 2019).

**The words.** This view shows which words make the two sentences similar in the chosen vectors. For some methods, the
parts add up to the similarity.

**FILM's rows.** FILM learns a linear map **L** of TF-IDF vectors. Each **row** of L computes one number of the new
vector, and each word raises or lowers that number. The similarity of two sentences is a sum over rows. **Varimax**
rotates the rows without changing any similarity, so that each row depends on few words. Rows are less stable than
similarities: many do not reappear when FILM is fitted again. **Stability** measures this (1: the row reappears).
"""
FORMULAS = (
    r"w_{ij} = m \left|\frac{\partial L}{\partial S_{ij}}\right|",
    r"\text{positive: } w = \frac{1}{e^{\alpha(S_{ij}-\lambda)} + \sum_{k\in P_i} e^{\alpha(S_{ij}-S_{ik})}}",
    r"\text{negative: } w = \frac{1}{e^{\beta(\lambda-S_{ij})} + \sum_{k\in N_i} e^{\beta(S_{ik}-S_{ij})}}",
    r"\text{kept positive: } S_{ij} < \max_{k\in N_i} S_{ik} + \varepsilon",
    r"\text{kept negative: } S_{ij} > \min_{k\in P_i} S_{ik} - \varepsilon",
    r"\text{FILM: } y = L x,\qquad \text{similarity} = s\,\hat x_a \cdot \hat x_b + (1-s)\,\hat y_a \cdot \hat y_b",
)
WEIGHT, WORDS, ROWS = "The weight", "The words", "FILM's rows"
VIEWS = [WEIGHT, WORDS, ROWS, why_pair.CURVES]
LAYOUT = """<style>
.st-key-tall-pair .stElementContainer:has(.stPlotlyChart) {height: max(22rem, 100vh - 23.5rem)}
.st-key-sentences p {font-size: 0.9rem; line-height: 1.4}
</style>"""
AT_ONCE, COLUMNS = 8, 4  # rows in the gallery
AT_ENDS = 4  # words at each end of a row
SENTENCES = 300  # searched for the highest and lowest of a row
LONGEST = 70  # letters of a sentence
LEARN = "Train FILM here (up to a minute)"
ROW = "Each row computes one number of the new vector. Some words raise it, others lower it."
NO_FILM = "No FILM run was trained on {corpus}, so the rows of {name} are shown. Train FILM here to see your own."
ELSEWHERE = "questions"  # the corpus of the rows shown instead
TYPED = "Choose a sentence from the batch, or type your own. Yours replaces the chosen one and is given its class."


def two_sentences(batch: Any, first: tuple[int, int]) -> tuple[tuple[int, int], Any]:
    """The rows of both sentences, and the batch, in which a typed sentence replaces the chosen one."""
    texts, rows = list(batch.texts), []
    sides = (("Sentence a, the anchor", "anchor", first[0]), ("Sentence b", "other", first[1]))
    for label, key, default in sides:
        with frame.choices():
            row, text = choosing.row_and_text(label, batch.texts, key, default, typed=True, help=TYPED)
        rows.append(row)
        texts[row] = text
    with st.container(key="sentences"):
        for column, name, row in zip(st.columns(2), "ab", rows, strict=True):
            column.markdown(f"**{name} · {frame.plain(batch.classes[row])}** {frame.plain(texts[row])}")
    return (rows[0], rows[1]), replace(batch, texts=tuple(texts))


# --- FILM's rows -------------------------------------------------------------------------------------------------


def film_of(chosen: choosing.Space, opened: cached.Opened) -> tuple[choosing.Space, cached.Opened] | None:
    """FILM learned here on request, the chosen vectors if they are FILM's, or a bundled run; and its corpus."""
    if st.toggle(LEARN, key="film", **frame.KEEP):
        rows = st.slider("Maximum rows of L", 10, 100, 40, 10, key="dimension", width=260, **frame.KEEP)
        return choosing.fitted(opened, "film", dimension=rows), opened
    if chosen.method.name == "film":
        return chosen, opened
    names = choosing.lab_runs("film", opened.corpus.name) or choosing.lab_runs("film", ELSEWHERE)
    if not names:
        return None
    run = DEMONSTRATIONS[names[0]]
    of = opened if choosing.is_trained_on(run.folder, opened) else cached.lab_corpus(ELSEWHERE)
    return choosing.run_in(run.folder, run.name), of


def show_rows(chosen: choosing.Space, opened: cached.Opened, a: str, b: str) -> None:
    """The gallery of rows, and the pair by rows; if no run was trained on the corpus, the rows of another run."""
    st.markdown(ROW)
    controls = st.container(horizontal=True, vertical_alignment="bottom")
    with controls:
        found = film_of(chosen, opened)
    if found is None:
        return
    film, of = found
    if of is not opened:
        st.info(NO_FILM.format(corpus=frame.plain(opened.in_code), name=frame.plain(film.name)))
    with controls:
        rotated = st.toggle("Varimax (same similarities, more readable rows)", True, key="varimax", **frame.KEEP)
        stable = st.toggle("Stability of each row (three more fits)", key="stability", disabled=rotated, **frame.KEEP)
    rows = cached.film_rows(film, rotated, stable and not rotated, of)
    with controls, st.container(width=320):
        starts = range(0, len(rows), AT_ONCE)
        start = choosing.number_on_slider("First row shown (0 is the strongest)", starts, "first", 0)
    ends = cached.film_ends(film, rotated, of, SENTENCES)
    shown = rows[start : start + AT_ONCE]
    share = sum(row.share for row in shown)
    st.markdown(f"**These {len(shown)} of {len(rows)} rows make up {share:.0%} of the map.**")
    for place in range(0, len(shown), COLUMNS):
        for column, row in zip(st.columns(COLUMNS), shown[place : place + COLUMNS], strict=False):
            with column, st.container(border=True):
                show_row(row, ends[row.number])
    if of is opened:
        show_pair(film, opened, a, b)


def show_row(row: WordRow, ends: RowEnds) -> None:
    """One row as a small picture, with its highest and lowest sentences."""
    stability = "" if np.isnan(row.stability) else f" · stability {row.stability:.2f}"
    st.caption(f"**Row {row.number}** · {row.share:.1%} · about {row.effective_words:.0f} words{stability}")
    few = WordRow(
        row.number, row.share, row.positive[:AT_ENDS], row.negative[:AT_ENDS], row.effective_words, row.stability
    )
    picture = figures.row_words(few, height=190)
    alt = f"Bars: the words with the largest effects on row {row.number}; blue words raise it, orange words lower it."
    st.plotly_chart(picture, key=f"row-{row.number}", alt=alt, config={"displayModeBar": False})
    for sign, texts in (("▲", ends.highest), ("▼", ends.lowest)):
        st.text("\n".join(f"{sign} {shorten(text, LONGEST, placeholder=' …')}" for text in texts) or f"{sign} none")


def show_pair(film: choosing.Space, opened: cached.Opened, a: str, b: str) -> None:
    """The similarity of the two sentences as a sum over rows, plus the part of words in common."""
    explained = cached.explained(film, a, b, "exact")
    if not explained.word_pairs:
        return
    why.say_unknown(explained.unknown)
    of_rows = sum(part for _, part in explained.rows)
    st.markdown(
        f"**This pair by rows: {of_rows:.4f} from the rows of L + {explained.shared:.4f} from words in common = "
        f"{explained.similarity:.4f}**"
    )
    alt = f"Steps that add up to the similarity {explained.similarity:.3f}, one for each row of L."
    frame.picture(figures.explained_rows(explained), key="explained_rows", alt=alt, rows=explained.table)
    corpus = opened if "corpus" in film.code else None
    choosing.show_code(PAIR_CODE, film, corpus, "by rows", a=a, b=b)


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    st.html(LAYOUT)
    frame.head("Why this pair?", ABOUT, *FORMULAS)
    with frame.choices_behind("Data"):
        opened = choosing.corpus()
        if opened is not None:
            batch, how = why_pair.batch_of(opened)
    # the same initial vectors on every corpus, or Back would lead to others
    chosen = choosing.space(opened) if opened else None
    if opened is None or chosen is None:
        return
    first = why_pair.hardest_negative(batch, cached.batch_similarities(chosen, batch.texts))
    (anchor, other), batch = two_sentences(batch, first)
    a, b = batch.texts[anchor], batch.texts[other]
    view = frame.view(VIEWS)
    if view == WORDS:
        similarity = cached.batch_similarities(chosen, batch.texts)
        wrong = batch.negative[anchor, other]
        nearest = why_pair.nearest_positive(batch, similarity, anchor) if wrong else None
        why.explanation(chosen, opened, a, b, nearest)
    elif view == ROWS:
        show_rows(chosen, opened, a, b)
    else:
        why_pair.show(view, opened, chosen, batch, how, (anchor, other))
    frame.show_link(own_file=opened.own)


PAIR_CODE = """\
from labkit.figures import explained_rows
explained_rows(method.explain({a!r}, {b!r})).show()
"""
frame.run(page)
