"""The Papers page: what each paper claims, whether it holds here, a panel to try it in, and all its tables."""

from __future__ import annotations

from typing import Any

import cached
import choosing
import frame
import streamlit as st
from papers_cards import CARDS, TRY, show_cards

from labkit import figures

EVERY = "All papers"
ABOUT = """\
Each card shows the main result of its paper. An open diamond marks the paper's value, and a disc marks ours. Our values
come from `labkit reproduce`, which uses public or generated data. These data are not those of the paper, so compare
the order of the rows and the size of a lead, not the third digit.

A claim **holds** if the whole 95 % interval of the lead on test is above 0. The interval covers seeds and test items,
and the settings of both sides are chosen on dev. If only part of the interval is above 0, the claim is **undecided**:
the results are too close to call.
"""
FORMULAS = (
    r"\text{lead} = \bar x_{\text{claimed}} - \bar x_{\text{other}}, \qquad"
    r"\text{holds} \iff \text{lead} - t_{0.975}\,\text{se} > 0",
)


# --- the tables of a paper --------------------------------------------------------------------------------------


def show_tables(paper: str) -> None:
    """One table of a paper: the printed scores and ours."""
    from labkit.papers.published import PAPERS as papers

    left, right = st.columns(2)
    named = {name: table for name, table in cached.paper_tables().items() if table.table.paper == paper}
    ours = {key: [each.column for each in table.figures if each.mean is not None] for key, table in named.items()}
    known = [place for place, columns in enumerate(ours.values()) if columns]  # initially one that has our scores
    name = left.selectbox(
        "Table or figure",
        list(named),
        known[0] if known else 0,
        format_func=lambda name: named[name].table.title,
        key=f"{paper}-table",
        **frame.KEEP,
    )
    table = named[name]
    start = table.columns.index(next(iter(ours[name]), table.columns[0]))
    column = right.selectbox("Column", table.columns, start, key=f"{name}-column", **frame.KEEP)
    st.markdown(f"**{table.table.title}.** {frame.plain(table.table.caption)}")
    rows = printed_beside_ours(table)
    title, count = table.table.title, len(table.rows)
    alt = f"{title}, {column}: the paper's score and ours for each of {count} rows; the table has all values."
    frame.picture(figures.ours_beside_paper(table, column), key="ours_beside_paper", alt=alt, rows=lambda: rows)
    frame.table(
        rows,
        "Every value in the table: the paper's, and ours with its spread or the reason why it is missing.",
        formats=decimals_of(table),
        placeholder="not printed",
    )
    for note in dict.fromkeys(figure.why for figure in table.figures if figure.why and figure.mean is not None):
        st.caption(f"\\* {frame.plain(note)}")
    for claim in table.claims:
        own = "" if claim.asked_here else f"; by the paper's own values: {claim.paper}"
        st.markdown(f"- {frame.plain(claim.text)} **Ours: {claim.ours}**{own}")
        st.caption(frame.plain(claim.decides))
    show_leads(table)
    for line in (", ".join(table.data), *table.notes, table.table.note, papers[paper].citation):
        if line:
            st.caption(frame.plain(line))
    if papers[paper].observations:
        with st.expander("What the paper says about itself"):
            for observation in papers[paper].observations:
                st.markdown(
                    f"- {frame.plain(observation.text)} **{observation.verdict}**: {frame.plain(observation.why)}"
                )
    if not table.evidence:
        st.caption(
            "Our models were trained less than the paper's, or not at all, so this is no evidence for or against "
            "the paper."
        )
    frame.code(PAPER_CODE.format(table=name, column=column))


def show_leads(table: Any) -> None:
    """What remains of each lead once the settings of both sides are chosen on dev."""
    leads = [claim for claim in table.claims if claim.before and claim.after]
    if not leads:
        return
    st.markdown("**Leads with the paper's settings and with settings chosen on dev**")
    rows = [
        {
            "claim": claim.text,
            "settings": name,
            "lead": lead.lead,
            "from": lead.low,
            "to": lead.high,
            "of": f"{lead.row} over {lead.other}, {lead.column}",
        }
        for claim in leads
        for name, lead in (("as printed", claim.before), ("chosen on dev", claim.after))
    ]
    alt = f"The leads of {len(leads)} claims with their intervals, before and after tuning; the table has all values."
    frame.picture(figures.leads_before_and_after(table.leads), key="leads", alt=alt, rows=lambda: rows)


def printed_beside_ours(table: Any) -> list[dict[str, Any]]:
    """The rows of a paper's table, each with the printed score and ours, column by column."""
    by_place = {(figure.row, figure.column): figure for figure in table.figures}
    rows = []
    for name in table.rows:
        figures_of_row = [by_place[name, column] for column in table.columns]
        row: dict[str, Any] = {"row": name}
        for figure in figures_of_row:
            row[f"{figure.column}, paper"] = figure.published
            row[f"{figure.column}, ours"] = "–" if figure.mean is None else spoken_figure(figure)
        row["note"] = "; ".join(dict.fromkeys(figure.why for figure in figures_of_row if figure.why))
        rows.append(row)
    return rows


def spoken_figure(figure: Any) -> str:
    """Mean and interval, or mean ± spread, with the decimals of the printed score, and an asterisk if it has a note."""
    mean = f"{figure.mean:#.4g}"
    decimals = len(mean.partition(".")[2])
    about = f" ± {figure.spread:.{decimals}f}" if figure.spread else ""
    if figure.interval is not None:
        about = " [{}]".format(", ".join(f"{bound:.{decimals}f}" for bound in figure.interval))
    return mean + about + (" *" if figure.why else "")


def decimals_of(table: Any) -> dict[str, str]:
    """Each printed column with all its digits, .640 next to .698."""
    digits: dict[str, int] = {}
    for figure in table.figures:
        if figure.published is not None:
            decimals = repr(float(figure.published)).partition(".")[2]
            digits[figure.column] = max(digits.get(figure.column, 0), len(decimals))
    return {f"{name}, paper": f"%.{count}f" for name, count in digits.items()}


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("What did each paper claim, and does it hold?", ABOUT, *FORMULAS)
    names = {card.title: name for name, card in CARDS.items()} | {"Explanations": "why"}
    hidden: Any = {"label_visibility": "collapsed", **frame.KEEP}
    title = str(st.segmented_control("Paper", [EVERY, *names], default=EVERY, required=True, key="paper", **hidden))
    if title == EVERY:
        show_cards()
    else:
        show_tables(names[title])
    frame.show_link(own_file=TRY in st.query_params and st.session_state.get("corpus") == choosing.OWN)


PAPER_CODE = """\
from labkit.figures import ours_beside_paper
from labkit.papers.bundled_report import beside

ours_beside_paper(beside()[{table!r}], {column!r}).show()
"""
frame.run(page)
