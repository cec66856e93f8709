"""The five papers as cards: what each claims, one picture, and whether the claim holds here."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import cached
import streamlit as st

from labkit import figures

VERDICTS = {  # of a claim -> in a sentence
    "confirmed": "It holds here",
    "not confirmed": "It does not hold here",
    "open": "Open: our figures do not decide it",
    "not measured": "Not measured here",
}


@dataclass(frozen=True)
class Card:
    """What a paper claims, the claim and the rows of its table that show it, and what there is to try."""

    title: str
    claim: str
    table: str
    judged: str  # the claim as the table words it
    column: str
    rows: tuple[str, ...]
    piece: str = ""  # the file of what there is to try, with settings for its address
    settings: tuple[tuple[str, str], ...] = ()


CARDS = {
    "sentpwnet": Card(
        "SentPWNet",
        "Pairs weighted by locality train better sentence vectors than Siamese and triplet networks.",
        "sentpwnet/2",
        "with a BiLSTM, weighted pairs lead the Siamese and the triplet network",
        "QQP accuracy",
        ("BiLSTM + Siamese network", "BiLSTM + Triplet network", "BiLSTM + SentPWNet"),
        "why_page.py",
        (),
    ),
    "thematic": Card(
        "Thematic",
        "A network trained on triplets of Wikipedia sentences knows which sentences share a section.",
        "thematic/3",
        "the triplet network leads every other method, the paper's network",
        "accuracy",
        ("mean-vectors", "triplets-sen (the paper's network, smaller)", "triplets-sen (ours)"),
        "themes_page.py",
        (("corpus", "articles"),),
    ),
    "sbert-lp": Card(
        "SBERT-LP",
        "Keeping each sentence's neighbours in fewer dimensions improves the vectors.",
        "sbert-lp/1",
        "grades: all-MiniLM-L6-v2 + LP leads all-MiniLM-L6-v2, as it is",
        "STS-B",
        ("SBERT base", "SBERT base + LP", "all-MiniLM-L6-v2, as it is", "all-MiniLM-L6-v2 + LP"),
        "neighbourhoods_page.py",
        (("corpus", "relatedness"), ("view", "Changed order")),
    ),
    "pthought": Card(
        "P-thought",
        "An encoder trained to write paraphrases keeps paraphrases together.",
        "pthought/3",
        "both forms with two layers lead all other methods",
        "P-coherence",
        ("SIF", "P-thought (two layers, both ways)", "bag of word pieces (ours)"),
        "paraphrases_page.py",
        (("corpus", "captions"), ("view", "Write a paraphrase")),
    ),
    "film": Card(
        "FILM",
        "A readable linear metric recognizes duplicate questions better than Siamese networks.",
        "film/1",
        "FILM leads the Siamese networks",
        "accuracy",
        ("Siamese CNN", "Siamese-LSTM", "FILM", "TF-IDF"),
        "papers_neighbours_page.py",
        (("corpus", "questions"),),
    ),
}


def verdict(card: Card, table: Any) -> str:
    """Return the verdict on a card's claim, as a sentence."""
    ours = next(claim.ours for claim in table.claims if claim.text == card.judged)
    return VERDICTS[ours]


def tally(tables: dict[str, Any], paper: str) -> str:
    """Count the verdicts on all claims that the paper itself makes."""
    claims = [claim for table in tables.values() if table.paper == paper for claim in table.claims]
    counts = Counter(claim.ours for claim in claims if not claim.asked_here)
    return (
        f"Of the paper's own {counts.total()} claims, {counts['confirmed']} hold here, {counts['not confirmed']} do "
        f"not, {counts['open']} are open, and {counts['not measured']} are not measured."
    )


def show_cards() -> None:
    """All papers, three beside each other; on a narrow screen one below the other."""
    tables = cached.paper_tables()
    names = list(CARDS)
    for row in (names[:3], names[3:]):
        for column, name in zip(st.columns(3), row, strict=False):
            with column, st.container(border=True):
                show_card(name, CARDS[name], tables)


def show_card(name: str, card: Card, tables: dict[str, Any]) -> None:
    """The claim, the verdict, one picture, and where to go on."""
    table = tables[card.table]
    st.markdown(f"#### {card.title}")
    st.markdown(f"{card.claim} **{verdict(card, table)}.**")
    picture = figures.ours_beside_paper(table, card.column, rows=card.rows, height=220)
    alt = (
        f"{card.title}, {card.column} of {len(card.rows)} methods: the paper's values and ours. {verdict(card, table)}."
    )
    st.plotly_chart(picture, key=f"card-{name}", alt=alt, config={"displayModeBar": False})
    st.caption(f"Judged by {table.title}: {card.judged}. {tally(tables, name)}")
    with st.container(horizontal=True):
        if st.button("Try it", type="primary", key=f"try-{name}"):
            st.switch_page(card.piece, query_params=dict(card.settings))
        open_tables(name)


def open_tables(paper: str) -> None:
    """A button that opens the tables of a paper."""
    state = {"paper": CARDS[paper].title}
    st.button("Tables", key=f"tables-{paper}", on_click=st.session_state.update, args=(state,))
