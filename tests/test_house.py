"""How the code stands: no circle, a library that does not know the lab, whole sentences; and faults are seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import house


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert house.circles() == []


def test_the_library_knows_nothing_of_the_lab_or_the_app() -> None:
    """Only `python -m labkit` and the console script open the lab; imports inside functions count."""
    assert house.upward() == []


def test_every_docstring_is_a_sentence_that_stands_alone() -> None:
    assert house.fragments() == []


def test_a_name_that_stands_in_two_modules_has_a_reason() -> None:
    assert set(house.defined_twice()) == set(house.TWICE)


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A house of few modules with one fault of each kind."""
    files = {
        "labkit/__init__.py": "",
        "labkit/__main__.py": "from labkit.lab.cli import main\n",
        "labkit/one.py": "from labkit.two import b\na = 1\ndef push():\n    pass\n",
        "labkit/two.py": (
            "from typing import TYPE_CHECKING\nfrom labkit import one\n"
            "if TYPE_CHECKING:\n    from labkit.lab import cli\n"
        ),
        "labkit/three.py": "def f():\n    from labkit.lab import cli\n    import brush\ndef push():\n    pass\n",
        "labkit/four.py": (
            'def f():\n    """And back."""\ndef g():\n    """Of rows, the lengths."""\n'
            'def h():\n    """Rows turned back."""\n'
        ),
        "labkit/lab/__init__.py": "",
        "labkit/lab/cli.py": "from labkit import four\ndef main():\n    from labkit.lab import cli\n",
        "app/brush.py": "from labkit import four\nclass _Hidden:\n    pass\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(house, "ROOT", tmp_path)
    for kept in (house.modules, house.tree, house.imports):
        kept.cache_clear()
    yield tmp_path
    for kept in (house.modules, house.tree, house.imports):
        kept.cache_clear()


def test_faults_are_seen(small: Path) -> None:
    assert house.circles() == [["labkit.one", "labkit.two"]]
    assert house.upward() == [("labkit.three", "app.brush"), ("labkit.three", "labkit.lab.cli")]
    assert house.fragments() == ["labkit.four.f: And back.", "labkit.four.g: Of rows, the lengths."]
    twice = {name: sorted(where) for name, where in house.defined_twice().items()}
    assert twice == {"f": ["labkit.four", "labkit.three"], "push": ["labkit.one", "labkit.three"]}
    found = house.figures()
    assert (found["files in labkit"], found["files in app"], found["rooms"]) == (8, 1, 2)
    assert found["modules with one importer"] == 2  # one and two, each from the other
