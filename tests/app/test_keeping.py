"""The cache of the app: separate results per file, a limit in bytes, least recently used entries dropped first."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import streamlit as st
import torch
from scipy import sparse

from labkit import untrusted
from labkit.corpora import Labelled

from .conftest import APP, OWN


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that imports a module of the app, with an empty cache."""
    monkeypatch.syspath_prepend(str(APP))
    for name in [name for name in sys.modules if name.split(".")[0] in OWN]:
        sys.modules.pop(name)
    st.cache_resource.clear()
    yield import_module
    st.cache_resource.clear()


def a_file(number: int) -> bytes:
    words = [f"{word}{number % 7}" for word in ("red", "blue", "old", "car", "cat", "road")]
    rows = [f"{words[i % 6]} {words[i % 5]} {words[i % 4]} {number} {i},{'ab'[i % 2]}" for i in range(40)]
    return "\n".join(["text,label", *rows]).encode()


def test_results_of_a_file_are_cached_and_separate_from_another_files(app: Any) -> None:
    cached, choosing, File = app("cached"), app("choosing"), app("frame").File

    def made(number: int) -> tuple[Any, ...]:
        opened = cached.uploaded_corpus(File("mine.csv", a_file(number)))
        space = choosing.fitted(opened, "mean-vectors")
        shown = cached.sentences_shown(opened, "all", 300)
        rows, unit = cached.sentence_vectors(space, shown, (opened.key, 300))
        return opened, space.method, shown, rows, unit

    first, other, again = made(1), made(2), made(1)
    assert all(one is same for one, same in zip(first, again, strict=True))
    assert not any(one is another for one, another in zip(first, other, strict=True))


def test_pictures_have_unit_vectors_whatever_the_similarity(app: Any) -> None:
    def encode(texts: list[str], *, normalize_embeddings: bool) -> np.ndarray:
        return np.array([[3.0, 4.0]]) / (5 if normalize_embeddings else 1)

    space = SimpleNamespace(key="x", method=SimpleNamespace(similarity_name="manhattan", encode=encode))
    rows, unit = app("cached").sentence_vectors(space, SimpleNamespace(texts=["a"]), ())
    assert (rows.tolist(), unit.tolist()) == ([[3, 4]], [[0.6, 0.8]])


def test_films_rows_are_read_only_on_sentences_that_it_was_not_fitted_to(app: Any) -> None:
    """On training sentences, classes are always separated."""
    cached, labels = app("cached"), [*"ab"] * 20
    texts = [f"{label} {number}" for number, label in enumerate(labels)]
    corpus = Labelled(texts, labels, splits=["train"] * 20 + ["test"] * 20)

    def transform(texts: list[str]) -> np.ndarray:
        return np.array([[1 if text[0] == "a" else -1, int(text[2:]) % 3] for text in texts])

    method = SimpleNamespace(L=np.eye(2), vectorizer=SimpleNamespace(transform=transform))
    space = SimpleNamespace(key="film", method=method)
    (apart, ends), _ = cached.film_read(space, False, cached.Opened(corpus, "with test"))
    assert {name for name, _ in apart} == {"a", "b"}
    assert {*sum(ends, ())} <= {*texts[20:]}
    (apart, _), _ = cached.film_read(space, False, cached.Opened(corpus.part("train"), "without"))
    assert apart == ()


def test_the_least_recently_used_entry_is_dropped_first(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    keeping = app("keeping")
    monkeypatch.setattr(keeping.room(), "most", 3_900_000)
    made: list[str] = []

    @keeping.keep()
    def large(name: str, *, times: int = 1) -> np.ndarray:
        made.append(name)
        return np.zeros(times * 125_000)  # a megabyte

    for name in "abc":
        large(name)
    large("a")
    large("d")  # only three fit, and b is the oldest
    assert made == ["a", "b", "c", "d"]
    for name in "acd":
        large(name)
    assert made == ["a", "b", "c", "d"]
    large("b")
    assert made[-1] == "b"
    assert large("e", times=9).nbytes > 4_000_000  # a result above the limit is still returned
    assert keeping.room().held < 2 * 9_000_000
    large("f")
    assert keeping.room().held < 4_000_000
    large("e", times=9)
    assert made[-1] == "e"


@pytest.mark.parametrize("what", ["corpus", "embeddings"])
def test_a_file_that_was_refused_is_not_read_again(app: Any, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """It is identified by name and content; a full disk does not count as a refusal."""
    from labkit.atomic import NoRoom

    cached, File = app("cached"), app("frame").File
    opened = cached.uploaded_corpus(File("good.csv", a_file(1)))
    read: list[str] = []

    def refusing(name: str, data: bytes, limit: int, **_: Any) -> None:
        read.append(name)
        raise (NoRoom() if data == b"full" else ValueError(f"{name} is none"))

    monkeypatch.setattr(cached, f"{what}_apart", refusing)

    def brought(name: str, data: bytes) -> None:
        more = () if what == "corpus" else (opened,)
        with pytest.raises((ValueError, OSError)):
            getattr(cached, "uploaded_corpus" if what == "corpus" else "uploaded_vectors")(File(name, data), *more)

    for name, data in (("bad.npy", b"same"), ("bad.npy", b"same"), ("bad.npy", b"other"), ("worse.npy", b"same")):
        brought(name, data)
    assert read == ["bad.npy", "bad.npy", "worse.npy"]
    for _ in range(2):
        brought("bad.npy", b"full")
    assert len(read) == 5


def test_in_a_classroom_a_file_has_a_visitor_and_twenty_seconds(app: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cached, File = app("cached"), app("frame").File
    given: list[dict[str, Any]] = []

    def recording(name: str, data: bytes, limit: int, **how: Any) -> Any:
        given.append(how)
        return untrusted.corpus_apart(name, data, limit)

    monkeypatch.setattr(cached, "corpus_apart", recording)
    cached.uploaded_corpus(File("own.csv", a_file(4)))
    monkeypatch.setattr(cached.classroom, "is_on", lambda: True)
    monkeypatch.setattr(cached.classroom, "me", lambda: "ann")
    cached.uploaded_corpus(File("class.csv", a_file(5)))
    assert given == [{"visitor": "", "seconds": 600}, {"visitor": "ann", "seconds": 20}]


@dataclass
class Holder:
    inside: Any


@pytest.mark.parametrize(
    ("value", "least", "most"),
    [
        (sparse.random(1000, 1000, 0.1, "csr"), 1_100_000, 1_300_000),
        (Holder({"a": [Holder(np.zeros(1000)), "x" * 1000]}), 9_000, 9_200),
        ([f"a sentence of some words, number {i}" for i in range(100_000)], 8_000_000, 9_500_000),
        (torch.nn.Linear(100, 100), 40_000, 42_000),
    ],
)
def test_the_bytes_of_a_value(app: Any, value: Any, least: int, most: int) -> None:
    assert least <= app("keeping").weight(value) <= most
    circle: list[Any] = []
    circle.append(circle)  # a list that contains itself
    assert app("keeping").weight(circle) == 0
