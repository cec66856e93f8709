"""`labkit evaluate`: any run, on its own corpus or another."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora import load as load_corpus
from labkit.evaluation.scores import score
from labkit.methods import METHODS, load
from labkit.runs import CHECKPOINT, read_record, write_checkpoint, write_run

from .conftest import Labkit, write_pairs


@pytest.fixture
def run(labkit: Labkit) -> str:
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--seed", 5, "--out", "r").status == 0
    return "r"


def strictly(text: str) -> Any:
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_its_own_corpus(labkit: Labkit, run: str) -> None:
    figures = score(load(run), load_corpus("mine.csv")).figures
    done = labkit("evaluate", run)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[:3] == ["r: tfidf, trained on mine.csv with seed 5", "", "mine.csv, test"]
    said = dict(line.split() for line in done.out.splitlines()[4:])
    assert said == {name: f"{value:.4f}" for name, value in figures.items()}


def test_as_json(labkit: Labkit, run: str) -> None:
    found = strictly(labkit("evaluate", run, "--json").out)
    wanted = score(load(run), load_corpus("mine.csv"))
    assert found.pop("figures") == pytest.approx(dict(wanted.figures))
    assert found == {
        "run": "r",
        "method": "tfidf",
        "seed": 5,
        "state": "finished",
        "trained_on": "mine.csv",
        "corpus": "mine.csv",
        "split": "test",
        "same_corpus": True,
        "measure": "accuracy",
    }


def test_another_split(labkit: Labkit, run: str) -> None:
    text = Path("mine.csv").read_text()
    Path("noisy.csv").write_text(text.replace(",0,dev", ",1,dev", 5))
    accuracy = {}
    for split in ("train", "dev", "test"):
        found = strictly(labkit("evaluate", run, "--corpus", "noisy.csv", "--split", split, "--json").out)
        wanted = score(load(run), load_corpus("noisy.csv"), split=split).figures
        assert (found["split"], found["figures"]) == (split, pytest.approx(dict(wanted)))
        accuracy[split] = found["figures"]["accuracy"]
    assert accuracy["dev"] < accuracy["test"]


def test_another_corpus_is_said(labkit: Labkit, run: str) -> None:
    write_pairs(Path("other.csv"), who="child")
    done = labkit("evaluate", run, "--corpus", "other.csv")
    assert "other.csv is not the corpus it was trained on (another fingerprint)" in done.out
    assert "not the corpus" not in labkit("evaluate", run, "--corpus", "mine.csv").out
    found = strictly(labkit("evaluate", run, "--corpus", "other.csv", "--json").out)
    assert (found["corpus"], found["same_corpus"]) == ("other.csv", False)
    assert found["figures"] == pytest.approx(dict(score(load(run), load_corpus("other.csv")).figures))


def test_a_file_that_changed_is_said(labkit: Labkit, run: str) -> None:
    write_pairs(Path("mine.csv"), who="child")
    assert "mine.csv is not the corpus it was trained on" in labkit("evaluate", run).out


def test_a_file_that_is_gone(labkit: Labkit, run: str) -> None:
    shutil.move("mine.csv", "elsewhere.csv")
    said = labkit("evaluate", run).mistake()
    assert said.startswith("run 'r' was trained on 'mine.csv', which is neither a known corpus nor a file")
    assert "--corpus" in said
    done = labkit("evaluate", run, "--corpus", "elsewhere.csv")
    assert done.status == 0
    assert "not the corpus" not in done.out  # the same rows, wherever they lie


def test_a_run_in_training(labkit: Labkit, run: str) -> None:
    method = load(run)
    shutil.rmtree(run)
    write_run(method.run("training"), run)
    done = labkit("evaluate", run)
    assert done.status == 0
    assert done.err == "labkit: note: the training of r is not finished: this is what it knew last\n"
    assert strictly(labkit("evaluate", run, "--json").out)["state"] == "training"


def test_a_run_without_an_epoch(labkit: Labkit) -> None:
    write_checkpoint("young", {}, {})
    assert Path("young", CHECKPOINT).is_file()
    said = labkit("evaluate", "young").mistake()
    assert "interrupted before its first epoch was done" in said
    assert "--resume" in said


def test_figures_that_are_not_finite(labkit: Labkit, run: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = score

    def infinite(*given: Any, **more: Any) -> Any:
        found = real(*given, **more)
        return dataclasses.replace(found, figures={**found.figures, "auc": float("nan"), "f1": float("-inf")})

    monkeypatch.setattr("labkit.evaluation.scores.score", infinite)
    figures = strictly(labkit("evaluate", run, "--json").out)["figures"]
    assert (figures["auc"], figures["f1"]) == (None, None)
    assert figures["accuracy"] is not None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("evaluate",), "Missing argument"),
        (("evaluate", "none"), "run is 'none', expected the folder of a run"),
        (("evaluate", "mine.csv"), "run is 'mine.csv', expected the folder of a run"),
        (("evaluate", "empty"), "run.json is missing"),
        (("evaluate", "r", "--corpus", "qestions"), "did you mean 'questions'?"),
        (("evaluate", "r", "--split", "tset"), "split is 'tset', expected train, dev or test"),
        (("evaluate", "cut"), "vocabulary.json is missing"),
        (("evaluate", "broken"), "its checksum differs"),
    ],
)
def test_mistakes(labkit: Labkit, run: str, words: tuple[str, ...], said: str) -> None:
    Path("empty").mkdir()
    shutil.copytree(run, "cut")
    Path("cut/vocabulary.json").unlink()
    shutil.copytree(run, "broken")
    Path("broken/model.safetensors").write_bytes(Path("broken/model.safetensors").read_bytes()[:-3])
    assert said in labkit(*words).mistake()


def test_every_untrained_method(labkit: Labkit) -> None:
    for name in METHODS.keys() - {"sbert"}:  # which wants an extra, and has tests of its own
        if "epochs" not in METHODS[name]().settings.values():
            labkit("train", name, "--corpus", "mine.csv", "--out", name)
            assert labkit("evaluate", name).status == 0


def test_a_sample_is_said_everywhere(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(score.__kwdefaults__, "most", 20)
    rows = [f"a cat sleeps on sofa {n},{n % 9},{split}" for split in ("train", "test") for n in range(40)]
    Path("many.csv").write_text("\n".join(["text,label,split", *(row.replace("cat", row[-4:]) for row in rows)]) + "\n")
    said = "of a sample: 20 sentences asked for what is nearest to them among all"
    for seed, out in enumerate(("one", "two")):
        done = labkit("train", "tfidf", "--corpus", "many.csv", "--out", out, "--seed", seed)
        assert done.out.splitlines()[0].endswith(f"; {said}")
        assert read_record(out)["metrics"]["many.csv/test"]["asked"] == 20
    assert labkit("evaluate", "one").out.splitlines()[-1] == said
    found = strictly(labkit("evaluate", "one", "--json").out)
    assert (found["sample"], found["figures"]["asked"]) == (said, 20)
    compared = labkit("compare", "one", "two").out.splitlines()
    assert compared[2].endswith(said)
    assert "asked" in next(line for line in compared if line.startswith("means"))
    monkeypatch.setenv("LABKIT_BAR", "bar.json")
    assert labkit("evaluate", "one").status == 0
    bar = json.loads(Path("bar.json").read_text())
    assert bar["what"] == "distances between classes"  # the last thing that takes long
