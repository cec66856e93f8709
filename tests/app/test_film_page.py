"""The page "FILM rows" without a browser: its three views, typed sentences, stored runs, and bad files."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.methods import METHODS

from .conftest import Opened, RunCode, figure, fine, has_pictures, refused, shows_no_markup, with_file

VIEWS = {"Rows": 3, "Two sentences": 2, "Mutual neighbours": 1}
SMALL = {"dimension": "10"}
WORDS, STRENGTHS = 0, 2  # places of the pictures: what a row says stands above the fold


def said(page: AppTest) -> str:
    return " ".join(caption.value for caption in page.caption)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_pictures_and_code_that_runs(opened: Opened, view: str, run_code: RunCode) -> None:
    page = fine(opened("film_page", part=view, **SMALL).run())
    has_pictures(page, VIEWS[view])
    assert len(run_code(page)) == 1


def test_rows_come_by_strength_and_varimax_turns_them(opened: Opened) -> None:
    page = fine(opened("film_page", **SMALL).run())
    first, shares = figure(page, WORDS), figure(page, STRENGTHS)["data"][0]
    assert len(shares["x"]) == 10
    assert page.toggle(key="varimax").value
    fine(page.toggle(key="varimax").set_value(False).run())
    assert figure(page, WORDS) != first
    fine(page.toggle(key="stability").set_value(True).run())
    assert "stability" in said(page)
    assert len(figure(page, STRENGTHS)["data"]) == 2


def test_parts_add_up_and_typed_words_stay_out_of_the_address(opened: Opened) -> None:
    page = fine(opened("film_page", part="Two sentences", **SMALL).run())
    film = METHODS["film"](dimension=10)
    film.fit(load("questions"))
    a, b = "How can I learn the <b>guitar</b>?", "Is the qzxv guitar hard to learn?"
    page.text_input(key="typed-a").set_value(a)
    fine(page.text_input(key="typed-b").set_value(b).run())
    expected = film.explain(a, b)
    values = {metric.label: metric.value for metric in page.metric}
    assert values["similarity"] == f"{expected.similarity:.4f}"
    rows = values["rows of L + words in common"].split(" + ")
    assert sum(map(float, rows)) == pytest.approx(expected.similarity, abs=1.1e-4)
    words = figure(page, 1)["data"]
    assert [words[0]["text"], words[2]["text"]] == [list(expected.names_a), list(expected.names_b)]
    assert any("qzxv" in text.value for text in page.text)
    assert "guitar" not in str(page.query_params)
    fine(page.text_input(key="typed-a").set_value("qzxv").run())
    assert "0 by definition" in page.info[0].value


def test_k_is_at_first_the_one_dev_chose(opened: Opened) -> None:
    page = fine(opened("film_page", part="Mutual neighbours", **SMALL).run())
    assert f"chooses k there: {page.slider(key='k').value}," in said(page)
    before = [metric.value for metric in page.metric]
    fine(page.slider(key="k").set_value(40).run())
    after = [float(metric.value) for metric in page.metric]
    assert [f"{value:.3f}" for value in after] != before
    assert after[0] + after[3] == pytest.approx(1, abs=2e-3)
    assert after[1] + after[2] == pytest.approx(1, abs=2e-3)


def test_graded_pairs_have_no_rule_and_the_page_says_so(opened: Opened) -> None:
    page = opened("film_page", corpus="relatedness", part="Mutual neighbours", **SMALL).run()
    assert not page.exception
    assert "graded pairs" in page.error[0].value


@pytest.mark.usefixtures("no_lab_runs")
def test_a_stored_run_of_film_only(opened: Opened, tmp_path: Path) -> None:
    film, other = METHODS["film"](dimension=7), METHODS["tfidf"]()
    for method, name in ((film, "mine"), (other, "not-film")):
        method.fit(load("questions"))
        method.save(tmp_path / name)
    page = opened("film_page", film="a stored run")
    page.session_state["folders"] = f"{tmp_path}, nowhere"
    fine(page.run())
    assert page.selectbox(key="run").options == ["mine"]
    assert len(figure(page, STRENGTHS)["data"][0]["x"]) == 7


@pytest.mark.parametrize("view", VIEWS)
def test_an_upload_is_text_everywhere(opened: Opened, view: str) -> None:
    lines = [f"<img src=//evil> word{i % 9} {'cat' if i % 2 else '=car'} n{i},<b>{'ab'[i % 2]}" for i in range(120)]
    rows = "\n".join(lines)
    page = opened("film_page", corpus="your own file", part=view, **SMALL)
    fine(with_file(page, f"text,label\n{rows}".encode()))
    shows_no_markup(page)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"text,label\n", "has no rows"),
        (b"text,label\nword,x\nword word,y\n", "one word tells none apart"),
    ],
)
def test_a_bad_upload_is_one_sentence(opened: Opened, data: bytes, said: str) -> None:
    refused(with_file(opened("film_page", corpus="your own file", **SMALL), data), said)
