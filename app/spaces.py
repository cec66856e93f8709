"""The spaces that the page "Clusters" shows, one for each side: a run that comes with the lab, vectors fitted here, a
stored run, or a file of vectors.

A `Space` is named at once and opened only when its vectors are needed: stored pictures do not wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import cached
import choosing
import frame
import stored
import streamlit as st

from labkit.lab.shipped import DEMONSTRATIONS, Origin, standing

if TYPE_CHECKING:
    from labkit.method import Method

NOTHING = "nothing"
FILE = "your own vectors"
SHIPPED = "run "


@dataclass(frozen=True, eq=False)
class Space:
    """`open` gives the method; `origin` tells what a stored picture was made from, None where there can be none."""

    key: str
    name: str
    code: str
    open: Callable[[], Method]
    origin: Callable[[], Origin] | None = None
    note: str = ""
    run: bool = False


def choose(side: str, label: str, opened: cached.Opened, *, optional: bool) -> Space | None:
    """The space of one side, from the sidebar. None: none is wished for, or it is not there, and the page says why."""
    shipped = [] if opened.own else [name for name, run in DEMONSTRATIONS.items() if run.corpus == opened.corpus.name]
    shipped = [name for name in shipped if DEMONSTRATIONS[name].here]
    runs = [SHIPPED + name for name in shipped]
    options = [*runs, *choosing.VECTORS, choosing.STORED, FILE, *([NOTHING] if optional else [])]
    default = (runs[0] if runs else NOTHING) if optional else "mean-vectors"
    name = st.sidebar.selectbox(
        label,
        options,
        index=options.index(default),
        format_func=lambda option: choosing.VECTORS.get(option, option),
        key=side,
        **frame.KEEP,
    )
    if name == NOTHING:
        return None
    if name == choosing.STORED:
        return _stored(side, opened)
    if name == FILE:
        return _file(side, opened)
    if name in runs:
        return _shipped(name.removeprefix(SHIPPED))
    code = f'method = METHODS["{name}"]()\nmethod.fit(corpus)'
    return Space(
        f"{name} {opened.key}",
        choosing.VECTORS[name],
        code,
        partial(cached.fitted, opened.corpus, opened.key, name),
        None if opened.own else partial(cached.unfitted, name, opened.key),
    )


def _shipped(name: str) -> Space:
    """A run that comes with the lab, and whether it is worth more than it costs."""
    folder = DEMONSTRATIONS[name].folder
    found = standing(name)
    return _run(
        folder, name, f'method = load_run(DEMONSTRATIONS["{name}"].folder)', "" if found is None else f"{found}."
    )


def _run(folder: Path, name: str, code: str, note: str = "") -> Space:
    written = (folder / "run.json").stat().st_mtime_ns
    opening = partial(cached.opened_run, str(folder), written)
    return Space(
        f"{folder} {written}", name, code, opening, partial(cached.trained, str(folder), written), note, run=True
    )


def _stored(side: str, opened: cached.Opened) -> Space | None:
    """A run from the folders that the visitor names."""
    found = stored.runs(stored.folders(f"{side}-folders"))
    if not found:
        st.info("There is no such run in the folders named in the sidebar. One is made in a minute or two:")
        st.code(f"labkit train sentpwnet --corpus {'FILE' if opened.own else opened.corpus.name}", language="bash")
        return None
    name = st.sidebar.selectbox("Run", list(found), index=0, key=f"{side}-run", **frame.KEEP)
    return _run(found[name], name, f"method = load_run({str(found[name])!r})")


def _file(side: str, opened: cached.Opened) -> Space | None:
    """Vectors that the visitor brings."""
    file = frame.brought("Vectors of these sentences: .npz, .npy or .parquet", f"{side}-file")
    if file is None:
        st.info(
            "Choose a file with vectors in the sidebar: what `labkit encode` writes, or a matrix with a row for each "
            "distinct sentence of the corpus. It stays on this machine."
        )
        return None
    name, data = file
    opening = partial(cached.given, name, data, opened.corpus, opened.key)
    code = "from labkit.baselines.base import Matrix, MatrixSettings\n"
    code += f'method = Matrix(MatrixSettings(file="vectors{Path(name).suffix}"))\nmethod.fit(corpus)'
    return Space(f"{cached.digest(data)} {opened.key}", "your vectors", code, opening)
