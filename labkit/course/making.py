"""Notebooks from their sources: the student's is written, the solved one is run first. In: a source. Out: two files.

A solved notebook keeps each figure twice: as plotly draws it, and as a picture for where no program runs.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labkit.atomic import in_place
from labkit.course.sources import NOTEBOOKS, read, solution, student

SECONDS = 1800  # of one cell, at most: an end to what hangs


def make(source: Path, folder: Path = NOTEBOOKS) -> float:
    """Write both notebooks of a source; the seconds that running took."""
    written = read(source)
    write(stamped(student(written), source), folder / f"{source.stem}.ipynb")
    done, seconds = run(solution(written), pictures=True)
    write(stamped(without_times(done), source), folder / "solutions" / f"{source.stem}.ipynb")
    return seconds


def run(notebook: Any, *, pictures: bool = False, errors: bool = False) -> tuple[Any, float]:
    """A notebook run from top to bottom in a fresh kernel in an empty folder, and the seconds it took.

    `errors`: go on after a cell that fails, as a reader would.
    """
    from nbclient import NotebookClient

    with tempfile.TemporaryDirectory() as folder, _environment(pictures):
        began = time.perf_counter()
        where = {"metadata": {"path": folder}}
        NotebookClient(
            notebook,
            timeout=SECONDS,
            startup_timeout=SECONDS,
            kernel_name="python3",
            resources=where,
            allow_errors=errors,
        ).execute()
        return notebook, time.perf_counter() - began


def fingerprint(source: Path) -> str:
    """Of the source's text: a kept notebook with another one is stale."""
    return hashlib.sha256(source.read_bytes()).hexdigest()[:16]


def stamped(notebook: Any, source: Path) -> Any:
    """With the name and the fingerprint of its source."""
    notebook.metadata["labkit"] = {"source": f"src/{source.name}", "fingerprint": fingerprint(source)}
    return notebook


def without_times(notebook: Any) -> Any:
    """Without when each cell ran, and what the maker of the pictures said: two makings shall not differ in that.

    The notebook's own cells say nothing on standard error; a test runs them without pictures and looks.
    """
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
    return notebook


def write(notebook: Any, path: Path) -> None:
    """The notebook as a file."""
    import nbformat

    path.parent.mkdir(exist_ok=True)
    with in_place(path) as file:
        file.write((nbformat.writes(notebook) + "\n").encode())


@contextmanager
def _environment(pictures: bool) -> Iterator[None]:
    wanted = {"PLOTLY_RENDERER": "plotly_mimetype+png" if pictures else "plotly_mimetype", "TQDM_DISABLE": "1"}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
