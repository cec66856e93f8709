"""Files of every kind to corpora and back: what is read, what is refused and how, what is written."""

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

from labkit.corpora import Articles, Corpus, Groups, Labelled, Pairs, Sentences, Triplets, read_corpus
from labkit.corpora import files as tables_module
from labkit.corpora.files import write_rows
from labkit.progress import collected

ROWS: dict[type[Corpus], list[dict[str, Any]]] = {
    Labelled: [{"text": t, "label": k} for t, k in (('say "hi", now', "x"), ("two\nlines", "y"), ("é 茶", "x"))],
    Pairs: [{"text_a": "a", "text_b": "b", "label": 1}, {"text_a": "c", "text_b": "d", "label": 0}],
    Triplets: [{"anchor": "a", "positive": "b", "negative": "c"}, {"anchor": "d", "positive": "e", "negative": "f"}],
    Groups: [{"group": "1", "text": "a"}, {"group": "1", "text": "b"}, {"group": "2", "text": "c"}],
    Sentences: [{"text": t, "town": "x"} for t in ('say "hi", now', "=1+1", "é 茶")],
}  # fmt: skip


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    opener: Any = gzip.open if path.suffix == ".gz" else open
    if ".parquet" in path.suffixes:
        pd.DataFrame(rows).to_parquet(path)
        return path
    with opener(path, "wt", encoding="utf-8", newline="") as file:
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


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".parquet"])
@pytest.mark.parametrize("shape", ROWS)
def test_every_shape_from_every_format(tmp_path: Path, shape: type[Corpus], ending: str) -> None:
    rows = ROWS[shape]
    corpus = read_corpus(write(tmp_path / f"mine{ending}", rows))
    assert type(corpus) is shape
    assert corpus.name == "mine"
    expected = rows
    if ".tsv" in ending and shape is Labelled:  # TSV has no room for a line break in a cell
        expected = [{key: value.replace("\n", " ") for key, value in row.items()} for row in rows]
    assert [{key: value for key, value in row.items() if key != "split"} for row in corpus.rows()] == expected


def test_scores_make_pairs_graded(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path / "s.csv", [{"text_a": "a", "text_b": "b", "score": 2.5}] * 1))
    assert isinstance(corpus, Pairs)
    assert corpus.graded
    assert corpus.scores.tolist() == [2.5]


def test_articles_from_jsonl(tmp_path: Path) -> None:
    row = {"title": "T", "sections": [{"title": "S", "paragraphs": ["One.", "Two."]}]}
    corpus = read_corpus(write(tmp_path / "a.jsonl", [row]))
    assert isinstance(corpus, Articles)
    assert corpus.articles[0].sections[0].paragraphs == ("One.", "Two.")
    assert (corpus.articles[0].sections[0].level, corpus.articles[0].sections[0].top) == (
        2,
        "",
    )  # a section, none below


def test_split_and_further_columns_are_kept(tmp_path: Path) -> None:
    rows = [
        {"text": t, "label": t, "split": s, "town": "x"} for t, s in zip("abc", ("Train", "val", "test"), strict=True)
    ]
    corpus = read_corpus(write(tmp_path / "m.csv", rows))
    assert corpus.splits == ("train", "dev", "test")
    assert corpus.extra == {"town": ("x", "x", "x")}


def test_semicolons_bom_crlf_blank_lines_and_capital_headers(tmp_path: Path) -> None:
    path = tmp_path / "sheet.csv"
    path.write_bytes(b"\xef\xbb\xbfText; Label\r\nhello, you;x\r\n\r\nbye;y\r\n")
    corpus = read_corpus(path)
    assert isinstance(corpus, Labelled)
    assert (corpus.texts, corpus.labels) == (("hello, you", "bye"), ("x", "y"))


def test_numbers_are_good_labels(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path / "n.parquet", [{"text": "a", "label": 3}, {"text": "b", "label": 4}]))
    assert isinstance(corpus, Labelled)
    assert corpus.labels == ("3", "4")


@pytest.mark.parametrize("values", [[0.5, 1.5, 0.5], [0.5, 2.0, 1e300], [1.0, 2.0, 3.0], [True, False, True]])
@pytest.mark.parametrize("shape", [Labelled, Groups])
def test_numbers_are_the_same_labels_in_every_format(shape: type[Corpus], values: list[Any], tmp_path: Path) -> None:
    column = "label" if shape is Labelled else "group"
    frame = pd.DataFrame({"text": ["a", "b", "c"], column: values})
    frame.to_csv(tmp_path / "n.csv", index=False)
    frame.to_parquet(tmp_path / "n.parquet")
    (tmp_path / "n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict("records")))
    csv_read, *others = (read_corpus(tmp_path / f"n.{ending}") for ending in ("csv", "parquet", "jsonl"))
    assert [other.fingerprint for other in others] == [csv_read.fingerprint] * 2


def test_a_label_that_is_not_there_is_none_in_every_format(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a", "b", "c"], "label": [0.5, 1.5, float("nan")]})
    frame.to_csv(tmp_path / "n.csv", index=False)
    frame.to_parquet(tmp_path / "n.parquet")
    for name, number in (("n.csv", 4), ("n.parquet", 3)):
        with pytest.raises(ValueError, match=f"{name} row {number}: label is .*, expected a text"):
            read_corpus(tmp_path / name)


def test_a_column_that_stands_twice_in_a_parquet_file(tmp_path: Path) -> None:
    pd.DataFrame([["a", "b", "x"]], columns=["text", "Text ", "label"]).to_parquet(tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t.parquet: column 'text' stands twice; give each its own name"):
        read_corpus(tmp_path / "t.parquet")


PLAIN = "one, two; three\n\n  four\tfive \r\n<b>=1+1</b>\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_text_file_has_a_sentence_a_line(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "mine.txt").write_bytes(PLAIN.encode(encoding))
    corpus = read_corpus(tmp_path / "mine.txt")
    assert isinstance(corpus, Sentences)
    assert corpus.texts == ("one, two; three", "four\tfive", "<b>=1+1</b>")  # a blank line is none
    assert corpus.sizes == {"train": 3}
    assert corpus.classified() == corpus.same() == ([], [])
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in corpus.texts))
    assert read_corpus(tmp_path / "mine.jsonl").fingerprint == corpus.fingerprint


def test_a_line_that_is_there_already_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("a\nb\n\na\n")
    with collected() as notes:
        assert read_corpus(tmp_path / "mine.txt").sentences() == ["a", "b"]
    assert notes == ["mine.txt: repeated rows were left out: row 4 repeats row 1"]


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
def test_the_first_line_of_a_text_file_says_whether_it_is_a_table(
    tmp_path: Path, lines: str, shape: type[Corpus], texts: list[str]
) -> None:
    (tmp_path / "mine.txt").write_text(lines)
    corpus = read_corpus(tmp_path / "mine.txt")
    assert type(corpus) is shape
    assert corpus.sentences() == texts


def test_many_lines_and_long_ones(tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("".join(f"sentence {number}\n" for number in range(200_000)))
    assert len(read_corpus(tmp_path / "many.txt")) == 200_000
    (tmp_path / "one.txt").write_text("a" * 1_000_000)
    assert len(read_corpus(tmp_path / "one.txt").sentences()[0]) == 1_000_000


def test_another_encoding_by_name(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_bytes("text,label\ncafé,x\nthé,y\n".encode("latin-1"))
    assert read_corpus(tmp_path / "l.csv", encoding="latin-1").sentences() == ["café", "thé"]


WIDE = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")
SIGNS = [  # with the bytes of a line feed inside, and behind one
    {"text": 'say "hi", now', "label": "x"},
    {"text": "Ċ ਊ 上 😀 \u0a00\u000b", "label": "y"},
    {"text": "ਅ\nĀ", "label": "x"},
]


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_utf_16_by_its_mark_or_by_its_name(encoding: str, mark: str, end: str, tmp_path: Path) -> None:
    """A mark is enough; without one the name is asked for, and without an order in it, it is that of Windows."""
    content = f'text,label{end}"say ""hi"", now",x{end}Ċ ਊ 上 😀 \u0a00\u000b,y{end}"ਅ\nĀ",x'
    told = encoding if encoding.endswith("e") else f"{encoding}-le"
    (tmp_path / "w.csv").write_bytes((mark + content).encode(told))
    corpus = read_corpus(tmp_path / "w.csv", **({} if mark else {"encoding": encoding}))
    assert [{"text": row["text"], "label": row["label"]} for row in corpus.rows()] == SIGNS
    assert corpus.splits == read_corpus(write(tmp_path / "w2.csv", SIGNS)).splits


@pytest.mark.parametrize("ending", [".txt", ".tsv", ".csv"])
def test_what_excel_calls_unicode_text(ending: str, tmp_path: Path) -> None:
    """Parted by tabs, a cell with a comma in quotes; whoever needs another ending has only renamed it."""
    content = '\ufefftext\tlabel\r\n"say ""hi"", now"\tx\r\n你好\ty\r\n'
    (tmp_path / f"e{ending}").write_bytes(content.encode("utf-16-le"))
    assert read_corpus(tmp_path / f"e{ending}").sentences() == ['say "hi", now', "你好"]


def test_a_mark_goes_before_the_name_of_an_encoding(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_bytes(
        b"\xef\xbb\xbf" + '{"text": "é", "label": "x"}\n{"text": "b", "label": "y"}'.encode()
    )
    assert read_corpus(tmp_path / "m.jsonl", encoding="latin-1").sentences() == ["é", "b"]


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("klingon", "encoding is 'klingon', expected one that Python knows, such as utf-8"),
        ("lattin1", "did you mean 'latin1'"),
        ("", "encoding is '', expected one"),
        ("a\0b", "expected one that Python knows"),
        ("hex", "encoding is 'hex', expected one that Python knows"),
        ("undefined", "encoding is 'undefined', expected"),
        ("cp037", "encoding is 'cp037', whose lines do not end"),
        ("punycode", "encoding is 'punycode', whose lines do not end"),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_an_encoding_that_is_none(encoding: str, said: str, ending: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"x{ending}", ROWS[Labelled])
    with pytest.raises(ValueError, match=said):
        read_corpus(path, encoding=encoding)


def test_repeated_rows_are_left_out_and_named(tmp_path: Path) -> None:
    rows = [
        {"text": "a", "label": "x"},
        {"text": "b", "label": "y"},
        {"text": "a", "label": "x"},
        {"text": "a", "label": "y"},
    ]
    with pytest.warns(UserWarning, match=r"r.csv: repeated rows were left out: row 4 repeats row 2$"):
        corpus = read_corpus(write(tmp_path / "r.csv", rows))
    assert len(corpus) == 3


TWICE: dict[str, tuple[str, str, str]] = {
    "labels": (
        "text,label\na,x\nb,y\na,x\nb,x\na,z\na,w\n",
        "2 texts have more than one label",
        "'b': 'y' in row 3, 'x' in row 5",
    ),
    "one": ("text,label\na,x\na,y\n", "a text has more than one label", "'a': 'x' in row 2, 'y' in row 3"),
    "groups": ("group,text\n1,a\n1,b\n2,b\n", "a text has more than one group", "'b': '1' in row 3, '2' in row 4"),
    "pairs": (
        "text_a,text_b,label\nb,a,1\na,b,0\n",
        "a pair has more than one label",
        "'a' and 'b': 1 in row 2, 0 in row 3",
    ),
    "scores": (
        "text_a,text_b,score\na,b,2\na,b,2.5\n",
        "a pair has more than one score",
        "'a' and 'b': 2 in row 2, 2.5 in row 3",
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_a_text_that_is_two_things_is_told_with_its_rows(name: str, tmp_path: Path) -> None:
    content, count, first = TWICE[name]
    (tmp_path / "t.csv").write_text(content)
    with collected() as notes:
        corpus = read_corpus(tmp_path / "t.csv")
    said = (
        f"t.csv: {count} (the first is {first}); no method can tell which is meant: keep one of them, or drop the rows"
    )
    assert said in notes
    assert len(set(corpus.splits)) == 1  # small as it is; never does it lie in two splits
    with pytest.warns(UserWarning, match="more than one"):
        read_corpus(tmp_path / "t.csv")


@pytest.mark.parametrize(
    "content",
    [
        "text,label\na,x\nb,y\na,x\n",
        "text_a,text_b,label\na,b,1\nb,a,1\na,c,0\n",
        "anchor,positive,negative\na,b,c\na,c,b\n",
        "group,text\n1,a\n1,b\n2,c\n",
    ],
)
def test_what_is_one_thing_is_not(content: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content)
    with collected() as notes:
        read_corpus(tmp_path / "t.csv")
    assert not any("more than one" in note for note in notes)


BAD: dict[str, tuple[bytes, str]] = {
    "encoding.csv": ("text,label\nfine,x\ncafé,y\n".encode("latin-1"), "line 3: byte 0xe9 at place 4 is not UTF-8"),
    "utf16.csv": ("text,label\na,x\n".encode("utf-16-le"), "row 1 holds a NUL.* UTF-16 without a mark"),
    "half16.csv": ("\ufefftext,label\na,x\n\U0001f600,y\n".encode("utf-16-le")[:-7], "line 3: byte 0x3d at place 1"),
    "empty.txt": (b"", "empty.txt has no rows; give it at least one"),
    "blank.txt": (b"\xef\xbb\xbf\n \n\n", "blank.txt has no rows"),
    "long.txt": (b"a\n" + b"b" * 1_000_001, "line 2 has 1,000,001 letters, expected one sentence a line"),
    "nul.txt": (b"a\nb\0c\n", "row 2: text holds a sign that is no text"),
    "nul1.txt": ("a b\n".encode("utf-16-le"), "row 1 holds a NUL, .* UTF-16 without a mark"),
    "latin.txt": ("a\nü\n".encode("latin-1"), "line 2: byte 0xfc at place 1 is not UTF-8"),
    "zip.txt": (b"PK\x03\x04abc", "is a zip archive by its first bytes"),
    "tabs.txt": (b"a\tb\nc\td\n", "row 1: columns 'a', 'b' are not those of a corpus"),
    "odd16.txt": ("\ufefftext\tlabel\na\tx\n".encode("utf-16-be")[:-1], "line 2: byte 0x00 at place 7"),
    "column.csv": (b"texts,klass\na,x\n", "columns 'texts', 'klass' are not those of a corpus, expected one"),
    "pairs.csv": (b"text_a,text_b\na,x\n", "column 'label' .* is missing beside text_a"),
    "empty.csv": (b"text,label\na,x\n  ,y\n", "row 3: text is '  ', expected a text that is not empty"),
    "label.csv": (b"text,label\na,x\nb,\n", "row 3: label is '', expected a text"),
    "nan.csv": (b"text_a,text_b,score\na,b,1\nc,d,NaN\n", "row 3: score is 'NaN', expected a finite number"),
    "comma.csv": (b'text_a,text_b,score\na,b,"3,5"\n', "row 2: score is '3,5', .* decimal point"),
    "binary.csv": (b"text_a,text_b,label\na,b,2\n", "row 2: label is '2', expected 0 or 1"),
    "one.csv": (b"text,label\na,x\nb,x\n", "rows 2 to 3: every label is 'x', expected at least two"),
    "ones.csv": (b"text_a,text_b,label\na,b,1\nc,d,1\n", "rows 2 to 3: every label is 1"),
    "none.csv": (b"text,label\n", "none.csv has no rows; give it at least one"),
    "nothing.csv": (b"", "is empty, expected a header"),
    "ragged.csv": (b"text,label\na,x\nb,y,z\n", "row 3: 3 cells where the header has 2"),
    "quote.csv": (b'text,label\na,x\n"b,y\nc,z\n', "row 3: .*look for a quote that is not closed"),
    "twice.csv": (b"text,text,label\na,b,x\n", "row 1: column 'text' stands twice"),
    "split.csv": (b"text,label,split\na,x,tset\n", "row 2: split is 'tset', expected one of train, dev, test"),
    "nul.csv": (b"text,label\na\0b,x\n", "NUL"),
    "archive.csv": (b"PK\x03\x04 and so on", "is a zip archive by its first bytes"),
    "table.csv": (b"PAR1 and so on", "is a Parquet file by its first bytes"),
    "packed.csv": (gzip.compress(b"text,label\n"), "is a gzip file by its first bytes"),
    "plain.csv.gz": (b"text,label\na,x\n", "is not a gzip file"),
    "cut.csv.gz": (gzip.compress(b"text,label\n" + os.urandom(400).hex().encode())[:-99], "could not be read to its"),
    "wrong.docx": (b"", "expected a file named .csv, .tsv, .jsonl"),
    "bad.parquet": (b"PAR1 nonsense", "not a readable Parquet file"),
    "json.jsonl": (b'{"text": "a", "label": "x"}\n{"text": \n', "row 2: not JSON"),
    "deep.jsonl": (b"[" * 100_000 + b"\n", "row 1: not JSON"),
    "list.jsonl": (b'["a"]\n', "row 1: list, expected a JSON object"),
    "keys.jsonl": (b'{"text": "a", "label": "x"}\n{"text": "a"}\n', "row 2: column 'label' is not in every row"),
    "number.jsonl": (b'{"text": 3, "label": "x"}\n', "row 1: text is 3, expected a text"),
    "half.jsonl": (b'{"text": "a\\ud800", "label": "x"}\n', "half a surrogate pair"),
    "null.jsonl": (b'{"text": "a", "label": null}\n', "row 1: label is None"),
    "inf.jsonl": (b'{"text_a": "a", "text_b": "b", "score": 1e999}\n', "row 1: score is inf"),
    "sections.jsonl": (b'{"title": "a", "sections": [1]}\n', "row 1: sections is .* expected a list of"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_sentence_with_its_row(tmp_path: Path, name: str) -> None:
    data, words = BAD[name]
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=words) as caught:
        read_corpus(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(ValueError, match="folder.csv is a folder, expected a file"):
        read_corpus(tmp_path / "folder.csv")
    with pytest.raises(ValueError, match="does not exist; check the name"):
        read_corpus(tmp_path / "no.csv")


def test_a_file_that_vanishes_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "gone.csv", ROWS[Labelled])

    def gone(stream: Any, size: int) -> bytes:
        raise OSError(5, "Input/output error")

    class Vanishing:
        def __init__(self, file: Any) -> None:
            self.file, self.lines = file, 0

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def __enter__(self) -> Vanishing:
            return self

        def __exit__(self, *_: object) -> None:
            self.file.close()

        def readline(self, size: int) -> bytes:
            self.lines += 1
            return self.file.readline(size) if self.lines < 3 else gone(self.file, size)

    opened = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: Vanishing(opened(self, *a, **k)))
    with pytest.raises(ValueError, match=r"gone.csv could not be read to its end \(Input/output error\)"):
        read_corpus(path)


@pytest.mark.whole
def test_a_bomb_is_refused_by_its_unpacked_size(tmp_path: Path) -> None:
    path = tmp_path / "bomb.csv.gz"
    part = gzip.compress((b"a" * 1000 + b",x\n") * 500)
    path.write_bytes(gzip.compress(b"text,label\n") + 400 * part)  # 200 MB of nothing in 440 kB
    assert path.stat().st_size < 2**20
    seen: list[int] = []
    with pytest.raises(ValueError, match=r"bomb.csv.gz unpacks from .* kB to more than .* MB, more than text would"):
        seen.extend(number for number, _ in tables_module.read_rows(path))
    assert 1000 * len(seen) < 100 * 2**20  # refused well before its 200 MB were unpacked


def test_limit_is_on_bytes(tmp_path: Path) -> None:
    path = write(tmp_path / "big.csv", [{"text": f"text {i}", "label": str(i)} for i in range(2000)])
    with pytest.raises(ValueError, match=r"big.csv has .* kB, the limit is 1 kB"):
        read_corpus(path, limit=1024)
    same = [{"text": "a sentence that packs very well, again and again", "label": str(i % 2)} for i in range(50_000)]
    parquet = tmp_path / "big.parquet"
    pd.DataFrame(same).to_parquet(parquet, compression="zstd", use_dictionary=True)
    assert parquet.stat().st_size < 100_000
    with pytest.raises(ValueError, match="big.parquet unpacks to more than 97"):
        read_corpus(parquet, limit=100_000)


def test_progress_counts_the_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", [{"text": f"text {i}", "label": str(i % 2)} for i in range(2500)])
    seen: list[tuple[int, int | None, str]] = []
    read_corpus(path, progress=lambda *step: seen.append(step))
    assert seen == [(1000, None, "p.csv"), (2000, None, "p.csv")]


def test_a_large_file_is_streamed(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("w") as file:
        file.write("text,label\n")
        file.writelines(f"{'word ' * 200}{i},{i % 2}\n" for i in range(20_000))  # 20 MB
    tracemalloc.start()
    count = sum(1 for _ in tables_module.read_rows(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 20_000
    assert peak < 2**20


# --- writing ---------------------------------------------------------------------------------------------------------


WRITTEN = [{"text": 'a "b", c\nd', "label": "x", "split": "train"}, {"text": "茶", "label": "y", "split": "test"}]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".jsonl", ".jsonl.gz"])
def test_round_trip_and_same_bytes(tmp_path: Path, ending: str) -> None:
    one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    assert write_rows(iter(WRITTEN), one) == write_rows(WRITTEN, two) == 2
    assert list(read_corpus(one).rows()) == WRITTEN
    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz"])
def test_a_tsv_has_no_quotes_and_no_room_for_tabs(tmp_path: Path, ending: str) -> None:
    rows = [{"text": 'a "b" \\ c', "label": "x", "split": "train"}, {"text": "茶", "label": "y", "split": "test"}]
    path = tmp_path / f"t{ending}"
    assert write_rows(rows, path) == 2
    assert list(read_corpus(path).rows()) == rows
    for sign in "\t\r\n":
        with pytest.raises(ValueError, match="row 2 holds a tab or a line break, for which a .tsv has no room"):
            write_rows([rows[0], rows[1] | {"text": f"a{sign}b"}], tmp_path / f"no{ending}")
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_nothing_half_written(tmp_path: Path) -> None:
    path = tmp_path / "kept.csv"
    write_rows(WRITTEN, path)
    before = path.read_bytes()

    def breaks() -> Iterator[dict[str, Any]]:
        yield WRITTEN[0]
        raise KeyboardInterrupt

    for name in ("kept.csv", "new.csv", "new.jsonl.gz"):
        with pytest.raises(KeyboardInterrupt):
            write_rows(breaks(), tmp_path / name)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["kept.csv"]


def test_progress_ends_at_the_count(tmp_path: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    rows = ({"text": str(i), "label": "x"} for i in range(2500))
    write_rows(rows, tmp_path / "p.csv", total=2500, progress=lambda *step: seen.append(step))
    assert [step[0] for step in seen] == [1000, 2000, 2500]
    assert seen[-1] == (2500, 2500, "p.csv")


def test_refused_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="written as .csv, .tsv or .jsonl"):
        write_rows(WRITTEN, tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="does not exist; make it first"):
        write_rows(WRITTEN, tmp_path / "no" / "a.csv")
