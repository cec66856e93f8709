"""Train: one run of the queue, with its space and curves as they grow, and a visitor's own runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cached
import choosing
import classroom
import frame
import numpy as np
import streamlit as st
from cached import Opened
from keeping import once
from safetensors import SafetensorError, safe_open
from trainings import ENDED, RESUMABLE, Job, Owned, Queue, all_owned, owned, progress, write_owned

from labkit import figures
from labkit.arrays import unit
from labkit.atomic import amount, sentence_of
from labkit.corpora import Groups, Labelled
from labkit.corpora.relations import probe_split
from labkit.figure_names import DEV, meaning, spoken
from labkit.figures.epochs import curve_columns, kept_epoch
from labkit.locks import is_locked
from labkit.progress import lasting
from labkit.projection.epochs import epochs
from labkit.runs import CHECKPOINT, Snapshots, finished, history, read_record, read_run, settings_of

if TYPE_CHECKING:
    from labkit.evaluation.scores import Scores

EACH = 2  # runs in the queue per visitor of a classroom
DISK = 256 * 2**20  # bytes of runs per visitor of a classroom
NAMES = 300  # pixels of the list of runs
FEWEST, TOO_FEW = 30, ". These are too few rows to decide anything."  # test rows, and what is said below
COLOURED = 36  # most classes of a probe that get colours
SPACE, CURVES = 380, 300  # heights of the pictures in pixels
EARLY = "**Training stopped early** after epoch {last} of {epochs}: no better dev score for {patience} epochs."
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


def is_shown(job: Job) -> bool:
    """Whether this visitor sees a job: one they may stop, a shared one, or one that no visitor started."""
    whose = owned(job.folder)
    return may_touch(job.folder) or (whose.shared if whose else not job.own)


def run_key(chosen: Job | None) -> str:
    """The key of the run that is shown next to this choice of corpus and method."""
    return f"run-of-{chosen.corpus}-{chosen.method}" if chosen else "run-of"


def submit(queue: Queue, job: Job, opened: Opened) -> None:
    """Put the job into the queue, or say in one sentence why not."""
    try:
        job = queue.submit(job, opened.file.data if opened.file else b"", **visitor())
    except (ValueError, OSError) as reason:
        st.error(frame.plain(sentence_of(reason)))
        return
    st.session_state.update({run_key(job): job.name, f"file-of-{job.id}": opened.file})  # to look at its space later


def is_live(queue: Queue, job: Job, opened: Opened) -> bool:
    """Whether this visitor has a job in the queue that is equal to this one, on the same file."""
    me, what = visitor().get("visitor", ""), (job.method, job.corpus, job.seed, job.settings)
    return any(
        (each.method, each.corpus, each.seed, each.settings) == what and queue.visitor(each) == me
        for each in queue.live
        if opened.file == st.session_state.get(f"file-of-{each.id}")
    )


def act(what: Callable[[Any], Any], which: str | Path) -> None:
    """Call `what`; if another visitor was quicker, keep the error to show it as one sentence."""
    try:
        what(which)
    except (ValueError, OSError) as reason:
        st.session_state["refused"] = sentence_of(reason)


# --- one run -----------------------------------------------------------------------------------------------------


def stored_runs(opened: Opened, runs: Mapping[str, Path]) -> dict[str, Job]:
    """The finished runs on this corpus, as jobs that are in no queue."""
    from labkit.methods import OF_RUNS

    stored = {}
    for name, folder in runs.items():
        if (record := choosing.record_of(folder)).get("state") != "finished":
            continue
        with suppress(ValueError, KeyError):  # another version of labkit has other methods and settings
            kind = OF_RUNS[record["method"]].Settings
            usual, settings = kind().values(), settings_of(kind, record["settings"]).values()
            changed = {each: value for each, value in settings.items() if value != usual[each]}
            about: Any = {"folder": str(folder), "state": "finished"}
            stored[name] = Job(record["method"], opened.in_code, record["seed"], changed, opened.own, **about)
    return stored


def choose_run(queue: Queue, stored: Mapping[str, Job], chosen: Job | None) -> Job | None:
    """The run to show, from those that this visitor sees: at first one by the chosen method on this corpus, or one that
    is not finished yet."""
    sees, jobs = classroom.sight(), {}
    for job in filter(is_shown, queue.jobs()):
        jobs.setdefault(job.name, job)  # of two with one name, the newer one
    for name, job in stored.items():
        if Path(job.folder).is_dir() and sees(Path(job.folder)):  # it was neither deleted nor hidden since it was read
            jobs.setdefault(name, job)
    if not jobs:
        return None
    what, lab, key = chosen and (chosen.method, chosen.corpus), choosing.lab_runs(), run_key(chosen)
    fitting = [name for name, job in jobs.items() if (job.method, job.corpus) == what]
    first = sorted(fitting, key=lambda name: name in lab)  # bundled ones are last
    first += [name for name, job in jobs.items() if job.state not in ENDED]
    if st.session_state.get(key) not in jobs:
        st.session_state[key] = next(iter(first), None)
    names, shown = dict.fromkeys([*first, *jobs]), {"placeholder": "Choose a run", "label_visibility": "collapsed"}
    name: str | None = st.selectbox("Run", names, None, key=key, width=NAMES, **shown)
    return jobs[name] if name else None


def show_head(queue: Queue, stored: Mapping[str, Job], chosen: Job | None) -> Job | None:
    """The choice of a run, its progress and its buttons; the chosen run."""
    if st.session_state["followed"] != [job.id for job in queue.live]:
        st.rerun()  # the whole page once, because the button is enabled again, or updates start or stop
    if refused := st.session_state.pop("refused", None):
        st.error(frame.plain(refused))
    if others := sum(not is_shown(job) for job in queue.live):
        st.caption(f"Other visitors' runs in the queue: {others}.")
    share = None
    with st.container(horizontal=True, vertical_alignment="center", key="job"):
        if (job := choose_run(queue, stored, chosen)) is None:
            return None
        said = "another process is training this run" * is_locked(job.folder)  # the command line, or a closed app
        if job.state not in ENDED:
            what, share, left = progress(job, queue.private(job)) if job.state != "waiting" else ("", None, None)
            live = queue.live
            ahead = f"runs ahead in the queue: {live.index(job)}" if job in live[1:] else "starting …"
            so_far = f"{frame.plain(what)} · {lasting(job.seconds)} so far"
            said = so_far + (f" · {lasting(left)} left" if left is not None else "") if what else ahead
        st.markdown(" · ".join(filter(None, [job.state, said])), width="stretch")
        if job.state == "finished" and not job.is_bench and Path(job.folder).is_dir():
            if st.button("See it move", key=f"move-{job.id}", type="primary", icon=":material/animation:"):
                if job.own:
                    file = st.session_state.get("file")
                    st.session_state["file"] = st.session_state.get(f"file-of-{job.id}", file)
                see_it_move(Path(job.folder), choosing.OWN if job.own else job.corpus)
            frame.save_model(Path(job.folder), f"zip-{job.id}")
        if may_touch(job.folder):
            show_buttons(queue, job)
    if job.state not in ENDED:
        st.progress(share or 0.0)
    if job.why and may_touch(job.folder):
        st.caption(frame.plain(job.why[:1].upper() + job.why[1:]))
    return job


def title_of(figure: str, opened: Opened, split: str) -> str:
    """A score and the rows that it comes from, such as kNN accuracy on the 405 test sentences."""
    said = spoken(figure)
    said = said if said.startswith("kNN") else said[:1].upper() + said[1:]
    kind = "sentences" if isinstance(opened.corpus, Labelled | Groups) else type(opened.corpus).__name__.lower()
    return f"{said} on the {opened.corpus.sizes.get(split, 0):,} {split} {kind}"


def scores_of(opened: Opened, method: Any, *key: Any) -> Scores:
    """The scores of a method on the test split."""
    from labkit.evaluation.scores import score

    return once("Scoring …", ("scores", *key, opened.key), partial(score, method, opened.corpus, apart=True))


def show_result(job: Job, opened: Opened | None) -> None:
    """The main score of a finished run on test, next to that of mean word vectors."""
    try:
        metrics = read_record(job.folder)["metrics"].values()
    except (ValueError, OSError):
        st.caption("The folder of this run was deleted.")
        return
    found = [(name, value) for each in metrics for name, value in each.items() if value is not None]
    for name, value in found[:1]:
        title, base, few = f"{frame.plain(spoken(name))} on test", "", ""
        if opened is not None:
            title = title_of(name, opened, "test")
            few = TOO_FEW * (opened.corpus.sizes.get("test", 0) < FEWEST)
            with suppress(ValueError, KeyError):  # too few words for word vectors
                usual = scores_of(opened, cached.fitted_method(opened, "mean-vectors"), "mean-vectors")
                base = f" (mean word vectors: {usual.figures[name]:.3f})"
        st.markdown(f"**{title}: {value:.3f}**{base}{few}")


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
    with st.container(horizontal=True, vertical_alignment="center", key=f"titled-{key}"):
        st.markdown(said, width="stretch", help=about)
        return frame.save_button("Save", key)


def show_space(job: Job, opened: Opened | None) -> None:
    """The probe as points, by PCA, each epoch rotated onto the previous one; until the run has one, mean word vectors.

    `opened` is the corpus of the run, if it is known.
    """
    kept, when = space_so_far(job, opened), ""
    if kept is None and opened is not None and job.state not in ENDED and "epochs" in settings_used(job):
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
    picture = epochs([unit(rows) for rows in kept.vectors], "pca", measure=False)[at]
    few = len(set(kept.labels)) <= COLOURED
    shown = Labelled(kept.texts, kept.labels if few else [""] * len(kept.texts), name="probe", splits="train")
    order = cached.classes_of_corpus(opened)[0] if opened else sorted(set(kept.labels))  # the colours of Space
    look: dict[str, Any] = {"narrow": True, "legend": False, "named": few, "height": SPACE, "svg": True}
    figure = figures.clusters(picture, shown, order=order, **look)
    figure.layout.transition = {"duration": 500}
    points = [{"text": text, "label": label} for text, label in zip(kept.texts, kept.labels, strict=True)]
    save, alt = titled(f"**Space{when}**{weights}", "space-so-far"), f"Space{when}: {len(points)} sentences as points."
    with st.container(key="high-trained-space"):
        frame.picture(figure, key="space-so-far", alt=alt, rows=lambda: points, height="stretch", save=save)
    origin = f" of the {probe_split(opened.corpus)} split" if opened is not None else ""
    st.caption(f"By PCA: {len(points)} sentences{origin}.")


def settings_used(job: Job) -> dict[str, Any]:
    """All settings of a job, with the defaults."""
    from labkit.methods import OF_RUNS

    return OF_RUNS[job.method].Settings().values() | dict(job.settings)


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
    settings = settings_used(job)
    if job.state == "finished" and settings.get("patience") and len(past) < settings["epochs"]:
        st.markdown(EARLY.format(last=len(past), **settings))
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
