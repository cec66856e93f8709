"""From a source to two notebooks: what a mark does, and nothing else."""

from __future__ import annotations

import builtins
import json
import keyword
import re
from pathlib import Path
from typing import get_args

import nbformat
import pytest

from labkit.lab.course.exercise import Difficulty, Exercise
from labkit.lab.course.exercises import LESSONS
from labkit.lab.course.notebooks import (
    NOTEBOOKS,
    copied,
    exercises_in,
    has_exercise,
    main,
    read_source,
    solution,
    solution_of,
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


def test_jupyter_saves_sliders_with_a_notebook_and_asks_for_no_news(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else a notebook that is opened again says "Error displaying widget" above each of them, and a question about
    news from the network covers the first one that somebody opens."""
    from jupyterlab_server.settings_utils import _get_overrides

    assert "@jupyter-widgets/jupyterlab-manager:plugin" not in _get_overrides(str(tmp_path))[0]
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", str(NOTEBOOKS / "settings"))
    found = _get_overrides(str(tmp_path))[0]
    assert found["@jupyter-widgets/jupyterlab-manager:plugin"] == {"saveState": True}
    news = found["@jupyterlab/apputils-extension:notification"]
    assert news == {"fetchNews": "false", "checkForUpdates": False}


def test_a_solution_is_that_of_its_cell() -> None:
    assert solution_of("01.4") == "smallest, largest = 0.1192, 0.8808"
    assert solution_of("01.3").startswith("def triplet_weight(negative, positive):")
    with pytest.raises(ValueError, match="install labkit-embeddings anew"):
        solution_of("99.1")


# --- what a reader is told of an exercise ------------------------------------------------------------------------

each = pytest.mark.parametrize("source", sources(), ids=lambda source: source.stem)
READ = 200  # words a minute, slowly: half of them are formulas
CODE = re.compile(r"`([^`]+)`")


def texts(source: Path) -> list[str]:
    return [cell.source for cell in read_source(source).cells if cell.cell_type == "markdown"]


def asked_in(source: Path) -> dict[str, Exercise]:
    """The exercises of a notebook; one that stands beside the course may have none."""
    lesson = LESSONS.get(source.stem[:2])
    return lesson.exercises if lesson else {}


@each
def test_each_exercise_says_what_it_takes_and_where_to_go_further(source: Path) -> None:
    cells = read_source(source).cells
    for key, asked in asked_in(source).items():
        (place,) = (at for at, cell in enumerate(cells) if re.search(rf"\*\*Exercise {key}\b", cell.source))
        label = f"{asked.minutes} minutes, {asked.difficulty}. What it is for: {asked.aim}."
        below = cells[place].source.partition(f"**Exercise {key}")[2].split("\n\n")[1]
        assert below == f"*{label}*"
        (answered,) = (at for at, cell in enumerate(cells) if f'answer("{key}"' in cell.source)
        assert place < answered
        assert asked.further in cells[answered + 1].source
        assert cells[answered + 1].source.startswith("<details><summary>Go further</summary>\n\n")
    assert len({cell.id for cell in cells}) == len(cells)
    assert set(asked_in(source)) == set(exercises_in(source))


@each
def test_what_is_said_of_an_exercise_is_whole(source: Path) -> None:
    for asked in asked_in(source).values():
        assert asked.difficulty in get_args(Difficulty)
        assert 2 <= asked.minutes <= 15
        assert re.fullmatch(r"[a-z].{15,110}[^.?]", asked.aim), asked.aim
        assert re.fullmatch(r"[A-Z].{60,400}[.?]", asked.further), asked.further
    said = [text for asked in asked_in(source).values() for text in (asked.aim, asked.further)]
    assert len(set(said)) == len(said)


@each
def test_to_go_further_needs_nothing_that_is_not_there(source: Path) -> None:
    """What its code calls by name is the notebook's, Python's, or brought by the code itself."""
    known = {*re.findall(r"\w+", source.read_text("utf-8")), *dir(builtins), *keyword.kwlist}
    for key, asked in asked_in(source).items():
        code = " ".join(CODE.findall(asked.further))
        own = set(re.findall(r"\w+", " ".join(re.findall(r"(?:def|import) ([\w, ]+)", code))))
        bare = re.sub(r"\"\w+\"|\.[A-Za-z_]\w*|\b\w+(?==)", "", code)  # no texts, attributes, names of arguments
        assert set(re.findall(r"[A-Za-z_]\w*", bare)) <= known | own, key


@each
def test_a_head_promises_time_to_read_and_to_answer(source: Path) -> None:
    head = re.search(r"Time: (\d+) minutes[\w ]*, (\d+) of\s+them\s+for\s+the\s+exercises", texts(source)[0])
    assert head or not asked_in(source)
    if head:
        assert int(head[2]) == sum(asked.minutes for asked in asked_in(source).values())
        words = len(re.sub(r"<!--.*?-->|^\|.*$", "", "\n".join(texts(source)), flags=re.DOTALL | re.MULTILINE).split())
        assert int(head[2]) + words / READ <= int(head[1])


@each
def test_each_notebook_ends_with_three_questions_whose_answers_are_folded(source: Path) -> None:
    last = texts(source)[-1]
    assert last.startswith("## Three questions to end with\n")
    folded = re.findall(r"<details><summary>An answer</summary>\n\n(.*?)\n\n</details>", last, flags=re.DOTALL)
    asked = re.findall(r"^\*\*(\d)\.\*\* (.+?)\n\n<details>", last, flags=re.DOTALL | re.MULTILINE)
    assert [number for number, _ in asked] == ["1", "2", "3"]
    assert len(folded) == 3
    assert [question for _, question in asked if not question.endswith("?")] == []
    for text in folded:
        bare = re.sub(r"<!--.*?-->|\$[^$]+\$", "", text, flags=re.DOTALL).strip()
        assert 2 <= len(re.findall(r"[.?](?=\s|$)", bare)) <= 4, text
    assert read_source(source).cells[-1].cell_type == "code"  # the progress, and no cell that asks


def test_the_plan_of_a_class_has_the_minutes_that_its_exercises_take() -> None:
    told = (NOTEBOOKS / "TEACHING.md").read_text("utf-8").partition("## Ninety minutes")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d+)-(\d+) \| (.*)$", told, flags=re.MULTILINE)
    answered = {row[2]: set(re.findall(r"(?<!\")\b(\d\d\.\d)\b(?! by)", row[2])) for row in rows}
    assert sum(map(len, answered.values())) >= 5
    for begins, ends, row in rows:
        assert sum(LESSONS[key[:2]].exercises[key].minutes for key in answered[row]) <= int(ends) - int(begins), row


# --- made anew without being run ---------------------------------------------------------------------------------


def test_where_only_text_has_changed_the_outputs_stay(tmp_path: Path) -> None:
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
    with pytest.raises(ValueError, match=r"kept\.ipynb was run with other code than its source has; leave out --text"):
        with_outputs(solution(read_source(source)), kept)


def test_the_maker_is_told_in_a_word(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    made: list[tuple[str, bool]] = []

    def make(source: Path, *, text: bool) -> float:
        made.append((source.stem[:2], text))
        if source.stem.startswith("02") and text:
            raise ValueError("02 was run with other code")
        return 3.0

    monkeypatch.setattr("labkit.lab.course.notebooks.make_both", make)
    assert main(["01", "--text"]) == 0
    assert main(["01"]) == 0
    assert capsys.readouterr().out.split("\n")[:2] == [
        "01_pairs_and_weights: not run, outputs as they were",
        "01_pairs_and_weights: run in 3 s",
    ]
    assert main(["--text", "02", "03"]) == 2
    assert capsys.readouterr().err == "labkit: 02 was run with other code\n"
    assert made == [("01", True), ("01", False), ("02", True)]
