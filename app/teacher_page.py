"""The Teacher page of a classroom: who is present, which jobs run or wait, and whose runs use the disk."""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial

import choosing
import classroom
import frame
import streamlit as st
from train_queue import act, delete
from trainings import Job, Owned, Queue, all_owned, queue_of

from labkit.atomic import amount
from labkit.progress import lasting

EVERY = 5.0  # seconds between updates
ABOUT = """\
This page shows who is in the classroom and how much of this machine their runs use. Each browser counts as one
**visitor**. Visitors are numbered in order of arrival and keep their numbers when they reload the page. They see each
other's runs only if these are shared. You see all runs.
"""


def called(name: str) -> str:
    """The name of a visitor, with their number; a visitor of an earlier start has no number."""
    here = classroom.PRESENT.everyone().get(name)
    if here is None:
        return f"Visitor {name[:6]} (before the last restart)" if name else "Unknown visitor"
    return f"Visitor {here.number}{' (teacher)' if here.teacher else ''}{'' if here.tabs else ' (has left)'}"


def show_present(owners: Collection[str]) -> None:
    """A row for each visitor with an open tab; `owners` names the owner of each run in the queue."""
    rows = [
        {
            "Visitor": f"{here.number}{' (teacher)' if here.teacher else ''}",
            "Since": time.strftime("%H:%M", time.localtime(here.since)),
            "Page": here.page,
            "In the queue": sum(owner == name for owner in owners),
        }
        for name, here in classroom.PRESENT.everyone().items()
        if here.tabs
    ]
    st.markdown(f"#### Here now: {len(rows)}")
    frame.table(rows, "The visitors who are connected now.")


def show_jobs(queue: Queue, owners: Mapping[str, str], jobs: Sequence[Job]) -> None:
    """The jobs that run or wait, each with a button that stops it."""
    st.markdown(f"#### In the queue: {len(jobs)} of {queue.most}")
    for job in jobs:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            corpus = "a file" if job.own else job.corpus
            since = f", {lasting(job.seconds)} so far" if job.began else ""
            whose = called(owners[job.id])
            st.markdown(f"**{whose}** · {job.kind} on {corpus}, seed {job.seed} · {job.state}{since}")
            st.button(f"Stop {job.name}", key=f"stop-{job.id}", on_click=act, args=(queue.stop, job.id))


def show_disk(queue: Queue, runs: Sequence[Owned]) -> None:
    """The disk space used by each visitor's runs, and a button that deletes them."""
    st.markdown(f"#### Disk: {amount(shutil.disk_usage(queue.runs).free)} free")
    for owner in dict.fromkeys(run.owner for run in runs):
        own = [run for run in runs if run.owner == owner]
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            size, shared = amount(sum(run.size for run in own)), sum(run.shared for run in own)
            st.markdown(f"**{called(owner)}** · {size} · runs: {len(own)}, shared: {shared}")
            with st.popover("Make room", key=f"room-{owner}"):
                st.markdown("This permanently deletes runs of this visitor.")
                for what, runs_of in (("unshared", [run for run in own if not run.shared]), ("all", own)):
                    name, remove = f"Delete {what} runs: {len(runs_of)}", partial(delete_all, queue, runs_of)
                    st.button(name, key=f"delete-{what}-{owner}", on_click=act, args=(remove, owner))


def delete_all(queue: Queue, runs: Sequence[Owned], owner: str) -> None:
    """Delete these runs of a visitor, except those that are being trained."""
    live = {job.folder for job in queue.live}
    for run in runs:
        if str(run.folder) not in live:
            delete(queue, run.folder)


def show_all(queue: Queue) -> None:
    """The whole page, updated every few seconds."""
    if refused := st.session_state.pop("refused", None):
        st.error(frame.plain(refused))
    jobs = queue.live
    owners = {job.id: queue.visitor(job) for job in jobs}
    show_present(owners.values())
    show_jobs(queue, owners, jobs)
    show_disk(queue, all_owned(queue.runs))


def page() -> None:
    if not classroom.is_teacher():  # main.py offers it to nobody else
        raise ValueError("This page is for the teacher. Open it with the teacher's address, which the app has printed.")
    frame.head("Teacher: visitors and runs", ABOUT)
    st.fragment(frame.run, run_every=EVERY)(partial(show_all, queue_of(choosing.run_folders()[0])))


frame.run(page)
