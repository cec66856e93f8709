"""Runs to choose from: those that come with the lab first, then the folders'; in a classroom nobody names a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import streamlit as st
from trainings.owners import OWNERS, Owned, write_owned

from labkit.corpora import load
from labkit.lab.shipped import DEMONSTRATIONS, Demonstration
from labkit.locks import Hold
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.runs import write_run

from .conftest import Opened


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs that come with the lab, on two corpora, and one of a visitor that is called as one of them."""
    demonstrations = [Demonstration("tfidf", corpus) for corpus in ("captions", "questions")]
    gone = Demonstration("lsa", "topics")
    monkeypatch.setattr("labkit.lab.shipped.runs.RUNS", tmp_path / "lab")
    for name in list(DEMONSTRATIONS)[::-1]:  # they come back in their order
        monkeypatch.delitem(DEMONSTRATIONS, name)
    for run in [*demonstrations, gone]:
        monkeypatch.setitem(DEMONSTRATIONS, run.name, run)
    for run in demonstrations:
        method = METHODS["tfidf"]()
        method.fit(load(run.corpus))
        for folder in (run.folder, tmp_path / "mine" / "tfidf-captions", tmp_path / "mine" / "newer"):
            method.save(folder) if not folder.exists() else None
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "mine"))
    return tmp_path


def test_the_labs_own_come_first_and_without_a_folder_typed(opened: Opened, lab: Path) -> None:
    page = opened("pairs_page", corpus="questions", vectors="a stored run").run()
    assert not page.exception
    assert [error.value for error in page.error] == []
    box = page.selectbox(key="run")
    assert box.options[:2] == ["tfidf-questions (comes with the lab)", "tfidf-captions (comes with the lab)"]
    assert sorted(box.options[2:]) == ["newer", "tfidf-captions · mine"]
    assert box.value == "tfidf-questions"
    assert page.text_input(key="folders").value == str(lab / "mine")
    page.selectbox(key="run").set_value("tfidf-captions · mine").run()
    assert not page.error
    assert any(str(lab / "mine" / "tfidf-captions") in code.value for code in page.code)


@pytest.mark.parametrize(
    ("module", "address"),
    [
        ("pairs_page", {"vectors": "a stored run", "corpus": "captions"}),
        ("clusters_page", {"left": "a stored run", "right": "nothing", "how": "pca", "corpus": "captions"}),
        ("compare_page", {"corpus": "captions"}),
        ("compare_page", {"corpus": "captions", "view": "Curves"}),
    ],
)
def test_bad_runs_are_named_and_the_others_are_there(
    opened: Opened, lab: Path, module: str, address: dict[str, str]
) -> None:
    for name, content in {"deep": b"[" * 100_000, "cut": b'{"schema": 1', "<b>": b"{}", "fourth": b"[]"}.items():
        (lab / "mine" / name).mkdir()
        (lab / "mine" / name / "run.json").write_bytes(content)
    page = opened(module, **address)
    page.run()
    assert not page.exception
    assert not page.error
    said = page.sidebar.warning[0].value
    assert said.startswith("Left out, as they cannot be used:")
    assert "**cut** cannot be read: run.json" in said
    assert "**deep** cannot be read: run.json" in said
    assert r"**\<b\>** cannot be read" in said
    assert "and 1 more" in said
    boxes = [*page.selectbox, *page.multiselect]
    assert any("newer" in box.options for box in boxes)
    assert not any("deep" in box.options for box in boxes)


def test_in_a_classroom_nobody_names_a_folder(opened: Opened, lab: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LABKIT_CLASSROOM", "1")
    page = opened("pairs_page", vectors="a stored run", folders="/").run()
    assert [error.value for error in page.error] == []
    assert not page.text_input
    assert "newer" in page.selectbox(key="run").options


def test_in_a_classroom_a_visitors_run_is_his_until_he_shares_it(
    opened: Opened, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABKIT_CLASSROOM", "1")
    headers = {"x-labkit-visitor": "b", "x-labkit-role": "visitor"}
    monkeypatch.setattr(type(st.context), "headers", property(lambda self: headers))
    newer, page = lab / "mine" / "newer", opened("pairs_page", vectors="a stored run")

    def seen() -> bool:
        return "newer" in page.run().selectbox(key="run").options

    assert seen()  # no visitor trained it
    write_owned(Owned(newer, "a"))
    assert not seen()
    write_owned(Owned(newer, "a", shared=True))
    assert seen()
    write_owned(Owned(newer, "b"))
    assert seen()
    (lab / "mine" / OWNERS / "newer.json").write_text("{")
    headers["x-labkit-visitor"] = ""
    assert not seen()
    headers["x-labkit-role"] = "teacher"
    assert not seen()  # without the guard nobody is one
    sys.modules["classroom"].PRESENT.guarded = True  # type: ignore[attr-defined]
    assert seen()
    monkeypatch.setenv("LABKIT_CLASSROOM", "")
    headers.clear()
    assert seen()


def test_a_run_that_is_being_trained_is_said_to_be(opened: Opened, lab: Path) -> None:
    folder = lab / "mine" / "newer"
    write_run(load_run(folder).run("training"), folder)
    with Hold(folder):
        page = opened("pairs_page", vectors="a stored run", corpus="captions")
        page.run()
        assert not page.exception
        said = [caption.value for caption in page.sidebar.caption]
        assert any(f"newer is being trained by process {os.getpid()} on " in line for line in said)
    page.run()
    assert not any("being trained" in caption.value for caption in page.sidebar.caption)
