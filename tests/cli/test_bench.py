"""`labkit bench`: from a file to a report, stopped and resumed, and mistakes in one sentence."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from labkit import interrupts
from labkit.corpora import Corpus
from labkit.trials import bench as module
from labkit.trials.bench import bench

from .conftest import Labkit

MINE = ("bench", "mine.csv", "--methods", "tfidf,sif", "--workers", 1, "--seeds", 3)


@pytest.fixture(autouse=True)
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = module.planned
    monkeypatch.setattr(module, "planned", lambda *given, **how: planned(*given, **how) | {"trials": 8})


def test_a_file_becomes_a_report(labkit: Labkit) -> None:
    done = labkit(*MINE)
    assert done.status == 0
    assert "tfidf" in done.out
    assert Path("report/report.html").is_file()
    record = labkit(*MINE, "--json").document()  # it is done already
    assert {line["ranked"]["name"] for line in record["lines"]} == {"tfidf", "sif"}
    assert record["metric"] == "auc"
    assert record == json.loads(Path("report/report.json").read_text("utf-8"))
    assert labkit("evaluate", "report/model", "--corpus", "mine.csv").status == 0


@pytest.mark.parametrize("sign", [130, 143])
def test_stopped_it_says_the_command_that_resumes(labkit: Labkit, monkeypatch: pytest.MonkeyPatch, sign: int) -> None:
    def stopping(*given: Any, tell: Any, **how: Any) -> Any:
        def heard(line: str) -> None:
            raise interrupts.Interrupted(sign - 128)

        return bench(*given, tell=heard, **how)

    with monkeypatch.context() as patch:
        patch.setattr(module, "bench", stopping)
        done = labkit(*MINE, "--out", "it's")
    assert (done.status, done.out) == (sign, "")
    again = labkit(*shlex.split(done.err.splitlines()[-1].split("`")[1])[1:])
    assert again.status == 0
    assert Path("it's/report.html").is_file()


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("bench", "nosuch.csv"), "nosuch.csv"),
        ((*MINE, "--methods", "tfdif"), "tfdif"),
        ((*MINE, "--metric", "hit@1"), "metric"),
        ((*MINE, "--test", "nosuch.csv"), "nosuch.csv"),
        ((*MINE, "--minutes", "-1"), "--minutes"),
    ],
)
def test_mistakes_are_said_before_anything_is_trained(labkit: Labkit, words: tuple[Any, ...], named: str) -> None:
    assert named in labkit(*words, "-q").mistake()
    assert not Path("report/costs").exists()


def test_the_test_rows_come_from_the_other_file(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Path("mine.csv").read_text("utf-8").splitlines(keepends=True)
    Path("theirs.csv").write_text("".join(rows[:13]), "utf-8")

    def looking(corpus: Corpus, **how: Any) -> Any:
        raise ValueError(f"test has {corpus.sizes['test']}")

    monkeypatch.setattr(module, "bench", looking)
    assert "test has 12" in labkit(*MINE, "--test", "theirs.csv", "-q").mistake()
