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
from trainings import BENCH, ENDED, MINUTES, PLAN, Job, Queue, queue_of, report_of

from labkit import figures
from labkit.atomic import sentence_of
from labkit.runs import history
from labkit.trials.metrics import NAMES

RUNS, CURVES, WHICH, DATA, TRAIN = VIEWS = ["Runs", "Curves", "Which method?", "Data", "Train"]
START = "start-training"  # in the session: somebody has pressed the button next to the data
EVERY = 1.5  # seconds between two looks at a training that runs
ABOUT = """\
**Runs**: scores on the test split of the corpus. Runs that differ only in the seed share one line with their mean and,
from three seeds, their spread. Each line has the **95 % interval** of its difference from the best, over test items and
seeds. If the interval contains 0, it is **open** which of the two is better.

**Which method?** compares methods on your data with equal numbers of trials.

**Data**: each row of the table is a corpus with the sizes of its classes and the scores of three methods that do not
learn. What is missing to 1 is left to learn.

**Train**: a method learns from the training split. It is measured on the **dev** split after each epoch, and the best
weights are kept. **Test** is scored once, at the end. One training runs at a time, in its own process, with the same
result as `labkit train`; others wait in the queue. A stopped training keeps its last checkpoint and resumes from it to
the same result.
"""
FORMULAS = (
    r"\theta_{t+1} = \theta_t - \eta\,\nabla_\theta L(\theta_t)",
    r"\theta^* = \theta_{e^*},\quad e^* = \arg\max_e\ \text{dev}(\theta_e)",
    r"\text{open} \iff |\bar x_a - \bar x_b| \le t_{0.975}\, \text{se},\qquad \text{se}^2 = \text{var over seeds} "
    r"+ \text{var over items} - \text{what both share}",
)
ABOUT_BENCH = (
    "Checks the data, gives each method the same number of trials on dev, and scores test once with several seeds. In "
    "one minute, slow methods are left out; allow 20 minutes for a decision. It waits in the same queue as trainings."
)
OWN_FILE = "Your file is deleted after the training. The run keeps its words and some dev sentences, which {} can see."
READERS = "everybody who uses this app", "only you and the teacher (and everybody, if you share the run)"


def show_train(queue: Queue, opened: cached.Opened | None) -> None:
    """What is to be trained, and next to it the training."""
    left, right = st.columns([2, 5], gap="large")
    with left:
        if opened is not None:
            job = train_presets.job_of(opened)
            if opened.own:
                show = st.warning if classroom.is_on() else st.caption
                show(OWN_FILE.format(READERS[classroom.is_on()]))
            pressed = st.button("Train", type="primary", icon=":material/play_arrow:", key="train")
            if st.session_state.pop(START, False) or pressed:
                train_queue.submit(queue, job, opened)
        train_queue.show_limits()
    with right:
        follow(queue, partial(show_training, queue, opened))
        if classroom.is_on():
            train_queue.show_own_runs(queue)


def show_training(queue: Queue, opened: cached.Opened | None) -> None:
    """One training: how far it is, and its pictures; and the others."""
    jobs = train_queue.trainings_shown(queue)
    if not jobs:
        st.info("No training yet. Choose what to train and click Train.")
        return
    train_queue.show_head(queue, jobs[0])
    if jobs[0].state != "waiting":
        train_queue.show_growth(jobs[0], history(jobs[0].folder), opened)
    train_queue.show_others(queue, jobs[1:])


# --- which method for my data? -------------------------------------------------------------------------------------


def show_bench(queue: Queue, opened: cached.Opened) -> None:
    """Start a comparison on the chosen corpus."""
    st.caption(ABOUT_BENCH)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        minutes = st.number_input("Minutes", *MINUTES, 5, key="minutes", width=140, **frame.KEEP)
        if st.button(f"Compare methods on {frame.plain(opened.in_code)}", type="primary", key="bench"):
            job = Job(BENCH, opened.in_code, settings={"minutes": minutes}, own=opened.own)
            train_queue.submit(queue, job, opened)


def show_comparison(queue: Queue) -> None:
    """The comparison that runs, or what one has found; and the others."""
    jobs = train_queue.trainings_shown(queue, bench=True)
    if not jobs:
        return
    job = jobs[0]
    train_queue.show_head(queue, job)
    folder = Path(job.folder)
    if job.state not in ENDED:
        show_plan(folder)
    else:
        show_report(job)
    words = job.words(Path("report"))
    st.code(shlex.join(["labkit", *words]), language="bash", wrap_lines=True)
    train_queue.show_others(queue, jobs[1:])


def show_plan(folder: Path) -> None:
    """What is compared, once that is planned."""
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        methods, trials, seeds = plan["methods"], plan["trials"], plan["seeds"]
    except (OSError, ValueError, KeyError, TypeError):
        st.caption("Measuring what each method costs, to plan the available time.")
        return
    st.caption(f"{len(methods)} methods ({', '.join(methods)}), {trials} trials each, then {seeds} seeds.")


def show_report(job: Job) -> None:
    """The verdict, a picture of the scores with their intervals, the table, and the page to keep."""
    report, page = report_of(job.folder), Path(job.folder) / "report.html"
    if not report.get("lines") or not page.is_file():
        return
    lines = [line["ranked"] | line for line in report["lines"]]
    metric = NAMES[report["metric"]]
    st.markdown(f"##### {frame.plain(report['said'])}")
    rows = [
        {
            "method": line["name"],
            metric: line["score"],
            "from": line["low"],
            "to": line["high"],
            "behind the best": line["lead"],
            "verdict": line["against_best"],
            "seconds to train": line["seconds"],
            "µs a sentence": line["microseconds"],
            "MB": line["megabytes"],
        }
        for line in lines
    ]
    alt = f"{metric} of each method with its 95 % interval: " + ", ".join(
        f"{line['name']} {line['score']:.3f} from {line['low']:.3f} to {line['high']:.3f}" for line in lines
    )
    frame.picture(figures.method_intervals(lines, metric), key="bench-intervals", alt=alt, rows=lambda: rows)
    st.caption("Filled: not shown to be worse than the best. The intervals are over seeds and test rows.")
    frame.download("The report as HTML", page.read_bytes, f"{job.name}.html", "text/html", f"report-{job.id}")
    with st.expander("The table, and findings about the data"):
        scores = dict.fromkeys((metric, "from", "to", "behind the best"), "%.3f")
        costs = {"seconds to train": "%.1f", "µs a sentence": "%.0f", "MB": "%.1f"}
        frame.table(rows, "Every method with its score and cost.", formats=scores | costs)
        for finding in report["findings"]:
            st.caption(frame.plain(finding["sentence"]))
        left = {**report["plan"]["left_out"], **report["failed"]}
        for name, reason in left.items():
            st.caption(frame.plain(f"left out: {name}: {reason}"))


def show_which(queue: Queue, opened: cached.Opened | None) -> None:
    """A comparison of methods on the chosen corpus."""
    if opened is not None:
        show_bench(queue, opened)
    follow(queue, partial(show_comparison, queue))


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
    """Go from the data to the training, and start what is chosen there: at first the preset that fits the data best."""
    st.session_state["view"], st.session_state[START] = TRAIN, True


frame.run(page)
