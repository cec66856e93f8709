"""The frame of all pages: user text is never markup, and saved pictures load nothing from other hosts."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from labkit.figures.drawing import figure_of
from labkit.methods import load_run
from tests.waiting import HANG

from .conftest import APP, fine

MARKUP = "![x](http://evil/a.png) <img src=//evil> [b](http://evil) $x$ `c` **d** :red[e]"


@pytest.fixture
def frame(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(APP))
    sys.modules.pop("frame", None)
    return import_module("frame")


def test_every_import_of_the_app_resolves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages import lazily, so only a visitor would notice a name that has moved."""
    monkeypatch.syspath_prepend(str(APP))
    for file in sorted(APP.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                for each in node.names:
                    import_module(each.name)
            elif isinstance(node, ast.ImportFrom):
                module = import_module(node.module)
                for each in node.names:
                    assert hasattr(module, each.name) or import_module(f"{node.module}.{each.name}"), file


def test_plain_leaves_no_markup(frame: ModuleType) -> None:
    text = frame.plain(MARKUP)
    assert not re.search(r"(?<!\\)[\[\]<>$`*]", text)
    assert re.sub(r"\\(.)", r"\1", text) == MARKUP
    assert "\n" not in frame.plain("a\n# b")


def test_a_picture_has_the_pages_background_and_its_files_have_a_name(frame: ModuleType) -> None:
    def page() -> None:
        import frame

        from labkit.figures.drawing import figure_of

        bars = figure_of([{"type": "bar", "y": [1, 2]}])
        frame.picture(bars, key="bars", alt="Bars of Hit@1: one and two", rows=list)

    chart = fine(AppTest.from_function(page, default_timeout=HANG).run()).get("plotly_chart")[0].proto
    layout = json.loads(chart.spec)["layout"]
    assert {"paper_bgcolor", "plot_bgcolor"}.isdisjoint(layout)  # transparent backgrounds would spoil saved pictures
    assert json.loads(chart.config)["toImageButtonOptions"]["filename"] == "bars"
    assert layout["dragmode"] is False  # no button of the page would undo a zoom
    saved = frame.page_of(go.Figure(go.Bar(y=[1, 2]), {"dragmode": False}), "two <bars> & more")
    assert '"dragmode":false' not in saved
    assert "<title>two &lt;bars> &amp; more</title>" in saved
    assert len(saved) > 1_000_000  # it contains plotly itself
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="?(https?:)?//', saved)


def test_a_presented_picture_is_larger_with_larger_type(frame: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes(**session: bool) -> list[float]:
        monkeypatch.setattr(st, "session_state", session)
        note = {"text": "a note", "x": 0, "y": 0, "font": {"size": 10}}
        layout = frame.enlarged(figure_of([], height=201, margin={"l": 20}, annotations=[note])).layout
        return [layout.height, layout.margin.l, layout.font.size, layout.annotations[0].font.size]

    usual, larger = sizes(), sizes(present=True)
    assert all(big > small for small, big in zip(usual, larger, strict=True))


def test_a_saved_model_is_a_folder_that_opens(frame: ModuleType, run: Path, tmp_path: Path) -> None:
    (tmp_path / "model.zip").write_bytes(frame.zipped(run / "small"))
    shutil.unpack_archive(tmp_path / "model.zip", tmp_path)
    sentences = ["the oven is hot", "a bishop on the board"]
    assert (load_run(tmp_path / "small").encode(sentences) == load_run(run / "small").encode(sentences)).all()
    (code,) = re.findall("```python\n(.+?)```", (tmp_path / "small" / "README.md").read_text(), re.DOTALL)
    told = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert told.stdout.startswith("(2, ")  # two vectors


def test_an_error_is_its_message_and_the_page_continues() -> None:
    def page() -> None:
        import frame
        import streamlit as st

        def broken() -> None:
            st.write("before")
            raise ValueError("k is <b>0</b>, expected 1; choose another")

        def full() -> None:
            raise OSError(28, "No space left on device", "/somewhere/run.json")

        frame.run(broken)
        frame.run(full)
        st.write("after")

    shown = AppTest.from_function(page, default_timeout=HANG).run()
    assert not shown.exception
    assert shown.error[0].value == r"k is \<b\>0\</b\>, expected 1; choose another"
    assert "/somewhere/run.json" in shown.error[1].value
    assert "Errno" not in shown.error[1].value
    assert [text.value for text in shown.markdown] == ["before", "after"]


@pytest.mark.parametrize(("value", "row"), [("3", 3), ("9", 1), ("²", 1), ("9" * 99, 1)])
def test_a_row_number_from_an_address(frame: ModuleType, monkeypatch: pytest.MonkeyPatch, value: str, row: int) -> None:
    monkeypatch.setattr(st, "query_params", {"row": value})
    assert frame.number_in_address("row", 9, 1) == row


def test_the_app_fetches_plotlys_script_early() -> None:
    """Most of a first visitor's wait is for this script."""
    main = AppTest.from_file(str(APP / "main.py"), default_timeout=HANG).run()
    bodies = [each.proto.body for each in main.get("html")]
    [told] = [found for body in bodies for found in re.findall(r"import\(new URL\('([^']+)'", body)]
    assert (Path(st.__file__).parent / "static" / told).is_file()


def test_a_page_has_its_own_view_and_reopens_on_the_last_one() -> None:
    def two_places() -> None:
        import frame
        import streamlit as st

        frame.head("A question", "")
        frame.view(["Data", "Train"] if st.session_state.get("place") != "other" else ["One", "Two"])
        frame.write_address()

    page = AppTest.from_function(two_places, default_timeout=HANG)
    page.query_params["view"] = "Train"
    fine(page.run())
    page.session_state["place"] = "other"
    fine(page.run())
    assert page.segmented_control(key="view").value == "One"
    assert "view" not in page.query_params
    page.session_state["place"] = "the first again"
    fine(page.run())
    assert page.segmented_control(key="view").value == "Train"  # as it was left
    assert page.query_params["view"] == "Train"
