"""The line of trainings on the page "Train": how far each is, what became of it, and its curves."""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import choosing
import frame
import stored
import streamlit as st
from train_text import CODE
from trainings import ENDED, Job, Order, Queue, clock, watch

from labkit.evaluation.comparison import spoken
from labkit.figures import training_curves
from labkit.figures.epochs import told
from labkit.folders import holder, sentence_of

EACH = 2  # trainings of one visitor of a classroom in the line
COOKIE = "labkit-visitor"
KNOWN = f"""\
<script>document.cookie.includes("{COOKIE}=") || (document.cookie =
"{COOKIE}=%s; path=/; max-age=86400; SameSite=Strict")</script>"""
SHOWN = 8  # trainings that have ended
STATES = {
    "waiting": ":material/hourglass_empty: waits",
    "running": ":material/play_arrow: runs",
    "stopping": ":material/pause: stops",
    "stopped": ":material/pause: stopped",
    "failed": ":material/error: failed",
    "finished": ":material/check: finished",
}


def visitor() -> dict[str, Any]:
    """Who this is, how many trainings he may have in the line, and the machine he comes from: what the queue asks."""
    if not stored.classroom():
        return {}
    return {"visitor": browser(), "each": EACH, "machine": st.context.ip_address or ""}


def browser() -> str:
    """A browser's name, drawn by lot; it comes in a cookie, so that a visitor is the same one after a reload."""
    known = st.context.cookies.get(COOKIE, "")
    return (
        known if re.fullmatch("[0-9a-f]{32}", known) else st.session_state.setdefault("visitor", secrets.token_hex(16))
    )


def know_again() -> None:
    """In a classroom, give the browser its name, if it has none."""
    if stored.classroom():
        st.html(KNOWN % browser(), unsafe_allow_javascript=True)
        st.caption(f"A cookie tells this app for a day which trainings are yours; {EACH} of them may be in the line.")


def may_touch(queue: Queue, job: Job) -> bool:
    """Whether this visitor may stop a training: his own; all of them on the machine that the app runs on."""
    return not stored.classroom() or st.context.ip_address is None or queue.visitor(job) == browser()


def show_line(queue: Queue) -> None:
    """The trainings, the one that runs first; drawn again every second or two while there is one."""
    if st.session_state["followed"] != queue.busy:
        st.rerun()  # the whole page, once: from now on there is something to follow, or nothing any more
    if refused := st.session_state.pop("refused", None):
        st.error(frame.plain(refused))
    jobs = queue.jobs()
    live = [job for job in jobs if job.state not in ENDED]
    if not jobs:
        st.info("No training yet. Choose a method and press Train.")
        return
    for job in live:
        with st.container(border=True):
            show_job(queue, job)
    show_curves(queue, jobs)
    for job in [job for job in jobs if job.state in ENDED][:SHOWN]:
        with st.container(border=True):
            show_job(queue, job)


def show_job(queue: Queue, job: Job) -> None:
    """One training: what it is, how far it is, what became of it, and what can be done with it."""
    corpus = "a visitor's file" if job.own else job.corpus
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{job.method}** on {corpus}, seed {job.seed} · {STATES[job.state]}")
        buttons(queue, job)
    if job.state == "waiting":
        place = queue.place(job)
        st.caption(f"Number {place} in the line: {place} {'training' if place == 1 else 'trainings'} before it.")
        return
    seen = watch(job, queue.private(job))
    if job.state in ENDED:
        if who := holder(job.folder):  # by the command line, or by what an app that is gone began and has to end yet
            st.caption(frame.plain(f"It is being trained by {who}, not by this app."))
            return
        st.caption(f"{clock(seen.seconds)}{figures(job)}")
        for line in (job.why, *job.notes) if may_touch(queue, job) else ():
            st.caption(frame.plain(line))
        return
    left = "" if seen.left is None else f" · at most {clock(seen.left)} left"
    st.progress(seen.share or 0.0, text=f"{frame.plain(seen.what) or 'starting'} · {clock(seen.seconds)} so far{left}")


def figures(job: Job) -> str:
    """What the run is worth on test, and where to look at it."""
    from labkit.runs import read_record

    if job.state != "finished":
        return ""
    try:
        metrics = read_record(job.folder)["metrics"]
    except (ValueError, OSError):
        return " · its folder was removed"
    found = [
        f"{spoken(name)} {value:.3f}" for each in metrics.values() for name, value in each.items() if value is not None
    ]
    where = {"vectors": choosing.STORED, "run": job.name} | ({} if job.own else {"corpus": job.corpus})
    link = "pairs_page?" + urlencode(where)
    test = f" · test: {frame.plain(', '.join(found[:4]))}" if found else ""
    return f"{test} · stored as `{job.name}`: look at it on [Pairs]({link}) and all other pages"


def buttons(queue: Queue, job: Job) -> None:
    """Stop, resume, remove."""
    if not may_touch(queue, job):
        return
    with st.container(horizontal=True, width="content"):
        if job.state in ("waiting", "running"):
            st.button("Stop", key=f"stop-{job.id}", on_click=act, args=(queue.stop, job.id))
        if job.resumable and not holder(job.folder) and (not job.own or (queue.private(job) / job.corpus).is_file()):
            name = "Resume" if job.checkpoint else "Train again"
            st.button(name, key=f"resume-{job.id}", on_click=act, args=(partial(queue.resume, **visitor()), job.id))
        if job.state in ENDED:
            st.button("Remove", key=f"forget-{job.id}", on_click=act, args=(queue.forget, job.id),
                      help="From this list; the run itself stays.")  # fmt: skip


def act(what: Callable[[str], Any], name: str) -> None:
    """Do it; where another visitor was quicker, one sentence says so."""
    try:
        what(name)
        st.session_state["looked-at"] = name
    except (ValueError, OSError) as reason:
        st.session_state["refused"] = sentence_of(reason)


def show_curves(queue: Queue, jobs: Sequence[Job]) -> None:
    """The figures of one training, epoch by epoch."""
    named = {job.id: job for job in jobs if job.state != "waiting"}
    if not named:
        return
    if st.session_state.get("looked-at") in named:  # the training that was begun or touched last
        st.session_state["curves"] = st.session_state.pop("looked-at")
    chosen = st.selectbox("Curves of", list(named), format_func=lambda name: title(named[name]), key="curves")
    job = named[chosen]
    history = watch(job, queue.private(job)).history
    if not told({job.name: history}):
        if job.state == "finished":
            st.caption("It has no figures by epoch: it does not learn in epochs.")
        else:
            st.caption("It ended before an epoch was done." if job.state in ENDED else "No epoch is done yet.")
    else:
        alt = f"Curves of {job.name} over {len(history)} epochs: {', '.join(map(spoken, told({job.name: history})))}."
        frame.picture(
            training_curves({job.name: history}),
            key="training_curves",
            alt=alt,
            rows=lambda: [*map(dict, history.rows)],
        )
    settings = ", ".join(f"{name}={value!r}" for name, value in job.settings.items())
    corpus = "mine.csv" if job.own else job.corpus
    words = Order(job.method, corpus, job.seed, job.settings).words(Path("runs") / job.name)
    frame.code(CODE.format(corpus=corpus, method=job.method, settings=settings, seed=job.seed))
    st.code(shlex.join(["labkit", *words]), language="bash", wrap_lines=True)


def title(job: Job) -> str:
    return f"{job.name}, {job.state}"
