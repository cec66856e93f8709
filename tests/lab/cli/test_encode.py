"""`labkit encode`: lines of any origin in, files of vectors out."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import labkit.text
from labkit.corpora import load as load_corpus
from labkit.methods import load

from .conftest import Labkit

LINES = ["the cat sleeps on sofa", "", "=1+1", "a dog runs", "  the   lake ", "日本 été", "the cat sleeps on sofa"]


@pytest.fixture
def dense(labkit: Labkit) -> str:
    words = ("--set", "dimension=8", "--out", "dense")
    assert labkit("train", "mean-vectors", "--corpus", "mine.csv", *words).status == 0
    Path("in.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return "dense"


@pytest.fixture
def counted(labkit: Labkit) -> str:
    assert labkit("train", "tfidf", "--corpus", "mine.csv", "--out", "counted").status == 0
    Path("in.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return "counted"


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch):
    def type_(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return type_


def npz(path: str) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as found:
        return dict(found)


class TestTheVectors:
    def test_npz(self, labkit: Labkit, dense: str) -> None:
        done = labkit("encode", dense, "--input", "in.txt", "--output", "out.npz")
        assert (done.status, done.err, done.out) == (0, "", "out.npz: 7 sentences, 8 columns\n")
        found = npz("out.npz")
        assert found["sentences"].tolist() == LINES
        assert found["vectors"].dtype == np.float32
        np.testing.assert_allclose(found["vectors"], load(dense).encode(LINES), atol=1e-6)

    def test_parquet_and_tsv(self, labkit: Labkit, dense: str) -> None:
        wanted = load(dense).encode(LINES)
        for name in ("out.parquet", "out.tsv"):
            assert labkit("encode", dense, "--input", "in.txt", "--output", name).status == 0
        found = pd.read_parquet("out.parquet")
        assert found["sentence"].tolist() == LINES
        np.testing.assert_allclose(np.stack(found["vector"]), wanted, atol=1e-6)
        table = pd.read_csv("out.tsv", sep="\t", keep_default_na=False)
        assert table["sentence"].tolist() == ["'=1+1" if text == "=1+1" else text for text in LINES]
        np.testing.assert_allclose(table.iloc[:, 1:].to_numpy(np.float32), wanted, atol=1e-6)

    def test_sparse(self, labkit: Labkit, counted: str) -> None:
        wanted = load(counted).encode(LINES)
        for name in ("out.npz", "out.parquet", "out.tsv"):
            assert labkit("encode", counted, "--input", "in.txt", "--output", name).status == 0
        found = npz("out.npz")
        assert {"data", "indices", "indptr", "shape", "sentences"} <= found.keys()
        assert found["sentences"].tolist() == LINES
        matrix = sparse.load_npz("out.npz")
        assert (matrix.dtype, matrix.shape) == (np.float32, wanted.shape)
        np.testing.assert_array_equal(matrix.toarray(), wanted.toarray())
        table = pd.read_parquet("out.parquet")
        line = pd.read_csv("out.tsv", sep="\t", keep_default_na=False)
        for row, dense in enumerate(wanted.toarray()):
            assert dense[table["indices"][row]].tolist() == table["values"][row].tolist()
            told = dict(part.split(":") for part in line["vector"][row].split())
            assert {int(column): np.float32(value) for column, value in told.items()} == {
                int(column): dense[column] for column in np.flatnonzero(dense)
            }
            assert len(table["indices"][row]) == np.count_nonzero(dense)

    @pytest.mark.parametrize("ending", ["npz", "parquet", "tsv"])
    @pytest.mark.parametrize("method", ["dense", "counted"])
    def test_blocks_make_no_difference(
        self, labkit: Labkit, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, ending: str, method: str
    ) -> None:
        run = request.getfixturevalue(method)
        labkit("encode", run, "--input", "in.txt", "--output", f"whole.{ending}")
        monkeypatch.setattr(labkit_lines, "LINES", 2)
        labkit("encode", run, "--input", "in.txt", "--output", f"parts.{ending}")
        whole, parts = Path(f"whole.{ending}").read_bytes(), Path(f"parts.{ending}").read_bytes()
        if ending == "parquet":  # it has a group of rows for each block
            pd.testing.assert_frame_equal(pd.read_parquet("whole.parquet"), pd.read_parquet("parts.parquet"))
        else:
            assert whole == parts

    def test_the_same_twice(self, labkit: Labkit, dense: str) -> None:
        for name in ("one.npz", "two.npz"):
            labkit("encode", dense, "--input", "in.txt", "--output", name)
        assert Path("one.npz").read_bytes() == Path("two.npz").read_bytes()

    def test_nothing_is_written_over_unasked(self, labkit: Labkit, dense: str) -> None:
        Path("out.npz").write_text("mine")
        Path("link.npz").symlink_to("nowhere.npz")
        for name in ("out.npz", "link.npz"):
            said = labkit("encode", dense, "--input", "in.txt", "--output", name).mistake()
            assert said == (
                f"--output is {name!r}, which is there already; add --force to write over it, or choose another name"
            )
        assert Path("out.npz").read_text() == "mine"
        assert labkit("encode", dense, "--input", "in.txt", "--output", "out.npz", "-f").status == 0
        assert npz("out.npz")["sentences"].tolist() == LINES


labkit_lines = labkit.text


class TestStandardOutput:
    def test_json_lines(self, labkit: Labkit, dense: str) -> None:
        done = labkit("encode", dense, "--input", "in.txt", "--output", "-")
        assert (done.status, done.err) == (0, "7 sentences, 8 columns\n")
        found = [json.loads(line) for line in done.out.splitlines()]
        assert [each["sentence"] for each in found] == LINES
        labkit("encode", dense, "--input", "in.txt", "--output", "out.npz")
        np.testing.assert_array_equal(
            np.array([each["vector"] for each in found], np.float32), npz("out.npz")["vectors"]
        )

    def test_sparse(self, labkit: Labkit, counted: str) -> None:
        found = [
            json.loads(line)
            for line in labkit("encode", counted, "--input", "in.txt", "--output", "-").out.splitlines()
        ]
        wanted = load(counted).encode(LINES).toarray()
        for line, row in zip(found, wanted, strict=True):
            assert row[line["indices"]].tolist() == [np.float32(value) for value in line["values"]]
            assert len(line["indices"]) == np.count_nonzero(row)

    def test_what_it_excludes(self, labkit: Labkit, dense: str) -> None:
        assert "both want standard output" in labkit("encode", dense, "--output", "-", "--json").mistake()
        assert "nothing to write over" in labkit("encode", dense, "--output", "-", "--force").mistake()


class TestWhereSentencesComeFrom:
    @pytest.mark.parametrize("words", [(), ("--input", "-")])
    def test_standard_input(self, labkit: Labkit, dense: str, typed, words: tuple[str, ...]) -> None:
        typed("one\r\n\r\ntwo\u2028parts\x0bhere\nlast".encode())
        assert labkit("encode", dense, *words, "--output", "out.npz").status == 0
        assert npz("out.npz")["sentences"].tolist() == ["one", "", "two\u2028parts\x0bhere", "last"]

    def test_a_corpus_file_gives_its_distinct_sentences(self, labkit: Labkit, dense: str) -> None:
        assert labkit("encode", dense, "--input", "mine.csv", "--output", "out.npz").status == 0
        found = npz("out.npz")
        assert found["sentences"].tolist() == load_corpus("mine.csv").sentences()
        assert len(found["vectors"]) == len(found["sentences"])

    def test_a_corpus_in_other_formats(self, labkit: Labkit, dense: str) -> None:
        frame = pd.read_csv("mine.csv")
        frame.to_csv("mine.tsv", sep="\t", index=False)
        frame.to_json("mine.jsonl", orient="records", lines=True)
        frame.to_parquet("mine.parquet")
        frame.to_csv("mine.csv.gz", index=False)
        labkit("encode", dense, "--input", "mine.csv", "--output", "wanted.npz")
        for name in ("mine.tsv", "mine.jsonl", "mine.parquet", "mine.csv.gz"):
            assert labkit("encode", dense, "--input", name, "--output", "out.npz", "--force").status == 0
            assert Path("out.npz").read_bytes() == Path("wanted.npz").read_bytes()


@pytest.mark.parametrize("ending", ["npz", "parquet", "tsv"])
class TestHostileInput:
    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "--input has no line"),
            (b"fine\nnot\0so\n", "standard input line 2 holds a NUL"),
            (b"fine\nfine\nn\xe9e\n", "standard input line 3: byte 0xe9 at place 2 is not UTF-8"),
            (b"\xff\xfew\0o", "standard input line 1: byte 0x6f at place 5 is not UTF-16-LE"),
            ("word\n".encode("utf-16-le"), "holds a NUL"),
            (b"fine\n" + b"x" * 1_000_002 + b"\n", "standard input line 2 is longer than 1,000,000 bytes"),
            (b"half a sign \xed\xa0\x80\n", "is not UTF-8"),
        ],
    )
    def test_is_one_line_and_leaves_what_was_there(
        self, labkit: Labkit, dense: str, typed, content: bytes, said: str, ending: str
    ) -> None:
        out = Path(f"out.{ending}")
        out.write_text("before")
        typed(content)
        here = sorted(Path().iterdir())
        assert said in labkit("encode", dense, "--output", out, "--force").mistake()
        assert out.read_text() == "before"
        assert sorted(Path().iterdir()) == here

    def test_odd_but_good(self, labkit: Labkit, dense: str, typed, ending: str) -> None:
        typed(b"\xef\xbb\xbfmarked\n\n" + b"long " * 100_000 + b"\n\xe2\x80\xae\x1b[31mred\n\n")
        assert labkit("encode", dense, "--output", f"out.{ending}").out.endswith(": 5 sentences, 8 columns\n")

    def test_no_standard_input(self, labkit: Labkit, dense: str, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
        monkeypatch.setattr(sys, "stdin", None)
        assert "--input has no line" in labkit("encode", dense, "--output", f"out.{ending}").mistake()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("encode", "dense", "--input", "in.txt"), "--output is missing, expected the file to write, or --out"),
        (("encode", "dense", "--input", "in.txt", "--output", "out.csv"), "ends in .npz, .parquet, .tsv"),
        (("encode", "none", "--output", "out.csv"), "ends in .npz, .parquet, .tsv"),  # said before anything is read
        (("encode", "dense", "--input", "in.txt", "--output", "out"), "ends in .npz, .parquet, .tsv"),
        (("encode", "dense", "--input", "in.txt", "--output", "no/out.npz"), "the folder 'no' does not exist"),
        (("encode", "dense", "--input", "in.txt", "--output", "folder.npz"), "a folder, expected the name of a file"),
        (("encode", "dense", "--input", "gone.txt", "--output", "out.npz"), "--input is 'gone.txt', which is no file"),
        (("encode", "dense", "--input", ".", "--output", "out.npz"), "--input is '.', which is no file"),
        (("encode", "dense", "--input", "bad.csv", "--output", "out.npz"), "bad.csv row 1: columns"),
        (("encode", "none", "--input", "in.txt", "--output", "out.npz"), "run is 'none', expected the folder of a run"),
    ],
)
def test_mistakes(labkit: Labkit, dense: str, words: tuple[str, ...], said: str) -> None:
    Path("folder.npz").mkdir()
    Path("bad.csv").write_text("a,b\n1,2\n")
    here = sorted(Path().iterdir())
    assert said in labkit(*words).mistake()
    assert sorted(Path().iterdir()) == here


class TestAFolderOfShards:
    @pytest.fixture
    def rows(self) -> list[str]:
        rows = [*LINES, *LINES]
        pd.DataFrame({"text": rows, "other": [*map(str, range(len(rows)))]}).to_parquet("rows.parquet")
        return rows

    def test_all_rows_in_order(self, labkit: Labkit, dense: str, rows: list[str]) -> None:
        done = labkit("encode", dense, "rows.parquet", "--out", "vectors", "--executor", "local:1")
        assert (done.status, done.err) == (0, "")
        assert done.out == "vectors: 14 rows, 8 columns, float32, in 1 shard\n"
        np.testing.assert_array_equal(np.load("vectors/part-00000.npy"), load(dense).encode(rows))
        other = labkit(
            "encode", dense, "--input", "rows.parquet", "--out", "half", "--half", "--column", "other", "--json"
        ).document()
        assert (other["rows"], other["columns"], other["type"], other["shards"]) == (14, 8, "float16", 1)

    def test_force_begins_anew(self, labkit: Labkit, dense: str, rows: list[str]) -> None:
        words = ("encode", dense, "rows.parquet", "--out", "vectors", "--executor", "local:1")
        assert labkit(*words).status == 0
        assert "has shards made with" in labkit(*words, "--half").mistake()
        assert labkit(*words, "--half", "--force").status == 0
        assert np.load("vectors/part-00000.npy").dtype == np.float16

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--out", "vectors"), "INPUT is missing"),
            (("in.txt", "--out", "vectors"), "expected a .parquet or a folder of shards"),
            (("rows.parquet", "--out", "vectors", "--column", "no"), "has no column 'no', its columns are 'text', "),
            (("rows.parquet", "--out", "vectors", "--output", "out.npz"), "leave one of them out"),
            (("rows.parquet", "--out", "vectors", "--executor", "threads"), "expected local, local:N"),
            (("in.txt", "--output", "out.npz", "--half"), "--half is of a folder of shards"),
            (("in.txt", "in.txt", "--output", "out.npz"), "there are 2 inputs, expected one for a file"),
        ],
    )
    def test_mistakes(self, labkit: Labkit, dense: str, rows: list[str], words: tuple[str, ...], said: str) -> None:
        assert said in labkit("encode", dense, *words).mistake()
        assert not Path("vectors").exists()
