"""Page "Compare": runs side by side on one test split, how they were trained, one pair of sentences to two of them,
and the papers' tables beside ours."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cached
import choosing
import classroom
import frame
import streamlit as st
import why

from labkit import figures
from labkit.figure_names import ordered, spoken
from labkit.figures.comparison import SAW, SPOKEN
from labkit.runs import history

if TYPE_CHECKING:
    from labkit.evaluation.leaderboard import Result

RUNS, CURVES, PAIR, PAPERS = VIEWS = ["Runs", "Curves", "Two sentences", "The papers"]
BASELINES = ["mean-vectors", "tfidf"]
FIRST = 12  # runs that are chosen at first
MOST = 40  # runs that can be chosen, and that a link names
SENTENCES = 300  # to choose from, for one pair
NAMED, LONGEST = 3, 60  # names that are said to be missing, and the letters of each
NAMES, CORPUS = "runs", "compared-on"  # in the address; in the session
ABOUT = """\
Runs on the **test** split of one corpus, ordered and judged by the figure that is chosen. Runs that differ only in the
seed are one line: its mean and, from three seeds on, its spread. Against the best stands the **95 % interval** of the
difference, over other test items and other seeds; where it holds 0, the difference is a **tie**, and nothing else
decides.

The papers' tables stand beside what `labkit reproduce` found with public or made data: other data, so that what counts
is the order of the rows and the size of a lead, not the third digit.
"""
FORMULAS = (
    r"\bar x = \tfrac1n \sum_s x_s,\qquad \text{spread} = \sqrt{\tfrac{1}{n-1}\sum_s (x_s-\bar x)^2}",
    r"\text{tie} \iff |\bar x_a - \bar x_b| \le t_{0.975}\, \text{se},\qquad \text{se}^2 = \text{var over seeds} "
    r"+ \text{var over items} - \text{what both share}",
)
SAW_TEST = (
    "{names}: made with the test sentences, though without their classes: it embeds them together with all others, as "
    "its paper does. No other run here has seen them."
)
NO_ORDER = "{figure} describes a space: a larger value is neither better nor worse, so no run is called the best."
NO_RUN = "No run and no baseline is chosen: choose some above. Runs are made on the page Train."


# --- which runs --------------------------------------------------------------------------------------------------


def chosen_runs(opened: cached.Opened) -> dict[str, Path]:
    """Name -> folder of the runs to compare."""
    runs = choosing.trained_here(choosing.every_run(choosing.run_folders(), first=opened.corpus.name), opened)
    own = list(runs)
    if st.session_state.setdefault(CORPUS, opened.key) != opened.key:  # the address spoke of another corpus
        st.session_state[CORPUS] = opened.key
        frame.keep_in_address(NAMES, None)
        frame.write_address()
    linked = of_link()
    if linked and (missing := [name for name in linked if name not in runs]):
        st.info(not_here(missing))
    key = f"runs-{opened.key[:8]}"
    first = own[:FIRST] if linked is None else linked
    now = first if frame.address_changed(NAMES) else st.session_state.get(key, first)
    frame.keep_in_address(NAMES, None if linked is None else linked or [""])
    chosen_before = key in st.session_state and set(now) <= runs.keys()  # a folder may be gone
    if frame.address_changed(NAMES) or not chosen_before:
        st.session_state[key] = [name for name in now if name in runs]
    names = st.multiselect(
        "Runs",
        list(runs),
        format_func=lambda name: choosing.run_label(name, runs[name], opened),
        max_selections=MOST,
        key=key,
        on_change=remember_runs,
        args=(key, own[:FIRST]),
    )
    return {name: runs[name] for name in names}


def results_of(runs: Mapping[str, Path], opened: cached.Opened) -> list[Result]:
    """What each run is worth on the test split; one that cannot be scored is named, and the others are shown."""
    results, bad = [], {}
    for name, folder in runs.items():
        try:
            results.append(cached.run_result(str(folder), cached.written(folder), opened))
        except (ValueError, OSError) as reason:
            bad[name] = reason
    if bad:
        st.warning(choosing.left_out_note(bad))
    return results


def of_link() -> list[str] | None:
    """The names in the address, each once and not too many; None where it says nothing of runs."""
    if NAMES not in st.query_params:
        return None
    return [name for name in dict.fromkeys(st.query_params.get_all(NAMES)) if name][:MOST]


def remember_runs(key: str, first: Collection[str]) -> None:
    """Put the choice into the address; that nothing is chosen is an empty name."""
    names = st.session_state[key]
    frame.keep_in_address(NAMES, None if list(names) == list(first) else names or [""])
    frame.write_address()


def not_here(names: Sequence[str]) -> str:
    """One sentence on the runs of a link that are not found."""
    first = ", ".join(name[:LONGEST] for name in names[:NAMED])
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    remedy = "choose others" if classroom.is_on() else "name their folder in the sidebar"
    return frame.plain(f"The link names runs that are not here: {first}{more}; {remedy}.")


# --- runs --------------------------------------------------------------------------------------------------------


def show_results(opened: cached.Opened) -> None:
    """The leaderboard as bars and as a table."""
    from labkit.evaluation.leaderboard import leaderboard

    runs = chosen_runs(opened)
    left, right = st.columns([3, 2])
    baselines = left.multiselect(
        "Baselines, fitted here without labels",
        list(choosing.VECTORS),
        BASELINES,
        format_func=choosing.VECTORS.__getitem__,
        key="baselines",
        **frame.KEEP,
    )
    results = results_of(runs, opened)
    folders = [result.run for result in results]
    results += [cached.baseline_result(name, opened) for name in baselines]
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
    rows = [row_of(line, names) for line in lines]
    frame.picture(figures.leader_bars(lines), key="leader_bars", alt=alt, rows=lambda: rows)
    if saw := [line.name for line in lines if line.saw_test]:
        st.warning(frame.plain(SAW_TEST.format(names=", ".join(saw))), icon=":material/visibility:")
    if not ordered(figure):
        st.caption(frame.plain(NO_ORDER.format(figure=spoken(figure))))
    frame.table(
        rows,
        "The same as a table: every figure of every line, with its verdict.",
        formats={spoken(name): "%.4f" for name in names},
        widths={"run": "medium"},
        placeholder="–",
    )
    of = f"; {lines[0].sample}" if lines[0].sample else ""
    st.caption(f"Test split of {frame.plain(opened.corpus.name)}; ordered and judged by {spoken(figure)}{of}.")
    frame.code(CODE.format(corpus=opened.in_code, folders=list_in_code(folders), figure=figure))


def row_of(line: Any, names: list[str]) -> dict[str, Any]:
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


OF_WHAT = (
    "The figure is of dev, of the probe (300 sentences of dev, by cosine) or of training, as its name says. Losses of "
    "different methods cannot be compared."
)


# --- curves ------------------------------------------------------------------------------------------------------


def show_histories(opened: cached.Opened) -> None:
    """One figure of every run's history over the epochs."""
    runs = chosen_runs(opened)
    histories = {name: past for name, folder in runs.items() if (past := history(folder)).rows}
    columns = list(dict.fromkeys(name for past in histories.values() for name in past.columns if name != "epoch"))
    if not columns:
        st.info("None of these runs was trained in epochs: choose others above, or train one on the page Train.")
        return
    default = next((place for place, name in enumerate(columns) if name.startswith("dev")), 0)
    column = st.selectbox("Figure", columns, default, format_func=spoken, key="curve", **frame.KEEP)
    shown = {name: past for name, past in histories.items() if column in past.columns}
    alt = f"Curves of {spoken(column)} over the epochs of {', '.join(shown)}."
    rows = [{"run": name, **line} for name, past in shown.items() for line in past.rows]
    frame.picture(
        figures.training_curves(shown, [column], height=420), key="compare_curves", alt=alt, rows=lambda: rows
    )
    st.caption(OF_WHAT)
    frame.code(CURVES_CODE.format(folders=list_in_code([str(runs[name]) for name in shown]), column=column))


def list_in_code(names: list[str]) -> str:
    """A list of texts as code, a line each."""
    return "[\n" + "".join(f"    {name!r},\n" for name in names) + "]"


# --- two sentences -----------------------------------------------------------------------------------------------


def show_two(opened: cached.Opened) -> None:
    """How alike two sentences are to two methods, and why."""
    runs = choosing.trained_here(choosing.every_run(choosing.run_folders(), first=opened.corpus.name), opened)
    options = [*choosing.VECTORS, *runs]
    spaces = []
    label_of = partial(named, runs=runs, opened=opened)
    for column, key, label, first in zip(
        st.columns(2), ("one", "other"), ("Model", "Beside it"), (next(iter(runs), "tfidf"), "sif"), strict=True
    ):
        name = column.selectbox(
            label, options, options.index(first), format_func=label_of, key=f"model-{key}", **frame.KEEP
        )
        spaces.append(choosing.run_in(runs[name], name) if name in runs else choosing.fitted(opened, name))
    texts = cached.some_sentences(opened, SENTENCES)
    sides = zip(st.columns(2), ("a", "b"), (0, 1), strict=True)
    a, b = (choosing.one_sentence(column, name, texts, first) for column, name, first in sides)
    for column, space in zip(st.columns(2), spaces, strict=True):
        similarity = space.method.similarity([a], [b])
        column.metric(f"similarity, {frame.plain(space.name)}", f"{float(similarity[0, 0]):.4f}")
    why.button("pair", spaces, opened, a, b)


def named(option: str, runs: Mapping[str, Path], opened: cached.Opened) -> str:
    """What stands in the box: a baseline by its name in words, a run with where it is from."""
    return choosing.VECTORS.get(option) or choosing.run_label(option, runs[option], opened)


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
    rows = printed_beside_ours(table)
    alt = (
        f"{table.title}, {column}: the paper's figure and ours for each of {len(table.rows)} rows; the table says all."
    )
    frame.picture(figures.ours_beside_paper(table, column), key="ours_beside_paper", alt=alt, rows=lambda: rows)
    frame.table(
        rows,
        "Every figure of the table: the paper's, ours with its spread, or why not.",
        formats=decimals_of(table),
        placeholder="not printed",
    )
    for note in dict.fromkeys(figure.why for figure in table.figures if figure.why and figure.mean is not None):
        st.caption(f"\\* {frame.plain(note)}")
    for claim in table.claims:
        own = "" if claim.asked_here else f"; the paper's own figures: {claim.paper}"
        st.markdown(f"- {frame.plain(claim.text)} **Ours: {claim.ours}**{own}")
        st.caption(frame.plain(claim.decides))
    show_leads(table)
    for line in (", ".join(table.data), *table.notes, table.note, papers[paper].citation):
        if line:
            st.caption(frame.plain(line))
    if papers[paper].observations:
        with st.expander("What the paper says of itself"):
            for observation in papers[paper].observations:
                st.markdown(
                    f"- {frame.plain(observation.text)} **{observation.verdict}**: {frame.plain(observation.why)}"
                )
    if not table.evidence:
        st.caption(
            "Made with less training than the paper's, or not made here: this is no evidence for or against the paper."
        )
    frame.code(PAPER_CODE.format(table=name, column=column))


def ours_of(table: Any) -> list[str]:
    """The columns of a table in which we have a figure."""
    return [figure.column for figure in table.figures if figure.mean is not None]


def show_leads(table: Any) -> None:
    """What is left of each lead once both sides have their settings chosen on dev."""
    leads = [claim for claim in table.claims if claim.before and claim.after]
    if not leads:
        return
    st.markdown("**Leads before and after: with the settings as printed, and with those chosen on dev**")
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
    alt = f"The leads of {len(leads)} claims with their intervals, twice; the table says all."
    frame.picture(figures.leads_before_and_after([table]), key="leads", alt=alt, rows=lambda: rows)


def printed_beside_ours(table: Any) -> list[dict[str, Any]]:
    """The rows of a paper's table, each with the printed figure and ours, column by column."""
    by_place = {(figure.row, figure.column): figure for figure in table.figures}
    rows = []
    for name in table.rows:
        figures_of_row = [by_place[name, column] for column in table.columns]
        row: dict[str, Any] = {"row": name}
        for figure in figures_of_row:
            row[f"{figure.column}, paper"] = figure.published
            row[f"{figure.column}, ours"] = "–" if figure.mean is None else spoken_figure(figure)
        row["to know"] = "; ".join(dict.fromkeys(figure.why for figure in figures_of_row if figure.why))
        rows.append(row)
    return rows


def spoken_figure(figure: Any) -> str:
    """Mean and interval, or mean ± spread, with as many decimals, and an asterisk where there is something to know."""
    mean = f"{figure.mean:#.4g}"
    decimals = len(mean.partition(".")[2])
    about = f" ± {figure.spread:.{decimals}f}" if figure.spread else ""
    if figure.interval is not None:
        about = " [{}]".format(", ".join(f"{bound:.{decimals}f}" for bound in figure.interval))
    return mean + about + (" *" if figure.why else "")


def decimals_of(table: Any) -> dict[str, str]:
    """Each printed column with all its digits, .640 beside .698."""
    digits: dict[str, int] = {}
    for figure in table.figures:
        if figure.published is not None:
            decimals = repr(float(figure.published)).partition(".")[2]
            digits[figure.column] = max(digits.get(figure.column, 0), len(decimals))
    return {f"{name}, paper": f"%.{count}f" for name, count in digits.items()}


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("Compare: runs, curves, papers", ABOUT, *FORMULAS)
    view = frame.view(VIEWS)
    if view == PAPERS:
        show_papers()
        frame.show_link(own_file=False)
        return
    opened = choosing.corpus()
    if opened is None:
        return
    {RUNS: show_results, CURVES: show_histories, PAIR: show_two}[view](opened)
    frame.show_link(own_file=opened.own)


CODE = """\
from labkit.corpora import load
from labkit.figures import leader_bars
from labkit.evaluation.leaderboard import Result, leaderboard
from labkit.methods import load_run
from labkit.runs import read_record
from labkit.evaluation.scores import score

corpus = load({corpus!r})
folders = {folders}
results = [Result.of(folder, read_record(folder), score(load_run(folder), corpus, apart=True)) for folder in folders]
leader_bars(leaderboard(results, {figure!r})).show()
"""
CURVES_CODE = """\
from labkit.figures import training_curves
from labkit.runs import history

folders = {folders}
training_curves({{folder: history(folder) for folder in folders}}, [{column!r}]).show()
"""
PAPER_CODE = """\
from labkit.figures import ours_beside_paper
from labkit.lab.papers.stored import beside

ours_beside_paper(beside()[{table!r}], {column!r}).show()
"""

frame.run(page)
