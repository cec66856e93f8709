"""The Papers page: all papers at a glance, or one of them: its claims, its tables, or a panel to try it in.

The address has the paper and its view, as `paper` and `show`. Addresses from before have `try`, or a table alone.
"""

from __future__ import annotations

from typing import Any

import cached
import choosing
import frame
import papers_claims
import streamlit as st
from papers_claims import CARDS, CLAIMS, TABLES, TRY, sentence

from labkit import figures
from labkit.papers.published import PAPERS
from labkit.papers.reports import ours

EVERY = "All papers"
NAMES = {card.title: name for name, card in CARDS.items()} | {"Explanations": papers_claims.EXPLANATIONS}
TO_TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0);"  # runs again when its text changes
ABOUT = """\
Our scores come from `labkit reproduce`, which uses public or generated data rather than the paper's. Each line shows
the **lead** of one method over another. Lines with the same unit have the same scale. A point is a hundredth of the
best possible score. In the **tables**, our scores have their 95 % interval, or their standard deviation over seeds.

A claim **holds** if the whole 95 % interval of the lead on test is above 0, or above the lead that is claimed. The
interval covers seeds (repetitions of training) and test items. The settings of both sides are chosen on dev, a part of
the corpus used for neither training nor testing; rows that end in “as printed” use the paper's.

If only part of the interval is above 0, the claim is **undecided**; if it is open only because seeds or the scores of a
row are missing, **incomplete**. A claim about several pairs of methods **does not hold** only if an interval that is
widened for their number is below 0, so it can be undecided although the interval shown is below 0.
"""
FORMULAS = (
    r"\text{lead} = \bar x_{\text{claimed}} - \bar x_{\text{other}}, \qquad"
    r"\text{holds} \iff \text{lead} - t_{0.975}\,\text{se} > 0",
)


# --- the tables of a paper ---------------------------------------------------------------------------------------


def show_tables(paper: str) -> None:
    """One table of a paper: the printed scores and ours."""
    left, right = st.columns(2)
    named = {name: table for name, table in cached.paper_tables().items() if table.table.paper == paper}
    titles: Any = {"format_func": lambda name: named[name].table.title, **frame.KEEP}
    name = left.selectbox("Table or figure", list(named), key=f"{paper}-table", **titles)
    table = named[name]
    column = right.selectbox("Column", table.columns, key=f"{name}-column", **frame.KEEP)
    st.markdown(f"**{table.table.title}:** {frame.plain(table.table.caption)} (numbers in the unit of the table)")
    rows = printed_beside_ours(table)
    title, count = table.table.title, len(table.rows)
    alt = f"{title}, {column}: the paper's score and ours for each of {count} rows; the table has all values."
    frame.picture(figures.ours_beside_paper(table, column), key="ours_beside_paper", alt=alt, rows=lambda: rows)
    frame.table(
        rows,
        "Every number of the table: the paper's, ours with its spread, or why it is missing.",
        placeholder="not printed",
    )
    texts = ", ".join(table.data), *table.notes, table.table.note, PAPERS[paper].citation
    lines = [frame.plain(text) for text in texts if text]
    for each in PAPERS[paper].observations:
        lines.append(f"{papers_claims.badge(each.verdict)} {sentence(each.text)} {sentence(each.why)}")
    with st.expander("Data, settings, source, and what the paper says about itself"):
        st.markdown("\n\n".join(lines))
    frame.code(PAPER_CODE.format(table=name, column=column))


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


def open_view(title: str, view: str) -> None:
    """Open a view of a paper."""
    st.session_state.update(paper=title, show=view)
    turn()


def turn() -> None:
    """Before another view: remove the panel's parameters from the address, and choose the corpus of the next panel."""
    for name in list(st.query_params):
        if name not in ("paper", "show") and st.session_state.get(f"{name}-said"):
            st.query_params.pop(name)
    if st.session_state.get("show") == TRY and (panel := panel_of(st.session_state["paper"])):
        st.query_params["corpus"] = panel.CORPUS


def panel_of(title: str) -> Any:
    """The panel to try a paper in, if it has one."""
    return CARDS[NAMES[title]].panel if NAMES.get(title) in CARDS else None


def choose_view() -> tuple[str, str]:
    """The paper, and below it what it claims and the view of it; without a view, all papers."""
    if (before := CARDS.get(st.query_params.get("try", ""))) and before.panel:
        st.query_params.pop("try")
        st.query_params.update(paper=before.title, show=TRY)
    elif "show" not in st.query_params and frame.address_changed("paper") and "-table" in str(st.query_params):
        st.query_params["show"] = TABLES
    title = frame.view([EVERY, *NAMES], "paper", label="Paper", on_change=turn)
    if title == EVERY:
        frame.keep_in_address("show", None)
        return title, ""
    name, panel = NAMES[title], panel_of(title)
    if name in CARDS:
        st.markdown(f"{CARDS[name].claim} {papers_claims.badge_of(CARDS[name])}")
    else:
        st.markdown("When one word of a sentence is changed, does a method's explanation find that word?")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        view = frame.view([CLAIMS, TABLES, *([TRY] if panel else [])], "show", on_change=turn)
        if not panel:
            papers_claims.show_why_button(name)
    return title, view


def page() -> None:
    explained = frame.head("What did each paper claim, and does it hold?")
    title, view = choose_view()
    panel = panel_of(title)
    with explained:
        frame.what_is_shown(*((panel.ABOUT, *panel.FORMULAS) if view == TRY else (ABOUT, *FORMULAS)))
    with st.container(key="to-top"):
        st.html(f"<script>{TO_TOP} // {title} {view}</script>", unsafe_allow_javascript=True)
    if title == EVERY:
        papers_claims.show_cards(open_view)
    elif view == TRY:
        show_panel(panel)
    elif view == TABLES:
        show_tables(NAMES[title])
    else:
        papers_claims.show_claims(NAMES[title])
    frame.show_link(own_file=view == TRY and st.session_state.get("corpus") == choosing.OWN)


def show_panel(panel: Any) -> None:
    """The open panel, with its own choices."""
    st.session_state[frame.CHOICES] = st.container(horizontal=True, vertical_alignment="bottom", key="choices-of-panel")

    def fill() -> None:
        opened = choosing.corpus(panel.CORPUS)
        if opened is not None:
            panel.show(opened)

    frame.run(fill)


PAPER_CODE = """\
from labkit.figures import ours_beside_paper
from labkit.papers.bundled_report import beside

ours_beside_paper(beside()[{table!r}], {column!r}).show()
"""
frame.run(page)
