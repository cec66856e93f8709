"""The page "Corpora" without a browser: what it shows for every corpus, and for a bad file."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
import streamlit as st
from streamlit import config
from streamlit.testing.v1 import AppTest

from labkit.corpora import load
from labkit.corpora.table import EMBEDDED
from labkit.methods import METHODS
from labkit.progress import note

from .conftest import Opened, RunCode, with_file


@pytest.fixture
def page(opened: Opened) -> AppTest:
    return opened("corpora_page")


def shown(page: AppTest) -> str:
    return " ".join(str(e.value) for kind in (page.caption, page.markdown, page.metric, page.title) for e in kind)


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_corpus_has_rows_and_figures(page: AppTest, name: str) -> None:
    page.session_state["corpus"] = name
    page.run()
    assert not page.exception
    assert not page.error
    assert len(page.metric) == 3
    assert f"{EMBEDDED[name].rows:,} rows" in shown(page)
    pairs = EMBEDDED[name].shape == "Pairs"
    assert len(page.get("plotly_chart")) == pairs
    if pairs:
        page.segmented_control(key="look").set_value("Rows").run()
    texts = " ".join(text.value for text in page.text)
    assert any(sentence in texts for sentence in load(name).sentences())


@pytest.mark.parametrize("name", ["questions", "relatedness"])
def test_the_most_surprising_pair_comes_first_and_the_code_draws(page: AppTest, name: str, run_code: RunCode) -> None:
    page.session_state["corpus"] = name
    page.run()
    assert len(run_code(page)) == 1
    told = [text.value for text in page.text if "cosine" in text.value]  # no person has said it: a program made them
    assert all(text.startswith(("— label: ", "— score ")) for text in told)
    assert "person" not in " ".join(chart.proto.alt for chart in page.get("plotly_chart"))
    if name == "questions":
        corpus, method = load(name), METHODS["tfidf"]()
        method.fit(corpus)
        cosine = method.pairwise_similarity(corpus.text_a, corpus.text_b)
        surprise = max((c if not label else -c) for c, label in zip(cosine, corpus.labels, strict=True))
        first = next(text.value for text in page.text if "cosine" in text.value)
        assert first.endswith(f"cosine {abs(surprise):.2f}")


def test_other_rows_are_others(page: AppTest) -> None:
    page.session_state["corpus"] = "topics"
    page.run()
    before = [text.value for text in page.text]
    page.button[0].click().run()
    assert [text.value for text in page.text] != before
    assert len(before) == len(page.text)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("mine.csv", b"text,label\na,x\n,y\n", "mine.csv row 3: text is ''"),
        ("mine.csv", "text,label\ncafé,x\n".encode("latin-1"), "byte 0xe9"),
        ("mine.csv", b"PK\x03\x04", "is a zip archive"),
        ("mine.parquet", b"nonsense", "not a readable Parquet"),
        ("mine.csv", b"text,label\na,x\nb,x\n", "every label is 'x'"),
        ("../../mine.csv", b"text,label\n", "mine.csv has no rows"),
    ],
)
def test_a_bad_upload_is_one_sentence(page: AppTest, name: str, data: bytes, said: str) -> None:
    page.session_state["corpus"] = "your own file"
    with_file(page, data, name, "application/octet-stream")
    assert not page.exception
    assert said in page.error[0].value
    assert "/" not in page.error[0].value.split(" ")[0]


def test_a_file_beyond_what_the_server_takes_is_one_sentence(page: AppTest) -> None:
    config.set_option("server.maxUploadSize", 1)
    page.session_state["corpus"] = "your own file"
    with_file(page, ("text,label\n" + "".join(f"sentence {i},{i % 3}\n" for i in range(70_000))).encode())
    assert page.file_uploader[0].label == "CSV, TSV, TXT, JSONL or Parquet, up to 1 MB"
    assert not page.exception
    assert "mine.csv has 1.12 MB, the limit is 1 MB; give a part of it" in page.error[0].value


def test_an_upload_is_shown_as_text(page: AppTest) -> None:
    rows = "".join(f"<script>alert({i})</script> one,{'ab'[i % 2]}\n=1+{i} two,{'ab'[i % 2]}\n" for i in range(30))
    page.session_state["corpus"] = "your own file"
    with_file(page, f"text,label\n{rows}".encode())
    assert not page.exception
    assert not page.error
    assert "60 rows" in shown(page)


def test_a_note_reaches_only_whose_file_it_is(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    from cached import uploaded_corpus
    from frame import File

    together, say = threading.Barrier(2), note

    def at_once(*said: object, **how: object) -> None:
        together.wait(60)  # both files are being read, and neither has been spoken of
        say(*said, **how)  # type: ignore[arg-type]
        together.wait(60)

    monkeypatch.setattr("labkit.corpora.rows.note", at_once)
    rows = b"text,label\na,x\na,x\nb,y\n"
    st.cache_resource.clear()
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda name: uploaded_corpus(File(name, rows)).notes, ["mine.csv", "yours.csv"]))
    assert [[line.split(":")[0] for line in notes] for notes in told] == [["mine.csv"], ["yours.csv"]]


def test_a_bomb_is_one_sentence_and_is_read_in_a_process_of_its_own(page: AppTest) -> None:
    rows = arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(200, np.int32)), arrow.array(["a" * 1_000_000]))
    file = io.BytesIO()
    parquet.write_table(arrow.table({"text": rows, "label": ["x", "y"] * 100}), file, compression="zstd")
    page.session_state["corpus"] = "your own file"
    with_file(page, file.getvalue(), "mine.parquet", "application/octet-stream")
    assert not page.exception
    assert len(file.getvalue()) < 10_000
    assert "mine.parquet unpacks from" in page.error[0].value
    assert "to more than 8 MB, more than text would" in page.error[0].value
