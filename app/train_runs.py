"""The runs on one corpus: scores on test with a verdict, the curves of their epochs, and the way to each space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cached
import choosing
import frame
import streamlit as st
from train_queue import FEWEST, scores_of, see_it_move, title_of, titled

from labkit import figures
from labkit.figure_names import DEV, MEANINGS, SAW, VERDICTS, meaning, ordered, spoken
from labkit.runs import history

if TYPE_CHECKING:
    from labkit.trials.leaderboard import Line, Result

BASELINES = ["mean-vectors", "tfidf"]
FIRST = 12  # runs that are selected initially
CURVES = 350  # pixels
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
    "Dev scores choose the epoch whose weights are kept: the largest mark of a line. They come from other sentences "
    "and can be another measure, so they can order the runs differently. "
)
LOSSES = "Losses of different methods cannot be compared. "
INTERVALS = (
    "A line is the 95 % interval of the difference from the best. If it reaches the dotted line, either of the two "
    "could be better. "
)
SINGLE = "These are single runs: the intervals cover the test data, but not other seeds."


# --- which runs --------------------------------------------------------------------------------------------------


def chosen_runs(opened: cached.Opened, runs: dict[str, Path], elsewhere: str | None, place: Any) -> dict[str, Path]:
    """Name -> folder of the runs to compare, chosen in a place from those trained on this corpus."""
    linked = () if "runs" in st.session_state else st.query_params.get_all("runs")[:MOST]
    if missing := [name for name in linked if name and name not in runs]:
        st.info(frame.plain(f"Some runs in this link are missing: {choosing.first_of(missing)}. Choose others."))
    default: list[str] | None = list(runs)[:FIRST]
    if st.session_state.setdefault(CORPUS, opened.key) != opened.key:  # the selection belongs to the previous corpus
        st.session_state.update({CORPUS: opened.key, "runs": default})
        default = None
    limits: Any = {"max_selections": MOST, "help": elsewhere, **frame.KEEP}
    names = place.multiselect("Runs to compare", list(runs), default, key="runs", **limits)
    return {name: runs[name] for name in names}


def listed(names: Sequence[str]) -> str:
    """Names as a list in a sentence: a, b and c."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


# --- scores ------------------------------------------------------------------------------------------------------


def show_runs(opened: cached.Opened, offered: dict[str, Path], elsewhere: str | None) -> None:
    """The verdict, the leaderboard with the table behind it, and the curves; the choices are behind a button."""
    from labkit.trials.leaderboard import leaderboard

    choices = frame.choices().popover("Choose runs", icon=":material/tune:", key="compare")
    runs = chosen_runs(opened, offered, elsewhere, choices)
    named: Any = {"format_func": choosing.VECTORS.__getitem__, "key": "baselines", **frame.KEEP}
    baselines = choices.multiselect("Baselines, fitted here without labels", list(choosing.VECTORS), BASELINES, **named)
    results = results_of(runs, baselines, opened)
    if not results:
        st.info(NO_RUN)
        return
    names = list(dict.fromkeys(name for result in results for name in result.scores.figures))
    about = "\n".join(f"* {meaning(name)}" for name in names if name in MEANINGS)
    metric: Any = {"format_func": spoken, "help": about, "key": "figure", **frame.KEEP}
    figure = choices.selectbox("Metric", names, names.index(results[0].scores.measure), **metric)
    lines = [replace(line, name=choosing.VECTORS.get(line.name, line.name)) for line in leaderboard(results, figure)]
    lines.sort(key=lambda line: line.saw_test)  # those that are not judged last
    count = opened.corpus.sizes.get("test", 0)
    few = f"only {count} rows, too few to decide anything" if 0 < count < FEWEST else ""
    best, still_open = (f"The test scores come from {few}.", "") if few else map(frame.plain, verdict_of(lines))
    st.markdown(f"##### {best}\n\n{still_open}")
    left, right = st.columns([3, 2], gap="medium")
    rows = [row_of(line, names) for line in lines]
    with left:
        show_leaders(lines, rows, opened)
    with right:
        names_of = {str(folder): name for name, folder in runs.items()}  # both pictures have the order of the lines
        order = [result.run for line in lines for result in line.results if result.run in names_of]
        column = show_curves(opened, {names_of[run]: runs[names_of[run]] for run in order}, choices)
    with st.expander("All metrics as a table. Scroll sideways to see more."):
        formats = {spoken(name): "%.4f" for name in names}
        said = "The same data as a table: all metrics for every line, with verdicts."
        frame.table(rows, said, formats=formats, widths={"run": 210, "verdict": 240}, pinned="run", placeholder="–")
    folders = "".join(f"    {run!r},\n" for run in order)
    code = CODE.format(corpus=opened.in_code, folders=folders, figure=figure)
    frame.code(code + CURVES_CODE.format(column=column) * bool(column))


def show_leaders(lines: Sequence[Line], rows: list[dict[str, Any]], opened: cached.Opened) -> None:
    """The picture of the lines, below what it measures, and how to read it."""
    figure = lines[0].figure
    save = titled(f"**{title_of(figure, opened, 'test')}**", "leader_dots", meaning(figure) or None)
    alt = f"{spoken(figure)} on the test split of {opened.corpus.name}: " + ", ".join(
        f"{line.name} {line.mean:.3f} ({VERDICTS.get(line.verdict, line.verdict)})"
        for line in lines
        if figure in line.means
    )
    frame.picture(figures.leader_dots(lines), key="leader_dots", alt=alt, rows=lambda: rows, save=save)
    st.caption(INTERVALS * any(line.lead for line in lines) + lines[0].sample.capitalize())
    if saw := [line.name for line in lines if line.saw_test]:
        st.caption(f":material/visibility: {frame.plain(SAW_TEST.format(names=', '.join(saw)))}")


def results_of(runs: Mapping[str, Path], baselines: Sequence[str], opened: cached.Opened) -> list[Result]:
    """The scores of each run and baseline on the test split; runs that cannot be scored are named."""
    from labkit.trials.leaderboard import Result

    results, bad = [], {}
    for name, folder in runs.items():
        try:
            run = str(folder), cached.written(folder)
            model = cached.opened_run(*run)
            results.append(Result.of(run[0], cached.run_record(*run), model, scores_of(opened, model, *run)))
        except (ValueError, OSError) as reason:
            bad[name] = reason
    if bad:
        st.warning(choosing.left_out_note(bad))
    for name in baselines:
        method = cached.fitted_method(opened, name)
        values = method.settings.values()
        results.append(Result(name, name, values, opened.corpus.name, opened.key, 0, scores_of(opened, method, name)))
    return results


def verdict_of(lines: Sequence[Line]) -> tuple[str, str]:
    """Which is best, and what remains open, each in a sentence or two."""
    figure = spoken(lines[0].figure)
    if not ordered(lines[0].figure):
        return NO_ORDER.format(figure=figure), ""
    judged = [line for line in lines if not line.saw_test and line.figure in line.means]
    if len(judged) < 2:
        return f"There is nothing to compare by {figure}. Choose more runs.", ""
    best, *others = judged
    seen = [line.name for line in lines if line.saw_test and line.mean > best.mean]
    notes = [f"{listed(seen)} scored higher but {SAW}."] if seen else []
    among = "Of the runs that did not see the test sentences, " * bool(seen)
    single = [line for line in judged for each in line.results[:1] if each.run != each.method]  # without baselines
    notes += [SINGLE] * (bool(single) and all(len(line.results) == 1 for line in single))
    level = [line.name for line in judged if abs(line.mean - best.mean) < 0.0005 and line.verdict != "behind"]
    ties = [line.name for line in others if line.verdict == "tie"]
    named = {line: line.name + f" ({line.difference})" * bool(line.difference) for line in others}
    unsure = [named[line] for line in others if line.verdict == "open"]
    if len(level) > 1:
        said, more = f"{listed(level)} score the same: {best.mean:.3f}.", f"{figure} cannot tell them apart."
    elif unsure:
        first = unsure[:UNSURE] + [f"{len(unsure) - UNSURE} more"] * (len(unsure) > UNSURE)
        said = f"{best.name} has the highest {figure}: {best.mean:.3f}."
        more = f"It remains open whether {listed(first)} {'is' if len(unsure) == 1 else 'are'} worse."
    elif ties:
        said = f"{best.name} and {listed(ties)} tie: {figure} {best.mean:.3f}."
        more = "They differ by less than 0.01."
    else:
        said = f"{best.name} is best: {figure} {best.mean:.3f}."
        more = f"Next is {named[others[0]]}."
    return among + said, " ".join([more, *notes])


def row_of(line: Line, names: list[str]) -> dict[str, Any]:
    """One line of the table."""
    means = {spoken(name): round(line.means[name], 4) if name in line.means else None for name in names}
    return {
        "run": f"{line.name} · {SAW}" if line.saw_test else line.name,
        "seeds": len(line.results),
        f"{spoken(line.figure)}, mean ± spread": str(line.spread or f"{line.mean:.4f}".replace("nan", "–")),
        "verdict": VERDICTS.get(line.verdict, line.verdict),
        "difference from the best, 95 %": line.difference,
        **means,
    }


def show_curves(opened: cached.Opened, runs: Mapping[str, Path], choices: Any) -> str:
    """One metric of every run over its epochs, and a button for each that opens its space; the name of the metric."""
    histories = {name: past for name, folder in runs.items() if (past := history(folder)).rows}
    columns = list(dict.fromkeys(name for past in histories.values() for name in past.columns if name != "epoch"))
    if not columns:
        return ""
    default = next((place for place, name in enumerate(columns) if name.startswith("dev")), 0)
    column = choices.selectbox("Curves of", columns, default, format_func=spoken, key="curve", **frame.KEEP)
    shown = {name: past for name, past in histories.items() if column in past.columns}
    of_dev = column.startswith(DEV)
    title = f"**{spoken(column).capitalize()}**, by epoch"
    if of_dev:
        title = f"**{title_of(column.removeprefix(DEV), opened, 'dev')}**, to choose the epoch"
    save = titled(title, "compare_curves")
    alt = f"Curves of {spoken(column)} over the epochs of {', '.join(shown)}."
    rows: Any = {"rows": lambda: [{"run": name, **line} for name, past in shown.items() for line in past.rows]}
    drawn = figures.training_curves(shown, [column], height=CURVES)
    drawn.layout.margin.t = 20
    drawn.layout.annotations = [each for each in drawn.layout.annotations if each.text != spoken(column)]  # the title
    frame.picture(drawn, key="compare_curves", alt=alt, save=save, **rows)
    with st.container(horizontal=True, gap="small", key="moves"):
        st.caption("See it move:", width="content")
        for name in histories:
            if st.button(frame.plain(name), key=f"move-{name}", type="tertiary", icon=":material/animation:"):
                see_it_move(runs[name], choosing.OWN if opened.own else opened.corpus.name)
    missing = [name for name in runs if name not in shown]
    without = f"{', '.join(missing)}: no curve, because it was not measured over epochs." if missing else ""
    st.caption(frame.plain((OTHER_MEASURE if of_dev else LOSSES) + without))
    return column


CODE = """\
from labkit.corpora import load
from labkit.figures import leader_dots, training_curves
from labkit.trials.leaderboard import Result, leaderboard
from labkit.methods import load_run
from labkit.runs import history, read_record
from labkit.evaluation.scores import score

corpus = load({corpus!r})
folders = [
{folders}]
runs = [(folder, read_record(folder), load_run(folder)) for folder in folders]
results = [Result.of(*run, score(run[-1], corpus, apart=True)) for run in runs]
leader_dots(leaderboard(results, {figure!r})).show()
"""
CURVES_CODE = "training_curves({{folder: history(folder) for folder in folders}}, [{column!r}]).show()\n"
