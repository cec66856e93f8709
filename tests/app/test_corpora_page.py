"""The page "Corpora" without a browser: what it shows for every corpus, and for a bad file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from labkit.corpora.embedded import EMBEDDED

TOPICS = EMBEDDED["topics"].load()
LABEL_OF = dict(zip(TOPICS.texts, TOPICS.labels, strict=True))  # type: ignore[attr-defined]
APP = Path(__file__).resolve().parents[2] / "app"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.syspath_prepend(str(APP))
    for name in ("cached", "corpora_page"):
        sys.modules.pop(name, None)
    return AppTest.from_file(str(APP / "corpora_page.py"), default_timeout=120)


def shown(page: AppTest) -> str:
    return " ".join(str(e.value) for kind in (page.caption, page.markdown, page.metric, page.title) for e in kind)


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_corpus_has_a_picture_and_figures(page: AppTest, name: str) -> None:
    page.session_state["corpus"] = name
    page.session_state["picture"] = "PCA"  # the quick one; the slow one is in the browser's test
    page.run()
    assert not page.exception
    assert not page.error
    assert len(page.metric) == 3
    assert f"{EMBEDDED[name].rows:,} rows" in shown(page)
    figures = page.get("plotly_chart")
    assert len(figures) == (2 if EMBEDDED[name].shape == "Pairs" else 1)
    assert "Picture:" in shown(page)


def test_choosing_a_sentence_shows_its_neighbours(page: AppTest) -> None:
    page.session_state["corpus"] = "topics"
    page.session_state["picture"] = "PCA"
    page.run()
    find = page.selectbox(key="find")
    chosen = find.options[5]
    find.select(chosen).run()
    assert not page.exception
    assert any(chosen in text.value for text in page.text)
    about = [text.value for text in page.text if text.value.startswith("— cosine")]
    assert len(about) == 6
    cosines = [float(line.split("cosine ")[1][:4]) for line in about]
    assert cosines == sorted(cosines, reverse=True)
    assert all(("same class" in line) == (line.split(": ")[1] == LABEL_OF[chosen]) for line in about)


def test_the_code_makes_the_picture(page: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    page.session_state["corpus"] = "topics"
    page.session_state["picture"] = "PCA"
    page.session_state["classes"] = 5
    page.run()
    import plotly.graph_objects as go

    drawn: list[go.Figure] = []
    monkeypatch.setattr(go.Figure, "show", lambda self: drawn.append(self))
    exec(page.code[0].value, {})  # the page's own text
    assert len(drawn[0].data) == 5


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
    page.run()
    page.file_uploader[0].upload(name, data, "application/octet-stream").run()
    assert not page.exception
    assert said in page.error[0].value
    assert "/" not in page.error[0].value.split(" ")[0]


def test_an_upload_is_shown_as_text(page: AppTest) -> None:
    rows = "".join(f"<script>alert({i})</script> one,{'ab'[i % 2]}\n=1+{i} two,{'ab'[i % 2]}\n" for i in range(30))
    page.session_state["corpus"] = "your own file"
    page.session_state["picture"] = "PCA"
    page.run()
    page.file_uploader[0].upload("mine.csv", f"text,label\n{rows}".encode(), "text/csv").run()
    assert not page.exception
    assert not page.error
    assert "60 rows" in shown(page)
