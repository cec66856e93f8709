"""The claims of a paper: each as a sentence with its verdict, and the paper's lead and ours on a line around 0."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import cached
import streamlit as st

from labkit.figure_names import written
from labkit.papers.reports import printed_lead, result_of, unit_of

VERDICTS = {  # of a claim -> colour and text of its badge
    "confirmed": ("green", "Holds"),
    "not confirmed": ("red", "Does not hold"),
    "open": ("blue", "Undecided"),
    "not measured": ("gray", "Not tested"),
}
EXPLANATIONS = "why"  # not a paper: our own measurements
UNITS = {" points": "", " %": " %", " minutes": " minutes"}  # of a lead -> what follows its number
HEADS = (
    "<tr><th>verdict<th>claim; click it for the reason<th colspan=2>lead{}:{} "
    "<b class=labkit-ours></b> here with its 95 % interval<th>in</tr>"
)
PRINTED = " <b class=labkit-paper></b> in the paper,"


def claims_of(paper: str, *, asked_here: bool) -> list[tuple[Any, Any]]:
    """The claims of a paper, or our own questions about it, each with its table."""
    mine = [table for table in cached.paper_tables().values() if table.table.paper == paper]
    return [(claim, table) for table in mine for claim in table.claims if claim.asked_here == asked_here]


def counted(claims: Iterable[tuple[Any, Any]]) -> dict[str, int]:
    """How many claims have each verdict that occurs."""
    counts = Counter(claim.ours.verdict for claim, _ in claims)
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


def badge_of(verdict: str, limit: str = "") -> str:
    """A verdict on a claim."""
    colour, words = VERDICTS[verdict]
    return f":{colour}-badge[{' '.join(filter(None, (words, limit)))}]"


def sentence(text: str) -> str:
    """A stored text as a sentence: a capital, a full stop, and its unit in words."""
    text = text.replace(" points", " percentage points")
    first = text[0] if text[1:2] == " " else text[:1].upper()  # k and λ are symbols
    return first + text[1:] + "." * (text[-1] not in ".?")


# --- a lead on a line --------------------------------------------------------------------------------------------


def leads_of(claim: Any, table: Any) -> tuple[Any, Any]:
    """Our lead that decides a claim, and the paper's of the two rows; without ours, the paper's that decides it."""
    lead = claim.ours.lead
    if lead is None:
        return None, claim.paper and claim.paper.lead
    return lead, printed_lead(table, lead.column, lead.row, lead.other, share=lead.share)


def scale_of(both: tuple[Any, Any], table: Any) -> tuple[Any, ...]:
    """What leads share that are drawn on one scale: their table and unit."""
    return next(((table.name, *unit_of(lead, table.table)) for lead in both if lead), ())


def most_of(leads: Sequence[Any]) -> float:
    """The largest number of these leads and their intervals."""
    return max((abs(end) for lead in leads if lead for end in (lead.lead, lead.low, lead.high)), default=0) or 1.0


def lead_line(own: Any, theirs: Any, table: Any, most: float) -> str:
    """The leads around 0, left of which the claimed method is behind, and their numbers; `most` is at both ends."""
    lead = own or theirs
    if lead is None:
        return "<td><td>"
    times, unit = unit_of(lead, table.table)
    after = UNITS.get(unit, " units")

    def number(value: float) -> str:
        share = unit in (" points", " %") and abs(times * value) >= 0.05
        return written(times * value, "+.1f" if share else "+.3g")

    def at(value: float) -> float:
        return 50 + 46 * value / most

    marks, said, numbers = "", [], ""
    for found, look, where in ((theirs, "paper", "in the paper"), (own, "ours", "here")):
        if found:
            sure = f" (95 %: {number(found.low)} to {number(found.high)})" * (not found.alone)
            marks += f"<i style='left:{at(found.low):.1f}%;right:{100 - at(found.high):.1f}%'></i>" * (not found.alone)
            marks += f"<b class=labkit-{look} style='left:{at(found.lead):.1f}%'></b>"
            said.append(f"lead {where} {number(found.lead)}{sure}")
            numbers += f"<span><b class=labkit-{look}></b> {escape(number(found.lead))}</span> "
    alt = escape(f"{'; '.join(said)}{after or ' percentage points'}", quote=True)
    line = f'<div class=labkit-lead role=img aria-label="{alt}" title="{alt}">{marks}</div>'
    return f"<td>{line}<td class=labkit-numbers>{numbers}{escape(after)}"


# --- the claims of a paper ---------------------------------------------------------------------------------------


def table_of(claims: Sequence[tuple[Any, Any]], *, kind: bool = False) -> str:
    """A row for each claim, those that hold first; leads of one table and unit share a scale.

    `kind`: all claims are of one kind, so a row names only its method.
    """
    order = sorted(claims, key=lambda each: list(VERDICTS).index(each[0].ours.verdict))
    leads = [leads_of(*each) for each in order]
    scales = defaultdict(list)
    for (_, table), both in zip(order, leads, strict=True):
        scales[scale_of(both, table)] += both
    rows = []
    for (claim, table), both in zip(order, leads, strict=True):
        colour, verdict = VERDICTS[claim.ours.verdict]
        name = claim.text.rpartition(": ")[0] or "All" if kind else sentence(claim.text)
        line = lead_line(*both, table, most_of(scales[scale_of(both, table)]))
        source = [table.table.title, *(lead.column for lead in both if lead)][:2]
        rows.append(
            f"<tr><td><b class='labkit-tag {colour}'>{verdict}</b><td><details><summary>{escape(name)}</summary>"
            f"{escape(sentence(result_of(claim, table)))}</details>{line}"
            f'<td title="{escape(table.table.caption, quote=True)}">{escape(": ".join(source))}</tr>'
        )
    points = any(" points" in scale for scale in scales)
    head = HEADS.format(" in percentage points" * points, PRINTED * any(theirs for _, theirs in leads))
    return f"<table class=labkit-claims><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def show_claims(paper: str, *, opened: bool) -> None:
    """What the paper claims, with our verdicts, then our own questions, which `opened` shows at once."""
    if claims := claims_of(paper, asked_here=False):
        show_tally(claims)
        st.html(table_of(claims))
    asked = claims_of(paper, asked_here=True)
    if paper != EXPLANATIONS:
        if asked:
            with st.expander(f"Our own questions. {tally(asked)}", expanded=opened):
                st.html(table_of(asked))
        return
    show_tally(asked)
    kinds: dict[str, list[tuple[Any, Any]]] = defaultdict(list)
    for claim, table in asked:
        kinds[claim.text.rpartition(": ")[2]].append((claim, table))
    for place, (kind, claims) in enumerate(kinds.items()):
        badges = " ".join(f":{VERDICTS[each][0]}-badge[{in_words(each, n)}]" for each, n in counted(claims).items())
        with st.expander(f"{sentence(kind)} {badges}", expanded=place == 0):
            st.html(table_of(claims, kind=True))
