"""`labkit tune`: what it writes, how it is stopped and goes on, and that nothing of it is scored on test."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from labkit import interrupts
from labkit.tuning import tune

from .conftest import SMALL, Labkit

SIF = ("tune", "sif", "--corpus", "mine.csv", "--trials", 4)
HERE = "runs/tune-sif-mine-seed0"


def test_trials_are_a_table_and_the_best_a_command(labkit: Labkit) -> None:
    done = labkit(*SIF)
    assert done.status == 0
    table, tried, way = done.out.strip().split("\n\n")
    head, *lines = table.splitlines()
    assert head.split() == ["trial", "dev_auc", "dimension", "window", "a", "components", "CPU", "s"]
    figures = [line.split()[1] for line in lines]
    assert (len(lines), figures) == (4, sorted(figures, reverse=True))
    space = "tried: dimension 50..300, window 2..20, a 1e-05..0.1, components 0..3; trial 0: the settings as given"
    assert tried == space
    assert way.startswith("labkit train sif --corpus mine.csv --seed 0 --set dimension=")
    said = done.err.splitlines()
    assert said[0].startswith(
        "sif on Pairs('mine.csv', 96 rows: train 48, dev 24, test 24), 4 trials, seed 0, into runs"
    )
    assert [line.split(":")[0] for line in said[1:]] == [f"trial {number}" for number in range(4)]
    assert said[1].startswith("trial 0: dimension 100, window 10, a 0.001, components 1: dev_auc ")
    assert labkit(*shlex.split(way)[1:]).status == 0  # and the command can be copied
    again = labkit(*SIF, "-q")
    assert (again.out, again.err) == (done.out, "")  # it is done already


def test_json_has_all_of_it(labkit: Labkit) -> None:
    space = ("--space", "window=2..5", "--space", "components=0|1|2", "--sampler", "random", "--set", "dimension=9")
    found = labkit(*SIF, *space, "--seed", 3, "--part", 0.5, "--out", "t", "--json").document()
    assert (found["method"], found["corpus"], found["measure"], found["folder"]) == ("sif", "mine.csv", "dev_auc", "t")
    assert found["space"] == {"window": "2..5", "components": "0|1|2"}
    assert [trial["number"] for trial in found["trials"]] == [0, 1, 2, 3]
    best = found["trials"][found["best"]]
    assert best["figure"] == max(trial["figure"] for trial in found["trials"])
    assert found["settings"] == {"dimension": "9", **best["tried"]}
    assert found["command"].startswith("labkit train sif --corpus mine.csv --seed 0 --set dimension=9 --set window=")


def test_a_small_space_and_a_failure_are_said(labkit: Labkit) -> None:
    done = labkit("tune", "tfidf", "--corpus", "mine.csv", "--space", "least=1|2|99", "--trials", 9)
    assert "\n3 of 9 trials: there is nothing else to try\n" in done.out
    failed = next(line for line in done.out.splitlines() if "failed" in line)
    assert failed.split()[2] == "99"
    assert done.out.index(failed) > done.out.index("0.")
    assert "least 99: failed: " in done.err


@pytest.mark.parametrize("sign", [130, 143])
def test_stopped_it_says_the_command_that_goes_on(labkit: Labkit, monkeypatch: pytest.MonkeyPatch, sign: int) -> None:
    network = ("tune", "siamese", "--corpus", "mine.csv", "--trials", 3, *SMALL[:-2], "--space", "margin=0..0.9")
    straight = labkit(*network, "--out", "straight")

    def stopping(*given: Any, progress: Any, **how: Any) -> Any:
        calls = iter(range(20))

        def heard(*what: Any) -> None:
            if next(calls) == 19:
                raise interrupts.Asked(sign - 128)

        return tune(*given, progress=heard, **how)

    with monkeypatch.context() as patch:
        patch.setattr("labkit.tuning.tune", stopping)
        done = labkit(*network, "--out", "it's")
    assert (done.status, done.out) == (sign, "")
    last = done.err.splitlines()[-1]
    assert last.startswith("labkit: stopped; `labkit tune siamese --corpus mine.csv --trials 3 ")
    again = labkit(*shlex.split(last.split("`")[1])[1:])

    def figures(table: str) -> list[list[str]]:
        return [line.split()[:3] for line in table.splitlines()]  # but not the seconds

    assert (figures(again.out), again.status) == (figures(straight.out), 0)


def test_trials_are_no_runs_and_are_not_scored(labkit: Labkit) -> None:
    assert labkit(*SIF).status == 0
    for place in ("runs", HERE, f"{HERE}/trials"):
        Path(place, ".lock").touch()  # as while somebody looks into it
        assert "tune-sif" not in labkit("runs", "--folder", place).out
        Path(place, ".lock").unlink()
    sentence = (
        ", a tuning or one of its trials, which are valued on dev and not scored, expected a finished run; train with "
        "the best settings first, by the command with which `labkit tune` ends"
    )
    for place in (HERE, f"{HERE}/trials/001"):
        for words in (("evaluate",), ("evaluate", "--split", "dev"), ("compare",), ("encode", "--output", "-")):
            assert labkit(words[0], place, *words[1:]).mistake() == f"run is {place!r}{sentence}"


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        (("tune", "sif"), "--corpus is missing"),
        (("tune", "sift", "--corpus", "mine.csv"), "METHOD is 'sift'"),
        (
            (*SIF, "--space", "window"),
            "--space is 'window', expected KEY=VALUE, as in --space learning_rate=0.001..0.1",
        ),
        ((*SIF, "--space", "a=1..2", "--space", "a=1|2"), "--space gives a twice"),
        ((*SIF, "--space", "windw=1..2"), "setting 'windw' is not one of this method; did you mean 'window'?"),
        ((*SIF, "--space", "window=9..2"), "what to try is window='9..2', expected two numbers"),
        ((*SIF, "--space", "window=0..2"), "what to try is window='0..2': setting window is 0, expected at least 1"),
        ((*SIF, "--set", "window=3", "--space", "window=1..2"), "setting window is both set and to be tried"),
        ((*SIF, "--part", "2"), "part is 2.0, expected a share"),
        ((*SIF, "--sampler", "grid"), "sampler is 'grid'"),
    ],
)
def test_mistakes_are_said_before_anything_is_made(labkit: Labkit, words: tuple[Any, ...], mistake: str) -> None:
    done = labkit(*words, "-q")
    assert done.mistake().startswith(mistake)
    assert not Path("runs").exists()


def test_its_help_says_how_it_goes_on(labkit: Labkit) -> None:
    said = " ".join(labkit("tune", "--help").out.split())
    assert "The same command again goes on where it was stopped" in said
    assert "Nothing of the test split is seen" in said
    assert "every pair of a batch weighs" in said
