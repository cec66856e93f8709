"""Page "Teacher" of a classroom: who is here, what runs and waits, and whose runs take the disk."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import choosing
import classroom
import frame
import streamlit as st
from owners import Owned, all_owned
from trainings import Job, Queue, queue_of

from labkit.atomic import amount, sentence_of
from labkit.progress import lasting

EVERY = 5.0  # seconds between two looks
ABOUT = """\
Who is in the classroom, and what their trainings use on this machine. A **visitor** is a browser, numbered in order of
arrival; the number survives a reload. Visitors see each other's runs only if they are shared; you see all of them.
"""


def called(name: str) -> str:
    """A visitor by their number; one of an earlier start has none."""
    here = classroom.PRESENT.everyone().get(name)
    if here is None:
        return f"Visitor {name[:6]} of an earlier start" if name else "Unknown visitor"
    return f"Visitor {here.number}{' (teacher)' if here.teacher else ''}{'' if here.tabs else ', who has left'}"


def show_present(owners: Collection[str]) -> None:
    """Return a row for each visitor with an open tab; `owners` names the owner of each run in the queue."""
    rows = [
        {
            "Visitor": f"{here.number}{' (teacher)' if here.teacher else ''}",
            "Since": time.strftime("%H:%M", time.localtime(here.since)),
            "Page": here.page,
            "Trainings": sum(owner == name for owner in owners),
        }
        for name, here in classroom.PRESENT.everyone().items()
        if here.tabs
    ]
    st.markdown(f"#### Here now: {len(rows)}")
    frame.table(rows, "The visitors who are here now.")


def show_trainings(queue: Queue, live: Mapping[str, str], jobs: Sequence[Job]) -> None:
    """What runs and waits, each with a button that stops it."""
    st.markdown(f"#### Trainings that run or wait: {len(jobs)} of {queue.most}")
    if not jobs:
        st.caption("None. Visitors start them under Train and compare.")
    for job in jobs:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            corpus = "a file" if job.own else job.corpus
            since = f", {lasting(job.seconds)} so far" if job.began else ""
            st.markdown(f"**{called(live[job.id])}** · {job.method} on {corpus}, seed {job.seed} · {job.state}{since}")
            stop = partial(queue.stop, job.id)
            st.button(f"Stop {job.name}", key=f"stop-{job.id}", on_click=do, args=(stop,))


def show_disk(queue: Queue, runs: Sequence[Owned]) -> None:
    """What the runs of each visitor take, and a way to be rid of them."""
    st.markdown(f"#### Disk: {amount(shutil.disk_usage(queue.runs).free)} free")
    by_owner = {run.owner: [other for other in runs if other.owner == run.owner] for run in runs}
    for owner, own in by_owner.items():
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            size, shared = amount(sum(run.size for run in own)), sum(run.shared for run in own)
            st.markdown(f"**{called(owner)}** · {size} · {runs_in_words(len(own))}, {shared} shared")
            if unshared := [run for run in own if not run.shared]:
                with st.popover("Make room", key=f"room-{owner}"):
                    st.markdown("Permanently deletes the runs that this visitor does not share.")
                    name = f"Delete {runs_in_words(len(unshared))}"
                    st.button(name, key=f"delete-{owner}", on_click=do, args=(partial(delete, queue, unshared),))
    if not runs:
        st.caption("No visitor has a run yet.")


def runs_in_words(runs: int) -> str:
    """So many runs, in words."""
    return f"{runs} {'run' if runs == 1 else 'runs'}"


def delete(queue: Queue, runs: Sequence[Owned]) -> None:
    """Delete these runs, but for those that are being trained."""
    live = {job.folder for job in queue.live}
    for run in runs:
        if str(run.folder) not in live:
            queue.delete(run.folder)


def do(what: Callable[[], Any]) -> None:
    """Do it; where something was in the way, one sentence says so."""
    try:
        what()
    except (ValueError, OSError) as reason:
        st.session_state["refused"] = sentence_of(reason)


def show_all(queue: Queue) -> None:
    """All that there is to see, drawn again every few seconds."""
    if refused := st.session_state.pop("refused", None):
        st.error(frame.plain(refused))
    jobs = queue.live
    live = {job.id: queue.visitor(job) for job in jobs}
    runs = all_owned(queue.runs)
    show_present(live.values())
    show_trainings(queue, live, jobs)
    show_disk(queue, runs)


def page() -> None:
    if not classroom.is_teacher():  # main.py offers it to nobody else
        raise ValueError(
            "This page is for the teacher. Open it with the teacher's address, printed when the app was started."
        )
    frame.head("Teacher: visitors and trainings", ABOUT)
    st.fragment(frame.run, run_every=EVERY)(partial(show_all, queue_of(choosing.run_folders()[0])))


frame.run(page)
