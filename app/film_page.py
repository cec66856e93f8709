"""Page "FILM rows": a learned metric one can read, by its rows, by a pair of sentences, and by its rule."""

from __future__ import annotations

from functools import partial

import cached
import choosing
import frame
import numpy as np
import streamlit as st
import why

from labkit import figures

FITTED = "learned here"
ROWS, PAIR, RULE = VIEWS = ["Rows", "Two sentences", "Mutual neighbours"]
SENTENCES = 300
ABOUT = """\
FILM learns a linear map **L** of TF-IDF rows from triplets "i is closer to j than to k". Each **row** of L is one
number of the new vector; a word pulls it up or down by its component times how much of the word sentences usually have.
The similarity of two sentences is a sum over rows, over words, or over pairs of words: the parts add up to it exactly.
Rows themselves are less firm than similarities: refitted to other anchors many do not return, which **stability** says
(1: the row returns). **Varimax** turns the rows, without changing a single similarity, until few words carry each.
"""
FORMULAS = (
    r"y = L x",
    r"\text{similarity} = s\,\hat x_a \cdot \hat x_b + (1-s)\,\hat y_a \cdot \hat y_b",
    r"\text{part of row } l = (1-s)\,\hat y_{al}\,\hat y_{bl}",
    r"\text{same} \iff \max(\text{rank}_a(b),\, \text{rank}_b(a)) \le k",
)


def film_of(opened: cached.Opened) -> choosing.Space | None:
    """FILM learned from the corpus on the spot, or a stored run of it."""
    st.sidebar.header("FILM")
    how = st.sidebar.radio("The map L", [FITTED, choosing.STORED], key="film", **frame.KEEP)
    if how == choosing.STORED:
        return choosing.stored_run(opened, "film")
    rows = st.sidebar.slider("Rows of L, at most", 10, 100, 40, 10, key="dimension", **frame.KEEP)
    return choosing.fitted(opened, "film", dimension=rows)


def show_map(chosen: choosing.Space, opened: cached.Opened, code: partial[None]) -> None:
    """All rows by strength; of one row its words, and all its components."""
    left, right = st.columns(2, vertical_alignment="bottom")
    with left:
        rotated = st.toggle("Varimax: same similarities, rows easier to read", True, key="varimax", **frame.KEEP)
        stable = st.toggle("Stability of each row (three more fits)", key="stability", disabled=rotated, **frame.KEEP)
    rows = cached.film_rows(chosen, rotated, stable and not rotated, opened)
    with right:
        place = choosing.number_on_slider("Row to read, by its place; 0 is the strongest", range(len(rows)), "row", 0)
    row, L = rows[place], cached.film_matrix(chosen, rotated)
    number = row.number
    stability = "" if np.isnan(row.stability) else f", stability {row.stability:.2f}"
    words, components = st.columns(2)
    with words:
        st.markdown("**Words that pull it up and down**")
        carried = f"carried by about {row.effective_words:.0f} words{stability}"
        st.caption(f"row number {number}: {row.share:.1%} of the whole, {carried}")
        alt = f"Bars: the words with the largest effects on row {number}; blue pulls it up, orange down."
        frame.picture(figures.row_words(row), key="row_words", alt=alt, rows=row.words)
    with components:
        st.markdown("**All its components** (figure 5)")
        st.caption("each word's component of this row of L, the largest with their words")
        alt = f"A line for each of {L.shape[1]} components of row {number}, the largest with their words."
        names = chosen.method.words.names
        frame.picture(
            figures.row_components(L[number], names, height=420),
            key="row_components",
            alt=alt,
            rows=lambda: [{"word": w, "component": c} for w, c in zip(names, L[number].tolist(), strict=True)],
        )
    alt = f"Bars: the share of each of {len(rows)} rows of L, the strongest first. Row {number} is the one shown above."
    picture = figures.row_strengths(rows, chosen=number, height=230)
    frame.picture(picture, key="row_strengths", alt=alt, rows=lambda: [row.table() for row in rows])
    code(ROW_CODE, rotated=rotated, number=number)


def show_pair(chosen: choosing.Space, opened: cached.Opened, code: partial[None]) -> None:
    """Two sentences, chosen or typed, and their similarity taken apart."""
    texts = cached.some_sentences(opened, SENTENCES)
    left, right = st.columns(2)
    a, b = choosing.one_sentence(left, "a", texts, 0), choosing.one_sentence(right, "b", texts, 1)
    explained = cached.explained(chosen, a, b, "exact")
    rows, words = st.columns(2)
    with words:
        st.markdown("**By words**")
        why.explanation(chosen, opened, a, b)
    with rows:
        st.markdown("**By rows of L**")
        of_rows = sum(part for _, part in explained.rows)
        st.metric("rows of L + words in common", f"{of_rows:.4f} + {explained.shared:.4f}")
        if not explained.word_pairs:
            return
        alt = f"Steps that add up to the similarity {explained.similarity:.3f}: the part of each row of L."
        frame.picture(figures.explained_rows(explained), key="explained_rows", alt=alt, rows=explained.table)
        code(PAIR_CODE, of="by rows of L", a=a, b=b)


def show_rule(chosen: choosing.Space, opened: cached.Opened, code: partial[None]) -> None:
    """Figure 4: yes or no by mutual neighbours, for every k."""
    rule = cached.film_rule(chosen, opened)
    most = int(rule.test.k[-1])
    k = st.slider(
        "k", 1, most, rule.chosen, key="k", help="The slider starts at the k that was chosen on dev.", **frame.KEEP
    )
    at = rule.rows()[k - 1]
    with st.container(horizontal=True):
        for name in ("tpr", "tnr", "fpr", "fnr", "accuracy"):
            st.metric(name.upper() if len(name) == 3 else name, f"{at[name]:.3f}")
        st.metric("cross-entropy", f"{at['cross_entropy_two_level']:.3f}")
    alt = f"Rates and cross-entropy of the mutual-neighbour rule for k from 1 to {most}; dev chose k = {rule.chosen}."
    frame.picture(figures.mutual_rule_curves(rule, k=k), key="mutual_rule", alt=alt, rows=rule.rows)
    st.caption(
        f"Neighbours are sought among the {rule.sentences:,} sentences of test. The paper's cross-entropy counts yes "
        "as 1 and no as 0, so it is the share of mistakes times 34.5. The other gives yes and no the share of same "
        f"pairs that they had on dev, and chooses k there: {rule.chosen}, the dotted line."
        + (" The corpus has classes, no pairs: up to 2,000 of each kind were drawn at random." if rule.drawn else "")
    )
    code(RULE_CODE, k=k)


def page() -> None:
    frame.head("FILM: rows one can read", ABOUT, *FORMULAS)
    opened = choosing.corpus("questions")
    chosen = film_of(opened) if opened else None
    if opened is None or chosen is None:
        return
    show = {ROWS: show_map, PAIR: show_pair, RULE: show_rule}[frame.view(VIEWS, "part")]
    show(chosen, opened, partial(choosing.show_code, space=chosen, opened=opened))
    frame.show_link(own_file=opened.own)


ROW_CODE = """\
from labkit.figures import row_words
row_words(method.rows(top=10, rotated={rotated})[{number}]).show()
"""
PAIR_CODE = """\
from labkit.figures import explained_rows
explained_rows(method.explain({a!r}, {b!r})).show()
"""
RULE_CODE = """\
from labkit.figures import mutual_rule_curves
from labkit.film.rule import mutual_rule
mutual_rule_curves(mutual_rule(method, corpus), k={k}).show()
"""

frame.run(page)
