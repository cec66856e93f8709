"""The page made by Python: self-contained, safe with any sentence, for any labelled corpus, and in a notebook."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import labkit
from labkit.corpora import from_classes, from_sentences, load

EVIL = '</script><script>alert(1)</script><!-- <img src="//evil" onerror="alert(1)">'


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert found
    return json.loads(found[1])


def test_the_page_is_one_small_file_without_requests(tmp_path: Path) -> None:
    path = labkit.playground().save(tmp_path / "play.html")
    html = path.read_text("utf-8")
    assert path.stat().st_size < 1_000_000
    assert not re.search(r"https?://|src=[\"']?/|@import|\bfetch\(|url\(", html)
    assert "import {" not in html
    data = data_of(html)
    assert len(data["classes"]) == 12
    assert data["scenes"] is True
    assert all(3 < len(text.split()) < 17 for text, *_ in data["rows"])
    assert {unseen for *_, unseen in data["rows"]} == {True, False}


def test_a_hostile_sentence_stays_text(tmp_path: Path) -> None:
    corpus = from_classes([f"{EVIL} {i}" for i in range(8)], [EVIL, "b"] * 4)
    html = labkit.playground(corpus).html
    assert html.count("<script") == labkit.playground().html.count("<script")
    assert "<!--" not in html
    data = data_of(html)
    assert data["rows"][0][0].startswith(EVIL)
    assert EVIL in data["classes"]


def test_a_corpus_keeps_its_split_and_its_short_sentences() -> None:
    corpus = load("topics")
    data = data_of(labkit.playground(corpus, loss="contrastive", miner="hardest", dimension=2).html)
    assert data["start"] == {"loss": "contrastive", "miner": "hardest", "dimension": 2}
    assert data["scenes"] is False
    splits = dict(zip(corpus.texts, corpus.splits, strict=True))
    assert all((splits[text] != "train") == unseen for text, _, unseen in data["rows"] if text in splits)
    assert len(data["classes"]) == 12


def test_an_unknown_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="miner"):
        labkit.playground(miner="nearest")


def test_a_corpus_without_classes_is_refused() -> None:
    with pytest.raises(ValueError, match="text and label"):
        labkit.playground(from_sentences(["a", "b"]))
    with pytest.raises(ValueError, match="classes"):
        labkit.playground(from_classes(["a", "b", "c"], ["x", "x", "y"]))


def test_a_notebook_shows_it_in_a_frame() -> None:
    shown = labkit.playground()._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in shown
    assert "<script" not in shown
