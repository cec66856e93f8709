"""Each release format, on a small sample with the oddities of the real files. All sentences are made up."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from labkit.corpora.published import PUBLISHED
from labkit.corpora.published.releases import (
    ReleaseRow,
    benchmark,
    coco,
    file_lines,
    multi30k,
    newsgroups,
    one_file_a_class,
    paraphrases,
    places,
    questions,
    quora,
    quora_bimpm,
    quora_glue,
    sick,
    sst,
    sts,
)


def put(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, given by their names within the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def rows_of(stream: Any) -> list[ReleaseRow]:
    return [row for _, row in stream]


# --- files -----------------------------------------------------------------------------------------------------


def test_lines_end_at_lf_and_crlf_only_and_encodings_are_tried_in_turn(tmp_path: Path) -> None:
    text = "one\r\ntwo\u2028half\x0bway\x85on\x1ethen\nthree\rfour\n\nlast"
    put(tmp_path, {"a.txt": b"\xef\xbb\xbf" + text.encode()})
    expected = ["one", "two\u2028half\x0bway\x85on\x1ethen", "three\rfour", "", "last"]
    assert list(file_lines(tmp_path / "a.txt")) == expected
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    assert list(file_lines(tmp_path / "a.txt.gz")) == expected
    put(tmp_path, {"a.txt": "café\n".encode() + "naïve\n".encode("latin-1")})
    assert list(file_lines(tmp_path / "a.txt", "utf-8", "latin-1")) == ["café", "naïve"]
    with pytest.raises(ValueError, match=r"a\.txt.*2"):
        list(file_lines(tmp_path / "a.txt"))


# --- pairs -----------------------------------------------------------------------------------------------------

HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"


def test_quora_has_quotes_line_ends_and_empty_questions(tmp_path: Path) -> None:
    sample = (
        HEADER.replace("\n", "\r\n")
        + "0\t1\t2\tHow do I boil an egg?\tWhat is the way to boil an egg?\t1\r\n"
        + '1\t3\t4\t"What does ""tabula rasa"" mean?"\t"Is a tab\there\nand a line end there?"\t0\r\n'
        + '2\t5\t6\tWhy is the sea salty?\t""\t0\r\n'
    )
    put(tmp_path, {"quora_duplicate_questions.tsv": b"\xef\xbb\xbf" + sample.encode()})
    rows = rows_of(quora(tmp_path))
    assert rows[0] == {
        "text_a": "How do I boil an egg?", "text_b": "What is the way to boil an egg?", "label": "1",
        "id": "0", "qid1": "1", "qid2": "2",
    }  # fmt: skip
    assert rows[1]["text_a"] == 'What does "tabula rasa" mean?'
    assert rows[1]["text_b"] == "Is a tab\there\nand a line end there?"
    assert rows[2]["text_b"] == ""
    assert len(rows) == 3


def test_glue_has_lone_quotes_and_broken_rows(tmp_path: Path) -> None:
    train = HEADER + '7\t1\t2\t"Eureka, who said it?\tWho cried eureka?\t1\n8\t3\t4\tA row that breaks\n'
    put(tmp_path, {"QQP/train.tsv": train, "QQP/dev.tsv": HEADER + "9\t5\t6\ta?\tb?\t0\n", "QQP/test.tsv": "id\n"})
    rows = rows_of(quora_glue(tmp_path))
    assert [row["split"] for row in rows] == ["train", "train", "dev"]
    assert rows[0]["text_a"] == '"Eureka, who said it?'
    assert rows[1]["label"] == ""  # skipped and counted on loading


def test_the_split_of_wang_et_al(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        put(tmp_path, {f"part/{split}.tsv": f'1\tWhat is a " {split} " ?\tWhat is it ?\t{split}-4\n'})
    rows = rows_of(quora_bimpm(tmp_path))
    assert [row["split"] for row in rows] == ["train", "dev", "test"]
    assert rows[1] == {
        "text_a": 'What is a " dev " ?', "text_b": "What is it ?", "label": "1", "split": "dev", "orig_id": "dev-4",
    }  # fmt: skip


def test_paraphrases_with_byte_order_mark_and_lone_quotes(tmp_path: Path) -> None:
    header = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"
    row = '1\t11\t12\t"We will sail at dawn, the captain said.\tThe captain said they would sail at dawn".\r\n'
    for split in ("train", "test"):
        put(tmp_path, {f"msr_paraphrase_{split}.txt": b"\xef\xbb\xbf" + (header + row).encode()})
    rows = rows_of(paraphrases(tmp_path))
    assert [row["split"] for row in rows] == ["train", "test"]
    assert rows[0]["text_a"] == '"We will sail at dawn, the captain said.'
    assert rows[0]["text_b"] == 'The captain said they would sail at dawn".'
    assert (rows[0]["label"], rows[0]["id_a"], rows[0]["id_b"]) == ("1", "11", "12")


def test_places_are_parsed(tmp_path: Path) -> None:
    first = (
        "COL name VAL Lock House COL latitude VAL 40.5 COL longitude VAL -79.25 COL address VAL   COL postalCode VAL   "
    )
    second = (
        "COL name VAL The Lock-House Café COL latitude VAL 40.75 COL longitude VAL -80.0 "
        "COL address VAL 8 Weir Street, at Main COL postalCode VAL NULL "
    )
    for split in ("train", "valid", "test"):
        put(tmp_path, {f"osm_fsq/pit/{split}.txt": f"{first}\t{second}\t1\n"})
    rows = list(places(tmp_path))
    assert [(file, row["split"]) for file, row in rows] == [
        ("osm_fsq/pit/test.txt", "test"), ("osm_fsq/pit/train.txt", "train"), ("osm_fsq/pit/valid.txt", "dev"),
    ]  # fmt: skip
    assert rows[0][1] == {
        "text_a": "Lock House", "text_b": "The Lock-House Café 8 Weir Street, at Main", "label": "1", "split": "test",
        "dataset": "osm_fsq", "city": "pit",
        "name_a": "Lock House", "address_a": "", "postal_a": "", "lat_a": "40.5", "lon_a": "-79.25",
        "name_b": "The Lock-House Café", "address_b": "8 Weir Street, at Main", "postal_b": "",
        "lat_b": "40.75", "lon_b": "-80.0",
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"osm_fsq/pit/train\.txt"):
        list(places(tmp_path / "osm_fsq"))


# --- scores ----------------------------------------------------------------------------------------------------


def test_sts_pairs_get_their_scores_line_by_line(tmp_path: Path) -> None:
    old, new = "STS2012-en-test/test-gold", "STS2016-en-test/sts2016-english"
    put(tmp_path, {f"{old}/STS.input.MSRpar.txt": 'A dog runs.\tA dog is running.\r\nIt rains.\tIt "snows.\r\n'})
    put(tmp_path, {f"{old}/STS.gs.MSRpar.txt": "4.5\r\n1.25\r\n", f"{old}/STS.gs.ALL.txt": "4.5\n1.25\n"})
    # two columns of sources, as in 2016; a pair without a score; a line in Latin-1
    pairs = "One cat.\tA cat.\tfrom here\tfrom there\nNot scored.\tNo.\t\t\nTrois cafés.\tCafés.\t\t\n"
    put(tmp_path, {f"{new}/STS2016.input.postediting.txt": pairs.encode("latin-1")})
    put(tmp_path, {f"{new}/STS2016.gs.postediting.txt": "5\n\n0\n"})
    rows = list(sts(tmp_path))
    assert [(file, row["year"], row["subset"], row["score"]) for file, row in rows] == [
        ("STS2012/STS.input.MSRpar.txt", "2012", "MSRpar", "4.5"),
        ("STS2012/STS.input.MSRpar.txt", "2012", "MSRpar", "1.25"),
        ("STS2016/STS2016.input.postediting.txt", "2016", "postediting", "5"),
        ("STS2016/STS2016.input.postediting.txt", "2016", "postediting", ""),
        ("STS2016/STS2016.input.postediting.txt", "2016", "postediting", "0"),
    ]
    assert [row["text_b"] for _, row in rows] == ["A dog is running.", 'It "snows.', "A cat.", "No.", "Cafés."]
    assert {row["split"] for _, row in rows} == {"test"}


@pytest.mark.parametrize("folder", ["STS12-en-test", "sts/STS_2012"])
def test_the_folder_gives_the_year(folder: str, tmp_path: Path) -> None:
    put(tmp_path, {f"{folder}/STS.input.surprise.OnWN.txt": "a\tb\n", f"{folder}/STS.gs.surprise.OnWN.txt": "1\n"})
    assert [(row["year"], row["subset"]) for row in rows_of(sts(tmp_path))] == [("2012", "surprise.OnWN")]


def test_mismatched_sts_files(tmp_path: Path) -> None:
    put(tmp_path, {"STS2012/STS.input.x.txt": "a\tb\n", "STS2012/STS.gs.x.txt": "1\n2\n"})
    with pytest.raises(ValueError, match=r"STS\.gs\.x\.txt"):
        list(sts(tmp_path))
    put(tmp_path, {"STS2012/STS.gs.x.txt": "\n\n\n"})  # trailing blank lines are ignored
    assert {row["score"] for row in rows_of(sts(tmp_path))} == {""}
    put(tmp_path, {"STS2012/STS.input.blank.txt": "a\tb\n\nc\td\n", "STS2012/STS.gs.blank.txt": "1\n\n3\n"})
    kept = {row["text_a"]: row["score"] for row in rows_of(sts(tmp_path)) if row["subset"] == "blank" and row["score"]}
    assert kept == {"a": "1", "c": "3"}
    (tmp_path / "STS2012").rename(tmp_path / "undated")
    with pytest.raises(ValueError, match="year"):
        list(sts(tmp_path))
    with pytest.raises(ValueError, match=r"STS\.input"):
        list(sts(tmp_path / "nowhere"))


def test_the_benchmark_sometimes_has_more_columns(tmp_path: Path) -> None:
    plain = 'main-captions\tMSRvid\t2012test\t0001\t5.000\tA boat is "leaving.\tA boat leaves.\n'
    longer = "main-news\theadlines\t2016\t0024\t0.400\tRain is coming.\tThe sun is out.\tsource one\tsource two\n"
    put(tmp_path, {f"stsbenchmark/sts-{split}.csv": plain + longer for split in ("train", "dev", "test")})
    rows = rows_of(benchmark(tmp_path))
    assert [row["split"] for row in rows] == ["train", "train", "dev", "dev", "test", "test"]
    assert rows[0]["text_a"] == 'A boat is "leaving.'
    assert rows[1] == {
        "text_a": "Rain is coming.", "text_b": "The sun is out.", "score": "0.400", "split": "train",
        "origin": "main-news/headlines/2016",
    }  # fmt: skip


def test_sick_in_one_file(tmp_path: Path) -> None:
    header = "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tentailment_AB\tSemEval_set\r\n"
    body = "".join(
        f"{n}\tA {s} pair\tB\tNEUTRAL\t3.{n}\tA_neutral_B\t{s}\r\n" for n, s in enumerate(("TRAIN", "TRIAL", "TEST"))
    )
    put(tmp_path, {"SICK.txt": header + body})  # fmt: skip
    rows = rows_of(sick(tmp_path))
    assert [(row["split"], row["score"]) for row in rows] == [("train", "3.0"), ("dev", "3.1"), ("test", "3.2")]
    assert rows[0]["entailment"] == "NEUTRAL"


# --- sentences -------------------------------------------------------------------------------------------------


def test_movie_reviews_are_latin_1(tmp_path: Path) -> None:
    put(tmp_path, {"x/rt-polarity.pos": "a café of a film . \nan \x85 odd sign stays one line\n".encode("latin-1")})
    put(tmp_path, {"x/rt-polarity.neg": b"dull .\r\n"})
    assert sorted((row["label"], row["text"]) for row in rows_of(PUBLISHED["mr"].parse(tmp_path))) == [
        ("negative", "dull ."), ("positive", "a café of a film ."), ("positive", "an \x85 odd sign stays one line"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("cr", {"custrev.neg": "negative", "custrev.pos": "positive"}),
        ("mpqa", {"mpqa.neg": "negative", "mpqa.pos": "positive"}),
        ("subj", {"plot.tok.gt9.5000": "objective", "quote.tok.gt9.5000": "subjective"}),
    ],
)
def test_one_file_per_class(name: str, files: dict[str, str], tmp_path: Path) -> None:
    put(tmp_path, {f"deep/{file}": f"a line that is {label}\n" for file, label in files.items()})
    assert list(PUBLISHED[name].parse(tmp_path)) == [
        (f"deep/{file}", {"text": f"a line that is {label}", "label": label}) for file, label in files.items()
    ]
    with pytest.raises(ValueError, match=r"b\.one"):
        list(one_file_a_class(b="b.one")(tmp_path))


def test_treebank_sentences(tmp_path: Path) -> None:
    for split in ("train", "dev", "test"):
        put(tmp_path, {f"sentiment-{split}": f'a " {split} sentence . \t1\nnot good \t0\n'})
    rows = rows_of(sst(tmp_path))
    assert [row["split"] for row in rows] == ["train"] * 2 + ["dev"] * 2 + ["test"] * 2
    assert rows[0] == {"text": 'a " train sentence .', "label": "positive", "split": "train"}
    assert rows[1]["label"] == "negative"


def test_questions_are_latin_1_and_have_two_classes(tmp_path: Path) -> None:
    train = "NUM:dist How far is São Tomé ?\nDESC:def What is ` pluff ' ?\n"
    put(tmp_path, {"train_5500.label": train.encode("latin-1"), "TREC_10.label": b"LOC:city Which city ?\n\n"})
    rows = rows_of(questions(tmp_path))
    assert rows[0] == {"text": "How far is São Tomé ?", "label": "NUM", "split": "train", "fine_label": "NUM:dist"}
    assert (rows[2]["label"], rows[2]["split"]) == ("LOC", "test")
    assert rows[3]["label"] == ""  # the blank line, skipped on loading


def test_newsgroups_are_files_in_folders(tmp_path: Path) -> None:
    put(tmp_path, {"20news-bydate-train/rec.kites/104": "From: a\r\n\r\nThe wind is né.\r\n".encode("latin-1")})
    with pytest.raises(ValueError, match="20news-bydate-test"):
        list(newsgroups(tmp_path))
    put(tmp_path, {"20news-bydate-test/sci.soap/9": b"Subject: foam\n\nHello\n"})
    assert rows_of(newsgroups(tmp_path)) == [
        {"text": "From: a\n\nThe wind is né.\n", "label": "rec.kites", "split": "train", "id": "104"},
        {"text": "Subject: foam\n\nHello\n", "label": "sci.soap", "split": "test", "id": "9"},
    ]


# --- captions --------------------------------------------------------------------------------------------------


def test_coco_captions_contain_line_breaks(tmp_path: Path) -> None:
    annotations = [
        {"image_id": 7, "id": 2, "caption": "A kite\n over the hill. "},
        {"image_id": 7, "id": 3, "caption": "É"},
    ]
    put(tmp_path, {"annotations/captions_val2017.json": json.dumps({"annotations": annotations})})  # fmt: skip
    assert rows_of(coco(tmp_path)) == [{"group": "7", "text": "A kite over the hill."}, {"group": "7", "text": "É"}]
    for content in ("{", "[]", '{"annotations": [{"id": 1}]}'):
        put(tmp_path, {"annotations/captions_val2017.json": content})
        with pytest.raises(ValueError, match=r"captions_val2017\.json"):
            list(coco(tmp_path))


def test_each_line_of_five_files_is_one_picture(tmp_path: Path) -> None:
    for name in ("train", "val", "test_2016"):
        for number in range(1, 6):
            packed = gzip.compress(f"picture zero, {number}\npicture one, {number}\n".encode())
            put(tmp_path, {f"{name}.{number}.en.gz": packed})
    rows = rows_of(multi30k(tmp_path))
    assert len(rows) == 30
    assert rows[1] == {"group": "train-0", "text": "picture zero, 2", "split": "train"}
    assert rows[5] == {"group": "train-1", "text": "picture one, 1", "split": "train"}
    assert [row["split"] for row in rows[::10]] == ["train", "dev", "test"]
