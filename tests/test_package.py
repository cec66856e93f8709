"""What is handed out: the package's name, what the wheel and the source archive hold, what stands beside the code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import labkit
from labkit.lab.papers.published import PAPERS
from tests.waiting import HANG

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PEERS = {"build", "pymanopt", "geoopt", "polars", "datasets"}  # asked for by name, and no dependencies of ours
STRAYS = (
    "secret.csv", ".env", "notes.md", "runs/a/run.json", "lab/00_tour.ipynb", "data/secret.csv",
    "data/runs/a/notes.txt", "notebooks/mine.ipynb", "notebooks/.ipynb_checkpoints/00_tour-checkpoint.ipynb",
    "labkit/notes.txt", "labkit/__pycache__/cli.cpython-311.pyc", "app/.streamlit/secrets.toml", "tests/out.json",
)  # fmt: skip


# --- names -----------------------------------------------------------------------------------------------------------


def bare(requirement: str) -> str:
    """The name in a requirement, as package indices compare it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[<>=!~; ]", requirement)[0]).lower()


def asked_for(text: str) -> list[str]:
    """What the `pip install` lines of a text would fetch from an index."""
    words = []
    for line in re.findall(r"pip3? install ([^`\\\n()#]*)", text):
        line = re.sub(r"(--constraint|-c) \S+", "", line)
        words += [
            next(filter(None, found)) for found in re.findall(r"'([^']+)'|\"([^\"]+)\"|([\w.$/{<>=!~,\[\]-]+)", line)
        ]
    local = ("-", ".", "$", "{")  # options, folders, make's variables, what a program fills in
    return [word for word in words if not word.startswith(local) and ".whl" not in word]


def test_what_is_asked_for_is_read() -> None:
    said = "`pip install 'a[x]>=2,<3' b --quiet` or pip install -e '.[c]' (pip install d), f\"pip install {e}\""
    assert asked_for(said) == ["a[x]>=2,<3", "b", "d"]
    assert asked_for("    pip install torch==2 --constraint FILE   # of PyTorch\n") == ["torch==2"]


def test_nobody_is_told_to_install_a_strangers_package() -> None:
    extras = [each for group in PROJECT["optional-dependencies"].values() for each in group]
    allowed = {bare(each) for each in (*PROJECT["dependencies"], *extras)} | PEERS
    assert "labkit" not in allowed | {bare(PROJECT["name"])}  # that name is another package's
    folders = ("labkit", "app", "docs", "data", "notebooks", "benchmarks", "tests")
    texts = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md", ".ipynb")
    ]
    texts += [*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / ".ci" / "run"]
    told = {
        (str(path.relative_to(ROOT)), name)
        for path in texts
        if path != Path(__file__)
        for name in map(bare, asked_for(path.read_text("utf-8")))
    }
    assert len(told) > 8
    assert {(path, name) for path, name in told if name not in allowed} == set()


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert PROJECT["version"] == labkit.__version__ == citation["version"]
    assert f"[{labkit.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert PROJECT["authors"] == [{"name": author["name"]} for author in citation["authors"]]


def test_the_five_papers_are_cited_as_the_tables_cite_them() -> None:
    references = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["references"]
    printed = {paper.citation for name, paper in PAPERS.items() if name != "why"}  # which no paper asks
    assert len(references) == len(printed) == 5
    for each in references:
        authors = ", ".join(f"{author['given-names']} {author['family-names']}" for author in each["authors"])
        (cited,) = (line for line in printed if line.startswith(f"{authors}. {each['title']}. "))
        assert cited.endswith(f"{each['year']}.")


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def littered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A checkout in which more lies about than belongs to it; and what belongs to it."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("needs a checkout, whose files git lists")
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    tracked = {name for name in listed if name and (ROOT / name).is_file()}
    copy = tmp_path_factory.mktemp("checkout")
    for name in tracked:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).symlink_to(ROOT / name)
    for name in STRAYS:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_text("nobody else's business\n")
    return copy, tracked


def handed_out(root: Path, kind: str) -> dict[str, str]:
    """What a wheel or a source archive of this checkout holds: the name there -> the file here."""
    builders = pytest.importorskip(f"hatchling.builders.{kind}")
    builder = getattr(builders, f"{kind.capitalize()}Builder")(str(root))
    return {file.distribution_path: file.path for file in builder.recurse_included_files()}


def test_the_source_archive_is_what_is_tracked_and_nothing_that_lies_about(littered: tuple[Path, set[str]]) -> None:
    root, tracked = littered
    assert set(handed_out(root, "sdist")) == tracked


def test_the_wheel_has_app_notebooks_and_data_and_nothing_that_lies_about(littered: tuple[Path, set[str]]) -> None:
    root, tracked = littered
    inside = {
        "app/": "labkit/_app/",
        "data/": "labkit/_data/",
        "notebooks/": "labkit/_notebooks/",
        "labkit/": "labkit/",
    }
    expected = {
        name.replace(ours, there, 1) for name in tracked for ours, there in inside.items() if name.startswith(ours)
    }
    assert set(handed_out(root, "wheel")) == expected
    assert {"labkit/py.typed", "labkit/_app/main.py", "labkit/_app/.streamlit/config.toml"} <= expected


# --- installed -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(littered: tuple[Path, set[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what installing the wheel puts into one."""
    folder = tmp_path_factory.mktemp("site")
    for name, file in handed_out(littered[0], "wheel").items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / name)
    return folder


def run(site: Path, here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What Python does in this folder with that package."""
    environment = os.environ | {"PYTHONPATH": str(site)}
    command = [sys.executable, "-P", *words]
    return subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, timeout=HANG, check=False)


PAGE = """
import labkit
from labkit.lab.cli.main import APP
from streamlit import config
from streamlit.testing.v1 import AppTest
config.set_option("server.address", "127.0.0.1")  # as app/.streamlit says where a server reads it
at = AppTest.from_file(str(APP / "main.py"), default_timeout=1200).run()
print(labkit.__file__, [mistake.value for mistake in (*at.error, *at.exception)], at.markdown[0].value)
"""


@pytest.mark.whole
def test_the_first_page_stands_in_an_empty_folder(site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, "-c", PAGE)
    assert done.returncode == 0, done.stderr[-2000:]
    file, said = done.stdout.split(" ", 1)
    assert Path(file).parent == site / "labkit"
    assert said.startswith("[] ### Clusters")
    assert list(tmp_path.iterdir()) == []


def test_notebooks_and_assignments_come_out_of_the_wheel_into_an_empty_folder(site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, "-m", "labkit", "lab", "--copy-only")
    assert (done.returncode, done.stderr) == (0, "")
    names = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert sorted(path.name for path in (tmp_path / "lab").iterdir()) == names
    for name in names:
        assert (tmp_path / "lab" / name).read_bytes() == (ROOT / "notebooks" / name).read_bytes()
    done = run(site, tmp_path, "-m", "labkit", "class", "assign", "08", "out", "--to", "otter")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out" / "student" / "08_word_vectors.ipynb").is_file()


STRANGERS = '__version__ = "0.0.3"\n'


@pytest.mark.whole
@pytest.mark.parametrize("init", [STRANGERS, None])
def test_a_stranger_of_the_same_name_is_told_from_this_lab(site: Path, tmp_path: Path, init: str | None) -> None:
    shutil.copytree(
        site / "labkit", tmp_path / "labkit", ignore=shutil.ignore_patterns("_*s", "_data", "_app", "__init__.py")
    )
    if init is not None:  # installed after ours; without it, uninstalled, and ours with it
        (tmp_path / "labkit" / "__init__.py").write_text(init)
    done = run(tmp_path, tmp_path, "-S", "-m", "labkit", "--version")  # -S: none but this one
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("labkit: what is imported as labkit is not this lab")
