"""The comparison of runs without a browser: seeds, curves, and a run deleted while it is shown."""

from __future__ import annotations

import os
import re
import shutil
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.evaluation.scores import score
from labkit.figure_names import SAW, spoken
from labkit.methods import METHODS
from labkit.runs import read_record
from labkit.shipped import DEMONSTRATIONS
from labkit.trials.leaderboard import Line, Result, leaderboard

from .conftest import Opened, RunCode, figure, fine, texts, with_file

SMALL = {"epochs": 2, "dimension": 6, "size": 6, "encoder": "mean", "vectors": "random", "device": "cpu"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seeds of one method and one run of another, on `captions`."""
    folder = tmp_path_factory.mktemp("runs")
    corpus = load("captions")
    for seed in range(3):
        method = METHODS["sentpwnet"](**SMALL)
        method.fit(corpus, seed=seed)
        method.save(folder / f"small-{seed}")
    method = METHODS["lsa"](dimension=5)
    method.fit(corpus)
    method.save(folder / "lsa-5")
    return folder


def compared(opened: Opened, runs: Path, **address: str) -> AppTest:
    os.environ["LABKIT_RUNS"] = str(runs)
    return opened("train_page", **{"corpus": "captions", "view": "Runs"} | address)


def runs_box(page: AppTest) -> Any:
    """The box that chooses runs."""
    return page.multiselect(key="runs")


def only_mine(page: AppTest) -> AppTest:
    """The page without the bundled runs."""
    box = runs_box(page)
    return fine(box.set_value([name for name in box.value if name not in DEMONSTRATIONS]).run())


@pytest.mark.whole
def test_seeds_share_one_line_with_mean_and_spread(opened: Opened, runs: Path, run_code: RunCode) -> None:
    page = only_mine(fine(compared(opened, runs).run()))
    methods = {"small-0": "sentpwnet", "small-1": "sentpwnet", "small-2": "sentpwnet", "lsa-5": "lsa"}
    opened_runs = [(name, read_record(runs / name), METHODS[m]().load(runs / name)) for name, m in methods.items()]
    results = [Result.of(*each, score(each[-1], load("captions"), apart=True)) for each in opened_runs]
    expected = {line.name: line for line in leaderboard(results)}
    table = page.dataframe[0].value.set_index("run")
    assert len(table) == 4  # with two baselines
    assert table.loc["sentpwnet"]["seeds"] == 3
    assert table.loc["sentpwnet"]["Hit@1, mean ± spread"] == str(expected["sentpwnet"].spread)
    seeds = next(trace for trace in figure(page)["data"] if trace["name"] == "one seed")
    assert len(seeds["x"]) == 3
    fine(page.multiselect(key="baselines").set_value([]).run())
    assert [len(trace["x"]) for trace in figure(page)["data"]] == [len(trace.x) for trace in run_code(page)[0].data]


@pytest.mark.whole
def test_another_metric_and_no_run_at_all(opened: Opened, runs: Path) -> None:
    page = fine(compared(opened, runs).run())
    for asked in ("hit@10", "intra"):  # a larger intra is neither better nor worse, so none is the best
        fine(page.selectbox(key="figure").set_value(asked).run())
        kinds = {trace["name"] for trace in figure(page)["data"] if trace["name"] != "one seed"}
        assert ("best" in kinds, len(kinds) > 1) == (asked != "intra", asked != "intra")
        assert page.dataframe[0].value[spoken(asked)].is_monotonic_decreasing
    for box in page.multiselect:
        box.set_value([])
    assert len(fine(page.run()).info) == 1


@pytest.mark.whole
def test_a_run_that_saw_the_test_sentences_is_marked_and_comes_last(opened: Opened) -> None:
    if not DEMONSTRATIONS["sbert-lp-topics"].here:
        pytest.skip("needs the bundled runs")
    page = fine(opened("train_page", corpus="topics", view="Runs").run())
    from train_runs import SAW_TEST

    assert SAW_TEST.format(names="sbert-lp") in texts(page)
    table = page.dataframe[0].value
    assert table["verdict"][0] == "best"
    assert table["run"].iloc[-1].startswith("sbert-lp · ")
    assert table["verdict"].iloc[-1] == "not judged: saw the test sentences"
    fine(runs_box(page).set_value([]).run())
    assert SAW_TEST.format(names="sbert-lp") not in texts(page)


def test_a_tie_at_the_top_is_called_a_tie(opened: Opened) -> None:
    opened("train_page")
    from train_runs import verdict_of

    means = {"a": (1.0, 0.9, "open"), "b": (1.0, 0.5, "open"), "c": (0.8, 0.4, "behind")}
    lines = [
        Line(name, (), {"knn_accuracy": first, "intra": second, "hit@1": second}, "knn_accuracy", None, verdict)
        for name, (first, second, verdict) in means.items()
    ]
    said = " ".join(verdict_of(lines))
    assert said.startswith("a and b ")
    assert "1.000" in said
    assert verdict_of([lines[0], lines[2]])[0].startswith("a is best")


def test_scores_of_a_few_sentences_decide_nothing(opened: Opened) -> None:
    page = opened("train_page", corpus="your own file", view="Runs")
    rows = "".join(f"word{row % 7} {'ab'[row % 2]}{row},{'xy'[row % 2]}\n" for row in range(60))
    with_file(page, f"text,label\n{rows}".encode())
    fine(page.segmented_control(key="view").set_value("Runs").run())
    (count,) = re.findall(r"only (\d+) rows", texts(page))
    assert 0 < int(count) < 30
    assert not re.search(r"#####.*(?:best|highest|score the same)", texts(page))


def test_each_corpus_has_its_own_scores_of_a_baseline(opened: Opened) -> None:
    opened("train_page")
    cached, train_runs = import_module("cached"), import_module("train_runs")
    for name in ("captions", "topics"):
        (found,) = train_runs.results_of({}, ["tfidf"], cached.lab_corpus(name))
        assert found.scores.corpus == name


def test_the_verdict_says_why_a_higher_score_does_not_count(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    opened("train_page")
    from train_runs import verdict_of

    monkeypatch.setattr(Line, "saw_test", property(lambda line: line.name == "seen"))
    for mean, said in ((0.869, True), (0.5, False)):
        scores = {"a": (0.842, "open"), "b": (0.84, "open"), "seen": (mean, "saw test")}
        lines = [Line(name, (), {"hit@1": at}, "hit@1", None, verdict) for name, (at, verdict) in scores.items()]
        assert (SAW in " ".join(verdict_of(lines))) is said


def test_the_page_opens_on_the_runs_of_the_corpus_or_else_on_its_data(opened: Opened, runs: Path) -> None:
    page = compared(opened, runs)
    del page.query_params["view"]
    assert fine(page.run()).segmented_control(key="view").value == "Runs"
    with_file(page, b"text,label\na,x\nb,x\nc,y\nd,y\n")  # uploaded while the runs of another corpus were open
    assert fine(page).segmented_control(key="view").value == "Data"
    page.segmented_control(key="view").set_value("Runs").run().run()
    assert page.segmented_control(key="view").value == "Runs"


@pytest.mark.whole
def test_curves_of_the_runs_that_have_epochs(
    opened: Opened, runs: Path, run_code: RunCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = only_mine(fine(compared(opened, runs).run()))
    traces = figure(page, 1)["data"]
    assert sorted(trace["name"] for trace in traces) == ["small-0", "small-1", "small-2"]
    assert all(trace["x"] == [1, 2] for trace in traces)
    assert len({trace["line"]["color"] for trace in traces}) == 3
    assert [len(trace["x"]) for trace in traces] == [len(trace.x) for trace in run_code(page)[1].data]
    fine(page.selectbox(key="curve").set_value("loss").run())
    assert figure(page, 1)["data"][0]["y"] != traces[0]["y"]
    fine(runs_box(page).set_value(["small-0", "lsa-5"]).run())
    assert any("lsa-5: no curve" in said.value for said in page.caption)
    assert [button.key for button in page.button if button.key.startswith("move-")] == ["move-small-0"]
    where: list[dict[str, str]] = []
    monkeypatch.setattr(st, "switch_page", lambda page, query_params: where.append(query_params))
    fine(page.button(key="move-small-0").click().run())
    assert where[0].items() >= {"corpus": "captions", "right": "run small-0", "view": "While it trained"}.items()


@pytest.mark.whole
@pytest.mark.parametrize("chosen", [["small-2", "lsa-5"], []])
def test_a_link_restores_its_runs(opened: Opened, runs: Path, chosen: list[str]) -> None:
    page = compared(opened, runs)
    page.query_params["runs"] = chosen or [""]
    assert runs_box(fine(page.run())).value == chosen


@pytest.mark.whole
def test_missing_runs_of_a_link_are_named(opened: Opened, runs: Path) -> None:
    page = compared(opened, runs)
    page.query_params["runs"] = ["small-0", "![x](//evil)", *(f"gone-{number}" for number in range(99))]
    fine(page.run())
    assert runs_box(page).value == ["small-0"]
    (said,) = page.info
    assert r"!\[x\](//evil), gone-0, gone-1 and 36 more" in said.value  # of at most forty names
    fine(page.selectbox(key="corpus").set_value("topics").run())  # the link was for another corpus
    assert not page.info
    assert runs_box(page).value == [name for name in DEMONSTRATIONS if DEMONSTRATIONS[name].corpus == "topics"]
    assert not page.warning


@pytest.mark.whole
def test_a_run_deleted_and_a_run_damaged_while_they_are_shown(opened: Opened, runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    page = fine(compared(opened, tmp_path / "runs").run())
    shutil.rmtree(tmp_path / "runs" / "small-1")
    fine(page.run())
    assert {"small-0", "small-1"} & set(runs_box(page).value) == {"small-0"}
    for name in ("small-0", "lsa-5"):
        shutil.copytree(runs / name, tmp_path / "others" / name)
    (tmp_path / "others" / "lsa-5" / "model.safetensors").write_bytes(b"cut")
    page = fine(compared(opened, tmp_path / "others").run())  # one bad run does not hide the others
    assert "**lsa-5**" in page.warning[0].value
    table = page.dataframe[0].value["run"].tolist()
    assert "sentpwnet" in table
    assert "lsa-5" not in " ".join([*table, *(code.value for code in page.code)])
