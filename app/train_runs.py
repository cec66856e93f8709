"""A comparison of the runs on one corpus: scores on test with a verdict, and curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cached
import choosing
import frame
import streamlit as st
from keeping import once

from labkit import figures
from labkit.figure_names import SAW, VERDICTS, ordered, spoken
from labkit.runs import history

if TYPE_CHECKING:
    from labkit.evaluation.leaderboard import Line, Result

BASELINES = ["mean-vectors", "tfidf"]
FIRST = 12  # runs that are selected initially
MOST = 40  # most runs that can be selected, or that a link can name
CORPUS = "compared-on"  # in the session: the corpus whose runs are chosen
SAW_TEST = (
    "{names}: this method embeds all sentences together, as in its paper, so it has seen the test sentences without "
    "their classes. It is therefore never ranked as best."
)
NO_ORDER = "{figure} describes a space without judging it, so no run is ranked as best."
NO_RUN = "No run or baseline is selected. Choose some above, or start a run under Train."
OF_WHAT = (
    "The name of each metric says whether it is measured on dev, on the probe (300 dev sentences, by cosine) or on the "
    "training data. Losses of different methods cannot be compared."
)


# --- which runs --------------------------------------------------------------------------------------------------


def chosen_runs(opened: cached.Opened) -> dict[str, Path]:
    """Name -> folder of the runs to compare, chosen from those trained on this corpus."""
    runs, elsewhere = choosing.runs_on(opened, "")
    linked = () if "runs" in st.session_state else st.query_params.get_all("runs")[:MOST]
    if missing := [name for name in linked if name and name not in runs]:
        st.info(frame.plain(f"Some runs in this link are missing: {choosing.first_of(missing)}. Choose others."))
    first, others = list(runs)[:FIRST], st.session_state.setdefault(CORPUS, opened.key) != opened.key
    if others:  # the selection belongs to the previous corpus
        st.session_state.update({CORPUS: opened.key, "runs": first})
    default = None if others else first
    names = st.multiselect(
        "Runs to compare", list(runs), default, max_selections=MOST, help=elsewhere, key="runs", **frame.KEEP
    )
    return {name: runs[name] for name in names}


# --- scores ------------------------------------------------------------------------------------------------------


def show_scores(opened: cached.Opened) -> None:
    """The verdict, the leaderboard as bars, and the table behind it."""
    from labkit.evaluation.leaderboard import leaderboard

    left, middle, right = st.columns([3, 2, 2], vertical_alignment="bottom")
    with left:
        runs = chosen_runs(opened)
    baselines = middle.multiselect(
        "Baselines, fitted here without labels",
        list(choosing.VECTORS),
        BASELINES,
        format_func=choosing.VECTORS.__getitem__,
        key="baselines",
        **frame.KEEP,
    )
    results = results_of(runs, baselines, opened)
    folders = [result.run for result in results[: len(results) - len(baselines)]]
    if not results:
        st.info(NO_RUN)
        return
    names = list(dict.fromkeys(name for result in results for name in result.scores.figures))
    figure = right.selectbox(
        "Metric", names, names.index(results[0].scores.measure), format_func=spoken, key="figure", **frame.KEEP
    )
    names_shown = choosing.VECTORS
    lines = [replace(line, name=names_shown.get(line.name, line.name)) for line in leaderboard(results, figure)]
    lines.sort(key=lambda line: line.saw_test)  # such lines are not judged, so they come last
    st.markdown(f"##### {frame.plain(verdict_of(lines))}")
    alt = f"Bars of {spoken(figure)} on the test split of {opened.corpus.name}: " + ", ".join(
        f"{line.name} {line.mean:.3f} ({VERDICTS.get(line.verdict, line.verdict)})"
        for line in lines
        if figure in line.means
    )
    rows = [row_of(line, names) for line in lines]
    frame.picture(figures.leader_bars(lines), key="leader_bars", alt=alt, rows=lambda: rows)
    if saw := [line.name for line in lines if line.saw_test]:
        st.caption(f":material/visibility: {frame.plain(SAW_TEST.format(names=', '.join(saw)))}")
    with st.expander("Table of all metrics"):
        frame.table(
            rows,
            "The same data as a table: all metrics of all lines, with verdicts.",
            formats={spoken(name): "%.4f" for name in names},
            widths={"run": "medium"},
            placeholder="–",
        )
    of = f"; {lines[0].sample}" if lines[0].sample else ""
    st.caption(f"Test split of {frame.plain(opened.in_code)}, ranked and judged by {spoken(figure)}{of}.")
    frame.code(CODE.format(corpus=opened.in_code, folders=lines_of(folders), figure=figure))


def results_of(runs: Mapping[str, Path], baselines: Sequence[str], opened: cached.Opened) -> list[Result]:
    """The scores of each run and baseline on the test split; runs that cannot be scored are named."""
    from labkit.evaluation.leaderboard import Result
    from labkit.evaluation.scores import score

    def scores(method: Any, *key: Any) -> Any:
        return once("Scoring …", ("scores", *key, opened.key), partial(score, method, opened.corpus, apart=True))

    results, bad = [], {}
    for name, folder in runs.items():
        try:
            run = str(folder), cached.written(folder)
            results.append(Result.of(run[0], cached.run_record(*run), scores(cached.opened_run(*run), *run)))
        except (ValueError, OSError) as reason:
            bad[name] = reason
    if bad:
        st.warning(choosing.left_out_note(bad))
    for name in baselines:
        method = cached.fitted_method(opened, name)
        values = method.settings.values()
        results.append(Result(name, name, values, opened.corpus.name, opened.key, 0, scores(method, name)))
    return results


def verdict_of(lines: Sequence[Line]) -> str:
    """Which is best, and whether that is certain, in one sentence."""
    figure = spoken(lines[0].figure)
    if not ordered(lines[0].figure):
        return NO_ORDER.format(figure=figure)
    judged = [line for line in lines if not line.saw_test and line.figure in line.means]
    if len(judged) < 2:
        return f"There is nothing to compare by {figure}. Choose more runs."
    best, *others = judged
    level = [line for line in judged if abs(line.mean - best.mean) < 0.0005]
    if len(level) > 1:
        said = (
            f"{' and '.join(line.name for line in level)} all score {best.mean:.3f}. {figure} cannot tell them apart."
        )
        for name in filter(ordered, best.means):
            means = [line.means[name] for line in level if name in line.means]
            if max(means) - min(means) > 0.01:
                return f"{said} {spoken(name)} can."
        return said
    if unsure := [line.name for line in others if line.verdict == "open"]:
        return (
            f"{best.name} has the highest {figure}, {best.mean:.3f}. Whether it is better than {', '.join(unsure)} is "
            "open."
        )
    low, high = others[0].lead.interval() if others[0].lead else (0.0, 0.0)
    return (
        f"{best.name} is best: {figure} {best.mean:.3f}, ahead of {others[0].name} by {best.mean - others[0].mean:.3f} "
        f"(95 % interval: {low:.3f} to {high:.3f})."
    )


def row_of(line: Line, names: list[str]) -> dict[str, Any]:
    """One line of the table."""
    against = ""
    if line.lead is not None:
        low, high = line.lead.interval()
        values = (f"{-value:+.3f}" if abs(value) >= 0.0005 else "0.000" for value in (line.lead.lead, high, low))
        against = "{} [{}, {}]".format(*values)
    means = {spoken(name): round(line.means[name], 4) if name in line.means else None for name in names}
    return {
        "run": f"{line.name} · {SAW}" if line.saw_test else line.name,
        "seeds": len(line.results),
        f"{spoken(line.figure)}, mean ± spread": str(line.spread or f"{line.mean:.4f}".replace("nan", "–")),
        "verdict": VERDICTS.get(line.verdict, line.verdict),
        "difference from the best, 95 %": against,
        **means,
    }


# --- curves ------------------------------------------------------------------------------------------------------


def show_histories(opened: cached.Opened) -> None:
    """One metric of every run's history over the epochs."""
    left, right = st.columns([3, 1], vertical_alignment="bottom")
    with left:
        runs = chosen_runs(opened)
    histories = {name: past for name, folder in runs.items() if (past := history(folder)).rows}
    columns = list(dict.fromkeys(name for past in histories.values() for name in past.columns if name != "epoch"))
    if not columns:
        st.info("None of these runs was trained in epochs. Choose others above, or start one under Train.")
        return
    default = next((place for place, name in enumerate(columns) if name.startswith("dev")), 0)
    column = right.selectbox("Metric", columns, default, format_func=spoken, key="curve", **frame.KEEP)
    shown = {name: past for name, past in histories.items() if column in past.columns}
    alt = f"Curves of {spoken(column)} over the epochs of {', '.join(shown)}."
    rows = [{"run": name, **line} for name, past in shown.items() for line in past.rows]
    frame.picture(
        figures.training_curves(shown, [column], height=390), key="compare_curves", alt=alt, rows=lambda: rows
    )
    if missing := [name for name in runs if name not in shown]:
        st.caption(frame.plain(f"Runs without {spoken(column)} over the epochs: {', '.join(missing)}."))
    st.caption(OF_WHAT)
    frame.code(CURVES_CODE.format(folders=lines_of([str(runs[name]) for name in shown]), column=column))


def lines_of(names: list[str]) -> str:
    """The items of a list in code, one per line."""
    return "".join(f"    {name!r},\n" for name in names)


CODE = """\
from labkit.corpora import load
from labkit.figures import leader_bars
from labkit.evaluation.leaderboard import Result, leaderboard
from labkit.methods import load_run
from labkit.runs import read_record
from labkit.evaluation.scores import score

corpus = load({corpus!r})
folders = [
{folders}]
results = [Result.of(folder, read_record(folder), score(load_run(folder), corpus, apart=True)) for folder in folders]
leader_bars(leaderboard(results, {figure!r})).show()
"""
CURVES_CODE = """\
from labkit.figures import training_curves
from labkit.runs import history

folders = [
{folders}]
training_curves({{folder: history(folder) for folder in folders}}, [{column!r}]).show()
"""
