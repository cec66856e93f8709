"""All papers on one screen, a row each, and the claims of one paper: each with its verdict and its lead around 0."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeAlias

import cached
import frame
import papers_film
import papers_pthought
import papers_sbert_lp
import papers_thematic
import streamlit as st

from labkit.figure_names import written
from labkit.papers.published import PAPERS
from labkit.papers.reports import printed_lead, result_of, said, unit_of

CLAIMS, TABLES, TRY = "Claims", "Tables", "Try it"  # the views of a paper
VERDICTS = {  # of a claim -> colour and text of its badge
    "confirmed": ("green", "Holds"),
    "not confirmed": ("red", "Does not hold"),
    "open": ("blue", "Undecided"),
    "incomplete": ("gray", "Incomplete"),
    "not measured": ("gray", "Not tested"),
}
EXPLANATIONS = "why"  # not a paper: our own measurements
RIGHT = (
    "To the right of the grey mark at 0, the claimed method is better. Brackets contain the 95 % interval. "
    "**Undecided**: either could be better, here or in another comparison of the claim. **Incomplete**: seeds or "
    "scores are missing."
)
Judged: TypeAlias = tuple[Any, Any]  # a claim and its table


@dataclass(frozen=True)
class Card:
    """What a paper claims, the claim of its table that the verdict is on, and the panel to try it in.

    `differs` says why our scores differ from the paper's. `limit`: under which condition the verdict was found.
    """

    title: str
    claim: str
    table: str
    judged: str  # the claim as the table words it
    differs: str
    panel: Any = None  # a module; without one, the Why page opens
    limit: str = ""


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
        "triplets, so it may be too small. The triplets do help: a simpler network of ours, trained on them, leads "
        "mean-vectors (see Claims).",
        papers_thematic,
        "in our smaller copy",
    ),
    "sbert-lp": Card(
        "SBERT-LP",
        "Sentence vectors improve when their dimensions are reduced in a way that preserves each sentence's "
        "neighbours.",
        "sbert-lp/1",
        "grades: all-MiniLM-L6-v2 + LP leads all-MiniLM-L6-v2, as it is",
        "LP is the paper's locality-preserving projection. STS 2015 grades how similar two sentences are. The paper's "
        "models are not available here, so LP is tested with another one, all-MiniLM-L6-v2. With the paper's own "
        "models and scores, LP does not help on STS 2015 either.",
        papers_sbert_lp,
        "with another model",
    ),
    "pthought": Card(
        "P-thought",
        "An encoder that is trained to generate paraphrases places paraphrases close together.",
        "pthought/3",
        "both two-layer forms lead all other methods",
        "P-coherence is the mean cosine of paraphrases. It is also high if *all* sentences get similar vectors, so we "
        "chose the settings that most often find a paraphrase on dev. SIF is a mean of word vectors in which frequent "
        "words count less. The paper scores captions that it trained on; we score captions of other pictures, with "
        "smaller networks.",
        papers_pthought,
    ),
    "film": Card(
        "FILM",
        "A readable linear metric recognises duplicate questions better than Siamese networks do.",
        "film/1",
        "FILM leads the Siamese networks",
        "Our scores are lower because we train smaller Siamese networks on far fewer pairs. Even these lead FILM.",
        papers_film,
    ),
}


# --- claims in words ---------------------------------------------------------------------------------------------


def tables_of(paper: str) -> list[Any]:
    """The tables of a paper, or those of our own measurements."""
    return [table for table in cached.paper_tables().values() if table.table.paper == paper]


def claims_of(paper: str, *, asked_here: bool) -> list[Judged]:
    """The claims of a paper, or our own questions about it."""
    return [(claim, table) for table in tables_of(paper) for claim in table.claims if claim.asked_here == asked_here]


def claim_of(card: Card) -> Judged:
    """The claim that the verdict on a paper is about."""
    table = cached.paper_tables()[card.table]
    return next(each for each in table.claims if each.text == card.judged), table


def verdict_of(claim: Any) -> str:
    """Our verdict; a claim is incomplete if it is open only because seeds or the scores of a row are missing."""
    found = claim.ours
    missing = found.verdict == "open" and (found.seeds or (found.absent and found.lead.low > 0))
    return "incomplete" if missing else str(found.verdict)


def badge(verdict: str, more: str = "") -> str:
    """A verdict as a badge, and what follows it."""
    colour, words = VERDICTS[verdict]
    return f":{colour}-badge[{words}{more}]"


def badge_of(card: Card) -> str:
    """The verdict on a paper, and the condition under which it was found."""
    return badge(verdict_of(claim_of(card)[0]), f" {card.limit}" * bool(card.limit))


def tally(claims: Sequence[Judged]) -> str:
    """How many claims have each verdict, and how many the paper's own scores contradict."""
    counts = Counter(verdict_of(claim) for claim, _ in claims)
    against = sum(claim.contradicted for claim, _ in claims)
    badges = " ".join(badge(verdict, f": {counts[verdict]}") for verdict in VERDICTS if verdict in counts)
    return f"{len(claims)} claims: {badges}" + f" The paper's own scores contradict {against} of them." * bool(against)


def sentence(text: str) -> str:
    """A claim as a sentence: a capital and a full stop."""
    first = text[0] if text[1:2] == " " else text[:1].upper()  # k and λ are symbols
    return frame.plain(f"{first}{text[1:]}.")


def reason(claim: Any, table: Any) -> str:
    """What decides a claim, and its lead with the settings printed in the paper, if other settings decide."""
    before = f" With the printed settings: {said(claim.before, table.table)}" if claim.before else ""
    return frame.plain(result_of(claim, table) + before)


# --- leads on a line ---------------------------------------------------------------------------------------------


def leads_of(claim: Any, table: Any) -> tuple[str, dict[str, tuple[float, ...]]]:
    """The unit, and the paper's lead and ours, each between the ends of its interval.

    Both compare the two rows that decide our verdict; without scores of ours, those that decide the paper's.
    """
    own, paper = claim.ours.lead, claim.paper and claim.paper.lead
    if own:
        paper = printed_lead(table, own.column, own.row, own.other, share=own.share)
    found = {look: lead for look, lead in (("paper", paper), ("ours", own)) if lead}
    if not found:
        return "", {}
    times, unit = unit_of(own or paper, table.table)
    ends = {look: (times * lead.low, times * lead.lead, times * lead.high) for look, lead in found.items()}
    return unit or f" in {(own or paper).column}", ends


def scales_of(claims: Iterable[Judged]) -> dict[str, tuple[float, float]]:
    """Unit -> the ends of its scale, which contains 0 and all leads."""
    ends: dict[str, list[float]] = defaultdict(lambda: [0.0])
    for unit, leads in (leads_of(*each) for each in claims):
        ends[unit] += [end for lead in leads.values() for end in lead]
    return {unit: (min(each), max(each)) for unit, each in ends.items()}


def lead_line(claim: Any, table: Any, scales: Mapping[str, tuple[float, float]]) -> str:
    """The leads on a line, and their numbers below it, as HTML."""
    unit, leads = leads_of(claim, table)
    least, most = scales[unit]

    def at(value: float) -> float:  # per cent of the line, with 4 % left free at both ends
        return 4 + 92 * (value - least) / (most - least or 1.0)

    marks, numbers = f"<u style='left:{at(0):.1f}%'></u>", []
    for look, ends in leads.items():
        low, lead, high = (written(end, "+.1f" if unit in (" points", " %") else "+.3g") for end in ends)
        interval = ""
        if low != high:
            marks += f"<i style='left:{at(ends[0]):.1f}%;right:{100 - at(ends[2]):.1f}%'></i>"
            interval = f" ({low} to {high})"
        marks += f"<b class=labkit-{look} style='left:{at(ends[1]):.1f}%'></b>"
        where = "in the paper" if look == "paper" else "here"
        numbers.append(f"<b class=labkit-{look}></b> {where} {lead}{interval}")
    return f"<div class=labkit-lead aria-hidden=true>{marks}</div><p>{', '.join(numbers)}{unit}</p>"


# --- the claims of a paper ---------------------------------------------------------------------------------------


def show_claims(paper: str) -> None:
    """What the paper claims with our verdicts, and our own questions, which come first if the verdict is on one."""
    sections = {title: claims_of(paper, asked_here=own) for own, title in enumerate(("The paper", "Our questions"))}
    judged_here = paper in CARDS and claim_of(CARDS[paper])[0].asked_here
    if paper == EXPLANATIONS:
        sections = {table.table.title: [(claim, table) for claim in table.claims] for table in tables_of(paper)}
    st.caption(RIGHT)
    for title, claims in [*sections.items()][:: -1 if judged_here else 1]:
        if claims:
            folded = st.expander(f"**{title}.** {tally(claims)}", expanded=True)
            with folded, st.container(key=f"claims-{title}", gap="xsmall"):
                show_rows(claims)


def show_rows(claims: Sequence[Judged]) -> None:
    """A row for each claim, those that hold first; its reason is behind the question mark."""
    scales, several = scales_of(claims), len({table.table.title for _, table in claims}) > 1
    for claim, table in sorted(claims, key=lambda each: list(VERDICTS).index(verdict_of(each[0]))):
        left, right = st.columns([3, 2], vertical_alignment="center")
        against = " *The paper's own scores contradict it.*" * claim.contradicted
        where = f" :gray[{table.table.title}]" * several
        words = f"{badge(verdict_of(claim))} {sentence(claim.text)}{against}{where}"
        left.markdown(words, help=reason(claim, table))
        right.html(lead_line(claim, table, scales))


# --- all papers --------------------------------------------------------------------------------------------------


def show_cards(open_view: Callable[[str, str], None]) -> None:
    """All papers, one below the other; `open_view` opens a view of one."""
    st.caption(RIGHT)
    scales = scales_of(map(claim_of, CARDS.values()))
    for name, card in CARDS.items():
        with st.container(border=True, key=f"card-{name}"):
            show_card(name, card, scales, open_view)


def show_card(name: str, card: Card, scales: Mapping[str, Any], open_view: Callable[[str, str], None]) -> None:
    """The verdict, the claim, its leads, and buttons; the reason for the verdict is behind one of them."""
    (claim, table), lead = claim_of(card), claim_of(card)[0].ours.lead
    left, middle, right = st.columns([11, 12, 8], vertical_alignment="center")
    left.markdown(f"#### {card.title} {badge_of(card)}\n{card.claim}")
    head = f"<p>{escape(f'{lead.row} over {lead.other}, {lead.column}')}</p>"
    middle.html(head + lead_line(claim, table, scales))
    with right, st.container(horizontal=True, key=f"open-{name}"):
        if card.panel:
            look: Any = {"type": "primary", "icon": ":material/play_arrow:", "key": f"try-{name}"}
            st.button(TRY, on_click=open_view, args=(card.title, TRY), **look)
        else:
            show_why_button(name)
        st.button("Claims", key=f"tables-{name}", on_click=open_view, args=(card.title, CLAIMS))
        with st.popover("Why?", key=f"reason-{name}"):
            st.markdown(f"{card.differs} {reason(claim, table)}")
            st.markdown(tally(claims_of(name, asked_here=False)))
            st.caption(f"Source: {table.table.title} of the paper. {PAPERS[name].citation}")


def show_why_button(name: str) -> None:
    """The button to the page on which SentPWNet can be tried."""
    if st.button("Try it in Why", icon=":material/arrow_outward:", key=f"try-{name}"):
        st.switch_page("why_page.py")
