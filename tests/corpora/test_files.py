"""Corpora from files of every kind, refused files, and files written from rows."""

from __future__ import annotations

import csv
import gzip
import json
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from labkit.corpora import Corpus, Groups, Labelled, Pairs, Sentences, Triplets, from_rows, read_corpus
from labkit.corpora.files import read_rows, write_rows
from labkit.progress import collected

ROWS: dict[type[Corpus], list[dict[str, Any]]] = {
    Labelled: [{"text": t, "label": k} for t, k in (('say "hi", now', "x"), ("two\nlines", "y"), ("é 茶", "x"))],
    Pairs: [{"text_a": "a", "text_b": "b", "label": 1}, {"text_a": "c", "text_b": "d", "label": 0}],
    Triplets: [{"anchor": "a", "positive": "b", "negative": "c"}, {"anchor": "d", "positive": "e", "negative": "f"}],
    Groups: [{"group": "1", "text": "a"}, {"group": "1", "text": "b"}, {"group": "2", "text": "c"}],
    Sentences: [{"text": t, "town": "x"} for t in ('say "hi", now', "=1+1", "é 茶")],
}  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if ".parquet" in path.suffixes:
        pd.DataFrame(rows).to_parquet(path)
        return path
    with path.open("w", encoding="utf-8", newline="") as file:
        if ".jsonl" in path.suffixes:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        elif ".tsv" in path.suffixes:
            clean = [{key: str(value).replace("\n", " ") for key, value in row.items()} for row in rows]
            file.write("\t".join(rows[0]) + "\n" + "".join("\t".join(row.values()) + "\n" for row in clean))
        else:
            table = csv.DictWriter(file, list(rows[0]))
            table.writeheader()
            table.writerows(rows)
    return path


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_every_shape_from_every_format(tmp_path: Path, ending: str) -> None:
    for shape, expected in ROWS.items():
        corpus = read_corpus(write(tmp_path / f"mine{ending}", expected))
        assert type(corpus) is shape
        assert corpus.name == "mine"
        if ending == ".tsv" and shape is Labelled:  # a TSV cell cannot hold a line break
            expected = [{key: value.replace("\n", " ") for key, value in row.items()} for row in expected]
        assert [{key: value for key, value in row.items() if key != "split"} for row in corpus.rows()] == expected


def test_semicolons_bom_crlf_blank_lines_and_capital_headers(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(b"\xef\xbb\xbfText; Label\r\nhello, you;x\r\n\r\nbye;y\r\n")
    corpus = read_corpus(path)
    assert isinstance(corpus, Labelled)
    assert (corpus.texts, corpus.labels) == (("hello, you", "bye"), ("x", "y"))


@pytest.mark.parametrize("values", [[0.5, 2.0, 1e300], [True, False, True]])
def test_numbers_are_the_same_labels_in_every_format(values: list[Any], tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a", "b", "c"], "label": values})
    frame.to_csv(tmp_path / "n.csv", index=False)
    frame.to_parquet(tmp_path / "n.parquet")
    (tmp_path / "n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    read = [read_corpus(tmp_path / f"n.{ending}") for ending in ("csv", "parquet", "jsonl")]
    assert [corpus.labels for corpus in read] == [tuple(map(str, values))] * 3
    assert len({corpus.fingerprint for corpus in read}) == 1


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_text_file_has_one_sentence_per_line(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "mine.txt").write_bytes("one, two; three\n\n  four\tfive \r\n<b>=1+1</b>\n".encode(encoding))
    corpus = read_corpus(tmp_path / "mine.txt")
    assert isinstance(corpus, Sentences)
    assert corpus.texts == ("one, two; three", "four\tfive", "<b>=1+1</b>")
    assert corpus.sizes == {"train": 3}


@pytest.mark.parametrize(
    ("lines", "shape", "texts"),
    [
        ("text\na\nb, c\n", Sentences, ["a", "b, c"]),
        ("Text,label\na,x\nb,y\n", Labelled, ["a", "b"]),
        ('"text";"label"\n"a, a";x\nb;y\n', Labelled, ["a, a", "b"]),
        ("text\twhen\na\t1\nb\t2\n", Sentences, ["a", "b"]),
        ("anchor, positive and negative\nb\n", Sentences, ["anchor, positive and negative", "b"]),
    ],
)
def test_the_first_line_of_a_text_file_decides_whether_it_is_a_table(
    tmp_path: Path, lines: str, shape: type[Corpus], texts: list[str]
) -> None:
    (tmp_path / "mine.txt").write_text(lines)
    corpus = read_corpus(tmp_path / "mine.txt")
    assert type(corpus) is shape
    assert corpus.sentences() == texts


def test_another_encoding_by_name(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_bytes("text,label\ncafé,x\nthé,y\n".encode("latin-1"))
    assert read_corpus(tmp_path / "l.csv", encoding="latin-1").sentences() == ["café", "thé"]
    # a byte order mark overrides the given encoding
    (tmp_path / "m.csv").write_bytes(b"\xef\xbb\xbf" + "text,label\né,x\nb,y\n".encode())
    assert read_corpus(tmp_path / "m.csv", encoding="latin-1").sentences() == ["é", "b"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_utf_16_by_its_byte_order_mark_or_by_its_name(encoding: str, mark: str, tmp_path: Path) -> None:
    """A byte order mark is enough. Without one the encoding must be given, and utf-16 means little-endian."""
    # characters that contain the bytes of a line feed, or follow one
    content = 'text,label\r\n"say ""hi"", now",x\r\nĊ ਊ 上 😀 \u0a00\u000b,y\r\n"ਅ\nĀ",x'
    told = encoding if encoding.endswith("e") else f"{encoding}-le"
    (tmp_path / "w.csv").write_bytes((mark + content).encode(told))
    corpus = read_corpus(tmp_path / "w.csv", **({} if mark else {"encoding": encoding}))
    assert [(row["text"], row["label"]) for row in corpus.rows()] == [
        ('say "hi", now', "x"), ("Ċ ਊ 上 😀 \u0a00\u000b", "y"), ("ਅ\nĀ", "x"),
    ]  # fmt: skip


@pytest.mark.parametrize("encoding", ["klingon", "a\0b", "hex", "cp037"])
def test_an_unusable_encoding_is_refused(encoding: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", ROWS[Labelled])
    with pytest.raises(ValueError, match="encoding"):
        read_corpus(path, encoding=encoding)


def test_repeated_rows_are_dropped_and_reported(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("text,label\na,x\nb,y\na,x\na,y\n")
    with pytest.warns(UserWarning, match="row 4 repeats row 2$"):
        corpus = read_corpus(tmp_path / "r.csv")
    assert list(zip(corpus.texts, corpus.labels, strict=True)) == [("a", "x"), ("b", "y"), ("a", "y")]
    (tmp_path / "mine.txt").write_text("a\nb\n\na\n")
    with collected() as notes:
        assert read_corpus(tmp_path / "mine.txt").sentences() == ["a", "b"]
    assert notes[0].endswith("row 4 repeats row 1")
    rows = [{"text": "a", "label": "x"}, {"label": "x", "text": "a"}, {"text": "b", "label": "y"}]
    with collected():
        assert from_rows(rows).texts == ("a", "b")  # in any order of the keys


def test_a_row_in_both_train_and_test_is_kept_once(tmp_path: Path) -> None:
    """Otherwise a model would be tested on its training rows."""
    splits, sections = ("train", "dev", "test"), [{"title": "S", "paragraphs": ["One."]}]
    articles = [{"title": t, "split": s, "sections": sections} for t, s in zip("ABA", splits, strict=True)]
    texts = [{"text": t, "label": t, "split": s} for t, s in zip("ABA", splits, strict=True)]
    for path in (write(tmp_path / "a.jsonl", articles), write(tmp_path / "t.csv", texts)):
        with collected() as notes:
            corpus = read_corpus(path)
        assert corpus.splits == ("train", "dev")
        assert "repeats row" in notes[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("text,label\na,x\nb,y\na,x\nb,x\na,z\na,w\n", ["2 texts", "'b'", "row 3", "row 5"]),
        ("group,text\n1,a\n1,b\n2,b\n", ["'b'", "row 3", "row 4"]),
        ("text_a,text_b,label\nb,a,1\na,b,0\n", ["'a' and 'b'", "1 in row 2", "0 in row 3"]),
        ("text_a,text_b,label\na,b,1\nb,a,1\na,c,0\n", []),
        ("text_a,text_b,score\na,b,2\na,b,2.5\n", ["'a' and 'b'", "2 in row 2", "2.5 in row 3"]),
    ],
)
def test_contradictory_rows_are_reported(content: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content)
    with collected() as notes:
        corpus = read_corpus(tmp_path / "t.csv")
    found = [note for note in notes if "more than one" in note]
    assert len(found) == bool(said)
    assert all(part in found[0] for part in said)
    assert not said or len(set(corpus.splits)) == 1


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("review,sentiment\na,x\nb,y\n", {"text": "a", "label": "x"}),
        ("text,topic,category\na,x,1\nb,y,2\n", {"text": "a", "label": "1", "topic": "x"}),
        ("intent,text\nx,a\ny,b\n", {"text": "a", "label": "x"}),
        ("text_1,text_2,label\na,b,1\nc,d,0\n", {"text_a": "a", "text_b": "b", "label": 1}),
        ("sentence_1,sentence_2,similarity\na,b,0.5\nc,d,4\n", {"text_a": "a", "text_b": "b", "score": 0.5}),
        ("text1,text2,label,similarity\na,b,1,0.5\nc,d,0,4\n", {"text_a": "a", "text_b": "b", "label": 1}),
        ("anchor,positive,negative,similarity\na,b,c,1\n", {"anchor": "a", "positive": "b", "similarity": "1"}),
    ],
)
def test_common_names_of_columns(content: str, expected: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(content)
    assert next(read_corpus(tmp_path / "mine.csv").rows()).items() >= expected.items()


def test_a_column_that_the_user_names_is_not_renamed_again(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("topic,kind\na,x\nb,y\n")
    corpus = read_corpus(tmp_path / "mine.csv", columns={"text": "topic"})
    assert isinstance(corpus, Sentences)
    assert corpus.texts == ("a", "b")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("stars,body\n5,very good\n1,not good at all\n", ["'stars', 'body'", "--columns text=body,label=stars"]),
        ("id,one,two,dup\n1,a b,c d,0\n2,e f,g h,1\n", ["--columns text_a=one,text_b=two,label=dup"]),
        ("question1,question2,dup\na,b,0\n", ["question1 and question2", "--columns label=dup"]),
        ("body,my stars\nvery good,5\n", ["--columns 'text=body,label=my stars'"]),
        ('body,"stars, 1=bad"\nvery good,5\n', ["--columns text=body in"]),
    ],
)
def test_unknown_columns_are_named_with_an_option_to_map_them(content: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(content)
    with pytest.raises(ValueError, match="mine.csv") as caught:
        read_corpus(tmp_path / "mine.csv")
    assert [part for part in said if part not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("question1,question2,is_duplicate\na,b,1\nc, ,0\nd,e,\nf,,0\n", ["rows 3 and 5: q", "row 4: is_dup"]),
        ("question1,question2,is_duplicate\na,,\n", ["question2", "is_duplicate"]),
        ("question1,question2,is_duplicate\na,b,2\n", ["row 2: is_duplicate is '2'"]),
        ("sentence_1,sentence_2,similarity\na,b,x\n", ["row 2: similarity is 'x'"]),
        ("text,category\n" + "a,\n" * 5, ["rows 2, 3, 4 and 2 more: category "]),
        ("query,positive\n,a\nb,c\n", ["row 2: query "]),
    ],
)
def test_empty_and_invalid_cells_are_named_as_in_the_file(content: str, said: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(content)
    with pytest.raises(ValueError, match="mine.csv") as caught:
        read_corpus(tmp_path / "mine.csv")
    assert [part for part in said if part not in str(caught.value)] == []


BAD: dict[str, tuple[bytes, str]] = {
    "encoding.csv": ("text,label\nfine,x\ncafé,y\n".encode("latin-1"), "line 3: byte 0xe9"),
    "utf16.csv": ("text,label\na,x\n".encode("utf-16-le"), "row 1 .*NUL"),
    "half16.csv": ("\ufefftext,label\na,x\n\U0001f600,y\n".encode("utf-16-le")[:-7], "line 3: byte 0x3d"),
    "blank.txt": (b"\xef\xbb\xbf\n \n\n", "no rows"),
    "long.txt": (b"a\n" + b"b" * 1_000_001, "line 2 has 1,000,001"),
    "nul.txt": (b"a\nb\0c\n", "row 2: text"),
    "zip.txt": (b"PK\x03\x04abc", "zip"),
    "tabs.txt": (b"a\tb\nc\td\n", "row 1: .*'a', 'b'"),
    "pairs.csv": (b"text_a,text_b\na,x\n", "column 'label'"),
    "nan.csv": (b"text_a,text_b,score\na,b,1\nc,d,NaN\n", "row 3: score is 'NaN'"),
    "comma.csv": (b'text_a,text_b,score\na,b,"3,5"\n', "row 2: score is '3,5'"),
    "one.csv": (b"text,label\na,x\nb,x\n", "rows 2 to 3: every label is 'x'"),
    "ones.csv": (b"text_a,text_b,label\na,b,1\nc,d,1\n", "rows 2 to 3: every label is 1"),
    "none.csv": (b"text,label\n", "no rows"),
    "nothing.csv": (b"", "empty"),
    "ragged.csv": (b"text,label\na,x\nb,y,z\n", "row 3: 3 cells"),
    "ends.csv": (b"text,label\r\na,x\r\nb,y\rc,z\n", "row 3 .*line ending"),
    "sheet.xlsx": (b"PK\x03\x04", "CSV"),
    "quote.csv": (b'text,label\na,x\n"b,y\nc,z\n', "row 3: .*quote"),
    "twice.csv": (b"text,Text ,label\na,b,x\n", "row 1: column 'text'"),
    "split.csv": (b"text,label,split\na,x,tset\n", "row 2: split is 'tset'"),
    "packed.csv": (gzip.compress(b"text,label\n"), "gzip"),
    "plain.csv.gz": (b"text,label\na,x\n", "gzip"),
    "cut.csv.gz": (gzip.compress(b"text,label\n" + os.urandom(400).hex().encode())[:-99], "cut.csv.gz"),
    "wrong.docx": (b"", "wrong.docx"),
    "bad.parquet": (b"PAR1 nonsense", "Parquet"),
    "json.jsonl": (b'{"text": "a", "label": "x"}\n{"text": \n', "row 2: .*JSON"),
    "deep.jsonl": (b'{"text": "a", "label": "x"}\n' + b"[" * 9999 + b"]" * 9999 + b"\n", "row 2: .*JSON"),
    "list.jsonl": (b'["a"]\n', "row 1: list"),
    "keys.jsonl": (b'{"text": "a", "label": "x"}\n{"text": "a"}\n', "row 2: column 'label'"),
    "number.jsonl": (b'{"text": 3, "label": "x"}\n', "row 1: text is 3"),
    "half.jsonl": (b'{"text": "a\\ud800", "label": "x"}\n', "row 1: text"),
    "sections.jsonl": (b'{"title": "a", "sections": [1]}\n', "row 1: sections"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_its_name_and_row(tmp_path: Path, name: str) -> None:
    data, words = BAD[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=words) as caught:
        read_corpus(tmp_path / name)
    assert name in str(caught.value)


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    for name in ("folder.csv", "no.csv"):
        with pytest.raises(ValueError, match=name):
            read_corpus(tmp_path / name)


def test_a_bomb_is_refused_by_its_unpacked_size(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    part = gzip.compress((b"a" * 1000 + b",x\n") * 500)
    path.write_bytes(gzip.compress(b"text,label\n") + 40 * part)  # 20 MB in less than 50 kB
    assert path.stat().st_size < 50_000
    seen: list[int] = []
    with pytest.raises(ValueError, match=r"bomb.csv.gz"):
        seen.extend(number for number, _ in read_rows(path, limit=10 * 2**20))
    assert 1000 * len(seen) < 11 * 2**20


def test_the_limit_is_in_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "big.csv", [{"text": f"text {i}", "label": str(i)} for i in range(200)])
    with pytest.raises(ValueError, match=r"1 kB"):
        read_corpus(path, limit=1024)
    same = [{"text": "a sentence that packs very well, again and again", "label": str(i % 2)} for i in range(5_000)]
    parquet = tmp_path / "big.parquet"
    pd.DataFrame(same).to_parquet(parquet, compression="zstd", use_dictionary=True)
    assert parquet.stat().st_size < 20_000
    with pytest.raises(ValueError, match=r"big\.parquet"):
        read_corpus(parquet, limit=20_000)
    pd.DataFrame(same).astype("category").to_parquet(parquet)  # each text once, and a number per row
    with pytest.raises(ValueError, match=r"big\.parquet"):
        read_corpus(parquet, limit=100_000)


def test_a_large_file_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("w") as file:
        file.write("text,label\n")
        file.writelines(f"{'word ' * 1000}{i},{i % 2}\n" for i in range(2_000))  # 10 MB
    tracemalloc.start()
    count = sum(1 for _ in read_rows(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 2_000
    assert peak < 2**20


# --- writing ---------------------------------------------------------------------------------------------------------


WRITTEN = [{"text": 'a "b", c\nd', "label": "x", "split": "train"}, {"text": "茶", "label": "y", "split": "test"}]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl"])
def test_round_trip_and_same_bytes(tmp_path: Path, ending: str) -> None:
    one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    assert write_rows(iter(WRITTEN), one) == write_rows(WRITTEN, two) == 2
    assert list(read_corpus(one).rows()) == WRITTEN
    assert one.read_bytes() == two.read_bytes()


def test_a_tsv_has_no_quotes_and_refuses_tabs(tmp_path: Path) -> None:
    rows = [{"text": 'a "b" \\ c', "label": "x", "split": "train"}, {"text": "茶", "label": "y", "split": "test"}]
    path = tmp_path / "t.tsv"
    assert write_rows(rows, path) == 2
    assert list(read_corpus(path).rows()) == rows
    for sign in "\t\r\n":
        with pytest.raises(ValueError, match="row 2"):
            write_rows([rows[0], rows[1] | {"text": f"a{sign}b"}], tmp_path / "no.tsv")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_partial_files_are_removed_and_other_formats_refused(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    write_rows(WRITTEN, path)
    before = path.read_bytes()

    def breaks() -> Iterator[dict[str, Any]]:
        yield WRITTEN[0]
        raise KeyboardInterrupt

    for name in ("kept.csv", "new.jsonl.gz"):
        with pytest.raises(KeyboardInterrupt):
            write_rows(breaks(), tmp_path / name)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["kept.csv"]
    with pytest.raises(ValueError, match="a.parquet"):
        write_rows(WRITTEN, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="no"):
        write_rows(WRITTEN, tmp_path / "no" / "a.csv")
