"""`labkit data get`, `mine` and `make`: the shipped runs are what `labkit train` gives, triplets say what each rule
removed."""

from __future__ import annotations

import bz2
import json
import warnings
from pathlib import Path

import pytest

from labkit.corpora import Labelled, read_corpus
from labkit.corpora.published.registry import Fetched
from labkit.corpora.published.release import Source
from labkit.corpora.table import EMBEDDED
from labkit.lab.cli.data import FROM_TEXTS
from labkit.lab.shipped import DEMONSTRATIONS, Demonstration, making, pictures
from labkit.lab.shipped import pictures as known
from labkit.lab.shipped.pictures import pictured
from labkit.methods import METHODS
from labkit.methods import load as load_run
from labkit.runs import read_record
from tests.test_contract import CORPORA, SHAPES

from .conftest import Labkit, contents


def test_what_was_fetched_is_a_document(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    source = Source("https://example.org/mrpc.msi", by_hand="a licence")
    fetched = Fetched("mrpc", Path("mrpc"), (), (source,))
    monkeypatch.setattr("labkit.corpora.published.fetch_published", lambda name, progress: fetched)
    assert labkit("data", "get", "mrpc", "--json").document() == {
        "name": "mrpc",
        "place": "mrpc",
        "by_hand": ["https://example.org/mrpc.msi"],
    }
    assert labkit("data", "get", "mrpc").out == f"{fetched}\n"


# --- hard negatives --------------------------------------------------------------------------------------------------


def test_mined_triplets_are_trained_on_and_scored(labkit: Labkit, tmp_path: Path) -> None:
    mine = ("data", "mine", "tfidf", "--corpus", "questions", "--count", "1", "--ranks", "1..9", "--margin", "0.05")
    file, run = str(tmp_path / "triplets.csv"), str(tmp_path / "run")
    found = labkit(*mine, "--guide", "sif", "--out", file, "--json").document()
    assert found["file"] == file
    train = found["splits"]["train"]
    assert {"margin", "guide"} == {*train["dropped"]}
    assert train["candidates"] == 8 * train["pairs"]
    assert 0 < train["false"] < 0.05
    mined = read_corpus(file)
    assert mined.sizes == {split: each["negatives"] for split, each in found["splits"].items()}
    assert min(mined.extra["rank"], key=int) == "2"
    labkit("train", "triplet", "--corpus", file, "--out", run, "--set", "epochs=1", "--set", "encoder=mean")
    assert labkit("evaluate", run, "--json").document()["figures"]["triplet_accuracy"] > 0
    assert labkit("evaluate", run, "--corpus", "questions", "--json").document()["figures"]["auc"] > 0.5
    assert "which is there already" in labkit(*mine, "--out", file).mistake()
    said = labkit("data", "mine", run, "--corpus", "questions", "--out", file, "--force").out  # a run mines as a method
    assert said.count("are false, as the generator knows") == 3
    assert "false" not in labkit("data", "mine", "sif", "--corpus", "places", "--out", "of_places.csv").out
    assert labkit(*mine[:-4], "--ranks", "9", "--out", "no.csv").mistake() == (
        "--ranks is '9', expected two whole numbers as in 10..50; 0..50 skips none"
    )


# --- sentences without labels ----------------------------------------------------------------------------------------


PETS, TREES = ("a {} cat sleeps", "the {} cat purrs"), ("an {} oak grows", "the {} oak falls")
OWN = [text.format(word) for word in ("old", "tall", "red", "=1+1", "<b>wet</b>", "@me") for text in PETS + TREES]


@pytest.fixture
def plain(tmp_path: Path) -> str:
    (tmp_path / "mine.txt").write_text("=1+1 cat\n\n" + "\n".join(OWN) + "\n")
    return "mine.txt"


def test_check_says_what_can_be_done_without_labels(labkit: Labkit, plain: str) -> None:
    said = labkit("data", "check", plain).out
    assert said.startswith("Sentences('mine', 25 rows: train 25)\n25 distinct texts")
    assert "They have no labels. What needs none: `labkit train` of mean-vectors, sif, tfidf" in said
    assert "What needs labels: scoring and tuning" in said
    assert "Further columns" not in said
    assert labkit("data", "check", plain, "--json").document()["shape"] == "Sentences"
    assert "a method can be neither right nor wrong" in labkit("data", "check", plain, "--measure").mistake()
    Path("odd.csv").write_text("text,lable\na,x\nb,y\n")
    assert (
        "Further columns: 'lable'. If one of them holds the classes, name it 'label'."
        in labkit("data", "check", "odd.csv").out
    )


def test_the_methods_that_are_said_to_need_no_label_are_those_that_need_none() -> None:
    without = {name for name in METHODS if "sentences" in SHAPES.get(name, CORPORA)}
    assert set(FROM_TEXTS) == without | {"sbert"}  # which the contract tries on two shapes alone


def test_classes_found_are_a_corpus_to_train_on(labkit: Labkit, plain: str) -> None:
    find = ("data", "cluster", plain, "--classes", "2", "--method", "lsa", "--out")
    record = labkit(*find, "found.csv", "--json").document()
    assert sum(record["classes"].values()) == 25
    found = read_corpus("found.csv")
    assert isinstance(found, Labelled)
    assert {*found.classes} == {*record["classes"]}
    assert [text for text in found.texts if text.startswith("'")] == ["'=1+1 cat"]  # no spreadsheet acts on it
    assert labkit("train", "sentpwnet", "--corpus", "found.csv", "--epochs", "1", "--out", "r").status == 0
    assert "which is there already" in labkit(*find, "found.csv").mistake()
    labkit(*find, "found.jsonl")
    assert read_corpus("found.jsonl").sentences()[0] == "=1+1 cat"
    labkit(*find, "again.csv", "--seed", "0")
    assert Path("again.csv").read_bytes() == Path("found.csv").read_bytes()
    by_density = labkit(*find, "dense.csv", "--by", "density").out
    assert "dense.csv: 25 sentences" in by_density
    assert labkit(*find, "no.csv", "--by", "x").mistake() == (
        "--by is 'x', expected one of kmeans, density; kmeans takes the number of classes"
    )
    assert "expected a file named .csv" in labkit(*find, "no.txt").mistake()


def test_train_on_sentences_without_labels(labkit: Labkit, plain: str) -> None:
    done = labkit("train", "sif", "--corpus", plain, "--out", "r")
    assert done.status == 0
    assert "the run is complete, but has no test figures: corpus 'mine.txt' has sentences without labels" in done.err
    Path("in.txt").write_text("an oak\n")
    assert labkit("encode", "r", "--input", "in.txt", "--output", "v.npz").status == 0
    assert "has sentences without labels, and a method can be" in labkit("evaluate", "r").mistake()
    assert "this loss asks which of two belong together" in labkit("train", "bag", "--corpus", plain).err
    assert "has sentences without labels" in labkit("data", "mine", "sif", "--corpus", plain, "--out", "t.csv").err


# --- runs ------------------------------------------------------------------------------------------------------------

NAME = "film-questions"


@pytest.fixture
def one(monkeypatch: pytest.MonkeyPatch) -> Demonstration:
    """A table of one cheap run, one corpus, and pictures without UMAP, which compiles for most of a minute."""
    shipped = Demonstration("film", "questions", {"dimension": 4, "iterations": 2}, seed=3)
    questions = EMBEDDED["questions"]
    monkeypatch.setattr(making, "SHAPES", (("pca", 2),))
    monkeypatch.setattr(making, "PLAIN", ("mean-vectors",))
    for table, value in ((DEMONSTRATIONS, shipped), (EMBEDDED, questions)):
        for name in list(table):
            monkeypatch.delitem(table, name)
        monkeypatch.setitem(table, value.name, value)
    return shipped


def test_runs_pictures_and_the_page(labkit: Labkit, one: Demonstration, tmp_path: Path) -> None:
    old = tmp_path / "all" / "pictures" / "sif-of-yesterday.npz"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"stale")
    done = labkit("data", "make", "runs", "--out", "all", "--force")
    assert done.status == 0, done.err
    runs = tmp_path / "all" / "runs"
    assert {path.name for path in runs.iterdir()} == {NAME, "README.md", "standings.json"}
    assert read_record(runs / NAME)["seed"] == 3
    found = json.loads((runs / "standings.json").read_text())[NAME]
    assert found["model"] == read_record(runs / NAME)["files"]["model.safetensors"]
    assert f"| {NAME} | `{one.command}` |" in (runs / "README.md").read_text()
    assert f"{NAME}: accuracy {found['figure']:.3f} on test" in done.out

    made = {path.name for path in old.parent.iterdir()}
    shown = pictured(EMBEDDED["questions"].load())
    origin = pictures.Origin.of(load_run(runs / NAME))
    plain = known.known_origin("mean-vectors", EMBEDDED["questions"].load().fingerprint, old.parent)
    assert plain is not None
    assert made == {known.FILE, *(pictures._name(each, shown.texts) for each in (origin, plain))}
    assert not old.exists()

    by_hand = labkit(*one.command.split()[1:], "--out", "by-hand")
    assert by_hand.status == 0
    assert contents(tmp_path / "by-hand") == contents(runs / NAME)

    before = contents(runs / NAME)
    assert "which is there already; add --force" in labkit("data", "make", "runs", "--out", "all").mistake()
    assert labkit("data", "make", "runs", "--out", "all", "--force").status == 0  # again, over what is there
    assert contents(runs / NAME) == before


def test_a_failure_leaves_the_run_that_was_there(
    labkit: Labkit, one: Demonstration, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "all" / "runs" / NAME
    kept.mkdir(parents=True)
    (kept / "run.json").write_text("of yesterday")
    monkeypatch.setattr("labkit.film.method.Film._fit", lambda *_: (_ for _ in ()).throw(ValueError("no words")))
    assert "no words" in labkit("data", "make", "runs", "--out", "all", "--force").err
    assert contents(kept) == {"run.json": b"of yesterday"}


def test_what_is_not_of_runs_is_refused(labkit: Labkit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "labkit.lab.cli.data.make_shipped_runs", lambda out: warnings.warn(f"made in {out}", stacklevel=1)
    )
    for option, value in (("--rows", "5"), ("--seed", "0"), ("--rule", "titles")):
        said = labkit("data", "make", "runs", option, value).mistake()
        assert said.startswith(f"{option} is {value}, but `make runs` has its settings in a table")
    assert labkit("data", "make", "questions").mistake() == "--out is missing, expected the file to write; name it"


# --- triplets --------------------------------------------------------------------------------------------------------


def test_the_funnel_is_printed_and_adds_up(labkit: Labkit, tmp_path: Path) -> None:
    done = labkit("data", "make", "triplets", "--articles", "articles", "--rule", "titles", "--output", "t.tsv")
    assert done.status == 0
    header, *rows, last = done.out.splitlines()
    assert header.split() == ["articles", "sections", "sentences", "pairs", "triplets"]
    assert [row.split("  ")[0] for row in rows][:2] == ["read", "first section"]
    triplets = [
        int(row.split()[-1].replace(",", "")) for row in rows if "side" in row or row.startswith(("read", "left"))
    ]
    assert triplets[0] + triplets[1] == triplets[2] == len(read_corpus(tmp_path / "t.tsv"))
    assert last == f"t.tsv: {triplets[2]:,} triplets of 160 articles"


def test_the_same_call_gives_the_same_file(labkit: Labkit, tmp_path: Path) -> None:
    call = ("data", "make", "triplets", "--articles", "articles", "--limit", "9", "--max-per-anchor", "1")
    for out, seed in (("a.csv", 1), ("b.csv", 1), ("c.csv", 2)):
        assert labkit(*call, "--seed", seed, "--out", out).status == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "c.csv").read_bytes()
    assert len(set(read_corpus(tmp_path / "a.csv").extra["article"])) == 9


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        ((), "--articles is missing, expected a corpus of articles, a .jsonl or a dump"),
        (("--articles", "zzz"), "corpus is 'zzz', expected a known corpus or a file of your own"),
        (("--articles", "topics"), "corpus 'topics' has the shape Labelled, expected Articles"),
        (("--articles", "mine.csv"), "mine.csv has the columns of Pairs, expected Articles"),
        (("--articles", "no.xml.bz2"), "no.xml.bz2 does not exist or is no file"),
        (("--articles", "cut.xml.bz2"), "cut.xml.bz2 could not be read to its end"),
        (
            ("--articles", "articles", "--rule", "near"),
            "rule is 'near', expected one of adjacent, article, other, titles",
        ),
        (("--articles", "articles", "--by", "page"), "by is 'page', expected top or heading"),
        (
            ("--articles", "articles", "--rows", "5"),
            "--rows is 5, which is of embedded corpora; for triplets give --limit",
        ),
        (("--articles", "articles", "--limit", "0"), "Invalid value for '--limit'"),
        (
            ("--articles", "short.jsonl"),
            "short.jsonl makes no triplet: 1 of 1 articles went by the rule 'under 5 sections",
        ),
    ],
)
def test_mistakes_are_one_line(labkit: Labkit, tmp_path: Path, words: tuple[str, ...], mistake: str) -> None:
    (tmp_path / "short.jsonl").write_text('{"title": "A", "sections": [{"title": "", "paragraphs": ["One."]}]}\n')
    (tmp_path / "cut.xml.bz2").write_bytes(bz2.compress(b"<mediawiki>" + b"<page></page>" * 99)[:-9])
    assert mistake in labkit("data", "make", "triplets", "--out", "t.csv", "--workers", "1", *words).mistake()
    assert not list(tmp_path.glob("*t.csv*"))


def test_options_of_triplets_are_not_of_a_corpus(labkit: Labkit) -> None:
    mistake = labkit("data", "make", "topics", "--out", "t.csv", "--rule", "adjacent").mistake()
    assert mistake == "--rule is adjacent, which is of `make triplets`, not of 'topics'; leave it out"
    assert (
        "the folder 'no' does not exist"
        in labkit("data", "make", "triplets", "--articles", "articles", "--out", "no/t.csv").mistake()
    )


# --- shards ----------------------------------------------------------------------------------------------------------

SHARDS = ("data", "make", "triplets", "--articles", "articles", "--format", "parquet", "--executor", "local:1")


def test_a_folder_of_shards_is_made_checked_trained_on_and_gone_on_with(labkit: Labkit, tmp_path: Path) -> None:
    made = labkit(*SHARDS, "--articles", "articles", "--out", "shards").out.splitlines()
    assert made[-1] == "shards: 7,112 triplets of 160 articles in 2 shards"
    assert labkit(*SHARDS, "--articles", "articles", "--out", "shards").out.splitlines() == made  # it is all there
    said = labkit("data", "check", "shards").out.splitlines()
    assert said[0].startswith("triplets in 2 shards of ")
    assert said[0].endswith(" 7,112 rows: train 5,670, dev 741, test 701")
    assert said[1].startswith("every shard is the one that was made, fingerprint ")
    record = json.loads(labkit("data", "check", "shards", "--json").out)
    assert (record["kind"], record["rows"], record["shards"]) == ("triplets", 7112, 2)
    call = ("train", "thematic", "--corpus", "shards", "--epochs", "1", "--set", "size=8", "--out", "run")
    figures = labkit(*call, "--device", "cpu").out.splitlines()
    assert figures[-2].startswith("shards (test): triplet_accuracy 0.")
    assert "\n\nshards, test\n\ntriplet_accuracy   0." in labkit("evaluate", "run").out
    part = tmp_path / "shards" / "part-00000.parquet"
    part.write_bytes(part.read_bytes()[:-1])
    assert (
        "part-00000.parquet is not the file that manifest.json speaks of" in labkit("data", "check", "shards").mistake()
    )


def test_shards_of_other_settings_are_refused_unless_forced(labkit: Labkit, tmp_path: Path) -> None:
    labkit(*SHARDS, "--out", "shards")
    mistake = labkit(*SHARDS, "--out", "shards", "--rule", "titles").mistake()
    assert mistake == (
        'shards has shards made with settings.rule "adjacent", now it is "titles"; name another folder, or remove it'
    )
    assert labkit(*SHARDS, "--out", "shards", "--rule", "titles", "--force").out.endswith(" in 1 shard\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    assert "holds 'thesis.txt' and no shards" in labkit(*SHARDS, "--out", "mine", "--force").mistake()
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "mistake"),
    [
        (("--format", "csv"), "--format is 'csv', expected parquet; for a file leave it out"),
        (("--format", "parquet", "--limit", "3"), "--limit is 3, but shards take whole files"),
        (("--articles", "articles"), "--articles names 2 sources, expected one; for more say --format parquet"),
        (("--executor", "threads"), "executor is 'threads', expected local, local:N, ray or ray:HOST:PORT"),
        (("--executor", "local:2", "--workers", "2"), "--workers is 2 and --executor 'local:2', which say the same"),
        (("--format", "parquet", "--rows", "3"), "--rows is 3, which is of embedded corpora"),
    ],
)
def test_options_of_shards(labkit: Labkit, words: tuple[str, ...], mistake: str) -> None:
    call = ("data", "make", "triplets", "--articles", "articles", "--out", "t.csv", *words)
    assert mistake in labkit(*call).mistake()
