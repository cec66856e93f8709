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
    """A run from the folders that the visitor names; `of` says which methods' runs are meant."""
    folders = st.sidebar.text_input(
        "Folders with runs", os.environ.get("LABKIT_RUNS", "runs"), key="folders", help="Several: with a comma between."
    )
    found = runs([folder.strip() for folder in folders.split(",") if folder.strip()], of)
    if not found:
        corpus = "FILE" if opened.own else opened.corpus.name
        st.info("There is no such run in the folders named in the sidebar. One is made in a minute or two:")
        st.code(f"labkit train {method} --corpus {corpus}", language="bash")
        return None
    names = list(found)
    name = st.sidebar.selectbox("Run", names, index=0, key="run", **frame.KEEP)
    folder = found[name]
    written = (folder / "run.json").stat().st_mtime_ns
    opened_run = cached.opened_run(str(folder), written)
    return Chosen(opened_run, f"{folder} {written}", name, f"method = load_run({str(folder)!r})")


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
