"""The Why page: two sentences, the weight of their pair, the words that make them alike, and FILM's rows."""

from __future__ import annotations

from dataclasses import replace
from textwrap import shorten
from typing import Any

import cached
import choosing
import frame
import streamlit as st
import why
import why_pair

from labkit import figures
from labkit.film.reading import RowEnds, WordRow
from labkit.shipped import DEMONSTRATIONS

ABOUT = """\
**The weight.** Sentence a is the *anchor* of one row of the batch. The other sentences of its class are its positives,
and all the rest are its negatives. A **miner** selects some of the pairs. A **loss** is a function of their cosines.
The size of its slope is the **weight** of a pair: it says how hard the loss pulls a positive (same class) or pushes a
negative (other class). With the locality loss, the weight depends on how similar the pair is *by itself* and on how it
compares with *the anchor's other pairs*. With the informative miner, this is the multi-similarity loss (Wang et al.
2019).

**The words.** This view shows which words make the two sentences similar in the chosen vectors. For some methods, the
parts add up to the similarity.

**FILM's rows.** FILM learns a linear map **L** of TF-IDF vectors. Each **row** of L computes one number of the new
vector, and each word raises or lowers that number. The similarity of two sentences is a sum over rows. **Varimax**
rotates the rows without changing any similarity, so that each row depends on few words. Rows are less stable than
similarities: many do not reappear when FILM is fitted again.
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
VIEWS = [WEIGHT, WORDS, ROWS]
LAYOUT = """<style>
.st-key-tall-pair .stElementContainer:has(.stPlotlyChart) {height: max(22rem, 100vh - 23.5rem)}
.st-key-sentences p {font-size: 0.9rem; line-height: 1.4}
</style>"""
AT_ONCE, COLUMNS = 8, 4  # rows in the gallery
AT_ENDS = 4  # words at each end of a row
SENTENCES = 300  # searched for the highest and lowest of a row
LONGEST = 70  # letters of a sentence
LEARN = "Train FILM on {corpus} (up to a minute)"
ROW = (
    "Each row gives every sentence one number. A row where both numbers have the same sign pulls the pair together; "
    "other rows push it apart. Below each row are words and sentences with "
    "high (▲) and low (▼) numbers."
)
NO_FILM = "No FILM model has been trained on {corpus} yet."
TYPED = "Choose a sentence from the batch, or type your own. Your sentence replaces the chosen one and gets its class."


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


def film_of(chosen: choosing.Space, opened: cached.Opened) -> choosing.Space | None:
    """The chosen vectors if they are FILM's, FILM trained here on request, or the bundled run on this corpus."""
    if chosen.method.name == "film":
        return chosen
    names = choosing.lab_runs("film", opened.corpus.name)
    if st.query_params.get("film") != "true":
        if names:
            run = DEMONSTRATIONS[names[0]]
            return choosing.run_in(run.folder, run.name)
        st.markdown(NO_FILM.format(corpus=frame.plain(opened.in_code)))
        label = LEARN.format(corpus=frame.plain(opened.in_code))
        into_address = {"on_click": st.query_params.update, "args": ({"film": "true"},)}  # the notice then goes
        st.button(label, type="primary", icon=":material/model_training:", key="film", **into_address)
        return None
    frame.keep_in_address("film", "true")
    rows = st.slider("Maximum rows of L", 10, 100, 40, 10, key="dimension", width=260, **frame.KEEP)
    return choosing.fitted(opened, "film", dimension=rows)


def show_rows(chosen: choosing.Space, opened: cached.Opened, a: str, b: str) -> None:
    """The pair as a sum over rows, and the rows as a gallery, the largest part of this pair first."""
    film = film_of(chosen, opened)
    if film is None:
        return
    rotated = st.toggle("Varimax (same similarities, more readable rows)", True, key="varimax", **frame.KEEP)
    explained, places = cached.film_pair(film, rotated, a, b)
    if not explained.word_pairs:
        st.info(why.NOT_KNOWN)
        return
    why.say_unknown(explained.unknown)
    of_rows = sum(part for _, part in explained.rows)
    st.markdown(
        f"**This pair by rows: {of_rows:.4f} from the rows of L + {explained.shared:.4f} from words in common = "
        f"{explained.similarity:.4f}** {ROW}"
    )
    rows = {row.number: row for row in cached.film_rows(film, rotated)}
    ends = cached.film_ends(film, rotated, opened, SENTENCES)
    start = choosing.number_on_slider("From the largest part", range(1, len(rows) + 1, AT_ONCE), "first", 1) - 1
    shown = explained.rows[start : start + AT_ONCE]
    for place in range(0, len(shown), COLUMNS):
        for column, (number, part) in zip(st.columns(COLUMNS), shown[place : place + COLUMNS], strict=False):
            with column, st.container(border=True):
                moves = "pulls the pair together" if part > 0 else "pushes it apart"
                st.markdown(f"**Row {number + 1}** {moves}: **{part:+.3f}**")
                st.caption(f"a {places[0, number]:+.2f}, b {places[1, number]:+.2f} on this row")
                show_row(rows[number], ends[number])
    alt = f"Steps that add up to the similarity {explained.similarity:.3f}: the part of each row of L."
    frame.picture(figures.explained_rows(explained), key="explained_rows", alt=alt, rows=explained.table)
    turned = TURNED if rotated else ""
    choosing.show_code(turned + PAIR_CODE, film, opened if "corpus" in film.code else None, "by rows", a=a, b=b)


def show_row(row: WordRow, ends: RowEnds) -> None:
    """The words of a row as a small picture, and its highest and lowest sentences."""
    few = replace(row, positive=row.positive[:AT_ENDS], negative=row.negative[:AT_ENDS])
    alt = (
        f"Bars: the words with the largest effects on row {row.number + 1}; blue words raise it, orange words lower it."
    )
    bare = {"displayModeBar": False}
    st.plotly_chart(figures.row_words(few, height=190), key=f"row-{row.number}", alt=alt, config=bare)
    for sign, texts in (("▲", ends.highest), ("▼", ends.lowest)):
        st.text("\n".join(f"{sign} {shorten(text, LONGEST, placeholder=' …')}" for text in texts) or f"{sign} none")


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
        why_pair.show(opened, chosen, batch, how, (anchor, other))
    frame.show_link(own_file=opened.own)


TURNED = """\
from labkit.film.reading import readable
method.L = readable(method.L.astype(float), method.words)
"""
PAIR_CODE = """\
from labkit.figures import explained_rows
explained_rows(method.explain({a!r}, {b!r})).show()
"""
frame.run(page)
