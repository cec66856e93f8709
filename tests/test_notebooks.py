"""Every notebook: the solved one runs clean in an empty folder, the student's stops at its exercises, none is stale."""

from __future__ import annotations

import re
import shutil
import tomllib
from html import escape
from pathlib import Path
from typing import Any

import nbformat
import pytest

from labkit.corpora import Corpus, load
from labkit.evaluation import leader
from labkit.lab.course.ablation import Figures
from labkit.lab.course.exercises import LESSONS
from labkit.lab.course.notebooks import (
    NOTEBOOKS,
    fingerprint,
    read_source,
    run_notebook,
    solution,
    solved,
    sources,
    student,
)

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sources()
each = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)

MOST_MEMORY = 2 * 2**30  # bytes that a kernel may take: what a small machine, or a hosted notebook, has to spare
PEAK = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"  # in KiB, on Linux
FROM_THE_WHEEL = "import labkit, os; assert labkit.__file__.startswith(os.environ['PYTHONPATH']), labkit.__file__"
ONE_EPOCH = """
from dataclasses import replace
from labkit.training import loop
def begin(self, task, settings, *others, whole=loop._Loop.__init__):
    whole(self, task, replace(settings, epochs=1), *others)
loop._Loop.__init__ = begin
"""


def short(notebook: Any) -> Any:
    """With trainings of one epoch: `make notebooks` runs them whole."""
    notebook.cells.insert(0, nbformat.v4.new_code_cell(f"{FROM_THE_WHEEL}\n{ONE_EPOCH}"))
    return notebook


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network: whoever asks for it fails at once."""
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name in ("LABKIT_DATA", "LABKIT_ANSWERS", "LABKIT_PROGRESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as a wheel lays it out, with what the project's file puts into it, and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    placed = {"labkit": "labkit"} | told["sources"]
    for ours, theirs in placed.items():
        leave = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / ours, folder / theirs, ignore=leave, dirs_exist_ok=True)
    return folder


@pytest.fixture
def installed(wheel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels find the package there."""
    monkeypatch.setenv("PYTHONPATH", str(wheel))


@each
@pytest.mark.whole
@pytest.mark.usefixtures("installed")
def test_solved_notebook_runs_clean(source: Path, record_property) -> None:  # type: ignore[no-untyped-def]
    notebook = short(solution(read_source(source)))
    notebook.cells.append(nbformat.v4.new_code_cell(PEAK))
    done, seconds = run_notebook(notebook)
    peak = 1024 * int(done.cells.pop().outputs[0].text)
    record_property("took", f"{source.stem} {seconds:.0f} s, {peak / 2**20:.0f} MB")
    assert peak < MOST_MEMORY
    code = [cell for cell in done.cells if cell.cell_type == "code"]
    outputs = [out for cell in code for out in cell.outputs]
    assert not [out for out in outputs if out.get("name") == "stderr"]
    assert not [out for out in outputs if out.output_type == "error"]
    said = [str(out.get("data", {}).get("text/plain", "")) for out in outputs]
    assert not [line for line in said if line.startswith(("✗", "○"))]
    lesson = LESSONS.get(source.stem[:2])
    for key in lesson.exercises if lesson else ():
        assert any(line.startswith(f"✓ {key}:") for line in said), f"exercise {key} is not answered in the notebook"
    for key in lesson.predictions if lesson else ():
        assert any(line.startswith(f"{key}: you predicted") for line in said), f"{key} is not recalled in the notebook"


@each
@pytest.mark.whole
@pytest.mark.usefixtures("installed")
def test_student_notebook_stops_only_at_its_exercises(source: Path) -> None:
    """Run on after each stop: what fails is an open exercise, or waits for one before it."""
    done, _ = run_notebook(short(student(read_source(source))), errors=True)
    first: int | None = None
    for number, cell in enumerate(done.cells):
        if cell.cell_type != "code":
            continue
        errors = [out for out in cell.outputs if out.output_type == "error"]
        is_exercise = "exercise" in cell.metadata.get("tags", [])
        if errors and first is None:
            first = number
            assert is_exercise, f"cell {number} fails before any exercise: {errors[0].ename}: {errors[0].evalue}"
        if is_exercise and "answer(" in cell.source:
            assert [out.ename for out in errors] == ["StillOpen"], f"cell {number}: {errors or 'no stop'}"
    assert (first is None) == (source.stem[:2] not in LESSONS)


@each
def test_kept_notebooks_are_made_from_their_source(source: Path) -> None:
    for folder, how in ((NOTEBOOKS, student), (NOTEBOOKS / "solutions", solution)):
        kept = nbformat.read(folder / f"{source.stem}.ipynb", as_version=4)
        assert kept.metadata["labkit"]["fingerprint"] == fingerprint(source), "stale: run `make notebooks`"
        wanted = [(cell.cell_type, cell.source) for cell in how(read_source(source)).cells]
        assert [(cell.cell_type, cell.source) for cell in kept.cells] == wanted, "edited by hand: run `make notebooks`"
        nbformat.validate(kept)
        outputs = [out for cell in kept.cells for out in cell.get("outputs", [])]
        assert not [out for out in outputs if out.get("name") == "stderr" or out.output_type == "error"]


@each
def test_solutions_show_their_figures_as_pictures_too(source: Path) -> None:
    kept = nbformat.read(NOTEBOOKS / "solutions" / f"{source.stem}.ipynb", as_version=4)
    drawn = [out.data for cell in kept.cells for out in cell.get("outputs", []) if "data" in out]
    figures = [data for data in drawn if "application/vnd.plotly.v1+json" in data]
    assert figures
    assert all("image/png" in data for data in figures)
    plain = nbformat.read(NOTEBOOKS / f"{source.stem}.ipynb", as_version=4)
    assert not [cell for cell in plain.cells if cell.get("outputs")]


@each
def test_solutions_keep_the_state_of_their_sliders(source: Path) -> None:
    kept = nbformat.read(NOTEBOOKS / "solutions" / f"{source.stem}.ipynb", as_version=4)
    moved = any(cell.source.startswith("explore(") or "\nexplore(" in cell.source for cell in kept.cells)
    state = kept.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    assert any("Slider" in model["model_name"] for model in state.values()) == moved


@each
def test_every_figure_says_what_is_seen(source: Path) -> None:
    """A picture has an alternative text of its own, and the same sentence stands below it."""
    kept = nbformat.read(NOTEBOOKS / "solutions" / f"{source.stem}.ipynb", as_version=4)
    outputs = [out for cell in kept.cells for out in cell.get("outputs", []) if "data" in out]
    pictures = [out for out in outputs if "image/png" in out.data]
    said = [out.metadata.get("image/png", {}).get("alt", "") for out in pictures]
    assert [text for text in said if len(text) < 40] == []
    assert len(set(said)) == len(said)
    captions = "".join(str(out.data.get("text/html", "")) for out in outputs)
    assert [text for text in said if escape(text) not in captions] == []


@each
def test_code_fits_the_window(source: Path) -> None:
    """At 1280 pixels JupyterLab shows about 100 columns of a cell; the rest is cut off."""
    cells = [cell for cell in read_source(source).cells if cell.cell_type == "code"]
    assert [line for cell in cells for line in solved(cell.source).split("\n") if len(line) > 100] == []


BACKED = re.compile(
    r"\b(sections?|tables?|figures?|algorithm|appendix|abstract|introduction|title)\b|\beqs?\. \d", re.IGNORECASE
)
ABOUT = re.compile(r"\b([Tt]he (paper|authors)\b|[Ii]ts? (paper|authors)\b)")


def prose(source: Path) -> list[str]:
    """The sentences of a notebook's text, without formulas, tables and hidden comments."""
    text = "\n\n".join(cell.source for cell in read_source(source).cells if cell.cell_type == "markdown")
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\b(eq|Eq|vs|e\.g|i\.e|et al)\.", r"\1․", text)  # these full stops end no sentence
    sentences = re.split(r"(?<=[.!?:])[)*_\"]*\s+(?=[^a-z])|\n\s*\n|^#+ .*$|^\s*[-*\d]+\.? ", text, flags=re.MULTILINE)
    return [" ".join(each.replace("․", ".").split()) for each in sentences if each and each.strip()]


@each
def test_what_is_said_of_a_paper_names_its_place(source: Path) -> None:
    """A reader can look it up: section, equation, table, figure or algorithm."""
    spoken = [each for each in prose(source) if ABOUT.search(each) and not re.match(r"The papers? (is|are) \W", each)]
    assert [each for each in spoken if not BACKED.search(each)] == []


@each
def test_every_notebook_says_where_to_read_on(source: Path) -> None:
    text = "\n".join(cell.source for cell in read_source(source).cells if cell.cell_type == "markdown")
    further = text.partition("## Further reading")[2]
    links = re.findall(r"\]\((https://(?:doi\.org|arxiv\.org/abs|aclanthology\.org)/[^)\s]+)\)", further)
    assert len(set(links)) >= 3


def test_a_first_look_at_a_corpus_goes_through_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """`splits` has an entry a row: whoever asks for the part of each of them waits for the square of the rows."""
    asked: list[str] = []
    part = Corpus.part
    monkeypatch.setattr(Corpus, "part", lambda self, split: asked.append(split) or part(self, split))
    for source in SOURCES:
        code = [solved(cell.source) for cell in read_source(source).cells if cell.cell_type == "code"]
        assert [line for each in code for line in each.split("\n") if re.search(r"for .* in .*\.splits\b", line)] == []
        if source.stem.startswith("02"):
            exec(code[1], {"load": load})
    assert 1 <= len(asked) <= 5


def test_a_tie_has_no_winner() -> None:
    """What notebook 02 recalls of its three encoders is what the table says, whatever it comes to say."""
    (source,) = (each for each in SOURCES if each.stem.startswith("02"))
    (cell,) = (solved(cell.source) for cell in read_source(source).cells if 'recall("02.a"' in cell.source)
    names = ("CNN", "LSTM", "BiLSTM with attention")

    def recalled(*figures: tuple[float, ...]) -> str:
        said: list[str] = []
        cells = {
            name: {seed: {"auc": one} for seed, one in enumerate(each)}
            for name, each in zip(names, figures, strict=True)
        }
        here = {"encoders": Figures("t", "f", cells, {}), "leader": leader}
        exec(cell, here | {"recall": lambda key, truth: said.append(truth)})
        return said[0]

    assert recalled((0.80, 0.81, 0.82), (0.70, 0.71, 0.72), (0.60, 0.61, 0.62)) == "CNN"
    assert recalled((0.80, 0.81, 0.82), (0.70, 0.71, 0.72), (0.803, 0.813, 0.823)) == "CNN or BiLSTM with attention"


def test_every_lesson_has_its_notebook() -> None:
    assert SOURCES
    assert set(LESSONS) <= {source.stem[:2] for source in SOURCES}


def test_the_teachers_page_answers_every_prediction() -> None:
    told = (NOTEBOOKS / "TEACHING.md").read_text("utf-8")
    asked = [key for lesson in LESSONS.values() for key in lesson.predictions]
    assert [key for key in asked if f"| {key} |" not in told] == []
    named = {source.stem for source in SOURCES}
    for page in ("TEACHING.md", "README.md"):  # no page speaks of a notebook that is not there
        found = re.findall(r"`(\d\d_\w+)`", (NOTEBOOKS / page).read_text("utf-8"))
        assert set(found) <= named
    assert named == set(re.findall(r"`(\d\d_\w+)`", (NOTEBOOKS / "README.md").read_text("utf-8")))


def plan_rows() -> list[tuple[str, range, list[str], list[str]]]:
    """Of each row of the teacher's plan that names a notebook: its sections, what is answered there, what is solved."""
    told = (NOTEBOOKS / "TEACHING.md").read_text("utf-8")
    rows = []
    for line in told.partition("## Ninety minutes")[2].partition("\n## ")[0].splitlines():
        names, sections = re.findall(r"`(\d\d_\w+)`", line), re.search(r"sections? (\d+)(?: to (\d+))?", line)
        if line.startswith("|") and names and "on the board" not in line.partition(names[0])[2][:40]:
            assert sections, f"the plan names no sections: {line}"
            first, last = int(sections[1]), int(sections[2] or sections[1])
            answered = re.findall(r"(?<!\")\b(\d\d\.\d)\b(?! by)", line)
            rows.append((names[0], range(first, last + 1), answered, re.findall(r'solve\("(\d\d\.\d)"\)', line)))
    return rows


def walked(source: Path, last: int, answered: set[str], solved_by_call: set[str]) -> Any:
    """The student's notebook up to a section, as a class goes through it: some exercises answered, some by `solve`."""
    whole, own = read_source(source), student(read_source(source))
    cells, section = [], 0
    for right, open_one in zip(whole.cells, own.cells, strict=True):
        for number in re.findall(r"^## (\d+)\.", right.source, flags=re.MULTILINE):
            section = int(number)
            if section > last and cells and right.source.startswith("## "):
                break
        if section > last:
            break
        key = next(iter(re.findall(r'answer\("(\d\d\.\d)"', right.source)), None)
        cell = open_one
        if right.cell_type == "code" and (key in answered or "predict(" in right.source):
            cell.source = solved(right.source)
        cells.append(cell)
        if key in solved_by_call:
            cells.append(nbformat.v4.new_code_cell(f'solve("{key}")'))
    own.cells = cells
    return own


@each
def test_the_course_and_the_notebook_say_one_time(source: Path) -> None:
    own = re.search(r"Time: .*", source.read_text("utf-8"))
    told = re.search(rf"`{source.stem}` .* (\d+) minutes \|", (NOTEBOOKS / "README.md").read_text("utf-8"))
    assert own
    assert told
    assert told[1] in re.findall(r"\d+", own[0])


def test_the_plan_names_what_there_is() -> None:
    rows = plan_rows()
    assert len(rows) >= 3
    for name, sections, answered, by_call in rows:
        text = (NOTEBOOKS / "src" / f"{name}.py").read_text("utf-8")
        assert all(f"## {number}. " in text for number in sections)
        assert {*answered, *by_call} <= set(LESSONS[name[:2]].exercises)
        assert not set(answered) & set(by_call)


@pytest.mark.whole
@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", sorted({row[0] for row in plan_rows()}))
def test_a_class_can_follow_the_plan(name: str) -> None:
    """What the plan leaves out is open, and stops nothing that the plan shows."""
    rows = [row for row in plan_rows() if row[0] == name]
    answered, by_call = ({key for row in rows for key in row[place]} for place in (2, 3))
    source = NOTEBOOKS / "src" / f"{name}.py"
    done, _ = run_notebook(short(walked(source, max(max(row[1]) for row in rows), answered, by_call)), errors=True)
    for number, cell in enumerate(done.cells):
        failed = [out for out in cell.get("outputs", []) if out.output_type == "error"]
        key = next(iter(re.findall(r'answer\("(\d\d\.\d)"', cell.source)), None)
        if key in answered or key is None:
            assert not failed, f"cell {number} stops: {failed[0].evalue if failed else ''}\n{cell.source}"
        else:
            assert [out.ename for out in failed] == ["StillOpen"]
    said = [str(out.get("data", {}).get("text/plain", "")) for cell in done.cells for out in cell.get("outputs", [])]
    assert not [line for line in said if line.startswith("✗")]
