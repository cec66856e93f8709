"""The commands on trained runs: `labkit evaluate`, `compare`, `explain`, `paraphrase` and `runs`."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora import load as load_corpus
from labkit.evaluation.scores import score
from labkit.locks import locked
from labkit.methods import load_run
from labkit.pthought.method import PThought
from labkit.pthought.writing import Search
from labkit.runs import CHECKPOINT, add_metrics, read_record, write_checkpoint, write_run
from tests.tiny_sbert import tiny_sbert

from .conftest import SMALL, Labkit, write_pairs

# --- evaluate --------------------------------------------------------------------------------------------------------


@pytest.fixture
def evaluated(labkit: Labkit) -> str:
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--seed", 5, "--out", "r").status == 0
    return "r"


def test_evaluate_prints_every_score_of_the_runs_own_corpus(labkit: Labkit, evaluated: str) -> None:
    figures = score(load_run(evaluated), load_corpus("mine.csv")).figures
    done = labkit("evaluate", evaluated)
    assert (done.status, done.err) == (0, "")
    said = [tuple(line.split()) for line in done.out.splitlines()[-len(figures) :]]
    assert said == [(name, f"{value:.4f}") for name, value in figures.items()]
    found = labkit("evaluate", evaluated, "--json").document()
    assert found.pop("figures") == pytest.approx(dict(figures))
    about = {"run": "r", "method": "tfidf", "seed": 5, "state": "finished", "trained_on": "mine.csv"}
    assert found == about | {"corpus": "mine.csv", "split": "test", "same_corpus": True, "measure": "accuracy"}


def test_evaluate_uses_the_given_split_and_corpus(labkit: Labkit, evaluated: str) -> None:
    write_pairs(Path("other.csv"), who="child")
    Path("other.csv").write_text(Path("other.csv").read_text().replace(",0,dev", ",1,dev", 5))
    accuracy = {}
    for split in ("train", "dev", "test"):
        found = labkit("evaluate", evaluated, "--corpus", "other.csv", "--split", split, "--json").document()
        wanted = score(load_run(evaluated), load_corpus("other.csv"), split=split).figures
        assert (found["corpus"], found["split"], found["same_corpus"]) == ("other.csv", split, False)
        assert found["figures"] == pytest.approx(dict(wanted))
        accuracy[split] = found["figures"]["accuracy"]
    assert accuracy["dev"] < accuracy["test"]


def test_evaluate_distinguishes_changed_and_moved_files(labkit: Labkit, evaluated: str) -> None:
    shutil.move("mine.csv", "elsewhere.csv")
    assert "mine.csv" in labkit("evaluate", evaluated).mistake()
    assert labkit("evaluate", evaluated, "--corpus", "elsewhere.csv", "--json").document()["same_corpus"]
    write_pairs(Path("mine.csv"), who="child")
    assert not labkit("evaluate", evaluated, "--json").document()["same_corpus"]


def test_runs_that_are_not_finished(labkit: Labkit, evaluated: str) -> None:
    method = load_run(evaluated)
    shutil.rmtree(evaluated)
    write_run(method.run("training"), evaluated)
    done = labkit("evaluate", evaluated, "--json")
    assert done.document()["state"] == "training"
    assert Path(evaluated).name in done.err
    assert Path(evaluated).name in labkit("compare", evaluated).err
    write_checkpoint("young", {}, {})
    assert "--resume" in labkit("evaluate", "young").mistake()


def test_scores_that_are_not_finite_are_null(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    def scored(*inputs: Any, **options: Any) -> Any:
        scores = score(*inputs, **options)
        return replace(scores, figures={**scores.figures, "auc": float("nan"), "f1": float("-inf")})

    monkeypatch.setattr("labkit.evaluation.scores.score", scored)
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "r").status == 0
    figures = labkit("evaluate", "r", "--json").document()["figures"]
    assert (figures["auc"], figures["f1"]) == (None, None)
    assert figures["accuracy"] is not None
    kept = json.loads(Path("r/run.json").read_text(), parse_constant=pytest.fail)["metrics"]["mine.csv/test"]
    assert kept["auc"] is None


def test_the_sample_size_is_reported(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(score.__kwdefaults__, "most", 20)
    rows = [f"a cat sleeps on sofa {n},{n % 9},{split}" for split in ("train", "test") for n in range(40)]
    Path("many.csv").write_text("\n".join(["text,label,split", *(row.replace("cat", row[-4:]) for row in rows)]) + "\n")
    assert labkit("train", "tfidf", "--corpus", "many.csv", "--out", "r").status == 0
    found = labkit("evaluate", "r", "--json").document()
    assert found["figures"]["asked"] == read_record("r")["metrics"]["many.csv/test"]["asked"] == 20
    assert found["sample"] == labkit("evaluate", "r").out.splitlines()[-1]


# --- compare ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def compared(labkit: Labkit) -> list[str]:
    write_pairs(Path("mine.csv"), splits=("train", "test", "dev", "test"))  # fewer test items would decide nothing
    text = Path("mine.csv").read_text()
    Path("mine.csv").write_text(text.replace(",0,test", ",1,test", 4))  # so that no method is always right
    for seed in range(3):
        words = ("--epochs", 1, "--seed", seed, "--out", f"s{seed}", "--set", "learning_rate=0.03", *SMALL)
        assert labkit("train", "siamese", "--corpus", "mine.csv", *words).status == 0
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "words").status == 0
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--set", "unit=characters", "--out", "signs").status == 0
    return ["s0", "s1", "s2", "words", "signs"]


def test_compare_joins_runs_that_differ_only_in_the_seed(labkit: Labkit, compared: list[str]) -> None:
    found = labkit("compare", *compared, "./signs", "--json").document()  # a run that is named twice counts once
    assert (found["corpus"], found["split"]) == ("mine.csv", "test")
    lines = {line["name"]: line for line in found["lines"]}
    folders = {"siamese": ["s0", "s1", "s2"], "tfidf unit=words": ["words"], "tfidf unit=characters": ["signs"]}
    assert {name: line["runs"] for name, line in lines.items()} == folders
    scores = {run: score(load_run(run), load_corpus("mine.csv")) for run in compared}
    wanted = [scores[f"s{seed}"].headline for seed in range(3)]
    assert lines["siamese"]["seeds"] == [0, 1, 2]
    told = lines["siamese"]["mean"]["accuracy"], lines["siamese"]["spread"]
    assert told == pytest.approx((statistics.mean(wanted), statistics.stdev(wanted)))
    assert lines["tfidf unit=words"]["mean"] == pytest.approx(dict(scores["words"].figures))
    first, *others = found["lines"]
    said = labkit("compare", *compared).out
    for line in others:
        assert line["behind_by"] == pytest.approx(first["mean"]["accuracy"] - line["mean"]["accuracy"])
        assert line["interval"][0] < line["behind_by"] < line["interval"][1]
        assert f"{-line['behind_by']:+.4f} [" in said  # with the opposite sign


def test_compare_requires_equal_rows_and_not_only_equal_names(labkit: Labkit, compared: list[str]) -> None:
    write_pairs(Path("mine.csv"), who="child")
    assert "mine.csv" in labkit("compare", "words", "signs").err  # changed since training
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "changed").status == 0
    assert "--corpus" in labkit("compare", "words", "changed").mistake()
    found = labkit("compare", "words", "changed", "--corpus", "mine.csv", "--json").document()
    assert len(found["lines"]) == 2
    for line in found["lines"]:
        assert line["mean"] == pytest.approx(dict(score(load_run(line["runs"][0]), load_corpus("mine.csv")).figures))


# --- explain and paraphrase ------------------------------------------------------------------------------------------


def test_explain_gives_all_parts_for_two_or_three_sentences(labkit: Labkit) -> None:
    assert labkit("train", "film", "--corpus", "mine.csv", "--set", "dimension=4", "--out", "film").status == 0
    pair, third = ("the cat sleeps on sofa 1", "a cat naps on qwxz 1"), "a dog runs on road 1"
    for texts, found in (
        (pair, load_run("film").explain(*pair)),
        ((*pair, third), load_run("film").contrast(*pair, third)),
    ):
        assert labkit("explain", "film", *texts, "--json").document() == json.loads(json.dumps(found.record()))
    said = labkit("explain", "film", *pair).out
    assert "qwxz" in said  # an unknown word
    assert len(labkit("explain", "film", *pair, "--top", 1).out) < len(said)
    assert "way" in labkit("explain", "film", *pair, "--way", "attention").mistake()
    assert "--top" in labkit("explain", "film", *pair, "--top", "3", "--json").mistake()


def test_explain_accepts_a_sentence_transformers_model(labkit: Labkit) -> None:
    found = labkit("explain", tiny_sbert(), "the cat sleeps", "a dog jumps", "--json").document()
    assert found["way"] == "integrated"
    assert sum(map(sum, found["parts"])) == pytest.approx(found["cosine"] - found["gap"], abs=1e-6)
    assert "model 'nothing'" in labkit("explain", "nothing", "a", "b").mistake()


def test_paraphrase_writes_with_both_decoders(labkit: Labkit) -> None:
    settings = ("hidden=8", "decoder_hidden=8", "dimension=6", "batch=8", "epochs=1", "device=cpu")
    words = [word for change in settings for word in ("--set", change)]
    assert labkit("train", "pthought", "--corpus", "mine.csv", "--out", "run", *words).status == 0
    sentence, method = "the cat sleeps on the quux", PThought().load(Path("run"))
    lines = labkit("paraphrase", "run", sentence).out.splitlines()
    assert (lines[0], "quux" in lines[1]) == (sentence, True)
    for line, (name, written) in zip(lines[2:], method.paraphrase([sentence])[0].written.items(), strict=True):
        assert line.split()[0] == name
        assert written[0].text in line
    long = "a dog runs " * 20
    found = labkit("paraphrase", "run", long, "--beam", 3, "--json").document()
    expected = method.paraphrase([long], search=Search(width=3, max_length=50))[0]
    assert found["cut"] == 10
    for name, written in expected.written.items():
        assert [one["text"] for one in found["written"][name]] == [one.text for one in written]
    assert "sentences" in labkit("paraphrase", "run", "  ").mistake()
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "other").status == 0
    assert "tfidf" in labkit("paraphrase", "other", "a dog").mistake()


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def some(labkit: Labkit) -> Labkit:
    """Three runs; LSA's is the newest."""
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "-q").status == 0
    assert labkit("train", "siamese", "--corpus", "mine.csv", "--seed", 4, "--epochs", 2, *SMALL, "-q").status == 0
    assert labkit("train", "lsa", "--corpus", "mine.csv", "--set", "dimension=3", "-q").status == 0
    for age, name in enumerate(("lsa-mine-seed0", "siamese-mine-seed4", "tfidf-mine-seed0")):
        for path in Path("runs", name).iterdir():
            os.utime(path, (1e9 - age, 1e9 - age))
    return labkit


def listed(labkit: Labkit, *words: object) -> list[dict[str, Any]]:
    return labkit("runs", *words, "--json").document()


def test_runs_prints_a_line_per_run_newest_first(some: Labkit) -> None:
    lines = [line.split() for line in some("runs").out.splitlines()[1:]]
    assert [line[0] for line in lines] == ["runs/lsa-mine-seed0", "runs/siamese-mine-seed4", "runs/tfidf-mine-seed0"]
    accuracy = read_record("runs/siamese-mine-seed4")["metrics"]["mine.csv/test"]["accuracy"]
    assert lines[1][1:8] == ["siamese", "mine.csv", "4", "2", "accuracy", f"{accuracy:.4f}", "finished"]
    assert lines[0][4] == "-"  # LSA has no epochs
    found = listed(some)[1]
    assert (found["figure"], found["epochs"], found["state"]) == (accuracy, 2, "finished")


def test_runs_searches_and_sorts(some: Labkit) -> None:
    def names(*words: object) -> list[object]:
        return [each["method"] for each in listed(some, *words)]

    assert names("LSA") == names("dimension=3") == ["lsa"]
    assert names("mine", "seed4") == ["siamese"]
    assert names("mine.csv", "--sort", "method") == ["lsa", "siamese", "tfidf"]
    figures = [each["figure"] for each in listed(some, "--sort", "figure")]
    assert figures == sorted(figures, reverse=True)
    assert "--sort" in some("runs", "--sort", "size").mistake()
    assert "--folder" in some("runs", "--folder", "gone").mistake()
    assert "zzz" in some("runs", "zzz").mistake()


def test_runs_shows_the_score_of_the_runs_own_corpus(some: Labkit) -> None:
    folder = "runs/tfidf-mine-seed0"
    own = read_record(folder)["metrics"]["mine.csv/test"]
    write_run(load_run(folder).run("finished"), folder)  # without scores
    add_metrics(folder, {"another.csv/test": {"accuracy": 0.125}})
    assert listed(some, "tfidf")[0]["figure"] == 0.125  # the only one
    add_metrics(folder, {"mine.csv/dev": {"accuracy": 0.25}, "mine.csv/test": own})
    assert listed(some, "tfidf")[0]["figure"] == own["accuracy"]
    add_metrics(folder, {"mine.csv/test": {"accuracy": None}})
    assert listed(some, "tfidf")[0]["figure"] is None


def test_runs_lists_damaged_runs_with_the_reason(some: Labkit) -> None:
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
    states = {Path(each["run"]).name: each["state"] for each in listed(some) if each["reason"]}
    damaged = dict.fromkeys(("cut", "edited", "older", "lost", "binary"), "damaged")
    assert states == damaged | {"begun": "unfinished"}
    assert len(some("runs").out.splitlines()) == 1 + 3 + 6


def test_runs_lists_runs_in_training(some: Labkit) -> None:
    with locked("runs/siamese-mine-seed4"), locked("runs/new"):
        training = listed(some, "training")
    assert {each["run"] for each in training} == {"runs/siamese-mine-seed4", "runs/new"}
    assert len(listed(some)) == 3


@pytest.mark.whole
def test_runs_are_listed_without_torch(some: Labkit) -> None:
    asked = (
        "import sys; sys.argv = ['labkit', 'runs', '--json']\n"
        "from labkit.cli.main import main\ntry: main()\n"
        "finally: print({'torch', 'pandas', 'sklearn', 'scipy'} & sys.modules.keys(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert (len(json.loads(done.stdout)), done.stderr) == (3, "set()\n")
