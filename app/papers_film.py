"""Panel of the Papers page: FILM's rule of mutual neighbours, for every k."""

from __future__ import annotations

from typing import Any

import cached
import choosing
import frame
import streamlit as st
from keeping import once

from labkit import figures

QUESTION, CORPUS = "Are two questions mutual nearest neighbours?", "questions"
FITTED = "trained here"
ABOUT = """\
FILM predicts that two sentences mean the same if each is among the other's **k** nearest neighbours. The picture shows,
for every k, the share of test pairs with the same meaning that are found (TPR, the true positive rate) and of other
pairs that are told apart (TNR, the true negative rate). FNR and FPR are the corresponding shares of mistakes. The
dotted line marks the k that was chosen on dev.
"""
FORMULAS = (r"\text{same} \iff \max(\text{rank}_a(b),\, \text{rank}_b(a)) \le k",)
CUT = (
    "The paper's cross-entropy counts yes as 1 and no as 0, so it equals the share of mistakes times 34.5. The other "
    "cross-entropy replaces each answer with a share from dev: the fraction of pairs with this answer that have the "
    "same meaning. k is chosen where that is lowest on dev, {chosen}."
)
SAID = (
    "**{question}** With k = {k}, the answer is right for **{accuracy:.0%}** of the test pairs: {tpr:.0%} of the pairs "
    "with the same meaning are found, and {tnr:.0%} of the others are told apart. Neighbours are sought among "
    "{sentences:,} test sentences."
)
DRAWN = " This corpus has classes instead of pairs, so up to 2,000 pairs of each kind were drawn at random."


def show(opened: cached.Opened) -> None:
    """Figure 4: yes or no by mutual neighbours, for every k, in a run of FILM or FILM trained on the corpus here."""
    from labkit.film.rule import mutual_rule

    runs, wide = choosing.runs_of(opened, "film"), {"width": choosing.WIDTH, **frame.KEEP}
    options = [*runs, FITTED]
    name = choosing.choose_vectors(options, options[0], "FILM", "film")
    if name in runs:
        chosen = choosing.space_of(opened, name, runs)
    else:
        rows = frame.choices().slider("Maximum rows of L", 10, 100, 40, 10, key="dimension", **wide)
        chosen = choosing.fitted(opened, "film", dimension=rows)
    key = ("rule", chosen.key, opened.key)
    rule = once("Ranking neighbours …", key, lambda: mutual_rule(chosen.method, opened.corpus))
    most = int(rule.test.k[-1])
    about: Any = {"key": "film-k", "help": "It starts at the k chosen on dev.", "width": choosing.WIDEST, **frame.KEEP}
    k = frame.choices().slider("k, number of neighbours", 1, most, rule.chosen, **about)
    at = rule.rows()[k - 1]
    said = SAID.format(question=QUESTION, sentences=rule.sentences, **at) + DRAWN * bool(rule.drawn)
    st.markdown(said.replace("%", "\u00a0%"))
    alt = f"Rates of the mutual-neighbour rule for k up to {most}; k = {rule.chosen} was best on dev."
    frame.picture(figures.mutual_rule_curves(rule, k=k), key="mutual_rule", alt=alt, rows=rule.rows)
    with st.expander("All numbers at this k, and the cross-entropy"):
        frame.table([at], f"All rates and losses at k = {k}.", formats=dict.fromkeys([*at][1:], "%.3f"))
        alt = f"Two cross-entropies for k up to {most}; the second is lowest at k = {rule.chosen} on dev."
        frame.picture(figures.mutual_rule_losses(rule, k=k), key="mutual_losses", alt=alt, rows=rule.rows)
        st.caption(CUT.format(chosen=rule.chosen))
    choosing.show_code(CODE, chosen, opened, k=k)


CODE = """\
from labkit.figures import mutual_rule_curves
from labkit.film.rule import mutual_rule
mutual_rule_curves(mutual_rule(method, corpus), k={k}).show()
"""
