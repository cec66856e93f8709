"""Which method for my data? A comparison by `labkit bench`, in as many minutes as it is given, and what it found."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import cached
import frame
import streamlit as st
import train_queue
from trainings import BENCH, ENDED, MINUTES, Job, Order, Queue, report_of

from labkit import figures
from labkit.trials.metrics import NAMES

ABOUT = (
    "Checks the data, gives each method the same number of trials on dev, and scores test once with several seeds. In "
    "one minute, slow methods are left out; allow 20 minutes for a decision. It waits in the same queue as trainings."
)


def show_bench(queue: Queue, opened: cached.Opened) -> None:
    """Start a comparison on the chosen corpus."""
    st.caption(ABOUT)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        minutes = st.number_input("Minutes", *MINUTES, 5, key="minutes", width=140, **frame.KEEP)
        if st.button(f"Compare methods on {frame.plain(opened.in_code)}", type="primary", key="bench"):
            settings = {"minutes": minutes}
            if opened.file:
                order = Order.of_file(BENCH, opened.file.name, opened.file.data, settings=settings)
            else:
                order = Order(BENCH, opened.in_code, settings=settings)
            train_queue.submit(queue, order, opened)


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
    words = job.order.words(Path("report"))
    st.code(shlex.join(["labkit", *words]), language="bash", wrap_lines=True)
    train_queue.show_others(queue, jobs[1:])


def show_plan(folder: Path) -> None:
    """What is compared, once that is planned."""
    try:
        plan = json.loads((folder / "planned.json").read_text(encoding="utf-8"))
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
