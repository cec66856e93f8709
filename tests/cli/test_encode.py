"""`labkit encode`, `data dedup`, `neighbours` and `export`: accepted and hostile inputs, and the files they write."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from labkit import text as labkit_text
from labkit.adapters.export import FORMS
from labkit.corpora import load as load_corpus
from labkit.methods import load_run

from .conftest import Labkit

LINES = ["the cat sleeps on sofa", "", "=1+1", "a dog runs", "  the   lake ", "日本 été", "the cat sleeps on sofa"]


def trained(labkit: Labkit, *words: str) -> str:
    assert labkit("train", *words, "--corpus", "mine.csv", "--out", "run").status == 0
    Path("in.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return "run"


@pytest.fixture
def dense(labkit: Labkit) -> str:
    return trained(labkit, "mean-vectors", "--set", "dimension=8")


@pytest.fixture
def counted(labkit: Labkit) -> str:
    return trained(labkit, "tfidf")


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    def type_(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return type_


def npz(path: str) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as found:
        return dict(found)


def test_dense_vectors_block_by_block(labkit: Labkit, dense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = load_run(dense).encode(LINES)
    monkeypatch.setattr(labkit_text, "LINES", 2)
    done = labkit("encode", dense, "--input", "in.txt", "--output", "out.npz", "--json").document()
    assert done == {"run": dense, "file": "out.npz", "sentences": 7, "columns": 8}
    found = npz("out.npz")
    assert found["sentences"].tolist() == LINES
    assert found["vectors"].dtype == np.float32
    np.testing.assert_allclose(found["vectors"], wanted, atol=1e-6)
    done = labkit("encode", dense, "--input", "in.txt", "--output", "-")
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert [each["sentence"] for each in lines] == LINES
    np.testing.assert_array_equal(np.array([each["vector"] for each in lines], np.float32), found["vectors"])


def test_sparse_vectors_in_tables_and_lines(labkit: Labkit, counted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = load_run(counted).encode(LINES).toarray()
    monkeypatch.setattr(labkit_text, "LINES", 2)
    for name in ("out.parquet", "out.tsv"):
        assert labkit("encode", counted, "--input", "in.txt", "--output", name).status == 0
    table = pd.read_parquet("out.parquet")
    tsv = pd.read_csv("out.tsv", sep="\t", keep_default_na=False)
    lines = labkit("encode", counted, "--input", "in.txt", "--output", "-").out.splitlines()
    for row, vector in enumerate(wanted):
        told = {int(column): vector[column] for column in np.flatnonzero(vector)}
        assert dict(zip(table["indices"][row], table["values"][row], strict=True)) == told
        pairs = [part.split(":") for part in tsv["vector"][row].split()]
        assert {int(column): np.float32(value) for column, value in pairs} == told
        line = json.loads(lines[row])
        assert {i: np.float32(v) for i, v in zip(line["indices"], line["values"], strict=True)} == told


def test_a_corpus_file_gives_the_texts_of_its_rows_in_order(labkit: Labkit, dense: str) -> None:
    rows = [("a cat", "the cat", 1), ("a dog", "a cat", 0), ("a cat", "the cat", 1)]
    pd.DataFrame(rows, columns=["question1", "question2", "is_duplicate"]).to_csv("pairs.csv", index=False)
    assert labkit("encode", dense, "--input", "pairs.csv", "--output", "out.npz").status == 0
    assert npz("out.npz")["sentences"].tolist() == [text for a, b, _ in rows for text in (a, b)]
    Path("gap.csv").write_text("text,id\na,1\n,2\n")
    assert "gap.csv row 3" in labkit("encode", dense, "--input", "gap.csv", "--output", "gap.npz").mistake()


def test_a_corpus_file_gives_each_of_its_distinct_sentences(
    labkit: Labkit, dense: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labkit_text, "LINES", 5)
    sentences = load_corpus("mine.csv").sentences()
    assert len(sentences) % 5 != 0
    assert labkit("encode", dense, "--input", "mine.csv", "--output", "out.npz", "--distinct").status == 0
    found = npz("out.npz")
    assert found["sentences"].tolist() == sentences
    np.testing.assert_allclose(found["vectors"], load_run(dense).encode(sentences), atol=1e-6)


@pytest.mark.parametrize("words", [(), ("--input", "-")])
def test_standard_input(labkit: Labkit, dense: str, typed: Callable[[bytes], None], words: tuple[str, ...]) -> None:
    typed("\ufeffone\r\n\r\ntwo\u2028parts\x0bhere\nlast".encode())
    assert labkit("encode", dense, *words, "--output", "out.npz").status == 0
    assert npz("out.npz")["sentences"].tolist() == ["one", "", "two\u2028parts\x0bhere", "last"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "--input"),
        (b"fine\nnot\0so\n", "line 2"),
        (b"fine\nfine\nn\xe9e\n", "line 3: byte 0xe9"),
        (b"\xff\xfew\0o", "UTF-16"),
    ],
)
def test_hostile_input_leaves_the_old_file(
    labkit: Labkit, dense: str, typed: Callable[[bytes], None], content: bytes, named: str
) -> None:
    out = Path("out.parquet")
    out.write_text("before")
    typed(content)
    here = sorted(Path().iterdir())
    assert named in labkit("encode", dense, "--output", out, "--force").mistake()
    assert out.read_text() == "before"
    assert sorted(Path().iterdir()) == here


def test_nothing_is_overwritten_without_force(labkit: Labkit, dense: str) -> None:
    Path("out.npz").write_text("mine")
    Path("link.npz").symlink_to("nowhere.npz")
    for name in ("out.npz", "link.npz"):
        assert "--force" in labkit("encode", dense, "--input", "in.txt", "--output", name).mistake()
    assert Path("out.npz").read_text() == "mine"
    assert labkit("encode", dense, "--input", "in.txt", "--output", "out.npz", "-f").status == 0
    assert npz("out.npz")["sentences"].tolist() == LINES


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--input", "in.txt"), "--output"),
        (("--input", "in.txt", "--output", "no/out.npz"), "'no'"),
        (("--input", "in.txt", "--output", "folder.npz"), "folder"),
        (("--input", "gone.txt", "--output", "out.npz"), "--input"),
        (("--input", "bad.csv", "--output", "out.npz"), "bad.csv row 1"),
        (("--output", "-", "--json"), "--json"),
        (("in.txt", "in.txt", "--output", "out.npz"), "2 inputs"),
        (("in.txt", "--output", "out.npz", "--half"), "--half"),
        (("--out", "vectors"), "INPUT"),
        (("rows.parquet", "--out", "vectors", "--distinct"), "--distinct"),
        (("rows.parquet", "--out", "vectors", "--column", "no"), "'no'"),
    ],
)
def test_mistakes(labkit: Labkit, dense: str, words: tuple[str, ...], named: str) -> None:
    Path("folder.npz").mkdir()
    Path("bad.csv").write_text("a,b\n1,2\n")
    pd.DataFrame({"text": LINES}).to_parquet("rows.parquet")
    here = sorted(Path().iterdir())
    assert named in labkit("encode", dense, *words).mistake()
    assert sorted(Path().iterdir()) == here


def test_a_folder_of_shards_has_all_rows_in_order(labkit: Labkit, dense: str) -> None:
    rows = [*LINES, *LINES]
    pd.DataFrame({"text": rows, "other": [*map(str, range(len(rows)))]}).to_parquet("rows.parquet")
    words = ("encode", dense, "rows.parquet", "--out", "vectors", "--executor", "local:1")
    found = labkit(*words, "--json").document()
    assert (found["rows"], found["columns"], found["type"], found["shards"]) == (14, 8, "float32", 1)
    np.testing.assert_allclose(np.load("vectors/part-00000.npy"), load_run(dense).encode(rows), atol=1e-6)
    other = ("--half", "--column", "other")
    assert labkit(*words, *other).status == 2
    assert labkit(*words, *other, "--force", "--json").document()["type"] == "float16"
    wanted = load_run(dense).encode([*map(str, range(len(rows)))])
    np.testing.assert_allclose(np.load("vectors/part-00000.npy"), wanted, atol=1e-3)


def test_dedup(labkit: Labkit) -> None:
    Path("a.csv").write_text("text,label\nOne,1\none,2\nOne,3\n")
    words = ("data", "dedup", "a.csv", "--out", "once", "--executor", "local:1")
    record = labkit(*words, "--json").document()
    assert {name: record[name] for name in ("read", "repeats", "left", "shards")} == {
        "read": 3, "repeats": 1, "left": 2, "shards": 1
    }  # fmt: skip
    assert "plain" in labkit(*words, "--plain").mistake()
    assert labkit(*words, "--plain", "--force", "--json").document()["left"] == 1
    assert "'sentence'" in labkit("data", "dedup", "a.csv", "--out", "x", "--column", "sentence").mistake()


def test_neighbours(labkit: Labkit) -> None:
    np.save("base.npy", np.array([[1, 0], [1, 0.1], [0, 1]], np.float32))
    words = ("neighbours", "base.npy", "--out", "near", "--count", "1", "--executor", "local:1")
    record = labkit(*words, "--json").document()
    assert (record["queries"], record["base"], record["nearest"], record["index"]) == (3, 3, 1, "exact")
    assert "index" in labkit(*words, "--index", "tree").mistake()


# --- export ----------------------------------------------------------------------------------------------------------


def test_an_export_gives_the_runs_vectors(labkit: Labkit, dense: str) -> None:
    pytest.importorskip("onnxruntime", reason="needs the extra 'export'")
    record = labkit("export", dense, "out", "--to", "onnx", "--json").document()
    assert (record["run"], record["folder"], record["form"]) == (dense, "out", "onnx")
    texts = ["the cat sleeps", "a dog", ""]
    np.testing.assert_allclose(FORMS["onnx"].read(Path("out"), texts), load_run(dense).encode(texts), atol=1e-5)
    assert re.search(r"\| accuracy \| \d\.\d{4} \| \d\.\d{3} to \d\.\d{3} \|", Path("out/README.md").read_text("utf-8"))
    assert "FOLDER" in labkit("export", dense, "out", "--to", "model2vec").mistake()
    record = labkit("export", dense, "out", "--to", "model2vec", "--quantize", "--force", "--json").document()
    assert record["size"] < record["size_before"]
    assert record["difference"] < 1e-5
    assert 0.9 < record["spearman"] <= 1
    assert not Path("out/model.onnx").exists()
    Path("mine").mkdir()
    assert labkit("export", dense, "mine", "--to", "onnx", "--force").mistake()  # not an export


def test_an_export_without_its_corpus_is_checked_on_another(labkit: Labkit, dense: str) -> None:
    Path("mine.csv").rename("other.csv")
    quantized = ("export", dense, "two", "--to", "model2vec", "--quantize")
    assert labkit(*quantized).status == 2
    assert labkit(*quantized, "--corpus", "other.csv").status == 0
    assert "no-such.csv" in labkit("export", dense, "three", "--to", "model2vec", "--corpus", "no-such.csv").mistake()


def test_what_cannot_be_exported(labkit: Labkit, counted: str) -> None:
    assert "'tfidf'" in labkit("export", counted, "out", "--to", "onnx").mistake()
    assert not Path("out").exists()
