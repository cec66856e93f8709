"""The view of the queue: one run with its space and curves as they grow, the other jobs, and a visitor's own runs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import cached
import choosing
import classroom
import frame
import numpy as np
import streamlit as st
import train_presets
from cached import Opened
from keeping import once
from safetensors import SafetensorError, safe_open
from trainings import ENDED, RESUMABLE, Job, Owned, Queue, all_owned, owned, progress, write_owned

from labkit import figures
from labkit.arrays import unit
from labkit.atomic import amount, sentence_of
from labkit.corpora import Labelled
from labkit.corpora.relations import probe_split
from labkit.figure_names import DEV, meaning, spoken
from labkit.figures.epochs import curve_columns, kept_epoch
from labkit.locks import is_locked
from labkit.progress import lasting
from labkit.projection.epochs import epochs
from labkit.runs import CHECKPOINT, Snapshots, finished, history, read_record, read_run, settings_of

EACH = 2  # runs in the queue per visitor of a classroom
DISK = 256 * 2**20  # bytes of runs per visitor of a classroom
SHOWN, BESIDE = "shown-training", "shown-beside"  # in the session: the job shown, and the corpus and method chosen then
COLOURED = 36  # most classes of a probe that get colours
SPACE, CURVES = 380, 300  # heights of the pictures in pixels
EARLY = "**Training stopped early** after epoch {last} of {most}: no better dev score for {patience} epochs."
BEST = "The largest mark is epoch {best}, the best on dev so far. The model keeps its weights. "
LAST = "No dev score chooses an epoch, so the model keeps the weights of the last one. "


# --- who may do what ---------------------------------------------------------------------------------------------


def visitor() -> dict[str, Any]:
    """The arguments that tell the queue who a visitor is, and their limits in the queue and on the disk."""
    if not classroom.is_on():
        return {}
    limits = {} if classroom.is_teacher() else {"each": EACH, "disk": DISK}
    return {"visitor": classroom.me(), **limits}


def show_limits() -> None:
    """What a visitor of a classroom has to know: their number and limits."""
    if classroom.is_on():
        here = classroom.PRESENT.everyone().get(classroom.me())
        st.caption(
            f"You are visitor {here.number if here else '–'}. A cookie remembers for {classroom.DAYS} days which runs "
            f"are yours. You can have up to {EACH} runs in the queue, and your runs can use up to {amount(DISK)} of "
            "disk space."
        )


def may_touch(run: Path | str) -> bool:
    """Whether this visitor may stop or delete the run in a folder: their own or, as the teacher, any."""
    whose = owned(run)
    return not classroom.is_on() or classroom.is_teacher() or bool(whose and whose.owner == classroom.me() != "")


def is_shown(queue: Queue, job: Job) -> bool:
    """Whether this visitor sees a job: one they may stop, a shared one, or one that no visitor started."""
    whose = owned(job.folder)
    return may_touch(job.folder) or (whose.shared if whose else not job.own)


def submit(queue: Queue, job: Job, opened: Opened) -> None:
    """Put the job into the queue, or say in one sentence why not."""
    try:
        job = queue.submit(job, opened.file.data if opened.file else b"", **visitor())
    except (ValueError, OSError) as reason:
        st.error(frame.plain(sentence_of(reason)))
        return
    st.session_state.update({SHOWN: job.id, f"file-of-{job.id}": opened.file})  # to look at its space later


def is_live(queue: Queue, job: Job, opened: Opened) -> bool:
    """Whether this visitor has a job in the queue that is equal to this one, on the same file."""
    me, what = visitor().get("visitor", ""), (job.method, job.corpus, job.seed, job.settings)
    return any(
        (each.method, each.corpus, each.seed, each.settings) == what and queue.visitor(each) == me
        for each in queue.live
        if opened.file == st.session_state.get(f"file-of-{each.id}")
    )


def show(job: Job, opened: Opened | None) -> None:
    """Show a job next to its own corpus and preset; one on a file, next to whatever corpus is open."""
    if not job.own:
        choosing.choose_corpus(job.corpus)
        opened = cached.lab_corpus(job.corpus)
    if opened is not None:
        train_presets.choose(job.method, opened)
    st.session_state.update({SHOWN: job.id, BESIDE: (opened.in_code, job.method) if opened else (None, "")})


def act(what: Callable[[Any], Any], which: str | Path) -> None:
    """Call `what`; if another visitor was quicker, keep the error to show it as one sentence."""
    try:
        what(which)
        st.session_state[SHOWN] = which
    except (ValueError, OSError) as reason:
        st.session_state["refused"] = sentence_of(reason)


# --- the queue ---------------------------------------------------------------------------------------------------


def jobs_shown(queue: Queue, opened: Opened | None, method: str) -> tuple[Job | None, list[Job]]:
    """The run or comparison to show, if there is one by this method on this corpus, and all other jobs that this
    visitor sees.

    It is the one that the visitor asks for; otherwise, if a corpus is open, the job that runs or was changed last, or a
    stored run.
    """
    if st.session_state["followed"] != [job.id for job in queue.live]:
        st.rerun()  # the whole page once, because the button is enabled again, or updates start or stop
    if refused := st.session_state.pop("refused", None):
        st.error(frame.plain(refused))
    if others := sum(not is_shown(queue, job) for job in queue.live):
        st.caption(f"Other visitors' runs in the queue: {others}.")
    chosen = opened and opened.in_code, method
    if st.session_state.setdefault(BESIDE, chosen) != chosen:
        st.session_state[BESIDE] = chosen
        st.session_state.pop(SHOWN, None)
    wanted = st.session_state.get(SHOWN)
    jobs = [job for job in queue.jobs() if is_shown(queue, job)]
    fitting = [job for job in jobs if job.id == wanted or (job.corpus, job.method) == chosen]
    first = min(fitting, key=lambda job: job.id != wanted, default=None)
    stored = stored_run(opened, method) if first is None and opened is not None else None
    return first or stored, [job for job in jobs if job is not first]


def stored_run(opened: Opened, method: str) -> Job | None:
    """The newest finished run of a method on this corpus, or a bundled one, as a job that is in no queue."""
    from labkit.methods import OF_RUNS

    records = {folder: choosing.record_of(folder) for folder in choosing.runs_on(opened, "")[0].values()}
    done = [each for each, of in records.items() if of.get("state") == "finished" and of["method"] == method]
    if not done:
        return None
    folder = min(done, key=lambda each: each.name in choosing.lab_runs())  # the first that is not bundled
    record, kind = records[folder], OF_RUNS[method].Settings
    usual, settings = kind().values(), settings_of(kind, record["settings"]).values()
    changed = {name: value for name, value in settings.items() if value != usual[name]}
    more: Any = {"folder": str(folder), "state": "finished"}
    return Job(method, opened.in_code, record["seed"], changed, opened.own, **more)


def show_head(queue: Queue, job: Job, opened: Opened | None, *, shown: bool = True) -> None:
    """What a job trains, its progress or result, and its buttons."""
    said, share = result_of(job), None
    if job.state not in ENDED:
        what, share, left = progress(job, queue.private(job)) if job.state != "waiting" else ("", None, None)
        live = queue.live
        ahead = f"runs ahead in the queue: {live.index(job)}" if job in live[1:] else "starting …"
        so_far = f"{frame.plain(what)} · {lasting(job.seconds)} so far"
        said = so_far + (f" · {lasting(left)} left" if left is not None else "") if what else ahead
    name = f"**{job.kind}** on {frame.plain(job.corpus)}" if shown else f"**{frame.plain(job.name)}**"
    with st.container(horizontal=True, vertical_alignment="center", key=f"job-{job.id}"):
        st.markdown(" · ".join(filter(None, [name, job.state, said])), width="stretch")
        if not shown and st.button("Show", key=f"show-{job.id}", on_click=show, args=(job, opened)):
            st.rerun()  # the whole page: corpus and preset have changed, too
        if shown and job.state == "finished" and not job.is_bench and Path(job.folder).is_dir():
            show_model(job)
        if may_touch(job.folder):
            show_buttons(queue, job)
    if shown and share is not None:
        st.progress(share)
    for line in (job.why, *job.notes) if job.state in ENDED and may_touch(job.folder) else ():
        st.caption(frame.plain(line[:1].upper() + line[1:]))


def result_of(job: Job) -> str:
    """For a finished run, its main score on test; otherwise nothing."""
    if is_locked(job.folder):  # the command line, or a job of a closed app that has not ended yet
        return "another process is training this run"
    if job.state != "finished" or job.is_bench:
        return ""
    try:
        metrics = read_record(job.folder)["metrics"].values()
    except (ValueError, OSError):
        return "the folder of this run was deleted"
    values = [(name, value) for each in metrics for name, value in each.items() if value is not None]
    return "".join(f"{frame.plain(spoken(name))} on test: {value:.3f}" for name, value in values[:1])


def show_model(job: Job) -> None:
    """Buttons to see a finished run move, and to save it."""
    icon = ":material/animation:"
    if st.button("See it move", key=f"move-{job.id}", type="primary", icon=icon):
        if job.own:
            st.session_state["file"] = st.session_state.get(f"file-of-{job.id}", st.session_state.get("file"))
        see_it_move(Path(job.folder), choosing.OWN if job.own else job.corpus)
    frame.save_model(Path(job.folder), f"zip-{job.id}")


def show_buttons(queue: Queue, job: Job) -> None:
    """Buttons to stop, resume or delete a job."""
    if job.state in ("waiting", "running"):
        st.button("Stop", key=f"stop-{job.id}", on_click=act, args=(queue.stop, job.id))
    if job.state in RESUMABLE and not is_locked(job.folder) and queue.has_file(job):
        name = "Resume" if job.checkpoint else "Train again"
        st.button(name, key=f"resume-{job.id}", on_click=act, args=(partial(queue.resume, **visitor()), job.id))
    if job.state in ENDED and (job.id or owned(job.folder)):
        ask_to_delete(queue, Path(job.folder), job.id)


def ask_to_delete(queue: Queue, run: Path, key: str) -> None:
    """A button that deletes a run that was trained here, after it has asked once."""
    with st.popover("Delete", key=f"ask-{key}"):
        st.markdown(f"Permanently delete {frame.plain(run.name)} and all its files?")
        st.button("Yes, delete it", key=f"delete-{key}", on_click=act, args=(partial(delete, queue), run))


def delete(queue: Queue, run: Path) -> None:
    """Delete a run, if this visitor may."""
    if not may_touch(run):
        raise ValueError(f"run {run.name!r} belongs to another visitor")
    queue.delete(run)


def see_it_move(folder: Path, corpus: str) -> None:
    """Open the space of a run on its own corpus: epoch by epoch if it saved vectors, otherwise next to mean word
    vectors."""
    run = choosing.RUN + folder.name
    # values that the browser remembers for these two from an earlier visit would override the address
    st.session_state.update({choosing.CARRIED: corpus, "left": "mean-vectors", "right": run})
    address = {"corpus": corpus, "left": "mean word vectors", "right": run}
    if len((saved := read_run(folder).snapshots).epochs) > 1:
        address["view"], st.session_state["epoch"] = "While it trained", int(saved.epochs[0])  # from which it plays
    st.switch_page("space_page.py", query_params=address)


# --- how it grows ------------------------------------------------------------------------------------------------


def titled(said: str, key: str, about: str | None = None) -> Any:
    """A title in one line with the choices for saving the picture below it, which it returns."""
    with st.container(horizontal=True, vertical_alignment="center", key=f"title-{key}"):
        st.markdown(said, width="stretch", help=about)
        return frame.save_button("Save", key)


def show_space(job: Job, opened: Opened | None) -> None:
    """The probe as points, by PCA, each epoch rotated onto the previous one; until the run has one, mean word vectors.

    `opened` is the corpus of the run, if it is the one that is open.
    """
    kept, when = space_so_far(job, opened), ""
    if kept is None and opened is not None and job.state not in ENDED and planned(job)[0]:
        with suppress(ValueError):  # too few words: the run will say so
            kept, when = start_of(opened), " before training, using mean word vectors"
    if kept is None or not len(kept.epochs) or len(kept.texts) < 3:
        return
    at, best = len(kept.epochs) - 1, kept_epoch(history(job.folder))
    if job.state == "finished" and best in kept.epochs.tolist():
        at = kept.epochs.tolist().index(best)
    epoch = int(kept.epochs[at])
    when = when or (f" after epoch {epoch}" if epoch else " before training")
    weights = ", whose weights are kept" * (job.state == "finished" and epoch == best)
    draw_space(kept, at, f"**Space{when}**{weights}", opened)


def draw_space(kept: Snapshots, at: int, said: str, opened: Opened | None) -> None:
    """The vectors of a probe at one of its epochs, below a title."""
    picture = epochs([unit(rows) for rows in kept.vectors], "pca", measure=False)[at]
    few = len(set(kept.labels)) <= COLOURED
    shown = Labelled(kept.texts, kept.labels if few else [""] * len(kept.texts), name="probe", splits="train")
    order = cached.classes_of_corpus(opened)[0] if opened else sorted(set(kept.labels))  # the colours of Space
    look: dict[str, Any] = {"narrow": True, "legend": False, "named": few, "height": SPACE, "svg": True}
    figure = figures.clusters(picture, shown, order=order, **look)
    figure.layout.transition = {"duration": 500}
    names = f" in {len(set(kept.labels))} classes" if few else ""
    alt = f"{said.replace('*', '')}, as points by PCA: {len(kept.texts)} sentences{names}."
    points = [{"text": text, "label": label} for text, label in zip(kept.texts, kept.labels, strict=True)]
    save = titled(said, "space-so-far")
    with st.container(key="high-trained-space"):
        frame.picture(figure, key="space-so-far", alt=alt, rows=lambda: points, height="stretch", save=save)
    origin = f" of the {probe_split(opened.corpus)} split" if opened is not None else ""
    st.caption(f"By PCA: {len(kept.texts)} sentences{origin}.")


def planned(job: Job) -> tuple[int, int]:
    """The epochs of a run, and after how many without improvement it stops; 0 for a method without them."""
    from labkit.methods import OF_RUNS

    usual = OF_RUNS[job.method].Settings()
    epochs, patience = (job.settings.get(name, getattr(usual, name, 0)) for name in ("epochs", "patience"))
    return epochs, patience


def probe_here(opened: Opened) -> Snapshots:
    """The dev sentences whose vectors a run on this corpus keeps."""
    from labkit.training.trained import probe_of

    return once("", ("probe", opened.key), lambda: probe_of(opened.corpus))


def start_of(opened: Opened) -> Snapshots:
    """The probe by mean word vectors, from which the networks start."""

    def encoded() -> Snapshots:
        probe = probe_here(opened)
        if not probe.texts:  # articles
            return Snapshots((), ())
        vectors = cached.fitted_method(opened, "mean-vectors").encode(probe.texts)
        return Snapshots(probe.texts, probe.labels, np.zeros(1, int), np.asarray(vectors)[None])

    return once("Drawing the space before training …", ("start", opened.key), encoded)


def space_so_far(job: Job, opened: Opened | None) -> Snapshots | None:
    """The vectors of the probe that a run has saved so far.

    During training they are in its checkpoint, which contains no sentences; these come from the corpus.
    """
    try:
        if finished(job.folder):  # its checkpoint is gone, even before its space is measured
            return read_run(job.folder).snapshots
        with safe_open(Path(job.folder) / CHECKPOINT, "numpy") as file:
            kept, vectors = file.get_tensor("snapshots.epochs"), file.get_tensor("snapshots.vectors")
    except (OSError, ValueError, SafetensorError):
        return None
    count = vectors.shape[1] if vectors.ndim == 3 else 0
    texts = labels = ("",) * count
    if opened is not None and len(probe_here(opened).texts) == count:
        texts, labels = probe_here(opened).texts, probe_here(opened).labels
    return Snapshots(texts, labels, kept, vectors)


def show_curves(job: Job, opened: Opened | None) -> None:
    """Loss and dev score, epoch by epoch; why it stopped, and how many dev rows the score comes from."""
    past = history(job.folder)
    columns = curve_columns({job.name: past})
    most, patience = planned(job)
    if not columns:
        if job.state in ENDED:
            st.caption("This run has no curves because it does not learn in epochs or ended during the first epoch.")
        return
    scores = [name for name in columns if name.startswith(DEV)]
    save = titled("**Epoch by epoch**", "training_curves", ". ".join(map(meaning, scores)) or None)
    alt = f"Curves of {job.name} over {len(past)} epochs: {', '.join(map(spoken, columns))}."
    drawn = figures.training_curves({job.name: past}, columns, height=CURVES)
    with st.container(key="high-trained-curves"):
        rows: Any = {"rows": lambda: [*map(dict, past.rows)], "save": save}
        frame.picture(drawn, key="training_curves", alt=alt, height="stretch", **rows)
    if job.state == "finished" and patience and len(past) < most:
        st.markdown(EARLY.format(last=len(past), most=most, patience=patience))
    kept = BEST.format(best=best) if (best := kept_epoch(past)) else LAST * (not scores)
    if opened is not None and scores:
        kept += f"The dev split has {opened.corpus.sizes.get('dev', 0):,} rows. "
    st.caption(f"{kept}The test split is scored once, at the end.")


# --- a visitor's runs ---------------------------------------------------------------------------------------------


def show_own_runs(queue: Queue) -> None:
    """The runs of a visitor of a classroom: they share and delete them here."""
    live = {Path(job.folder) for job in queue.live}
    runs = [run for run in all_owned(queue.runs) if run.owner == classroom.me() and run.folder not in live]
    if not runs:
        return
    with st.expander(f"Your runs: {len(runs)}, {amount(sum(run.size for run in runs))}", expanded=True):
        st.caption("Only you and the teacher see your runs. If you share one, others also see its stored sentences.")
        for run in runs:
            name = run.folder.name
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                key, label = f"shared-{name}", f"Share {name} ({amount(run.size)})"
                st.checkbox(label, run.shared, key=key, on_change=share_run, args=(run, key))
                ask_to_delete(queue, run.folder, name)


def share_run(run: Owned, key: str) -> None:
    """Share a run, or stop sharing it."""
    if run.folder.is_dir():
        write_owned(Owned(run.folder, run.owner, st.session_state[key]))
