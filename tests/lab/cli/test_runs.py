"""The commands on trained runs: `labkit evaluate`, `compare`, `explain`, `paraphrase`, and `runs`, the list of all."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from labkit.corpora import load as load_corpus
from labkit.evaluation import lead_of, over_seeds
from labkit.evaluation.scores import score
from labkit.film.method import Film, FilmSettings
from labkit.lab.cli.runs import explain
from labkit.locks import Hold
from labkit.methods import METHODS, Entry, load
from labkit.pthought.method import PThought
from labkit.pthought.writing import Search
from labkit.runs import CHECKPOINT, add_metrics, read_record, write_checkpoint, write_run

from .conftest import SMALL, Labkit, write_pairs

# --- evaluate --------------------------------------------------------------------------------------------------------


@pytest.fixture
def evaluated(labkit: Labkit) -> str:
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--seed", 5, "--out", "r").status == 0
    return "r"


def test_its_own_corpus(labkit: Labkit, evaluated: str) -> None:
    figures = score(load(evaluated), load_corpus("mine.csv")).figures
    done = labkit("evaluate", evaluated)
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[:3] == ["r: tfidf, trained on mine.csv with seed 5", "", "mine.csv, test"]
    said = dict(line.split() for line in done.out.splitlines()[4:])
    assert said == {name: f"{value:.4f}" for name, value in figures.items()}


def test_figures_as_json(labkit: Labkit, evaluated: str) -> None:
    found = labkit("evaluate", evaluated, "--json").document()
    wanted = score(load(evaluated), load_corpus("mine.csv"))
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


def test_another_split(labkit: Labkit, evaluated: str) -> None:
    text = Path("mine.csv").read_text()
    Path("noisy.csv").write_text(text.replace(",0,dev", ",1,dev", 5))
    accuracy = {}
    for split in ("train", "dev", "test"):
        found = labkit("evaluate", evaluated, "--corpus", "noisy.csv", "--split", split, "--json").document()
        wanted = score(load(evaluated), load_corpus("noisy.csv"), split=split).figures
        assert (found["split"], found["figures"]) == (split, pytest.approx(dict(wanted)))
        accuracy[split] = found["figures"]["accuracy"]
    assert accuracy["dev"] < accuracy["test"]


def test_another_corpus_is_said(labkit: Labkit, evaluated: str) -> None:
    write_pairs(Path("other.csv"), who="child")
    done = labkit("evaluate", evaluated, "--corpus", "other.csv")
    assert "other.csv is not the corpus it was trained on (another fingerprint)" in done.out
    assert "not the corpus" not in labkit("evaluate", evaluated, "--corpus", "mine.csv").out
    found = labkit("evaluate", evaluated, "--corpus", "other.csv", "--json").document()
    assert (found["corpus"], found["same_corpus"]) == ("other.csv", False)
    assert found["figures"] == pytest.approx(dict(score(load(evaluated), load_corpus("other.csv")).figures))


def test_a_file_that_changed_is_said(labkit: Labkit, evaluated: str) -> None:
    write_pairs(Path("mine.csv"), who="child")
    assert "mine.csv is not the corpus it was trained on" in labkit("evaluate", evaluated).out


def test_a_file_that_is_gone(labkit: Labkit, evaluated: str) -> None:
    shutil.move("mine.csv", "elsewhere.csv")
    said = labkit("evaluate", evaluated).mistake()
    assert said.startswith("run 'r' was trained on 'mine.csv', which is neither a known corpus nor a file")
    assert "--corpus" in said
    done = labkit("evaluate", evaluated, "--corpus", "elsewhere.csv")
    assert done.status == 0
    assert "not the corpus" not in done.out  # the same rows, wherever they lie


def test_a_run_in_training(labkit: Labkit, evaluated: str) -> None:
    method = load(evaluated)
    shutil.rmtree(evaluated)
    write_run(method.run("training"), evaluated)
    done = labkit("evaluate", evaluated)
    assert done.status == 0
    assert done.err == "labkit: note: the training of r is not finished: this is what it knew last\n"
    assert labkit("evaluate", evaluated, "--json").document()["state"] == "training"


def test_a_run_without_an_epoch(labkit: Labkit) -> None:
    write_checkpoint("young", {}, {})
    assert Path("young", CHECKPOINT).is_file()
    said = labkit("evaluate", "young").mistake()
    assert "interrupted before its first epoch was done" in said
    assert "--resume" in said


def test_figures_that_are_not_finite(labkit: Labkit, evaluated: str, no_numbers: None) -> None:
    figures = labkit("evaluate", evaluated, "--json").document()["figures"]
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
def test_mistakes_of_evaluate(labkit: Labkit, evaluated: str, words: tuple[str, ...], said: str) -> None:
    Path("empty").mkdir()
    shutil.copytree(evaluated, "cut")
    Path("cut/vocabulary.json").unlink()
    shutil.copytree(evaluated, "broken")
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
    found = labkit("evaluate", "one", "--json").document()
    assert (found["sample"], found["figures"]["asked"]) == (said, 20)
    compared = labkit("compare", "one", "two").out.splitlines()
    assert compared[2].endswith(said)
    assert "asked" in next(line for line in compared if line.startswith("means"))
    monkeypatch.setenv("LABKIT_BAR", "bar.json")
    assert labkit("evaluate", "one").status == 0
    bar = json.loads(Path("bar.json").read_text())
    assert bar["what"] == "how crowded the space is"  # the last thing that takes long


# --- compare ---------------------------------------------------------------------------------------------------------


FOLDERS = ["s0", "s1", "s2", "words", "signs"]


@pytest.fixture
def compared(labkit: Labkit) -> list[str]:
    text = Path("mine.csv").read_text()
    Path("mine.csv").write_text(text.replace(",0,test", ",1,test", 4))  # so that nobody is right about all of it
    for seed in range(3):
        words = ("--epochs", 1, "--seed", seed, "--out", f"s{seed}", "--set", "learning_rate=0.03", *SMALL)
        assert labkit("train", "siamese", "--corpus", "mine.csv", *words).status == 0
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "words").status == 0
    words = ("--set", "unit=characters", "--out", "signs")
    assert labkit("train", "tfidf", "--corpus", "mine.csv", *words).status == 0
    return FOLDERS


def test_seeds_are_one_line(labkit: Labkit, compared: list[str]) -> None:
    found = labkit("compare", *compared, "--json").document()
    assert (found["corpus"], found["split"]) == ("mine.csv", "test")
    lines = {line["name"]: line for line in found["lines"]}
    assert lines.keys() == {"siamese", "tfidf unit=words", "tfidf unit=characters"}
    corpus = load_corpus("mine.csv")
    scores = {run: score(load(run), corpus, apart=True) for run in compared}
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


def test_the_comparison_for_people(labkit: Labkit, compared: list[str]) -> None:
    done = labkit("compare", *compared)
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


def test_two_seeds_are_said_to_be_two(labkit: Labkit, compared: list[str]) -> None:
    assert "(2 runs)" in labkit("compare", "s0", "s1").out


def test_the_same_run_twice_is_one(labkit: Labkit, compared: list[str]) -> None:
    done = labkit("compare", "s0", "./s0", Path("s0").resolve(), "--json")
    assert done.err == ""
    assert done.document()["lines"][0]["runs"] == ["s0"]
    labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "copy")
    done = labkit("compare", "words", "copy")
    assert done.err == "labkit: note: runs that differ in nothing, not even in the seed, count once\n"
    assert "(1 run)" in done.out


def test_runs_of_different_corpora(labkit: Labkit, compared: list[str]) -> None:
    write_pairs(Path("other.csv"), who="child")
    labkit("train", "tfidf", "--corpus", "other.csv", "--out", "other")
    said = labkit("compare", "words", "other").mistake()
    assert said.startswith("run 'other' was trained on other.csv, 'words' on mine.csv")
    assert "--corpus" in said
    found = labkit("compare", "words", "other", "--corpus", "other.csv", "--json").document()
    assert {line["name"] for line in found["lines"]} == {"tfidf on mine.csv", "tfidf on other.csv"}
    corpus = load_corpus("other.csv")
    for line in found["lines"]:
        assert line["mean"] == pytest.approx(dict(score(load(line["runs"][0]), corpus).figures))


def test_a_corpus_that_changed_and_one_that_is_gone(labkit: Labkit, compared: list[str]) -> None:
    write_pairs(Path("mine.csv"), who="child")
    assert "note: mine.csv has changed since the runs were trained on it" in labkit("compare", "words", "signs").err
    Path("mine.csv").unlink()
    assert "neither a known corpus nor a file" in labkit("compare", "words", "signs").mistake()


def test_a_comparison_with_a_run_in_training_says_so(labkit: Labkit, compared: list[str]) -> None:
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
def test_mistakes_of_compare(labkit: Labkit, words: tuple[str, ...], said: str) -> None:
    labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "only")
    assert said in labkit(*words).mistake()


# --- explain ---------------------------------------------------------------------------------------------------------


PAIR = "How do I fix my bike?", "What is the way to mend a bicycle?"


@pytest.fixture(scope="module")
def film(tmp_path_factory) -> Path:
    method = Film(FilmSettings(dimension=20, share="0.3"))
    method.fit(load_corpus("questions"))
    folder = tmp_path_factory.mktemp("runs") / "film"
    method.save(folder)
    return folder


@pytest.fixture
def called(monkeypatch):
    monkeypatch.setitem(METHODS, "film", Entry("film", "film.method:Film", "in the table, whatever the table is"))
    app = typer.Typer()
    app.command()(explain)
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_it_says_why(called, film) -> None:
    found = called(film, *PAIR)
    assert found.exit_code == 0
    wanted = Film().load(film).explain(*PAIR)
    assert found.output.rstrip("\n") == str(wanted)
    assert f"similarity {wanted.similarity:+.3f}" in found.output
    assert "which words of a meet which of b" in found.output


def test_fewer_parts_on_request(called, film) -> None:
    assert len(called(film, *PAIR, "--top", 1).output) < len(called(film, *PAIR).output)


def test_json_has_all_parts_and_they_add_up(called, film) -> None:
    found = json.loads(called(film, *PAIR, "--json").output)
    assert sum(part for _, part in found["rows"]) + found["shared"] == pytest.approx(found["similarity"], abs=1e-12)
    assert sum(part for _, _, part in found["word_pairs"]) == pytest.approx(found["similarity"], abs=1e-12)


def test_unknown_words_are_named(called, film) -> None:
    output = called(film, "qwxz vvv", PAIR[1]).output
    assert "similarity +0.000" in output
    assert "qwxz, vvv" in output


def test_a_method_without_rows_says_why_too_and_in_its_own_ways_alone(called, tmp_path) -> None:
    other = METHODS["tfidf"]()
    other.fit(load_corpus("questions"))
    other.save(tmp_path / "run")
    assert called(tmp_path / "run", *PAIR).output.rstrip("\n") == str(other.explain(*PAIR))
    found = called(tmp_path / "run", *PAIR, "--way", "attention")
    assert isinstance(found.exception, ValueError)
    assert "way is 'attention', which method 'tfidf' does not have" in str(found.exception)


# --- paraphrase ------------------------------------------------------------------------------------------------------


PTHOUGHT = ("hidden=8", "decoder_hidden=8", "dimension=6", "batch=8", "epochs=2", "device=cpu")


@pytest.fixture
def pthought(labkit, tmp_path: Path) -> Path:
    words = [word for change in PTHOUGHT for word in ("--set", change)]
    done = labkit("train", "pthought", "--corpus", "mine.csv", "--out", "run", *words)
    assert done.status == 0, done.err
    assert "l_auto" in done.err
    assert "l_para" in done.err
    return tmp_path / "run"


def test_it_writes_with_both_decoders(labkit, pthought: Path) -> None:
    sentence = "the cat sleeps on the quux"
    done = labkit("paraphrase", pthought, sentence)
    found = PThought().load(pthought).paraphrase([sentence])[0]
    assert done.status == 0, done.err
    lines = done.out.splitlines()
    assert lines[0] == sentence
    assert lines[1] == "  not known, read as the unknown word: quux"
    assert [line.split()[0] for line in lines[2:]] == ["auto", "paraphrase"]
    for line, name in zip(lines[2:], found.written, strict=True):
        assert found.written[name][0].text in line


def test_a_beam_gives_several_the_best_first_and_json_all_of_it(labkit, pthought: Path) -> None:
    done = labkit("paraphrase", pthought, "a dog runs " * 20, "--beam", 3, "--json")
    found = json.loads(done.out)
    expected = PThought().load(pthought).paraphrase(["a dog runs " * 20], search=Search(width=3, longest=50))[0]
    assert found["cut"] == 10
    for name in ("auto", "paraphrase"):
        assert [one["text"] for one in found["written"][name]] == [one.text for one in expected.written[name]]
        assert len(found["written"][name]) == 3
    plain = labkit("paraphrase", pthought, "a dog runs " * 20, "--beam", 3).out
    assert "not read: the last 10 words" in plain
    assert len(plain.splitlines()) == 2 + 6


def test_refusals_of_paraphrase(labkit, pthought: Path) -> None:
    assert "sentences[0] is ' '" in labkit("paraphrase", pthought, "  ").mistake()
    assert "--beam" in labkit("paraphrase", pthought, "a dog", "--beam", 0).mistake()
    assert "nowhere" in labkit("paraphrase", "nowhere", "a dog").mistake()
    assert labkit("train", "mean-vectors", "--corpus", "mine.csv", "--out", "other").status == 0
    said = labkit("paraphrase", "other", "a dog").mistake()
    assert "is of method 'mean-vectors', which has no decoder, expected one of pthought" in said


# --- runs ------------------------------------------------------------------------------------------------------------


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


def listed(labkit: Labkit, *words: object) -> list[dict[str, Any]]:
    return labkit("runs", *words, "--json").document()


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
