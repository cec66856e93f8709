"""Every notebook runs clean from its source, in an empty folder, and the one that is kept is not stale."""

from __future__ import annotations

from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
SOURCES = sorted((NOTEBOOKS / "src").glob("*.py"))


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_runs_from_top_to_bottom(source: Path, tmp_path: Path) -> None:
    notebook = jupytext.read(source)
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs or "import" in cell.source for cell in code)
    assert not [out for cell in code for out in cell.outputs if out.get("name") == "stderr"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_kept_notebook_is_made_from_its_source(source: Path) -> None:
    kept = nbformat.read(NOTEBOOKS / f"{source.stem}.ipynb", as_version=4)
    written = [(cell.cell_type, cell.source) for cell in jupytext.read(source).cells]
    assert [(cell.cell_type, cell.source) for cell in kept.cells] == written, "stale: run `make notebooks`"
    assert all(cell.outputs for cell in kept.cells if cell.cell_type == "code")


def test_there_is_one() -> None:
    assert SOURCES
