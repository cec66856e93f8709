"""Page "Compare": runs side by side on one test split, how they were trained, and the papers' tables beside ours."""

from __future__ import annotations

from typing import Any

import cached
import choosing
import frame
import streamlit as st
from compare_runs import chosen_runs, scored
from compare_text import ABOUT, CODE, CURVES_CODE, FORMULAS, NO_ORDER, NO_RUN, PAPER_CODE, SAW_TEST

from labkit import figures
from labkit.evaluation.comparison import ordered, spoken
from labkit.figures.comparison import SAW, SPOKEN

RUNS, CURVES, PAPERS = VIEWS = ["Runs", "Curves", "The papers"]
BASELINES = ["mean-vectors", "tfidf"]


# --- runs --------------------------------------------------------------------------------------------------------


def show_runs(opened: cached.Opened) -> None:
    """The leaderboard as bars and as a table."""
    from labkit.evaluation.leaderboard import leaderboard

    runs = chosen_runs(opened)
    left, right = st.columns([3, 2])
    baselines = left.multiselect(
        "Beside them, fitted here without labels",
        list(choosing.VECTORS),
        BASELINES,
        format_func=choosing.VECTORS.__getitem__,
        key="baselines",
        **frame.KEEP,
    )
    results = scored(runs, opened)
    folders = [result.run for result in results]
    results += [cached.baseline_result(name, opened.corpus, opened.key) for name in baselines]
    if not results:
        st.info(NO_RUN)
        return
    names = list(dict.fromkeys(name for result in results for name in result.scores.figures))
    figure = right.selectbox(
        "Figure", names, names.index(results[0].scores.measure), format_func=spoken, key="figure", **frame.KEEP
    )
    lines = leaderboard(results, figure)
    alt = f"Bars of {spoken(figure)} on the test split of {opened.corpus.name}: " + ", ".join(
        f"{line.name} {line.mean:.3f} ({SPOKEN.get(line.verdict, line.verdict)})"
        for line in lines
        if figure in line.means
    )
    rows = [row(line, names) for line in lines]
    frame.picture(figures.leader_bars(lines), key="leader_bars", alt=alt, rows=lambda: rows)
    if saw := [line.name for line in lines if line.saw_test]:
        st.warning(frame.plain(SAW_TEST.format(names=", ".join(saw))), icon=":material/visibility:")
    if not ordered(figure):
        st.caption(frame.plain(NO_ORDER.format(figure=spoken(figure))))
    wide: dict[str, Any] = {"run": st.column_config.TextColumn(width="medium")}
    wide |= {spoken(name): st.column_config.NumberColumn(format="%.4f") for name in names}
    said = "The same as a table: every figure of every line, with its verdict."
    st.dataframe(rows, hide_index=True, column_config=wide, placeholder="–", alt=said)
    of = f"; {lines[0].sample}" if lines[0].sample else ""
    st.caption(f"Test split of {frame.plain(opened.corpus.name)}; ordered and judged by {spoken(figure)}{of}.")
    corpus = "mine.csv" if opened.own else opened.corpus.name
    frame.code(CODE.format(corpus=corpus, folders=listed(folders), figure=figure))


def row(line: Any, names: list[str]) -> dict[str, Any]:
    """One line of the table."""
    against = ""
    if line.lead is not None:
        low, high = line.lead.interval()
        against = f"{-line.lead.lead:+.3f} [{-high:+.3f}, {-low:+.3f}]"
    means = {spoken(name): round(line.means[name], 4) if name in line.means else None for name in names}
    return {
        "run": f"{line.name} · {SAW}" if line.saw_test else line.name,
        "seeds": len(line.results),
        f"{spoken(line.figure)}, mean ± spread": str(line.spread)
        if line.spread
        else f"{line.mean:.4f}".replace("nan", "–"),
        "verdict": SPOKEN.get(line.verdict, line.verdict),
        "against the best, 95 %": against,
        **means,
    }


# --- curves ------------------------------------------------------------------------------------------------------


def show_curves(opened: cached.Opened) -> None:
    """One figure of every run's history over the epochs."""
    from labkit.runs import history

    runs = chosen_runs(opened)
    histories = {name: history(folder) for name, folder in runs.items()}
    histories = {name: found for name, found in histories.items() if found.rows}
    columns = list(dict.fromkeys(name for found in histories.values() for name in found.columns if name != "epoch"))
    if not columns:
        st.info("None of these runs was trained in epochs: choose others above, or train one on the page Train.")
        return
    default = next((place for place, name in enumerate(columns) if name.startswith("dev")), 0)
    column = st.selectbox("Figure", columns, default, format_func=spoken, key="curve", **frame.KEEP)
    shown = {name: found for name, found in histories.items() if column in found.columns}
    alt = f"Curves of {spoken(column)} over the epochs of {', '.join(shown)}."
    rows = [{"run": name, **line} for name, found in shown.items() for line in found.rows]
    frame.picture(
        figures.training_curves(shown, [column], height=420), key="compare_curves", alt=alt, rows=lambda: rows
    )
    st.caption("Of dev or of training, as the name says. Losses of different methods are not to be compared.")
    frame.code(CURVES_CODE.format(folders=listed([str(runs[name]) for name in shown]), column=column))


def listed(names: list[str]) -> str:
    """A list of texts as code, a line each."""
    return "[\n" + "".join(f"    {name!r},\n" for name in names) + "]"


# --- papers ------------------------------------------------------------------------------------------------------


def show_papers() -> None:
    """One table of a paper: printed and ours."""
    from labkit.lab.papers.published import PAPERS as papers

    tables = cached.paper_tables()
    left, middle, right = st.columns(3)
    paper = left.selectbox("Paper", list(papers), key="paper", **frame.KEEP)
    named = {name: table for name, table in tables.items() if table.paper == paper}
    known = [place for place, table in enumerate(named.values()) if ours_of(table)]  # at first, one that has ours
    name = middle.selectbox(
        "Table or figure",
        list(named),
        known[0] if known else 0,
        format_func=lambda name: named[name].title,
        key=f"{paper}-table",
        **frame.KEEP,
    )
    table = named[name]
    start = table.columns.index(next(iter(ours_of(table)), table.columns[0]))
    column = right.selectbox("Column", table.columns, start, key=f"{name}-column", **frame.KEEP)
    st.markdown(f"**{table.title}.** {frame.plain(table.caption)}")
    rows = table_rows(table)
    alt = (
        f"{table.title}, {column}: the paper's figure and ours for each of {len(table.rows)} rows; the table says all."
    )
    frame.picture(figures.ours_beside_paper(table, column), key="ours_beside_paper", alt=alt, rows=lambda: rows)
    said = "Every figure of the table: the paper's, ours with its spread, or why not."
    st.dataframe(rows, hide_index=True, column_config=decimals_of(table), placeholder="not printed", alt=said)
    for why in dict.fromkeys(figure.why for figure in table.figures if figure.why and figure.mean is not None):
        st.caption(f"\\* {frame.plain(why)}")
    for claim in table.claims:
        own = "" if claim.asked_here else f"; the paper's own figures: {claim.paper}"
        st.markdown(f"- {frame.plain(claim.text)} **Ours: {claim.ours}**{own}")
        st.caption(frame.plain(claim.decides))
    for line in (", ".join(table.data), *table.notes, table.note, papers[paper].citation):
        if line:
            st.caption(frame.plain(line))
    if papers[paper].observations:
        with st.expander("What the paper says of itself"):
            for told in papers[paper].observations:
                st.markdown(f"- {frame.plain(told.text)} **{told.verdict}**: {frame.plain(told.why)}")
    if not table.evidence:
        st.caption("Made with less training than the paper's, or not run here: no evidence for or against it.")
    frame.code(PAPER_CODE.format(table=name, column=column))


def ours_of(table: Any) -> list[str]:
    """The columns of a table in which we have a figure."""
    return [figure.column for figure in table.figures if figure.mean is not None]


def table_rows(table: Any) -> list[dict[str, Any]]:
    """Of each row the printed figure and ours, column by column."""
    found = {(figure.row, figure.column): figure for figure in table.figures}
    made = []
    for name in table.rows:
        figures_of_row = [found[name, column] for column in table.columns]
        line: dict[str, Any] = {"row": name}
        for figure in figures_of_row:
            line[f"{figure.column}, paper"] = figure.published
            line[f"{figure.column}, ours"] = "–" if figure.mean is None else spoken_figure(figure)
        line["to know"] = "; ".join(dict.fromkeys(figure.why for figure in figures_of_row if figure.why))
        made.append(line)
    return made


def spoken_figure(figure: Any) -> str:
    """Mean ± spread with as many decimals as the mean has, and an asterisk where there is something to know."""
    mean = f"{figure.mean:#.4g}"
    decimals = len(mean.partition(".")[2])
    return mean + (f" ± {figure.spread:.{decimals}f}" if figure.spread else "") + (" *" if figure.why else "")


def decimals_of(table: Any) -> dict[str, Any]:
    """Each printed column with all its digits, .640 beside .698."""
    found: dict[str, int] = {}
    for figure in table.figures:
        if figure.published is not None:
            digits = len(repr(float(figure.published)).partition(".")[2])
            found[figure.column] = max(found.get(figure.column, 0), digits)
    return {f"{name}, paper": st.column_config.NumberColumn(format=f"%.{digits}f") for name, digits in found.items()}


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("Compare: runs, curves, papers", ABOUT, *FORMULAS)
    view = frame.view(VIEWS)
    if view == PAPERS:
        show_papers()
        frame.share(own_file=False)
        return
    opened = choosing.corpus()
    if opened is None:
        return
    if view == CURVES:
        show_curves(opened)
    else:
        show_runs(opened)
    frame.share(own_file=opened.own)


frame.run(page)
