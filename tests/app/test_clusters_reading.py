"""The page "Clusters" without a browser: sentences that are searched for, typed, marked, clicked and read."""

from __future__ import annotations

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.lab.shipped import pictured
from labkit.methods import METHODS

from .conftest import EVIL, QUICK, Opened, figure, fine, named, near, numbers, texts


def clicked(page: AppTest, row: int, side: str = "left") -> AppTest:
    """The page after a click on a point, as plotly would tell it."""
    state = page.session_state["marked"]
    state.source, state.now, state.clicked = side, type(state.now)(rows=(row,)), True
    page.query_params["row"] = str(row)
    page.session_state["row-said"] = [str(row)]  # by the page itself, not by Back or a link
    return fine(page.run())


def test_two_beside_each_other_and_neighbours_in_both(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}, row="5").run())
    assert len(page.get("plotly_chart")) == 2
    shown = pictured(load("topics"))
    assert page.selectbox(key="read").value == 5
    assert any(shown.texts[5] in text.value for text in page.text)
    first, second = (chart.proto.alt for chart in page.get("plotly_chart"))
    assert ("TF-IDF" in first, "SIF" in second, first == second) == (True, True, False)
    for name, found in zip(("tfidf", "sif"), near(page), strict=True):
        method = METHODS[name]()
        method.fit(load("topics"))
        similarity = np.asarray(method.similarity([shown.texts[5]], list(shown.texts)))[0]
        similarity[5] = -9
        assert [line[0] for line in found] == pytest.approx(np.sort(similarity)[::-1][:8].tolist(), abs=6e-4)
        nearest = shown.texts.index(found[0][3])  # the whole sentence
        assert similarity[nearest] == pytest.approx(similarity.max(), abs=1e-5)
        assert [bool(tick) for _, tick, _, _ in found] == [label == shown.labels[5] for _, _, label, _ in found]


def test_a_sentence_is_chosen_from_the_list_and_stands_in_the_address(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK).run())
    assert not near(page)
    fine(page.selectbox(key="read").select(17).run())
    assert page.query_params["row"] == "17"
    assert [len(found) for found in near(page)] == [8]
    ring = figure(page)["data"][-1]
    assert ring["marker"]["symbol"] == "circle-open"
    fine(page.selectbox(key="corpus").select("places").run())
    assert "row" not in page.query_params  # a row of other sentences is another sentence


def test_search_lists_sentences_with_every_word(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK).run())
    page.text_input(key="query").set_value("the RAIN").run()
    found = named(fine(page), "Marked or found")[0]
    shown = pictured(load("topics"))
    expected = [row for row, text in enumerate(shown.texts) if "the" in text.lower() and "rain" in text.lower()]
    assert found["row"].tolist() == expected
    assert 0 < len(expected) < len(shown)
    assert page.selectbox(key="read").options == [f"{row} · {shown.texts[row]}" for row in expected]
    assert "rain" not in str(page.query_params).lower()


def test_a_typed_sentence_lands_where_its_copy_is(opened: Opened) -> None:
    shown = pictured(load("topics"))
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF", "how": "t-SNE"}).run())
    fine(page.text_input(key="typed").set_value(shown.texts[9]).run())
    for number in (0, 1):
        star = figure(page, number)["data"][-1]
        assert star["name"] == "typed"
    assert len(near(page)) == 2
    for found in near(page):
        assert found[0][3] == " ".join(shown.texts[9].split())
        assert found[0][0] == 1
    assert "typed" not in page.query_params
    fine(page.text_input(key="typed").set_value(f"{EVIL} rain").run())
    assert EVIL not in figure(page).__repr__() + texts(page) + str(page.query_params)


def test_words_that_a_method_never_met_are_said_and_have_no_place(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}).run())
    fine(page.text_input(key="typed").set_value("qwxz zzkk").run())
    said = [warning.value for warning in page.warning]
    assert len(said) == 2
    assert all("never met any of these words: qwxz, zzkk" in each for each in said)
    assert ["TF-IDF" in said[0], "SIF" in said[1]] == [True, True]
    assert not any(trace.get("name") == "typed" for trace in figure(page)["data"])
    assert not near(page)
    fine(page.text_input(key="typed").set_value("rain and qwxz").run())
    assert all("never met these words, and leaves them out: qwxz" in warning.value for warning in page.warning)
    assert len(near(page)) == 2


@pytest.mark.parametrize("solid", ["true", "false"])
def test_what_is_found_has_a_ring_and_is_read_from_the_list(opened: Opened, solid: str) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "LSA", "solid": solid}).run())
    plain = [trace["name"] for trace in figure(page)["data"] if "name" in trace]
    fine(page.text_input(key="query").set_value("the oven").run())
    shown = pictured(load("topics"))
    rows = [row for row, text in enumerate(shown.texts) if "the" in text.lower() and "oven" in text.lower()]
    assert rows
    found = figure(page)["data"][-1]
    assert ([trace["name"] for trace in figure(page)["data"]], found["marker"]["symbol"]) == (
        [*plain, "found"],
        "circle-open",
    )
    assert ("z" in found) == (solid == "true")
    lies = {
        row: float(x)
        for trace in figure(page)["data"][:-1]
        for row, x in zip(numbers(trace["customdata"]).tolist(), numbers(trace["x"]), strict=True)
    }
    assert numbers(found["x"]).tolist() == pytest.approx([lies[row] for row in rows])
    assert page.selectbox(key="read").options == [f"{row} · {shown.texts[row]}" for row in rows]
    fine(page.selectbox(key="read").select_index(0).run())
    ring = figure(page)["data"][-1]
    assert numbers(ring["x"]).tolist() == pytest.approx([lies[rows[0]]])
    assert ring["marker"]["size"] > found["marker"]["size"]
    assert [len(found) for found in near(page)] == [8]
    assert ("cannot be clicked" in texts(page)) == (solid == "true")


def test_what_was_marked_in_the_plane_has_rings_in_space(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "LSA"}).run())
    state = page.session_state["marked"]
    state.source, state.now = "left", type(state.now)(rows=(3, 5))
    fine(page.toggle(key="solid").set_value(True).run())
    last = figure(page)["data"][-1]
    assert (last["name"], last["type"], len(numbers(last["x"]))) == ("marked", "scatter3d", 2)
    assert list(named(page, "Marked or found")[0]["row"]) == [3, 5]


def test_a_box_is_kept_while_a_sentence_is_sought_and_gone_in_another_picture(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "LSA"}).run())
    state = page.session_state["marked"]
    state.source, state.now = "left", type(state.now)(boxes=((-1.0, 1.0, -1.0, 1.0),))
    for _ in range(2):
        fine(page.text_input(key="query").set_value("the").run())
        assert page.session_state["marked"].now.boxes
    fine(page.toggle(key="solid").set_value(True).run())
    assert not page.session_state["marked"].now.boxes


def test_a_search_after_a_click_goes_everywhere_and_clear_takes_all_away(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}).run())
    shown = pictured(load("topics"))
    clicked(page, 5)
    fine(page.text_input(key="query").set_value("the rain").run())
    rows = [row for row, text in enumerate(shown.texts) if "the" in text.lower() and "rain" in text.lower()]
    assert 5 not in rows
    assert named(page, "Marked or found")[0]["row"].tolist() == rows  # and not those of them that are marked: none
    assert f"**Found sentences**: {len(rows)} of {len(shown)}" in texts(page)
    assert "**Marked sentences**: 1 of" in texts(page)
    fine(page.text_input(key="typed").set_value("a storm").run())
    charts = [chart.proto.id for chart in page.get("plotly_chart")]
    fine(page.button(key="clear").click().run())
    assert (page.text_input(key="query").value, page.text_input(key="typed").value) == ("", "")
    assert page.selectbox(key="read").value is None
    assert "row" not in page.query_params
    assert not near(page)
    assert not named(page, "Marked or found")
    assert not {chart.proto.id for chart in page.get("plotly_chart")} & set(charts)  # new ones: plotly marks nothing
    assert all("selectedpoints" not in trace for number in (0, 1) for trace in figure(page, number)["data"])


def test_the_sentence_that_is_clicked_has_a_ring_in_the_other_picture_and_its_x_unmarks(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}).run())
    clicked(page, 7)
    rings = [
        [trace for trace in figure(page, number)["data"] if trace["marker"]["symbol"] == "circle-open"]
        for number in (0, 1)
    ]
    assert [len(found) for found in rings] == [0, 1]  # in its own the browser draws it, so that zoom is kept
    lies = {
        row: x
        for trace in figure(page, 1)["data"]
        if "customdata" in trace
        for row, x in zip(numbers(trace["customdata"]).tolist(), numbers(trace["x"]).tolist(), strict=True)
    }
    assert numbers(rings[1][0]["x"]).tolist() == [lies[7]]
    fine(page.selectbox(key="read").select(None).run())
    assert not page.session_state["marked"].now
    assert "row" not in page.query_params
