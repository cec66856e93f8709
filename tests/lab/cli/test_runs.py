"""`labkit runs`: every run a line, damaged ones too, found again by words, without what is slow to import."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from labkit.folders import Hold
from labkit.runs import CHECKPOINT, add_metrics, read_record

from .conftest import SMALL, Labkit


@pytest.fixture
def some(labkit: Labkit) -> Labkit:
    """Three runs, of which one is without figures."""
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "-q").status == 0
    assert labkit("train", "siamese", "--corpus", "mine.csv", "--seed", 4, "--epochs", 2, *SMALL, "-q").status == 0
    assert labkit("train", "lsa", "--corpus", "mine.csv", "--set", "dimension=3", "-q").status == 0
    for age, name in enumerate(("lsa-mine-seed0", "siamese-mine-seed4", "tfidf-mine-seed0")):
        for path in Path("runs", name).iterdir():
            os.utime(path, (1e9 - age, 1e9 - age))
    return labkit


def listed(labkit: Labkit, *words: object) -> list[dict[str, object]]:
    done = labkit("runs", *words, "--json")
    assert done.status == 0, done.err
    return json.loads(done.out)


def test_a_run_is_a_line(some: Labkit) -> None:
    done = some("runs")
    head, *lines = [line.split() for line in done.out.splitlines()]
    assert head == ["run", "method", "corpus", "seed", "epochs", "on", "test", "state", "date"]
    assert [line[0] for line in lines] == ["runs/lsa-mine-seed0", "runs/siamese-mine-seed4", "runs/tfidf-mine-seed0"]
    accuracy = read_record("runs/siamese-mine-seed4")["metrics"]["mine.csv/test"]["accuracy"]
    assert lines[1][1:8] == ["siamese", "mine.csv", "4", "2", "accuracy", f"{accuracy:.4f}", "finished"]
    assert lines[0][4] == "-"  # LSA has no epochs
    found = listed(some)[1]
    assert (found["figure"], found["epochs"], found["state"]) == (accuracy, 2, "finished")


def test_words_methods_corpora_and_orders(some: Labkit) -> None:
    def names(*words: object) -> list[object]:
        return [each["method"] for each in listed(some, *words)]

    assert names("LSA") == ["lsa"]
    assert names("dimension=3") == ["lsa"]
    assert names("mine", "seed4") == ["siamese"]
    assert names("--method", "tfidf") == ["tfidf"]
    assert names("--corpus", "topics") == []
    assert names("--corpus", "mine.csv", "--sort", "method") == ["lsa", "siamese", "tfidf"]
    figures = [each["figure"] for each in listed(some, "--sort", "figure")]
    assert figures == sorted(figures, reverse=True)  # type: ignore[type-var]
    assert "expected one of date, figure" in some("runs", "--sort", "size").mistake()
    assert "--folder is 'gone', which is no folder" in some("runs", "--folder", "gone").mistake()
    nothing = some("runs", "zzz")
    assert (nothing.status, nothing.out) == (0, "")
    assert "3 runs in runs, none of which is asked for" in nothing.err


def test_without_runs_it_says_how_one_is_made(labkit: Labkit) -> None:
    done = labkit("runs")
    assert (done.status, done.out, done.err) == (0, "", "no run in runs: `labkit train` makes one\n")
    assert listed(labkit) == []


def test_damaged_ones_are_lines_with_the_reason(some: Labkit) -> None:
    whole = Path("runs/tfidf-mine-seed0")
    for name in ("cut", "edited", "older", "lost", "begun", "binary"):
        shutil.copytree(whole, f"runs/{name}")
    Path("runs/cut/run.json").write_text("{")
    Path("runs/edited/run.json").write_text((whole / "run.json").read_text().replace("tfidf", "tfid"))
    Path("runs/older/run.json").unlink()
    Path("runs/lost/model.safetensors").unlink()
    Path("runs/begun/run.json").rename(f"runs/begun/{CHECKPOINT}")
    Path("runs/binary/run.json").write_bytes(b"\xff\xfe\x00")
    Path("runs/nothing").mkdir()
    Path("runs/.hidden").mkdir()
    Path("runs/notes.txt").write_text("mine")
    reasons = {Path(str(each["run"])).name: str(each["reason"]) for each in listed(some) if each["reason"]}
    assert reasons.keys() == {"cut", "edited", "older", "lost", "begun", "binary"}
    assert "run.json is not one of labkit's" in reasons["cut"]
    assert "run.json was edited since it was written" in reasons["edited"]
    assert "run.json is missing" in reasons["older"]
    assert "model.safetensors missing" in reasons["lost"]
    assert reasons["begun"] == "unfinished: no epoch is done"
    assert len(some("runs").out.splitlines()) == 1 + 3 + 6
    assert len(some("runs", "--method", "tfidf").out.splitlines()) == 1 + 1


def test_one_that_is_being_trained_says_by_whom(some: Labkit) -> None:
    with Hold("runs/siamese-mine-seed4"), Hold("runs/new"):
        assert [each["state"] for each in listed(some, "--sort", "run")].count("training") == 2
        for each in listed(some, "training"):
            assert str(each["reason"]).startswith(f"being trained by process {os.getpid()} on ")
    assert len(listed(some)) == 3


def test_a_figure_that_is_no_number_is_none(some: Labkit) -> None:
    add_metrics("runs/tfidf-mine-seed0", {"mine.csv/test": {"accuracy": None}})
    found = next(each for each in listed(some, "--sort", "figure") if each["method"] == "tfidf")
    assert found["figure"] is None
    assert some("runs").status == 0


@pytest.mark.whole
def test_hundreds_are_listed_without_torch(some: Labkit) -> None:
    for number in range(500):
        shutil.copytree("runs/tfidf-mine-seed0", f"many/{number}")
    asked = (
        "import sys; sys.argv = ['labkit', 'runs', '--folder', 'many', '--json']\n"
        "from labkit.lab.cli.main import main\ntry: main()\n"
        "finally: print({'torch', 'pandas', 'sklearn', 'scipy'} & sys.modules.keys(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert len(json.loads(done.stdout)) == 500
    assert done.stderr == "set()\n"
