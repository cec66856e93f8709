"""The plain form: small files made here, and the real ones where they are at hand."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

from labkit.corpora.published import PUBLISHED, read_published
from labkit.corpora.published.registry import PLAIN, expected_rows, has_plain, plain_files, read_plain
from labkit.corpora.published.release import Row
from labkit.corpora.records import Articles, Corpus, Groups, Labelled, Pairs, Section

SHAPES: dict[str, type[Corpus]] = {"Pairs": Pairs, "Labelled": Labelled, "Groups": Groups, "Articles": Articles}


def put(folder: Path, file: str, text: str) -> None:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()))


def rows_of(name: str, folder: Path) -> list[Row]:
    return [row for _, row in read_plain(name, folder)]


def test_a_lone_quote_is_a_sign_like_any_other(tmp_path: Path) -> None:
    put(tmp_path, "qqp/bimpm_dev.tsv.gz", 'text_a\ttext_b\tlabel\torig_id\nSay "cheese ?\tWhat is " ?\t1\t77\n')
    assert rows_of("qqp-bimpm", tmp_path) == [
        {"text_a": 'Say "cheese ?', "text_b": 'What is " ?', "label": "1", "orig_id": "77", "split": "dev"}
    ]


def test_the_files_of_a_set_follow_each_other(tmp_path: Path) -> None:
    put(tmp_path, "senteval/trec_train.tsv.gz", "text\tlabel\tfine_label\nHow ?\tNUM\tNUM:dist\n")
    put(tmp_path, "senteval/trec_test.tsv.gz", "text\tlabel\tfine_label\nWho ?\tHUM\tHUM:ind\n")
    assert list(read_plain("trec", tmp_path)) == [
        ("senteval/trec_train.tsv.gz", {"text": "How ?", "label": "NUM", "fine_label": "NUM:dist", "split": "train"}),
        ("senteval/trec_test.tsv.gz", {"text": "Who ?", "label": "HUM", "fine_label": "HUM:ind", "split": "test"}),
    ]  # fmt: skip


def test_classes_are_called_as_in_the_official_form(tmp_path: Path) -> None:
    put(tmp_path, "senteval/mr.tsv.gz", "text\tlabel\ngood\t1\nbad\t0\n")
    put(tmp_path, "senteval/subj.tsv.gz", "text\tlabel\nI think so\t1\nIt is so\t0\n")
    assert [row["label"] for row in rows_of("mr", tmp_path)] == ["positive", "negative"]
    assert [row["label"] for row in rows_of("subj", tmp_path)] == ["subjective", "objective"]


def test_valid_is_dev(tmp_path: Path) -> None:
    put(tmp_path, "poi/geoer_pairs.tsv.gz", "text_a\ttext_b\tlabel\tsplit\na\tb\t0\tvalid\na\tc\t1\ttest\n")
    assert [row["split"] for row in rows_of("geoer", tmp_path)] == ["dev", "test"]


def test_articles_have_sections(tmp_path: Path) -> None:
    section = {"title": "History", "level": 2, "top": "History", "paragraphs": ["It began.", "It ended."]}
    article = {"title": "Kites", "source": "made up", "license": "none", "sections": [section]}
    put(tmp_path, "articles/wiki_sections.jsonl.gz", json.dumps(article) + "\n")
    (row,) = rows_of("wikipedia", tmp_path)
    assert row["sections"] == (Section("History", ("It began.", "It ended."), 2, "History"),)
    corpus = read_published("wikipedia", tmp_path).corpus
    assert isinstance(corpus, Articles)
    assert corpus.extra == {"source": ("made up",), "license": ("none",)}
    assert corpus.sentences() == ["It began.", "It ended."]


def test_a_set_with_half_its_files_is_refused(tmp_path: Path) -> None:
    assert not has_plain("mrpc", tmp_path)
    put(tmp_path, "mrpc/train.tsv.gz", "text_a\ttext_b\tlabel\na\tb\t0\n")
    assert has_plain("mrpc", tmp_path)
    with pytest.raises(ValueError, match=r"mrpc/test\.tsv\.gz is missing in .*, where other files of mrpc are"):
        rows_of("mrpc", tmp_path)


def test_the_manifest_says_how_many_rows(tmp_path: Path) -> None:
    assert expected_rows(tmp_path) == {}
    (tmp_path / "MANIFEST.json").write_text('[{"file": "a.tsv.gz", "rows": 3}, {"file": "b.npz", "rows": null}]')
    assert expected_rows(tmp_path) == {"a.tsv.gz": 3, "b.npz": None}
    (tmp_path / "MANIFEST.json").write_text('{"file": 1}')
    with pytest.raises(ValueError, match=r"MANIFEST\.json is damaged"):
        expected_rows(tmp_path)


def test_a_file_with_another_number_of_rows_is_refused(tmp_path: Path) -> None:
    put(tmp_path, "senteval/mr.tsv.gz", "text\tlabel\ngood\t1\nbad\t0\n")
    (tmp_path / "MANIFEST.json").write_text('[{"file": "senteval/mr.tsv.gz", "rows": 3}]')
    with pytest.raises(ValueError, match=r"senteval/mr\.tsv\.gz: 2 rows, expected 3; put the file there again"):
        read_published("mr", tmp_path)
    (tmp_path / "MANIFEST.json").write_text('[{"file": "senteval/mr.tsv.gz", "rows": 2}]')
    assert len(read_published("mr", tmp_path).corpus) == 2


def test_every_file_belongs_to_a_published_set() -> None:
    assert {part.corpus for part in PLAIN.values()} <= set(PUBLISHED)
    assert all(part.split in ("", "train", "dev", "test") for part in PLAIN.values())
    # what has no official form that labkit reads has at least the plain one
    unread = {name for name, known in PUBLISHED.items() if known.parse is None and known.shape != "vectors"}
    assert all(plain_files(name) for name in unread)


# --- the real files --------------------------------------------------------------------------------------------


published = cache(read_published)  # each set is read once


def test_every_real_file_is_in_the_table(published_data: Path) -> None:
    # the vectors are read by labkit.vectors
    assert {file for file in expected_rows(published_data) if not file.startswith("vectors/")} == set(PLAIN)


@pytest.mark.parametrize("name", sorted({part.corpus for part in PLAIN.values()}))
@pytest.mark.whole
def test_a_real_set_has_the_rows_of_its_manifest(name: str, published_data: Path) -> None:
    manifest = {entry["file"]: entry["rows"] for entry in json.loads((published_data / "MANIFEST.json").read_text())}
    loaded = published(name, published_data)
    assert dict(loaded.rows) == {file: manifest[file] for file in plain_files(name)}
    assert len(loaded.corpus) == sum(loaded.rows.values())
    assert loaded.notes == []
    assert isinstance(loaded.corpus, SHAPES[PUBLISHED[name].shape])
    assert loaded.corpus.name == name


# name -> rows in train, dev, test; counted on the files themselves, with another program
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
    splits = published(name, published_data).corpus.splits
    assert tuple(splits.count(split) for split in ("train", "dev", "test")) == SPLITS[name]


@pytest.mark.whole
def test_sets_without_splits_get_them(published_data: Path) -> None:
    for name in ("qqp", "mr", "subj", "coco", "wikipedia"):
        corpus = published(name, published_data).corpus
        shares = [corpus.splits.count(split) / len(corpus) for split in ("train", "dev", "test")]
        assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.02), name


@pytest.mark.whole
def test_captions_of_a_picture_stay_together(published_data: Path) -> None:
    corpus = published("coco", published_data).corpus
    assert isinstance(corpus, Groups)
    assert len(set(zip(corpus.groups, corpus.splits, strict=True))) == len(set(corpus.groups)) == 5_000


@pytest.mark.whole
def test_pairs_of_places_keep_their_columns(published_data: Path) -> None:
    corpus = published("geoer", published_data).corpus
    assert {"name_a", "address_a", "lat_a", "lon_a", "name_b", "address_b", "lat_b", "lon_b"} <= corpus.extra.keys()
    singapore = [row for row, city in enumerate(corpus.extra["city"]) if city == "sin"]
    assert all(1.1 < corpus.extra["lat_a"][row] < 1.6 for row in singapore)
    assert all(103.5 < corpus.extra["lon_b"][row] < 104.2 for row in singapore)


@pytest.mark.whole
def test_scores_lie_on_their_scales(published_data: Path) -> None:
    for name, low, high in (("sick", 1, 5), ("stsb", 0, 5), ("sts12-16", 0, 5)):
        corpus = published(name, published_data).corpus
        assert isinstance(corpus, Pairs)
        assert corpus.graded
        assert (corpus.scores.min(), corpus.scores.max()) == (low, high)
