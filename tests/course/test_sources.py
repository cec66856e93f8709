"""From a source to two notebooks: what a mark does, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from labkit.course.sources import has_exercise, opened, read, solution, solved, student

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
    assert opened(line) == left


def test_lines_that_follow_one_another_are_one_solution() -> None:
    code = "a = 1  #!\nb = a  #!\nc = b\nd = 2  #!"
    assert opened(code) == "a = ...  # your turn\nb = ...  # your turn\nc = b\nd = ...  # your turn"
    again = "a = 1  #!\na = a + 1  #!\nprint(a)  #!\nreturn a  #!"
    assert opened(again) == "a = ...  # your turn\nreturn ...  # your turn"
    assert solved(code) == "a = 1\nb = a\nc = b\nd = 2"
    assert has_exercise(code)
    assert not has_exercise(solved(code))


def test_both_notebooks_of_a_source(tmp_path: Path) -> None:
    source = tmp_path / "01_small.py"
    source.write_text(HEAD + "# %% [markdown]\n# Text with #!\n\n# %%\nx = 1 + 1  #!\nx\n\n# %%\nprint(x)\n")
    made = read(source)
    theirs, ours = student(made), solution(made)
    assert [cell.source for cell in theirs.cells] == ["Text with #!", "x = ...  # your turn\nx", "print(x)"]
    assert [cell.source for cell in ours.cells] == ["Text with #!", "x = 1 + 1\nx", "print(x)"]
    assert [cell.metadata.get("tags") for cell in theirs.cells] == [None, ["exercise"], None]
    assert [cell["id"] for cell in read(source).cells] == [cell["id"] for cell in made.cells]
    assert has_exercise(made.cells[1].source)  # the notebook that came in is as it was
