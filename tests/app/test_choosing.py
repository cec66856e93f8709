"""The runs that a page offers: the bundled ones first, then those of the folder, newest first."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import streamlit as st
from trainings import OWNERS, Owned, write_owned

from labkit.corpora import load
from labkit.locks import locked
from labkit.methods import METHODS
from labkit.runs import read_run, write_run
from labkit.shipped import DEMONSTRATIONS, Demonstration

from .conftest import HOSTILE, Opened, fine, with_file


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two bundled runs on two corpora, and two of a user, the older with the name of a bundled run."""
    demonstrations = [Demonstration("tfidf", corpus) for corpus in ("captions", "questions")]
    monkeypatch.setattr("labkit.shipped.runs.RUNS", tmp_path / "lab")
    for name in list(DEMONSTRATIONS)[::-1]:  # undone in reverse, which restores their order
        monkeypatch.delitem(DEMONSTRATIONS, name)
    for run in [*demonstrations, Demonstration("lsa", "topics")]:  # the last one has no files
        monkeypatch.setitem(DEMONSTRATIONS, run.name, run)
    for run in demonstrations[::-1]:
        method = METHODS["tfidf"]()
        method.fit(load(run.corpus))
        method.save(run.folder)
    method.save(tmp_path / "mine" / "tfidf-captions")
    method.save(tmp_path / "mine" / "newer")
    os.utime(tmp_path / "mine" / "tfidf-captions" / "run.json", (1, 1))
    monkeypatch.setenv("LABKIT_RUNS", str(tmp_path / "mine"))
    return tmp_path


def test_bundled_runs_of_the_corpus_come_first_and_then_the_newest(opened: Opened, lab: Path) -> None:
    page = fine(opened("why_page", corpus="captions").run())
    runs = [option for option in page.selectbox(key="vectors").options if option.startswith("run ")]
    assert runs == ["run tfidf-captions", "run newer", "run tfidf-captions · mine"]
    fine(page.selectbox(key="vectors").set_value(runs[2]).run())
    assert any(str(lab / "mine" / "tfidf-captions") in code.value for code in page.code)


def test_runs_are_offered_only_for_the_corpus_that_they_were_trained_on(opened: Opened, lab: Path) -> None:
    for module, box in (("why_page", "vectors"), ("space_page", "left")):
        page = fine(opened(module, corpus="captions", how="pca", **{box: "run newer"}).run())
        assert page.selectbox(key=box).value == "run newer"
        fine(page.selectbox(key="corpus").set_value("questions").run())
        assert "run newer" not in page.selectbox(key=box).options
        assert "newer (captions)" in page.selectbox(key=box).help.replace("\\", "")  # the reason
    box = opened("train_page", corpus="questions", view="Runs").run().multiselect(key="runs")
    assert box.options == ["tfidf-questions"]
    assert "newer (captions)" in box.help.replace("\\", "")


def test_a_run_in_training_is_named_but_not_offered(opened: Opened, lab: Path) -> None:
    folder = lab / "mine" / "newer"
    write_run(replace(read_run(folder), state="training"), folder)
    with locked(folder):
        box = fine(opened("why_page", corpus="captions").run()).selectbox(key="vectors")
        assert "run newer" not in box.options
        assert "newer" in box.help
    box = fine(opened("why_page", corpus="captions").run()).selectbox(key="vectors")
    assert "run newer" in box.options
    assert "newer" not in (box.help or "")


def test_a_run_of_one_file_is_not_offered_for_another_of_the_same_name(opened: Opened, lab: Path) -> None:
    page = with_file(opened("why_page", corpus="your own file"), HOSTILE.encode())
    method = METHODS["tfidf"]()
    method.fit(sys.modules["cached"].uploaded_corpus(page.session_state["file"]).corpus)
    method.save(lab / "mine" / "own")
    assert "run own" in fine(page.run()).selectbox(key="vectors").options
    other = "\n".join(HOSTILE.split("\n")[:-20]).encode()
    page.file_uploader[0].upload("mine.csv", other, "text/csv").run()
    assert "run own" not in fine(page).selectbox(key="vectors").options


def test_a_link_opens_its_run_after_another_training_and_says_if_it_is_gone(opened: Opened, lab: Path) -> None:
    linked = {"corpus": "captions", "left": "run newer", "right": "nothing", "how": "pca"}
    method = METHODS["tfidf"]()
    method.fit(load("captions"))
    method.save(lab / "mine" / "newest")
    page = fine(opened("space_page", **linked).run())
    assert page.selectbox(key="left").value == "run newer"
    assert not page.info
    shutil.rmtree(lab / "mine" / "newer")
    assert "newer" in fine(opened("space_page", **linked).run()).info[0].value


@pytest.mark.parametrize(("module", "view"), [("why_page", ""), ("train_page", "Runs")])
def test_bad_runs_are_named_and_the_others_are_offered(opened: Opened, lab: Path, module: str, view: str) -> None:
    for name, content in {"deep": b"[" * 100_000, "cut": b'{"schema": 1', "<b>": b"{}", "fourth": b"[]"}.items():
        (lab / "mine" / name).mkdir()
        (lab / "mine" / name / "run.json").write_bytes(content)
    page = fine(opened(module, corpus="captions", view=view).run())
    said = page.warning[0].value
    assert all(f"**{name}**" in said for name in ("cut", "deep", r"\<b\>"))
    assert "1 more" in said
    boxes = [*page.selectbox, *page.multiselect]
    assert any("newer" in option for box in boxes for option in box.options)
    assert not {"deep", "run deep"} & {option for box in boxes for option in box.options}


def test_in_a_classroom_a_run_is_private_until_it_is_shared(
    opened: Opened, lab: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABKIT_CLASSROOM", "1")
    headers = {"x-labkit-visitor": "b", "x-labkit-role": "visitor"}
    monkeypatch.setattr(type(st.context), "headers", property(lambda self: headers))
    newer, page = lab / "mine" / "newer", opened("why_page", corpus="captions")

    def seen() -> bool:
        return "run newer" in page.run().selectbox(key="vectors").options

    assert seen()  # it has no owner
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
    assert not seen()  # a role counts only behind the guard
    sys.modules["classroom"].PRESENT.guarded = True
    assert seen()
    monkeypatch.setenv("LABKIT_CLASSROOM", "")
    headers.clear()
    assert seen()
