"""The Train and compare page: which is better, and how sure can we be? It opens on the answer, if there are runs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

import cached
import choosing
import classroom
import frame
import streamlit as st
import train_data
import train_presets
import train_queue
import train_runs
from trainings import ENDED, PLAN, Job, Queue, queue_of

from labkit.atomic import sentence_of

DATA, TRAIN, RUNS = VIEWS = ["Data", "Train", "Runs"]
SEEN = "file-seen"  # in the session: the file whose data were shown when it came
WHICH = "Which method?"  # a view of earlier links: now a choice of Train
EVERY = 1.5  # seconds between updates while something runs
REPORT_HEIGHT = 900  # pixels
# a frame has the app's origin: whatever a visitor's file brought into the report, no script runs there
NO_SCRIPT = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; style-src 'unsafe-inline'\">"
ABOUT = """\
**Data** shows rows of the chosen corpus, and all corpora with the sizes of their classes and the scores of three
methods that do not learn. The gap to 1 is the room for improvement.

**Train** starts a run. The method learns from the training split. After each epoch, it is scored on the **dev** split,
and the best weights are kept (if dev has fewer than ten rows, the last ones). The **test** split is scored once, at the
end. Runs are trained one at a time, each in a process of its own, with the same results as `labkit train`. If you stop
a run and resume it, its result stays the same. **Compare all methods** gives each method the same number of trials on
your data.

**Runs** shows the scores on the test split and the curves over the epochs. A **seed** fixes all randomness in a run.
Runs that differ only in the seed share one line with their mean and, with three or more seeds, their spread. Each line
has the **95 % interval** of its difference from the best, over seeds and test items. The interval is *paired*: both are
scored on the same items. If it contains 0, the comparison is **open**: either could be better.
"""
FORMULAS = (
    r"\theta_{t+1} = \theta_t - \eta\,\nabla_\theta L(\theta_t)",
    r"\theta^* = \theta_{e^*},\quad e^* = \arg\max_e\ \text{dev}(\theta_e)",
    r"\text{open} \iff |\bar x_a - \bar x_b| \le t_{0.975}\, \text{se}",
    r"\text{se}^2 = \text{var over seeds} + \text{var over items} - \text{what both share}",
)
FEW = "Only {rows} of these rows are for testing. Scores decide little with fewer than {most}."


def show_train(queue: Queue, opened: cached.Opened | None, runs: Mapping[str, Path]) -> None:
    """What is to be trained, and next to it one run."""
    left, right = st.columns([2, 5], gap="large")
    job = None
    with left:
        if opened is not None:
            above, settings = st.container(), st.container()  # the button is above all settings, however many
            with above:
                job = train_presets.job_of(opened, settings)
                choosing.say_who_reads(opened)
                if 0 < (rows := opened.corpus.sizes.get("test", 0)) < train_queue.FEWEST:
                    st.caption(FEW.format(rows=rows, most=train_queue.FEWEST))
                if st.session_state.get("train") and not train_queue.is_live(queue, job, opened):
                    train_queue.submit(queue, job, opened)  # before the button is drawn, which then is disabled
                live, name = train_queue.is_live(queue, job, opened), "Compare methods" if job.is_bench else "Train"
                icon, about = ":material/play_arrow:", "This is in the queue already." if live else None
                st.button(name, type="primary", icon=icon, help=about, disabled=live, key="train")
        train_queue.show_limits()
    with right, st.container(key="trained"):
        stored = train_queue.stored_runs(opened, runs) if opened is not None else {}
        st.session_state["followed"] = [each.id for each in queue.live]
        part = partial(show_run, queue, opened, stored, job)
        st.fragment(frame.run, run_every=EVERY if queue.live else None)(part)  # updated while something is trained
        if classroom.is_on():
            train_queue.show_own_runs(queue)


def show_run(queue: Queue, opened: cached.Opened | None, stored: Mapping[str, Job], chosen: Job | None) -> None:
    """One run or comparison, with its progress and results."""
    job = train_queue.show_head(queue, stored, chosen)
    if job is None:
        if opened is not None and chosen is not None:
            st.info(f"No run of **{chosen.kind}** on {frame.plain(opened.in_code)} yet. Its results will appear here.")
        return
    if job.is_bench:
        show_report(job)
    else:
        of_run = opened if opened is not None and job.corpus == opened.in_code else None
        if of_run is not None and st.session_state.get(f"file-of-{job.id}", of_run.file) != of_run.file:
            of_run = None  # another file with the same name
        if of_run is None and not job.own:
            of_run = cached.lab_corpus(job.corpus)
        if job.state == "finished":
            train_queue.show_result(job, of_run)
        for place, show in zip(st.columns(2), (train_queue.show_space, train_queue.show_curves), strict=True):
            with place:
                show(job, of_run)
    for note in job.notes if train_queue.may_touch(job.folder) else ():
        st.caption(frame.plain(note[:1].upper() + note[1:]))
    st.caption("The command for this run:")
    st.code(shlex.join(["labkit", *job.words()]), language="bash", wrap_lines=True)


def show_report(job: Job) -> None:
    """The plan of a comparison, and its report, which is a separate page."""
    from labkit.trials.plan import Plan

    with suppress(OSError, ValueError, KeyError, TypeError):  # there is no plan yet
        st.caption(f"Plan: {Plan.of(json.loads((Path(job.folder) / PLAN).read_text('utf-8')))}.")
    page = Path(job.folder) / "report.html"
    if job.state in ENDED and page.is_file():
        frame.download("Report as HTML", page.read_bytes, f"{job.name}.html", "text/html", f"report-{job.id}")
        framed = NO_SCRIPT + page.read_text(encoding="utf-8")
        st.iframe(framed, height=REPORT_HEIGHT, alt="The report of the comparison")


def page() -> None:
    frame.head("Which is better, and how sure can we be?", ABOUT, *FORMULAS)
    opened, tabs = None, frame.choices().container(width="content")
    try:
        opened = choosing.corpus()
    except (ValueError, OSError) as mistake:  # an invalid file: the rest of the page stays
        st.error(frame.plain(sentence_of(mistake)))
    runs, elsewhere = choosing.runs_on(opened, "") if opened is not None else ({}, None)
    if st.query_params.get("view") == WHICH:
        st.query_params["view"], st.session_state["preset"] = TRAIN, train_presets.ALL
    with tabs:
        view = frame.view(VIEWS, first=first_view(opened, bool(runs)))
    # the view before would stay in sight until this one has been computed; style.css hides it
    places = {each: st.container(key=f"{'view' if each == view else 'hidden'}-{each}") for each in VIEWS}
    with places[view]:
        if view == DATA:
            train_data.show_data(opened, partial(st.session_state.update, view=TRAIN))
        elif view == TRAIN:  # only training needs the queue, which one app at a time may use
            show_train(queue_of(choosing.run_folders()[0]), opened, runs)
        elif opened is not None:
            train_runs.show_runs(opened, runs, elsewhere)
    frame.show_link(own_file=opened is not None and opened.own)


def first_view(opened: cached.Opened | None, has_runs: bool) -> str:
    """The first view of the page: the answer if there are runs, otherwise the data; for a new file, always the data."""
    asked = st.session_state.get("view", st.query_params.get("view"))
    if opened is not None and opened.own and st.session_state.get(SEEN) != opened.key:
        st.session_state[SEEN] = opened.key
        if asked != TRAIN:
            st.session_state["view"] = DATA
    return RUNS if asked in VIEWS or has_runs else DATA


frame.run(page)
