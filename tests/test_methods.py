"""The table of methods, and how it is reached."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import labkit
from labkit.corpora import Labelled
from labkit.corpora.table import DATA
from labkit.method import Method
from labkit.methods import METHODS, Entry, load
from labkit.runs import read_run, write_run

CORPUS = Labelled(["a red cat", "a red dog", "the blue sky", "the blue lake"], ["x", "x", "y", "y"])


def test_every_line_is_a_method_under_its_own_name() -> None:
    for name, entry in METHODS.items():
        assert isinstance(entry, Entry)
        assert entry.name == name == entry.method.name
        assert issubclass(entry.method, Method)
        assert isinstance(entry(), entry.method)
        assert entry() is not entry()


def test_calling_a_line_sets_and_checks() -> None:
    assert METHODS["lsa"](dimension="7").settings.dimension == 7
    with pytest.raises(ValueError, match="'dimensions'.*'dimension'"):
        METHODS["lsa"](dimensions=7)


def test_any_run_is_opened_by_its_own_method(tmp_path: Path) -> None:
    for name in ("tfidf", "lsa"):
        method = METHODS[name]()
        method.fit(CORPUS)
        method.save(tmp_path / name)
        assert type(load(tmp_path / name)) is type(method)


@pytest.mark.parametrize(
    "folder", sorted(path.parent for path in (DATA / "runs").glob("*/run.json")), ids=lambda f: f.name
)
def test_a_bundled_run_opens_with_the_settings_of_its_time(folder: Path) -> None:
    method = load(folder)
    written = method.Settings.renamed(json.loads((folder / "run.json").read_text())["settings"])
    settings = method.settings.values()
    assert {name: settings[name] for name in written} == written
    if "miner" in written and "temperature" not in written:  # before losses had a usual one
        assert settings["temperature"] == 1.0
    assert np.isfinite(method.encode(["a red cat"])).all()


def test_a_run_of_an_unknown_method(tmp_path: Path) -> None:
    method = METHODS["tfidf"]()
    method.fit(CORPUS)
    method.save(tmp_path / "run")
    write_run(replace(read_run(tmp_path / "run"), method="later"), tmp_path / "run")
    with pytest.raises(ValueError, match="'later'"):
        load(tmp_path / "run")
    with pytest.raises(ValueError, match="no such"):
        load(tmp_path / "no such")


@pytest.mark.whole
def test_labkit_has_the_table_and_opens_it_only_when_asked() -> None:
    assert labkit.METHODS is METHODS
    with pytest.raises(AttributeError, match="METHOD"):
        labkit.METHOD  # noqa: B018
    heavy = "[name for name in ('torch', 'sklearn', 'labkit.methods') if name in sys.modules]"
    program = f"import sys, labkit; print({heavy}); labkit.METHODS['tfidf']; print({heavy})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, after = done.stdout.splitlines()
    assert before == "[]"
    assert "labkit.methods" in after


@pytest.mark.whole
def test_commands_corpora_and_evaluation_start_without_torch() -> None:
    modules = "labkit.corpora, labkit.lab.shipped.cards, labkit.lab.cli.main, labkit.evaluation"
    program = f"import sys, {modules}; print('labkit.methods' in sys.modules or 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
