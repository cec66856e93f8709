"""Notebook 00: cosines, Hit@1, a ratio, and a sentence of your own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.linalg import norm

from labkit.arrays import unit
from labkit.corpora import load
from labkit.course.exercise import check, find_mistake, number
from labkit.course.exercises.draws import in_classes
from labkit.evaluation import inter_intra
from labkit.method import Method
from labkit.methods import METHODS
from labkit.text import words

TOPIC = "cooking"


@check("00.1")
def check_cosines(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """v·w / (‖v‖ ‖w‖) for each row w."""
    cases = [(random.normal(size=d), random.normal(size=(n, d)) * 3) for n, d in ((4, 3), (2, 5), (5, 4))]

    def right(v: Any, V: Any) -> Any:
        return V @ v / (norm(V, axis=1) * norm(v))

    mistakes = (
        (lambda v, V: V @ v, "those are dot products: long vectors look similar. Divide by both lengths"),
        (lambda v, V: V @ v / norm(v), lambda v, V: V @ v / norm(V, axis=1),
         "you divide by one length only; both are needed"),
        (lambda v, V: V @ v / norm(v) * norm(V, axis=1), lambda v, V: V @ v / norm(V, axis=1) * norm(v),
         "a / b * c multiplies by c: put brackets around the two lengths"),
        (lambda v, V: V @ v / (norm(v) + norm(V, axis=1)), "the lengths are multiplied, not added"),
        (lambda v, V: norm(V - v, axis=1), "those are distances; they depend on the lengths"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("00.2")
def check_hit(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of sentences whose nearest other sentence has the same label."""
    cases = []
    for sizes, d in (((9, 3, 2, 6), 4), ((2, 7, 4), 3), ((3, 3, 8, 5, 2), 6)):
        rows, labels = in_classes(random, sizes, d)
        cases.append((rows * random.uniform(0.3, 3, (len(rows), 1)), labels))
    turns = np.deg2rad([0, 110, 230])  # more than a right angle apart: all other cosines are below 0
    cases.append((np.array([np.cos(turns), np.sin(turns)]).T, np.array(["one", "other", "other"])))

    def by(own: float = -np.inf, table: Callable[[Any], Any] = lambda V: unit(V) @ unit(V).T) -> Callable[..., Any]:
        def hits(V: Any, labels: Any) -> Any:
            return (labels[np.where(np.eye(len(V), dtype=bool), own, table(V)).argmax(1)] == labels).mean()

        return hits

    mistakes = (
        (by(1.0), "every sentence is its own nearest: leave it out"),
        (by(0.0), "0 is not low enough: where all others are below 0, a sentence is its own nearest again"),
        (by(table=lambda V: -unit(V) @ unit(V).T), "that is the farthest sentence: a larger cosine is nearer"),
        (by(table=lambda V: V @ V.T), "those are dot products, and long vectors win: use your `cosines`"),
        (lambda V, labels: by()(V, labels) * len(V), "that is how many; divide by the number of sentences"),
    )
    return find_mistake(answer, by(), cases, mistakes, read=number)


@check("00.3")
def check_ratio(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The distance between classes in units of their width."""
    cases = [in_classes(random, sizes, d, 2) for sizes, d in (((3, 9, 5, 2), 3), ((6, 2, 4), 5), ((2, 7, 3, 4, 5), 4))]

    def right(V: Any, labels: Any) -> Any:
        return inter_intra(V, labels).ratio

    def over(inter: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
        """A mistake with the distances between centres (k, k), NaN on the diagonal."""

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
        return f"a sentence in quotation marks was expected, and a {type(answer).__name__} came"
    method, texts, labels, known = _space()
    if len(words(answer)) < 3:
        return "that is not a sentence yet: write at least three words"
    if tuple(words(answer)) in known:
        return "the corpus has that word for word: write one of your own"
    row = method.encode([answer])
    if not row.any():
        return "none of its words is in the corpus, so these vectors know nothing of it"
    nearest = int(method.similarity(row, method.encode(texts))[0].argmax())
    if labels[nearest] == TOPIC:
        return None
    return f"its nearest post is about {labels[nearest]!r}: {texts[nearest][:80]!r}. Which words may have led there?"


@cache
def _space() -> tuple[Method, list[str], list[str], frozenset[tuple[str, ...]]]:
    topics = load("topics")
    method = METHODS["mean-vectors"]()
    method.fit(topics)
    test = topics.part("test")
    known = frozenset(tuple(words(text)) for text in topics.texts)  # type: ignore[attr-defined]
    return method, list(test.texts), list(test.labels), known  # type: ignore[attr-defined]
