"""Notebook 00: who looks at the answers of the tour: a cosine, a hit, a ratio, and a sentence of one's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from labkit.check.numbers import close, number
from labkit.check.slips import slip, wrong_entries
from labkit.corpora import load
from labkit.evaluation import inter_intra
from labkit.methods import METHODS, Method

TOPIC = "cooking"


def cosine(answer: Callable[..., Any]) -> str | None:
    """u·v / (‖u‖ ‖v‖)."""
    u, v = np.array([3.0, 4.0, 0.0]), np.array([1.0, 2.0, 2.0])
    given = number(answer(u.copy(), v.copy()))
    right = u @ v / (np.linalg.norm(u) * np.linalg.norm(v))
    slips = (
        (u @ v, "that is the dot product: long vectors look alike. Divide by both lengths"),
        (u @ v / (u @ u * (v @ v)), "you divide by the squares of the lengths"),
        (u @ v / np.linalg.norm(u), "you divide by one length; both are needed"),
        (1 - right, "that is a cosine distance, 1 - cos; a similarity grows as two sentences come together"),
        (np.linalg.norm(u - v), "that is the distance; it depends on the lengths"),
    )
    return None if close(given, right) else slip(given, slips) or f"for (3, 4, 0) and (1, 2, 2) it is {right:.3f}"


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
