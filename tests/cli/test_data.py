"""`labkit data get`, `mine`, `cluster` and `make`: their files are reproducible and can be trained on."""

from __future__ import annotations

import bz2
import json
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora import Labelled, read_corpus
from labkit.corpora.catalogue import EMBEDDED
from labkit.corpora.published.registry import Published, Source
from labkit.methods import load_run
from labkit.runs import CHECKPOINT, read_record, write_checkpoint
from labkit.shipped import DEMONSTRATIONS, Demonstration, making, pictures
from labkit.shipped.pictures import pictured

from .conftest import Labkit, contents


def test_get_as_json(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("https://example.org/mrpc.msi", by_hand="a licence")
    monkeypatch.setattr(Published, "fetch", lambda self, progress: [source])
    found = labkit("data", "get", "mrpc", "--json").document()
    assert found == {"name": "mrpc", "place": found["place"], "by_hand": ["https://example.org/mrpc.msi"]}
    assert Path(found["place"]).name == "mrpc"


@pytest.mark.whole
def test_mined_triplets_are_trained_on_and_scored(labkit: Labkit) -> None:
    file = "triplets.csv"
    mine = ("data", "mine", "tfidf", "--corpus", "questions", "--count", "1", "--ranks", "1..9", "--margin", "0.05")
    found = labkit(*mine, "--guide", "sif", "--out", file, "--json").document()
    assert found["file"] == file
    train = found["splits"]["train"]
    assert {"margin", "guide"} == {*train["dropped"]}
    assert train["candidates"] == 8 * train["pairs"]
    assert 0 < train["false"] < 0.05
    mined = read_corpus(file)
    assert mined.sizes == {split: each["negatives"] for split, each in found["splits"].items()}
    assert min(mined.extra["rank"], key=int) == "2"
    training = ("train", "triplet", "--corpus", file, "--out", "run", "--set", "epochs=1", "--set", "encoder=mean")
    assert labkit(*training).status == 0
    assert labkit("evaluate", "run", "--corpus", "questions", "--json").document()["figures"]["auc"] > 0.5
    assert "--force" in labkit(*mine, "--out", file).mistake()
    assert "--ranks" in labkit(*mine[:-4], "--ranks", "9", "--out", "no.csv").mistake()


# --- sentences without labels ----------------------------------------------------------------------------------------


PETS, TREES = ("a {} cat sleeps", "the {} cat purrs"), ("an {} oak grows", "the {} oak falls")
OWN = [text.format(word) for word in ("old", "tall", "red", "=1+1", "<b>wet</b>", "@me") for text in PETS + TREES]


@pytest.fixture
def plain(tmp_path: Path) -> str:
    (tmp_path / "mine.txt").write_text("=1+1 cat\n\n" + "\n".join(OWN) + "\n")
    return "mine.txt"


def test_found_classes_are_a_corpus_to_train_on(labkit: Labkit, plain: str) -> None:
    find = ("data", "cluster", plain, "--classes", "2", "--method", "lsa", "--out")
    record = labkit(*find, "found.csv", "--json").document()
    assert sum(record["classes"].values()) == 25
    found = read_corpus("found.csv")
    assert isinstance(found, Labelled)
    assert {name: found.labels.count(name) for name in found.classes} == record["classes"]
    assert [text for text in found.texts if text.startswith("'")] == ["'=1+1 cat"]  # escaped for spreadsheets
    assert len({label for text, label in zip(found.texts, found.labels, strict=True) if "oak" in text}) == 1
    training = ("train", "siamese", "--corpus", "found.csv", "--epochs", "1", "--set", "encoder=mean", "--out", "r")
    assert labkit(*training).status == 0
    labkit(*find, "found.jsonl")
    assert read_corpus("found.jsonl").sentences()[0] == "=1+1 cat"
    labkit(*find, "again.csv", "--seed", "0")
    assert Path("again.csv").read_bytes() == Path("found.csv").read_bytes()
    assert labkit(*find, "dense.csv", "--by", "density").status == 0
    assert "--by" in labkit(*find, "no.csv", "--by", "x").mistake()


def test_sentences_without_labels_are_trained_on_and_not_scored(labkit: Labkit, plain: str) -> None:
    assert labkit("data", "check", plain, "--json").document()["shape"] == "Sentences"
    assert labkit("data", "check", plain, "--measure").status == 2
    assert "simcse" in labkit("data", "check", plain).out
    Path("odd.csv").write_text("text,lable\na,x\nb,y\n")
    assert "'lable'" in labkit("data", "check", "odd.csv").out
    assert labkit("train", "sif", "--corpus", plain, "--out", "r").status == 0
    assert read_record("r")["metrics"] == {}
    Path("in.txt").write_text("an oak\n")
    assert labkit("encode", "r", "--input", "in.txt", "--output", "v.npz").status == 0
    for words in (("evaluate", "r"), ("data", "mine", "sif", "--corpus", plain, "--out", "t.csv")):
        assert plain in labkit(*words).mistake()
    assert labkit("train", "bag", "--corpus", plain).status == 2


def test_columns_can_be_named(labkit: Labkit) -> None:
    Path("odd.csv").write_text("stars,body\n5,very good\n1,not good\n")
    check = ("data", "check", "odd.csv")
    named = labkit(*check).mistake().partition("--columns ")[2].split()[0]
    assert labkit(*check, "--columns", named, "--json").document()["shape"] == "Labelled"
    Path("odd.csv").write_text("stars,body\n5,very good\n1,not good\n1,bad\n")
    done = labkit(*check, "--columns", named)
    assert ("'5'" in done.err, "'1'" in done.err) == (True, False)  # a single row cannot be learned
    assert "'good'" in labkit(*check, "--columns", "text=good", "-q").mistake()
    assert "txt" in labkit(*check, "--columns", "txt=body", "-q").mistake()
    assert "topics" in labkit("data", "check", "topics", "--columns", named).mistake()


# --- runs ------------------------------------------------------------------------------------------------------------

NAME = "film-questions"


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> Demonstration:
    """One cheap run, one corpus, and pictures without UMAP, which takes most of a minute to compile."""
    shipped = Demonstration("film", "questions", {"dimension": 4, "iterations": 2}, seed=3)
    questions = EMBEDDED["questions"]
    monkeypatch.setattr(making, "SHAPES", (("pca", 2),))
    monkeypatch.setattr(making, "PLAIN", ("mean-vectors",))
    for table, value in ((DEMONSTRATIONS, shipped), (EMBEDDED, questions)):
        for name in list(table):
            monkeypatch.delitem(table, name)
        monkeypatch.setitem(table, value.name, value)
    return shipped


@pytest.mark.whole
def test_shipped_runs_equal_the_output_of_train(labkit: Labkit, one: Demonstration, tmp_path: Path) -> None:
    old = tmp_path / "all" / "pictures" / "sif-of-yesterday.npz"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"stale")
    assert labkit("data", "make", "runs", "--out", "all").mistake()
    assert labkit("data", "make", "runs", "--out", "all", "--force").status == 0
    runs = tmp_path / "all" / "runs"
    assert {path.name for path in runs.iterdir()} == {NAME, "README.md", "standings.json"}
    assert read_record(runs / NAME)["seed"] == 3
    found = json.loads((runs / "standings.json").read_text())[NAME]
    assert found["model"] == read_record(runs / NAME)["files"]["model.safetensors"]
    assert f"| {NAME} | `{one.command}` |" in (runs / "README.md").read_text()
    shown = pictured(EMBEDDED["questions"].load())
    origin = pictures.Origin.of(load_run(runs / NAME))
    plain = pictures.known_origin("mean-vectors", EMBEDDED["questions"].load().fingerprint, old.parent)
    assert plain is not None
    wanted = {pictures.FILE, *(pictures._name(each, shown.texts) for each in (origin, plain))}
    assert {path.name for path in old.parent.iterdir()} == wanted
    assert labkit(*one.command.split()[1:], "--out", "by-hand").status == 0
    assert contents(tmp_path / "by-hand") == contents(runs / NAME)


def test_a_failure_keeps_the_old_run_and_an_interruption_names_the_checkpoint(
    labkit: Labkit, one: Demonstration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(*_: Any) -> None:
        raise ValueError("no words")

    def interrupted(*_: Any) -> None:
        write_checkpoint(tmp_path / "all" / "runs" / f".{NAME}", {}, {})
        raise KeyboardInterrupt

    kept = tmp_path / "all" / "runs" / NAME
    kept.mkdir(parents=True)
    (kept / "run.json").write_text("of yesterday")
    monkeypatch.setattr("labkit.film.method.Film._fit", failed)
    assert labkit("data", "make", "runs", "--out", "all", "--force").status == 2
    assert contents(kept) == {"run.json": b"of yesterday"}
    monkeypatch.setattr("labkit.film.method.Film._fit", interrupted)
    done = labkit("data", "make", "runs", "--out", "all", "--force")
    assert done.status == 130
    assert f".{NAME}/{CHECKPOINT}" in done.err
    assert "--resume" not in done.err  # `data make` has no such option
    assert "nothing" not in done.err


# --- triplets --------------------------------------------------------------------------------------------------------

TRIPLETS = ("data", "make", "triplets", "--articles", "articles")


def test_triplets_depend_on_the_seed_and_removals_add_up(labkit: Labkit, tmp_path: Path) -> None:
    call = (*TRIPLETS, "--limit", "9", "--max-per-anchor", "1")
    for out, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        found = labkit(*call, "--seed", seed, "--out", out, "--json").document()
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "c.csv").read_bytes()
    made = read_corpus(tmp_path / "c.csv")
    assert (len(set(made.extra["article"])), len(made)) == (9, found["left"]["triplets"])
    for unit in ("articles", "triplets"):
        gone = sum(each.get(unit, 0) for each in found["removed"].values())
        assert found["read"][unit] - gone == found["left"][unit]
    rows = labkit(*call, "--seed", 2, "--output", "d.tsv").out.splitlines()[1:-1]
    told = {row.split("  ")[0]: row.split()[-1].replace(",", "") for row in rows}
    assert (told["read"], told["left"]) == tuple(str(found[name]["triplets"]) for name in ("read", "left"))


def test_a_dump_that_is_cut_off_leaves_no_triplets(labkit: Labkit, tmp_path: Path) -> None:
    (tmp_path / "cut.xml.bz2").write_bytes(bz2.compress(b"<mediawiki>" + b"<page></page>" * 99)[:-9])
    assert "cut.xml.bz2" in labkit(*TRIPLETS[:-1], "cut.xml.bz2", "--out", "t.csv").mistake()
    assert not list(tmp_path.glob("*t.csv*"))


@pytest.mark.whole
def test_a_folder_of_shards_is_made_checked_and_trained_on(labkit: Labkit, tmp_path: Path) -> None:
    shards = (*TRIPLETS, "--articles", "articles", "--format", "arrow", "--executor", "local:1", "--out", "shards")
    made = labkit(*shards).out
    parts = {path.name: path.read_bytes() for path in Path("shards").glob("*.arrow")}
    assert labkit(*shards).out == made  # everything is already there
    record = labkit("data", "check", "shards", "--json").document()
    assert sum(record["splits"].values()) == record["rows"] == 7112
    assert len(parts) == 2
    small = ("--set", "size=4", "--set", "dimension=4", "--set", "epochs=1", "--device", "cpu")
    assert labkit("train", "thematic", "--corpus", "shards", "--out", "r", *small).status == 0
    assert read_record("r")["metrics"]["shards/test"]["triplet_accuracy"] > 0
    first = sorted(Path("shards").glob("*.arrow"))[0]
    first.write_bytes(first.read_bytes()[:-100])
    assert first.name in labkit("data", "check", "shards").mistake()
