"""Runs to choose from: the bundled ones first, then the folders', the newest first; in a classroom nobody names one."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import streamlit as st
from trainings.owners import OWNERS, Owned, write_owned

from labkit.corpora import load
from labkit.lab.shipped import DEMONSTRATIONS, Demonstration
from labkit.methods import METHODS

from .conftest import Opened, fine


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two bundled runs, on two corpora, and two of a visitor, the older one called as a bundled one."""
    demonstrations = [Demonstration("tfidf", corpus) for corpus in ("captions", "questions")]
    monkeypatch.setattr("labkit.lab.shipped.runs.RUNS", tmp_path / "lab")
    for name in list(DEMONSTRATIONS)[::-1]:  # they come back in their order
        monkeypatch.delitem(DEMONSTRATIONS, name)
    for run in [*demonstrations, Demonstration("lsa", "topics")]:  # the last one is not there
        monkeypatch.setitem(DEMONSTRATIONS, run.name, run)
    method = METHODS["tfidf"]()
    method.fit(load("captions"))
    for folder in (*(run.folder for run in demonstrations), tmp_path / "mine" / "tfidf-captions"):
        method.save(folder)
    method.save(tmp_path / "mine" / "newer")
    os.utime(tmp_path / "mine" / "tfidf-captions" / "run.json", (1, 1))
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "mine"))
    return tmp_path


def test_bundled_runs_of_the_corpus_come_first_and_then_the_newest(opened: Opened, lab: Path) -> None:
    page = fine(opened("pairs_page", corpus="questions", vectors="a stored run").run())
    box = page.selectbox(key="run")
    assert [option.split(" (")[0] for option in box.options] == [
        "tfidf-questions", "tfidf-captions", "newer", "tfidf-captions · mine",
    ]  # fmt: skip
    assert box.value == "tfidf-questions"
    assert page.text_input(key="folders").value == str(lab / "mine")
    fine(page.selectbox(key="run").set_value("tfidf-captions · mine").run())
    assert any(str(lab / "mine" / "tfidf-captions") in code.value for code in page.code)


@pytest.mark.parametrize(
    ("module", "address"),
    [
        ("pairs_page", {"vectors": "a stored run", "corpus": "captions"}),
        ("clusters_page", {"left": "a stored run", "right": "nothing", "how": "pca", "corpus": "captions"}),
        ("compare_page", {"corpus": "captions", "view": "Curves"}),
    ],
)
def test_bad_runs_are_named_and_the_others_are_there(
    opened: Opened, lab: Path, module: str, address: dict[str, str]
) -> None:
    for name, content in {"deep": b"[" * 100_000, "cut": b'{"schema": 1', "<b>": b"{}", "fourth": b"[]"}.items():
        (lab / "mine" / name).mkdir()
        (lab / "mine" / name / "run.json").write_bytes(content)
    page = fine(opened(module, **address).run())
    said = page.sidebar.warning[0].value
    assert all(f"**{name}**" in said for name in ("cut", "deep", r"\<b\>"))
    assert "1 more" in said
    boxes = [*page.selectbox, *page.multiselect]
    assert any("newer" in box.options for box in boxes)
    assert not any("deep" in box.options for box in boxes)


def test_in_a_classroom_a_run_is_its_visitors_until_it_is_shared(
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
    sys.modules["classroom"].PRESENT.guarded = True
    assert seen()
    monkeypatch.setenv("LABKIT_CLASSROOM", "")
    headers.clear()
    assert seen()
