"""Packaging: the contents of the wheel and the source archive, and the installed wheel in an empty folder."""

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
from tests.waiting import HANG

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
STRAYS = (
    "secret.csv", ".env", "notes.md", "runs/a/run.json", "lab/00_tour.ipynb", "data/secret.csv",
    "data/runs/a/notes.txt", "notebooks/mine.ipynb", "notebooks/.ipynb_checkpoints/00_tour-checkpoint.ipynb",
    "labkit/notes.txt", "labkit/__pycache__/cli.cpython-311.pyc", "app/.streamlit/secrets.toml", "tests/out.json",
)  # fmt: skip


def test_no_page_tells_readers_to_install_the_other_labkit() -> None:
    """On the package index, that name belongs to another project."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.md")]
    assert PROJECT["name"] == "labkit-embeddings"
    for page in pages:
        assert not re.search(r"pip3? install [^`\n]*\blabkit(?![\w/-])", page.read_text("utf-8")), page.name


def test_one_version_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert PROJECT["version"] == labkit.__version__ == citation["version"]
    assert f"[{labkit.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def littered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A checkout with stray files, and the names of the tracked files."""
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
    """The contents of a wheel or source archive of this checkout: name in the archive -> file here."""
    builders = pytest.importorskip(f"hatchling.builders.{kind}")
    builder = getattr(builders, f"{kind.capitalize()}Builder")(str(root))
    return {file.distribution_path: file.path for file in builder.recurse_included_files()}


def test_the_source_archive_has_exactly_the_tracked_files(littered: tuple[Path, set[str]]) -> None:
    root, tracked = littered
    assert set(handed_out(root, "sdist")) == tracked


def test_the_wheel_has_app_notebooks_and_data_and_no_stray_files(littered: tuple[Path, set[str]]) -> None:
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
    assert not [name for name in expected if name.endswith((".pkl", ".pickle", ".pt"))]


# --- the core without extras ------------------------------------------------------------------------------------------

OPTIONAL = (
    "IPython", "accelerate", "datasets", "faiss", "huggingface_hub", "jupytext", "mteb", "mwparserfromhell", "numba",
    "onnx", "onnxruntime", "openTSNE", "optuna", "peft", "plotly", "polars", "pooch", "pynndescent", "ray", "s2cell",
    "sentence_transformers", "streamlit", "transformers", "umap",
)  # fmt: skip
CORE = f"""
import pkgutil, sys
from importlib import import_module
sys.modules.update(dict.fromkeys({OPTIONAL!r}))  # as if they were not installed
import labkit
from labkit.cli.main import main
for module in pkgutil.walk_packages(labkit.__path__, "labkit."):
    if not module.name.endswith("__main__"):
        try:
            import_module(module.name)
        except ImportError as error:
            print(module.name, error)
sys.argv[1:] = ["train", "bag", "--corpus", "relatedness", "--epochs", "1", "--out", "run", "--quiet"]
main()
"""


def test_the_core_works_without_the_extras(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", CORE], cwd=tmp_path, capture_output=True, text=True, timeout=HANG, check=False
    )
    refused = [line.split()[0] for line in done.stdout.splitlines() if "pip install" in line]
    assert refused == ["labkit.figures", "labkit.thematic.wikitext"], done.stdout + done.stderr
    assert (tmp_path / "run" / "run.json").is_file()


def test_each_required_extra_has_its_package() -> None:
    extras = PROJECT["optional-dependencies"]
    asked = re.findall(
        r'require\("([a-z]+)", "(\w+)"', "".join(p.read_text("utf-8") for p in ROOT.glob("labkit/**/*.py"))
    )
    named = {"umap": "umap-learn", "faiss": "faiss-cpu"}
    for extra, package in asked:
        if extra != "plots" or package != "no_such_package":  # an example
            name = named.get(package, package).replace("_", "-")
            assert any(each.startswith(name) for each in extras[extra]), (extra, package)


# --- installed -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(littered: tuple[Path, set[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like the one into which the wheel is installed."""
    folder = tmp_path_factory.mktemp("site")
    for name, file in handed_out(littered[0], "wheel").items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / name)
    return folder


def run(site: Path, here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in this folder with that package."""
    environment = os.environ | {"PYTHONPATH": str(site)}
    command = [sys.executable, "-P", *words]
    return subprocess.run(command, cwd=here, env=environment, capture_output=True, text=True, timeout=HANG, check=False)


PAGE = """
import labkit
from labkit.cli.launch import APP
from streamlit import config
from streamlit.testing.v1 import AppTest
config.set_option("server.address", "127.0.0.1")  # as app/.streamlit says where a server reads it
at = AppTest.from_file(str(APP / "main.py"), default_timeout=1200).run()
print(labkit.__file__, [mistake.value for mistake in (*at.error, *at.exception)], at.markdown[0].value)
"""


@pytest.mark.whole
def test_the_first_page_opens_in_an_empty_folder(site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, "-c", PAGE)
    assert done.returncode == 0, done.stderr[-2000:]
    file, said = done.stdout.split(" ", 1)
    assert Path(file).parent == site / "labkit"
    assert said.startswith("[] ")
    assert list(tmp_path.iterdir()) == []


def test_notebooks_and_data_are_available_from_the_wheel_in_an_empty_folder(site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, "-m", "labkit", "lab", "--copy-only")
    assert (done.returncode, done.stderr) == (0, "")
    names = sorted(path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb"))
    assert sorted(path.name for path in (tmp_path / "lab").iterdir()) == names
    for name in names:
        assert (tmp_path / "lab" / name).read_bytes() == (ROOT / "notebooks" / name).read_bytes()
    done = run(site, tmp_path, "-m", "labkit", "data", "check", "topics", "--json")
    assert (done.returncode, '"rows": 2000' in done.stdout) == (0, True)


@pytest.mark.whole
@pytest.mark.parametrize("init", ['__version__ = "0.0.3"\n', None])
def test_a_package_with_the_same_name_is_recognised(site: Path, tmp_path: Path, init: str | None) -> None:
    left_out = shutil.ignore_patterns("_*s", "_data", "_app", "__init__.py")
    shutil.copytree(site / "labkit", tmp_path / "labkit", ignore=left_out)
    if init is not None:  # installed over ours; if None, uninstalled, together with ours
        (tmp_path / "labkit" / "__init__.py").write_text(init)
    done = run(tmp_path, tmp_path, "-S", "-m", "labkit", "--version")  # -S: without other packages
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
