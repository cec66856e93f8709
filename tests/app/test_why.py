"""The panel "Why alike?" on every page that shows a pair of sentences, for one model and for two beside each other."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from labkit.baselines.counts import Tfidf
from labkit.corpora import load
from labkit.explanation import LEFT_OUT, WAYS
from labkit.method import Method
from labkit.methods import METHODS

from .conftest import Listener, Opened, RunCode, figure, fine, shows_no_markup, with_file

CLUSTERS = {"how": "PCA", "left": "SIF", "right": "nothing", "row": "5"}
COMPARE = {"view": "Two sentences", "corpus": "captions", "model-one": "TF-IDF", "model-other": "SIF"}
PAIRS = {"view": "One anchor", "vectors": "TF-IDF"}
PLACES = {  # page: address, button, corpus, methods
    "clusters_page": (CLUSTERS, "why-left-read-2", "topics", ("sif",)),
    "pairs_page": (PAIRS, "why-pair", "topics", ("tfidf",)),
    "compare_page": (COMPARE, "why-pair", "captions", ("tfidf", "sif")),
    "neighbourhoods_page": ({"base": "LSA", "most": "100"}, "why-near", "relatedness", ("lsa",)),
}


@cache
def learned(name: str, corpus: str) -> Method:
    method: Method = METHODS[name]()
    method.fit(load(corpus))
    return method


def asked(page: AppTest, key: str) -> AppTest:
    """The page with the panel open."""
    return fine(page.button(key=key).click().run())


def sentences(page: AppTest) -> list[str]:
    """The sentences of the panel: a, b, and c where there is one."""
    text = next(text.value for text in page.text if text.value.startswith("a · "))
    return re.split(r"\n?(?:^|(?<=\n))[abc] · ", text)[1:]


def alikes(page: AppTest) -> list[dict[str, Any]]:
    """The pictures of the panel."""
    charts = page.get("plotly_chart")
    return [figure(page, at) for at, chart in enumerate(charts) if "make two sentences alike" in chart.proto.alt]


def numbers(page: AppTest, label: str) -> list[str]:
    return [metric.value for metric in page.metric if metric.label == label]


# --- where it opens ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLACES)
def test_it_opens_from_every_page_and_says_the_similarity_of_the_method(opened: Opened, name: str) -> None:
    address, key, corpus, methods = PLACES[name]
    page = fine(opened(name, **address | {"corpus": corpus}).run())
    assert not alikes(page)
    a, b, *_ = sentences(asked(page, key))
    said = numbers(page, "similarity")
    for method, value in zip(methods, said, strict=False):
        assert float(value) == pytest.approx(float(learned(method, corpus).similarity([a], [b])[0, 0]), abs=6e-5)
    assert len(alikes(page)) == len(said)
    if name == "neighbourhoods_page":  # before and after, of which the table has the cosines
        line = page.dataframe[0].value.set_index("sentence").loc[b]
        assert [float(value) for value in said] == pytest.approx(
            list(line[["cosine before", "cosine after"]]), abs=6e-5
        )
    fine(page.run())
    assert not alikes(page)  # closed again, and nothing is left


def test_it_opens_from_a_pair_that_changed_order(opened: Opened) -> None:
    page = fine(opened("neighbourhoods_page", view="Changed order", base="LSA", most="100").run())
    line = page.dataframe[0].value.iloc[0]
    assert sentences(asked(page, "why-pair")) == [line["sentence 0"], line["sentence 1"]]
    values = [float(value) for value in numbers(page, "similarity")]
    assert values == pytest.approx([line["before"], line["after"]], abs=6e-5)


def test_it_opens_from_the_neighbours_of_a_typed_sentence(opened: Opened) -> None:
    page = fine(opened("clusters_page", **CLUSTERS).run())
    fine(page.text_input(key="typed").set_value("rain on the windows and qwxz").run())
    a, _, *more = sentences(asked(page, "why-left-typed-1"))
    assert a == "rain on the windows and qwxz"
    assert not more  # it has no class that a neighbour could miss
    assert any("say nothing: " in text.value and "qwxz" in text.value for text in page.text)


def test_vectors_of_an_epoch_are_not_asked(opened: Opened, tmp_path: Path) -> None:
    method = METHODS["sentpwnet"](epochs=1, dimension=8, size=12, device="cpu")
    method.fit(load("topics").take(range(0, 2000, 20)))
    method.save(tmp_path / "small")
    address = {"left": "a stored run", "right": "nothing", "how": "PCA", "row": "3"}
    for view, count in (("Sentences", 8), ("Over the epochs", 0)):
        page = opened("clusters_page", view=view, **address)
        page.session_state["left-folders"] = str(tmp_path)
        fine(page.run())
        assert sum("read: nearest in the embedding space" in text.value for text in page.markdown) == 1
        assert sum("why" in str(button.key) for button in page.button) == count


# --- what it says ------------------------------------------------------------------------------------------------


def test_the_figure_has_the_parts_of_the_explanation(opened: Opened) -> None:
    page = asked(fine(opened("pairs_page", **PAIRS).run()), "why-pair")
    a, b, *_ = sentences(page)
    found = learned("tfidf", "topics").explain(a, b)
    (shown,) = alikes(page)
    assert shown["data"][0]["text"] == list(found.names_a)
    assert shown["data"][2]["text"] == list(found.names_b)
    assert found.largest() in next(chart.proto.alt for chart in page.get("plotly_chart") if "alike" in chart.proto.alt)
    assert any(caption.value == "Exact: the parts add up to the similarity." for caption in page.caption)


def test_two_models_say_the_same_pair_beside_each_other(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("compare_page", **COMPARE).run())
    page.text_input(key="typed-a").set_value("a dog on the beach")
    fine(page.text_input(key="typed-b").set_value("a dog runs on the beach").run())
    assert "beach" not in str(page.query_params)
    asked(page, "why-pair")
    assert sentences(page) == ["a dog on the beach", "a dog runs on the beach"]
    shown = [float(metric.value) for metric in page.metric if metric.label.startswith("similarity, ")]
    assert [float(value) for value in numbers(page, "similarity")] == shown
    assert shown[0] != shown[1]
    for picture, name in zip(alikes(page), ("tfidf", "sif"), strict=True):
        found = learned(name, "captions").explain("a dog on the beach", "a dog runs on the beach")
        assert [float(text) for text in picture["data"][1]["text"]] == pytest.approx(found.own_a, abs=0.0051)
    drawn = run_code(page)
    assert list(drawn[0].data[0].text) == alikes(page)[0]["data"][0]["text"]


def test_two_sides_of_the_clusters_are_two_models_the_one_asked_first(opened: Opened) -> None:
    page = fine(opened("clusters_page", **CLUSTERS | {"right": "TF-IDF"}).run())
    for key, names in (("why-left-read-1", ["SIF", "TF-IDF"]), ("why-right-read-1", ["TF-IDF", "SIF"])):
        asked(page, key)
        titles = [text.value[2:-2] for text in page.markdown if text.value in ("**SIF**", "**TF-IDF**")]
        assert titles == ["SIF", "TF-IDF", *names]  # above the pictures, and in the panel
        assert len(alikes(page)) == 2


def test_another_way_is_chosen_and_shown(opened: Opened) -> None:
    page = fine(opened("pairs_page", **PAIRS).run())
    page.session_state["way-0-tfidf"] = LEFT_OUT
    a, b, *_ = sentences(asked(page, "why-pair"))
    assert page.selectbox(key="way-0-tfidf").options == ["exact", LEFT_OUT]
    found = learned("tfidf", "topics").explain(a, b, way=LEFT_OUT)
    (shown,) = alikes(page)
    written = [float(text) for text in shown["data"][1]["text"]]
    assert written == pytest.approx(found.own_a, abs=0.0051)
    assert any(WAYS[LEFT_OUT][1:] in caption.value for caption in page.caption)
    assert f"way='{LEFT_OUT}'" in next(code.value for code in page.code if "explain" in code.value)
    assert not numbers(page, "gap")  # it adds up to nothing, so that nothing is missing


def test_a_method_with_left_out_only_has_no_choice(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tfidf, "ways", Method.ways)
    page = asked(fine(opened("pairs_page", **PAIRS).run()), "why-pair")
    assert not [box for box in page.selectbox if str(box.key).startswith("way")]
    assert len(alikes(page)) == 1
    assert any(WAYS[LEFT_OUT][1:] in caption.value for caption in page.caption)


@pytest.mark.parametrize(("gap", "said"), [(0.0123, ["+0.0123"]), (-0.004, ["-0.0040"]), (0.0004, [])])
def test_a_gap_is_said(opened: Opened, monkeypatch: pytest.MonkeyPatch, gap: float, said: list[str]) -> None:
    usual = Method.explain
    monkeypatch.setattr(Tfidf, "explain", lambda *of, **way: replace(usual(*of, **way), gap=gap))
    st.cache_resource.clear()
    page = asked(fine(opened("pairs_page", **PAIRS).run()), "why-pair")
    st.cache_resource.clear()
    assert numbers(page, "gap") == said


def test_of_a_sentence_that_nothing_is_known_of_it_says_so(opened: Opened) -> None:
    page = fine(opened("compare_page", **COMPARE).run())
    fine(page.text_input(key="typed-a").set_value("qwxz zzkk").run())
    asked(page, "why-pair")
    assert [info.value for info in page.info if "0 by definition" in info.value]
    assert numbers(page, "similarity") == ["0.0000", "0.0000"]
    assert not alikes(page)


def test_what_cannot_be_worked_out_is_one_sentence_in_the_panel(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_of: Any, **_way: Any) -> None:
        raise ValueError("it has no <b>words</b>")

    monkeypatch.setattr(Tfidf, "explain", refuse)
    st.cache_resource.clear()
    page = fine(opened("compare_page", **COMPARE).run())
    page.button(key="why-pair").click().run()
    st.cache_resource.clear()
    assert not page.exception
    assert [error.value for error in page.error] == [r"it has no \<b\>words\</b\>"]
    assert len(alikes(page)) == 1  # the other model still says what it has to say


# --- why b is nearer than c --------------------------------------------------------------------------------------


def test_a_neighbour_of_another_class_is_set_against_the_nearest_of_its_own(opened: Opened) -> None:
    from labkit.lab.shipped import pictured

    page = fine(opened("clusters_page", **CLUSTERS).run())
    lines = [text.value for text in page.markdown if re.match(r"\d\. \*\*", text.value)]
    wrong = next(number for number, line in enumerate(lines, 1) if "✓" not in line)
    ticked = next(number for number, line in enumerate(lines, 1) if "✓" in line)
    a, b, c = sentences(asked(page, f"why-left-read-{wrong}"))
    shown, sif = pictured(load("topics")), learned("sif", "topics")
    similarity = np.asarray(sif.similarity([a], list(shown.texts)))[0]
    of_class = [row for row, label in enumerate(shown.labels) if label == shown.labels[5] and row != 5]
    assert (a, c) == (shown.texts[5], shown.texts[max(of_class, key=lambda row: similarity[row])])
    found = sif.contrast(a, b, c)
    tables = {table.value.columns[0]: table.value for table in page.dataframe if len(table.value.columns) == 2}
    assert tables["word of a"].values.tolist() == [list(line) for line in found.words_a]
    sums = {name: float(table.iloc[:, 1].sum()) for name, table in tables.items()}
    assert sums["word of a"] == pytest.approx(found.difference)
    assert sums["word of b"] + sums["word of c"] == pytest.approx(found.difference)
    assert any(f"difference {found.difference:+.4f}" in caption.value for caption in page.caption)
    nearer = "b" if found.difference > 0 else "c"
    assert f"**Why {nearer} is nearer**" in [text.value for text in page.markdown]
    assert "method.contrast(a, b" in " ".join(code.value for code in page.code)
    assert len(sentences(asked(page, f"why-left-read-{ticked}"))) == 2  # it is right


def test_a_negative_of_a_batch_is_set_against_the_nearest_positive(opened: Opened) -> None:
    page = fine(opened("pairs_page", **PAIRS, anchor="3").run())
    table = page.dataframe[0].value
    for kind in ("negative", "positive"):
        other = int(table[table["kind"] == kind]["no."].iloc[0])
        page = fine(opened("pairs_page", **PAIRS, anchor="3", other=str(other)).run())
        found = sentences(asked(page, "why-pair"))
        if kind == "positive":
            assert len(found) == 2
            continue
        best = table[table["kind"] == "positive"].sort_values("similarity").iloc[-1]
        assert found[2] == best["sentence"]


def test_a_neighbour_of_the_new_space_is_set_against_the_nearest_of_its_class(opened: Opened) -> None:
    page = fine(opened("neighbourhoods_page", corpus="topics", base="LSA", most="100", row="4").run())
    box = page.selectbox(key="neighbour")
    classes = dict(zip(*load("topics").part("test").classified(), strict=True))
    text = page.selectbox(key="row-choice").options[4].partition(" · ")[2]
    wrong = next(other for other in box.options if classes[other] != classes[text])
    fine(box.set_value(wrong).run())
    a, b, *more = sentences(asked(page, "why-near"))
    assert (a, b) == (text, wrong)
    assert more == [other for other in box.options if classes[other] == classes[text]][:1]


# --- markup, and a browser ---------------------------------------------------------------------------------------


def test_markup_in_a_sentence_is_text(opened: Opened) -> None:
    rows = "".join(f"<img src=//evil> {'cats' if i % 2 else '=1+1 cars'} no{i},{'ab'[i % 2]}\n" for i in range(60))
    page = opened("pairs_page", corpus="your own file", view="One anchor", vectors="SIF")
    fine(with_file(page, f"text,label\n{rows}".encode()))
    asked(page, "why-pair")
    assert alikes(page)
    assert "<img src=//evil>" in sentences(page)[0]
    shows_no_markup(page)


def test_it_is_opened_and_closed_by_keys_and_fits_a_telephone(listener: Listener, address: str) -> None:
    query = "&".join(f"{name}={value.replace(' ', '+')}" for name, value in COMPARE.items())
    listener.view.set_viewport_size({"width": 390, "height": 800})
    view = listener.view
    view.goto(f"{address}/compare_page?{query}")
    view.get_by_role("button", name="Why alike?").wait_for()
    listener.settle()
    view.get_by_label("… or type sentence b").focus()
    view.keyboard.press("Tab")
    assert "Why alike?" in view.evaluate("document.activeElement.innerText")
    view.keyboard.press("Enter")
    panel = view.get_by_role("dialog")
    panel.locator(".js-plotly-plot .main-svg").nth(3).wait_for(state="attached")
    listener.settle()
    assert panel.evaluate("e => e.scrollWidth - e.clientWidth") <= 1
    assert panel.bounding_box()["width"] <= 390
    right = panel.bounding_box()["x"] + panel.bounding_box()["width"]
    for card in panel.locator(".shapelayer path").all():
        assert card.bounding_box()["x"] + card.bounding_box()["width"] <= right
    view.keyboard.press("Escape")
    panel.wait_for(state="detached")
    listener.quiet(address)
