"""The Papers page: what each paper claims, whether it holds here, a panel to try it in, and all its tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import cached
import choosing
import frame
import papers_cards
import streamlit as st
from papers_cards import CARDS, TRY

from labkit import figures
from labkit.papers.claims import ShownLead
from labkit.papers.records import AS_PRINTED
from labkit.papers.reports import ours, result_of

EVERY = "All papers"
TO_TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0);"  # runs again when its text changes
UNITS = (
    "A point is a hundredth of the best possible score. “95 %” is the range in which a lead lies with 95 % "
    "confidence, given the randomness of seeds (repetitions of training) and test items."
)
TWICE = (
    "Rows that end in “as printed” use the settings printed in the paper. Rows with the same name but without “as "
    "printed” use settings chosen on dev, with an equal number of trials for each method. Claims are judged on the "
    "latter."
)
LEADS = (
    "“As printed” uses the settings printed in the paper, “tuned” those chosen on dev. To the right of 0, the "
    "claimed method is better. Hover over a mark to see which two methods and which column it compares."
)
ABOUT = """\
Each card shows the main result of its paper, as the lead of one method over another. A lead is positive if the first
method is better. An open diamond marks the paper's lead, and a disc marks ours, with its 95 % interval. Our values come
from `labkit reproduce`, which uses public or generated data rather than the paper's.

A claim **holds** if the whole 95 % interval of the lead on test is above 0. The interval covers seeds and test items,
and the settings of both sides are chosen on dev, a part of the corpus used for neither training nor testing. If only
part of the interval is above 0, the claim is **undecided**: the results are too close to call.
"""
FORMULAS = (
    r"\text{lead} = \bar x_{\text{claimed}} - \bar x_{\text{other}}, \qquad"
    r"\text{holds} \iff \text{lead} - t_{0.975}\,\text{se} > 0",
)


# --- a paper ----------------------------------------------------------------------------------------------------


def show_claims(paper: str) -> None:
    """What the paper claims, with our verdicts, then our own questions."""
    for asked_here in (False, True):
        if not (claims := papers_cards.claims_of(paper, asked_here=asked_here)):
            continue
        rows = [
            {
                "verdict": papers_cards.badge_of(claim.ours.verdict),
                "our question" if asked_here else "claim": frame.plain(claim.text),
                "here": frame.plain(result_of(claim, table)),
                "in": table.table.title,
            }
            for claim, table in claims
        ]
        title = f"Our own questions: {papers_cards.tally(claims)}"
        opens = paper not in CARDS or any(claim.text == CARDS[paper].judged for claim, _ in claims)
        with st.expander(title, expanded=opens) if asked_here else st.container():
            if not asked_here:
                papers_cards.show_tally(claims)
            st.table(rows, border="horizontal", alt="Each claim or question, and whether it holds here.")


def show_tables(paper: str) -> None:
    """One table of a paper: the printed scores and ours."""
    from labkit.papers.published import PAPERS as papers

    left, right = st.columns(2)
    named = {name: table for name, table in cached.paper_tables().items() if table.table.paper == paper}
    ours_in = {key: [each.column for each in table.figures if each.mean is not None] for key, table in named.items()}
    first = next((place for place, columns in enumerate(ours_in.values()) if columns), 0)  # one with our scores
    titles: Any = {"format_func": lambda name: named[name].table.title, **frame.KEEP}
    name = left.selectbox("Table or figure", list(named), first, key=f"{paper}-table", **titles)
    table = named[name]
    start = table.columns.index(next(iter(ours_in[name]), table.columns[0]))
    column = right.selectbox("Column", table.columns, start, key=f"{name}-column", **frame.KEEP)
    caption = frame.plain(table.table.caption).removesuffix(".")
    end = "" if caption.endswith("?") else "."
    st.markdown(f"**{table.table.title}.** {caption}{end} Numbers are in the unit of the table.")
    if any(AS_PRINTED in row for row in table.rows):
        st.caption(TWICE)
    rows = printed_beside_ours(table)
    title, count = table.table.title, len(table.rows)
    alt = f"{title}, {column}: the paper's score and ours for each of {count} rows; the table has all values."
    frame.picture(figures.ours_beside_paper(table, column), key="ours_beside_paper", alt=alt, rows=lambda: rows)
    frame.table(
        rows,
        "Every number of the table: the paper's, ours with its spread, or why it is missing.",
        placeholder="not printed",
    )
    for note in dict.fromkeys(figure.why for figure in table.figures if figure.why and figure.mean is not None):
        st.caption(f"\\* {frame.plain(note)}")
    if not table.evidence:
        st.caption(
            "Our models were trained less than the paper's, or not at all, so this is not evidence for or against "
            "the paper."
        )
    with st.expander("Data, settings and source of this table"):
        for line in (", ".join(table.data), *table.notes, table.table.note, papers[paper].citation):
            if line:
                st.markdown(frame.plain(line))
    frame.code(PAPER_CODE.format(table=name, column=column))
    if leads := table.leads:
        show_leads(leads)
    if papers[paper].observations:
        with st.expander("What the paper says about itself"):
            for each in papers[paper].observations:
                st.markdown(f"- {frame.plain(each.text)} **{each.verdict}**: {frame.plain(each.why)}")


def show_leads(leads: list[tuple[str, ShownLead, ShownLead]]) -> None:
    """What remains of each lead once the settings of both sides are chosen on dev."""
    rows = [
        {"claim": claim, "settings": settings} | asdict(lead)
        for claim, *both in leads
        for settings, lead in zip(("as printed", "chosen on dev"), both, strict=True)
    ]
    alt = f"The leads of {len(leads)} claims with their intervals, before and after tuning."
    with st.expander("Leads before and after tuning"):
        frame.picture(figures.leads_before_and_after(leads), key="leads", alt=alt, rows=lambda: rows)
        st.caption(LEADS)


def printed_beside_ours(table: Any) -> list[dict[str, Any]]:
    """The rows of a paper's table, each with the printed score and ours, column by column."""
    rows = []
    for printed in table.table.rows:
        found = [table.at(printed.name, column) for column in table.columns]
        row: dict[str, Any] = {"row": printed.name}
        for column, figure in zip(table.table.columns, found, strict=True):
            row[f"{column.name}, paper"] = figure.published
            row[f"{column.name}, ours"] = ours(column, figure, counted=printed.counted)
        rows.append(row | {"note": "; ".join(dict.fromkeys(figure.why for figure in found if figure.why))})
    return rows


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("What did each paper claim, and does it hold?", ABOUT, *FORMULAS)
    if TRY not in st.query_params:
        st.caption(UNITS)
    names = {card.title: name for name, card in CARDS.items()} | {"Explanations": papers_cards.EXPLANATIONS}
    hidden: Any = {"label_visibility": "collapsed", "on_change": papers_cards.close_panel, **frame.KEEP}
    title = str(st.segmented_control("Paper", [EVERY, *names], default=EVERY, required=True, key="paper", **hidden))
    opened = st.query_params.get(TRY, "")
    shown = CARDS[opened].title if opened in CARDS else title
    with st.container(key="to-top"):
        st.html(f"<script>{TO_TOP} // {shown}</script>", unsafe_allow_javascript=True)
    if title != EVERY:
        show_claims(names[title])
        show_tables(names[title])
    elif opened in CARDS and (panel := CARDS[opened].panel):
        papers_cards.show_panel(opened, panel)
    else:
        papers_cards.show_cards()
    frame.show_link(own_file=TRY in st.query_params and st.session_state.get("corpus") == choosing.OWN)


PAPER_CODE = """\
from labkit.figures import ours_beside_paper
from labkit.papers.bundled_report import beside

ours_beside_paper(beside()[{table!r}], {column!r}).show()
"""
frame.run(page)
