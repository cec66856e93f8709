"""Page "Train": any method on any corpus, in a line that all visitors share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import cached
import choosing
import classroom
import frame
import streamlit as st
from trainings import ENDED, Choice, Job, Order, Queue, choices, queue_of, watch
from trainings.owners import Owned, all_owned, owned, write_owned

from labkit.atomic import amount, sentence_of
from labkit.figure_names import spoken
from labkit.figures import training_curves
from labkit.figures.epochs import curve_columns, probe_columns
from labkit.locks import is_locked
from labkit.progress import lasting
from labkit.runs import History, read_record

EVERY = 1.5  # seconds between two looks at a training that runs
FRONT = ("epochs", "encoder", "loss", "solver", "form", "base", "size", "hidden", "dimension", "neighbours")
EACH = 2  # trainings of one visitor of a classroom in the line
DISK = 256 * 2**20  # bytes of the runs of one visitor of a classroom
SHOWN = 8  # trainings that have ended
ICONS = {
    "waiting": ":material/hourglass_empty:",
    "running": ":material/play_arrow:",
    "stopping": ":material/pause:",
    "stopped": ":material/pause:",
    "failed": ":material/error:",
    "finished": ":material/check:",
}
ABOUT = """\
A method learns from the training split of a corpus, epoch by epoch; after each, the **dev** split says how good it is,
and the best weights stay. The figures of **test** come once, at the end. One training runs at a time, in a process of
its own, and is the same as `labkit train` would make it: the others wait in line. A stopped training keeps its last
checkpoint, and goes on from there to the numbers it would have had.
"""
FORMULAS = (
    r"\theta_{t+1} = \theta_t - \eta\,\nabla_\theta L(\theta_t)",
    r"\theta^* = \theta_{e^*},\quad e^* = \arg\max_e\ \text{dev}(\theta_e)",
)
OWN_FILE = (
    "The file is kept for the training alone and removed after it. The run keeps its words and some sentences of dev "
    "to follow over the epochs: {} can look at them."
)
READERS = "whoever uses this app", "you and the teacher, and all others if you share it,"
PROBE = (
    "How the vectors of the probe lie, up to 300 sentences of dev that are the same after every epoch. The page "
    "Clusters shows them as points, and how their cosines are spread."
)
MORE_SETTINGS = (
    "`labkit train` takes more: word vectors from a file, another base, or more epochs than are offered here."
)


# --- an order ----------------------------------------------------------------------------------------------------


def order_of(opened: cached.Opened) -> Order:
    """Method, settings and seed, as chosen; only settings that are not the method's own are part of it."""
    from labkit.methods import METHODS, SUMMARIES

    method = st.selectbox("Method", list(METHODS), key="method", **frame.KEEP)
    st.caption(SUMMARIES[method])
    kind = METHODS[method].Settings
    follow_earlier_link(method, kind.earlier_names)
    offered = without_unused(method, choices(kind), opened)
    front = [choice for choice in offered if choice.name in FRONT and (choice.name, choice.kind) != ("base", float)]
    values = controls(method, front)
    with st.expander("All settings", icon=":material/tune:"):
        values |= controls(method, [choice for choice in offered if choice not in front])
        seed = st.number_input("seed", 0, 9999, 0, key="seed", help="Same seed, same numbers.", **frame.KEEP)
        st.caption(MORE_SETTINGS)
    changed = {choice.name: values[choice.name] for choice in offered if values[choice.name] != choice.default}
    if opened.file:
        return Order.of_file(method, opened.file.name, opened.file.data, seed=int(seed), settings=changed)
    return Order(method, opened.corpus.name, int(seed), changed)


def follow_earlier_link(method: str, names: Mapping[str, str]) -> None:
    """Rename settings in a link that was made when they had other names."""
    found = {earlier: name for earlier, name in names.items() if f"{method}.{earlier}" in st.query_params}
    for earlier, name in found.items():
        st.query_params[f"{method}.{name}"] = st.query_params[f"{method}.{earlier}"]
        del st.query_params[f"{method}.{earlier}"]
    if found:
        st.rerun()  # widgets read the address once, before the page runs


def without_unused(method: str, offered: Sequence[Choice], opened: cached.Opened) -> Sequence[Choice]:
    """The settings that change something beside the others as they are chosen now, and on this corpus."""
    from labkit.methods import METHODS

    values = {}
    for choice in offered:
        key = f"{method}.{choice.name}"
        values[choice.name] = st.session_state.get(key, st.query_params.get(key, choice.default))
    try:
        settings = METHODS[method].Settings.of(values)
    except ValueError:  # these settings conflict: the Train button says why
        return offered
    unused = settings.unused(type(opened.corpus).__name__, "dev" in opened.corpus.sizes)
    return [choice for choice in offered if choice.name not in unused]


def controls(method: str, offered: Sequence[Choice]) -> dict[str, Any]:
    """A control for each setting, two side by side."""
    values = {}
    columns = st.columns(2)
    for number, choice in enumerate(offered):
        with columns[number % 2]:
            values[choice.name] = control(choice, f"{method}.{choice.name}")
    return values


def control(choice: Choice, key: str) -> Any:
    """The control that fits the kind of setting; what it means is its help."""
    shown: dict[str, Any] = {"key": key, "help": choice.help, **frame.KEEP}
    if choice.kind is bool:
        return st.checkbox(choice.name, choice.default, **shown)
    if choice.kind is str:
        return st.selectbox(choice.name, choice.options, choice.options.index(choice.default), **shown)
    form = "%d" if choice.kind is int else "%g"
    numbers = [choice.kind(value) for value in (choice.minimum, choice.maximum, choice.default, choice.step)]
    return st.number_input(choice.name, *numbers, format=form, **shown)


def submit(queue: Queue, order: Order) -> None:
    """Put the order into the line, or say in one sentence why not."""
    try:
        job = queue.submit(order, **visitor())
    except (ValueError, OSError) as reason:
        st.error(frame.plain(sentence_of(reason)))
        return
    st.session_state["looked-at"] = job.id


# --- the line of trainings ---------------------------------------------------------------------------------------


def visitor() -> dict[str, Any]:
    """The arguments by which the queue knows a visitor and their limits in the queue and on the disk."""
    if not classroom.is_on():
        return {}
    limits = {} if classroom.is_teacher() else {"each": EACH, "disk": DISK}
    return {"visitor": classroom.me(), **limits}


def show_limits() -> None:
    """What a visitor of a classroom has to know: which one he is, and what he may have."""
    here = classroom.PRESENT.everyone().get(classroom.me())
    if here is not None:
        st.caption(
            f"You are visitor {here.number}. A cookie tells this app for {classroom.DAYS} days which trainings and "
            f"runs are yours: {EACH} may be in the line, and your runs may take {amount(DISK)}."
        )


def may_touch(queue: Queue, job: Job) -> bool:
    """Whether this visitor may stop a training: his own; the teacher, all of them."""
    return not classroom.is_on() or classroom.is_teacher() or queue.visitor(job) == classroom.me()


def is_shown(queue: Queue, job: Job) -> bool:
    """Whether this visitor sees a training: what he may touch, and what is shared, or no visitor's."""
    if may_touch(queue, job):
        return True
    whose = owned(job.folder)
    return whose.shared if whose else not (job.own or queue.visitor(job))


def show_line(queue: Queue) -> None:
    """The trainings, the one that runs first; drawn again every second or two while there is one."""
    if st.session_state["followed"] != queue.busy:
        st.rerun()  # the whole page, once: from now on there is something to follow, or nothing any more
    if refused := st.session_state.pop("refused", None):
        st.error(frame.plain(refused))
    every = queue.jobs()
    jobs = [job for job in every if is_shown(queue, job)]
    if others := sum(job.state not in ENDED for job in every) - sum(job.state not in ENDED for job in jobs):
        st.caption(f"Trainings of other visitors that run or wait: {others}.")
    if not jobs:
        st.info("No training yet. Choose a method and press Train.")
        return
    live = [job for job in jobs if job.state not in ENDED]
    for job in live:
        show_job(queue, job)
    show_history(queue, jobs)
    for job in jobs[len(live) :][:SHOWN]:
        show_job(queue, job)


def show_job(queue: Queue, job: Job) -> None:
    """One training: what it is, how far it is, what became of it, and what can be done with it."""
    corpus = "a visitor's file" if job.own else job.corpus
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"**{job.method}** on {corpus}, seed {job.seed} · {ICONS[job.state]} {job.state}")
            buttons(queue, job)
        show_state(queue, job)


def show_state(queue: Queue, job: Job) -> None:
    """How far a training is, or what became of it."""
    if job.state == "waiting":
        place = queue.place(job)
        st.caption(f"Number {place} in the line: {place} {'training' if place == 1 else 'trainings'} before it.")
        return
    seen = watch(job, queue.private(job))
    if job.state in ENDED:
        if is_locked(job.folder):  # by the command line, or by what an app that is gone began and has to end yet
            st.caption("It is being trained by another process, not by this app.")
            return
        st.caption(f"{lasting(seen.seconds)}{worth(job)}")
        for line in (job.why, *job.notes) if may_touch(queue, job) else ():
            st.caption(frame.plain(line))
        return
    left = "" if seen.left is None else f" · at most {lasting(seen.left)} left"
    st.progress(
        seen.share or 0.0, text=f"{frame.plain(seen.what) or 'starting'} · {lasting(seen.seconds)} so far{left}"
    )


def worth(job: Job) -> str:
    """What the run is worth on test, and where to look at it."""
    if job.state != "finished":
        return ""
    try:
        metrics = read_record(job.folder)["metrics"]
    except (ValueError, OSError):
        return " · its folder was removed"
    scores = [
        f"{spoken(name)} {value:.3f}" for each in metrics.values() for name, value in each.items() if value is not None
    ]
    where = {"vectors": choosing.STORED, "run": job.name} | ({} if job.own else {"corpus": job.corpus})
    link = "pairs_page?" + urlencode(where)
    test = f" · test: {frame.plain(', '.join(scores[:4]))}" if scores else ""
    return f"{test} · stored as `{job.name}`: look at it on [Pairs]({link}) and all other pages"


def buttons(queue: Queue, job: Job) -> None:
    """Stop, resume, remove."""
    if not may_touch(queue, job):
        return
    with st.container(horizontal=True, width="content"):
        if job.state in ("waiting", "running"):
            st.button("Stop", key=f"stop-{job.id}", on_click=act, args=(queue.stop, job.id))
        if job.resumable and not is_locked(job.folder) and (not job.own or (queue.private(job) / job.corpus).is_file()):
            name = "Resume" if job.checkpoint else "Train again"
            st.button(name, key=f"resume-{job.id}", on_click=act, args=(partial(queue.resume, **visitor()), job.id))
        if job.state in ENDED:
            about = "Take it off this list; the run itself stays."
            st.button("Remove", key=f"forget-{job.id}", on_click=act, args=(queue.forget, job.id), help=about)


def act(what: Callable[[Any], Any], which: str | Path) -> None:
    """Do it; where another visitor was quicker, one sentence says so."""
    try:
        what(which)
        st.session_state["looked-at"] = which
    except (ValueError, OSError) as reason:
        st.session_state["refused"] = sentence_of(reason)


def show_history(queue: Queue, jobs: Sequence[Job]) -> None:
    """The figures of one training, epoch by epoch."""
    named = {job.id: job for job in jobs if job.state != "waiting"}
    if not named:
        return
    if st.session_state.get("looked-at") in named:  # the training that was begun or touched last
        st.session_state["curves"] = st.session_state.pop("looked-at")
    titles = {name: f"{job.name}, {job.state}" for name, job in named.items()}
    job = named[st.selectbox("Curves of", list(named), format_func=titles.__getitem__, key="curves")]
    history = watch(job, queue.private(job)).history
    columns = curve_columns({job.name: history})
    if not columns:
        if job.state == "finished":
            st.caption("It has no figures by epoch: it does not learn in epochs.")
        else:
            st.caption("It ended before an epoch was done." if job.state in ENDED else "No epoch is done yet.")
    else:
        alt = f"Curves of {job.name} over {len(history)} epochs: {', '.join(map(spoken, columns))}."
        frame.picture(
            training_curves({job.name: history}),
            key="training_curves",
            alt=alt,
            rows=lambda: [*map(dict, history.rows)],
        )
        show_probe(job, history)
    settings = ", ".join(f"{name}={value!r}" for name, value in job.settings.items())
    corpus = "mine.csv" if job.own else job.corpus
    words = Order(job.method, corpus, job.seed, job.settings).words(Path("runs") / job.name)
    frame.code(CODE.format(corpus=corpus, method=job.method, settings=settings, seed=job.seed))
    st.code(shlex.join(["labkit", *words]), language="bash", wrap_lines=True)


def show_probe(job: Job, history: History) -> None:
    """How the vectors of the probe lie, epoch by epoch; of a run made by an earlier labkit nothing."""
    columns = probe_columns({job.name: history})
    if not columns:
        return
    st.caption(PROBE)
    frame.picture(
        training_curves({job.name: history}, columns),
        key="probe_curves",
        alt=f"Figures of the probe of {job.name} over {len(history)} epochs: {', '.join(map(spoken, columns))}.",
        rows=lambda: [*map(dict, history.rows)],
    )


# --- a visitor's runs ---------------------------------------------------------------------------------------------


def show_runs(queue: Queue) -> None:
    """The runs of a visitor of a classroom: he shares them, and deletes them."""
    live = {Path(job.folder) for job in queue.jobs() if job.state not in ENDED}
    runs = [run for run in all_owned(queue.runs) if run.owner == classroom.me() and run.folder not in live]
    if not runs:
        return
    with st.expander(f"Your runs: {len(runs)}, {amount(sum(run.size for run in runs))}", expanded=True):
        st.caption("Only you and the teacher see them. Others see what you share, with the sentences that it keeps.")
        for run in runs:
            name = run.folder.name
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                key, about = f"shared-{name}", f"Delete {name} with all its files, for good."
                st.checkbox(
                    f"Share {name} ({amount(run.size)})", run.shared, key=key, on_change=share_run, args=(run, key)
                )
                st.button("Delete", key=f"delete-{name}", on_click=act, args=(queue.delete, run.folder), help=about)


def share_run(run: Owned, key: str) -> None:
    """Show a run to the others, or no longer."""
    if run.folder.is_dir():
        write_owned(Owned(run.folder, run.owner, st.session_state[key]))


# --- the page ----------------------------------------------------------------------------------------------------


def page() -> None:
    frame.head("Train: any method, any corpus", ABOUT, *FORMULAS)
    opened = choosing.corpus()
    queue = queue_of(choosing.training_folder())
    left, right = st.columns([2, 3], gap="large")
    with left:
        if opened is not None:
            order = order_of(opened)
            if opened.own:
                st.caption(OWN_FILE.format(READERS[classroom.is_on()]))
            if st.button("Train", type="primary", icon=":material/play_arrow:", key="train"):
                submit(queue, order)
        show_limits()
    st.session_state["followed"] = queue.busy
    with right:
        st.fragment(frame.run, run_every=EVERY if queue.busy else None)(partial(show_line, queue))
        if classroom.is_on():
            show_runs(queue)
    frame.show_link(own_file=opened is not None and opened.own)


CODE = """\
from labkit import METHODS
from labkit.corpora import load
from labkit.figures import training_curves

corpus = load({corpus!r})
method = METHODS[{method!r}]({settings})
history = method.fit(corpus, seed={seed})
training_curves({{{method!r}: history}}).show()
"""

frame.run(page)
