"""The page "Compare" without a browser: runs and seeds, curves, the papers, a run deleted while it is shown."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import plotly.graph_objects as go
import pytest
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.demonstrations import DEMONSTRATIONS
from labkit.leaderboard import Result, leaderboard
from labkit.methods import METHODS
from labkit.papers import tables
from labkit.runs import read_record
from labkit.scores import score

Opened = Callable[..., AppTest]
SMALL = {"epochs": 2, "dimension": 6, "size": 6, "encoder": "mean", "device": "cpu"}


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
    page = opened("compare_page", corpus="captions", **address)
    page.session_state["folders"] = str(runs)
    return page


def fine(page: AppTest) -> AppTest:
    assert not page.exception
    assert not page.error
    return page


def only_mine(page: AppTest) -> AppTest:
    """Without the runs that come with the lab."""
    box = next(box for box in page.multiselect if box.key.startswith("runs-"))
    mine = [name for name in box.value if name not in DEMONSTRATIONS]
    return fine(box.set_value(mine).run())


def drawn(page: AppTest) -> dict:
    return json.loads(page.get("plotly_chart")[0].proto.spec)


def test_seeds_are_one_line_with_mean_and_spread(opened: Opened, runs: Path) -> None:
    page = only_mine(fine(compared(opened, runs).run()))
    corpus = load("captions")
    names = ["small-0", "small-1", "small-2", "lsa-5"]
    results = [
        Result.of(name, read_record(runs / name), score(METHODS[m]().load(runs / name), corpus))
        for name, m in zip(names, ["sentpwnet"] * 3 + ["lsa"], strict=True)
    ]
    expected = {line.name: line for line in leaderboard(results)}
    assert [len(line.results) for line in expected.values() if "sentpwnet" in line.name] == [3]
    table = page.dataframe[0].value.set_index("run")
    assert len(table) == 4  # with two baselines
    trained = table.loc["sentpwnet"]
    assert trained["seeds"] == 3
    assert trained[f"{results[0].scores.measure}, mean ± spread"] == str(expected["sentpwnet"].spread)
    chart = drawn(page)
    dots = next(trace for trace in chart["data"] if trace["type"] == "scatter")
    assert len(dots["x"]) == 3
    assert "sentpwnet 0." in page.get("plotly_chart")[0].proto.alt


def test_another_figure_and_no_run_at_all(opened: Opened, runs: Path) -> None:
    page = fine(compared(opened, runs).run())
    fine(page.selectbox(key="figure").set_value("hit@10").run())
    assert drawn(page)["layout"]["xaxis"]["title"]["text"] == "hit@10"
    for box in page.multiselect:
        box.set_value([])
    fine(page.run())
    assert "No run and no baseline is chosen" in page.info[0].value


def test_curves_of_the_runs_that_have_epochs(opened: Opened, runs: Path) -> None:
    page = only_mine(fine(compared(opened, runs, view="Curves").run()))
    traces = drawn(page)["data"]
    assert sorted(trace["name"] for trace in traces) == ["small-0", "small-1", "small-2"]
    assert all(trace["x"] == [1, 2] for trace in traces)
    assert len({trace["line"]["color"] for trace in traces} & {trace["marker"]["color"] for trace in traces}) == 3
    fine(page.selectbox(key="curve").set_value("loss").run())
    assert drawn(page)["data"][0]["y"] != traces[0]["y"]


@pytest.mark.parametrize("view", ["Runs", "Curves", "The papers"])
def test_the_code_makes_the_picture(opened: Opened, runs: Path, monkeypatch: pytest.MonkeyPatch, view: str) -> None:
    page = fine(compared(opened, runs, view=view).run())
    if view != "The papers":
        only_mine(page)
        for box in page.multiselect:
            if box.key == "baselines":
                fine(box.set_value([]).run())
    shown: list[go.Figure] = []
    monkeypatch.setattr(go.Figure, "show", lambda self: shown.append(self))
    exec(next(code.value for code in page.code if "import" in code.value), {})  # the page's own text
    assert [len(trace["x"]) for trace in drawn(page)["data"]] == [len(trace.x) for trace in shown[0].data]


def test_a_run_deleted_while_it_is_shown(opened: Opened, runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    page = fine(compared(opened, tmp_path / "runs").run())
    shutil.rmtree(tmp_path / "runs" / "small-1")
    fine(page.run())
    names = next(box for box in page.multiselect if box.key.startswith("runs-")).value
    assert "small-1" not in names
    assert "small-0" in names
    (tmp_path / "runs" / "lsa-5" / "model.safetensors").write_bytes(b"cut")
    page = compared(opened, tmp_path / "runs").run()
    assert not page.exception
    for error in page.error:
        assert "cut off or edited" in error.value


def test_an_upload_without_a_test_split_is_one_sentence(opened: Opened, runs: Path) -> None:
    page = compared(opened, runs).run()
    page.selectbox(key="corpus").set_value("your own file").run()
    rows = "text,label,split\n" + "".join(f"word {i % 7} n{i},{'ab'[i % 2]},train\n" for i in range(40))
    page.file_uploader[0].upload("mine.csv", rows.encode(), "text/csv").run()
    assert not page.exception
    assert "split" in page.error[0].value


@pytest.mark.parametrize("table", tables()[::5], ids=lambda table: table.name)
def test_the_papers_tables_stand_as_printed(opened: Opened, runs: Path, table) -> None:  # type: ignore[no-untyped-def]
    page = fine(opened("compare_page", view="The papers", paper=table.paper).run())
    fine(page.selectbox(key=f"{table.paper}-table").set_value(table.name).run())
    shown = page.dataframe[0].value
    assert list(shown["row"]) == [row.name for row in table.rows]
    for place, column in enumerate(table.columns):
        printed = [row.published[place] for row in table.rows]
        assert [None if value != value else value for value in shown[f"{column.name}, paper"]] == printed
    assert len(page.get("plotly_chart")) == 1
