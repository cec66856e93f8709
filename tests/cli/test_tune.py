"""`labkit tune` and `bench`: their output, interruption and resumption, and mistakes."""

from __future__ import annotations

import json
import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from labkit import interrupts
from labkit.corpora import Corpus
from labkit.trials import bench as module
from labkit.trials.bench import bench
from labkit.trials.tune import tune

from .conftest import SMALL, Done, Labkit

SIF = ("tune", "sif", "--corpus", "mine.csv", "--trials", 4)
HERE = "runs/tune-sif-mine-seed0"
MINE = ("bench", "mine.csv", "--methods", "tfidf,sif", "--workers", 1, "--seeds", 3)


def command_told(done: Done) -> list[str]:
    """The arguments of the resuming command in the last line."""
    return shlex.split(done.err.splitlines()[-1].split("`")[1])[1:]


def test_trials_are_a_table_best_first_and_the_best_has_a_command(labkit: Labkit) -> None:
    done = labkit(*SIF)
    assert done.status == 0
    table, _, way = done.out.strip().split("\n\n")
    head, *lines = table.splitlines()
    assert head.split()[:6] == ["trial", "dev_auc", "dimension", "window", "a", "components"]
    figures = [line.split()[1] for line in lines]
    assert (len(lines), figures) == (4, sorted(figures, reverse=True))
    record = labkit(*SIF, "--json").document()  # already computed
    best = record["trials"][record["best"]]
    assert best["figure"] == max(trial["figure"] for trial in record["trials"])
    assert lines[0].split()[0] == str(record["best"])
    assert record["command"] == way
    assert all(f"--set {name}={value}" in way for name, value in record["settings"].items())
    assert labkit(*shlex.split(way)[1:]).status == 0
    assert "dimension 100, window 10, a 0.001, components 1" in done.err  # the first trial has the given settings


def test_trials_stay_within_the_given_space(labkit: Labkit) -> None:
    space = ("--space", "window=2..5", "--space", "components=0|1|2", "--sampler", "random", "--set", "dimension=9")
    found = labkit(*SIF, *space, "--seed", 3, "--part", 0.5, "--out", "t", "--json").document()
    assert (found["method"], found["corpus"], found["measure"], found["folder"]) == ("sif", "mine.csv", "dev_auc", "t")
    assert found["space"] == {"window": "2..5", "components": "0|1|2"}
    for trial in found["trials"][1:]:
        assert 2 <= int(trial["tried"]["window"]) <= 5
        assert str(trial["tried"]["components"]) in "012"
    assert found["settings"] == {"dimension": "9", **found["trials"][found["best"]]["tried"]}


def test_an_interruption_prints_the_resuming_command(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    network = ("tune", "siamese", "--corpus", "mine.csv", "--trials", 3, *SMALL[:-2], "--space", "margin=0..0.9")
    network = (*network, "--set", "epochs=1")
    straight = labkit(*network, "--out", "straight")

    def stopping(*given: Any, progress: Any, **how: Any) -> Any:
        calls = iter(range(20))

        def heard(*what: Any) -> None:
            if next(calls) == 9:
                raise interrupts.Interrupted(signal.SIGINT)

        return tune(*given, progress=heard, **how)

    with monkeypatch.context() as patch:
        patch.setattr("labkit.trials.tune.tune", stopping)
        done = labkit(*network, "--out", "it's")
    assert (done.status, done.out) == (130, "")
    again = labkit(*command_told(done))

    def figures(table: str) -> list[list[str]]:
        return [line.split()[:3] for line in table.split("\n\n")[0].splitlines()]  # without the seconds

    assert (figures(again.out), again.status) == (figures(straight.out), 0)


def test_trials_are_not_listed_as_runs(labkit: Labkit) -> None:
    assert labkit(*SIF).status == 0
    for place in ("runs", HERE, f"{HERE}/trials"):
        assert labkit("runs", "--folder", place, "--json").document() == []
    assert HERE in labkit("evaluate", HERE).mistake()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("tune", "sift", "--corpus", "mine.csv"), "METHOD"),
        ((*SIF, "--space", "window"), "--space"),
        ((*SIF, "--set", "window=3", "--space", "window=1..2"), "window"),
        ((*MINE, "--methods", "tfdif"), "tfdif"),
    ],
)
def test_mistakes_are_reported_before_anything_is_written(labkit: Labkit, words: tuple[Any, ...], named: str) -> None:
    assert named in labkit(*words, "-q").mistake()
    assert not Path("runs").exists()
    assert not Path("report/costs").exists()


# --- bench -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = module.planned
    monkeypatch.setattr(module, "planned", lambda *given, **how: planned(*given, **how) | {"trials": 8})


def test_a_file_becomes_a_report(labkit: Labkit, few_trials: None) -> None:
    done = labkit(*MINE)
    assert done.status == 0
    assert "tfidf" in done.out
    assert Path("report/report.html").is_file()
    record = labkit(*MINE, "--json").document()  # already computed
    assert {line["ranked"]["name"] for line in record["lines"]} == {"tfidf", "sif"}
    assert record["metric"] == "auc"
    assert record == json.loads(Path("report/report.json").read_text("utf-8"))
    assert labkit("evaluate", "report/model", "--corpus", "mine.csv").status == 0


def test_a_stopped_comparison_prints_the_resuming_command(
    labkit: Labkit, few_trials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopping(*given: Any, tell: Any, **how: Any) -> Any:
        def heard(line: str) -> None:
            raise interrupts.Interrupted(signal.SIGTERM)

        return bench(*given, tell=heard, **how)

    with monkeypatch.context() as patch:
        patch.setattr(module, "bench", stopping)
        done = labkit(*MINE, "--out", "it's")
    assert (done.status, done.out) == (143, "")
    assert command_told(done) == [*map(str, MINE), "--out", "it's"]


def test_the_test_rows_come_from_the_other_file(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Path("mine.csv").read_text("utf-8").splitlines(keepends=True)
    Path("theirs.csv").write_text("".join(rows[:13]), "utf-8")

    def looking(corpus: Corpus, **how: Any) -> Any:
        raise ValueError(f"test has {corpus.sizes['test']}")

    monkeypatch.setattr(module, "bench", looking)
    assert "test has 12" in labkit(*MINE, "--test", "theirs.csv", "-q").mistake()
    for name in ("mine.csv", "theirs.csv"):
        Path(name).write_text(Path(name).read_text("utf-8").replace("text_a,text_b", "one,two"), "utf-8")
    named = ("--test", "theirs.csv", "--columns", "text_a=one,text_b=two", "-q")
    assert "test has 12" in labkit(*MINE, *named).mistake()
    for name in ("mine.csv", "theirs.csv"):
        Path(name).write_text(Path(name).read_text("utf-8").replace("lake", "Großer See"), "latin-1")
    assert "--encoding" in labkit(*MINE, *named).mistake()
    assert "test has 12" in labkit(*MINE, *named, "--encoding", "latin-1").mistake()
    assert "topics" in labkit("bench", "topics", "--columns", "text=one").mistake()
