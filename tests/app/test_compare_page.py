"""The page "Compare" without a browser: runs and seeds, curves, the papers, a run deleted while it is shown."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.evaluation.comparison import Spread
from labkit.evaluation.leaderboard import Result, leaderboard
from labkit.evaluation.scores import score
from labkit.figure_names import spoken
from labkit.lab.papers.published import tables
from labkit.lab.papers.stored import beside
from labkit.lab.shipped import DEMONSTRATIONS
from labkit.methods import METHODS
from labkit.runs import read_record

from .conftest import Opened, RunCode, figure, fine, runs_box

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


def only_mine(page: AppTest) -> AppTest:
    """Without the runs that come with the lab."""
    box = runs_box(page)
    mine = [name for name in box.value if name not in DEMONSTRATIONS]
    return fine(box.set_value(mine).run())


@pytest.mark.whole
def test_seeds_are_one_line_with_mean_and_spread(opened: Opened, runs: Path) -> None:
    page = only_mine(fine(compared(opened, runs).run()))
    corpus = load("captions")
    names = ["small-0", "small-1", "small-2", "lsa-5"]
    results = [
        Result.of(name, read_record(runs / name), score(METHODS[m]().load(runs / name), corpus, apart=True))
        for name, m in zip(names, ["sentpwnet"] * 3 + ["lsa"], strict=True)
    ]
    expected = {line.name: line for line in leaderboard(results)}
    assert [len(line.results) for line in expected.values() if "sentpwnet" in line.name] == [3]
    table = page.dataframe[0].value.set_index("run")
    assert len(table) == 4  # with two baselines
    trained = table.loc["sentpwnet"]
    assert trained["seeds"] == 3
    assert trained["Hit@1, mean ± spread"] == str(expected["sentpwnet"].spread)
    chart = figure(page)
    dots = next(trace for trace in chart["data"] if trace["type"] == "scatter")
    assert len(dots["x"]) == 3
    assert "sentpwnet 0." in page.get("plotly_chart")[0].proto.alt


def test_another_figure_and_no_run_at_all(opened: Opened, runs: Path) -> None:
    page = fine(compared(opened, runs).run())
    for asked in ("hit@10", "coherence_lift", "intra"):
        fine(page.selectbox(key="figure").set_value(asked).run())
        assert figure(page)["layout"]["xaxis"]["title"]["text"] == spoken(asked)
        bars = [trace for trace in figure(page)["data"] if trace["type"] == "bar"]
        lengths = {trace["name"]: max(trace["x"]) for trace in bars}
        table = page.dataframe[0].value
        assert table[spoken(asked)].is_monotonic_decreasing
        if asked == "intra":
            assert list(lengths) == ["neither better nor worse when larger"]
            continue
        assert max(lengths, key=lambda name: lengths[name]) == "best"  # nobody who is behind has the longest bar
        for verdict, against in zip(table["verdict"], table["against the best, 95 %"], strict=True):
            ends = re.findall(r"[-+][\d.]+", against)[1:]
            if verdict in ("behind", "tie with the best"):
                assert (ends[0][0] == ends[1][0]) == (verdict == "behind")  # the interval that is shown decides
    for box in page.multiselect:
        box.set_value([])
    fine(page.run())
    assert "No run and no baseline is chosen" in page.info[0].value


def test_a_run_that_saw_the_test_sentences_is_said_to_where_it_leads(opened: Opened) -> None:
    if not DEMONSTRATIONS["sbert-lp-topics"].here:
        pytest.skip("needs the runs that come with the lab")
    page = fine(opened("compare_page", corpus="topics").run())
    assert "sbert-lp · saw the test sentences" in [text["text"] for text in figure(page)["layout"]["annotations"]]
    assert "sbert-lp: made with the test sentences" in page.warning[0].value
    assert page.dataframe[0].value["run"][0] == "sbert-lp · saw the test sentences"
    fine(runs_box(page).set_value([]).run())
    assert not page.warning


def test_curves_of_the_runs_that_have_epochs(opened: Opened, runs: Path) -> None:
    page = only_mine(fine(compared(opened, runs, view="Curves").run()))
    traces = figure(page)["data"]
    assert sorted(trace["name"] for trace in traces) == ["small-0", "small-1", "small-2"]
    assert figure(page)["layout"]["annotations"][0]["text"] == "Hit@1 on dev"
    assert all(trace["x"] == [1, 2] for trace in traces)
    assert len({trace["line"]["color"] for trace in traces} & {trace["marker"]["color"] for trace in traces}) == 3
    fine(page.selectbox(key="curve").set_value("loss").run())
    assert figure(page)["data"][0]["y"] != traces[0]["y"]


@pytest.mark.parametrize("view", ["Runs", "Curves", "The papers"])
def test_the_code_makes_the_picture(opened: Opened, runs: Path, run_code: RunCode, view: str) -> None:
    page = fine(compared(opened, runs, view=view).run())
    if view != "The papers":
        only_mine(page)
        for box in page.multiselect:
            if box.key == "baselines":
                fine(box.set_value([]).run())
    shown = run_code(page)
    assert [len(trace["x"]) for trace in figure(page)["data"]] == [len(trace.x) for trace in shown[0].data]


def linked(page: AppTest) -> str:
    """The address in "Link to this view"."""
    return next(code.value for code in page.code if code.value.startswith("?"))


def test_the_link_has_the_names_of_the_runs_and_brings_them_back(opened: Opened, runs: Path) -> None:
    page = fine(compared(opened, runs).run())
    first = runs_box(page).value
    assert "runs" not in page.query_params
    for chosen in (["small-2", "lsa-5"], []):
        fine(runs_box(page).set_value(chosen).run())
        asked = parse_qs(linked(page)[1:], keep_blank_values=True)
        assert asked["runs"] == (chosen or [""])
        again = compared(opened, runs)
        again.query_params["runs"] = asked["runs"]
        assert runs_box(fine(again.run())).value == chosen
        assert runs_box(fine(again.run())).value == chosen
    assert str(runs) not in linked(page)
    fine(runs_box(page).set_value(first).run())
    assert "runs=" not in linked(page)  # those shown at first need not be named


def test_runs_of_a_link_that_are_not_here_are_said_in_one_sentence(opened: Opened, runs: Path) -> None:
    page = compared(opened, runs)
    page.query_params["runs"] = ["small-0", "![x](//evil)", *(f"gone-{number}" for number in range(99))]
    fine(page.run())
    assert runs_box(page).value == ["small-0"]
    assert len(page.info) == 1
    said = page.info[0].value
    assert r"not here: !\[x\](//evil), gone-0, gone-1 and 36 more" in said  # of forty names, no more
    assert len(said) < 400
    fine(page.selectbox(key="corpus").set_value("topics").run())  # the link spoke of another corpus
    assert not page.info
    assert "small-0" not in runs_box(page).value


def test_a_run_deleted_while_it_is_shown(opened: Opened, runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs, tmp_path / "runs")
    page = fine(compared(opened, tmp_path / "runs").run())
    shutil.rmtree(tmp_path / "runs" / "small-1")
    fine(page.run())
    names = runs_box(page).value
    assert "small-1" not in names
    assert "small-0" in names
    (tmp_path / "runs" / "lsa-5" / "model.safetensors").write_bytes(b"cut")
    st.cache_resource.clear()
    page = compared(opened, tmp_path / "runs").run()
    fine(page)  # one bad run leaves the others there
    assert "**lsa-5** cannot be read: model.safetensors was" in page.warning[0].value
    assert "cut off or edited" in page.warning[0].value
    table = page.dataframe[0].value["run"].tolist()
    assert "sentpwnet" in table
    assert "lsa-5" not in " ".join(table)
    assert not any("lsa-5" in code.value for code in page.code)


def test_an_upload_without_a_test_split_is_one_sentence(opened: Opened, runs: Path) -> None:
    page = compared(opened, runs).run()
    page.selectbox(key="corpus").set_value("your own file").run()
    rows = "text,label,split\n" + "".join(f"word {i % 7} n{i},{'ab'[i % 2]},train\n" for i in range(40))
    page.file_uploader[0].upload("mine.csv", rows.encode(), "text/csv").run()
    assert not page.exception
    assert "split" in page.error[0].value


def test_a_paper_opens_on_a_table_and_a_column_that_have_ours(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    several = [table for table in beside().values() if table.paper == "film" and len(table.columns) > 1][:1]
    empty = tuple(replace(figure, ours=None) for figure in several[0].figures)
    last = several[0].columns[-1]
    ours = tuple(replace(figure, ours=Spread(0.5, 0.0, (0.5,)) if figure.column == last else None) for figure in empty)
    found = {"film/none": replace(several[0], figures=empty), "film/ours": replace(several[0], figures=ours)}
    monkeypatch.setattr("labkit.lab.papers.stored.beside", lambda: found)
    st.cache_resource.clear()
    page = fine(opened("compare_page", view="The papers", paper="film").run())
    st.cache_resource.clear()
    assert page.selectbox(key="film-table").value == "film/ours"
    assert page.selectbox(key="film/ours-column").value == last


def test_an_address_names_a_papers_table_and_column(opened: Opened) -> None:
    paper = "film"
    page = fine(opened("compare_page", view="The papers", paper=paper).run())
    last = page.selectbox(key=f"{paper}-table").options[-1]
    page = fine(opened("compare_page", view="The papers", paper=paper, **{f"{paper}-table": last}).run())
    name = page.selectbox(key=f"{paper}-table").value
    assert beside()[name].title == last
    column = {f"{name}-column": page.selectbox(key=f"{name}-column").options[-1]}
    page = fine(opened("compare_page", view="The papers", paper=paper, **{f"{paper}-table": last}, **column).run())
    assert page.selectbox(key=f"{name}-column").value == beside()[name].columns[-1]


def test_a_table_with_intervals_writes_them_beside_the_mean(opened: Opened) -> None:
    page = fine(opened("compare_page", view="The papers", paper="why").run())
    shown = next(each.value for each in page.dataframe if "detail, ours" in each.value).set_index("row")["detail, ours"]
    kept = beside()["why/questions"].at("TF-IDF, exact", "detail")
    assert shown["TF-IDF, exact"] == f"{kept.mean:#.4g} [{kept.interval[0]:.4f}, {kept.interval[1]:.4f}]"


@pytest.mark.parametrize("table", tables()[::5], ids=lambda table: table.name)
def test_the_papers_tables_stand_as_printed(opened: Opened, runs: Path, table) -> None:  # type: ignore[no-untyped-def]
    page = fine(opened("compare_page", view="The papers", paper=table.paper).run())
    fine(page.selectbox(key=f"{table.paper}-table").set_value(table.name).run())
    shown = page.dataframe[0].value
    assert list(shown["row"]) == [row.name for row in table.rows]
    for place, column in enumerate(table.columns):
        printed = [row.published[place] for row in table.rows]
        assert [None if value != value else value for value in shown[f"{column.name}, paper"]] == printed
    assert page.dataframe[0].proto.placeholder == "not printed"
    fought = any(claim.before for claim in beside()[table.name].claims)
    assert len(page.get("plotly_chart")) == 1 + fought


def test_figures_are_read_with_what_is_to_know_of_them(opened: Opened, runs: Path) -> None:
    page = fine(opened("compare_page", view="The papers", paper="film").run())
    fine(page.selectbox(key="film-table").set_value("film/1").run())
    stored = beside()["film/1"]
    ours = dict(zip(page.dataframe[0].value["row"], page.dataframe[0].value["accuracy, ours"], strict=True))
    by_row = {figure.row: figure for figure in stored.figures}
    mean, _, spread = ours["FILM, as printed"].partition(" ± ")
    assert float(mean) == pytest.approx(by_row["FILM, as printed"].mean, abs=0.005)
    assert len(mean.partition(".")[2]) == len(spread.partition(".")[2]) == 2  # as many decimals
    assert by_row["all-MiniLM-L6-v2 (ours)"].why == "seen in training"
    assert ours["all-MiniLM-L6-v2 (ours)"].endswith(" *")
    assert ours["L.D.C."] == "–"
    lines = [line.value.replace("\\", "") for kind in (page.markdown, page.caption) for line in kind]
    said = "\n".join(lines)
    assert "* seen in training" in lines
    for line in (*stored.notes, stored.note, *(claim.ours_why for claim in stored.claims)):
        assert line in said
    refuted = [claim for claim in stored.claims if claim.paper == "not confirmed"]
    assert refuted
    assert all(claim.paper_why in said for claim in refuted)
    own = [claim for claim in stored.claims if claim.paper == "our question"]
    assert own
    assert all(f"- {claim.text} **Ours: {claim.ours}**" in lines for claim in own)  # and of the paper no word
    assert "What the paper says of itself" in [box.label for box in page.expander]
    assert "less than 20 minutes" in said
