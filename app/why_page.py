"""The Why page: two sentences, the weight of their pair, the words that make them alike, and FILM's rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cached
import choosing
import frame
import streamlit as st
import why
import why_film
import why_pair

ABOUT = """\
**The weight.** Sentence a is the *anchor* of one row of the batch. Sentences of its class are its positives, all others
are its negatives. A **miner** selects some of the pairs, and a **loss** is a function of their cosines. The size of its
slope is the **weight** of a pair: how hard the loss pulls a positive or pushes a negative. The *locality* loss with the
*informative* miner is the multi-similarity loss (Wang et al. 2019).

**The words.** The grid has a row for each of the words in a that contribute most, and a column for each such word in b.

**FILM's rows.** If the corpus has no FILM model, one is fitted when you open this view. A card says what a row
separates only if this is safe: a class must be apart from all others in test sentences (5 %, corrected for all classes
and rows), and the row must return when FILM is fitted to four fifths of the data, with a mean cosine of at least 0.7.
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
ANCHOR = "All pairs shown are those of the anchor. "
TYPED = "Choose a sentence from the batch, or type your own. Your sentence replaces the chosen one and gets its class."


def two_sentences(batch: Any, first: tuple[int, int]) -> tuple[tuple[int, int], Any]:
    """The rows of both sentences, and the batch, in which a typed sentence replaces the chosen one."""
    texts, rows = list(batch.texts), []
    sides = (("Sentence a, the anchor", "anchor", first[0]), ("Sentence b", "other", first[1]))
    for label, key, default in sides:
        with frame.choices():
            about = ANCHOR * (key == "anchor") + TYPED
            row, text = choosing.row_and_text(label, batch.texts, key, default, typed=True, help=about)
        rows.append(row)
        texts[row] = text
    return (rows[0], rows[1]), replace(batch, texts=tuple(texts))


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("Why this pair?", ABOUT, *FORMULAS)
    with frame.choices_behind("Data"):
        opened = choosing.corpus()
        if opened is None:
            return
        batch, how = why_pair.batch_of(opened)
        with st.container(horizontal=True, vertical_alignment="center", key="said"):
            view, said = frame.view(VIEWS), st.container(horizontal=True, vertical_alignment="center", width="stretch")
        # FILM's rows are always FILM's: there, the vectors only select the initial pair
        behind = choosing.space(opened) if view == ROWS else None
    chosen = behind or choosing.space(opened)
    similarity = cached.batch_similarities(chosen, batch.texts)
    (anchor, other), batch = two_sentences(batch, why_pair.hardest_negative(batch, similarity))
    pair, classes = (batch.texts[anchor], batch.texts[other]), (batch.classes[anchor], batch.classes[other])
    if view == WORDS:
        nearest = why_pair.nearest_positive(batch, chosen, anchor) if batch.negative[anchor, other] else None
        why.explanation(chosen, opened, pair, nearest, classes=classes, place=said)
    else:  # which do not show the sentences themselves
        with st.container(key="sentences"):
            for column, name, group, text in zip(st.columns(2), "ab", classes, pair, strict=True):
                column.markdown(f"**{name} · {frame.plain(group)}** {frame.plain(text)}")
        if view == ROWS:
            why_film.show(chosen, opened, pair, said)
        else:
            why_pair.show(opened, chosen, batch, how, (anchor, other), said)
    frame.show_link(own_file=opened.own)


frame.run(page)
