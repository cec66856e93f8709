"""The page "Clusters" without a browser, over the epochs of a run: pictures that play, figures, cosines."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from labkit.methods import load as load_run

from .conftest import (
    QUICK,
    Opened,
    RunCode,
    figure,
    fine,
    has_pictures,
    near,
    numbers,
    over_the_epochs,
    texts,
    with_runs,
)


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
