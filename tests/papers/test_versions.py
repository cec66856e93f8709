"""Whose code has been spoken for: what counts as code, and what a change does to a cell's name."""

from __future__ import annotations

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
