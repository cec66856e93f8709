"""The five papers as cards: what each claims, whether it holds here and why, one picture, and a panel to try it in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

TRY = "try"  # in the address: the open panel
VERDICTS = {  # of a claim -> colour and text of its badge
    "confirmed": ("green", "Holds"),
    "not confirmed": ("red", "Does not hold"),
    "open": ("blue", "Undecided"),
    "not measured": ("gray", "Not tested"),
}
LEAD = re.compile(  # what decides a claim, as labkit.papers.claims writes it
    r"(?P<column>.+): (?P<row>.+) (?P<mine>\S+) against (?P<other>.+) (?P<theirs>\S+) "
    r"\((?P<lead>[^%, ]+)(?P<share>%?)(?: \[(?P<low>[^%]+)%?, (?P<high>[^]%]+)%?\]|, one run each)"
)
SEEDS, METHODS, CLOSE, MORE = (  # what an undecided claim lacks: see labkit.papers.claims
    "needs more seeds",
    "not all of its methods were measured",
    "too close to call",
    "needs more seeds or test data",
)
ALL_TOGETHER = (
    "The interval excludes 0, but the claim makes several comparisons or asks for a lead of some size. Taken together, "
    "they do not decide it yet."
)
EXPLANATIONS = "why"  # not a paper: our own measurements


@dataclass(frozen=True)
class Card:
    """What a paper claims, the claim and the rows of its table that show it, and the panel to try it in.

    `differs` says why the level of our scores differs from the paper's; the notes of its table say more.
    """

    title: str
    claim: str
    table: str
    judged: str  # the claim as the table words it
    column: str
    rows: tuple[str, ...]
    differs: str
    panel: Any = None  # a module; without one, the Why page opens


CARDS = {
    "sentpwnet": Card(
        "SentPWNet",
        "Weighting pairs by locality produces better sentence vectors than Siamese and triplet networks.",
        "sentpwnet/2",
        "with a BiLSTM, weighted pairs lead the Siamese and the triplet network",
        "QQP accuracy",
        ("BiLSTM + Siamese network", "BiLSTM + Triplet network", "BiLSTM + SentPWNet"),
        "QQP are pairs of Quora questions that are duplicates or not. Our scores are lower because our networks are "
        "smaller and learn from fewer pairs, with word vectors trained on these pairs instead of GloVe.",
    ),
    "thematic": Card(
        "Thematic",
        "A network trained on triplets of Wikipedia sentences can tell which sentences come from the same section.",
        "thematic/3",
        "the triplet network leads every other method, the paper's network",
        "accuracy",
        ("mean-vectors", "triplets-sen (the paper's network, smaller)", "triplets-sen (ours)"),
        "mean-vectors is the mean of the word vectors; triplets-sen is a network trained on triplets of sentences. "
        "Our copy of the paper's network is half as wide, and it and its word vectors learn from only some triplets.",
        papers_thematic,
    ),
    "sbert-lp": Card(
        "SBERT-LP",
        "Sentence vectors improve when their dimensions are reduced in a way that preserves each sentence's "
        "neighbours.",
        "sbert-lp/1",
        "grades: all-MiniLM-L6-v2 + LP leads all-MiniLM-L6-v2, as it is",
        "STS-B",
        ("SBERT base", "SBERT base + LP", "all-MiniLM-L6-v2, as it is", "all-MiniLM-L6-v2 + LP"),
        "LP is the paper's locality-preserving projection, and STS-B grades how similar two sentences are. The paper's "
        "models are not available here, so LP is applied to another one, all-MiniLM-L6-v2.",
        papers_sbert_lp,
    ),
    "pthought": Card(
        "P-thought",
        "An encoder that is trained to generate paraphrases places paraphrases close together.",
        "pthought/3",
        "both two-layer forms lead all other methods",
        "P-coherence",
        ("SIF", "P-thought (two layers, both ways)", "bag of word pieces (ours)"),
        "P-coherence is the mean cosine of paraphrases. SIF weights word vectors by smooth inverse frequency. "
        "The paper scores captions that it trained on. We score captions of other pictures, with smaller networks.",
        papers_pthought,
    ),
    "film": Card(
        "FILM",
        "A readable linear metric recognises duplicate questions better than Siamese networks do.",
        "film/1",
        "FILM leads the Siamese networks",
        "accuracy",
        ("Siamese CNN", "Siamese-LSTM", "FILM", "TF-IDF"),
        "Our scores are lower because we train on far fewer pairs, and with smaller Siamese networks.",
        papers_film,
    ),
}


# --- claims in words ---------------------------------------------------------------------------------------------


def claims_of(paper: str, *, asked_here: bool) -> list[tuple[Any, Any]]:
    """The claims of a paper, or our own questions about it, each with its table."""
    mine = [table for table in cached.paper_tables().values() if table.table.paper == paper]
    return [(claim, table) for table in mine for claim in table.claims if claim.asked_here == asked_here]


def tally(claims: Sequence[tuple[Any, Any]]) -> str:
    """How many claims have each verdict, the most frequent first."""
    said = []
    for found, count in Counter(claim.ours for claim, _ in claims).most_common():
        words = VERDICTS[found][1].lower()
        many = words.replace("does", "do").replace("holds", "hold") if count > 1 else words
        said.append(f"{count} {many}" if said else f"{count} of {len(claims)} claims {many}")
    return ", ".join(said)


def show_tally(claims: Sequence[tuple[Any, Any]]) -> None:
    """A bar with a part for each verdict, as long as its share of the claims, and the numbers."""
    counts = Counter(claim.ours for claim, _ in claims)
    parts = (f"<i class={colour} style='flex:{counts[found]}'></i>" for found, (colour, _) in VERDICTS.items())
    st.html(f"<div class=labkit-tally aria-hidden=true>{''.join(parts)}</div>")
    st.caption(tally(claims))


def result_of(claim: Any, table: Any) -> str:
    """What decides a claim here, in one sentence. Shares are counted in points, of which the largest score has 100."""
    found = LEAD.match(claim.ours_why)
    if found is None or claim.ours == "not measured":
        return str(claim.decides) + "."
    column = next(column for column in table.table.columns if column.name == found["column"])
    times, unit = 1.0, " %" if found["share"] else ""
    small = column.larger and max(float(found["mine"]), float(found["theirs"])) <= 1  # no minutes, ranks or distances
    if not unit and (column.scale == 100 or (small and not column.name.endswith(" MI"))):  # which is in nats
        times, unit = 100 / column.scale, " points"
    lead, low, high = (times * float(found[name] or "nan") for name in ("lead", "low", "high"))
    if lead < 0:
        low, high = -high, -low
    seeds = ", over seeds alone" * ("seeds alone" in claim.ours_why)
    forms = (".3g" if not unit else ".1f" if abs(each) >= 0.05 else ".1g" for each in (lead, low, high))
    size, low, high = map(format, (abs(lead), low, high), forms)
    ahead, behind = "ahead of", "behind"
    if "minutes" in column.name:
        unit, ahead, behind = " minutes", "faster than", "slower than"
        size, low, high = (format(float(each), ".2f") for each in (size, low, high))
    way = f"{size}{unit} {ahead if lead > 0 else behind} {found['other']}"
    sure = f"95 %: {low} to {high}{seeds}" if found["low"] else "one run each"
    return f"{found['row']} is {way} ({found['column']}, {sure})."


def missing_of(claim: Any) -> str:
    """What an undecided claim lacks, in a few words; empty for any other."""
    found = LEAD.match(claim.ours_why)
    if claim.ours != "open" or found is None:
        return ""
    if "seeds, expected" in claim.ours_why or not found["low"]:
        return SEEDS
    if float(found["low"]) * float(found["high"]) <= 0:
        return CLOSE
    return METHODS if float(found["lead"]) > 0 and "; without" in claim.ours_why else MORE


def badge_of(claim: Any) -> str:
    """The verdict on a claim, and what an undecided one lacks."""
    colour, verdict = VERDICTS[claim.ours]
    missing = missing_of(claim)
    return f":{colour}-badge[{verdict}{f': {missing}' if missing else ''}]"


# --- the cards ---------------------------------------------------------------------------------------------------


def show_cards() -> None:
    """All papers, three per row, or one below the other on a narrow screen, and our own measurements after them."""
    names = [*CARDS, EXPLANATIONS]
    for row in (names[:3], names[3:]):
        for column, name in zip(st.columns(3), row, strict=True):
            with column, st.container(border=True, height="stretch"):
                show_card(name, CARDS[name]) if name in CARDS else show_explanations()


def show_card(name: str, card: Card) -> None:
    """The verdict and its reason, one picture, and two buttons."""
    from labkit.papers.published import PAPERS

    table = cached.paper_tables()[card.table]
    claim = next(claim for claim in table.claims if claim.text == card.judged)
    own_claim = replace(claim, ours="not measured") if claim.asked_here else claim  # a badge is on the paper's claims
    st.markdown(f"#### {card.title} {badge_of(own_claim)}", help=PAPERS[name].citation)
    show_tally(claims_of(name, asked_here=False))
    st.markdown(card.claim)
    own = f"Our own variant {VERDICTS[claim.ours][1].lower()}. " if claim.asked_here else ""
    st.markdown(f"**Here:** {own}{frame.plain(result_of(claim, table))}")
    if missing_of(claim) == MORE:
        st.caption(ALL_TOGETHER)
    found = LEAD.match(claim.ours_why)
    decide = (found["row"], found["other"]) if found and found["column"] == card.column else ()
    rows = tuple(row for row in dict.fromkeys((*card.rows, *decide)) if row in table.rows)
    picture = figures.ours_beside_paper(table, card.column, rows=rows, points=True)
    verdict = VERDICTS[own_claim.ours][1]
    alt = f"{card.title}, {card.column} of {len(rows)} methods: the paper's values and ours. {verdict}."
    st.plotly_chart(frame.enlarged(picture), key=f"card-{name}", alt=alt, config={"displayModeBar": False})
    st.caption(f"{card.differs} Source: {table.table.title} of the paper.")
    with st.container(horizontal=True):
        if card.panel:
            icon = ":material/play_arrow:"
            st.button("Try it", type="primary", icon=icon, key=f"try-{name}", on_click=open_panel, args=(name, card))
        elif st.button("Pair weights, in Why", icon=":material/arrow_outward:", key=f"try-{name}"):
            st.switch_page("why_page.py")
        show_tables_button(name, card.title)


def show_explanations() -> None:
    """What is not a paper's: our own measurements of explanations."""
    claims = claims_of(EXPLANATIONS, asked_here=True)
    st.markdown("#### Explanations")
    st.caption("Our own questions instead of a paper's claims:")
    show_tally(claims)
    st.markdown("When one word of a sentence is changed, does the explanation of a method find that word?")
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
