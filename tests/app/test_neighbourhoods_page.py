"""The page "Neighbourhoods" without a browser: every view, every corpus, its sliders, runs as a base, and bad files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from labkit.corpora import load
from labkit.corpora.table import EMBEDDED
from labkit.methods import METHODS

from .conftest import Opened, RunCode, figure, fine, has_pictures, refused, shows_no_markup, with_file

VIEWS = {"One sentence": 2, "All sentences": 2, "k and p": 2, "Changed order": 3}
SMALL = {"base": "LSA", "most": "100"}


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_pictures(opened: Opened, view: str) -> None:
    page = fine(opened("neighbourhoods_page", view=view, **SMALL).run())
    has_pictures(page, VIEWS[view])


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_corpus_has_neighbourhoods_and_only_pairs_an_order(opened: Opened, name: str) -> None:
    page = fine(opened("neighbourhoods_page", corpus=name, **SMALL).run())
    assert len(page.get("plotly_chart")) == 2
    fine(page.segmented_control(key="view").set_value("Changed order").run())
    is_pairs = name in ("relatedness", "questions")
    assert bool(page.get("plotly_chart")) == is_pairs
    assert any("have an order" in info.value for info in page.info) != is_pairs


def test_k_and_p_redraw_the_stars_and_the_table_says_the_same(opened: Opened) -> None:
    page = fine(opened("neighbourhoods_page", row="4", **SMALL).run())
    before = [figure(page, side)["data"] for side in (0, 1)]
    table = page.dataframe[0].value
    assert (table["rank before"] > 0).sum() == 10
    weights = table["weight before"].dropna()
    assert weights.sum() == pytest.approx(1, abs=1e-5)
    fine(page.slider(key="k").set_value(4).run())
    assert (page.dataframe[0].value["rank before"] > 0).sum() == 4
    assert page.metric[0].value.endswith("of 4")
    four = [figure(page, side)["data"] for side in (0, 1)]
    assert four[0] != before[0]
    fine(page.slider(key="p").set_value(8).run())
    eight = page.dataframe[0].value
    assert (eight["rank before"] > 0).sum() == 4
    assert [figure(page, side)["data"] for side in (0, 1)][1] != four[1]


@pytest.mark.whole
def test_the_record_of_copies_and_parts_is_told(opened: Opened) -> None:
    page = fine(opened("neighbourhoods_page", corpus="articles", view="All sentences", base="SIF", most="400").run())
    told = " ".join(text.value for text in page.markdown)
    assert "share a vector with another" in told
    assert "terminal components" in told
    groups = page.expander[0]
    assert "share a vector" in groups.label


def test_more_dimensions_than_there_are_sentences_are_lowered_and_said(opened: Opened) -> None:
    page = fine(opened("neighbourhoods_page", p="256", **SMALL).run())
    assert any("directions beside" in caption.value for caption in page.caption), [c.value for c in page.caption]


def test_reversals_are_counted_both_ways_and_the_least_difference_counts(opened: Opened) -> None:
    page = fine(opened("neighbourhoods_page", view="Changed order", **SMALL).run())
    said = next(text.value for text in page.markdown if "couples of pairs" in text.value)
    assert "**mends" in said
    assert "**spoils" in said
    assert {what.split()[0] for what in page.dataframe[0].value["what"]} == {"mended", "spoilt"}
    fine(page.slider(key="least").set_value(3.0).run())
    assert next(text.value for text in page.markdown if "couples of pairs" in text.value) != said
    table = page.dataframe[0].value
    grades = table["grade"].to_numpy().reshape(-1, 2)
    assert (grades[:, 0] - grades[:, 1] > 3).all()


@pytest.mark.parametrize("view", VIEWS)
def test_the_code_makes_the_picture(opened: Opened, run_code: RunCode, view: str) -> None:
    page = fine(opened("neighbourhoods_page", view=view, row="7", k="6", **SMALL).run())
    drawn = run_code(page)
    shown = figure(page, 1 if view == "One sentence" else 0)["data"]
    assert [trace["type"] for trace in shown] == [trace.type for trace in drawn[0].data]
    assert [trace.get("name") for trace in shown] == [trace.name for trace in drawn[0].data]


def test_a_run_is_a_base_and_a_run_of_sbert_lp_gives_its_own(opened_on: Opened, tmp_path: Path) -> None:
    method = METHODS["sbert-lp"](base="lsa", neighbours=5, dimension=8)
    method.fit(load("relatedness").take(range(300)))
    method.save(tmp_path / "lp")
    method.base.save(tmp_path / "plain")
    stars = []
    for run in ("lp", "plain"):
        page = fine(opened_on("neighbourhoods_page", tmp_path, run, base="a stored run", most="100").run())
        assert page.selectbox(key="run").value == run
        assert any("Its base" in c.value or "its base is taken" in c.value for c in page.caption) == (run == "lp")
        stars.append(figure(page)["data"])
    assert stars[0] == stars[1]


def test_an_address_brings_the_view_back_and_nonsense_is_passed_over(opened: Opened) -> None:
    page = fine(opened("neighbourhoods_page", k="7", p="nonsense", row="99999", **SMALL).run())
    assert page.slider(key="k").value == 7
    assert page.slider(key="p").value == 64
    assert int(page.query_params["row"][0]) == 0


ROWS = [f"<img src=//evil> {i} {'cats and dogs' if i % 2 else '=1+1 cars'} no{i},{'ab'[i % 2]}\n" for i in range(80)]


@pytest.mark.parametrize("view", ["One sentence", "All sentences", "k and p"])
def test_an_upload_is_text_everywhere_and_stays_out_of_the_address(opened: Opened, view: str) -> None:
    page = opened("neighbourhoods_page", corpus="your own file", view=view, base="TF-IDF", k="3")
    fine(with_file(page, ("text,label\n" + "".join(ROWS)).encode()))
    assert len(page.get("plotly_chart")) == VIEWS[view]
    shows_no_markup(page)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"text,label\n", "has no rows"),
        (b"PK\x03\x04", "is a zip archive"),
        (b"text,label,split\nred car one,x,train\nblue car two,y,train\nred car three,x,train\n", "split 'test'"),
        (b"text,label,split\nred car,x,train\nred cat,y,train\nqqq,x,test\nzzz,y,test\n", "expected at least two"),
    ],
)
def test_a_bad_upload_is_one_sentence(opened: Opened, data: bytes, said: str) -> None:
    refused(with_file(opened("neighbourhoods_page", corpus="your own file", base="TF-IDF"), data), said)


def test_what_is_drawn_is_finite(opened: Opened) -> None:
    page = fine(opened("neighbourhoods_page", view="All sentences", **SMALL).run())
    values = [value for trace in figure(page)["data"][1:] for value in np.ravel(trace["customdata"])]
    assert len(values) == 101  # every sentence, and the one chosen once more
