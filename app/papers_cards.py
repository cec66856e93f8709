"""The five papers on one screen, a row each: what it claims, whether it holds here, the lead, and where to go on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import cached
import frame
import papers_film
import papers_pthought
import papers_sbert_lp
import papers_thematic
import streamlit as st
from papers_claims import EXPLANATIONS, badge_of, claims_of, lead_line, most_of, sentence, show_tally

from labkit.papers.records import AS_PRINTED
from labkit.papers.reports import printed_lead, result_of


@dataclass(frozen=True)
class Card:
    """What a paper claims, the claim of its table that the verdict is on, and the panel to try it in.

    `differs` says why the level of our scores differs from the paper's; the notes of its table say more. `limit`: under
    which condition the verdict was found. `also`: two rows whose lead is drawn beside the one that decides. `noted`:
    two scores of the deciding row that change when its settings are chosen on dev instead of those that are printed.
    """

    title: str
    claim: str
    table: str
    judged: str  # the claim as the table words it
    differs: str
    panel: Any = None  # a module; without one, the Why page opens
    limit: str = ""
    also: tuple[tuple[str, str], ...] = ()
    noted: tuple[str, ...] = ()


CARDS = {
    "sentpwnet": Card(
        "SentPWNet",
        "Weighting pairs by locality produces better sentence vectors than Siamese and triplet networks.",
        "sentpwnet/2",
        "with a BiLSTM, weighted pairs lead the Siamese and the triplet network",
        "QQP consists of pairs of Quora questions, labelled as duplicates or not. Our scores are lower because our "
        "networks are smaller and learn from fewer pairs, with word vectors trained on these pairs instead of GloVe.",
    ),
    "thematic": Card(
        "Thematic",
        "A network trained on triplets of Wikipedia sentences can tell which sentences come from the same section.",
        "thematic/3",
        "the triplet network leads every other method (the paper's network)",
        "mean-vectors is the mean of the word vectors; triplets-sen is a network trained on triplets of sentences. "
        "Our copy of the paper's network is half as wide and, like its word vectors, is trained on only some of the "
        "triplets.",
        papers_thematic,
    ),
    "sbert-lp": Card(
        "SBERT-LP",
        "Sentence vectors improve when their dimensions are reduced in a way that preserves each sentence's "
        "neighbours.",
        "sbert-lp/1",
        "grades: all-MiniLM-L6-v2 + LP leads all-MiniLM-L6-v2, as it is",
        "LP is the paper's locality-preserving projection. STS 2015 grades how similar two sentences are. The paper's "
        "models are not available here, so LP is applied to another one, all-MiniLM-L6-v2.",
        papers_sbert_lp,
        "with another model",
        (("SBERT base + LP", "SBERT base"),),
    ),
    "pthought": Card(
        "P-thought",
        "An encoder that is trained to generate paraphrases places paraphrases close together.",
        "pthought/3",
        "both two-layer forms lead all other methods",
        "P-coherence is the mean cosine of paraphrases; lift is P-coherence minus the mean cosine of other sentences. "
        "Our settings are those that most often find a paraphrase on dev. They lower the P-coherence of the forward "
        "form and raise its lift; for the bidirectional form, it is the other way round. SIF weights word vectors by "
        "smooth inverse frequency. The paper scores captions that it trained on. We score captions of other pictures, "
        "with smaller networks.",
        papers_pthought,
        noted=("P-coherence", "lift"),
    ),
    "film": Card(
        "FILM",
        "A readable linear metric recognises duplicate questions better than Siamese networks do.",
        "film/1",
        "FILM leads the Siamese networks",
        "Our scores are lower because we train smaller Siamese networks on far fewer pairs.",
        papers_film,
    ),
}


# --- the rows ----------------------------------------------------------------------------------------------------

CLAIMS, TABLES, TRY = "Claims", "Tables", "Try it"  # the views of a paper
WIDTHS = (11, 12, 8)
Open = Callable[[str, str], None]
LEGEND = (
    "<div class=labkit-legend>Lead in percentage points: <b class=labkit-paper></b> in the paper, "
    "<b class=labkit-ours></b> here with its 95 % interval</div>"
    "<table class=labkit-leads><tr><td><div class=labkit-ends><span>← behind</span><span>ahead →</span></div><td>"
    "</table>"
)


def claim_of(card: Card) -> tuple[Any, Any]:
    """The claim that the verdict on a paper is about, and its table."""
    table = cached.paper_tables()[card.table]
    return next(each for each in table.claims if each.text == card.judged), table


def show_headline(card: Card) -> None:
    """What the paper claims, and whether it holds."""
    claim, _ = claim_of(card)
    st.markdown(f"{card.claim} {badge_of(claim.ours.verdict, card.limit)}")


def show_cards(open_view: Open) -> None:
    """All papers, one below the other, and our own measurements after them; `open_view` opens a view of one."""
    with st.container(key="card-legend"):
        st.columns(WIDTHS)[1].html(LEGEND)
    for name, card in CARDS.items():
        with st.container(border=True, key=f"card-{name}"):
            show_card(name, card, open_view)
    with st.container(border=True, key="card-why"):
        left, middle, right = st.columns(WIDTHS, vertical_alignment="center")
        left.markdown("**Explanations**. When a word is changed, does an explanation find that word?")
        with middle:
            show_tally(claims_of(EXPLANATIONS, asked_here=True))
        about = {"on_click": open_view, "args": ("Explanations", CLAIMS)}
        right.button("Claims and tables", key=f"tables-{EXPLANATIONS}", **about)


def show_card(name: str, card: Card, open_view: Open) -> None:
    """The verdict, the claim, its leads, and buttons; the reason for the verdict is behind one of them."""
    from labkit.papers.published import PAPERS

    claim, table = claim_of(card)
    left, middle, right = st.columns(WIDTHS, vertical_alignment="center")
    with left:
        st.markdown(f"#### {card.title} {badge_of(claim.ours.verdict, card.limit)}")
        st.markdown(card.claim)
    if lead := claim.ours.lead:
        own = {(lead.row, lead.other): lead}  # other leads are stored without an interval
        pairs = [(own.get(pair), printed_lead(table, lead.column, *pair), pair) for pair in (*card.also, *own)]
        most = most_of([each for *both, _ in pairs for each in both])
        lines = (
            f"<tr><td colspan=2>{escape(row)} over {escape(other)}, {escape(lead.column)}</tr>"
            f"<tr>{lead_line(mine, theirs, table, most)}</tr>"
            for mine, theirs, (row, other) in pairs
        )
        middle.html(f"<table class=labkit-leads>{''.join(lines)}</table>{note_of(card, lead.row, table)}")
    with right, st.container(horizontal=True, key=f"open-{name}"):
        if card.panel:
            icon = ":material/play_arrow:"
            about: Any = {"on_click": open_view, "args": (card.title, TRY)}
            st.button("Try it", type="primary", icon=icon, key=f"try-{name}", **about)
        else:
            show_why_button(name)
        st.button("Claims", key=f"tables-{name}", on_click=open_view, args=(card.title, CLAIMS))
        with st.popover("Why?", key=f"reason-{name}"):
            st.markdown(f"{frame.plain(sentence(result_of(claim, table)))} {card.differs}")
            show_tally(claims_of(name, asked_here=False))
            st.caption(f"Source: {table.table.title} of the paper. {PAPERS[name].citation}")


def note_of(card: Card, row: str, table: Any) -> str:
    """How the noted scores of a row change when its settings are chosen on dev, if a card has some."""
    changes = []
    for column in card.noted:
        before, after = (table.at(name, column).mean for name in (f"{row}{AS_PRINTED}", row))
        changes.append(f"{'lower' if after < before else 'raise'} {column} from {before:.2f} to {after:.2f}")
    said = f"Settings chosen on dev instead of the printed ones {' and '.join(changes)}."
    return f"<div class=labkit-legend>{said}</div>" * bool(changes)


def show_why_button(name: str) -> None:
    """The button to the page on which SentPWNet can be tried."""
    if st.button("Try it in Why", icon=":material/arrow_outward:", key=f"try-{name}"):
        st.switch_page("why_page.py")
