"""Page "Compare": runs side by side on one test split, how they were trained, and one pair of sentences to two of
them."""

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

RUNS, CURVES, PAIR = VIEWS = ["Runs", "Curves", "Two sentences"]
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


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("Compare: runs and curves", ABOUT, *FORMULAS)
    view = frame.view(VIEWS)
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
frame.run(page)
