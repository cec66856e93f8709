"""The panel "Why alike?" on the pages that show a pair of sentences, for one model and for two side by side."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from labkit.baselines.counts import Tfidf
from labkit.corpora import load
from labkit.explanation import LEFT_OUT
from labkit.method import Method
from labkit.methods import METHODS
from labkit.shipped import pictured

from .conftest import HOSTILE, Opened, RunCode, charts, figure, fine, shows_no_markup, with_file

CLUSTERS = {"how": "PCA", "left": "SIF", "right": "nothing", "row": "5"}
BOTH = {"corpus": "captions", "how": "PCA", "left": "TF-IDF", "right": "SIF", "row": "5"}
PAIRS = {"view": "The words", "vectors": "TF-IDF"}


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
    """The charts of the panel."""
    return [
        figure(page, at) for at, chart in enumerate(charts(page)) if "Which words make two sentences" in chart.proto.alt
    ]


def values(page: AppTest) -> list[str]:
    """The similarities in the headlines."""
    return re.findall(r"similarity is \*\*([−\d.]+)\*\*", "\n".join(text.value for text in page.markdown))


def words(page: AppTest) -> list[tuple[str, float]]:
    """The marked words of all sentences in the panel, in order, with their parts of the similarity."""
    html = "".join(each.proto.body for each in page.get("html") if "labkit-words" in each.proto.body)
    return [(word, float(part.replace("−", "-"))) for part, word in re.findall(r'title="([−+\d.]+)">([^<]+)<', html)]


def test_two_models_explain_the_same_pair_side_by_side(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("space_page", **BOTH).run())
    fine(page.text_input(key="typed").set_value("a dog on the beach").run())
    assert not alikes(page)
    asked(page, "why-left-typed-1")
    assert "beach" not in str(page.query_params)
    a, b = sentences(page)[:2]
    assert a == "a dog on the beach"
    shown = words(page)
    assert len(alikes(page)) == 2
    for name, value in zip(("tfidf", "sif"), values(page), strict=True):
        found = learned(name, "captions").explain(a, b)
        assert float(value) == pytest.approx(float(learned(name, "captions").similarity([a], [b])[0, 0]), abs=6e-4)
        own = [*zip(found.names_a, found.own_a, strict=True), *zip(found.names_b, found.own_b, strict=True)]
        met = [(word.lower(), part) for word, part in shown[: len(own)]]
        assert [word for word, _ in met] == [word for word, _ in own]
        assert [part for _, part in met] == pytest.approx([part for _, part in own], abs=6e-4)
        shown = shown[len(own) :]
    number = next(
        at
        for at, code in enumerate(code for code in page.code if "import" in code.value)
        if "word_pairs(" in code.value
    )
    drawn = run_code(page, number)[-1].data[0]
    assert list(drawn.customdata[0]) == alikes(page)[0]["data"][0]["customdata"][0]


def test_every_occurrence_of_a_word_is_marked_and_the_rest_comes_last(opened: Opened) -> None:
    opened("why_page")
    from why import marked

    html = marked("A <b>cat</b>, a cat & a dog.", ("a", "a", "a", "cat", "(rest)"), (0.1, -0.2, 0.3, 0.4, 0.25), 0.4)
    shown = re.findall(r'title="([^"]*)">([^<]*)<', html)
    assert [word for _, word in shown] == ["A", "cat", "a", "cat", "a", "(rest)"]  # "cat" twice, though counted once
    assert [part for part, _ in shown] == ["+0.100", "+0.400", "−0.200", "+0.400", "+0.300", "+0.250"]
    assert "<b>" not in html
    assert "&lt;" in html
    assert "&amp;" in html
    assert html.count("dotted") == 1  # negative parts are visible without colour


@pytest.mark.whole
def test_another_way_is_chosen(opened: Opened) -> None:
    page = fine(opened("why_page", **PAIRS).run())
    a, b = (
        box.options[box.value].split(" · ", 1)[1]
        for box in (page.selectbox(key="anchor-choice"), page.selectbox(key="other-choice"))
    )
    fine(page.selectbox(key="way-0-tfidf").set_value(LEFT_OUT).run())
    found = learned("tfidf", "topics").explain(a, b, way=LEFT_OUT)
    assert {part for _, part in words(page)} == {round(part, 3) for part in (*found.own_a, *found.own_b)}
    assert found.tested
    assert any(found.tested in caption.value for caption in page.caption)
    assert f"way='{LEFT_OUT}'" in next(code.value for code in page.code if "explain" in code.value)


@pytest.mark.whole
def test_a_failed_explanation_is_one_sentence_in_the_panel(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_of: Any, **_way: Any) -> None:
        raise ValueError("it has no <b>words</b>")

    monkeypatch.setattr(Tfidf, "explain", refuse)
    st.cache_resource.clear()
    page = fine(opened("space_page", **BOTH).run())
    page.button(key="why-left-read-1").click().run()
    st.cache_resource.clear()
    assert not page.exception
    assert [error.value for error in page.error] == [r"it has no \<b\>words\</b\>"]
    assert len(alikes(page)) == 1  # the other model is still explained


# --- why b is nearer than c --------------------------------------------------------------------------------------


def test_a_neighbour_of_another_class_is_compared_with_the_nearest_of_the_same_class(opened: Opened) -> None:
    page = fine(opened("space_page", **CLUSTERS).run())
    lines = [text.value for text in page.markdown if re.match(r"\d\. \*\*", text.value)]
    wrong = next(number for number, line in enumerate(lines, 1) if "✓" not in line)
    ticked = next(number for number, line in enumerate(lines, 1) if "✓" in line)
    a, b, c = sentences(asked(page, f"why-left-read-{wrong}"))
    shown, sif = pictured(load("topics")), learned("sif", "topics")
    similarity = np.asarray(sif.similarity([a], list(shown.texts)))[0]
    of_class = [row for row, label in enumerate(shown.labels) if label == shown.labels[5] and row != 5]
    assert (a, c) == (shown.texts[5], shown.texts[max(of_class, key=lambda row: similarity[row])])
    found = sif.contrast(a, b, c)
    table = next(table.value for table in page.dataframe if "in favour of b" in table.value)
    assert table[table["in"] == "a"].iloc[:, 1:].values.tolist() == [list(line) for line in found.words_a]
    sums = table.groupby("in")["in favour of b"].sum()
    assert sums["a"] == pytest.approx(found.difference)
    assert sums["b"] + sums["c"] == pytest.approx(found.difference)
    said = next(text.value for text in page.caption if "the difference is" in text.value)
    near, far, difference = (float(found.replace("−", "-")) for found in re.findall(r"[−+]?\d\.\d{3}", said))
    assert difference == pytest.approx(near - far, abs=1e-9)
    nearer = "b" if found.difference > 0 else "c"
    assert f"**Why {nearer} is nearer**" in [text.value for text in page.markdown]
    assert len(sentences(asked(page, f"why-left-read-{ticked}"))) == 2  # no c, because b has the right class


@pytest.mark.whole
def test_a_negative_of_a_batch_is_compared_with_the_nearest_positive(opened: Opened) -> None:
    page = fine(opened("why_page", vectors="TF-IDF", anchor="3").run())
    table = page.dataframe[-1].value if "kind" in page.dataframe[-1].value else page.dataframe[0].value
    for kind, count in (("negative", 1), ("positive", 0)):
        other = str(table[table["kind"] == kind]["number"].iloc[0])
        page = fine(opened("why_page", **PAIRS, anchor="3", other=other).run())
        assert len([text for text in page.markdown if re.match(r"\*\*Why [bc] is nearer", text.value)]) == count


@pytest.mark.whole
def test_markup_in_a_sentence_is_text(opened: Opened) -> None:
    page = opened("why_page", corpus="your own file", view="The words", vectors="SIF")
    fine(with_file(page, HOSTILE.encode()))
    assert alikes(page)
    shows_no_markup(page)
