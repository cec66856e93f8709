"""Notebook 00: cosines, Hit@1, a ratio, and a sentence of your own."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from labkit.corpora import load
from labkit.course.exercise import Cases, check, exercise, number
from labkit.course.exercises.draws import in_classes
from labkit.method import Method
from labkit.methods import METHODS
from labkit.text import words

TOPIC = "cooking"


@exercise(
    "00.1",
    (" / lengths", "", "those are dot products: long vectors look similar. Divide by both lengths"),
    ("np.linalg.norm(v) * np.linalg.norm(w)", "np.linalg.norm(v)", "np.linalg.norm(w)",
     "you divide by one length only; both are needed"),
    ("/ lengths", "/ np.linalg.norm(v) * np.linalg.norm(w)", "/ np.linalg.norm(w) * np.linalg.norm(v)",
     "a / b * c multiplies by c: put brackets around the two lengths"),
    ("norm(v) *", "norm(v) +", "the lengths are multiplied, not added"),
    ("v @ w / lengths", "np.linalg.norm(v - w)", "those are distances; they depend on the lengths"),
)  # fmt: skip
def cosines(random: np.random.Generator) -> Cases:
    return [(random.normal(size=d), random.normal(size=(n, d)) * 3) for n, d in ((4, 3), (2, 5), (5, 4))]


@exercise(
    "00.2",
    ("-np.inf", "1.0", "every sentence is its own nearest neighbour: leave it out"),
    (
        "-np.inf",
        "0.0",
        "0 is not low enough: if all other cosines are below 0, a sentence is again its own nearest neighbour",
    ),
    ("near = cosines", "near = -cosines", "that is the farthest sentence: a larger cosine means nearer"),
    ("near = cosines(v, V)", "near = V @ v", "those are dot products, and long vectors win: use your `cosines`"),
    read=number,
)
def hits(random: np.random.Generator) -> Cases:
    for sizes, d in (((9, 3, 2, 6), 4), ((2, 7, 4), 3), ((3, 3, 8, 5, 2), 6)):
        rows, labels = in_classes(random, sizes, d)
        yield rows * random.uniform(0.3, 3, (len(rows), 1)), labels
    turns = np.deg2rad([0, 110, 230])  # more than a right angle apart: all other cosines are below 0
    yield np.array([np.cos(turns), np.sin(turns)]).T, np.array(["one", "other", "other"])


@exercise(
    "00.3",
    (" if key != name]\n        gaps.append(min(others))", " if key != name]\n        gaps += others",
     "]\n        gaps += others", "inter is the distance to the *nearest* other centre, not to all of them"),
    ("np.mean(gaps)", "np.min(gaps)",
     "you take the smallest distance overall: take each centre's distance to its nearest other centre, then the mean"),
    ("np.mean(gaps)", "np.sum(gaps)", "inter is the mean over the centres, but your result is their sum"),
    ("min(others)", "max(others)", "inter is the distance to the *nearest* other centre, not to the farthest"),
    (" if key != name", "", "each centre is nearest to itself: leave it out"),
    read=number,
)  # fmt: skip
def ratio(random: np.random.Generator) -> Cases:
    return [in_classes(random, sizes, d, 2) for sizes, d in (((3, 9, 5, 2), 3), ((6, 2, 4), 5), ((2, 7, 3, 4, 5), 4))]


@check("00.4")
def check_own_sentence(answer: Any, random: np.random.Generator) -> str | None:
    """Check that a new sentence lands among those on its topic."""
    if not isinstance(answer, str):
        return f"expected a sentence in quotation marks, got a {type(answer).__name__}"
    method, texts, labels, known = _space()
    if len(words(answer)) < 3:
        return "that is not a sentence yet: write at least three words"
    if tuple(words(answer)) in known:
        return "the corpus contains this sentence word for word: write one of your own"
    row = method.encode([answer])
    if not row.any():
        return "none of its words is in the corpus, so it has no vector"
    nearest = int(method.similarity(row, method.encode(texts))[0].argmax())
    if labels[nearest] == TOPIC:
        return None
    return (
        f"its nearest post is about {labels[nearest]!r}: {texts[nearest][:80]!r}. Which words might have caused this?"
    )


@cache
def _space() -> tuple[Method, list[str], list[str], frozenset[tuple[str, ...]]]:
    topics = load("topics")
    method = METHODS["mean-vectors"]()
    method.fit(topics)
    test = topics.part("test")
    known = frozenset(tuple(words(text)) for text in topics.texts)  # type: ignore[attr-defined]
    return method, list(test.texts), list(test.labels), known  # type: ignore[attr-defined]
