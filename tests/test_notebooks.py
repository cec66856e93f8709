"""Every notebook: its solution runs in an empty folder without errors, and the stored notebooks match their source.

Open exercises in the student's notebooks are tested in `course/test_exercises.py`.
"""

from __future__ import annotations

import ast
import re
import shutil
import tomllib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import nbformat
import pytest

from labkit.course.ablation import Figures
from labkit.course.notebooks import (
    NOTEBOOKS,
    fingerprint,
    questions,
    questions_in,
    read_source,
    run_notebook,
    solution,
    solved,
    sources,
    student,
)

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sources()
PREDICTED = re.compile(r'^predict\("(\d\d\.[a-z])"', re.MULTILINE)
each = pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)

MOST_MEMORY = 2 * 2**30  # bytes per kernel, as available on a small machine or in a hosted notebook
SPENT = """
import resource
spent = resource.getrusage(resource.RUSAGE_SELF)
(spent.ru_maxrss, spent.ru_utime + spent.ru_stime)
"""  # memory in KiB, on Linux, and CPU seconds
MANY = re.compile(r'(\bepochs ?= ?|\bsteps=(?=\d{3})|\bposts_each = |"trials": )\d+')
ONE_EPOCH = """
import os
from dataclasses import replace
import labkit
from labkit.training import trained
assert labkit.__file__.startswith(os.environ["PYTHONPATH"]), labkit.__file__
def one_epoch(task, settings, *, whole=trained.train, **others):
    return whole(task, replace(settings, epochs=min(settings.epochs, 1)), **others)
trained.train = one_epoch
"""


def short(notebook: Any) -> Any:
    """The notebook with one epoch, step or trial per training, also in its cells, and one post in place of twenty.

    `make notebooks` runs all of them.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.source = MANY.sub(r"\g<1>1", cell.source)
    before, after = (nbformat.v4.new_code_cell(code) for code in (ONE_EPOCH, SPENT))
    notebook.cells = [before, *notebook.cells, after]
    return notebook


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package as in a wheel, and nothing else of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    for ours, theirs in ({"labkit": "labkit"} | told["sources"]).items():
        leave = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / ours, folder / theirs, ignore=leave, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def runs(wheel: Path, request: pytest.FixtureRequest) -> Iterator[dict[Path, Future[Any]]]:
    """The requested solutions, running two at a time with the package of the wheel and without a network."""
    mine = [item for item in request.session.items if item.path == request.path and "runs" in item.fixturenames]
    asked = [item.callspec.params["source"] for item in mine]
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(2) as pool:
        for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
            patch.setenv(name, "http://127.0.0.1:9")
        for name in ("LABKIT_DATA", "LABKIT_ANSWERS"):
            patch.delenv(name, raising=False)
        for name, value in {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(wheel)}.items():
            patch.setenv(name, value)
        # set here too, so that a run that ends does not unset them for the other
        for name, value in {"PLOTLY_RENDERER": "plotly_mimetype", "TQDM_DISABLE": "1"}.items():
            patch.setenv(name, value)
        yield {source: pool.submit(run_notebook, short(solution(read_source(source)))) for source in asked}


@each
@pytest.mark.whole
def test_the_solution_runs_without_errors(source: Path, runs: dict[Path, Future[Any]], record_property) -> None:
    done, _ = runs[source].result()
    memory, seconds = ast.literal_eval(done.cells.pop().outputs[0].data["text/plain"])
    record_property("took", f"{source.stem} {seconds:.0f} CPU s, {memory / 2**10:.0f} MB")
    assert 1024 * memory < MOST_MEMORY
    outputs = [out for cell in done.cells if cell.cell_type == "code" for out in cell.outputs]
    assert not [out for out in outputs if out.get("name") == "stderr" or out.output_type == "error"]
    said = [str(out.get("data", {}).get("text/plain", "")) for out in outputs]
    assert not [line for line in said if line.startswith(("✗", "○"))]
    assert [key for key in questions_in(source) if not any(line.startswith(f"✓ {key}:") for line in said)] == []
    recalled = "\n".join(line for line in said if "predicted" in line)
    assert [key for key in PREDICTED.findall(source.read_text("utf-8")) if f"{key}: " not in recalled] == []


@each
def test_imports_of_a_notebook_work(source: Path) -> None:
    """All imports, including those in functions: a renaming shows here which notebooks it breaks."""
    cells = [solved(cell.source) for cell in read_source(source).cells if cell.cell_type == "code"]
    nodes = [node for code in cells for node in ast.walk(ast.parse(code))]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    assert imports
    exec(compile(ast.Module(imports, []), source.stem, "exec"), {})


@each
def test_stored_notebooks_match_their_source(source: Path) -> None:
    for folder, how in ((NOTEBOOKS, student), (NOTEBOOKS / "solutions", solution)):
        kept = nbformat.read(folder / f"{source.stem}.ipynb", as_version=4)
        assert kept.metadata["labkit"]["fingerprint"] == fingerprint(source), "stale: run `make notebooks`"
        wanted = [(cell.cell_type, cell.source) for cell in how(read_source(source)).cells]
        assert [(cell.cell_type, cell.source) for cell in kept.cells] == wanted, "edited by hand: run `make notebooks`"
        nbformat.validate(kept)
        outputs = [out for cell in kept.cells for out in cell.get("outputs", [])]
        assert not [out for out in outputs if out.get("name") == "stderr" or out.output_type == "error"]
        assert bool(outputs) == (how is solution)


@each
def test_solutions_show_pictures_and_sliders(source: Path) -> None:
    """Where no program runs, figures are images with alternative texts, and sliders are still shown."""
    kept = nbformat.read(NOTEBOOKS / "solutions" / f"{source.stem}.ipynb", as_version=4)
    outputs = [out for cell in kept.cells for out in cell.get("outputs", [])]
    figures = [out for out in outputs if "application/vnd.plotly.v1+json" in out.get("data", {})]
    assert figures
    alternatives = [out.metadata["image/png"]["alt"] for out in figures if "image/png" in out.data]
    assert len(alternatives) == len(figures)
    assert all(alternatives)
    explored = any(re.search(r"^explore\(", cell.source, re.MULTILINE) for cell in kept.cells)
    widgets = kept.metadata.get("widgets", {}).get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    assert any("Slider" in model["model_name"] for model in widgets.values()) == explored


def test_an_undecided_comparison_has_no_winner() -> None:
    """What notebook 02 recalls of its three encoders agrees with the table, whatever its results."""
    (cell,) = (solved(cell.source) for cell in read_source(SOURCES[2]).cells if 'recall("02.a"' in cell.source)
    names = ("CNN", "LSTM", "BiLSTM with attention")

    def recalled(*figures: tuple[float, ...]) -> str:
        said: list[str] = []
        cells = {
            name: {seed: {"auc": one} for seed, one in enumerate(each)}
            for name, each in zip(names, figures, strict=True)
        }
        here = {"encoders": Figures("t", "f", cells, {})}
        exec(cell, here | {"recall": lambda key, truth: said.append(truth)})
        return said[0]

    assert recalled((0.80, 0.81, 0.82), (0.70, 0.711, 0.72), (0.60, 0.611, 0.62)) == "CNN"
    assert recalled((0.80, 0.81, 0.82), (0.70, 0.711, 0.72), (0.81, 0.81, 0.82)) == "CNN or BiLSTM with attention"


def test_notebooks_lessons_and_their_pages_refer_to_each_other() -> None:
    names = {source.stem for source in SOURCES}
    teaching, overview = ((NOTEBOOKS / page).read_text("utf-8") for page in ("TEACHING.md", "README.md"))
    assert set(re.findall(r"`(\d\d_\w+)`", overview)) == names
    assert set(re.findall(r"`(\d\d_\w+)`", teaching)) <= names
    predictions = [key for source in SOURCES for key in PREDICTED.findall(source.read_text("utf-8"))]
    known = {*questions(), *predictions}
    assert set(re.findall(r"\b\d\d\.(?:\d{1,2}\b|[a-g]\b)", teaching)) <= known
    assert [key for key in predictions if f"| {key} |" not in teaching] == []
