"""Which runs the page "Compare" shows: at first those trained on the corpus, or those of the link; then as one chooses.

The address has the names of chosen runs, never their folders, and only where they are not the ones shown at first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import cached
import frame
import stored
import streamlit as st

if TYPE_CHECKING:
    from labkit.evaluation.leaderboard import Result

FIRST = 12  # runs that are chosen at first
MOST = 40  # runs that can be chosen, and that a link names
TOLD, LONGEST = 3, 60  # names that are said to be missing, and the letters of each
NAMES, CORPUS = "runs", "compared-on"  # in the address; in the session


def chosen_runs(opened: cached.Opened) -> dict[str, Path]:
    """Name -> folder of the runs to compare."""
    found = stored.every_run(stored.folders(), first=opened.corpus.name)
    own = [name for name, folder in found.items() if trained_on(folder) == opened.key]
    if st.session_state.setdefault(CORPUS, opened.key) != opened.key:  # the address spoke of another corpus
        st.session_state[CORPUS] = opened.key
        frame.keep(NAMES, None)
        frame.written()
    linked = of_link()
    if linked and (missing := [name for name in linked if name not in found]):
        st.info(not_here(missing))
    key = f"runs-{opened.key[:8]}"
    said = own[:FIRST] if linked is None else linked
    now = said if frame.turned(NAMES) else st.session_state.get(key, said)
    frame.keep(NAMES, None if linked is None else linked or [""])
    if frame.turned(NAMES) or key not in st.session_state or not set(now) <= found.keys():  # a folder may be gone
        st.session_state[key] = [name for name in now if name in found]
    names = st.multiselect(
        "Runs",
        list(found),
        format_func=stored.whose,
        max_selections=MOST,
        key=key,
        on_change=remember,
        args=(key, own[:FIRST]),
    )
    return {name: found[name] for name in names}


def trained_on(folder: Path) -> str:
    """The fingerprint of its corpus; nothing of a run that has just gone."""
    try:
        return str(cached.record(str(folder), stamp(folder))["fingerprint"])
    except (ValueError, OSError):
        return ""


def scored(runs: Mapping[str, Path], opened: cached.Opened) -> list[Result]:
    """What each run is worth on the test split; one that cannot be scored is named, and the others are shown."""
    found, bad = [], {}
    for name, folder in runs.items():
        try:
            found.append(cached.run_result(str(folder), stamp(folder), opened.corpus, opened.key))
        except (ValueError, OSError) as reason:
            bad[name] = reason
    if bad:
        st.warning(stored.left_out(bad))
    return found


def stamp(folder: Path) -> int:
    """When the run was written: a run trained anew is read anew."""
    return (folder / "run.json").stat().st_mtime_ns


def of_link() -> list[str] | None:
    """The names in the address, each once and not too many; None where it says nothing of runs."""
    if NAMES not in st.query_params:
        return None
    return [name for name in dict.fromkeys(st.query_params.get_all(NAMES)) if name][:MOST]


def remember(key: str, first: Collection[str]) -> None:
    """Put the choice into the address; that nothing is chosen is an empty name."""
    names = st.session_state[key]
    frame.keep(NAMES, None if list(names) == list(first) else names or [""])
    frame.written()


def not_here(names: Sequence[str]) -> str:
    """One sentence on the runs of a link that are not found."""
    told = ", ".join(name[:LONGEST] for name in names[:TOLD])
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    remedy = "choose others" if stored.classroom() else "name their folder in the sidebar"
    return frame.plain(f"The link names runs that are not here: {told}{more}; {remedy}.")
