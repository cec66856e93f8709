"""The page "Space" without a browser: pictures and their code, epochs, Who moved, selected sentences, files."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
import streamlit as st
from space_sides import Side, picture_rows, save_files
from streamlit.testing.v1 import AppTest

from labkit.arrays import unit
from labkit.corpora import Labelled, load
from labkit.corpora.records import SPLITS
from labkit.evaluation.classes import separation
from labkit.evaluation.neighbours import moved_together, movement, moves
from labkit.evaluation.regions import counted_words
from labkit.evaluation.scores import score
from labkit.figures.epochs import kept_epoch
from labkit.methods import METHODS, load_run
from labkit.projection import Projection, project
from labkit.shipped import DEMONSTRATIONS, pictured
from labkit.spreadsheet import spreadsheet

from .conftest import (
    EVIL,
    HOSTILE,
    QUICK,
    Opened,
    RunCode,
    charts,
    figure,
    fine,
    has_pictures,
    named,
    near,
    numbers,
    refused,
    shows_no_markup,
    texts,
    with_file,
    with_runs,
)

# --- pictures, their scores and their code ------------------------------------------------------------------------


def looks(page: AppTest, number: int = 0) -> dict[str, tuple[str, str]]:
    """class -> its colour and marker symbol, without the other classes."""
    found = [trace for trace in figure(page, number)["data"] if "customdata" in trace and "other" not in trace["name"]]
    return {trace["name"]: (trace["marker"]["color"], trace["marker"]["symbol"]) for trace in found}


def code_with(page: AppTest, call: str) -> int:
    """The number of the code block that contains this call."""
    return next(
        at for at, code in enumerate(code for code in page.code if "import" in code.value) if call in code.value
    )


def table(page: AppTest) -> dict[str, list[float]]:
    """The table of scores: space or picture -> its values."""
    (found,) = named(page, "Scores of each")
    return {where: values for where, *values in found.to_numpy().tolist()}


@pytest.mark.parametrize("name", ["places", "relatedness"])
def test_a_corpus_has_a_picture_and_finite_scores(opened: Opened, name: str) -> None:
    page = fine(opened("space_page", corpus=name, **QUICK).run())
    has_pictures(page, 1)
    assert sum(numbers(trace["customdata"]).size for trace in figure(page)["data"]) == len(pictured(load(name)))
    assert list(table(page)) == ["TF-IDF", "its picture (PCA)"]
    assert np.isfinite(list(table(page).values())).all()
    assert ("no classes" in texts(page)) == (name == "relatedness")  # its classes are made from pairs
    if name == "places":
        fine(page.slider(key="classes").set_value(5).run())
        assert len(figure(page)["data"]) == 6
        assert figure(page)["data"][0]["name"].endswith(" others")  # drawn below all classes
        fine(page.selectbox(key="colour").select("latitude").run())
        assert "colorbar" in figure(page)["data"][0]["marker"]


@pytest.mark.whole
def test_a_class_has_one_colour_in_both_pictures_views_and_epochs(opened: Opened, run: Path) -> None:
    page = fine(opened("space_page", **QUICK | {"right": "SIF"}).run())
    seen = [looks(page), looks(page, 1)]
    fine(page.selectbox(key="part").select("of all splits").run())
    seen += [looks(page), looks(with_runs(opened, run, view="While it trained"))]
    for other in seen[1:]:
        both = seen[0].keys() & other.keys()
        assert len(both) >= 8
        assert {name: seen[0][name] for name in both} == {name: other[name] for name in both}


@pytest.mark.parametrize("solid", ["false", "true"])
def test_colour_and_shape_tell_all_classes_apart_and_the_list_says_which(opened: Opened, solid: str) -> None:
    page = fine(opened("space_page", **QUICK | {"solid": solid, "classes": "36", "corpus": "places"}).run())
    shown = looks(page)
    assert len(shown) == len(set(shown.values())) > 24  # so at least five shapes of six colours
    from space_reading import GLYPHS

    table = next(each.value for each in page.dataframe if "class" in each.value and "left" in each.value)
    glyphs = dict(zip(table["class"], table[" "], strict=True))
    assert len(set(GLYPHS.values())) == len(GLYPHS)
    assert all(glyphs[name] == GLYPHS[mark] for name, (_, mark) in shown.items())


def test_a_link_to_a_view_of_a_file_waits_for_the_file(opened: Opened) -> None:
    linked = {"corpus": "your own file", "view": "Who moved", "left": "TF-IDF", "right": "SIF", "how": "PCA"}
    page = fine(opened("space_page", **linked).run())
    assert len(page.info) == 1
    assert not charts(page)
    page = fine(with_file(page, HOSTILE.encode()))
    assert page.query_params["file"] == "mine.csv"  # a page opened from the address asks for this file
    assert [code for code in page.code if "file=mine.csv" in code.value]
    assert page.segmented_control(key="view").value == "Who moved"
    assert [page.selectbox(key=key).value for key in ("left", "right")] == ["tfidf", "sif"]
    has_pictures(page, 1)
    (asks,) = opened("space_page", **linked | {"file": f"{EVIL}.csv", "right": "run [of](//evil)"}).run().info
    assert all(text in asks.value for text in (r"\<img src=//evil\>.csv", r"\[of\](//evil)"))  # by name, as text


def test_the_code_makes_the_picture(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("space_page", **QUICK | {"left": "LSA", "solid": "true"}).run())
    shown = figure(page)["data"]
    assert {trace["type"] for trace in shown} == {"scatter3d"}
    drawn = run_code(page)
    assert [trace.name for trace in drawn[0].data] == [trace["name"] for trace in shown]
    assert [len(trace.x) for trace in drawn[0].data] == [numbers(trace["customdata"]).size for trace in shown]


# --- over the epochs ----------------------------------------------------------------------------------------------


def test_old_links_to_the_cosines_show_them_and_code_that_draws_them(
    opened: Opened, run: Path, run_code: RunCode
) -> None:
    page = with_runs(opened, run, right="run small", view="Cosines")
    assert page.segmented_control(key="view").value == "While it trained"
    has_pictures(page, 2 + 2)
    shown = [numbers(trace["y"]) for trace in figure(page, 2)["data"]]
    (drawn,) = run_code(page, code_with(page, "cosine_ridges("))
    for mine, trace in zip(shown, drawn.data, strict=True):
        np.testing.assert_allclose(mine, np.asarray(trace.y, float))
    fine(page.toggle(key="cosines").set_value(False).run())
    has_pictures(page, 2)


def test_a_link_names_the_models_and_the_epoch_shown(
    opened: Opened, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABKIT_RUNS", str(run))
    page, links = fine(opened("space_page", view="While it trained").run()), []
    for epoch in (0, 2):
        fine(page.select_slider(key="epoch").set_value(epoch).run())
        (link,) = [each.value for each in page.code if "view=" in each.value]
        links.append(dict(parse_qsl(urlsplit(link).query)))
    assert [link["epoch"] for link in links] == ["0", "2"]
    again = fine(opened("space_page", **links[1]).run())
    for key in ("left", "right"):
        assert links[1][key] == page.selectbox(key=key).options[page.selectbox(key=key).index]
        assert again.selectbox(key=key).value == page.selectbox(key=key).value
    assert again.select_slider(key="epoch").value == 2


@pytest.mark.whole
def test_epochs_play_and_search_results_move_along(opened: Opened, run: Path, run_code: RunCode) -> None:
    page = with_runs(opened, run, view="While it trained")
    drawn = figure(page)
    assert [frame["name"] for frame in drawn["frames"]] == ["0", "1", "2"]
    assert page.select_slider(key="epoch").value == 0  # the start of the animation
    kept = kept_epoch(load_run(run / "small").history)
    names = [frame["data"][-1]["text"][0] for frame in drawn["frames"]]
    assert [name for name in names if "kept" in name] == [f"epoch {kept} (kept)"]
    assert len(run_code(page)[0].frames) == 3
    fine(page.select_slider(key="epoch").set_value(2).run())
    assert "space, epoch 2" in table(page)
    probe = load_run(run / "small").snapshots.texts
    word = probe[7].split()[0].lower()
    fine(page.text_input(key="query").set_value(word).run())
    rows = [row for row, text in enumerate(probe) if word in text.lower()]
    drawn = figure(page)
    place = next(at for at, trace in enumerate(drawn["data"]) if trace.get("name") == "found")
    assert all(len(frame["data"][place]["x"]) == len(rows) > 0 for frame in drawn["frames"])
    page.query_params["row"] = "7"
    assert [len(found) for found in near(fine(page.run()))] == [10]


def test_each_score_names_its_model(opened: Opened) -> None:
    page = fine(opened("space_page", **QUICK | {"right": "run sentpwnet-topics"}).run())
    (verdict,) = [text.value for text in page.markdown if "% with TF-IDF" in text.value.replace("*", "")]
    scores = [METHODS["tfidf"](), load_run(DEMONSTRATIONS["sentpwnet-topics"].folder)]
    scores[0].fit(load("topics"))
    first, second = (score(method, load("topics")).figures["knn_accuracy"] for method in scores)
    assert f"**{100 * first:.1f} %** with TF-IDF and **{100 * second:.1f} %** with sentpwnet-topics" in verdict
    (notes,) = [text.value for text in page.caption if "better than mean word vectors" in text.value]
    assert notes.startswith("sentpwnet-topics: kNN accuracy") or ". sentpwnet-topics: kNN accuracy" in notes
    assert "decide" not in verdict
    few = [f"{kind} {n} in {split},{kind},{split}" for kind in ("car", "cat") for n in range(9) for split in SPLITS]
    data = "\n".join(["text,label,split", *few]).encode()
    page = with_file(opened("space_page", corpus="your own file", **QUICK | {"right": "TF-IDF"}), data)
    assert re.search(r"On the 18 test .*\*\*\d+ of 18\*\*.*decide", texts(fine(page)))  # a count, as they are few


def test_a_class_of_the_list_is_marked_in_both_pictures_and_in_the_link(opened: Opened) -> None:
    page = fine(opened("space_page", **QUICK | {"right": "SIF", "class": "cooking"}).run())
    shown = pictured(load("topics"))
    rows = [row for row, label in enumerate(shown.labels) if label == "cooking"]
    for number in (0, 1):
        held = [trace for trace in figure(page, number)["data"] if "customdata" in trace]
        marked = [numbers(trace["customdata"])[trace["selectedpoints"]] for trace in held]
        assert sorted(np.concatenate(marked).tolist()) == rows
    table = next(each.value for each in page.dataframe if "class" in each.value and "left" in each.value)
    measured = [separation(vectors, shown.labels) for vectors in spaces_of("tfidf", "sif")]
    (line,) = table[table["class"] == "cooking"][["left", "right", "Δ"]].to_numpy().tolist()
    before, after = (100 * each.by_class["cooking"] for each in measured)
    assert line == pytest.approx([before, after, after - before])
    fine(page.button(key="clear").click().run())
    assert "class" not in page.query_params
    assert all("selectedpoints" not in trace for number in (0, 1) for trace in figure(page, number)["data"])


def test_a_corpus_without_a_run_offers_the_training(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    where: list[Any] = []
    page = fine(with_file(opened("space_page", corpus="your own file", **QUICK), HOSTILE.encode()))
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: where.append((page, query_params)))
    fine(page.button(key="train-on-it").click().run())
    assert where == [("train_page.py", {"view": "Train"})]
    assert not [button for button in opened("space_page", **QUICK).run().button if button.key == "train-on-it"]


# --- who moved ----------------------------------------------------------------------------------------------------


def who(opened: Opened, **address: str) -> AppTest:
    return fine(opened("space_page", **QUICK | {"right": "SIF", "view": "Who moved"} | address).run())


def spaces_of(*names: str) -> list[np.ndarray]:
    methods = [METHODS[name]() for name in names]
    for method in methods:
        method.fit(load("topics"))
    return [method.encode(pictured(load("topics")).texts, normalize_embeddings=True) for method in methods]


def lines(page: AppTest) -> dict[str, int]:
    """outcome -> number of lines from old to new points."""
    found = {trace["name"].split()[0]: numbers(trace["x"]).size // 3 for trace in figure(page)["data"]}
    return {name: count for name, count in found.items() if name in ("worse", "better", "neither", "others")}


def test_who_moved_lists_its_sentences_and_a_row_selects_one(opened: Opened, run_code: RunCode) -> None:
    page = who(opened)
    has_pictures(page, 1)
    shown, moved = pictured(load("topics")), movement(*spaces_of("tfidf", "sif"))
    found = moves(moved, shown.labels)
    groups = moved_together(found)
    assert f"**{sum(found.outcome != ''):,} of {len(shown):,} sentences**" in texts(page)
    counts = {name: len(found.rows(name)) for name in ("worse", "better", "neither")}
    (choice,) = [each for each in page.segmented_control if each.key == "list"]
    assert [[*map(int, re.findall("[0-9]+", option.content))] for option in choice.proto.options] == [
        [count] for count in counts.values()
    ]
    largest = len(next(iter(groups.values())))  # its lines are coloured, all others are grey
    assert lines(page) == {"worse": largest, "others": counts["worse"] - largest}
    for outcome, count in [each for each in counts.items() if each[1]]:
        fine(page.segmented_control(key="list").set_value(outcome).run())
        (table,) = named(page, "Sentences in the list")
        rows = found.rows(outcome)
        assert table["sentence"].tolist() == [shown.texts[row] for row in rows]
        assert table["class"].tolist() == [shown.labels[row] for row in rows]
        assert table["nearest before"].tolist() == [shown.labels[near] for near in moved.before[rows, 0]]
        assert table["nearest now"].tolist() == [shown.labels[near] for near in moved.after[rows, 0]]
        buttons = [button.label for button in page.button if button.key.startswith("together-")]
        own = [(str(len(rows)), *way[1:]) for way, rows in groups.items() if way[0] == outcome][: len(buttons)]
        assert [tuple(label.replace("*", "").split()[::2]) for label in buttons] == own
        more = [int(number) for number in re.findall("and ([0-9]+) more", texts(page))]
        assert sum(int(label.split()[0]) for label in buttons) + sum(more) == count
    page.query_params["row"] = str(rows[0])
    fine(page.run())
    assert shown.texts[rows[0]] in texts(page)
    assert any(trace.get("marker", {}).get("size") == 26 for trace in figure(page)["data"])  # its ring
    assert len(near(page)) == 2


@pytest.mark.whole
def test_a_group_that_moved_is_marked_in_all_views(opened: Opened, run_code: RunCode) -> None:
    page = who(opened)
    assert len(run_code(page)) == 1
    shown, moved = pictured(load("topics")), movement(*spaces_of("tfidf", "sif"))
    rows = next(iter(moved_together(moves(moved, shown.labels)).values())).tolist()
    fine(page.button(key="together-0").click().run())
    fine(page.segmented_control(key="view").set_value("Before and after").run())
    assert sorted(named(page, "Sentences in the list")[0]["sentence"]) == sorted(shown.texts[row] for row in rows)
    for number in (0, 1):
        chosen = [trace for trace in figure(page, number)["data"] if "customdata" in trace]
        held = [numbers(trace["customdata"])[trace["selectedpoints"]] for trace in chosen]
        assert sorted(np.concatenate(held).tolist()) == sorted(rows)
    fine(page.selectbox(key="colour").select("neighbours changed").run())
    for number in (0, 1):
        colours = numbers(figure(page, number)["data"][0]["marker"]["color"])
        np.testing.assert_allclose(colours, moved.change, rtol=1e-6)


@pytest.mark.whole
def test_what_moved_since_the_first_epoch_is_a_colour(opened: Opened, run: Path) -> None:
    snapshots = load_run(run / "small").snapshots
    moved = movement(*(unit(snapshots.vectors[at]) for at in (0, 1)))
    page = with_runs(opened, run, view="While it trained", colour="neighbours changed", epoch="1")
    np.testing.assert_allclose(numbers(figure(page)["data"][0]["marker"]["color"]), moved.change, rtol=1e-6)


def test_the_mean_trust_is_the_share_of_neighbours_that_the_picture_keeps(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("space_page", **QUICK | {"left": "LSA"}, colour="trust").run())
    assert "neighbours changed" not in page.selectbox(key="colour").options
    (points,) = [trace for trace in figure(page)["data"] if "customdata" in trace]
    shares = numbers(points["marker"]["color"])
    assert f"{100 * shares.mean():.0f} % of the 5 nearest" in texts(page)
    assert (run_code(page)[0].data[0].marker.color == shares).mean() > 0.9  # the code does not round its picture


def test_neighbours_of_too_many_sentences_are_not_compared(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, right in (("AT_ONCE", "LSA"), ("SPARSE_AT_ONCE", "TF-IDF")):
        page = opened("space_page", **QUICK | {"left": "SIF", "right": right}).run()
        monkeypatch.setattr(sys.modules["space_moved"], limit, 100)
        fine(page.segmented_control(key="view").set_value("Who moved").run())
        assert not page.get("plotly_chart")


@pytest.mark.whole
def test_words_of_regions_are_in_the_picture(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("space_page", **QUICK | {"left": "LSA"}, labels="words").run())
    written = [text["text"] for text in figure(page)["layout"]["annotations"]]
    assert len(written) > 2
    assert {word for text in written for word in text.split()} <= set(
        counted_words(pictured(load("topics")).texts).words
    )
    assert [text.text for text in run_code(page)[0].layout.annotations][:3] == written[:3]
    fine(page.selectbox(key="labels").select("none").run())
    assert not figure(page)["layout"].get("annotations")


# --- sentences: searched for, typed, marked and selected ----------------------------------------------------------


def clicked(page: AppTest, row: int, side: str = "left") -> AppTest:
    """The page after a click on a point, as plotly would report it."""
    state = page.session_state["marked"]
    state.source, state.rows = side, [row]
    page.query_params["row"] = str(row)
    page.session_state["row-said"] = [str(row)]  # set by the page, not by Back or a link
    return fine(page.run())


def places(page: AppTest, number: int = 0) -> dict[int, float]:
    """row -> its first coordinate in a picture."""
    traces = [trace for trace in figure(page, number)["data"] if "customdata" in trace]
    return {
        row: x
        for trace in traces
        for row, x in zip(numbers(trace["customdata"]).tolist(), numbers(trace["x"]).tolist(), strict=True)
    }


def with_every_word(*words: str) -> list[int]:
    """The rows of `topics` that contain all of these words."""
    return [row for row, text in enumerate(pictured(load("topics")).texts) if all(w in text.lower() for w in words)]


def test_neighbours_in_both_spaces(opened: Opened) -> None:
    page = fine(opened("space_page", **QUICK | {"right": "SIF"}, row="5").run())
    has_pictures(page, 2)
    shown = pictured(load("topics"))
    assert any(shown.texts[5] in text.value for text in page.text)
    for name, found in zip(("tfidf", "sif"), near(page), strict=True):
        method = METHODS[name]()
        method.fit(load("topics"))
        similarity = np.asarray(method.similarity([shown.texts[5]], list(shown.texts)))[0]
        similarity[5] = -9
        assert [line[0] for line in found] == pytest.approx(np.sort(similarity)[::-1][:10].tolist(), abs=6e-4)
        nearest = shown.texts.index(found[0][3])  # the whole sentence
        assert similarity[nearest] == pytest.approx(similarity.max(), abs=1e-5)
        assert [bool(tick) for _, tick, _, _ in found] == [label == shown.labels[5] for _, _, label, _ in found]


def test_search_results_have_rings_and_are_selected_from_the_list(opened: Opened) -> None:
    page = fine(opened("space_page", **QUICK | {"left": "LSA"}).run())
    fine(page.text_input(key="query").set_value("the OVEN").run())
    rows = with_every_word("the", "oven")
    assert 0 < len(rows) < 20
    shown = pictured(load("topics")).texts
    assert named(page, "Sentences in the list")[0]["sentence"].tolist() == [shown[row] for row in rows]
    assert "oven" not in str(page.query_params).lower()
    for solid in (False, True):
        fine(page.toggle(key="solid").set_value(solid).run())
        found = figure(page)["data"][-1]
        assert (found["name"], found["marker"]["symbol"], "z" in found) == ("found", "circle-open", solid)
        assert numbers(found["x"]).tolist() == pytest.approx([places(page)[row] for row in rows])
    page.query_params["row"] = str(rows[0])
    fine(page.run())
    ring = figure(page)["data"][-1]
    assert numbers(ring["x"]).tolist() == pytest.approx([places(page)[rows[0]]])
    assert ring["marker"]["size"] > found["marker"]["size"]
    assert [len(found) for found in near(page)] == [10]
    fine(page.selectbox(key="corpus").select("places").run())
    assert "row" not in page.query_params  # in another corpus, the row is another sentence


def test_a_typed_copy_of_a_sentence_has_the_original_as_nearest_neighbour(opened: Opened) -> None:
    shown = pictured(load("topics"))
    page = fine(opened("space_page", **QUICK | {"right": "SIF", "how": "t-SNE"}).run())
    fine(page.text_input(key="typed").set_value(shown.texts[9]).run())
    for number, found in zip((0, 1), near(page), strict=True):
        assert figure(page, number)["data"][-1]["name"] == "typed"
        assert (found[0][0], found[0][3]) == (1, " ".join(shown.texts[9].split()))
    assert "typed" not in page.query_params
    fine(page.text_input(key="typed").set_value(f"{EVIL} rain").run())
    shows_no_markup(page)
    fine(page.text_input(key="typed").set_value("qwxz zzkk").run())  # words unknown to both methods
    assert all("qwxz, zzkk" in warning.value for warning in page.warning)
    assert len(page.warning) == 2
    assert not any(trace.get("name") == "typed" for trace in figure(page)["data"])
    assert not near(page)
    fine(page.text_input(key="typed").set_value("rain and qwxz").run())
    assert all("qwxz" in warning.value for warning in page.warning)
    assert len(near(page)) == 2


def test_a_click_has_a_ring_in_the_other_picture_and_clear_removes_everything(opened: Opened) -> None:
    page = fine(opened("space_page", **QUICK | {"right": "SIF"}).run())
    clicked(page, 7)
    rings = [
        [trace for trace in figure(page, number)["data"] if trace["marker"]["symbol"] == "circle-open"]
        for number in (0, 1)
    ]
    assert [len(found) for found in rings] == [0, 1]  # the browser draws it in its own, which keeps the zoom
    assert numbers(rings[1][0]["x"]).tolist() == [places(page, 1)[7]]
    fine(page.text_input(key="query").set_value("the rain").run())
    rows = with_every_word("the", "rain")
    assert 7 not in rows
    assert len(named(page, "Sentences in the list")[0]) == len(rows)  # all of them, although none is marked
    fine(page.text_input(key="typed").set_value("a storm").run())
    heads = [text.value for text in page.markdown if text.value.endswith("sentence**")]
    assert heads == ["**Typed sentence**", "**Selected sentence**"]
    charts = [chart.proto.id for chart in page.get("plotly_chart")]
    fine(page.button(key="clear").click().run())
    assert (page.text_input(key="query").value, page.text_input(key="typed").value) == ("", "")
    assert "row" not in page.query_params
    assert not near(page)
    assert not named(page, "Sentences in the list")
    assert not {chart.proto.id for chart in page.get("plotly_chart")} & set(charts)  # new charts: no selection is left
    assert all("selectedpoints" not in trace for number in (0, 1) for trace in figure(page, number)["data"])


# --- pictures from another process --------------------------------------------------------------------------------


def test_a_projection_in_another_process_is_equal_and_a_killed_process_is_replaced(opened: Opened) -> None:
    opened("space_page")  # puts the app on the path
    cached, rows = import_module("cached"), np.random.default_rng(0).normal(size=(60, 6)).astype(np.float32)
    here, there = project(rows), cached.made_apart(project, rows)
    np.testing.assert_allclose(there.points, here.points, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="4"):
        cached.made_apart(project, rows[:2])
    with pytest.raises(ValueError, match="process"):
        cached.made_apart(os._exit, 1)
    assert cached.made_apart(project, rows).quality == here.quality
    cached.picture_pool().shutdown()


# --- files --------------------------------------------------------------------------------------------------------


def test_an_upload_is_text_everywhere_and_stays_out_of_the_address(opened: Opened) -> None:
    page = opened("space_page", corpus="your own file", **QUICK, row="3")
    fine(with_file(page, HOSTILE.encode()))
    fine(page.text_input(key="query").set_value("cats").run())
    for column in page.selectbox(key="colour").options:
        fine(page.selectbox(key="colour").select(column).run())
        shows_no_markup(page)


def vectors_file(kind: str) -> tuple[str, bytes]:
    """The name and content of a file of vectors, or of a pickle."""
    count = len(load("topics").sentences())
    rows, file = np.random.default_rng(0).normal(size=(count, 5)).astype(np.float32), io.BytesIO()
    if kind == "pickle":
        np.savez(file, vectors=np.array([{"a": 1}], dtype=object))
        return "mine.npz", file.getvalue()
    if kind == "bare pickle":
        return "mine.npy", pickle.dumps([1, 2])
    np.savez(file, vectors=rows)
    return "mine.npz", file.getvalue()


@pytest.mark.parametrize("kind", ["pickle", "bare pickle", "good"])
def test_uploaded_vectors(opened: Opened, kind: str) -> None:
    page = opened("space_page", **QUICK | {"left": "your own vectors"}).run()
    name, data = vectors_file(kind)
    page.file_uploader(key="left-file-upload").upload(name, data, "application/octet-stream").run()
    if kind != "good":
        refused(page, name)
        assert "tmp" not in page.error[0].value
        return
    has_pictures(fine(page), 1)
    refused(page.text_input(key="typed").set_value("a sentence without a row").run(), "no row")


def test_saved_rows_contain_no_formula_and_saved_vectors_are_not_normalized(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Labelled(["=1+1", "two"], ["@x", "y"], extra={"kind": ["-a", "b"]})
    picture = Projection("PCA", np.array([[-0.5, 1], [2, 3]], np.float32))
    lines = spreadsheet(picture_rows(picture, shown)).lstrip("\ufeff").splitlines()
    assert lines[:2] == ["row,text,label,split,kind,PCA 1,PCA 2", "0,'=1+1,'@x,train,'-a,-0.5,1.0"]
    kept: list[Any] = []
    monkeypatch.setattr(st, "download_button", lambda label, content, *rest, **more: kept.append(content))
    rows = np.array([[3, 4], [0, 2]], np.float32)  # not of unit length, as from a method that uses distances
    save_files(Side("left", SimpleNamespace(folder=None), shown, (), picture, lambda: (rows, unit(rows))))
    assert np.load(io.BytesIO(kept[0]()))["vectors"].tolist() == rows.tolist()


# --- sentences without labels, and classes found in them ----------------------------------------------------------

ABOUT = {"cat": "the {} cat sleeps near a purring kitten", "oak": "an {} oak grows beside the mossy tree trunk"}
LINES = [line.format(f"{EVIL} =1+{i}") for i in range(40) for line in ABOUT.values()]


def pasted(opened: Opened, text: str, module: str = "space_page", **address: str) -> AppTest:
    """The page after pasting `text`."""
    page = opened(module, corpus="your own file", **address).run()
    page.text_area(key="file-lines").set_value(text)
    return page.button(key="file-paste").click().run()


def of_lines(opened: Opened, **address: str) -> AppTest:
    return fine(pasted(opened, "\n\n".join(LINES), **{"how": "PCA", "right": "nothing"} | address))


def classes(figure: dict) -> list[tuple]:
    """The rows and the colour of each class in a picture."""
    found = [trace for trace in figure["data"] if "customdata" in trace]
    return [(numbers(trace["customdata"]).tolist(), trace["marker"]["color"]) for trace in found]


def test_pasted_lines_are_shown_in_classes_named_by_their_words(
    opened: Opened, run_code: RunCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = of_lines(opened, **{"found-count": "2", "row": "3"})
    assert page.selectbox(key="left").value == "sif"
    traces = [trace for trace in figure(page)["data"] if "customdata" in trace]
    known = {word for line in ABOUT.values() for word in line.split()}
    assert all(set(re.findall(r"\w+", trace["name"])) <= known for trace in traces)
    assert [numbers(trace["customdata"]).size for trace in traces] == [40, 40]
    assert all("✓" in tick for _, tick, _, _ in near(page)[0][:5])  # neighbours are of the same found class
    fine(page.text_input(key="query").set_value("oak").run())
    assert len(named(page, "Sentences in the list")[0]) == 40
    shows_no_markup(page)
    page = of_lines(opened, right="LSA", **{"found-count": "5"})
    monkeypatch.chdir(tmp_path)
    Path("pasted.txt").write_text("\n".join(LINES))
    for number in (0, 1):
        drawn = json.loads(run_code(page, number)[-1].to_json())
        assert len(classes(drawn)) == 5
        assert classes(drawn) == classes(figure(page, number))


@pytest.mark.whole
def test_without_classes_neither_classes_nor_their_scores_are_shown(opened: Opened) -> None:
    page = of_lines(opened, **{"found": "nobody", "row": "3"})
    (trace,) = [trace for trace in figure(page)["data"] if "customdata" in trace]
    assert not trace["showlegend"]
    assert not named(page, "Scores of each")
    assert "✓" not in texts(page)
    page = of_lines(opened, **{"found": "nobody", "right": "LSA", "view": "Who moved"})
    assert "no label" not in texts(page) + " ".join(button.label for button in page.button)


def test_classes_found_become_the_corpus_of_all_pages(opened: Opened) -> None:
    page = of_lines(opened, **{"found-count": "2"})
    fine(page.button(key="found-corpus").click().run())
    assert "found" not in [box.key for box in page.selectbox]  # they have classes now
    rows = [json.loads(line) for line in page.session_state["file"].data.splitlines()]
    assert [row["text"] for row in rows] == LINES
    assert len({row["label"] for row in rows}) == 2
    assert page.selectbox(key="corpus").value == "your own file"


@pytest.mark.parametrize("text", ["a\0b\nc", "a\nb\0c", "a\tb\nc\td"])
def test_bad_pasted_text_is_refused(opened: Opened, text: str) -> None:
    refused(pasted(opened, text, how="PCA", right="nothing"), "")


@pytest.mark.parametrize(
    ("module", "view", "said"),
    [
        ("why_page", "", 1),
        *((f"papers_page?try={panel}", "", 1) for panel in ("film", "sbert-lp", "pthought", "thematic")),
        ("train_page", "Runs", 1),
        ("train_page", "Data", 0),
    ],
)
def test_what_needs_labels_says_so(opened: Opened, module: str, view: str, said: int) -> None:
    page = pasted(opened, "\n".join(LINES), module, vectors="sif", base="sif", view=view)
    if view:  # a new file shows its data first
        page.segmented_control(key="view").set_value(view).run()
    assert not page.exception
    assert len([*page.error, *page.info]) == said
    assert not charts(page)


# --- the panels of the selected sentence --------------------------------------------------------------------------


def test_a_selected_sentence_has_its_star(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("space_page", **QUICK | {"left": "SIF", "row": "5"}).run())
    before = len(charts(page))
    fine(page.button(key="star").click().run())
    assert len(charts(page)) == before + 2
    (rows,) = (table.value for table in page.dataframe if "rank before" in table.value)
    shown = pictured(load("topics"))
    assert set(rows["sentence"]) < set(shown.texts) - {shown.texts[5]}
    assert (rows["rank before"] > 0).sum() == 10
    drawn = json.loads(run_code(page, code_with(page, "star("))[-1].to_json())
    hovers = [[trace.get("hovertemplate") for trace in each["data"]] for each in (drawn, figure(page, before + 1))]
    assert hovers[0] == hovers[1]  # they contain the sentences


def test_a_selected_paraphrase_has_its_group(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("space_page", **QUICK | {"left": "SIF", "right": "LSA", "corpus": "captions", "row": "5"}).run())
    fine(page.button(key="group").click().run())
    (rows,) = (table.value for table in page.dataframe if {"sentence", "group"} <= {*table.value})
    text, test = pictured(load("captions")).texts[5], load("captions").part("test")
    own = test.groups[test.texts.index(text)]
    same = {each for each, group in zip(test.texts, test.groups, strict=True) if group == own}
    assert rows["sentence"][0] == text
    assert set(rows[rows["group"] == "A"]["sentence"]) == same
    assert sorted(set(rows["group"])) == list("ABCDEF")
    for name, side in (("sif", "left"), ("lsa", "right")):
        method = METHODS[name]()
        method.fit(load("captions"))
        vectors = method.encode(list(rows["sentence"]), normalize_embeddings=True)
        np.testing.assert_allclose(rows[f"cosine, {side}"], vectors @ vectors[0], atol=1e-5)
    drawn = json.loads(run_code(page, code_with(page, "groups_with("))[-1].to_json())
    for mine, other in zip(drawn["data"], figure(page, 2)["data"], strict=True):
        assert mine["name"] == other["name"]
        np.testing.assert_allclose(numbers(mine["x"]), numbers(other["x"]), atol=1e-5)
