"""`labkit compare`: several runs on one test split."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora import load as load_corpus
from labkit.evaluation import lead_of, over_seeds
from labkit.evaluation.scores import score
from labkit.methods import load
from labkit.runs import write_run

from .conftest import SMALL, Labkit, write_pairs

FOLDERS = ["s0", "s1", "s2", "words", "signs"]


@pytest.fixture
def runs(labkit: Labkit) -> list[str]:
    text = Path("mine.csv").read_text()
    Path("mine.csv").write_text(text.replace(",0,test", ",1,test", 4))  # so that nobody is right about all of it
    for seed in range(3):
        words = ("--epochs", 1, "--seed", seed, "--out", f"s{seed}", "--set", "learning_rate=0.03", *SMALL)
        assert labkit("train", "siamese", "--corpus", "mine.csv", *words).status == 0
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "words").status == 0
    words = ("--set", "unit=characters", "--out", "signs")
    assert labkit("train", "tfidf", "--corpus", "mine.csv", *words).status == 0
    return FOLDERS


def strictly(text: str) -> Any:
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_seeds_are_one_line(labkit: Labkit, runs: list[str]) -> None:
    found = strictly(labkit("compare", *runs, "--json").out)
    assert (found["corpus"], found["split"]) == ("mine.csv", "test")
    lines = {line["name"]: line for line in found["lines"]}
    assert lines.keys() == {"siamese", "tfidf unit=words", "tfidf unit=characters"}
    corpus = load_corpus("mine.csv")
    scores = {run: score(load(run), corpus, apart=True) for run in runs}
    wanted = over_seeds([scores[f"s{seed}"].headline for seed in range(3)])
    assert (lines["siamese"]["runs"], lines["siamese"]["seeds"]) == (["s0", "s1", "s2"], [0, 1, 2])
    assert lines["siamese"]["mean"]["accuracy"] == pytest.approx(wanted.mean)
    assert lines["siamese"]["spread"] == pytest.approx(wanted.spread)
    assert lines["tfidf unit=words"]["spread"] is None
    assert lines["tfidf unit=words"]["mean"] == pytest.approx(dict(scores["words"].figures))
    means = [line["mean"]["accuracy"] for line in found["lines"]]
    assert means == sorted(means, reverse=True)
    assert [line["verdict"] for line in found["lines"]].count("best") == 1
    assert found["lines"][0]["verdict"] == "best"

    folders = {"siamese": ["s0", "s1", "s2"], "tfidf unit=words": ["words"], "tfidf unit=characters": ["signs"]}
    parts = {name: [scores[run].parts["accuracy"] for run in named] for name, named in folders.items()}
    for line in found["lines"][1:]:
        lead = lead_of(parts[found["lines"][0]["name"]], parts[line["name"]])
        assert line["behind_by"] == pytest.approx(lead.lead)
        assert line["interval"] == pytest.approx(lead.interval())


def test_for_people(labkit: Labkit, runs: list[str]) -> None:
    done = labkit("compare", *runs)
    assert (done.status, done.err) == (0, "")
    title, _, *ranking = done.out.splitlines()[:5]
    assert title == "mine.csv, test: accuracy, the best first"
    assert ranking[0].endswith("best")
    assert all(re.search(r"; [-+]0\.\d{4} \[[-+]0\.\d{4}, [-+]0\.\d{4}\]", line) for line in ranking[1:])
    told = {line.split("  ")[0]: line for line in ranking}
    assert "(3 seeds)" in told["siamese"]
    assert "±" in told["siamese"]
    assert "(1 run)" in told["tfidf unit=words"]
    assert done.out.splitlines()[6].split()[:3] == ["means", "accuracy", "f1"]


def test_two_seeds_are_said_to_be_two(labkit: Labkit, runs: list[str]) -> None:
    assert "(2 runs)" in labkit("compare", "s0", "s1").out


def test_the_same_run_twice_is_one(labkit: Labkit, runs: list[str]) -> None:
    done = labkit("compare", "s0", "./s0", Path("s0").resolve(), "--json")
    assert done.err == ""
    assert strictly(done.out)["lines"][0]["runs"] == ["s0"]
    labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "copy")
    done = labkit("compare", "words", "copy")
    assert done.err == "labkit: note: runs that differ in nothing, not even in the seed, count once\n"
    assert "(1 run)" in done.out


def test_runs_of_different_corpora(labkit: Labkit, runs: list[str]) -> None:
    write_pairs(Path("other.csv"), who="child")
    labkit("train", "tfidf", "--corpus", "other.csv", "--out", "other")
    said = labkit("compare", "words", "other").mistake()
    assert said.startswith("run 'other' was trained on other.csv, 'words' on mine.csv")
    assert "--corpus" in said
    found = strictly(labkit("compare", "words", "other", "--corpus", "other.csv", "--json").out)
    assert {line["name"] for line in found["lines"]} == {"tfidf on mine.csv", "tfidf on other.csv"}
    corpus = load_corpus("other.csv")
    for line in found["lines"]:
        assert line["mean"] == pytest.approx(dict(score(load(line["runs"][0]), corpus).figures))


def test_a_corpus_that_changed_and_one_that_is_gone(labkit: Labkit, runs: list[str]) -> None:
    write_pairs(Path("mine.csv"), who="child")
    assert "note: mine.csv has changed since the runs were trained on it" in labkit("compare", "words", "signs").err
    Path("mine.csv").unlink()
    assert "neither a known corpus nor a file" in labkit("compare", "words", "signs").mistake()


def test_a_run_in_training_is_said(labkit: Labkit, runs: list[str]) -> None:
    write_run(load("words").run("training"), "words")
    assert "note: the training of words is not finished" in labkit("compare", "words", "signs").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("compare",), "Missing argument"),
        (("compare", "none"), "run is 'none', expected the folder of a run"),
        (("compare", "only", "none"), "run is 'none', expected the folder of a run"),
        (("compare", "only", "--corpus", "qestions"), "did you mean 'questions'?"),
    ],
)
def test_mistakes(labkit: Labkit, words: tuple[str, ...], said: str) -> None:
    labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "only")
    assert said in labkit(*words).mistake()
