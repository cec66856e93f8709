"""Notebook 00: a cosine, a hit, a ratio, and a sentence of one's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.linalg import norm

from labkit.corpora import load
from labkit.course.exercise import check, find_mistake, number
from labkit.course.exercises.draws import cosines, in_classes
from labkit.evaluation import inter_intra
from labkit.method import Method
from labkit.methods import METHODS
from labkit.text import words

TOPIC = "cooking"


@check("00.1")
def check_cosine(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """u·v / (‖u‖ ‖v‖)."""
    cases = [(random.normal(size=d), random.normal(size=d) * 3) for d in (3, 5, 4)]
    cases.append((cases[0][0], -cases[0][1]))  # of both signs

    def right(u: Any, v: Any) -> Any:
        return u @ v / (norm(u) * norm(v))

    mistakes = (
        (lambda u, v: u @ v, "that is the dot product: long vectors look alike. Divide by both lengths"),
        (lambda u, v: u @ v / norm(u), "you divide by the length of u only; both are needed"),
        (lambda u, v: u @ v / norm(u) * norm(v), "a / b * c multiplies by c: put brackets round the two lengths"),
        (lambda u, v: u @ v / (norm(u) + norm(v)), "the lengths are multiplied, not added"),
        (lambda u, v: norm(u - v), "that is the distance; it depends on the lengths"),
    )
    return find_mistake(answer, right, cases, mistakes)


@check("00.2")
def check_hit(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of sentences whose nearest other one has their label."""
    cases = [cosines(random, sizes, d) for sizes, d in (((9, 3, 2, 6), 4), ((2, 7, 4), 3), ((3, 3, 8, 5, 2), 6))]
    cases.append((1.0 - 1.4 * (1 - np.eye(3)), np.array(["one", "other", "other"])))  # all others are below 0

    def hits(nearest: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda S, labels: (labels[nearest(S)] == labels).mean()

    def others(S: Any, filled: float = -np.inf) -> Any:
        return np.where(np.eye(len(S), dtype=bool), filled, S)

    mistakes = (
        (hits(lambda S: S.argmax(1)), "every sentence is its own nearest: leave the diagonal out"),
        (hits(lambda S: others(S, 0).argmax(1)),
         "0 on the diagonal is not low enough: where all others are below 0, a sentence is its own nearest again"),
        (hits(lambda S: S.argmin(1)), "that is the farthest sentence; S grows as sentences come together"),
        (lambda S, labels: (others(S).argmax(1) == labels).mean(),
         "you compare the *place* of the nearest with a label: look up the label that stands there"),
        (lambda S, labels: others(S).max(1).mean(), "that is how near the nearest are; ask whose label they have"),
    )  # fmt: skip
    return find_mistake(answer, hits(lambda S: others(S).argmax(1)), cases, mistakes, read=number)


@check("00.3")
def check_ratio(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """How far apart the classes are, in units of how wide they are."""
    cases = [in_classes(random, sizes, d, 2) for sizes, d in (((3, 9, 5, 2), 3), ((6, 2, 4), 5), ((2, 7, 3, 4, 5), 4))]

    def right(rows: Any, labels: Any) -> Any:
        return inter_intra(rows, labels).ratio

    def over(inter: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
        """A mistake with the centres' distances (k, k), nan on the diagonal."""

        def ratio(rows: Any, labels: Any) -> Any:
            centres = np.array([rows[labels == name].mean(0) for name in np.unique(labels)])
            gaps = norm(centres[:, None] - centres[None], axis=2) + np.diag(np.full(len(centres), np.nan))
            return inter(gaps) / norm(rows - centres[labels], axis=1).mean()

        return ratio

    nearest = "inter is the distance to the *nearest* other centre, "
    mistakes = (
        (over(np.nanmean), over(lambda gaps: np.nan_to_num(gaps).mean()), nearest + "not to all of them"),
        (over(np.nanmin), "you take the one smallest distance of all; each centre has its own: take the mean of these"),
        (over(lambda gaps: np.nanmin(gaps, 1).sum()), "inter is the mean over the centres, yours is their sum"),
        (over(lambda gaps: np.nanmax(gaps, 1).mean()), nearest + "not to the farthest"),
        (lambda rows, labels: 0.0, "each centre is nearest to itself: leave it out"),
    )
    return find_mistake(answer, right, cases, mistakes, read=number)


@check("00.4")
def check_own_sentence(answer: Any, random: np.random.Generator) -> str | None:
    """A new sentence that lands among the right ones."""
    if not isinstance(answer, str):
        return f"a sentence in quotation marks was expected, and {type(answer).__name__} came"
    method, texts, labels, known = _space()
    if len(words(answer)) < 3:
        return "that is no sentence yet: write one of three words at least"
    if tuple(words(answer)) in known:
        return "that stands in the corpus word for word: write one of your own"
    row = method.encode([answer])
    if not row.any():
        return "none of its words stands in the corpus: to these vectors it is nothing at all"
    nearest = int(method.similarity(row, method.encode(texts))[0].argmax())
    if labels[nearest] == TOPIC:
        return None
    return f"its nearest is of the topic {labels[nearest]!r}: {texts[nearest][:80]!r}. Which words may have led there?"


@cache
def _space() -> tuple[Method, list[str], list[str], frozenset[tuple[str, ...]]]:
    topics = load("topics")
    method = METHODS["mean-vectors"]()
    method.fit(topics)
    test = topics.part("test")
    known = frozenset(tuple(words(text)) for text in topics.texts)  # type: ignore[attr-defined]
    return method, list(test.texts), list(test.labels), known  # type: ignore[attr-defined]
