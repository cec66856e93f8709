"""The choices that pages share, in the sidebar: a corpus or a file, vectors fitted here or a stored run, a sentence."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import cached
import frame
import streamlit as st

if TYPE_CHECKING:
    from labkit.methods import Method

OWN = "your own file"
STORED = "a stored run"
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


def corpus(default: str = "topics") -> cached.Opened | None:
    """One of the lab's corpora, or a visitor's file. None: there is nothing to show yet, and the page says why."""
    names = cached.embedded()
    st.sidebar.header("What there is to learn")
    options = [*names, OWN]
    chosen = st.sidebar.selectbox("Corpus", options, index=options.index(default), key="corpus", **frame.KEEP)
    if chosen != OWN:
        st.sidebar.caption(names[chosen])
        return cached.corpus(chosen)
    file = st.sidebar.file_uploader(
        "CSV, TSV, JSONL or Parquet, up to 10 MB", type=["csv", "tsv", "jsonl", "parquet", "gz"]
    )
    st.sidebar.caption(
        "Columns: text + label, text_a + text_b + label or score, anchor + positive + negative, or group + text."
    )
    if file is None:
        st.info("Choose a file in the sidebar. It stays on this machine.")
        return None
    opened = cached.uploaded(file.name, file.getvalue())
    for note in opened.notes:
        st.sidebar.warning(frame.plain(note))
    return opened


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
    found = every_run(folders(), of, first=opened.corpus.name)
    if not found:
        corpus = "FILE" if opened.own else opened.corpus.name
        st.info("There is no such run yet. One is made on the page Train, or by this line:")
        st.code(f"labkit train {method} --corpus {corpus}", language="bash")
        return None
    name = st.sidebar.selectbox("Run", list(found), index=0, format_func=whose, key="run", **frame.KEEP)
    if name in lab_runs():
        if told := lab_standing(name):
            st.sidebar.caption(told)
        return lab_run(name)
    folder = found[name]
    written = (folder / "run.json").stat().st_mtime_ns
    opened_run = cached.opened_run(str(folder), written)
    return Chosen(opened_run, f"{folder} {written}", name, f"method = load_run({str(folder)!r})")


def folders(key: str = "folders") -> list[str]:
    """Where to look for runs. In a classroom nobody names folders of the machine that the app runs on."""
    named = os.environ.get("LABKIT_RUNS", "runs")
    if not classroom():
        named = st.sidebar.text_input("Folders with runs", named, key=key, help="Several: with a comma between.")
    return [folder.strip() for folder in named.split(",") if folder.strip()]


def home() -> str:
    """The folder of runs that trainings of the app go into: the first of LABKIT_RUNS."""
    return os.environ.get("LABKIT_RUNS", "runs").split(",")[0].strip() or "runs"


def classroom() -> bool:
    """Whether the app was opened to others (`labkit app --classroom`)."""
    return bool(os.environ.get("LABKIT_CLASSROOM"))


def whose(name: str) -> str:
    """A run's name, and whether it comes with the lab."""
    return f"{name} (comes with the lab)" if name in lab_runs() else name


def every_run(folders: Sequence[str], of: Callable[[str], bool] | None = None, *, first: str = "") -> dict[str, Path]:
    """name -> folder: the lab's own, those on the corpus `first` before the others; then those of the folders."""
    from labkit.demonstrations import DEMONSTRATIONS

    own = [DEMONSTRATIONS[name] for name in lab_runs() if of is None or of(DEMONSTRATIONS[name].method)]
    found = {run.name: run.folder for run in sorted(own, key=lambda run: run.corpus != first)}
    for name, folder in runs(folders, of).items():
        found[name if name not in found else f"{name} · {folder.parent.name}"] = folder
    return found


def runs(folders: Sequence[str], of: Callable[[str], bool] | None = None) -> dict[str, Path]:
    """name -> folder of the runs directly in these folders, the newest first; what is no run is passed over."""
    from labkit.runs import read_record

    found: list[tuple[int, Path]] = []
    for folder in folders:
        for record in sorted(Path(folder).expanduser().glob("*/run.json")):
            try:
                method = read_record(record.parent)["method"]
                if of is None or of(method):
                    found.append((record.stat().st_mtime_ns, record.parent))
            except (ValueError, OSError):
                continue
    return {run.name: run for _, run in sorted(found, key=lambda entry: entry[0])[::-1]}


def sentence(label: str, texts: Sequence[str], key: str, default: int) -> int:
    """A sentence by its row number: that is what the link to the view has, and never a sentence."""
    row = st.selectbox(
        label,
        range(len(texts)),
        index=frame.numbered(key, len(texts), default),
        format_func=lambda row: f"{row} · {texts[row]}",
        key=f"{key}-choice",
    )
    frame.keep(key, row)
    return row


def number(label: str, count: int, key: str) -> int:
    """A number from 0 to `count` - 1 on a slider; it stands in the address of the page."""
    if count < 2:
        return 0
    chosen = st.select_slider(label, range(count), frame.numbered(key, count, 0), key=f"{key}-choice")
    frame.keep(key, int(chosen))
    return int(chosen)


# --- runs that come with the lab ---------------------------------------------------------------------------------


def lab_runs(method: str | None = None, corpus: str | None = None) -> list[str]:
    """The names of those that are there, of one method or one corpus where that is asked."""
    from labkit.demonstrations import DEMONSTRATIONS

    return [
        run.name
        for run in DEMONSTRATIONS.values()
        if run.here and method in (None, run.method) and corpus in (None, run.corpus)
    ]


def lab_standing(name: str) -> str:
    """What one of them is worth beside mean word vectors; nothing where that was not measured."""
    from labkit.demonstrations import standing

    found = standing(name)
    return "" if found is None else frame.plain(f"{found}.")


def lab_run(name: str) -> Chosen:
    """One of them, opened."""
    from labkit.demonstrations import DEMONSTRATIONS

    folder = DEMONSTRATIONS[name].folder
    written = (folder / "run.json").stat().st_mtime_ns
    code = f'from labkit.demonstrations import DEMONSTRATIONS\n\nmethod = load_run(DEMONSTRATIONS["{name}"].folder)'
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
