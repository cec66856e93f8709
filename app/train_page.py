"""The place "Train and compare": which is better, and how surely? Its views follow the order of the work."""

from __future__ import annotations

import json
import shlex
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
from trainings import BENCH, ENDED, MINUTES, PLAN, Job, Queue, queue_of

from labkit.atomic import sentence_of

DATA, TRAIN, RUNS, CURVES, WHICH = VIEWS = ["Data", "Train", "Runs", "Curves", "Which method?"]
START = "start-training"  # in the session: somebody has pressed the button next to the data
EVERY = 1.5  # seconds between two looks at what runs
REPORT_HEIGHT = 900  # pixels
ABOUT = """\
**Data**: each row of the table is a corpus with the sizes of its classes and the scores of three methods that do not
learn. What is missing to 1 is left to learn.

**Train**: a method learns from the training split. It is measured on the **dev** split after each epoch, and the best
weights are kept. **Test** is scored once, at the end. One run is trained at a time, in its own process, with the same
result as `labkit train`; others wait in the queue. A stopped run keeps its last checkpoint and resumes from it to the
same result.

**Runs**: scores on the test split of the corpus. Runs that differ only in the seed share one line with their mean and,
from three seeds, their spread. Each line has the **95 % interval** of its difference from the best, over test items and
seeds. If the interval contains 0, it is **open** which of the two is better.

**Which method?** compares methods on your data with equal numbers of trials.
"""
FORMULAS = (
    r"\theta_{t+1} = \theta_t - \eta\,\nabla_\theta L(\theta_t)",
    r"\theta^* = \theta_{e^*},\quad e^* = \arg\max_e\ \text{dev}(\theta_e)",
    r"\text{open} \iff |\bar x_a - \bar x_b| \le t_{0.975}\, \text{se},\qquad \text{se}^2 = \text{var over seeds} "
    r"+ \text{var over items} - \text{what both share}",
)
ABOUT_BENCH = (
    "Checks the data, gives each method the same number of trials on dev, and scores test once with several seeds. In "
    "one minute, slow methods are left out; allow 20 minutes for a decision. It waits in the same queue as other runs."
)


def show_train(queue: Queue, opened: cached.Opened | None) -> None:
    """What is to be trained, and next to it the runs in the queue."""
    left, right = st.columns([2, 5], gap="large")
    with left:
        if opened is not None:
            job = train_presets.job_of(opened)
            choosing.say_who_reads(opened)
            pressed = st.button("Train", type="primary", icon=":material/play_arrow:", key="train")
            if st.session_state.pop(START, False) or pressed:
                train_queue.submit(queue, job, opened)
        train_queue.show_limits()
    with right:
        follow(queue, partial(show_jobs, queue, opened, bench=False))
        if classroom.is_on():
            train_queue.show_own_runs(queue)


def show_which(queue: Queue, opened: cached.Opened | None) -> None:
    """A comparison of methods on the chosen corpus: its start, and what one has found."""
    if opened is not None:
        st.caption(ABOUT_BENCH)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            minutes = st.number_input("Minutes", *MINUTES, 5, key="minutes", width=140, **frame.KEEP)
            if st.button(f"Compare methods on {frame.plain(opened.in_code)}", type="primary", key="bench"):
                job = Job(BENCH, opened.in_code, settings={"minutes": minutes}, own=opened.own)
                train_queue.submit(queue, job, opened)
    follow(queue, partial(show_jobs, queue, opened, bench=True))


def show_jobs(queue: Queue, opened: cached.Opened | None, *, bench: bool) -> None:
    """One run or comparison: how far it is, and what it shows; and the others."""
    jobs = train_queue.jobs_shown(queue, bench=bench)
    if not jobs:
        if not bench:
            st.info("No run yet. Choose what to train and click Train.")
        return
    job = jobs[0]
    train_queue.show_head(queue, job)
    if bench:
        show_report(job)
    elif job.state != "waiting":
        train_queue.show_growth(job, opened)
    train_queue.show_others(queue, jobs[1:])


def show_report(job: Job) -> None:
    """What is compared, once that is planned; at the end the report, which is a page of its own."""
    folder = Path(job.folder)
    page = folder / "report.html"
    if job.state not in ENDED:
        try:
            plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
            said = "{} methods ({}), {} trials each, then {} seeds."
            st.caption(said.format(len(plan["methods"]), ", ".join(plan["methods"]), plan["trials"], plan["seeds"]))
        except (OSError, ValueError, KeyError, TypeError):
            st.caption("Measuring what each method costs, to plan the available time.")
    elif page.is_file():
        frame.download("The report as HTML", page.read_bytes, f"{job.name}.html", "text/html", f"report-{job.id}")
        st.iframe(page.read_text(encoding="utf-8"), height=REPORT_HEIGHT, alt="The report of the comparison")
    st.code(shlex.join(["labkit", *job.words(Path("report"))]), language="bash", wrap_lines=True)


def follow(queue: Queue, show: partial[None]) -> None:
    """Draw a part of the page, again and again while something is trained."""
    st.session_state["followed"] = bool(queue.live)
    st.fragment(frame.run, run_every=EVERY if queue.live else None)(show)


def page() -> None:
    frame.head("Which is better, and how sure can we be?", ABOUT, *FORMULAS)
    opened = None
    try:
        opened = choosing.corpus()
    except (ValueError, OSError) as mistake:  # an invalid file: the rest of the place stays
        st.error(frame.plain(sentence_of(mistake)))
    view = frame.view(VIEWS)
    if view == DATA:
        train_data.show_data(opened, to_train)
    elif view == TRAIN:  # only what trains takes the queue, which one app at a time may have
        show_train(queue_of(choosing.run_folders()[0]), opened)
    elif view == WHICH:
        show_which(queue_of(choosing.run_folders()[0]), opened)
    elif opened is not None:
        {RUNS: train_runs.show_scores, CURVES: train_runs.show_histories}[view](opened)
    frame.show_link(own_file=opened is not None and opened.own)


def to_train() -> None:
    """Go from the data to Train, and start what is chosen there: at first the preset that fits the data best."""
    st.session_state["view"], st.session_state[START] = TRAIN, True


frame.run(page)
