"""The choices that pages share, in the sidebar: a corpus or a file, vectors fitted here or a stored run, a sentence."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cached
import frame
import streamlit as st

from labkit.atomic import sentence_of
from labkit.corpora import CORPORA, Corpus

if TYPE_CHECKING:
    from labkit.method import Method

OWN = "your own file"
STORED = "a stored run"
LEFT_OUT_MOST = 3  # runs that are left out, and of which it is said why
LOCAL = ("127.0.0.1", "localhost", "::1")
CARRIED = "carried"  # in the session: the corpus that was chosen, or that a link named
VECTORS = {
    "mean-vectors": "mean word vectors",
    "sif": "SIF",
    "lsa": "LSA",
    "tfidf": "TF-IDF",
}


@dataclass(frozen=True, eq=False)
class Chosen:
    """A method ready to encode, the key that stands for it, and the lines that make it again."""

    method: Method
    key: str
    name: str
    code: str


def corpus(default: str = "topics", *, only: type[Corpus] = Corpus) -> cached.Opened | None:
    """One of the lab's corpora, or a visitor's file: that of the address, or as on the page before, or the default.

    None: there is nothing to show yet, and the page says why. `only`: what the page is for; another corpus of the page
    before is not meant here.
    """
    names = cached.embedded()
    st.sidebar.header("What there is to learn")
    options = [*names, OWN]
    linked = st.query_params.get("corpus") if frame.address_changed("corpus") else None
    if linked in options:
        st.session_state[CARRIED] = linked
    carried = st.session_state.get(CARRIED, default)
    wished = st.query_params.get("corpus", carried if _fits(carried, only) else default)
    index = options.index(wished if wished in options else default)
    if frame.address_changed("corpus"):
        st.session_state["corpus"], index = options[index], 0
    chosen = st.sidebar.selectbox("Corpus", options, index=index, key="corpus", on_change=_carry)
    frame.keep_in_address("corpus", chosen)
    if chosen != OWN:
        st.sidebar.caption(names[chosen])
        return cached.corpus(chosen)
    file = frame.visitor_file(
        "CSV, TSV, JSONL or Parquet, up to 10 MB", "file", type=["csv", "tsv", "txt", "jsonl", "parquet", "gz"]
    )
    st.sidebar.caption(
        "Columns: text + label, text_a + text_b + label or score, anchor + positive + negative, or group + text."
    )
    if file is None:
        st.info("Choose a file in the sidebar. It stays on this machine.")
        return None
    opened = cached.uploaded(*file)
    for note in opened.notes:
        st.sidebar.warning(frame.plain(note))
    return opened


def _carry() -> None:
    """Somebody has chosen a corpus: other pages open with it, too."""
    st.session_state[CARRIED] = st.session_state["corpus"]


def _fits(name: str, only: type[Corpus]) -> bool:
    """Whether it is a corpus that the page is for; of a file that is known when it is read."""
    if name != OWN or only is Corpus:
        return only is Corpus or CORPORA[name].shape == only.__name__
    file = st.session_state.get("file")
    try:
        return file is None or isinstance(cached.uploaded(*file).corpus, only)
    except ValueError:  # it cannot be read
        return False


def vectors(opened: cached.Opened, *, default: str = "sif") -> Chosen | None:
    """Vectors fitted to the corpus on the spot, or a stored run's. None: a run was wished for, and there is none."""
    options = [*VECTORS, STORED]
    named = {**VECTORS, STORED: STORED}
    name = st.sidebar.selectbox(
        "Vectors", options, index=options.index(default), format_func=named.__getitem__, key="vectors", **frame.KEEP
    )
    if name == STORED:
        return stored_run(opened)
    method = cached.fitted(opened.corpus, opened.key, name)
    code = f'method = METHODS["{name}"]()\nmethod.fit(corpus)'
    return Chosen(method, f"{name} {opened.key}", VECTORS[name], code)


def stored_run(
    opened: cached.Opened, *, method: str = "sentpwnet", of: Callable[[str], bool] | None = None
) -> Chosen | None:
    """A run that comes with the lab, or one from the folders that the visitor names; `of`: which methods' are meant."""
    found = every_run(run_folders(), of, first=opened.corpus.name)
    if not found:
        corpus = "FILE" if opened.own else opened.corpus.name
        st.info("There is no such run yet. One is made on the page Train, or by this line:")
        st.code(f"labkit train {method} --corpus {corpus}", language="bash")
        return None
    name = st.sidebar.selectbox("Run", list(found), index=0, format_func=run_label, key="run", **frame.KEEP)
    if name in lab_runs():
        if standing := lab_standing(name):
            st.sidebar.caption(standing)
        return lab_run(name)
    folder = found[name]
    written = (folder / "run.json").stat().st_mtime_ns
    opened_run = cached.opened_run(str(folder), written)
    return Chosen(opened_run, f"{folder} {written}", name, f"method = load_run({str(folder)!r})")


def sentence(label: str, texts: Sequence[str], key: str, default: int) -> int:
    """A sentence by its row number: that is what the link to the view has, and never a sentence."""
    index = frame.number_in_address(key, len(texts), default)
    if frame.address_changed(key):
        st.session_state[f"{key}-choice"], index = index, 0
    row = st.selectbox(
        label,
        range(len(texts)),
        index=index,
        format_func=lambda row: f"{row} · {texts[row]}",
        key=f"{key}-choice",
    )
    frame.keep_in_address(key, row)
    return row


def number(label: str, count: int, key: str) -> int:
    """A number from 0 to `count` - 1 on a slider; it stands in the address of the page."""
    if count < 2:
        return 0
    start = frame.number_in_address(key, count, 0)
    if frame.address_changed(key):
        st.session_state[f"{key}-choice"], start = start, 0
    chosen = st.select_slider(label, range(count), start, key=f"{key}-choice")
    frame.keep_in_address(key, int(chosen))
    return int(chosen)


def lab_run(name: str) -> Chosen:
    """One of them, opened."""
    from labkit.lab.shipped import DEMONSTRATIONS

    folder = DEMONSTRATIONS[name].folder
    written = (folder / "run.json").stat().st_mtime_ns
    code = f'from labkit.lab.shipped import DEMONSTRATIONS\n\nmethod = load_run(DEMONSTRATIONS["{name}"].folder)'
    return Chosen(cached.opened_run(str(folder), written), f"{folder} {written}", name, code)


def trained(opened: cached.Opened, method: str, others: dict[str, str]) -> Chosen | None:
    """A run of one method, or one of the others, fitted here."""
    named = {STORED: STORED} | others
    name = st.sidebar.selectbox(
        "Sentence vectors", list(named), format_func=named.__getitem__, key="trained", **frame.KEEP
    )
    if name == STORED:
        return stored_run(opened, method=method, of=method.__eq__)
    code = f'method = METHODS["{name}"]()\nmethod.fit(corpus)'
    return Chosen(cached.fitted(opened.corpus, opened.key, name), f"{name} {opened.key}", others[name], code)


# --- runs to choose from -----------------------------------------------------------------------------------------


def run_folders(key: str = "folders") -> list[str]:
    """The folders with runs; in a classroom nobody names folders of the machine that the app runs on."""
    named = os.environ.get("LABKIT_RUNS", "runs")
    if not classroom():
        named = st.sidebar.text_input("Folders with runs", named, key=key, help="Several: with a comma between.")
    return [folder.strip() for folder in named.split(",") if folder.strip()]


def training_folder() -> str:
    """The folder of runs that trainings of the app go into: the first of LABKIT_RUNS."""
    return os.environ.get("LABKIT_RUNS", "runs").split(",")[0].strip() or "runs"


def classroom() -> bool:
    """Whether the app was opened to others: by `labkit app --classroom`, or by a setting of Streamlit's own."""
    return bool(os.environ.get("LABKIT_CLASSROOM")) or st.get_option("server.address") not in LOCAL


def run_label(name: str) -> str:
    """A run's name, and whether it comes with the lab."""
    return f"{name} (comes with the lab)" if name in lab_runs() else name


def every_run(folders: Sequence[str], of: Callable[[str], bool] | None = None, *, first: str = "") -> dict[str, Path]:
    """name -> folder: the lab's own, those on the corpus `first` before the others; then those of the folders."""
    from labkit.lab.shipped import DEMONSTRATIONS

    own = [DEMONSTRATIONS[name] for name in lab_runs() if of is None or of(DEMONSTRATIONS[name].method)]
    found = {run.name: run.folder for run in sorted(own, key=lambda run: run.corpus != first)}
    for name, folder in runs_in(folders, of).items():
        found[name if name not in found else f"{name} · {folder.parent.name}"] = folder
    return found


def runs_in(folders: Sequence[str], of: Callable[[str], bool] | None = None) -> dict[str, Path]:
    """name -> folder of the runs directly in these folders, the newest first; one that cannot be read is left out, and
    the sidebar says why."""
    from labkit.locks import holder
    from labkit.runs import read_record

    found: list[tuple[int, Path]] = []
    bad: dict[str, Exception] = {}
    for folder in folders:
        for record in sorted(Path(folder).expanduser().glob("*/run.json")):
            try:
                known = read_record(record.parent)
                if of is None or of(known["method"]):
                    found.append((record.stat().st_mtime_ns, record.parent))
                    if known["state"] != "finished" and (who := holder(record.parent)):
                        busy = frame.plain(f"{record.parent.name[:60]} is being trained by {who}")
                        st.sidebar.caption(f"{busy}: this is what it knows so far.")
            except (ValueError, OSError) as reason:
                bad[record.parent.name] = reason
    if bad:
        st.sidebar.warning(left_out_note(bad))
    return {run.name: run for _, run in sorted(found, key=lambda entry: entry[0])[::-1]}


def left_out_note(bad: Mapping[str, Exception]) -> str:
    """Say which runs are left out, and why; of many, the first ones."""
    reasons = []
    for name, why in list(bad.items())[:LEFT_OUT_MOST]:
        said = sentence_of(why)
        rest = re.sub("^run '.*?' ", "", said)  # its folder, which the name stands for
        reasons.append(f"**{frame.plain(name[:60])}**{':' * (rest == said)} {frame.plain(rest)}")
    more = [f"and {len(bad) - LEFT_OUT_MOST} more"] if len(bad) > LEFT_OUT_MOST else []
    return "\n\n".join([f"Left out, as {'they' if len(bad) > 1 else 'it'} cannot be used:", *reasons, *more])


def lab_runs(method: str | None = None, corpus: str | None = None) -> list[str]:
    """The names of those that are there, of one method or one corpus where that is asked."""
    from labkit.lab.shipped import DEMONSTRATIONS

    return [
        run.name
        for run in DEMONSTRATIONS.values()
        if run.here and method in (None, run.method) and corpus in (None, run.corpus)
    ]


def lab_standing(name: str) -> str:
    """What one of them is worth beside mean word vectors; nothing where that was not measured."""
    from labkit.lab.shipped import standing

    found = standing(name)
    return "" if found is None else frame.plain(f"{found}.")
