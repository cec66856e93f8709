"""A piece of "Papers": FILM's rule of mutual neighbours, for every k."""

from __future__ import annotations

from functools import partial

import cached
import choosing
import frame
import streamlit as st

from labkit import figures

FITTED = "learned here"
ABOUT = """\
FILM calls two sentences the same if each is among the other's **k** nearest. The four rates say how often the rule is
right for pairs that are the same (TPR) and for pairs that are not (TNR), and how often it is wrong (FNR, FPR).
"""
FORMULAS = (r"\text{same} \iff \max(\text{rank}_a(b),\, \text{rank}_b(a)) \le k",)


def film_of(opened: cached.Opened) -> choosing.Space | None:
    """FILM learned from the corpus on the spot, or a stored run of it."""
    st.sidebar.header("FILM")
    how = st.sidebar.radio("The map L", [choosing.STORED, FITTED], key="film", **frame.KEEP)
    if how == choosing.STORED:
        return choosing.stored_run(opened, "film")
    rows = st.sidebar.slider("Rows of L, at most", 10, 100, 40, 10, key="dimension", **frame.KEEP)
    return choosing.fitted(opened, "film", dimension=rows)


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
    frame.head("FILM: are they among each other's nearest?", ABOUT, *FORMULAS)
    opened = choosing.corpus("questions")
    chosen = film_of(opened) if opened else None
    if opened is None or chosen is None:
        return
    show_rule(chosen, opened, partial(choosing.show_code, space=chosen, opened=opened))
    frame.show_link(own_file=opened.own)


RULE_CODE = """\
from labkit.figures import mutual_rule_curves
from labkit.film.rule import mutual_rule
mutual_rule_curves(mutual_rule(method, corpus), k={k}).show()
"""

frame.run(page)
