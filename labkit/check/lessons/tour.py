"""Notebook 00: a cosine, a hit, a ratio, and a sentence of one's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.linalg import norm

from labkit.check.exercise import Lesson
from labkit.check.trying import close, number, slip, tried, wrong_entries
from labkit.corpora import load
from labkit.evaluation import inter_intra
from labkit.methods import METHODS, Method

LESSON = Lesson("00", predictions=("00.a", "00.b"))

TOPIC = "cooking"


@LESSON.exercise(
    "00.1",
    "Write the cosine of two vectors.",
    (
        "The dot product says how much two vectors go the same way, times both lengths.",
        "Divide the dot product by the two lengths.",
        "`u @ v / (np.linalg.norm(u) * np.linalg.norm(v))`",
    ),
    "1 means the same direction, 0 nothing in common; length plays no part",
)
def cosine(answer: Callable[..., Any]) -> str | None:
    """u·v / (‖u‖ ‖v‖)."""
    draw = np.random.default_rng(0)
    cases = [(draw.normal(size=d), draw.normal(size=d) * 3) for d in (3, 5, 4)]

    def right(u: Any, v: Any) -> Any:
        return u @ v / (norm(u) * norm(v))

    slips = (
        (lambda u, v: u @ v, "that is the dot product: long vectors look alike. Divide by both lengths"),
        (lambda u, v: u @ v / (u @ u * (v @ v)), "you divide by the squares of the lengths: a root is missing"),
        (lambda u, v: u @ v / norm(u), "you divide by the length of u only; both are needed"),
        (lambda u, v: u @ v / norm(v), "you divide by the length of v only; both are needed"),
        (lambda u, v: u @ v / norm(u) * norm(v), "a / b * c multiplies by c: put brackets round the two lengths"),
        (lambda u, v: u @ v / (norm(u) + norm(v)), "the lengths are multiplied, not added"),
        (
            lambda u, v: 1 - right(u, v),
            "that is a cosine distance, 1 - cos; a similarity grows with nearness",
        ),
        (lambda u, v: norm(u - v), "that is the distance; it depends on the lengths"),
        (lambda u, v: np.arccos(right(u, v)), "that is the angle; its cosine was asked for"),
        (lambda u, v: u * v / (norm(u) * norm(v)), "the products are still to be added: `u @ v` does both"),
    )
    return tried(answer, right, cases, slips)


@LESSON.exercise(
    "00.2",
    "Write Hit@1: the share of sentences whose nearest other sentence has their label.",
    (
        "A sentence is nearest to itself: what must happen to the diagonal of S first?",
        "Set the diagonal to -∞. `S.argmax(1)` is then the nearest other sentence of each row.",
        "`np.fill_diagonal(S, -np.inf)`, then `(labels[S.argmax(1)] == labels).mean()`.",
    ),
    "one number for how well a space knows the classes, measured in the space and not in a picture",
)
def hit(answer: Callable[..., Any]) -> str | None:
    """The share of sentences whose nearest other one has their label."""
    draw = np.random.default_rng(1)
    labels = np.repeat(np.arange(6), 5)
    rows = draw.normal(size=(30, 4)) + draw.normal(size=(6, 4))[labels]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    S = rows @ rows.T
    given = number(answer(S.copy(), labels.copy()))
    others = np.where(np.eye(30, dtype=bool), -np.inf, S)
    right = float((labels[others.argmax(1)] == labels).mean())
    positives = np.where(labels[:, None] == labels, others, -np.inf)
    slips = (
        (1.0, "every sentence is its own nearest: leave the diagonal out"),
        ((labels[others.argmin(1)] == labels).mean(), "that is the farthest one; S grows as sentences come together"),
        (right * 30, "that is how many; divide by their number"),
        (
            (positives.max(1) > 0).mean(),
            "a neighbour of the class somewhere is not enough: it must be the nearest of all",
        ),
        (((labels[:, None] == labels) & ~np.eye(30, dtype=bool)).mean(), "that does not look at S at all"),
    )
    return (
        None
        if close(given, right)
        else slip(given, slips) or f"in the case of the check it is {right:.3f}; yours {given:.3f}"
    )


@LESSON.exercise(
    "00.3",
    "Write the inter/intra ratio.",
    (
        "First the centre of each class: the mean of its rows.",
        "Intra: the mean distance of the sentences to their own centre. Inter: the mean, over the centres, of the "
        "distance to the nearest other one.",
        "Fill the diagonal of the centres' distances with +∞ before taking the minimum.",
    ),
    "above 1 the classes are farther apart than they are wide",
)
def ratio(answer: Callable[..., Any]) -> str | None:
    """How far apart the classes are, in units of how wide they are."""
    draw = np.random.default_rng(2)
    labels = np.repeat(np.arange(4), [3, 4, 5, 6])
    rows = draw.normal(size=(18, 3)) + 2 * draw.normal(size=(4, 3))[labels]
    right = inter_intra(rows, labels)
    given = number(answer(rows.copy(), labels.copy()))
    centres = np.array([rows[labels == each].mean(0) for each in range(4)])
    gaps = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    gaps[np.diag_indices(4)] = np.nan
    squares = ((rows - centres[labels]) ** 2).sum(1)
    slips = (
        (1 / right.ratio, "that is intra over inter, the other way round"),
        (np.nanmean(gaps) / right.intra, "inter is the distance to the *nearest* other centre, not to all of them"),
        (right.inter / squares.mean(), "intra is the mean distance to the centre, not the mean squared distance"),
        (0.0, "each centre is nearest to itself: leave it out"),
        (right.inter, "that is inter alone"),
    )
    return None if close(given, right.ratio) else slip(given, slips) or wrong_entries([given], [right.ratio])


@LESSON.exercise(
    "00.4",
    "Write a sentence of your own that lands among those on cooking.",
    (
        "What would somebody write who stands in a kitchen and needs advice?",
        "Words that many sentences on cooking share pull most: soup, oven, sauce.",
        "Something like: Why does my sauce burn in the pan every time?",
    ),
    "a new sentence needs no training: its words bring it to its place",
)
def own_sentence(answer: Any) -> str | None:
    """A new sentence that lands among the right ones."""
    if not isinstance(answer, str):
        raise ValueError(f"a sentence was expected, and {type(answer).__name__} came")
    method, texts, labels = _space()
    if answer.strip().lower() in {text.lower() for text in texts}:
        return "that stands in the corpus word for word: write one of your own"
    row = method.encode([answer])
    if not row.any():
        return "none of its words stands in the corpus: to these vectors it is nothing at all"
    nearest = int(method.similarity(row, method.encode(texts))[0].argmax())
    if labels[nearest] == TOPIC:
        return None
    return f"its nearest is of the topic {labels[nearest]!r}: {texts[nearest][:80]!r}. Which words may have led there?"


@cache
def _space() -> tuple[Method, list[str], list[str]]:
    topics = load("topics")
    method = METHODS["mean-vectors"]()
    method.fit(topics)
    test = topics.part("test")
    return method, list(test.texts), list(test.labels)  # type: ignore[attr-defined]
