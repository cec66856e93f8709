"""The page "Pairs" without a browser: every view, every corpus, its sliders, its runs, and bad files."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.corpora.table import EMBEDDED
from labkit.methods import METHODS
from labkit.sentpwnet.method import PairSettings

from .conftest import Opened, RunCode, figure, fine, has_pictures, refused, shows_no_markup, with_file

VIEWS = {"The batch": 3, "One anchor": 1, "Weight against similarity": 1}


def said(page: AppTest) -> str:
    return " ".join(caption.value for caption in page.caption)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_has_its_pictures(opened: Opened, view: str) -> None:
    page = fine(opened("pairs_page", view=view, vectors="TF-IDF").run())
    has_pictures(page, VIEWS[view])
    assert "kept" in said(page)


@pytest.mark.parametrize("view", [*VIEWS, "Over the epochs"])
def test_it_opens_on_a_run_and_a_batch_that_still_errs(opened: Opened, view: str) -> None:
    """Of what the run has learned from, everything is in order: no pair is kept, and no weight is to be seen."""
    page = fine(opened("pairs_page", view=view).run())
    assert page.selectbox(key="vectors").value == "a stored run"
    assert page.selectbox(key="run").value == "sentpwnet-topics"
    assert not page.info
    if view != "Over the epochs":
        assert "sentences of test" in said(page)
        assert not re.search(r"kept 0% of the positive|and 0% of the negative", said(page))


def test_where_every_pair_is_in_order_it_says_so(opened: Opened) -> None:
    page = fine(opened("pairs_page", split="train", epsilon="0.0").run())
    assert "kept 0% of the positive and 0% of the negative" in said(page)
    assert "in order by more than ε" in page.info[0].value


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_corpus_makes_a_batch(opened: Opened, name: str) -> None:
    page = fine(opened("pairs_page", corpus=name, vectors="TF-IDF").run())
    assert len(page.get("plotly_chart")) == 3


def test_alpha_redraws_and_epsilon_keeps_more(opened: Opened) -> None:
    page = fine(opened("pairs_page", vectors="TF-IDF").run())
    before = figure(page, 1)
    fine(page.slider(key="alpha").set_value(10.0).run())
    assert figure(page, 1) != before
    kept = said(page)
    fine(page.slider(key="epsilon").set_value(2.0).run())
    assert "kept 100% of the positive and 100% of the negative" in said(page) != kept


def test_the_sliders_start_from_the_usual_numbers_or_from_those_of_a_training(opened: Opened, tmp_path: Path) -> None:
    def numbers(page: AppTest) -> list[float]:
        return [page.slider(key=key).value for key in ("alpha", "beta", "lambda", "epsilon")]

    page = fine(opened("pairs_page", vectors="TF-IDF").run())
    assert numbers(page) == [2.0, 50.0, 0.5, 0.1]
    fine(page.button(key="as-trained").click().run())
    trained = PairSettings()
    assert numbers(page) == [trained.alpha, trained.beta, trained.base, trained.epsilon]
    fine(page.button(key="usual").click().run())
    assert numbers(page) == [2.0, 50.0, 0.5, 0.1]

    method = METHODS["sentpwnet"](epochs=1, dimension=8, size=12, device="cpu", alpha=300, base=-0.25)
    method.fit(load("topics").take(range(0, 2000, 20)))
    method.save(tmp_path / "strange")
    page = opened("pairs_page", vectors="a stored run")
    page.session_state["folders"] = str(tmp_path)
    page.run()
    fine(page.selectbox(key="run").set_value("strange").run())
    fine(page.button(key="as-trained").click().run())
    assert numbers(page) == [20.0, trained.beta, -0.25, trained.epsilon]


def test_the_chosen_losses_are_drawn_and_the_chosen_one_is_named(opened: Opened) -> None:
    page = opened("pairs_page", view="Weight against similarity", vectors="TF-IDF", miner="every pair")
    fine(page.run())
    names = {trace["name"] for trace in figure(page)["data"]}
    assert names == {"locality (multi-similarity)", "soft triplet", "contrastive"}
    assert not page.slider(key="tau").disabled  # of a curve that is drawn
    fine(page.multiselect(key="curves").set_value(["infonce", "cosent"]).run())
    assert {trace["name"] for trace in figure(page)["data"]} == {"InfoNCE (multiple negatives)", "CoSENT"}
    before = figure(page)
    fine(page.slider(key="tau").set_value(0.1).run())
    assert figure(page) != before
    fine(page.selectbox(key="loss").set_value("supcon").run())
    assert "Khosla" in said(page)
    fine(page.multiselect(key="curves").set_value([]).run())
    assert "Choose a loss" in page.info[0].value


def test_the_pair_is_explained_with_its_own_numbers(opened: Opened) -> None:
    page = fine(
        opened("pairs_page", view="One anchor", vectors="TF-IDF", miner="every pair", anchor="3", other="7").run()
    )
    table = page.dataframe[0].value.set_index("no.")
    said = next(text.value for text in page.text if text.value.startswith("similarity"))
    assert f"similarity {table.loc[7, 'similarity']:.3f}, {table.loc[7, 'kind']}" in said
    assert "e^{" in page.latex[-3].value
    assert f"{table.loc[7, 'weight']:.4g}".split("e")[0][:4] in page.latex[-1].value
    bars = [trace for trace in figure(page)["data"] if trace["type"] == "bar" and trace.get("xaxis", "x") == "x"]
    assert len(table) == sum(len(trace["customdata"]) for trace in bars)
    kept = table[table["weight"] > 0]
    np.testing.assert_allclose(kept["weight"], 1 / (kept["own part"] + kept["relative part"]))


def test_an_anchor_without_a_kept_pair_says_so(opened: Opened) -> None:
    page = opened("pairs_page", corpus="your own file", view="Weight against similarity", vectors="TF-IDF")
    rows = "".join(f"{'red' if i % 2 else 'blue'} car {'ab'[i % 2]}{i},{'ab'[i % 2]}\n" for i in range(20))
    with_file(page, f"text,label\n{rows}".encode())
    fine(page.slider(key="epsilon").set_value(0.0).run())
    assert "keeps no pair of this anchor" in page.info[0].value


def test_an_address_brings_the_view_back_and_nonsense_is_passed_over(opened: Opened) -> None:
    page = fine(
        opened("pairs_page", loss="contrastive", beta="nonsense", anchor="99999", vectors="TF-IDF", size="40").run()
    )
    assert page.selectbox(key="loss").value == "contrastive"
    assert page.slider(key="size").value == 40
    assert page.slider(key="beta").value == 50.0
    assert int(page.query_params["anchor"][0]) < 60


@pytest.mark.parametrize("view", VIEWS)
def test_the_code_makes_the_picture(opened: Opened, run_code: RunCode, view: str) -> None:
    page = fine(opened("pairs_page", view=view, vectors="TF-IDF", corpus="questions", miner="every pair").run())
    drawn = run_code(page)
    shown = figure(page, 1 if view == "The batch" else 0)
    assert [trace["type"] for trace in shown["data"]] == [trace.type for trace in drawn[0].data]


@pytest.mark.parametrize("name", ["questions", "places", "topics"])
def test_false_negatives_are_shown_where_somebody_knows(opened: Opened, run_code: RunCode, name: str) -> None:
    page = fine(opened("pairs_page", view="Hard negatives", vectors="TF-IDF", corpus=name).run())
    assert ("Here nearly all of the nearest are false" in said(page)) == (name == "topics")
    has_pictures(page, 1)
    assert [trace["name"] for trace in figure(page, 0)["data"][::2]] == ["no guide", "guided by TF-IDF"]
    drawn = json.loads(run_code(page)[0].to_json())
    assert [trace["y"] for trace in drawn["data"]] == [trace["y"] for trace in figure(page, 0)["data"]]


def test_where_nobody_knows_what_is_false_it_says_so(opened: Opened) -> None:
    page = fine(opened("pairs_page", view="Hard negatives", vectors="TF-IDF", corpus="relatedness").run())
    assert "'relatedness' is Pairs of which nobody knows more than its labels" in page.info[0].value


@pytest.mark.usefixtures("no_lab_runs")
def test_without_a_run_it_says_how_to_make_one(opened: Opened, tmp_path: Path) -> None:
    page = fine(opened("pairs_page", vectors="a stored run").run())
    fine(page.text_input(key="folders").set_value(str(tmp_path)).run())
    assert "no such run" in page.info[0].value
    assert page.code[0].value == "labkit train sentpwnet --corpus topics"
    page = fine(opened("pairs_page", view="Over the epochs", vectors="TF-IDF").run())
    assert "not trained in epochs" in page.info[0].value


@pytest.mark.usefixtures("no_lab_runs")
def test_a_run_moves_over_its_epochs_until_it_is_deleted(opened: Opened, tmp_path: Path) -> None:
    method = METHODS["sentpwnet"](epochs=2, dimension=8, size=12, device="cpu")
    method.fit(load("topics").take(range(0, 2000, 10)))
    method.save(tmp_path / "small")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{}")
    page = opened("pairs_page", vectors="a stored run", view="Over the epochs")
    page.session_state["folders"] = str(tmp_path)
    fine(page.run())
    assert page.selectbox(key="run").options == ["small"]
    lines = [trace for trace in figure(page)["data"] if trace.get("mode") == "lines+markers"]
    assert len(lines) == 4
    shutil.rmtree(tmp_path / "small")
    fine(page.run())
    assert "no such run" in page.info[0].value


ROWS = [
    f"<img src=//evil> sentence {i} about {'cats and dogs' if i % 2 else '=1+1 cars'},{'ab'[i % 2]}\n"
    for i in range(60)
]


@pytest.mark.parametrize("view", VIEWS)
def test_an_upload_is_text_everywhere_and_stays_out_of_the_address(opened: Opened, view: str) -> None:
    page = opened("pairs_page", corpus="your own file", view=view, vectors="TF-IDF", miner="every pair")
    fine(with_file(page, ("text,label\n" + "".join(ROWS)).encode()))
    assert len(page.get("plotly_chart")) == VIEWS[view]
    shows_no_markup(page)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"text,label\n", "has no rows"),
        (b"a,b\n1,2\n", "are not those of a corpus"),
        (b"text,label\na b,x\nc d,x\n", "every label is 'x'"),
        (b"text,label\nred car,x\nblue car,y\n", "a class of its own"),
        (b"text_a,text_b,score\na,b,nan\n", "score is 'nan'"),
        (b"PK\x03\x04", "is a zip archive"),
        ("text,label\ncafé,x\n".encode("latin-1"), "byte 0xe9"),
        (b"anchor,positive,negative,split\na,b,c,test\n", "no row in split 'train'"),
    ],
)
def test_a_bad_upload_is_one_sentence(opened: Opened, data: bytes, said: str) -> None:
    refused(with_file(opened("pairs_page", corpus="your own file", vectors="TF-IDF"), data), said)
