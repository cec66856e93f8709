"""All papers on one screen, a row each, and the claims of one paper: each with its verdict and its lead around 0."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import Any

import cached
import frame
import papers_film
import papers_pthought
import papers_sbert_lp
import papers_thematic
import streamlit as st

from labkit.figure_names import written
from labkit.papers.published import PAPERS
from labkit.papers.records import AS_PRINTED
from labkit.papers.reports import printed_lead, result_of, unit_of

CLAIMS, TABLES, TRY = "Claims", "Tables", "Try it"  # the views of a paper
VERDICTS = {  # of a claim -> colour and text of its badge
    "confirmed": ("green", "Holds"),
    "not confirmed": ("red", "Does not hold"),
    "open": ("blue", "Undecided"),
    "incomplete": ("gray", "Incomplete"),
    "not measured": ("gray", "Not tested"),
}
EXPLANATIONS = "why"  # not a paper: our own measurements
UNITS = {" points": "percentage points", " %": "per cent of the other score", " minutes": "minutes"}
LEGEND = "<b class=labkit-paper></b> in the paper, <b class=labkit-ours></b> here with its 95 % interval"
WIDTHS = (11, 12, 8)


@dataclass(frozen=True)
class Card:
    """What a paper claims, the claim of its table that the verdict is on, and the panel to try it in.

    `differs` says why the level of our scores differs from the paper's; the notes of its table say more. `limit`: under
    which condition the verdict was found, and `tested` why. `also`: two rows whose lead is drawn above the one that
    decides. `noted`: two scores of the deciding row that change when its settings are chosen on dev.
    """

    title: str
    claim: str
    table: str
    judged: str  # the claim as the table words it
    differs: str
    panel: Any = None  # a module; without one, the Why page opens
    limit: str = ""
    tested: str = ""
    also: tuple[str, ...] = ()
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
        "LP is the paper's locality-preserving projection. STS 2015 grades how similar two sentences are.",
        papers_sbert_lp,
        "with another model",
        "The paper's models are not available here, so LP is tested with another one, all-MiniLM-L6-v2.",
        ("SBERT base + LP", "SBERT base"),
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


# --- claims in words ---------------------------------------------------------------------------------------------


def claims_of(paper: str, *, asked_here: bool) -> list[tuple[Any, Any]]:
    """The claims of a paper, or our own questions about it, each with its table."""
    mine = [table for table in cached.paper_tables().values() if table.table.paper == paper]
    return [(claim, table) for table in mine for claim in table.claims if claim.asked_here == asked_here]


def verdict_of(claim: Any) -> str:
    """Our verdict; a claim is incomplete if it is open only because seeds or the scores of a row are missing."""
    found = claim.ours
    missing = found.verdict == "open" and (found.seeds or (found.absent and found.lead.low > 0))
    return "incomplete" if missing else str(found.verdict)


def counted(claims: Iterable[tuple[Any, Any]]) -> dict[str, int]:
    """How many claims have each verdict that occurs."""
    counts = Counter(verdict_of(claim) for claim, _ in claims)
    return {verdict: counts[verdict] for verdict in VERDICTS if verdict in counts}


def in_words(verdict: str, count: int) -> str:
    """A number of claims with a verdict, such as "1 holds" or "2 hold"."""
    words = VERDICTS[verdict][1].lower()
    return f"{count} {words.replace('does', 'do').replace('holds', 'hold') if count > 1 else words}"


def tally(claims: Sequence[tuple[Any, Any]]) -> str:
    """How many claims have each verdict, and how many the paper's own scores contradict."""
    against = sum(claim.contradicted for claim, _ in claims)
    said = f"{len(claims)} claims: {', '.join(in_words(*each) for each in counted(claims).items())}."
    return said + f" The paper's own scores contradict {against} of them." * bool(against)


def show_tally(claims: Sequence[tuple[Any, Any]]) -> None:
    """A bar with a part for each verdict, as long as its share of the claims, and the numbers."""
    parts = (f"<i class={VERDICTS[found][0]} style='flex:{count}'></i>" for found, count in counted(claims).items())
    st.html(f"<div class=labkit-tally aria-hidden=true>{''.join(parts)}</div>")
    st.caption(tally(claims))


def sentence(text: str) -> str:
    """A stored text as a sentence: a capital, a full stop, and its unit in words."""
    text = text.replace(" points", " percentage points")
    first = text[0] if text[1:2] == " " else text[:1].upper()  # k and λ are symbols
    return first + text[1:] + "." * (text[-1] not in ".?")


# --- leads on a line ---------------------------------------------------------------------------------------------

Leads = tuple[Any, Any]  # ours and the paper's; None for one that is missing


def leads_of(claim: Any, table: Any) -> Leads:
    """Our lead that decides a claim, and the paper's of the two rows; without ours, the paper's that decides it."""
    lead = claim.ours.lead
    if lead is None:
        return None, claim.paper and claim.paper.lead
    return lead, printed_lead(table, lead.column, lead.row, lead.other, share=lead.share)


def scaled(both: Leads, table: Any) -> tuple[float, str]:
    """The factor that converts leads to their unit, and the unit in words."""
    lead = both[0] or both[1]
    if lead is None:
        return 1.0, UNITS[" points"]
    times, unit = unit_of(lead, table.table)
    return times, UNITS.get(unit) or ("nats" if lead.column.endswith("MI") else lead.column)


class Scale:
    """A line for leads in one unit. It contains 0 and all their numbers, and has up to six ticks."""

    def __init__(self, rows: Iterable[tuple[Leads, Any]]) -> None:
        ends = [0.0]
        for both, table in rows:
            times, _ = scaled(both, table)
            ends += [times * end for lead in both if lead for end in (lead.low, lead.high)]
        self.low, self.width = min(ends), max(ends) - min(ends) or 1.0
        power = 10.0 ** floor(log10(self.width / 6))
        step = next(power * times for times in (1, 2, 5, 10) if power * times * 6 >= self.width)
        self.ticks = [
            step * place for place in range(ceil(min(ends) / step - 1e-9), floor(max(ends) / step + 1e-9) + 1)
        ]

    def at(self, value: float) -> float:
        """Where a number is on the line, in per cent of its length, with 4 % left free at both ends."""
        return 4 + 92 * (value - self.low) / self.width

    def line(self, marks: str = "", alt: str = "") -> str:
        """The line with its ticks, which are labelled if it has no marks."""
        said = f'role=img aria-label="{alt}" title="{alt}"' if marks else "aria-hidden=true"
        ticks = "".join(
            f"<s style='left:{self.at(tick):.1f}%'>{written(tick, '+.3g') if tick else '0'}</s>" for tick in self.ticks
        )
        zero = f"<u style='left:{self.at(0):.1f}%'></u>"
        return f"<div class=labkit-{'lead' if marks else 'ticks'} {said}>{ticks}{zero}{marks}</div>"


def lead_line(both: Leads, table: Any, scale: Scale) -> str:
    """Two cells: the leads on a line, where the claimed method is behind on the left of 0, and their numbers."""
    times, unit = scaled(both, table)
    marks, said, numbers = "", [], ""
    for found, look, where in zip(both[::-1], ("paper", "ours"), ("in the paper", "here"), strict=True):
        if found:
            low, lead, high = (times * each for each in (found.low, found.lead, found.high))
            fine = unit not in list(UNITS.values())[:2] or abs(lead) < 0.05
            number, *ends = (written(each, "+.3g" if fine else "+.1f") for each in (lead, low, high))
            if not found.alone:
                marks += f"<i style='left:{scale.at(low):.1f}%;right:{100 - scale.at(high):.1f}%'></i>"
            marks += f"<b class=labkit-{look} style='left:{scale.at(lead):.1f}%'></b>"
            said.append(f"lead {where} {number}" + f" (95 %: {' to '.join(ends)})" * (not found.alone))
            once = " (one run, so no interval)" * (found.alone and look == "ours")
            numbers += f"<span><b class=labkit-{look}></b> {number}{once}</span> "
    alt = escape(f"{'; '.join(said)} {unit}", quote=True)
    return f"<td>{scale.line(marks, alt) if marks else ''}<td class=labkit-numbers>{numbers}"


# --- the claims of a paper ---------------------------------------------------------------------------------------


def table_of(claims: Sequence[tuple[Any, Any]], *, kind: bool = False) -> str:
    """A row for each claim, those that hold first, below the scale of its unit.

    `kind`: all claims are of one kind, so a row names only its method.
    """
    units = defaultdict(list)
    for claim, table in sorted(claims, key=lambda each: list(VERDICTS).index(verdict_of(each[0]))):
        both = leads_of(claim, table)
        units[scaled(both, table)[1]].append((claim, both, table))
    parts = []
    for unit, rows in sorted(units.items(), key=lambda each: -len(each[1])):
        scale = Scale(row[1:] for row in rows)
        parts.append(
            f"<tbody><tr class=labkit-scale><td><td>Lead in {escape(unit)}<td>{scale.line()}<td>ahead →<td></tr>"
        )
        for claim, both, table in rows:
            colour, verdict = VERDICTS[verdict_of(claim)]
            name = claim.text.rpartition(": ")[0] or "All" if kind else sentence(claim.text)
            against = " <em>The paper's own scores contradict it.</em>" * claim.contradicted
            source = [table.table.title, *(lead.column for lead in both if lead)][:2]
            parts.append(
                f"<tr><td><b class='labkit-tag {colour}'>{verdict}</b><td><details><summary>{escape(name)}{against}"
                f"</summary>{escape(sentence(result_of(claim, table)))}</details>{lead_line(both, table, scale)}"
                f'<td title="{escape(table.table.caption, quote=True)}">{escape(": ".join(source))}</tr>'
            )
    legend = LEGEND if "labkit-paper" in "".join(parts) else LEGEND.partition(", ")[2]
    head = f"<tr><th>verdict<th>claim; click it for the reason<th colspan=2>lead: {legend}<th>in</tr>"
    return f"<table class=labkit-claims><thead>{head}</thead>{''.join(parts)}</table>"


def show_claims(paper: str) -> None:
    """What the paper claims with our verdicts, and our own questions, which come first if the verdict is on one."""
    asked = claims_of(paper, asked_here=True)
    if paper == EXPLANATIONS:
        show_tally(asked)
        kinds = defaultdict(list)
        for claim, table in asked:
            kinds[claim.text.rpartition(": ")[2]].append((claim, table))
        for place, (kind, claims) in enumerate(kinds.items()):
            badges = " ".join(f":{VERDICTS[each][0]}-badge[{in_words(each, n)}]" for each, n in counted(claims).items())
            with st.expander(f"{sentence(kind)} {badges}", expanded=place == 0):
                st.html(table_of(claims, kind=True))
        return
    judged_here = bool(CARDS[paper].limit)
    first, last = st.container(), st.container()
    with last if judged_here else first:
        claims = claims_of(paper, asked_here=False)
        show_tally(claims)
        st.html(table_of(claims))
    with first if judged_here else last, st.expander(f"Our own questions. {tally(asked)}", expanded=judged_here):
        st.html(table_of(asked))


# --- all papers --------------------------------------------------------------------------------------------------


def claim_of(card: Card) -> tuple[Any, Any]:
    """The claim that the verdict on a paper is about, and its table."""
    table = cached.paper_tables()[card.table]
    return next(each for each in table.claims if each.text == card.judged), table


def badge_of(card: Card) -> str:
    """The verdict on a paper, and the condition under which it was found."""
    colour, words = VERDICTS[verdict_of(claim_of(card)[0])]
    return f":{colour}-badge[{' '.join(filter(None, (words, card.limit)))}]"


def compared(card: Card) -> list[tuple[Leads, Any]]:
    """The leads that are drawn for a paper, with their table: its own of the rows in `also`, and that which decides."""
    claim, table = claim_of(card)
    also = [(None, printed_lead(table, claim.ours.lead.column, *card.also))] if card.also else []
    return [(both, table) for both in (*also, leads_of(claim, table))]


def show_cards(open_view: Callable[[str, str], None]) -> None:
    """All papers, one below the other, and our own measurements after them; `open_view` opens a view of one."""
    scale = Scale(each for card in CARDS.values() for each in compared(card))
    with st.container(key="card-legend"):
        st.columns(WIDTHS)[1].html(
            f"<div class=labkit-legend>Lead in percentage points: {LEGEND}</div>"
            f"<table class=labkit-leads><col><col><tr><td>{scale.line()}<td>ahead →</table>"
        )
    for name, card in CARDS.items():
        with st.container(border=True, key=f"card-{name}"):
            show_card(name, card, scale, open_view)
    with st.container(border=True, key="card-why"):
        left, middle, right = st.columns(WIDTHS, vertical_alignment="center")
        left.markdown("**Explanations**. When a word is changed, does an explanation find that word?")
        with middle:
            show_tally(claims_of(EXPLANATIONS, asked_here=True))
        about = {"on_click": open_view, "args": ("Explanations", CLAIMS)}
        right.button("Claims and tables", key=f"tables-{EXPLANATIONS}", **about)


def show_card(name: str, card: Card, scale: Scale, open_view: Callable[[str, str], None]) -> None:
    """The verdict, the claim, its leads, and buttons; the reason for the verdict is behind one of them."""
    claim, table = claim_of(card)
    left, middle, right = st.columns(WIDTHS, vertical_alignment="center")
    left.markdown(f"#### {card.title} {badge_of(card)}\n{card.claim}")
    lines = ""
    for both, _ in compared(card):
        lead = both[0] or both[1]
        against = ": <em>contradicts its claim</em>" * (both[0] is None and lead.lead < 0)
        lines += f"<tr><td colspan=2>{escape(f'{lead.row} over {lead.other}, {lead.column}')}{against}</tr>"
        lines += f"<tr>{lead_line(both, table, scale)}</tr>"
    middle.html(f"<table class=labkit-leads><col><col>{lines}</table>{note_of(card, claim.ours.lead.row, table)}")
    with right, st.container(horizontal=True, key=f"open-{name}"):
        if card.panel:
            icon = ":material/play_arrow:"
            about: Any = {"on_click": open_view, "args": (card.title, TRY)}
            st.button("Try it", type="primary", icon=icon, key=f"try-{name}", **about)
        else:
            show_why_button(name)
        st.button("Claims", key=f"tables-{name}", on_click=open_view, args=(card.title, CLAIMS))
        with st.popover("Why?", key=f"reason-{name}"):
            st.markdown(f"{frame.plain(sentence(result_of(claim, table)))} {card.differs} {card.tested}")
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
