"""`labkit reproduce` on tables that compute nothing, and the list of the real ones."""

from __future__ import annotations

import json
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.lab.papers import published as papers
from labkit.lab.papers.fair import tuned_and_printed
from labkit.lab.papers.recipes import Case
from labkit.lab.papers.records import Outcome, Paper, Row
from tests.lab.cli.conftest import Labkit
from tests.lab.papers import fakes


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("LABKIT_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "120")
    registry(monkeypatch, fakes.PAPERS)
    fakes.ASKED.clear()


def registry(monkeypatch: pytest.MonkeyPatch, found: dict[str, Paper]) -> None:
    monkeypatch.setattr(papers, "PAPERS", found)
    monkeypatch.setattr(papers.tables, "__defaults__", ("", found))


def rows_only(monkeypatch: pytest.MonkeyPatch, *rows: Row) -> None:
    """Let the paper have one table, of these rows."""
    table = replace(fakes.TABLE, rows=rows, claims=())
    registry(monkeypatch, {"fake": replace(fakes.PAPERS["fake"], tables=(table,))})


def test_lists_without_a_table(labkit: Labkit, fake: None) -> None:
    done = labkit("reproduce")
    assert done.status == 0
    assert "fake/1         2 of 3  embedded" in done.out
    assert not fakes.ASKED


def test_one_table_and_again_from_the_store(labkit: Labkit, fake: None) -> None:
    done = labkit("reproduce", "fake/1")
    assert done.status == 0
    assert ".820 ± .016 (.900)" in done.out
    assert "labkit reproduce fake/1" in done.out
    assert len(fakes.ASKED) == 6
    again = labkit("reproduce", "fake/1")
    assert again.out == done.out
    assert len(fakes.ASKED) == 6
    assert "nothing: known" in labkit("reproduce").out


def test_long_trainings_are_kept_beside_the_cells(
    labkit: Labkit, fake: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path | None] = []

    def looking(case: Case) -> Outcome:
        folders.append(case.runs)
        return Outcome({"accuracy": 1.0})

    row = Row("t", (None, None), fakes.recipe("t", 0.1, run=looking, random=False))
    table = replace(fakes.TABLE, rows=(row,), claims=())
    registry(monkeypatch, {"fake": replace(fakes.PAPERS["fake"], tables=(table,))})
    assert labkit("reproduce", "fake/1").status == 0
    assert folders == [tmp_path / "cache" / "labkit" / "papers" / "runs"]


@pytest.mark.parametrize("ending", ["md", "csv", "json", "html"])
def test_out(labkit: Labkit, fake: None, tmp_path: Path, ending: str) -> None:
    done = labkit("reproduce", "fake", "--seeds", 1, "--out", f"report.{ending}")
    assert done.status == 0
    written = (tmp_path / f"report.{ending}").read_text(encoding="utf-8")
    assert "ours" in written
    assert f"--out report.{ending}" in written


def test_a_folder_without_what_is_asked_for_is_said_first(labkit: Labkit, fake: None, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = labkit("reproduce", "fake/1", "--data", tmp_path / "empty", "--seeds", 1)
    assert done.status == 0
    assert "holds none of the published data that is asked for, so embedded corpora are taken" in done.err
    assert "holds none" not in labkit("reproduce", "fake/1", "--seeds", 1).err


def test_all_and_a_table_exclude_each_other(labkit: Labkit, fake: None) -> None:
    done = labkit("reproduce", "fake/1", "--all")
    assert done.status == 2
    assert "'fake/1' and --all exclude each other" in done.err
    assert not fakes.ASKED


def test_all_says_first_how_long_it_takes(labkit: Labkit, fake: None) -> None:
    done = labkit("reproduce", "--all", "--seeds", 1)
    assert done.err.startswith("about ")
    assert "fake/figure-2" in done.out


def test_quick_is_not_evidence(labkit: Labkit, fake: None) -> None:
    done = labkit("reproduce", "--quick")
    assert done.out.count("\nnot evidence: one seed, ") == 2
    assert "claim: ours leads plain: not evidence (" in done.out
    assert {seed for _, seed in fakes.ASKED} == {0}


def test_the_folder_is_not_told(labkit: Labkit, fake: None, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for words in (["--data", "mine"], ["--data=mine"]):
        labkit("reproduce", "fake/1", "--seeds", 1, *words, "--out", "r.json")
        assert "mine" not in json.loads((tmp_path / "r.json").read_text())["command"]
    for words in (["--out", tmp_path / "s.json"], [f"--out={tmp_path / 's.json'}"]):
        labkit("reproduce", "fake/1", "--seeds", 1, *words)
        command = json.loads((tmp_path / "s.json").read_text())["command"]
        assert "s.json" in command and str(tmp_path) not in command  # noqa: PT018


def test_interrupted_shows_what_is_done(labkit: Labkit, fake: None, monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Row("stop", (None, None), fakes.recipe("stop", 0.1, run=fakes.interrupted))
    rows_only(monkeypatch, fakes.TABLE.rows[0], stop, fakes.TABLE.rows[1])
    done = labkit("reproduce", "fake/1", "--seeds", 1)
    assert done.status == 130
    assert ".800 (.900)" in done.out
    assert "finished rows are kept and shown, and the same command goes on" in done.err


def test_a_scheduler_that_ends_it_is_told_the_way_back(
    labkit: Labkit, fake: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ended(case: Case) -> Outcome:
        os.kill(os.getpid(), signal.SIGTERM)
        return fakes.steady(case)

    rows_only(monkeypatch, Row("ended", (None, None), fakes.recipe("ended", 0.1, run=ended)))
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        done = labkit("reproduce", "fake/1", "--seeds", 1)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.status == 143
    assert "finished rows are kept and shown, and the same command goes on" in done.err


def test_budget(labkit: Labkit, fake: None) -> None:
    said = labkit("reproduce", "fake/1", "--budget", "0.1s").mistake()
    assert said.startswith("--budget is 1 s, but one seed takes about ")
    assert labkit("reproduce", "fake/1", "--budget", "10m").status == 0


def test_budget_of_nothing_shows_what_is_known(labkit: Labkit, fake: None) -> None:
    labkit("reproduce", "fake/1", "--seeds", 1, "--row", "PLAIN")
    assert [name for name, _ in fakes.ASKED] == ["plain"]
    done = labkit("reproduce", "fake/1", "--seeds", 1, "--budget", "0", "--out", "r.md", "--out", "r.json")
    assert done.status == 0
    assert len(fakes.ASKED) == 1
    assert re.search(r"plain +\.500", done.out)
    assert "ours: not computed yet, about " in done.out
    assert ": labkit reproduce fake/1\n" in done.out
    assert done.err == ""
    assert "r.md" in done.out and "r.json" in done.out  # noqa: PT018


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fake/3"], "there is no table 'fake/3', expected PAPER or PAPER/TABLE; did you mean 'fake/1'?"),
        (
            ["fake/1", "--budget", "soon"],
            "--budget is 'soon', expected a time such as 90s, 10m or 2h, or 0",
        ),
        (["fake/1", "--row", "hours"], "--row is 'hours', which no row's name holds; did you mean 'ours'?"),
        (["--quick", "--all"], "--quick and --all exclude each other"),
        (
            ["fake/1", "--out", "x.pdf"],
            "--out is 'x.pdf', expected a file that ends in .md, .csv, .json, .jsonl, .html",
        ),
        (["fake/1", "--out", "no/such/x.md"], "there is no folder 'no/such'; make it first"),
        (["fake/1", "--data", "no/such"], "--data is 'no/such', expected the folder of the published datasets"),
    ],
)
def test_mistakes(labkit: Labkit, fake: None, words: list[str], said: str) -> None:
    assert said in labkit("reproduce", *words).mistake()


def test_cells_are_written_and_a_fault_of_ours_is_no_mistake_of_the_user(
    labkit: Labkit, fake: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert labkit("reproduce", "fake/1", "--out", "cells.jsonl").status == 0
    lines = (tmp_path / "cells.jsonl").read_text().splitlines()
    assert len(lines) == 6
    assert {json.loads(line)["seed"] for line in lines} == set(range(5))
    rows_only(monkeypatch, Row("f", (None, None), fakes.recipe("f", 0.1, run=fakes.faulty)))
    with pytest.raises(RuntimeError, match="1 cells failed by a fault of labkit") as fault:
        labkit("reproduce", "fake/1", "--seeds", 1)
    assert "a fault of ours" in str(fault.value.__cause__)


def test_by_the_protocol_printed_nothing_is_tuned(labkit: Labkit, fake: None, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna")
    made = replace(fakes.tuned(), tuned=False)
    rows = tuned_and_printed(Row("ours", (0.9, None), made), {"turn": 0.125})
    rows_only(monkeypatch, *rows)
    fakes.Turned.seen.clear()
    printed = labkit("reproduce", "fake/1", "--protocol", "printed")
    assert printed.status == 0
    assert [settings["turn"] for _, settings, _ in fakes.Turned.seen] == [0.125] * 3
    assert ".125 ± .000 (.900)" in printed.out
    assert "as printed" not in printed.out
    fair = labkit("reproduce", "fake/1")
    assert len(fakes.Turned.seen) == 3 + 16 + 5  # rows as printed are known
    again = labkit("reproduce", "fake/1", "--protocol", "fair").out
    assert again == fair.out.replace("labkit reproduce fake/1", "labkit reproduce fake/1 --protocol fair")
    assert "ours, as printed" in fair.out
    assert len(fakes.Turned.seen) == 3 + 16 + 5
    wrong = labkit("reproduce", "fake/1", "--protocol", "best")
    assert (wrong.status, wrong.err) == (
        2,
        "labkit: --protocol is 'best', expected one of fair, printed; choose one of these\n",
    )
