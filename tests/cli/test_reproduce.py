"""`labkit reproduce` on fake tables that compute nothing."""

from __future__ import annotations

import json
import os
import re
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from labkit.papers import published as papers
from labkit.papers.recipes import Case
from labkit.papers.records import Paper, Row
from labkit.papers.reports import NOT_EVIDENCE
from labkit.trials.engine import Result
from tests.cli.conftest import Labkit
from tests.papers import fakes


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
    """Reduce the paper to one table with these rows."""
    table = replace(fakes.TABLE, rows=rows, claims=())
    registry(monkeypatch, {"fake": replace(fakes.PAPERS["fake"], tables=(table,))})


def test_list_tables_compute_one_and_show_it_from_the_store(labkit: Labkit, fake: None) -> None:
    listed = [each["table"] for each in labkit("reproduce", "--json").document()]
    assert listed == ["fake/1", "fake/figure-2"]
    assert re.search(r"^fake/1 +2 of 3 ", labkit("reproduce").out, re.MULTILINE)
    assert not fakes.ASKED
    done = labkit("reproduce", "fake/1")
    assert done.status == 0
    assert re.search(r"^\| ours \| \.820 \[\.\d+, .*\] \(\.900\) \| 2400 ", done.out, re.MULTILINE)
    assert "| plain | .500 [.297, .703] (.500) |" in done.out
    assert "| theirs | – (.850) |" in done.out
    assert len(fakes.ASKED) == 6
    again = labkit("reproduce", "fake/1")
    assert again.out == done.out
    assert len(fakes.ASKED) == 6
    assert "--anew" in again.err
    assert "--anew" not in done.err


def test_anew_recomputes_and_compares_with_the_store(
    labkit: Labkit, fake: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = labkit("reproduce", "fake/1")
    again = labkit("reproduce", "fake/1", "--row", "ours", "--anew")
    assert again.out == first.out.replace("reproduce fake/1", "reproduce fake/1 --row ours --anew")
    assert len(fakes.ASKED) == 6 + 5  # five seeds of one row
    assert "5 results" in again.err
    folders: list[Path | None] = []
    figures = iter([0.5, 0.5, 0.75, 0.625])

    def wandering(case: Case) -> Result:
        folders.append(case.runs)
        return Result({"accuracy": next(figures)})

    rows_only(monkeypatch, Row("t", (None, None), fakes.recipe("t", 0.1, run=wandering)))
    assert labkit("reproduce", "fake/1", "--seeds", 2).status == 0
    said = labkit("reproduce", "fake/1", "--seeds", 2, "--anew").err
    assert "2 of 2" in said
    assert "0.25" in said  # the largest difference
    runs = tmp_path / "cache" / "labkit" / "papers" / "runs"  # interrupted trainings resume there, except with --anew
    assert folders == [runs, runs, None, None]
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    assert said.count(f"{model}, {os.cpu_count()} processors") == 2  # of the stored results and of these


def test_the_ending_of_a_report_selects_its_format(labkit: Labkit, fake: None, tmp_path: Path) -> None:
    endings = ("md", "json", "jsonl")
    outs = [word for ending in endings for word in ("--out", f"report.{ending}")]
    assert labkit("reproduce", "fake/1", *outs).status == 0
    written = {ending: (tmp_path / f"report.{ending}").read_text(encoding="utf-8") for ending in endings}
    assert re.search(r"^\| ours \| \.820 \[.*\] \(\.900\) \| 2400 ± 0 \|", written["md"], re.MULTILINE)
    (record,) = json.loads(written["json"])["tables"]
    assert record["figures"][0]["mean"] == pytest.approx(0.82)
    results = [json.loads(line) for line in written["jsonl"].splitlines()]
    assert (len(results), {each["notes"]["about"]["seed"] for each in results}) == (6, set(range(5)))


def test_quick_computes_one_seed_and_is_no_evidence(labkit: Labkit, fake: None) -> None:
    done = labkit("reproduce", "--quick", "--out", "r.json")
    assert done.status == 0
    tables = json.loads(Path("r.json").read_text())["tables"]
    assert [(table["table"], table["evidence"]) for table in tables] == [("fake/1", False), ("fake/figure-2", False)]
    assert {seed for _, seed in fakes.ASKED} == {0}
    assert done.out.count(NOT_EVIDENCE) == 2


@pytest.mark.whole
def test_the_reported_command_names_no_folder(labkit: Labkit, fake: None, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for words in (["--data", "mine", f"--out={tmp_path / 's.json'}"], ["--data=mine", "--out", tmp_path / "s.json"]):
        labkit("reproduce", "fake/1", "--seeds", 1, *words)
        command = json.loads((tmp_path / "s.json").read_text())["command"]
        assert "s.json" in command
        assert "mine" not in command
        assert str(tmp_path) not in command


def test_an_interruption_shows_finished_rows(labkit: Labkit, fake: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(case: Case) -> Result:
        os.kill(os.getpid(), signal.SIGTERM)
        return fakes.steady(case)

    stop = Row("stop", (None, None), fakes.recipe("stop", 0.1, run=ended))
    rows_only(monkeypatch, fakes.TABLE.rows[0], stop, fakes.TABLE.rows[1])
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        done = labkit("reproduce", "fake/1", "--seeds", 1)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert done.status == 143
    assert "| ours | .800 [" in done.out


def test_stored_shows_stored_results_and_computes_nothing(labkit: Labkit, fake: None) -> None:
    labkit("reproduce", "fake/1", "--seeds", 1, "--row", "PLAIN")
    assert [name for name, _ in fakes.ASKED] == ["plain"]
    done = labkit("reproduce", "fake/1", "--seeds", 1, "--stored", "--out", "r.md", "--out", "r.json")
    assert done.status == 0
    assert len(fakes.ASKED) == 1
    assert "| plain | .500 [" in done.out
    assert "| ours | .800" not in done.out
    assert Path("r.md").is_file()
    assert Path("r.json").is_file()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["fake/3"], "'fake/1'"),
        (["fake/1", "--all"], "--all"),
        (["--anew"], "--anew"),
        (["fake/1", "--row", "hours"], "'ours'"),
        (["fake/1", "--out", "x.pdf"], "x.pdf"),
        (["fake/1", "--out", "no/such/x.md"], "no/such"),
        (["fake/1", "--data", "no/such"], "no/such"),
    ],
)
def test_mistakes(labkit: Labkit, fake: None, words: list[str], named: str) -> None:
    assert named in labkit("reproduce", *words).mistake()
    assert not fakes.ASKED


def test_a_bug_is_not_a_user_error(labkit: Labkit, fake: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rows_only(monkeypatch, Row("f", (None, None), fakes.recipe("f", 0.1, run=fakes.faulty)))
    with pytest.raises(RuntimeError) as fault:
        labkit("reproduce", "fake/1", "--seeds", 1)
    assert "a fault of ours" in str(fault.value.__cause__)
