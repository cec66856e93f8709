"""The page "Clusters" without a browser: who moved, colours that are measured, and words in the pictures."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from labkit.corpora import Labelled, load
from labkit.evaluation.inputs import unit
from labkit.evaluation.neighbours import moved_together, movement
from labkit.evaluation.regions import counted_words, set_apart
from labkit.lab.shipped import pictured
from labkit.methods import METHODS
from labkit.methods import load as load_run

from .conftest import QUICK, Opened, RunCode, figure, fine, has_pictures, named, numbers, texts, with_runs


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
