"""Generate notebooks from their sources, which are complete Python files with cells in percent format.

In: a source, notebooks/src/01_*.py. Out: notebooks/01_*.ipynb for students, and solutions/01_*.ipynb, solved and run.
`python -m labkit.course.notebooks` generates all of them, `... 01 06` only these. With `--text`, for changes of text
only, nothing is run and the outputs are kept.

A line that ends in `#!` is the solution of an exercise. The solved notebook drops the mark; for students it becomes

    name = ...      for `name = <anything> #!`, once for each name; `a, b = ..., ...` for two
    return ...      for `return <anything> #!`
    ...             for consecutive lines without either

Below the question come the exercise's minutes, its difficulty and why it matters; then, only for this package:

    hint: …         three of them, from a nudge to nearly the answer
    right: …        the lesson of a right answer
    further: …      what to do next; unfolds below the answer's cell

Everything else is the same in both notebooks. A solved notebook contains each figure twice, for plotly and as a static
picture.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast
from unittest.mock import patch

from labkit.atomic import in_place

Difficulty: TypeAlias = Literal["easy", "medium", "hard"]

MARK = re.compile(r"[ \t]*#!$")
ANSWERED = re.compile(r'^answer\("(\d\d\.\d+)", (.+)\)$', re.MULTILINE)  # the exercise, and the given answer
ASKED = re.compile(r"\*\*Exercise (\d\d\.\d+)\b")
LABEL = re.compile(r"^\*\d+ minutes?, (easy|medium|hard)\. Why it matters: ", re.MULTILINE)
NOTES = re.compile(r"\n\n(?:hint|right|further): .*?(?=\n\s*\n|\Z)", re.DOTALL)
NOTE = re.compile(r"^(hint|right|further): (.*(?:\n(?!(?:hint|right|further): ).+)*)", re.MULTILINE)
FURTHER = "<details><summary>Go further</summary>\n\n{}\n\n</details>"
ASSIGNED = re.compile(r"^(\s*)([\w, ]+?) = ")
_PACKAGE = Path(__file__).resolve().parents[1]
NOTEBOOKS = _PACKAGE.parent / "notebooks"  # next to the package in a checkout, inside it in a wheel
if (_PACKAGE / "_notebooks").is_dir() or not NOTEBOOKS.is_dir():
    NOTEBOOKS = _PACKAGE / "_notebooks"


def sources() -> list[Path]:
    """The sources of all notebooks, in order."""
    return sorted((NOTEBOOKS / "src").glob("[0-9][0-9]_*.py"))


@dataclass(frozen=True)
class Question:
    """An exercise's cell in a notebook, without its number and text.

    `praise`: the lesson of a right answer; `further`: what to do next.
    """

    difficulty: Difficulty
    hints: tuple[str, ...]
    praise: str
    further: str


def questions_in(source: Path) -> dict[str, Question]:
    """The exercises of a source, in order."""
    text = re.sub(r"^# ?", "", source.read_text("utf-8"), flags=re.MULTILINE)
    _, *parts = ASKED.split(text)
    return {key: _question(key, asked) for key, asked in zip(parts[::2], parts[1::2], strict=True)}


def _question(key: str, asked: str) -> Question:
    label, notes = LABEL.search(asked), NOTE.findall(asked)
    if label is None or [kind for kind, _ in notes] != ["hint", "hint", "hint", "right", "further"]:
        raise ValueError(f"exercise {key} needs a time in minutes, three hints, `right:` and `further:`")
    *hints, praise, further = (" ".join(text.split()) for _, text in notes)
    return Question(cast(Difficulty, label[1]), tuple(hints), praise, further)


@cache
def questions() -> dict[str, Question]:
    """All exercises, in the order of the notebooks."""
    return {key: asked for source in sources() for key, asked in questions_in(source).items()}


def question(key: str) -> Question:
    """The exercise with this key."""
    if key not in questions():
        raise ValueError(f"key is {key!r}, expected the key of an exercise in the notebooks, such as 01.3")
    return questions()[key]


def solved(code: str) -> str:
    """A cell with its solutions, without the marks.

    >>> solved("x = 1 + 1  #!")
    'x = 1 + 1'
    """
    return "\n".join(MARK.sub("", line) for line in code.split("\n"))


def with_gaps(code: str) -> str:
    """A cell with `...` in place of its solutions.

    >>> print(with_gaps("def f(S):\\n    a = S + 1  #!\\n    a = a * 2  #!\\n    return a"))
    def f(S):
        a = ...  # your turn
        return a
    """
    lines: list[str] = []
    for marked, run in groupby(code.split("\n"), key=lambda line: bool(MARK.search(line))):
        together = list(run)
        lines += _left(together) if marked else together
    return "\n".join(lines)


def _left(solution: list[str]) -> list[str]:
    """The gaps for consecutive solution lines: names and returns with `...` in place of the solution.

    Lines indented further than the first belong to a loop, which is dropped with its header.
    """
    gaps: dict[str, None] = {}  # an ordered set: a name assigned twice appears once
    outer = solution[0][: len(solution[0]) - len(solution[0].lstrip())]
    for line in solution:
        indent = line[: len(line) - len(line.lstrip())]
        if len(indent) > len(outer):
            continue
        name = ASSIGNED.match(line)
        if line.lstrip().startswith("return"):
            gaps[f"{indent}return ..."] = None
        elif name:
            gaps[f"{indent}{name[2]} = {', '.join(['...'] * (name[2].count(',') + 1))}"] = None
    return [f"{line}  # your turn" for line in gaps or [f"{outer}..."]]


def copied(folder: Path) -> list[str]:
    """Copy the students' notebooks to a folder, keeping existing files; return messages that say what was copied."""
    folder.mkdir(parents=True, exist_ok=True)
    new, earlier = [], []
    for source in sources():
        ours, theirs = NOTEBOOKS / f"{source.stem}.ipynb", folder / f"{source.stem}.ipynb"
        if not theirs.exists():
            with in_place(theirs) as file:
                file.write(ours.read_bytes())
            new.append(theirs.stem)
        elif _made_from(theirs) != _made_from(ours):
            earlier.append(theirs.stem)
    lines = [f"copied into {folder}: {', '.join(new)}"] if new else []
    if earlier:
        lines.append(f"kept from an earlier version: {', '.join(earlier)}; move or rename a file to get the new one")
    return lines


def _made_from(notebook: Path) -> str | None:
    """The fingerprint of a notebook's source; None if the file is not a notebook."""
    try:
        return str(json.loads(notebook.read_text("utf-8"))["metadata"]["labkit"]["fingerprint"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


@cache
def solution_of(key: str) -> str:
    """The solved lines of an exercise's cell, without the call that checks the answer."""
    for source in sources():
        for cell in re.split(r"^# %%.*$", source.read_text("utf-8"), flags=re.MULTILINE):
            if f'answer("{key}"' in cell:
                return "\n".join(line for line in solved(cell).split("\n") if not line.startswith("answer(")).strip()
    raise ValueError(f"the solution to {key} is not in {NOTEBOOKS / 'src'}; install labkit-embeddings again")


def exercises_in(source: Path) -> dict[str, str]:
    """The exercises of a source in order, each with the expression of its answer."""
    return dict(ANSWERED.findall(source.read_text("utf-8")))


def has_exercise(code: str) -> bool:
    """Whether the cell contains a solution."""
    return any(MARK.search(line) for line in code.split("\n"))


def student(notebook: Any) -> Any:
    """The student's notebook of a source: exercises open and tagged, no outputs."""
    return _with_cells(notebook, with_gaps)


def solution(notebook: Any) -> Any:
    """The solved notebook of a source, not run yet."""
    return _with_cells(notebook, solved)


def read_source(source: Path) -> Any:
    """Read a source as a notebook, with reproducible cell ids.

    Hints are left out, and next steps are placed below the answer's cell.
    """
    import jupytext
    import nbformat

    notebook, asked = jupytext.read(source), questions_in(source)
    cells = []
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{source.stem[:2]}-{number:03d}"
        cells.append(cell)
        if cell.cell_type == "markdown":
            cell.source = NOTES.sub("", cell.source)
            continue
        for key, _ in ANSWERED.findall(cell.source):
            text = FURTHER.format(asked[key].further)
            cells.append(nbformat.v4.new_markdown_cell(text, id=f"{cell['id']}-further"))
    notebook.cells = cells
    notebook.metadata.pop("jupytext", None)
    return notebook


def _with_cells(notebook: Any, how: Any) -> Any:
    other = copy.deepcopy(notebook)
    for cell in other.cells:
        if cell.cell_type != "code":
            continue
        if has_exercise(cell.source):
            cell.metadata["tags"] = sorted({*cell.metadata.get("tags", []), "exercise"})
        cell.source = how(cell.source)
        cell.outputs, cell.execution_count = [], None
    return other


# --- making ------------------------------------------------------------------------------------------------------

SECONDS = 1800  # per cell, to stop cells that hang


def make_both(source: Path, *, text: bool = False) -> float:
    """Write both notebooks of a source; return the running time; with `text`, run nothing: no code has changed."""
    written, keeps = read_source(source), NOTEBOOKS / "solutions" / f"{source.stem}.ipynb"
    if text:
        done, seconds = with_outputs(solution(written), keeps), 0.0
    else:
        done, seconds = run_notebook(solution(written), pictures=True)
    write_notebook(stamped(student(written), source), NOTEBOOKS / f"{source.stem}.ipynb")
    write_notebook(stamped(without_times(done), source), keeps)
    return seconds


def with_outputs(notebook: Any, earlier: Path) -> Any:
    """The notebook with outputs and sliders of an earlier version with exactly the same code."""
    import nbformat

    whole = nbformat.read(earlier, as_version=4)
    ran, code = ([cell for cell in each.cells if cell.cell_type == "code"] for each in (whole, notebook))
    if [cell.source for cell in code] != [cell.source for cell in ran]:
        raise ValueError(f"{earlier.name} was run with code that differs from its source; omit --text to run it again")
    for cell, before in zip(code, ran, strict=True):
        cell.outputs, cell.execution_count = before.outputs, before.execution_count
    notebook.metadata = whole.metadata  # including the state of the sliders
    return notebook


def run_notebook(notebook: Any, *, pictures: bool = False) -> tuple[Any, float]:
    """Run a notebook in a new kernel in an empty folder; return the notebook and the running time."""
    from nbclient import NotebookClient

    wanted = {"PLOTLY_RENDERER": "plotly_mimetype+png" if pictures else "plotly_mimetype", "TQDM_DISABLE": "1"}
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, wanted):
        began = time.perf_counter()
        limits: dict[str, Any] = {"timeout": SECONDS, "startup_timeout": SECONDS}
        NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": folder}}, **limits).execute()
        return notebook, time.perf_counter() - began


def fingerprint(source: Path) -> str:
    """The digest of a source's text, which marks stale notebooks."""
    return hashlib.sha256(source.read_bytes()).hexdigest()[:16]


def stamped(notebook: Any, source: Path) -> Any:
    """The notebook with its source's name and fingerprint."""
    notebook.metadata["labkit"] = {"source": f"src/{source.name}", "fingerprint": fingerprint(source)}
    return notebook


def without_times(notebook: Any) -> Any:
    """The notebook without cell times and messages of the picture writer, so that two runs are equal.

    The notebook's own cells print nothing to standard error, which a test without pictures checks.
    """
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [out for out in cell.outputs if out.get("name") != "stderr"]
    return notebook


def write_notebook(notebook: Any, path: Path) -> None:
    """Write the notebook to a file."""
    import nbformat

    path.parent.mkdir(exist_ok=True)
    with in_place(path) as file:
        file.write((nbformat.writes(notebook) + "\n").encode())


def main(wanted: list[str]) -> int:
    """Generate the notebooks whose names begin with one of these; by default all."""
    text, wanted = "--text" in wanted, [word for word in wanted if word != "--text"]
    chosen = [source for source in sources() if not wanted or source.stem.startswith(tuple(wanted))]
    if not chosen:
        names = ", ".join(source.stem for source in sources())
        print(f"labkit: no notebook begins with {' or '.join(wanted)}; choose from {names}", file=sys.stderr)
        return 2
    for source in chosen:
        try:
            seconds = make_both(source, text=text)
        except ValueError as mistake:
            print(f"labkit: {mistake}", file=sys.stderr)
            return 2
        print(f"{source.stem}: " + ("not run, outputs kept" if text else f"run in {seconds:.0f} s"), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
