"""`labkit data get`, `mine` and `make`: the shipped runs are what `labkit train` gives, triplets say what each rule
removed."""

from __future__ import annotations

import bz2
import json
import warnings
from pathlib import Path

import pytest

from labkit.corpora import read_corpus
from labkit.corpora.published.registry import Fetched
from labkit.corpora.published.release import Source
from labkit.corpora.table import EMBEDDED
from labkit.lab.shipped import DEMONSTRATIONS, Demonstration, making, pictures
from labkit.lab.shipped import pictures as known
from labkit.lab.shipped.pictures import pictured
from labkit.methods import load as load_run
from labkit.runs import read_record

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
