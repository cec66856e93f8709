"""Published datasets: their location and form, skipped and missing rows, downloads, and the real files."""

from __future__ import annotations

import gzip
import json
import zipfile
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora.published import PUBLISHED, registry
from labkit.corpora.published.releases import ReleaseRow
from labkit.corpora.records import Articles, Corpus, Pairs, Section
from labkit.progress import collected

HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary cache folder, without LABKIT_DATA."""
    monkeypatch.setattr(registry, "user_cache_path", lambda name: tmp_path / "cache" / name)
    monkeypatch.delenv("LABKIT_DATA", raising=False)
    return tmp_path / "cache"


def small(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Change the record of a dataset, for example its expected rows."""
    monkeypatch.setitem(PUBLISHED, name, replace(PUBLISHED[name], **changes))


def put(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" and isinstance(text, str) else content)


def quora(rows: int) -> str:
    return HEADER + "".join(f"{n}\t{n}\t{n}\tWhat is {n}?\tWhat would {n} be?\t{n % 2}\n" for n in range(rows))


# --- location and form -----------------------------------------------------------------------------------------


def test_the_release_in_the_cache_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, "qqp", files={"quora_duplicate_questions.tsv": 50})
    put(PUBLISHED["qqp"].cache / "quora_duplicate_questions.tsv", quora(50))
    assert PUBLISHED["qqp"].here() == PUBLISHED["qqp"].cache
    corpus = PUBLISHED["qqp"].load()
    assert isinstance(corpus, Pairs)
    assert len(corpus) == 50
    assert corpus.extra["qid1"][3] == "3"
    assert corpus.labels.tolist()[:4] == [0, 1, 0, 1]
    assert {split: corpus.splits.count(split) for split in ("train", "dev", "test")} == {
        "train": 40,
        "dev": 5,
        "test": 5,
    }


def test_the_plain_form_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(PUBLISHED["mr"].cache / "rt-polarity.pos", "from the release\n")
    put(PUBLISHED["mr"].cache / "rt-polarity.neg", "from the release\n")
    put(tmp_path / "plain" / "senteval" / "mr.tsv.gz", "text\tlabel\nfrom the plain form\t1\n")
    small(monkeypatch, "mr", files={"rt-polarity.pos": 1, "rt-polarity.neg": 1})
    assert PUBLISHED["mr"].load().sentences() == ["from the release"]
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "plain"))
    assert PUBLISHED["mr"].load().sentences() == ["from the plain form"]
    assert PUBLISHED["mr"].here() == tmp_path / "plain" / "senteval" / "mr.tsv.gz"
    monkeypatch.setenv("LABKIT_DATA", str(tmp_path / "elsewhere"))  # which does not exist
    assert PUBLISHED["mr"].load().sentences() == ["from the release"]


# --- counted rows ----------------------------------------------------------------------------------------------


def test_empty_questions_are_skipped_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, "qqp", files={"quora_duplicate_questions.tsv": 32})
    text = quora(30) + '30\t1\t2\t""\tWhat?\t1\n31\t1\t2\t  \tWhat?\t0\n' + "32\t1\t2\tbroken\n"
    put(PUBLISHED["qqp"].cache / "quora_duplicate_questions.tsv", text)
    with pytest.warns(UserWarning, match="quora_duplicate_questions.tsv") as warned:
        assert len(PUBLISHED["qqp"].load()) == 30  # of 32 expected; the row without a label does not count
    notes = [str(warning.message) for warning in warned]
    assert [note.rpartition(": ")[2] for note in notes] == ["2", "1"]  # empty texts, missing labels


def test_an_unexpected_number_of_rows_is_refused() -> None:
    put(PUBLISHED["qqp"].cache / "quora_duplicate_questions.tsv", quora(50))
    with pytest.raises(ValueError, match="50.*404,290"):
        PUBLISHED["qqp"].load()


# --- fetching --------------------------------------------------------------------------------------------------


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Path, str | None]]:
    """The calls of `fetch`, replaced by a function that writes a small file."""
    asked: list[tuple[str, Path, str | None]] = []

    def fetch(address: str, target: Path, *, sha256: Any = None, progress: Any = None) -> Path:
        asked.append((address, target, sha256))
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.suffix == ".zip":
            with zipfile.ZipFile(target, "w") as pack:
                pack.writestr("data/customerr/custrev.pos", "good\n")
                pack.writestr("data/customerr/custrev.neg", "bad\n")
                pack.writestr("data/mpqa/mpqa.pos", "not asked for\n")
        else:
            target.write_text("content")
        return target

    monkeypatch.setattr(registry, "fetch", fetch)
    return asked


def test_every_source_is_fetched_with_its_name_and_checksum(fetched: list[Any]) -> None:
    got = PUBLISHED["trec"].fetch()
    folder = PUBLISHED["trec"].cache
    assert fetched == [(source.address, folder / source.name, source.sha256) for source in PUBLISHED["trec"].sources]
    assert got == []


def test_archives_are_unpacked_once_and_only_needed_files(fetched: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch, "cr", files={"custrev.*": 2})
    PUBLISHED["cr"].fetch()
    inside = PUBLISHED["cr"].cache / "datasmall_NB_ACL12"
    assert {path.name for path in inside.rglob("*.*")} == {"custrev.pos", "custrev.neg"}
    PUBLISHED["cr"].fetch()  # the folder exists and stays unchanged
    assert PUBLISHED["cr"].load().sentences() == ["bad", "good"]


@pytest.mark.parametrize("name", ["mrpc", "mpqa", "qqp-bimpm"])
def test_datasets_with_a_licence_to_accept_are_never_fetched(name: str, fetched: list[Any]) -> None:
    assert all(source.by_hand for source in PUBLISHED[name].sources)
    assert len(PUBLISHED[name].fetch()) == len(PUBLISHED[name].sources)
    assert fetched == []


# --- the plain form ----------------------------------------------------------------------------------------------


def rows_of(name: str, folder: Path) -> list[ReleaseRow]:
    return [row for _, row in PUBLISHED[name].plain_rows(folder)]


def test_labels_and_splits_of_the_plain_form_are_translated(tmp_path: Path) -> None:
    put(tmp_path / "senteval/mr.tsv.gz", "text\tlabel\ngood\t1\nbad\t0\n")
    put(tmp_path / "senteval/subj.tsv.gz", "text\tlabel\nI think so\t1\nIt is so\t0\n")
    put(tmp_path / "poi/geoer_pairs.tsv.gz", "text_a\ttext_b\tlabel\tsplit\na\tb\t0\tvalid\na\tc\t1\ttest\n")
    assert [row["label"] for row in rows_of("mr", tmp_path)] == ["positive", "negative"]
    assert [row["label"] for row in rows_of("subj", tmp_path)] == ["subjective", "objective"]
    assert [row["split"] for row in rows_of("geoer", tmp_path)] == ["dev", "test"]


def test_articles_have_sections(tmp_path: Path) -> None:
    section = {"title": "History", "level": 2, "top": "History", "paragraphs": ["It began.", "It ended."]}
    article = {"title": "Kites", "source": "made up", "license": "none", "sections": [section]}
    put(tmp_path / "articles/wiki_sections.jsonl.gz", json.dumps(article) + "\n")
    corpus = PUBLISHED["wikipedia"].load(tmp_path)
    assert isinstance(corpus, Articles)
    assert corpus.articles[0].sections == (Section("History", ("It began.", "It ended."), 2, "History"),)
    assert corpus.extra == {"source": ("made up",), "license": ("none",)}
    assert corpus.sentences() == ["It began.", "It ended."]


# --- the real files --------------------------------------------------------------------------------------------


@cache
def published(name: str, folder: Path) -> tuple[Corpus, list[str]]:
    """The dataset and the notes about it; each dataset is read once."""
    with collected() as notes:
        return PUBLISHED[name].load(folder), notes


@pytest.mark.parametrize("name", sorted(name for name, known in PUBLISHED.items() if known.plain))
@pytest.mark.whole
def test_a_real_set_has_the_rows_of_its_manifest(name: str, published_data: Path) -> None:
    manifest = {entry["file"]: entry["rows"] for entry in json.loads((published_data / "MANIFEST.json").read_text())}
    corpus, notes = published(name, published_data)
    assert len(corpus) == sum(manifest[file] for file in PUBLISHED[name].plain)
    assert notes == []
    assert type(corpus).__name__ == PUBLISHED[name].shape
    assert corpus.name == name


# name -> rows in train, dev, test, counted in the files by another program
SPLITS = {
    "mrpc": (4_076, 0, 1_725),
    "stsb": (5_749, 1_500, 1_379),
    "sick": (4_500, 500, 0),
    "sts12-16": (0, 0, 11_358),
    "trec": (5_452, 0, 500),
    "sst-phrases": (67_349, 872, 0),
    "20news": (11_314, 0, 7_532),
    "geoer": (43_531, 17_409, 26_127),
    "flickr30k": (145_000, 5_070, 5_000),
    "qqp-bimpm": (0, 10_000, 0),
    "qqp-positives": (121_149, 0, 0),
}


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.whole
def test_the_splits_of_the_releases_are_kept(name: str, published_data: Path) -> None:
    splits = published(name, published_data)[0].splits
    assert tuple(splits.count(split) for split in ("train", "dev", "test")) == SPLITS[name]
