"""The five papers as cards: what each claims, whether it holds here, one picture, and a panel to try it in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cached
import choosing
import frame
import papers_film
import papers_pthought
import papers_sbert_lp
import papers_thematic
import streamlit as st

from labkit import figures
from labkit.papers.reports import result_of

TRY = "try"  # in the address: the open panel
VERDICTS = {  # of a claim -> colour and text of its badge
    "confirmed": ("green", "Holds"),
    "not confirmed": ("red", "Does not hold"),
    "open": ("blue", "Undecided"),
    "not measured": ("gray", "Not tested"),
}
EXPLANATIONS = "why"  # not a paper: our own measurements


@dataclass(frozen=True)
class Card:
    """What a paper claims, the claim of its table that the verdict is on, and the panel to try it in.

    `differs` says why the level of our scores differs from the paper's; the notes of its table say more. `limit`: under
    which condition the verdict was found. `also`: two rows whose lead is drawn beside the one that decides.
    """

    title: str
    claim: str
    table: str
    judged: str  # the claim as the table words it
    differs: str
    panel: Any = None  # a module; without one, the Why page opens
    limit: str = ""
    also: tuple[tuple[str, str], ...] = ()


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
        "P-coherence is the mean cosine of paraphrases. SIF weights word vectors by smooth inverse frequency. "
        "The paper scores captions that it trained on. We score captions of other pictures, with smaller networks.",
        papers_pthought,
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


# --- claims in words ---------------------------------------------------------------------------------------------


def claims_of(paper: str, *, asked_here: bool) -> list[tuple[Any, Any]]:
    """The claims of a paper, or our own questions about it, each with its table."""
    mine = [table for table in cached.paper_tables().values() if table.table.paper == paper]
    return [(claim, table) for table in mine for claim in table.claims if claim.asked_here == asked_here]


def tally(claims: Sequence[tuple[Any, Any]]) -> str:
    """How many claims have each verdict, the most frequent first, and how many the paper's own scores contradict."""
    said, against = [], sum(claim.contradicted for claim, _ in claims)
    for found, count in Counter(claim.ours.verdict for claim, _ in claims).most_common():
        words = VERDICTS[found][1].lower()
        many = words.replace("does", "do").replace("holds", "hold") if count > 1 else words
        said.append(f"{count} {many}" if said else f"{count} of {len(claims)} claims {many}")
    return ", ".join(said) + f". The paper's own scores contradict {against} of them" * bool(against)


def show_tally(claims: Sequence[tuple[Any, Any]]) -> None:
    """A bar with a part for each verdict, as long as its share of the claims, and the numbers."""
    counts = Counter(claim.ours.verdict for claim, _ in claims)
    parts = (f"<i class={colour} style='flex:{counts[found]}'></i>" for found, (colour, _) in VERDICTS.items())
    st.html(f"<div class=labkit-tally aria-hidden=true>{''.join(parts)}</div>")
    st.caption(tally(claims))


def badge_of(verdict: str, limit: str = "") -> str:
    """A verdict on a claim."""
    colour, words = VERDICTS[verdict]
    return f":{colour}-badge[{' '.join(filter(None, (words, limit)))}]"


# --- the cards ---------------------------------------------------------------------------------------------------


def show_cards() -> None:
    """All papers, three per row, or one below the other on a narrow screen, and our own measurements after them."""
    names = [*CARDS, EXPLANATIONS]
    for row in (names[:3], names[3:]):
        for column, name in zip(st.columns(3), row, strict=True):
            with column, st.container(border=True, height="stretch"):
                show_card(name, CARDS[name]) if name in CARDS else show_explanations()


def show_card(name: str, card: Card) -> None:
    """The verdict, the claim, one picture, and buttons; the reason for the verdict is behind one of them."""
    from labkit.papers.published import PAPERS

    table = cached.paper_tables()[card.table]
    claim = next(each for each in table.claims if each.text == card.judged)
    st.markdown(f"#### {card.title} {badge_of(claim.ours.verdict, card.limit)}")
    st.markdown(card.claim)
    if lead := claim.ours.lead:
        pairs, verdict = (*card.also, (lead.row, lead.other)), VERDICTS[claim.ours.verdict][1]
        picture = frame.enlarged(figures.leads_beside_paper(table, lead.column, pairs))
        alt = f"{card.title}, {lead.column}: {len(pairs)} leads, the paper's and ours. {verdict}."
        frame.small_picture(picture, f"card-{name}", alt)
    with st.container(horizontal=True, key=f"open-{name}"):
        if card.panel:
            icon = ":material/play_arrow:"
            st.button("Try it", type="primary", icon=icon, key=f"try-{name}", on_click=open_panel, args=(name, card))
        elif st.button("Open Why", icon=":material/arrow_outward:", key=f"try-{name}"):
            st.switch_page("why_page.py")
        show_tables_button(name, card.title)
        with st.popover("Why?", key=f"reason-{name}"):
            st.markdown(f"{frame.plain(result_of(claim, table))} {card.differs}")
            show_tally(claims_of(name, asked_here=False))
            st.caption(f"Source: {table.table.title} of the paper. {PAPERS[name].citation}")


def show_explanations() -> None:
    """What is not a paper's: our own measurements of explanations."""
    claims = claims_of(EXPLANATIONS, asked_here=True)
    st.markdown("#### Explanations")
    st.caption("Our own questions instead of a paper's claims:")
    show_tally(claims)
    st.markdown("When one word of a sentence is changed, does a method's explanation find that word?")
    show_tables_button(EXPLANATIONS, "Explanations")


def show_tables_button(name: str, title: str) -> None:
    """A button that opens the claims and tables of a paper."""
    st.button("Claims and tables", key=f"tables-{name}", on_click=st.session_state.update, args=({"paper": title},))


# --- the panel ---------------------------------------------------------------------------------------------------


def open_panel(name: str, card: Card) -> None:
    """Replace the cards with the panel of one of them, on the corpus that shows what the paper claims."""
    close_panel()
    st.query_params.update({TRY: name, "corpus": card.panel.CORPUS})


def close_panel() -> None:
    """Close the open panel, and remove its parameters from the address."""
    for name in list(st.query_params):
        if name == TRY or st.session_state.get(f"{name}-said"):
            st.query_params.pop(name)


def show_panel(name: str, panel: Any) -> None:
    """The open panel, with its own choices."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"#### {CARDS[name].title}: {panel.QUESTION}", width="stretch")
        frame.what_is_shown(panel.ABOUT, *panel.FORMULAS)
        st.button("All papers", icon=":material/arrow_back:", key="close-panel", on_click=close_panel)
    st.session_state[frame.CHOICES] = st.container(horizontal=True, vertical_alignment="bottom", key="choices-of-panel")

    def fill() -> None:
        opened = choosing.corpus(panel.CORPUS)
        if opened is not None:
            panel.show(opened)

    frame.run(fill)
