"""The choices that all pages share, in the row at the top: a corpus or a file, vectors or a run, a sentence.

Each choice comes with the code that reproduces it, which `show_code` puts before the code of a picture.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cached
import classroom
import frame
import streamlit as st

from labkit.atomic import sentence_of
from labkit.corpora import CORPORA
from labkit.locks import is_locked
from labkit.runs import read_record
from labkit.shipped import DEMONSTRATIONS, standing

if TYPE_CHECKING:
    from labkit.method import Method
    from labkit.shipped import Origin

OWN = frame.OWN
WIDTH, WIDEST = 210, 420  # of a control in the row at the top, in pixels
RUN = "run "  # prefix of a run's name in the list of vectors
NO_RUN = "There are no runs on this corpus yet. Start one on the Train and compare page, or with this command:"
NOT_OFFERED = "{name} was deleted or trained on another corpus, so another choice is shown."
LEFT_OUT_MOST = 3  # most skipped runs whose reasons are shown
NO_FILE = "Upload a file above, drop one anywhere on this page, or paste sentences."
LINKED = " The link that you opened shows the file **{}**{}. It contains only settings, so upload that file here."
FORMATS = (
    "Paste one sentence per line, or a table whose first line names its columns: text + label, text_a + text_b + label "
    "or score, anchor + positive + negative, group + text, or text alone. You can also upload CSV, TSV, TXT, JSONL or "
    "Parquet files."
)
OWN_FILE = (
    "Training copies your file to the disk of the machine that runs this app. The copy is deleted when the run is "
    "finished. A stopped run keeps it for resuming until you delete it. The run itself keeps the vocabulary and "
    "some sentences; {} can see them."
)
READERS = "everybody who uses this app", "only you and the teacher (or everybody, if you share the run)"
CARRIED = "carried"  # in the session: the corpus that was chosen, or named by a link
VECTORS = {"mean-vectors": "mean word vectors", "sif": "SIF", "lsa": "LSA", "tfidf": "TF-IDF"}
MEANINGS = {
    "mean-vectors": "the mean of a sentence's word vectors",
    "sif": "smooth inverse frequency, a mean of word vectors in which frequent words count less",
    "lsa": "latent semantic analysis, the main directions of TF-IDF",
    "tfidf": "word counts, with less weight for words that occur in many sentences",
}
SHIPPED = "from labkit.shipped import DEMONSTRATIONS\n"  # in code
NAMES = VECTORS | {"sbert": "a sentence-transformers model"}


# --- a corpus ----------------------------------------------------------------------------------------------------


def corpus(default: str = "topics") -> cached.Opened | None:
    """A bundled corpus or a visitor's file: the one in the address, else that of the previous page, else the default.

    None if there is nothing to show yet; the page then says why.
    """
    summaries = {name: entry.summary for name, entry in CORPORA.items() if entry.kind == "embedded"}
    options = [*summaries, OWN]
    linked = st.query_params.get("corpus") if frame.address_changed("corpus") else None
    if linked in options:
        st.session_state[CARRIED] = linked
    wished = st.query_params.get("corpus", st.session_state.get(CARRIED, default))
    index = options.index(wished if wished in options else default)
    if frame.address_changed("corpus"):
        st.session_state["corpus"], index = options[index], 0
    chosen = frame.choices().selectbox(
        "Corpus",
        options,
        index=index,
        key="corpus",
        on_change=lambda: st.session_state.update({CARRIED: st.session_state["corpus"]}),
        help="\n".join(f"* **{name}**: {summary}" for name, summary in summaries.items()),
        width=WIDTH,
    )
    frame.keep_in_address("corpus", chosen)
    file = frame.visitor_file("Your own file", "file", paste=FORMATS, then=partial(choose_corpus, OWN))
    if chosen != OWN:
        return cached.lab_corpus(chosen)
    if file is None:
        st.info(NO_FILE + needs_of_link())
        return None
    opened = cached.uploaded_corpus(file)
    for note in opened.notes:
        st.warning(frame.plain(note))
    return opened


def needs_of_link() -> str:
    """The file of the link that led here, if one did, and the runs."""
    wanted = {name: frame.plain(value[: frame.LONGEST]) for name, value in st.query_params.to_dict().items()}
    runs = dict.fromkeys(value.removeprefix(RUN) for value in wanted.values() if value.startswith(RUN))
    if "file" not in wanted or not frame.address_changed("file"):  # none, or a file that was here and was removed
        return ""
    return LINKED.format(wanted["file"], "".join(f" with the run **{run}**" for run in runs))


def choose_corpus(name: str) -> None:
    """Make this the corpus of all pages."""
    st.session_state[CARRIED] = st.query_params["corpus"] = name


# --- vectors -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Space:
    """Vectors of sentences: a method by its name, fitted or opened only when its vectors are needed.

    `key` identifies the space, and `code` reproduces it. `origin` says what a stored picture was made from, or is None
    if no picture can be stored. `note` gives the measured score.
    """

    key: str
    name: str
    code: str
    open: Callable[[], Method]
    origin: Callable[[], Origin] | None = None
    note: str = ""
    folder: Path | None = None  # of a run

    @cached_property
    def method(self) -> Any:
        """The method, ready to encode."""
        return self.open()

    @property
    def saw_test(self) -> bool:
        """Whether a run was fitted on the test sentences of its corpus, without their classes."""
        return self.folder is not None and getattr(self.method.settings, "embedded", "") == "all"


def fitted(opened: cached.Opened, name: str, **settings: Any) -> Space:
    """The vectors of a method that is fitted to the corpus on the spot."""
    changes = ", ".join(f"{setting}={value!r}" for setting, value in settings.items())
    key = " ".join([name, *map(str, settings.values()), opened.key])
    code = f'from labkit import METHODS\nmethod = METHODS["{name}"]({changes})\nmethod.fit(corpus)'
    origin = None if opened.own else partial(cached.fitted_origin, opened, name)
    return Space(key, NAMES.get(name, name), code, partial(cached.fitted_method, opened, name, **settings), origin)


def run_in(folder: Path, name: str) -> Space:
    """The vectors of a run; for a bundled run, also its score if that was measured."""
    lab = name in DEMONSTRATIONS and DEMONSTRATIONS[name].folder == folder
    place = f'DEMONSTRATIONS["{name}"].folder' if lab else repr(str(folder))
    worth = standing(name) if lab else None
    run = str(folder), cached.written(folder)
    return Space(
        " ".join(map(str, run)),
        name,
        f"from labkit.methods import load_run\n{SHIPPED * lab}method = load_run({place})",
        partial(cached.opened_run, *run),
        partial(cached.run_origin, *run),
        "" if worth is None else f"{worth}.",
        folder,
    )


def space(
    opened: cached.Opened,
    options: Sequence[str] = tuple(VECTORS),
    default: str = "sif",
    *,
    label: str = "Vectors",
    key: str = "vectors",
) -> Space:
    """Vectors fitted to the corpus on the spot, or those of a run trained on it."""
    runs, others = runs_on(opened)
    return space_of(opened, choose_vectors([*options, *runs], default, label, key, others), runs)


def choose_vectors(options: Sequence[str], default: str, label: str, key: str, others: str | None = None) -> str:
    """One of these vectors. `others` says which runs are not offered; the page shows a note if the address has one."""
    linked = st.query_params.get(key, "")
    if linked.startswith(RUN) and linked not in options:
        st.info(NOT_OFFERED.format(name=frame.plain(linked[:60])))
    named = {NAMES.get(option, option): option for option in options}
    if st.session_state.get(key, named.get(linked)) not in options:
        st.session_state[key] = default  # the list has none of its own, which the address would leave out
    about = [f"* **{NAMES[option]}**: {MEANINGS[option]}" for option in options if option in MEANINGS]
    shown: Any = {"format_func": lambda option: NAMES.get(option, option)}
    shown["help"] = "\n".join([*about, "", others or ""])
    shown["width"] = min(WIDEST, max(WIDTH, 6 * max(map(len, options)) + 80))  # whole names of runs, in the list, too
    return str(frame.choices().selectbox(label, options, None, key=key, **shown, **frame.KEEP))


def space_of(opened: cached.Opened, name: str, runs: Mapping[str, Path]) -> Space:
    """The vectors of this name: those of a run, or of a method that is fitted here."""
    return run_in(runs[name], name.removeprefix(RUN)) if name in runs else fitted(opened, name)


def runs_on(opened: cached.Opened, before: str = RUN) -> tuple[dict[str, Path], str | None]:
    """Name -> folder of the runs trained on this corpus, each name prefixed with `before`; and a note on which of the
    visitor's runs are not offered, and why.
    """
    here, others, lab, own = {}, [], lab_runs(), opened.corpus.name
    for name, folder in every_run(first=own).items():
        record = record_of(folder)  # of these rows, or of some rows of this bundled corpus
        if record.get("fingerprint") == opened.key or (not opened.own and record.get("corpus") == own):
            here[before + name] = folder
        elif name not in lab:
            others.append(f"{name[:60]} ({record.get('corpus', '')})")
    notes = {"were trained on another corpus": others, "are still training": list(runs_in(training=True))}
    said = [f"Runs that {why} are not offered: {first_of(names)}." for why, names in notes.items() if names]
    return here, frame.plain(" ".join(said)) or None


def runs_of(opened: cached.Opened, method: str) -> dict[str, Path]:
    """Name in the list of vectors -> folder, for all runs of a method on any corpus."""
    return {RUN + name: folder for name, folder in every_run(method, first=opened.corpus.name).items()}


def say_who_reads(opened: cached.Opened) -> None:
    """Say who can see sentences of a visitor's file in a run, next to a button that trains on that file."""
    if opened.own:
        show = st.warning if classroom.is_on() else st.caption
        show(OWN_FILE.format(READERS[classroom.is_on()]))


def show_command(note: str, method: str, opened: cached.Opened) -> None:
    """A note, and the command that trains the missing run."""
    st.info(note)
    st.code(f"labkit train {method} --corpus {shlex.quote(opened.in_code)}", language="bash")


def show_code(lines: str, space: Space, opened: cached.Opened | None = None, of: str = "", **values: Any) -> None:
    """The code that makes a picture, after the code for its vectors and, if needed, its corpus."""
    lines = lines.format(**values)
    corpus = [] if opened is None else ["from labkit.corpora import load", f"corpus = load({opened.in_code!r})"]
    every = [line for line in [*corpus, *space.code.split("\n"), *lines.split("\n")] if line]
    imports = {line for line in every if line.startswith("from ")}
    frame.code("\n".join([*sorted(imports), "", *(line for line in every if line not in imports)]) + "\n", of)


# --- a sentence --------------------------------------------------------------------------------------------------


def row_and_text(
    label: str, texts: Sequence[str], key: str, default: int = 0, *, typed: bool = False, **options: Any
) -> tuple[int, str]:
    """A row number, and its sentence or one typed instead. If the texts change, the default row is selected.

    The link to the view contains the number, never a sentence.
    """
    choice, texts_of, linked = f"{key}-choice", hash(tuple(texts)), frame.address_changed(key)
    others = st.session_state.setdefault(f"{key}-of", texts_of) != texts_of
    row = default if others and not linked else frame.number_in_address(key, len(texts), default)
    index = row
    if others or linked:
        st.session_state[choice], st.session_state[f"{key}-of"], index = row, texts_of, 0
    chosen = st.selectbox(
        label,
        range(len(texts)),
        index=index,
        format_func=lambda row: f"{row} · {texts[row]}" if isinstance(row, int) else row,
        key=choice,
        accept_new_options=typed,
        **options,
    )
    if isinstance(chosen, int):
        row = chosen
    frame.keep_in_address(key, row)
    return row, chosen if isinstance(chosen, str) else texts[row]


# --- runs to choose from -----------------------------------------------------------------------------------------


def run_folders() -> list[str]:
    """The folders with runs, from LABKIT_RUNS; the app trains in the first."""
    return [folder.strip() for folder in os.environ.get("LABKIT_RUNS", "runs").split(",") if folder.strip()] or ["runs"]


def lab_runs(method: str = "", corpus: str = "") -> list[str]:
    """The names of the bundled runs, optionally only those of one method or on one corpus."""
    return [
        run.name
        for run in DEMONSTRATIONS.values()
        if run.here and method in ("", run.method) and corpus in ("", run.corpus)
    ]


def record_of(folder: Path) -> Mapping[str, Any]:
    """The record of a run; empty if the run has just been deleted."""
    try:
        return cached.run_record(str(folder), cached.written(folder))
    except (ValueError, OSError):
        return {}


def first_of(names: Sequence[str]) -> str:
    """The first of these names, and the number of remaining ones."""
    more = len(names) - LEFT_OUT_MOST
    return ", ".join(name[:80] for name in names[:LEFT_OUT_MOST]) + (f" and {more} more" if more > 0 else "")


def every_run(method: str = "", *, first: str) -> dict[str, Path]:
    """name -> folder: the bundled runs, starting with those on the corpus `first`; then the runs in the folders."""
    own = sorted((DEMONSTRATIONS[name] for name in lab_runs(method)), key=lambda run: run.corpus != first)
    runs = {run.name: run.folder for run in own}
    for name, folder in runs_in(method).items():
        runs[name if name not in runs else f"{name} · {folder.parent.name}"] = folder
    return runs


def runs_in(method: str = "", *, training: bool = False) -> dict[str, Path]:
    """name -> folder of the runs in the folders, newest first: those at rest, or those that are still `training`. The
    page says which runs cannot be read, and why. In a classroom, other visitors' runs are left out unless shared.
    """
    runs: dict[Path, int] = {}
    bad: dict[str, Exception] = {}
    files = [file for folder in run_folders() for file in sorted(Path(folder).expanduser().glob("*/run.json"))]
    for run in filter(classroom.sight(), [file.parent for file in files]):
        try:
            record = read_record(run)
            if method in ("", record["method"]) and training == (record["state"] != "finished" and is_locked(run)):
                runs[run] = cached.written(run)
        except (ValueError, OSError) as reason:
            bad[run.name] = reason
    if bad and not training:
        st.warning(left_out_note(bad))
    return {run.name: run for run in sorted(runs, key=runs.__getitem__)[::-1]}


def left_out_note(bad: Mapping[str, Exception]) -> str:
    """Say which runs are skipped, and why; only the first few are named."""
    reasons = []
    for name, why in list(bad.items())[:LEFT_OUT_MOST]:
        sentence = sentence_of(why)
        rest = re.sub("^run '.*?' ", "", sentence)  # drop the folder: the name identifies it
        reasons.append(f"**{frame.plain(name[:60])}**{':' * (rest == sentence)} {frame.plain(rest)}")
    more = [f"and {len(bad) - LEFT_OUT_MOST} more"] if len(bad) > LEFT_OUT_MOST else []
    return "\n\n".join([f"Skipped because {'they' if len(bad) > 1 else 'it'} cannot be used:", *reasons, *more])
