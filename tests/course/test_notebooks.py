"""The two notebooks made from a source, copies for students, and outputs kept without running."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest

from labkit.course.notebooks import (
    NOTEBOOKS,
    copied,
    has_exercise,
    read_source,
    solution,
    solved,
    sources,
    student,
    with_gaps,
    with_outputs,
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
def test_a_solution_becomes_a_gap(line: str, left: str) -> None:
    assert with_gaps(line) == left


def test_adjacent_lines_are_one_solution() -> None:
    code = "a = 1  #!\nb = a  #!\nc = b\nd = 2  #!"
    assert with_gaps(code) == "a = ...  # your turn\nb = ...  # your turn\nc = b\nd = ...  # your turn"
    again = "a = 1  #!\na = a + 1  #!\nprint(a)  #!\nreturn a  #!"
    loop = "a = 0  #!\nfor i in b:  #!\n    c = a + i  #!\n    a = c  #!\nreturn a  #!"
    assert with_gaps(loop) == "a = ...  # your turn\nreturn ...  # your turn"
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
    assert has_exercise(made.cells[1].source)  # the source notebook is unchanged


def test_copies_are_made_once_and_never_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "lab"
    names = [source.stem for source in sources()]
    (said,) = copied(folder)
    assert all(name in said for name in names)
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
    new, earlier = copied(folder)
    assert [name for name in names if name in new] == [names[1]]
    assert [name for name in names if name in earlier] == names[2:4]
    assert "my own words" in mine.read_text("utf-8")
    assert (folder / f"{names[3]}.ipynb").read_text("utf-8") == "no notebook"


def test_jupyter_saves_sliders_and_fetches_no_news(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Otherwise a reopened notebook shows "Error displaying widget" above each slider, and a question about news from
    the network covers the first notebook opened."""
    from jupyterlab_server.settings_utils import _get_overrides

    assert "@jupyter-widgets/jupyterlab-manager:plugin" not in _get_overrides(str(tmp_path))[0]
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(NOTEBOOKS / "settings"))
    found = _get_overrides(str(tmp_path))[0]
    assert found["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}
    news = found["@jupyterlab/apputils-extension:notification"]
    assert news == {"fetchNews": "false", "checkForUpdates": False}


# --- regenerated without running --------------------------------------------------------------------------------


def test_outputs_stay_if_only_text_has_changed(tmp_path: Path) -> None:
    source, kept = tmp_path / "01_small.py", tmp_path / "kept.ipynb"
    source.write_text(HEAD + "# %% [markdown]\n# Text\n\n# %%\nx = 1  #!\nx\n")
    ran = solution(read_source(source))
    (cell,) = (cell for cell in ran.cells if cell.cell_type == "code")
    cell.outputs, cell.execution_count = [nbformat.v4.new_output("stream", text="1")], 7
    ran.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {"slider": {}}}}
    nbformat.write(ran, kept)
    source.write_text(source.read_text().replace("# Text", "# Another text\n\n# %% [markdown]\n# And more"))
    made = with_outputs(solution(read_source(source)), kept)
    assert [cell.source for cell in made.cells] == ["Another text", "And more", "x = 1\nx"]
    assert (made.cells[2].outputs[0].text, made.cells[2].execution_count) == ("1", 7)
    assert made.metadata["widgets"] == ran.metadata["widgets"]
    source.write_text(source.read_text().replace("x = 1", "x = 2"))
    with pytest.raises(ValueError, match=r"kept\.ipynb"):
        with_outputs(solution(read_source(source)), kept)
