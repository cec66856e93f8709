"""The five papers as cards: what each claims, one picture, whether the claim holds here, and a panel to try it in."""

from __future__ import annotations

from collections import Counter
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

TRY, SHOWN = "try", "panel-shown"  # the open panel: in the address, and in the session once it has scrolled into view
COMES = """\
<script>  // {name}
setTimeout(() => document.querySelector('.st-key-panel')?.scrollIntoView({{behavior: 'smooth'}}), {wait});
</script>"""
VERDICTS = {  # of a claim -> colour and text of its badge
    "confirmed": ("green", "Holds"),
    "not confirmed": ("red", "Does not hold"),
    "open": ("orange", "Undecided"),
    "not measured": ("gray", "Not tested"),
}
KEY = "◇ the paper's value · ● ours with its 95 % interval · * our model has seen these texts"
HEIGHT = 200  # pixels of a picture


@dataclass(frozen=True)
class Card:
    """What a paper claims, the claim and the rows of its table that show it, and the panel to try it in."""

    title: str
    claim: str
    table: str
    judged: str  # the claim as the table words it
    column: str
    rows: tuple[str, ...]
    panel: Any = None  # a module; without one, the Why page opens


CARDS = {
    "sentpwnet": Card(
        "SentPWNet",
        "Weighting pairs by locality produces better sentence vectors than Siamese and triplet networks.",
        "sentpwnet/2",
        "with a BiLSTM, weighted pairs lead the Siamese and the triplet network",
        "QQP accuracy",
        ("BiLSTM + Siamese network", "BiLSTM + Triplet network", "BiLSTM + SentPWNet"),
    ),
    "thematic": Card(
        "Thematic",
        "A network trained on triplets of Wikipedia sentences can tell which sentences come from the same section.",
        "thematic/3",
        "the triplet network leads every other method, the paper's network",
        "accuracy",
        ("mean-vectors", "triplets-sen (the paper's network, smaller)", "triplets-sen (ours)"),
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
        papers_sbert_lp,
    ),
    "pthought": Card(
        "P-thought",
        "An encoder that is trained to generate paraphrases places paraphrases close together.",
        "pthought/3",
        "both forms with two layers lead all other methods",
        "P-coherence",
        ("SIF", "P-thought (two layers, both ways)", "bag of word pieces (ours)"),
        papers_pthought,
    ),
    "film": Card(
        "FILM",
        "A readable linear metric recognises duplicate questions better than Siamese networks do.",
        "film/1",
        "FILM leads the Siamese networks",
        "accuracy",
        ("Siamese CNN", "Siamese-LSTM", "FILM", "TF-IDF"),
        papers_film,
    ),
}


def show_cards() -> None:
    """All papers, three per row, or one below the other on a narrow screen; the open panel follows its row."""
    tables = cached.paper_tables()
    names, opened = list(CARDS), st.query_params.get(TRY)
    st.caption(KEY)
    for row in (names[:3], names[3:]):
        for column, name in zip(st.columns(3), row, strict=False):
            with column, st.container(border=True, height="stretch"):
                show_card(name, CARDS[name], tables)
        if opened in row and CARDS[opened].panel:
            below = st.container(border=True, key="panel")
    if opened in CARDS and CARDS[opened].panel:  # last, because it may take seconds
        with below:
            show_panel(opened, CARDS[opened].panel)


def show_card(name: str, card: Card, tables: dict[str, Any]) -> None:
    """The claim, the verdict, one picture, and two buttons."""
    from labkit.papers.published import PAPERS

    table = tables[card.table]
    claim = next(claim for claim in table.claims if claim.text == card.judged)
    colour, verdict = VERDICTS["not measured" if claim.asked_here else claim.ours]  # of the paper's own claims
    found = frame.plain(claim.decides.partition(";")[0])
    own = f"our own variant: {VERDICTS[claim.ours][1].lower()}. " if claim.asked_here else ""
    st.markdown(f"#### {card.title} :{colour}-badge[{verdict}]", help=PAPERS[name].citation)
    st.markdown(card.claim)
    st.caption(f"**Here:** {own}{found}.")
    picture = figures.ours_beside_paper(table, card.column, rows=card.rows, height=HEIGHT)
    whole = [row + " *" * cut.endswith("*") for row, cut in zip(card.rows, picture.layout.yaxis.ticktext, strict=True)]
    labels = {"ticklabelposition": "inside top", "ticktext": whole}  # each above its line, where it is not cut off
    picture.update_layout(showlegend=False, margin={"t": 0, "l": 0}, yaxis=labels)
    alt = f"{card.title}, {card.column} of {len(card.rows)} methods: the paper's values and ours. Verdict: {verdict}."
    st.plotly_chart(picture, key=f"card-{name}", alt=alt, config={"displayModeBar": False})
    mine = [each for other in tables.values() if other.table.paper == name for each in other.claims]
    claims = [each for each in mine if not each.asked_here]  # all that the paper itself claims
    counts = Counter(each.ours for each in claims)
    tally = ", ".join(f"{text.lower()} {counts[found]}" for found, (_, text) in VERDICTS.items() if counts[found])
    st.caption(f"From {table.table.title} of the paper. Verdicts on the paper's {len(claims)} claims: {tally}.")
    with st.container(horizontal=True):
        label = "Try it" if card.panel else "Try it in Why"
        pressed = st.button(label, type="primary", key=f"try-{name}", on_click=open_panel, args=(name, card))
        if pressed and not card.panel:
            st.switch_page("why_page.py")
        state = {"paper": card.title}
        st.button("Tables", key=f"tables-{name}", on_click=st.session_state.update, args=(state,))


# --- the panel ---------------------------------------------------------------------------------------------------


def open_panel(name: str, card: Card) -> None:
    """Open the panel of a card, on the corpus that shows what the paper claims."""
    close_panel()
    if card.panel:
        st.query_params.update({TRY: name, "corpus": card.panel.CORPUS})


def close_panel() -> None:
    """Close the open panel, and remove its parameters from the address."""
    st.session_state.pop(SHOWN, None)
    for name in list(st.query_params):
        if name == TRY or st.session_state.get(f"{name}-said"):
            st.query_params.pop(name)


def show_panel(name: str, panel: Any) -> None:
    """The open panel, with its own choices."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"#### {CARDS[name].title}: {panel.QUESTION}", width="stretch")
        frame.what_is_shown(panel.ABOUT, *panel.FORMULAS)
        st.button("Close", icon=":material/close:", key="close-panel", on_click=close_panel)
    st.session_state[frame.CHOICES] = st.container(horizontal=True, vertical_alignment="bottom", key="choices-of-panel")
    comes = st.session_state.get(SHOWN) != name  # by its button or by a link
    st.session_state[SHOWN] = name
    if comes:
        st.html(COMES.format(name=name, wait=100), unsafe_allow_javascript=True)

    def fill() -> None:
        opened = choosing.corpus(panel.CORPUS)
        if opened is not None:
            panel.show(opened)

    frame.run(fill)
    if comes:  # again, because the panel that was open before disappears only now
        st.html(COMES.format(name=name, wait=500), unsafe_allow_javascript=True)
