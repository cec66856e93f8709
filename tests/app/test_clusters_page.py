"""The page "Clusters" without a browser: corpora, spaces, pictures, epochs, sentences read and typed, and bad files."""

from __future__ import annotations

import io
import json
import pickle
import re
import shutil
import sys
from base64 import b64decode
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from labkit.corpora import Labelled, load
from labkit.corpora.table import EMBEDDED
from labkit.evaluation.inputs import unit
from labkit.evaluation.neighbours import moved_together, movement
from labkit.evaluation.regions import counted_words, set_apart
from labkit.lab.shipped import DEMONSTRATIONS, pictured, standing
from labkit.methods import METHODS
from labkit.methods import load as load_run

from .conftest import Opened, RunCode, figure, fine, has_pictures, refused, with_file

QUICK = {"how": "PCA", "left": "TF-IDF", "right": "nothing"}
EVIL = "<img src=//evil>"


def numbers(values: list | dict) -> np.ndarray:
    """An array as plotly writes it."""
    return np.array(values) if isinstance(values, list) else np.frombuffer(b64decode(values["bdata"]), values["dtype"])


def texts(page: AppTest) -> str:
    return "\n".join(str(found.value) for kind in (page.markdown, page.caption, page.text) for found in kind)


def named(page: AppTest, alt: str) -> list:
    """Tables by the beginning of their name."""
    return [found.value for found in page.dataframe if found.proto.alt.startswith(alt)]


NEIGHBOUR = re.compile(r"\d+\. \*\*(-?[\d.]+)\*\* · (✓ )?(.*?) · (.*)")


def near(page: AppTest) -> list[list[tuple[float, str, str, str]]]:
    """Each list of neighbours: similarity, tick, class and the whole sentence, as they are read."""
    found: list[list[tuple[float, str, str, str]]] = []
    for line in (re.sub(r"\\(.)", r"\1", text.value) for text in page.markdown):
        for similarity, *rest in NEIGHBOUR.findall(line):
            if line.startswith("1. **"):
                found.append([])
            found[-1].append((float(similarity), *rest))
    return found


def clicked(page: AppTest, row: int, side: str = "left") -> AppTest:
    """The page after a click on a point, as plotly would tell it."""
    state = page.session_state["marked"]
    state.source, state.now, state.clicked = side, type(state.now)(rows=(row,)), True
    page.query_params["row"] = str(row)
    page.session_state["row-said"] = [str(row)]  # by the page itself, not by Back or a link
    return fine(page.run())


def codes(page: AppTest) -> list[str]:
    """What code there is to read."""
    labels = [box.proto.popover.label for box in page.get("popover")]
    return [label for label in labels if label.startswith("Show the code")]


def looks(page: AppTest, number: int = 0) -> dict[str, tuple[str, str]]:
    """class -> its colour and its mark, of those that have one."""
    found = [trace for trace in figure(page, number)["data"] if "customdata" in trace and trace["name"] != "others"]
    return {trace["name"]: (trace["marker"]["color"], trace["marker"]["symbol"]) for trace in found}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    method = METHODS["sentpwnet"](epochs=2, dimension=8, size=12, device="cpu")
    method.fit(load("topics").take(range(0, 2000, 10)))
    method.save(folder / "small")
    return folder


def with_runs(opened: Opened, folder: Path, **address: str) -> AppTest:
    """The page with a stored run of a folder."""
    page = opened("clusters_page", left="a stored run", right="nothing", how="PCA", **address)
    page.session_state["left-folders"] = str(folder)
    return fine(page.run())


def over_the_epochs(opened: Opened, folder: Path) -> AppTest:
    return with_runs(opened, folder, view="Over the epochs")


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_corpus_has_a_picture_and_named_figures(opened: Opened, name: str) -> None:
    page = fine(opened("clusters_page", corpus=name, **QUICK).run())
    assert len(page.get("plotly_chart")) == 1
    assert page.get("plotly_chart")[0].proto.alt.startswith(
        f"The space of TF-IDF by PCA, left: {len(pictured(load(name))):,} sentences"
    )
    table = next(found.value for found in page.markdown if "inter/intra" in found.value)
    rows = [line.split("|")[1:-1] for line in table.splitlines()]
    assert [row[0].strip() for row in rows] == ["measured in", ":--", "TF-IDF", "its picture (PCA)"]
    assert all(np.isfinite(float(cell)) for row in rows[2:] for cell in row[1:])


def test_of_two_pictures_of_one_legend_one_has_it_and_both_have_one_table(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "LSA"}).run())
    first, second = (figure(page, number)["layout"] for number in range(2))
    assert (first["showlegend"], second["showlegend"]) == (True, False)
    assert first["height"] - first["margin"]["b"] == second["height"] - second["margin"]["b"]  # as large as the other
    tables = [found.value for found in page.markdown if "inter/intra" in found.value]
    (table,) = tables
    rows = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    assert rows == ["TF-IDF", "its picture (PCA)", "LSA", "its picture (PCA)"]


@pytest.mark.parametrize(("how", "solid"), [("PCA", "true"), ("t-SNE", "false"), ("LLE", "false")])
def test_every_picture_and_code_that_makes_it(opened: Opened, run_code: RunCode, how: str, solid: str) -> None:
    page = fine(opened("clusters_page", **QUICK | {"how": how, "solid": solid, "left": "LSA"}).run())
    shown = figure(page)["data"]
    assert {trace["type"] for trace in shown} == {"scatter3d" if solid == "true" else "scatter"}
    assert f"picture ({how})" in texts(page)
    drawn = run_code(page)
    assert [trace.name for trace in drawn[0].data] == [trace["name"] for trace in shown]
    assert [len(trace.x) for trace in drawn[0].data] == [numbers(trace["customdata"]).size for trace in shown]


def test_shipped_runs_come_first_with_what_they_are_worth(opened: Opened) -> None:
    here = [run for run in DEMONSTRATIONS.values() if run.here]
    if not here:
        pytest.skip("needs the runs that come with the lab")
    run = here[0]
    page = fine(opened("clusters_page", corpus=run.corpus, how="PCA").run())
    mine = [f"run {each.name}" for each in here if each.corpus == run.corpus]
    assert page.selectbox(key="left").options[: len(mine)] == mine
    assert page.selectbox(key="right").value == mine[0]
    found = standing(run.name)
    assert found is not None
    said = [caption.value.replace("\\", "") for caption in page.caption]
    assert any(str(found) in line for line in said)
    assert any(f"mean word vectors ({found.baseline:.3f}" in line for line in said)


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


def test_a_class_has_one_colour_in_both_pictures_views_and_epochs(opened: Opened, run: Path) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}).run())
    seen = [looks(page), looks(page, 1)]
    fine(page.selectbox(key="part").select("of all splits").run())
    seen.append(looks(page))
    seen.append(looks(over_the_epochs(opened, run)))
    assert seen[0]
    for other in seen[1:]:
        both = seen[0].keys() & other.keys()
        assert len(both) >= 8
        assert {name: seen[0][name] for name in both} == {name: other[name] for name in both}


@pytest.mark.parametrize("corpus", ["questions", "articles", "topics"])
def test_names_of_classes_stand_in_the_picture_and_none_on_another(opened: Opened, corpus: str) -> None:
    page = fine(opened("clusters_page", corpus=corpus, **QUICK).run())
    drawn = figure(page)
    names = [trace["name"] for trace in drawn["data"] if "customdata" in trace]
    assert all(len(name) <= 15 for name in names)  # so long that a legend can be read
    assert len(set(names)) == len(names)
    written = [text["text"] for text in drawn["layout"]["annotations"]]
    assert len(written) >= 4
    assert set(written) <= set(names) - {"others"}
    of_others = next(trace for trace in drawn["data"] if trace["name"] == "others")
    labels = pictured(load(corpus)).labels
    row = numbers(of_others["customdata"])[0]
    assert f" — {labels[row]}"[:40] in of_others["text"][0].replace("<br>", " ")  # who points at it reads its class
    assert "others" not in of_others["hovertemplate"]


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


def test_how_many_of_how_many_are_shown_is_said(opened: Opened) -> None:
    page = fine(opened("clusters_page", corpus="captions", part="of all splits", **QUICK).run())
    shown = sum(numbers(trace["customdata"]).size for trace in figure(page)["data"])
    said = next(caption.value for caption in page.caption if " of 5,000 sentences" in caption.value)
    assert said.startswith(f"{shown:,} of 5,000 sentences, ")
    assert "Each class is whole" in said
    table = next(found.value for found in page.markdown if "inter/intra" in found.value)
    assert all(np.isfinite(float(cell)) for line in table.splitlines()[2:] for cell in line.split("|")[2:-1])


def test_two_pieces_of_code_say_whose_they_are(opened: Opened, run: Path) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}).run())
    assert codes(page) == ["Show the code: left, TF-IDF", "Show the code: right, SIF"]
    fine(page.selectbox(key="right").set_value("nothing").run())
    assert codes(page) == ["Show the code"]


def test_colour_by_any_column(opened: Opened) -> None:
    page = fine(opened("clusters_page", corpus="places", **QUICK).run())
    assert page.selectbox(key="colour").options[:3] == ["class", "split", "words in it"]
    fine(page.selectbox(key="colour").select("latitude").run())
    assert "colorbar" in figure(page)["data"][0]["marker"]
    fine(page.slider(key="classes").set_value(5).run())
    fine(page.selectbox(key="colour").select("class").run())
    assert len(figure(page)["data"]) == 6
    assert figure(page)["data"][0]["name"] == "others"  # below all others


def test_epochs_play_in_axes_that_stay(opened: Opened, run: Path) -> None:
    page = over_the_epochs(opened, run)
    drawn = figure(page)
    assert [frame["name"] for frame in drawn["frames"]] == ["0", "1", "2"]
    assert drawn["layout"]["annotations"][0]["text"] == "epoch 2"
    axes = drawn["layout"]["xaxis"]["range"], drawn["layout"]["yaxis"]["range"]
    assert page.select_slider(key="epoch-choice").value == 2
    fine(page.select_slider(key="epoch-choice").set_value(0).run())
    assert page.query_params["epoch"] == "0"
    drawn = figure(page)
    assert drawn["layout"]["annotations"][0]["text"] == "epoch 0 (before training)"
    assert (drawn["layout"]["xaxis"]["range"], drawn["layout"]["yaxis"]["range"]) == axes
    assert "space, epoch 0" in texts(page)
    page.query_params["row"] = "4"
    fine(page.run())
    assert [len(found) for found in near(page)] == [8]


def test_what_is_found_has_a_ring_over_the_epochs(opened: Opened, run: Path) -> None:
    page = over_the_epochs(opened, run)
    assert not any(trace.get("name") == "found" and trace["showlegend"] for trace in figure(page)["data"])
    probe = load_run(run / "small").snapshots.texts
    word = probe[7].split()[0].lower()
    fine(page.text_input(key="query").set_value(word).run())
    rows = [row for row, text in enumerate(probe) if word in text.lower()]
    drawn = figure(page)
    place = next(at for at, trace in enumerate(drawn["data"]) if trace.get("name") == "found")
    assert 7 in rows
    assert drawn["data"][place]["showlegend"]
    assert all(len(frame["data"][place]["x"]) == len(rows) for frame in drawn["frames"])
    fine(page.text_input(key="query").set_value("no such word in it").run())
    assert len(numbers(figure(page)["data"][place]["x"])) == 0


def test_code_of_the_epochs_runs(opened: Opened, run: Path, run_code: RunCode) -> None:
    page = over_the_epochs(opened, run)
    drawn = run_code(page)
    assert len(drawn[0].frames) == 3


def test_cosines_of_a_run_and_code_that_draws_them(opened: Opened, run: Path, run_code: RunCode) -> None:
    page = with_runs(opened, run, view="Cosines")
    has_pictures(page, 3)
    curves, hills, spectrum = (chart.proto.alt for chart in page.get("plotly_chart"))
    assert curves.startswith("Figures of the probe over the epochs of small: MAP@R, probe, R-precision, probe")
    assert hills.startswith("Cosines of small over 3 epochs: the means of positive and negative pairs go from ")
    assert spectrum == "Singular values of small as shares of their sum, over 3 epochs."
    assert "sentences of the run's probe" in texts(page)
    shown = [[list(numbers(trace["y"])) for trace in figure(page, number)["data"]] for number in range(3)]
    for chart, drawn in zip(shown, run_code(page), strict=True):
        for mine, trace in zip(chart, drawn.data, strict=True):
            assert np.allclose(mine, np.asarray(trace.y, float), equal_nan=True)


def test_cosines_of_two_sides_stand_beside_each_other(opened: Opened, run: Path) -> None:
    page = opened("clusters_page", left="a stored run", right="a stored run", how="PCA", view="Cosines")
    for side in ("left", "right"):
        page.session_state[f"{side}-folders"] = str(run)
    has_pictures(fine(page.run()), 5)
    assert {trace["name"] for trace in figure(page)["data"]} == {"left, small", "right, small"}


@pytest.mark.parametrize("view", ["Over the epochs", "Cosines"])
def test_vectors_without_epochs_say_how_to_train(opened: Opened, view: str) -> None:
    page = fine(opened("clusters_page", view=view, **QUICK).run())
    assert "not trained in epochs" in page.info[0].value
    assert page.code[0].value.startswith("labkit train sentpwnet --corpus topics")


def test_a_run_deleted_while_it_is_shown(opened: Opened, run: Path, tmp_path: Path) -> None:
    shutil.copytree(run / "small", tmp_path / "small")
    page = with_runs(opened, tmp_path)
    shutil.rmtree(tmp_path / "small")
    fine(page.run())
    assert "no such run" in page.info[0].value
    assert not page.get("plotly_chart")


def test_an_address_brings_the_view_back_and_nonsense_is_passed_over(opened: Opened) -> None:
    page = fine(opened("clusters_page", **QUICK | {"classes": "7", "row": "99999", "colour": "nonsense"}).run())
    assert page.radio(key="how").value == "pca"
    assert page.slider(key="classes").value == 7
    assert page.selectbox(key="colour").value == "class"
    assert page.selectbox(key="read").value is None


# --- who moved, trust, and words ---------------------------------------------------------------------------------


def who(opened: Opened, **address: str) -> AppTest:
    return fine(opened("clusters_page", **QUICK | {"right": "SIF", "view": "Who moved"} | address).run())


def spaces_of(*names: str) -> list[np.ndarray]:
    methods = [METHODS[name]() for name in names]
    for method in methods:
        method.fit(load("topics"))
    return [method.encode(pictured(load("topics")).texts, normalize_embeddings=True) for method in methods]


def test_who_moved_between_two_sides_and_a_click_marks_them(opened: Opened, run_code: RunCode) -> None:
    page = who(opened)
    has_pictures(page, 2)
    shown, moved = pictured(load("topics")), movement(*spaces_of("tfidf", "sif"))
    groups = moved_together(moved, shown.labels)
    buttons = [button for button in page.button if button.key.startswith("together-")]
    assert [button.label.replace("*", "") for button in buttons] == [str(group) for group in groups]
    assert f"From **TF-IDF** to **SIF**: of its 10 nearest a sentence has {moved.new.mean():.1f} new ones" in texts(
        page
    )
    (ranked,) = named(page, "Sentences by how much of their neighbourhood")
    assert ranked["row"].tolist() == moved.ranked[:100].tolist()
    assert ranked["changed"].tolist() == pytest.approx(moved.change[moved.ranked[:100]])
    assert numbers(figure(page)["data"][0]["x"]).size == 3 * (len(shown) // 10)
    assert numbers(figure(page, 1)["data"][0]["y"]).tolist() == np.bincount(moved.new, minlength=11).tolist()
    fine(buttons[0].click().run())
    rows = groups[0].rows.tolist()
    assert numbers(figure(page)["data"][0]["x"]).size == 3 * len(rows)
    assert named(page, "Sentences by how much")[0]["row"].tolist() == rows
    line = str(set_apart(counted_words(shown.texts), rows, shown.labels))
    assert line in texts(page)
    fine(page.segmented_control(key="view").set_value("Sentences").run())
    assert sorted(named(page, "Marked or found")[0]["row"]) == sorted(rows)
    assert line in texts(page)
    for number in (0, 1):
        chosen = [trace for trace in figure(page, number)["data"] if "customdata" in trace]
        held = [numbers(trace["customdata"])[trace["selectedpoints"]] for trace in chosen]
        assert sorted(np.concatenate(held).tolist()) == sorted(rows)
    fine(page.segmented_control(key="view").set_value("Who moved").run())
    drawn = run_code(page)
    assert [len(each.data) for each in drawn] == [16, 1]  # lines, where they begin, fourteen classes


def test_who_moved_between_two_epochs_of_a_run(opened: Opened, run: Path, run_code: RunCode) -> None:
    page = with_runs(opened, run, view="Who moved", colour="what moved")
    has_pictures(page, 2)
    snapshots = load_run(run / "small").snapshots
    assert page.selectbox(key="compared").options == ["epochs of the left"]
    for first, last in ((0, 2), (1, 2), (0, 1)):
        fine(page.select_slider(key="since-choice").set_value((first, last)).run())
        moved = movement(*(unit(snapshots.vectors[at]) for at in (first, last)))
        assert f"From **small at epoch {first}** to **small at epoch {last}**" in texts(page)
        assert f"has {moved.new.mean():.1f} new ones" in texts(page)
        points = next(trace for trace in figure(page)["data"] if "customdata" in trace)
        np.testing.assert_allclose(numbers(points["marker"]["color"]), moved.change, rtol=1e-6)
        assert [page.query_params[key] for key in ("since", "epoch")] == [str(first), str(last)]
        mine = run_code(page)[-1].data[0].y
        assert mine.tolist() == numbers(figure(page, 1)["data"][0]["y"]).tolist()
    fine(page.select_slider(key="since-choice").set_value((1, 1)).run())
    assert "Both ends of the slider are at epoch 1" in page.info[0].value
    linked = with_runs(opened, run, view="Who moved", since="1", epoch="2")
    assert linked.select_slider(key="since-choice").value == (1, 2)
    page = with_runs(opened, run, view="Over the epochs", colour="what moved", epoch="1")
    np.testing.assert_allclose(numbers(figure(page)["data"][0]["marker"]["color"]), moved.change, rtol=1e-6)
    np.testing.assert_allclose(run_code(page)[-1].data[0].marker.color, moved.change, rtol=1e-6)
    fine(page.selectbox(key="colour").select("trust").run())
    assert numbers(figure(page)["data"][0]["marker"]["color"]).tolist() == pytest.approx(
        run_code(page)[-1].data[0].marker.color.tolist()
    )


def test_nothing_to_compare_is_said(opened: Opened) -> None:
    page = who(opened, right="nothing")
    assert "Choose other vectors beside these" in page.info[0].value


def test_colour_by_trust_is_on_average_what_the_picture_keeps(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "LSA"}, colour="trust").run())
    assert "what moved" not in page.selectbox(key="colour").options
    (points,) = [trace for trace in figure(page)["data"] if "customdata" in trace]
    shares = numbers(points["marker"]["color"])
    kept = re.search(r"(\d+)% of the 5 nearest kept", texts(page))
    assert kept is not None
    assert f"{shares.mean():.0%}" == f"{kept[1]}%"
    (drawn,) = run_code(page)
    assert (drawn.data[0].marker.color == shares).mean() > 0.9  # of a picture that is not rounded
    assert points["text"][0].endswith(f"trust {shares[0]:.3g}")
    assert "coloured by trust." in page.get("plotly_chart")[0].proto.alt


def test_colour_by_what_moved_is_the_same_on_both_sides(opened: Opened, run_code: RunCode) -> None:
    page = fine(opened("clusters_page", **QUICK | {"right": "SIF"}, colour="what moved").run())
    change = movement(*spaces_of("tfidf", "sif")).change
    for number in (0, 1):
        np.testing.assert_allclose(numbers(figure(page, number)["data"][0]["marker"]["color"]), change, rtol=1e-6)
    np.testing.assert_allclose(run_code(page)[0].data[0].marker.color, change, rtol=1e-6)


def test_what_takes_minutes_is_said_and_waits_for_a_click(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    page = opened("clusters_page", **QUICK | {"left": "mean word vectors", "right": "LSA", "view": "Cosines"}).run()
    module = sys.modules["clusters_moved"]
    monkeypatch.setattr(module, "AT_ONCE", 100)
    fine(page.segmented_control(key="view").set_value("Who moved").run())
    assert "sentences with each other takes about 2 min on one core" in texts(page)
    assert not page.get("plotly_chart")
    fine(page.button(key="measure-moved-right").click().run())
    has_pictures(page, 2)
    has_pictures(fine(page.run()), 2)  # it is known now
    fine(page.segmented_control(key="view").set_value("Sentences").run())
    fine(page.selectbox(key="colour").select("trust").run())
    assert "coloured by class." in page.get("plotly_chart")[0].proto.alt  # as long as it is not measured
    fine(page.button(key="measure-trust-left").click().run())
    assert "coloured by trust." in page.get("plotly_chart")[0].proto.alt


@pytest.mark.parametrize("labels", ["words", "words, finer", "none"])
def test_words_of_regions_stand_in_the_picture(opened: Opened, run_code: RunCode, labels: str) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "LSA"}, labels=labels).run())
    written = [text["text"] for text in figure(page)["layout"].get("annotations", [])]
    assert (len(written) > 2) == (labels != "none")
    shown = pictured(load("topics"))
    assert {word for text in written for word in text.split()} <= set(counted_words(shown.texts).words)
    assert [text.text for text in run_code(page)[0].layout.annotations][:3] == written[:3]


def test_without_classes_groups_are_clusters_called_by_their_words(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = who(opened)
    shown = pictured(load("topics"))
    one = Labelled(shown.texts, ["no label"] * len(shown), splits="test")
    monkeypatch.setattr(sys.modules["cached"], "sentences_shown", lambda *_: one)
    fine(page.run())
    assert "There are no classes here: the groups are clusters" in texts(page)
    labels = [button.label for button in page.button if button.key.startswith("together-")]
    assert labels
    vocabulary = {*counted_words(shown.texts).words, "cluster", *map(str, range(99))}
    assert all(set(" ".join(re.findall(r"\*\*(.*?)\*\*", label)).split()) <= vocabulary for label in labels)
    assert not any("no label" in label for label in labels)


# --- files -----------------------------------------------------------------------------------------------------

ROWS = [
    f"{EVIL} sentence {i} about {'cats and dogs' if i % 2 else '=1+1 cars'},<b>{'ab'[i % 2]},{i}\n" for i in range(60)
]


def test_an_upload_is_text_everywhere_and_stays_out_of_the_address(opened: Opened) -> None:
    page = opened("clusters_page", corpus="your own file", **QUICK, row="3")
    fine(with_file(page, ("text,label,<i>size\n" + "".join(ROWS)).encode()))
    fine(page.text_input(key="query").set_value("cats").run())
    for column in page.selectbox(key="colour").options:
        fine(page.selectbox(key="colour").select(column).run())
        for chart in page.get("plotly_chart"):
            assert "<img" not in chart.proto.spec
            assert "<b>" not in chart.proto.spec
            assert "<i>" not in chart.proto.spec
    for text in (*page.markdown, *page.caption):
        obeyed = re.sub(r"\\.", "", text.value)  # what is escaped is shown as it is
        assert "<img" not in obeyed
        assert "<b>" not in obeyed
    assert "evil" not in str(page.query_params)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"text,label\n", "has no rows"),
        (b"", "mine.csv"),
        (b"a,b\n1,2\n", "are not those of a corpus"),
        (b"text,label\na b,x\nc d,x\n", "every label is 'x'"),
        (b"text,label\nred car,x\nblue car,y\n", "at least 4"),
        (b"text,label\nred car,x\n,y\n", "text is ''"),
        (b"text_a,text_b,score\na,b,nan\n", "score is 'nan'"),
        (b"text_a,text_b,label\na,b,0\nc,d,0\n", ""),
        (b"PK\x03\x04", "is a zip archive"),
        ("text,label\ncafé,x\n".encode("latin-1"), "byte 0xe9"),
    ],
)
def test_a_bad_upload_is_one_sentence(opened: Opened, data: bytes, said: str) -> None:
    refused(with_file(opened("clusters_page", corpus="your own file", **QUICK), data), said)


@pytest.mark.whole
def test_a_hundred_thousand_rows_are_few_bytes_without_their_text(opened: Opened) -> None:
    n = 100_000
    data = ("text,label\n" + "".join(f"w{i % 97} w{i % 89} w{i % 83} n{i},c{i % 9}\n" for i in range(n))).encode()
    page = with_file(opened("clusters_page", corpus="your own file", amount="100,000", plotly="true", **QUICK), data)
    fine(page)
    chart = page.get("plotly_chart")[0].proto
    assert ": 100,000 sentences" in chart.alt
    assert len(chart.spec) < 8 * 4 / 3 * n + 150_000
    assert "n99999" not in chart.spec
    assert list(chart.selection_mode) == [1]  # boxes only
    fine(page.radio(key="how").set_value("lle").run())
    assert "takes minutes: PCA is shown" in page.sidebar.info[0].value


def vectors_file(kind: str) -> tuple[str, bytes]:
    """A file with vectors that is not right, or one that is."""
    count = len(load("topics").sentences())
    rows, file = np.random.default_rng(0).normal(size=(count, 5)).astype(np.float32), io.BytesIO()
    if kind == "pickle":
        np.savez(file, vectors=np.array([{"a": 1}], dtype=object))
        return "mine.npz", file.getvalue()
    if kind == "bare pickle":
        return "mine.npy", pickle.dumps([1, 2])
    rows[3] = np.nan if kind == "nan" else rows[3]
    np.savez(file, vectors=rows[:7] if kind == "short" else rows)
    return "mine.npz", file.getvalue()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("pickle", "allow_pickle=False"),
        ("bare pickle", "no vectors"),
        ("nan", "NaN"),
        ("short", "has 7 rows"),
        ("good", ""),
    ],
)
def test_vectors_of_a_visitor(opened: Opened, kind: str, said: str) -> None:
    page = opened("clusters_page", **QUICK | {"left": "your own vectors"}).run()
    name, data = vectors_file(kind)
    page.file_uploader[0].upload(name, data, "application/octet-stream").run()
    assert not page.exception
    if kind == "good":
        fine(page)
        assert len(page.get("plotly_chart")) == 1
        page.text_input(key="typed").set_value("a sentence without a row").run()
        assert "have no row in the matrix" in page.error[0].value
        return
    refused(page, said)
    assert "tmp" not in page.error[0].value


# --- sentences without labels, and classes that are found --------------------------------------------------------

ABOUT = {"cat": "the {} cat sleeps near a purring kitten", "oak": "an {} oak grows beside the mossy tree trunk"}
LINES = [line.format(f"{EVIL} =1+{i}") for i in range(40) for line in ABOUT.values()]


def pasted(opened: Opened, text: str, **address: str) -> AppTest:
    """The page on what somebody has pasted."""
    page = opened("clusters_page", corpus="your own file", **{"how": "PCA", "right": "nothing"} | address).run()
    page.text_area(key="file-lines").set_value(text)
    return page.button(key="file-paste").click().run()


def test_pasted_lines_are_shown_in_classes_named_by_their_words(opened: Opened, run_code: RunCode) -> None:
    page = fine(pasted(opened, "\n\n".join(LINES), **{"found-count": "2", "row": "3"}))
    assert "**pasted.txt** is kept for all pages" in texts(page)
    assert page.selectbox(key="left").value == "sif"
    traces = [trace for trace in figure(page)["data"] if "customdata" in trace]
    known = {word for line in ABOUT.values() for word in line.split()}
    assert all(set(re.findall(r"\w+", trace["name"])) <= known for trace in traces)
    assert [numbers(trace["customdata"]).size for trace in traces] == [40, 40]
    assert "silhouette" in texts(page)
    assert all("✓" in tick for _, tick, _, _ in near(page)[0][:5])  # neighbours are of the class that was found
    page.text_input(key="query").set_value("oak").run()
    assert "**Found sentences**: 40 of 80" in texts(fine(page))
    fine(page.text_input(key="typed").set_value(f"{EVIL} the kitten").run())
    assert "<img" not in figure(page).__repr__() + str(page.query_params)
    assert all("<img" not in re.sub(r"\\.", "", text.value) for text in (*page.markdown, *page.caption))


def test_without_classes_there_is_neither_a_class_nor_a_figure_of_classes(opened: Opened) -> None:
    page = fine(pasted(opened, "\n".join(LINES), **{"found-bare": "nobody", "row": "3"}))
    (trace,) = [trace for trace in figure(page)["data"] if "customdata" in trace]
    assert not trace["showlegend"]
    assert "annotations" not in figure(page)["layout"]
    assert "silhouette" not in [text.value for text in page.markdown if text.value.startswith("|")]
    assert "no label" not in texts(page)
    assert "✓" not in texts(page)
    assert not page.get("popover") or "use-found" not in str(page.get("popover"))


@pytest.mark.parametrize("way", ["kmeans", "density"])
def test_classes_found_are_a_second_colour_of_a_corpus_with_labels(opened: Opened, way: str, run_code: RunCode) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "SIF"}).run())
    fine(page.selectbox(key="found").select(way).run())
    assert page.selectbox(key="colour").value == "class found"
    names = [trace["name"] for trace in figure(page)["data"]]
    assert ("none" in names) == (way == "density")
    sizes = [numbers(trace["customdata"]).size for trace in figure(page)["data"]]
    assert [len(trace.x) for trace in run_code(page)[0].data] == sizes
    fine(page.selectbox(key="found").select("nobody").run())
    assert page.selectbox(key="colour").value == "class"


def drawn(figure: dict) -> list[tuple]:
    """The rows of each class of a picture with its colour, as the page or its code draws it; not its name, which a
    small picture cuts."""
    found = [trace for trace in figure["data"] if "customdata" in trace]
    looks = [trace["marker"]["color"] for trace in found]
    looks = [look if isinstance(look, str) else numbers(look).round(5).tolist() for look in looks]
    return [(numbers(trace["customdata"]).tolist(), look) for trace, look in zip(found, looks, strict=True)]


@pytest.mark.parametrize("colour", ["class found", "what moved"])
def test_the_code_of_both_sides_finds_the_classes_of_the_page(opened: Opened, run_code: RunCode, colour: str) -> None:
    page = fine(opened("clusters_page", **QUICK | {"left": "SIF", "right": "TF-IDF"}, found="k-means").run())
    fine(page.selectbox(key="colour").select(colour).run())
    for number in (0, 1):
        shown = json.loads(run_code(page, number)[-1].to_json())
        assert drawn(shown) == drawn(figure(page, number))


def test_the_code_of_both_sides_finds_the_classes_of_lines_without_labels(
    opened: Opened, run_code: RunCode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = fine(pasted(opened, "\n".join(LINES), right="LSA", **{"found-count": "5"}))
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text("\n".join(LINES))
    for number in (0, 1):
        shown = json.loads(run_code(page, number)[-1].to_json())
        assert len(drawn(shown)) == 5
        assert drawn(shown) == drawn(figure(page, number))


def test_density_says_before_how_long_it_takes(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labkit.evaluation.classes.CLUSTERED", 20)
    page = fine(pasted(opened, "\n".join(LINES), **{"found-bare": "density"}))
    assert "Density of 80 sentences takes about 10 s, once." in texts(page)


def test_classes_found_become_the_corpus_of_all_pages(opened: Opened) -> None:
    page = fine(pasted(opened, "\n".join(LINES), **{"found-count": "2"}))
    (button,) = [box for box in page.get("download_button") if box.proto.id.endswith("found-csv")]
    assert button.proto.label == "Data as CSV"
    fine(page.button(key="found-corpus").click().run())
    assert "**found.jsonl** is kept for all pages" in texts(page)
    assert page.selectbox(key="found").value == "nobody"  # they have classes now
    assert sorted(page.session_state["file"].data.decode().count(f'"label": "{name}') for name in ("",)) == [80]
    assert json.loads(page.session_state["file"].data.splitlines()[0])["text"] in LINES
    lab = fine(opened("clusters_page", **QUICK | {"left": "SIF"}).run())
    fine(lab.selectbox(key="found").select("kmeans").run())
    fine(lab.button(key="found-corpus").click().run())
    assert lab.selectbox(key="corpus").value == "your own file"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\0b\nc", "pasted.txt row 1 holds a NUL, which is no text"),
        ("a\nb\0c", "row 2: text holds a sign that is no text"),
        ("a\tb\nc\td", "columns 'a', 'b' are not those of a corpus"),
        ("a" * 2_000_000, "expected at least"),  # of which the box takes the first million
    ],
)
def test_what_is_pasted_is_not_trusted(opened: Opened, text: str, said: str) -> None:
    refused(pasted(opened, text), said)


def test_one_line_and_no_line(opened: Opened) -> None:
    page = fine(pasted(opened, " \n "))
    assert page.info[0].value.startswith("Choose a file in the sidebar, or paste sentences there.")
    page = pasted(opened, "one line alone")
    assert not page.exception


@pytest.mark.parametrize("module", ["pairs_page", "film_page", "paraphrases_page", "themes_page", "compare_page"])
def test_pages_that_need_labels_say_so(opened: Opened, module: str) -> None:
    page = opened(module, corpus="your own file", vectors="sif").run()
    page.text_area(key="file-lines").set_value("\n".join(LINES))
    page.button(key="file-paste").click().run()
    assert not page.exception
    assert any("without labels" in said.value or "articles" in said.value for said in (*page.error, *page.info))


@pytest.mark.parametrize("module", ["corpora_page", "neighbourhoods_page", "train_page"])
def test_pages_that_need_none_show_them(opened: Opened, module: str) -> None:
    page = opened(module, corpus="your own file", base="sif").run()
    page.text_area(key="file-lines").set_value("\n".join(LINES))
    fine(page.button(key="file-paste").click().run())
