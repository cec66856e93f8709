"""Whose code has been spoken for: what counts as code, and what a change does to a cell's name."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from labkit.methods import METHODS
from labkit.papers import versions
from labkit.papers.versions import areas, code_of, digest_of, state, versions_of


def test_all_code_that_cells_depend_on_has_been_spoken_for() -> None:
    """After a change of code: `python -m labkit.papers.versions same`, or `changed` if figures are others now."""
    stated = json.loads(versions.STATED.read_text())
    assert set(stated) == set(areas())
    assert [area for area in areas() if stated[area]["digest"] != digest_of(area)] == []
    for name in METHODS:
        assert versions_of(name) == {area: str(stated[area]["version"]) for area in versions_of(name)}
        assert len(versions_of(name)) == 2  # what all share, and its own
    assert set(versions_of("")) == {"shared"}


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of two files that has been spoken for."""
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "losses.py").write_text('def push(s):\n    """Away."""\n    return +s\n')
    (tmp_path / "methods").mkdir()
    (tmp_path / "methods" / "film.py").write_text("rank = 3\n")
    monkeypatch.setattr(versions, "PACKAGE", tmp_path)
    monkeypatch.setattr(versions, "STATED", tmp_path / "versions.json")
    monkeypatch.setattr(versions, "areas", lambda: {"shared": ("pairs",), "film": ("methods/film.py",)})
    versions._version.cache_clear()
    assert state(changed=False) == ["shared", "film"]
    yield tmp_path
    versions._version.cache_clear()


def test_a_turned_sign_is_another_version_until_somebody_speaks_for_it(copy: Path) -> None:
    assert versions_of("film") == {"shared": "1", "film": "1"}
    losses = copy / "pairs" / "losses.py"
    losses.write_text('def push(s):\n    """Away, always."""\n\n    return +s  # plus\n')
    versions._version.cache_clear()
    assert versions_of("film") == {"shared": "1", "film": "1"}  # words are no code
    losses.write_text("def push(s):\n    return -s\n")
    versions._version.cache_clear()
    unspoken = versions_of("film")["shared"]
    assert len(unspoken) == 20
    assert state(changed=True) == ["shared"]
    assert versions_of("film") == {"shared": "2", "film": "1"}
    losses.write_text("def push(t):\n    return -t\n")
    versions._version.cache_clear()
    assert state(changed=False) == ["shared"]
    assert versions_of("film") == {"shared": "2", "film": "1"}
    assert state(changed=True) == []


def test_code_keeps_strings_and_indents() -> None:
    assert code_of("x = '# no comment'\n") == "x = '# no comment'"
    assert code_of('if x:\n    """Said."""\n    y = 1\n') == 'if x:\n    """Said."""\n    y = 1'  # no docstring
    assert code_of("class A:\n    'What.'\n    b = 1\n") == "class A:\n    b = 1"


#: held by the fingerprint of the data or by the settings, or no figure depends on it
ELSEWHERE = (
    "atomic.py", "compiled.py", "corpora/", "embedding_files/", "history.py", "holding.py", "methods/__init__.py",
    "notes.py", "papers/desk.py", "papers/records.py", "papers/versions.py", "progress.py", "runs.py", "settings.py",
    "stopping.py",
)  # fmt: skip
#: what recipes import, and only cells of the methods beside it execute
OF_METHODS = ("film/", "locally_linear/", "methods/film.py", "methods/pthought.py", "sweeps.py")


def imported(file: Path) -> set[str]:
    """The files of the package that this one imports, at its top or later; of a package those that it names."""

    def places(module: str, name: str) -> set[str]:
        for path in (Path(*module.split("."), name), Path(*module.split("."))):
            for found in (path.with_suffix(".py"), path / "__init__.py"):
                if (versions.PACKAGE.parent / found).is_file():
                    if found.name != "__init__.py" or path.name == name:
                        return {found.relative_to("labkit").as_posix()}
                    tree = ast.parse((versions.PACKAGE.parent / found).read_text())
                    froms = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module)
                    where = {node.module: places(node.module, name) for node in froms  # type: ignore[misc,arg-type]
                             if any(alias.name == name for alias in node.names) and node.module != module}  # fmt: skip
                    return set().union(*where.values()) or {found.relative_to("labkit").as_posix()}
        return set()

    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("labkit"):
            for alias in node.names:
                found |= places(str(node.module), alias.name)
    return found


@pytest.mark.parametrize("area", list(areas()))
def test_what_covered_code_imports_is_covered(area: str) -> None:
    """Else old figures are served as those of changed code."""

    def files(name: str) -> set[str]:
        paths = [versions.PACKAGE / place for place in areas()[name]]
        every = [file for path in paths for file in (path.rglob("*.py") if path.is_dir() else [path])]
        return {file.relative_to(versions.PACKAGE).as_posix() for file in every}

    covered = files("shared") | files(area)
    wants = {place: file for file in files(area) for place in imported(versions.PACKAGE / file)}
    left = {place: file for place, file in wants.items() if place not in covered and not place.startswith(ELSEWHERE)}
    if area == "shared":
        left = {place: file for place, file in left.items() if not place.startswith(OF_METHODS)}
    assert left == {}


def test_what_stands_in_for_a_base_or_in_a_sweep_is_covered() -> None:
    """These are imported by name, or by a recipe."""
    from labkit.methods.film_deep import FilmDeepSettings

    assert f"methods/{FilmDeepSettings().base}.py" in areas()["film_deep"]
    assert "sweeps.py" in areas()["sbert"]


def test_files_below_a_folder_are_covered(copy: Path) -> None:
    (copy / "pairs" / "more").mkdir()
    before = digest_of("shared")
    (copy / "pairs" / "more" / "deep.py").write_text("x = 1\n")
    assert digest_of("shared") != before
