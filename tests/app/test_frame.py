"""The ground of all pages: what a visitor brought is never markup, and a saved picture asks nothing of the world."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from tests.waiting import HANG

from .conftest import Opened, fine

APP = Path(__file__).resolve().parents[2] / "app"
EVIL = "![x](http://evil/a.png) <img src=//evil> [b](http://evil) $x$ `c` **d** :red[e]"


@pytest.fixture
def frame(monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.syspath_prepend(str(APP))
    sys.modules.pop("frame", None)
    import frame as module  # of the folder that streamlit puts on the path

    return module


def test_plain_leaves_no_markup(frame) -> None:  # type: ignore[no-untyped-def]
    text = frame.plain(EVIL)
    assert not re.search(r"(?<!\\)[\[\]<>$`*]", text)
    assert re.sub(r"\\(.)", r"\1", text) == EVIL
    assert "\n" not in frame.plain("a\n# b")


def test_a_mistake_is_its_sentence_and_the_page_stands() -> None:
    def page() -> None:
        import sys

        sys.path.insert(0, "app")
        import frame
        import streamlit as st

        def broken() -> None:
            st.write("before")
            raise ValueError("k is <b>0</b>, expected 1; choose another")

        frame.run(broken)
        st.write("after")

    shown = AppTest.from_function(page, default_timeout=HANG).run()
    assert not shown.exception
    assert shown.error[0].value == r"k is \<b\>0\</b\>, expected 1; choose another"
    assert [text.value for text in shown.markdown] == ["before", "after"]


def test_a_saved_picture_is_whole_and_asks_for_nothing(frame) -> None:  # type: ignore[no-untyped-def]
    page = frame.page_of(go.Figure(go.Bar(y=[1, 2])), "two <bars> & more")
    assert "<title>two &lt;bars> &amp; more</title>" in page
    assert len(page) > 1_000_000  # plotly itself is in it
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="?(https?:)?//', page)


@pytest.mark.parametrize(("value", "row"), [("3", 3), ("9", 1), ("-1", 1), ("x", 1), ("", 1), ("²", 1), ("9" * 99, 1)])
def test_a_row_number_from_an_address(frame, monkeypatch: pytest.MonkeyPatch, value: str, row: int) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(st, "query_params", {"row": value})
    assert frame.numbered("row", 9, 1) == row


def test_one_view_is_always_chosen() -> None:
    def page() -> None:
        import sys

        sys.path.insert(0, "app")
        import frame
        import streamlit as st

        st.text(frame.view(["One", "Two"]))

    at = AppTest.from_function(page, default_timeout=HANG).run()
    assert not at.exception
    (control,) = at.segmented_control
    assert control.proto.required  # a second click on what is chosen takes nothing away
    assert at.text[0].value == "One"
    at = control.set_value("Two").run()
    assert at.text[0].value == "Two"


@pytest.mark.parametrize(("address", "fields"), [("127.0.0.1", 1), ("0.0.0.0", 0), (None, 0)])
def test_where_others_may_come_nobody_names_folders(
    opened: Opened, monkeypatch: pytest.MonkeyPatch, address: str | None, fields: int
) -> None:
    config.set_option("server.address", address)
    page = fine(opened("pairs_page", vectors="a stored run").run())
    assert len([box for box in page.text_input if box.key == "folders"]) == fields
