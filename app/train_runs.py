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
    from labkit.trials.leaderboard import Line, Result

BASELINES = ["mean-vectors", "tfidf"]
FIRST = 12  # runs that are selected initially
UNSURE = 2  # runs that the verdict names
MOST = 40  # most runs that can be selected, or that a link can name
CORPUS = "compared-on"  # in the session: the corpus whose runs are chosen
SAW_TEST = (
    "{names}: this method embeds all sentences together, as in its paper, so it has seen the test sentences without "
    "their classes. It is therefore never ranked as best."
)
NO_ORDER = "{figure} describes a space without judging it, so no run is ranked as best."
NO_RUN = "No run or baseline is selected. Choose some above, or train a method under Train."
OTHER_MEASURE = (
    "{metric} here and the test scores in Runs are different measures on different sentences, so the two views can "
    "order the runs differently. The largest mark of a line is the epoch that is best on dev, whose weights are kept. "
    "Losses of different methods cannot be compared."
)
INTERVALS = (
    "Each line is the 95 % interval of the difference from the best. If it reaches the dotted line at the best "
    "score, it is open which of the two is better. "
)


# --- which runs --------------------------------------------------------------------------------------------------


def chosen_runs(opened: cached.Opened, offered: tuple[dict[str, Path], str | None], place: Any) -> dict[str, Path]:
    """Name -> folder of the runs to compare, chosen in a place from those trained on this corpus."""
    runs, elsewhere = offered
    linked = () if "runs" in st.session_state else st.query_params.get_all("runs")[:MOST]
    if missing := [name for name in linked if name and name not in runs]:
        st.info(frame.plain(f"Some runs in this link are missing: {choosing.first_of(missing)}. Choose others."))
    first, others = list(runs)[:FIRST], st.session_state.setdefault(CORPUS, opened.key) != opened.key
    if others:  # the selection belongs to the previous corpus
        st.session_state.update({CORPUS: opened.key, "runs": first})
    default = None if others else first
    names = place.multiselect(
        "Runs to compare", list(runs), default, max_selections=MOST, help=elsewhere, key="runs", **frame.KEEP
    )
    return {name: runs[name] for name in names}


def folded_choices() -> tuple[Any, Any]:
    """A button that opens the choices of a view, and the place beside it that says what is chosen."""
    with st.container(horizontal=True, vertical_alignment="center"):
        return st.popover("Choose", icon=":material/tune:", key="compare"), st.container()


def many(number: int, what: str) -> str:
    """A number of things in words."""
    return f"{number} {what}{'s' * (number != 1)}"


# --- scores ------------------------------------------------------------------------------------------------------


def show_scores(opened: cached.Opened, offered: tuple[dict[str, Path], str | None]) -> None:
    """The verdict, the leaderboard, and the table behind it; the choices are behind a button."""
    from labkit.trials.leaderboard import leaderboard

    verdict = st.container()
    choices, said = folded_choices()
    runs = chosen_runs(opened, offered, choices)
    baselines = choices.multiselect(
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
    figure = choices.selectbox(
        "Metric", names, names.index(results[0].scores.measure), format_func=spoken, key="figure", **frame.KEEP
    )
    said.caption(f"{many(len(runs), 'run')}, {many(len(baselines), 'baseline')}, {spoken(figure)}")
    lines = show_leaders(leaderboard(results, figure), opened, verdict)
    with st.expander("As a table, with every metric"):
        frame.table(
            [row_of(line, names) for line in lines],
            "The same data as a table: all metrics of all lines, with verdicts.",
            formats={spoken(name): "%.4f" for name in names},
            widths={"run": "medium"},
            placeholder="–",
        )
    frame.code(CODE.format(corpus=opened.in_code, folders=lines_of(folders), figure=figure))


def show_leaders(lines: Sequence[Line], opened: cached.Opened, verdict: Any) -> list[Line]:
    """Show the verdict, in its place, and the picture; return its lines in order, those that are not judged last."""
    lines = in_order(lines)
    figure, names = lines[0].figure, list(lines[0].means)
    verdict.markdown(f"##### {frame.plain(verdict_of(lines))}")
    alt = f"{spoken(figure)} on the test split of {opened.corpus.name}: " + ", ".join(
        f"{line.name} {line.mean:.3f} ({VERDICTS.get(line.verdict, line.verdict)})"
        for line in lines
        if figure in line.means
    )
    rows = partial(map, partial(row_of, names=names), lines)
    frame.picture(figures.leader_dots(lines), key="leader_dots", alt=alt, rows=rows)
    of = f"; {lines[0].sample}" if lines[0].sample else ""
    judged = INTERVALS * any(line.lead for line in lines)
    st.caption(f"{judged}Test split of {frame.plain(opened.in_code)}, by {spoken(figure)}{of}.")
    if saw := [line.name for line in lines if line.saw_test]:
        st.caption(f":material/visibility: {frame.plain(SAW_TEST.format(names=', '.join(saw)))}")
    return lines


def in_order(lines: Sequence[Line]) -> list[Line]:
    """The lines with the names of this page, those that are not judged last."""
    named = [replace(line, name=choosing.VECTORS.get(line.name, line.name)) for line in lines]
    return sorted(named, key=lambda line: line.saw_test)


def show_example(opened: cached.Opened) -> None:
    """A pale picture of the first runs on a corpus and of the usual baselines, which is no comparison's result."""
    from labkit.trials.leaderboard import leaderboard

    runs = choosing.runs_on(opened, "")[0]
    lines = leaderboard(results_of({name: runs[name] for name in [*runs][:FIRST]}, BASELINES, opened))
    example = figures.leader_dots(in_order(lines)).update_traces(opacity=0.35)
    alt = f"An example of the picture of a comparison, with {len(lines)} methods."
    st.plotly_chart(frame.enlarged(example), key="example", alt=alt, config={"displayModeBar": False})


def results_of(runs: Mapping[str, Path], baselines: Sequence[str], opened: cached.Opened) -> list[Result]:
    """The scores of each run and baseline on the test split; runs that cannot be scored are named."""
    from labkit.evaluation.scores import score
    from labkit.trials.leaderboard import Result

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
    unsure = [ahead_of(line, best) for line in others if line.verdict == "open"]
    if unsure:
        more = f" and {len(unsure) - UNSURE} more" * (len(unsure) > UNSURE)
        return (
            f"{best.name} has the highest {figure}, {best.mean:.3f}, but it is open whether it is better: it is ahead "
            f"of {', of '.join(unsure[:UNSURE])}{more}."
        )
    return f"{best.name} is best: {figure} {best.mean:.3f}, ahead of {ahead_of(others[0], best)}."


def ahead_of(line: Line, best: Line) -> str:
    """A line that is behind the best, by how much, and the interval of the difference."""
    low, high = line.lead.interval() if line.lead else (0.0, 0.0)
    interval = f" (95 %: {low:+.3f} to {high:+.3f})" if line.lead else ""
    return f"{line.name} by {best.mean - line.mean:.3f}{interval}"


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


def show_histories(opened: cached.Opened, offered: tuple[dict[str, Path], str | None]) -> None:
    """One metric of every run's history over the epochs."""
    choices, said = folded_choices()
    runs = chosen_runs(opened, offered, choices)
    histories = {name: past for name, folder in runs.items() if (past := history(folder)).rows}
    columns = list(dict.fromkeys(name for past in histories.values() for name in past.columns if name != "epoch"))
    if not columns:
        st.info("None of these runs was trained in epochs. Choose others above, or start one under Train.")
        return
    default = next((place for place, name in enumerate(columns) if name.startswith("dev")), 0)
    column = choices.selectbox("Metric", columns, default, format_func=spoken, key="curve", **frame.KEEP)
    shown = {name: past for name, past in histories.items() if column in past.columns}
    said.caption(f"{many(len(shown), 'run')}, {spoken(column)}")
    alt = f"Curves of {spoken(column)} over the epochs of {', '.join(shown)}."
    rows = [{"run": name, **line} for name, past in shown.items() for line in past.rows]
    frame.picture(
        figures.training_curves(shown, [column], height=390), key="compare_curves", alt=alt, rows=lambda: rows
    )
    st.markdown(OTHER_MEASURE.format(metric=spoken(column)))
    if missing := [name for name in runs if name not in shown]:
        st.caption(
            frame.plain(f"{', '.join(missing)}: no curve, because no {spoken(column)} was measured over epochs.")
        )
    frame.code(CURVES_CODE.format(folders=lines_of([str(runs[name]) for name in shown]), column=column))


def lines_of(names: list[str]) -> str:
    """The items of a list in code, one per line."""
    return "".join(f"    {name!r},\n" for name in names)


CODE = """\
from labkit.corpora import load
from labkit.figures import leader_dots
from labkit.trials.leaderboard import Result, leaderboard
from labkit.methods import load_run
from labkit.runs import read_record
from labkit.evaluation.scores import score

corpus = load({corpus!r})
folders = [
{folders}]
results = [Result.of(folder, read_record(folder), score(load_run(folder), corpus, apart=True)) for folder in folders]
leader_dots(leaderboard(results, {figure!r})).show()
"""
CURVES_CODE = """\
from labkit.figures import training_curves
from labkit.runs import history

folders = [
{folders}]
training_curves({{folder: history(folder) for folder in folders}}, [{column!r}]).show()
"""
