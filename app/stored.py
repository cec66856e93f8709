"""The runs that there are to choose from: those that come with the lab, and those of the folders that are named."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import frame
import streamlit as st

from labkit.folders import sentence_of

TOLD = 3  # runs that are left out, and of which it is said why
LOCAL = ("127.0.0.1", "localhost", "::1")


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
    """Whether the app was opened to others: by `labkit app --classroom`, or by a setting of Streamlit's own."""
    return bool(os.environ.get("LABKIT_CLASSROOM")) or st.get_option("server.address") not in LOCAL


def whose(name: str) -> str:
    """A run's name, and whether it comes with the lab."""
    return f"{name} (comes with the lab)" if name in lab_runs() else name


def every_run(folders: Sequence[str], of: Callable[[str], bool] | None = None, *, first: str = "") -> dict[str, Path]:
    """name -> folder: the lab's own, those on the corpus `first` before the others; then those of the folders."""
    from labkit.lab.shipped import DEMONSTRATIONS

    own = [DEMONSTRATIONS[name] for name in lab_runs() if of is None or of(DEMONSTRATIONS[name].method)]
    found = {run.name: run.folder for run in sorted(own, key=lambda run: run.corpus != first)}
    for name, folder in runs(folders, of).items():
        found[name if name not in found else f"{name} · {folder.parent.name}"] = folder
    return found


def runs(folders: Sequence[str], of: Callable[[str], bool] | None = None) -> dict[str, Path]:
    """name -> folder of the runs directly in these folders, the newest first; one that cannot be read is left out, and
    the sidebar says why."""
    from labkit.folders import holder
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
                        told = frame.plain(f"{record.parent.name[:60]} is being trained by {who}")
                        st.sidebar.caption(f"{told}: this is what it knows so far.")
            except (ValueError, OSError) as reason:
                bad[record.parent.name] = reason
    if bad:
        st.sidebar.warning(left_out(bad))
    return {run.name: run for _, run in sorted(found, key=lambda entry: entry[0])[::-1]}


def left_out(bad: Mapping[str, Exception]) -> str:
    """Which runs are left out, and why; of many, the first ones."""
    told = []
    for name, why in list(bad.items())[:TOLD]:
        said = sentence_of(why)
        rest = re.sub("^run '.*?' ", "", said)  # its folder, which the name stands for
        told.append(f"**{frame.plain(name[:60])}**{':' * (rest == said)} {frame.plain(rest)}")
    more = [f"and {len(bad) - TOLD} more"] if len(bad) > TOLD else []
    return "\n\n".join([f"Left out, as {'they' if len(bad) > 1 else 'it'} cannot be used:", *told, *more])


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
