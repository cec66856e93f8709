"""Place "Papers": what each paper claims, whether it holds here, a panel to try it in, and all its tables."""

from __future__ import annotations

from typing import Any

import choosing
import frame
import papers_tables
import streamlit as st
from papers_cards import CARDS, TRY, show_cards

EVERY = "All papers"
ABOUT = """\
Each card shows the result that its paper leads with: an open diamond is the paper's value, a disc is ours. Ours come
from `labkit reproduce`, with public or generated data. The data differ, so compare the order of the rows and the size
of a lead, not the third digit.

A claim **holds** if the whole 95 % interval of the lead is above 0 on test, over seeds and test items, with the
settings of both sides chosen on dev. If only part of it is, the claim is **undecided**: the results are too close to
call.
"""
FORMULAS = (
    r"\text{lead} = \bar x_{\text{claimed}} - \bar x_{\text{other}}, \qquad"
    r"\text{holds} \iff \text{lead} - t_{0.975}\,\text{se} > 0",
)


def page() -> None:
    frame.head("What did each paper claim, and does it hold?", ABOUT, *FORMULAS)
    names = {card.title: name for name, card in CARDS.items()} | {"Explanations": "why"}
    hidden: Any = {"label_visibility": "collapsed", **frame.KEEP}
    title = str(st.segmented_control("Paper", [EVERY, *names], default=EVERY, required=True, key="paper", **hidden))
    if title == EVERY:
        show_cards()
    else:
        papers_tables.show(names[title])
    frame.show_link(own_file=TRY in st.query_params and st.session_state.get("corpus") == choosing.OWN)


frame.run(page)
