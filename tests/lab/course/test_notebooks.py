"""From a source to two notebooks: what a mark does, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labkit.lab.course.notebooks import (
    NOTEBOOKS,
    copied,
    has_exercise,
    read_source,
    solution,
    solution_of,
    solved,
    sources,
    student,
    with_gaps,
)

HEAD = "# ---\n# jupyter:\n#   kernelspec: {display_name: Python 3, language: python, name: python3}\n# ---\n\n"


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("x = f(1) == 2  #!", "x = ...  # your turn"),
        ("a, b = 1, 2  #!", "a, b = ..., ...  # your turn"),
        ("    return x == 1  #!", "    return ...  # your turn"),
        ("for i in range(3):  #!", "...  # your turn"),
        ("print(x == 1)  #!", "...  # your turn"),
        ("x = '#!'", "x = '#!'"),
    ],
)
def test_a_solution_becomes_open(line: str, left: str) -> None:
    assert with_gaps(line) == left


def test_lines_that_follow_one_another_are_one_solution() -> None:
    code = "a = 1  #!\nb = a  #!\nc = b\nd = 2  #!"
    assert with_gaps(code) == "a = ...  # your turn\nb = ...  # your turn\nc = b\nd = ...  # your turn"
    again = "a = 1  #!\na = a + 1  #!\nprint(a)  #!\nreturn a  #!"
    assert with_gaps(again) == "a = ...  # your turn\nreturn ...  # your turn"
    assert solved(code) == "a = 1\nb = a\nc = b\nd = 2"
    assert has_exercise(code)
    assert not has_exercise(solved(code))


def test_both_notebooks_of_a_source(tmp_path: Path) -> None:
    source = tmp_path / "01_small.py"
    source.write_text(HEAD + "# %% [markdown]\n# Text with #!\n\n# %%\nx = 1 + 1  #!\nx\n\n# %%\nprint(x)\n")
    made = read_source(source)
    theirs, ours = student(made), solution(made)
    assert [cell.source for cell in theirs.cells] == ["Text with #!", "x = ...  # your turn\nx", "print(x)"]
    assert [cell.source for cell in ours.cells] == ["Text with #!", "x = 1 + 1\nx", "print(x)"]
    assert [cell.metadata.get("tags") for cell in theirs.cells] == [None, ["exercise"], None]
    assert [cell["id"] for cell in read_source(source).cells] == [cell["id"] for cell in made.cells]
    assert has_exercise(made.cells[1].source)  # the notebook that came in is as it was


def test_copies_are_made_once_and_never_written_over(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "lab"
    names = [source.stem for source in sources()]
    assert copied(folder) == [f"copied into {folder}: {', '.join(names)}"]
    assert sorted(path.name for path in folder.iterdir()) == [f"{name}.ipynb" for name in names]
    assert copied(folder) == []
    mine = folder / f"{names[0]}.ipynb"
    worked = json.loads(mine.read_text("utf-8"))
    worked["cells"][0]["source"] = "my own words"
    mine.write_text(json.dumps(worked), "utf-8")
    (folder / f"{names[1]}.ipynb").unlink()
    worked["metadata"]["labkit"]["fingerprint"] = "of last year"
    (folder / f"{names[2]}.ipynb").write_text(json.dumps(worked), "utf-8")
    (folder / f"{names[3]}.ipynb").write_text("no notebook", "utf-8")
    assert copied(folder) == [
        f"copied into {folder}: {names[1]}",
        f"of an earlier version, left as they are: {names[2]}, {names[3]}; move one away to get the new one",
    ]
    assert "my own words" in mine.read_text("utf-8")
    assert (folder / f"{names[3]}.ipynb").read_text("utf-8") == "no notebook"


def test_jupyter_is_told_to_save_sliders_with_a_notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Else a notebook that is opened again says "Error displaying widget" above each of them."""
    from jupyterlab_server.settings_utils import _get_overrides

    assert "@jupyter-widgets/jupyterlab-manager:plugin" not in _get_overrides(str(tmp_path))[0]
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(NOTEBOOKS / "settings"))
    found = _get_overrides(str(tmp_path))[0]
    assert found["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}


def test_a_solution_is_that_of_its_cell() -> None:
    assert solution_of("01.4") == "smallest, largest = 0.1192, 0.8808"
    assert solution_of("01.3").startswith("def triplet_weight(negative, positive):")
    with pytest.raises(ValueError, match="install labkit-embeddings anew"):
        solution_of("99.1")
