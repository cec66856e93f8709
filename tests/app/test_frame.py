"""The ground of all pages: what a visitor brought is never markup, and a saved picture asks nothing of the world."""

from __future__ import annotations

import gc
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import plotly.graph_objects as go
import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from labkit.figures.palette import INK
from tests.waiting import HANG

from .conftest import Opened, fine

APP = Path(__file__).resolve().parents[2] / "app"
CONFIG = next(folder / ".streamlit" / "config.toml" for folder in (APP, APP.parent) if (folder / ".streamlit").is_dir())
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


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2 has it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted(map(luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def mixed(text: str, ground: str, share: float = 0.6) -> str:
    """What a caption looks like: Streamlit shows it with six tenths of the text's strength."""
    pairs = [(int(text[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(share * over + (1 - share) * under):02x}" for over, under in pairs)


@pytest.mark.parametrize("number", [0, 1], ids=["light", "dark"])
def test_all_text_can_be_read_on_its_ground(frame, number: int) -> None:  # type: ignore[no-untyped-def]
    theme = tomllib.loads(CONFIG.read_text("utf-8"))["theme"][("light", "dark")[number]]
    ground, side = theme["backgroundColor"], theme["sidebar"]["backgroundColor"]
    assert ground == frame.GROUND[number]
    pairs = {f"text on {where}": (theme["textColor"], where) for where in (ground, side)}
    pairs |= {f"captions on {where}": (mixed(theme["textColor"], where), where) for where in (ground, side)}
    pairs |= {f"links on {where}": (theme["primaryColor"], where) for where in (ground, side)}
    pairs["chosen"] = (frame.ON_PRIMARY[number], theme["primaryColor"])
    pairs["in pictures"] = (frame.FIGURES_TEXT[number], ground)
    assert {name: contrast(*pair) for name, pair in pairs.items() if contrast(*pair) < 4.5} == {}


def test_what_is_printed_can_be_read_too(frame) -> None:  # type: ignore[no-untyped-def]
    assert contrast(INK, "#FFFFFF") >= 4.5
    assert contrast(INK, "#000000") >= 4.5
    assert f"rgb({', '.join(str(int(INK[at : at + 2], 16)) for at in (1, 3, 5))})" in frame.READABLE


@pytest.mark.parametrize(
    ("alt", "name"),
    [
        ("The space of SIF by PCA, left: 405 sentences as points.", "the-space-of-sif-by-pca-left"),
        ("Bars: the share of each of 30 rows of L, the strongest first. Row 3 is", "bars-the-share-of-each-of-30-rows"),
        ("文", "key"),
        (f"../{EVIL}" * 9, "x-http-evil-a-png-img"),
    ],
)
def test_a_file_is_called_by_what_it_shows(frame, alt: str, name: str) -> None:  # type: ignore[no-untyped-def]
    found = frame.file_name(alt, "key")
    assert found.startswith(name)
    assert re.fullmatch(r"[a-z0-9-]{1,80}", found)


def test_a_picture_has_the_pages_ground_and_its_files_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def page() -> None:
        import frame

        from labkit.figures.drawing import figure_of

        frame.picture(
            figure_of([{"type": "bar", "y": [1, 2]}]), key="bars", alt="Bars of Hit@1: one and two", rows=list
        )

    at = AppTest.from_function(page, default_timeout=HANG).run()
    assert not at.exception
    chart = at.get("plotly_chart")[0].proto
    layout = json.loads(chart.spec)["layout"]
    assert {"paper_bgcolor", "plot_bgcolor"}.isdisjoint(layout)  # a clear one would be lost on white, or on black
    assert json.loads(chart.config)["toImageButtonOptions"]["filename"] == "bars-of-hit-1-one-and-two"


def test_a_mistake_is_its_sentence_and_the_page_stands() -> None:
    def page() -> None:
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


def test_a_full_disk_says_what_to_do() -> None:
    def page() -> None:
        import frame

        def broken() -> None:
            raise OSError(28, "No space left on device", "/somewhere/run.json")

        frame.run(broken)

    said = AppTest.from_function(page, default_timeout=HANG).run().error[0].value
    assert "the disk is full: there is no room for /somewhere/run.json" in said
    assert "make room on that disk" in said
    assert "Errno" not in said


def test_a_saved_picture_is_whole_and_asks_for_nothing(frame) -> None:  # type: ignore[no-untyped-def]
    page = frame.page_of(go.Figure(go.Bar(y=[1, 2])), "two <bars> & more")
    assert "<title>two &lt;bars> &amp; more</title>" in page
    assert len(page) > 1_000_000  # plotly itself is in it
    assert not re.search(r'<(script|link|img)[^>]*(src|href)="?(https?:)?//', page)


@pytest.mark.parametrize(("value", "row"), [("3", 3), ("9", 1), ("-1", 1), ("x", 1), ("", 1), ("²", 1), ("9" * 99, 1)])
def test_a_row_number_from_an_address(frame, monkeypatch: pytest.MonkeyPatch, value: str, row: int) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(st, "query_params", {"row": value})
    assert frame.number_in_address("row", 9, 1) == row


def test_one_view_is_always_chosen() -> None:
    def page() -> None:
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


def test_the_browser_is_told_of_plotlys_script_before_there_is_a_picture() -> None:
    """It is the largest part of what a first visitor waits for, and Streamlit asks for it only with a first picture."""
    main = AppTest.from_file(str(APP / "main.py"), default_timeout=HANG).run()
    [told] = [
        found for each in main.get("html") for found in re.findall(r"import\(new URL\('([^']+)'", each.proto.body)
    ]
    assert re.fullmatch(r"static/js/PlotlyChart\.[\w-]+\.js", told)
    assert (Path(st.__file__).parent / "static" / told).is_file()


# --- what was imported is left out of the collector's rounds --------------------------------------------------------


@pytest.fixture
def thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_modules_are_frozen_once_for_each_number_of_them(frame, thawed: None) -> None:  # type: ignore[no-untyped-def]
    frame.freeze_modules(-1)
    assert gc.get_freeze_count() > 10_000
    gc.unfreeze()
    frame.freeze_modules(-1)
    assert gc.get_freeze_count() == 0
    frame.freeze_modules(-2)
    assert gc.get_freeze_count() > 10_000


def test_the_app_freezes_modules_after_a_page(thawed: None) -> None:
    AppTest.from_file(str(APP / "main.py"), default_timeout=HANG).run()
    assert gc.get_freeze_count() > 10_000
