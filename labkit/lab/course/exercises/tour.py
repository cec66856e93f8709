"""Notebook 00: a cosine, a hit, a ratio, and a sentence of one's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.linalg import norm

from labkit.corpora import load
from labkit.evaluation import inter_intra
from labkit.lab.course.exercise import check, find_mistake, number
from labkit.method import Method
from labkit.methods import METHODS
from labkit.text import words

TOPIC = "cooking"


@check("00.1")
def check_cosine(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """u·v / (‖u‖ ‖v‖)."""
    draw = np.random.default_rng(0)
    cases = [(draw.normal(size=d), draw.normal(size=d) * 3) for d in (3, 5, 4)]

    def right(u: Any, v: Any) -> Any:
        return u @ v / (norm(u) * norm(v))

    mistakes = (
        (lambda u, v: u @ v, "that is the dot product: long vectors look alike. Divide by both lengths"),
        (lambda u, v: u @ v / (u @ u * (v @ v)), "you divide by the squares of the lengths: a root is missing"),
        (lambda u, v: u @ v / (u @ u), "you divide by the length of u twice; that of v is missing"),
        (lambda u, v: u @ v / (v @ v), "you divide by the length of v twice; that of u is missing"),
        (lambda u, v: u @ v / np.sqrt(norm(u) * norm(v)),
         "you divide by the root of the two lengths: `norm` has its root"),
        (lambda u, v: u @ v / np.sqrt(u @ u + v @ v), "the lengths are multiplied, not their squares added"),
        (lambda u, v: u @ v / norm(u * v), "divide by the length of u times that of v, not by the length of u * v"),
        (lambda u, v: u @ v / norm(u - v), "divide by the two lengths, not by the distance"),
        (lambda u, v: u @ v / norm(u + v), "divide by the two lengths, not by the length of the sum"),
        (lambda u, v: u @ v / (abs(u).sum() * abs(v).sum()),
         "a length is the root of the sum of squares, not the sum of sizes"),
        (lambda u, v: np.cos(u @ v), "no cosine need be computed: the dot product over the lengths *is* the cosine"),
        (lambda u, v: u @ v / norm(u), "you divide by the length of u only; both are needed"),
        (lambda u, v: u @ v / norm(v), "you divide by the length of v only; both are needed"),
        (lambda u, v: u @ v / norm(u) * norm(v), "a / b * c multiplies by c: put brackets round the two lengths"),
        (lambda u, v: u @ v / (norm(u) + norm(v)), "the lengths are multiplied, not added"),
        (lambda u, v: 1 - right(u, v), "that is a cosine distance, 1 - cos; a similarity grows with nearness"),
        (lambda u, v: norm(u - v), "that is the distance; it depends on the lengths"),
        (lambda u, v: np.arccos(right(u, v)), "that is the angle; its cosine was asked for"),
        (lambda u, v: np.corrcoef(u, v)[0, 1],
         "that is the correlation: it takes the mean out of each vector first, and a cosine does not"),
        (lambda u, v: (1 + right(u, v)) / 2, "yours is moved into 0 to 1; a cosine goes from -1 to 1"),
        (lambda u, v: u @ v / len(u), "you divide by how many numbers there are; divide by ‖u‖ and ‖v‖"),
        (lambda u, v: right(u, v) ** 2, "that is its square: the sign is lost"),
        (lambda u, v: u * v / (norm(u) * norm(v)), "the products are still to be added: `u @ v` does both"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("00.2")
def check_hit(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The share of sentences whose nearest other one has their label."""
    draw = np.random.default_rng(1)
    cases = []
    for sizes, d in (((9, 3, 2, 6), 4), ((2, 7, 4), 3), ((3, 3, 8, 5, 2), 6)):
        labels = draw.permutation(np.repeat(np.arange(len(sizes)), sizes))
        rows = draw.normal(size=(len(labels), d)) + 0.8 * draw.normal(size=(len(sizes), d))[labels]
        rows /= norm(rows, axis=1, keepdims=True)
        cases.append((rows @ rows.T, labels * 3 - 2))
    turns = np.deg2rad([0, 110, 230])  # each is more than a right angle from the others
    star = np.array([np.cos(turns), np.sin(turns)])
    cases.append((star.T @ star, np.array(["one", "other", "other"])))
    turns = np.deg2rad([0, 0, 80, 80, 180, 200, 235])  # twins with different labels, and twins with the same
    twins = np.array([np.cos(turns), np.sin(turns)])
    cases.append((twins.T @ twins, np.array([1, 0, 2, 2, 0, 1, 0])))

    def others(S: Any) -> Any:
        return np.where(np.eye(len(S), dtype=bool), -np.inf, S)

    def same(labels: Any) -> Any:
        return labels[:, None] == labels[None, :]

    def share(place: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda S, labels: (labels[place(S)] == labels).mean()

    right = share(lambda S: others(S).argmax(1))

    def by_class(S: Any, labels: Any) -> Any:
        hits = labels[others(S).argmax(1)] == labels
        return np.mean([hits[labels == name].mean() for name in np.unique(labels)])

    def by_centre(S: Any, labels: Any) -> Any:
        names = np.unique(labels)
        near = [np.where(labels[None, :] == name, S, 0).sum(1) / (labels == name).sum() for name in names]
        return (names[np.argmax(near, axis=0)] == labels).mean()

    def among(k: int, first: int) -> Callable[[Any, Any], Any]:
        """Hit@k, the sentence itself left out: filled with -∞, or as the first of the order."""

        def made(S: Any, labels: Any) -> Any:
            order = np.argsort(-S if first else -others(S), axis=1)
            return (labels[order[:, first : k + first]] == labels[:, None]).any(1).mean()

        return made

    mistakes = (
        (share(lambda S: S.argmax(1)), "every sentence is its own nearest: leave the diagonal out"),
        (share(lambda S: np.where(np.eye(len(S), dtype=bool), 0, S).argmax(1)),
         "0 on the diagonal is not low enough: where all others are below 0, a sentence is its own nearest again"),
        (share(lambda S: S.argmin(1)), "that is the farthest one; S grows as sentences come together"),
        (share(lambda S: np.argsort(S, 1)[:, 1]),
         "argsort goes from small to large: place 1 is the second *farthest*; the nearest stand at the end"),
        (share(lambda S: np.argsort(-others(S), 1)[:, 1]), "that is the second nearest sentence: one place too far"),
        *((share(second), "where a sentence has a twin, the second in order may be the sentence itself: leave it out")
          for second in (lambda S: np.argsort(S, 1)[:, -2], lambda S: np.argsort(-S, 1)[:, 1])),
        (lambda S, y: right(S, y) * len(S), "that is how many; divide by their number"),
        (lambda S, y: 1 - right(S, y), "that is the share of misses"),
        (lambda S, y: right(S, y) * len(S) / len(np.unique(y)), "divide by the number of sentences, not of classes"),
        (lambda S, y: others(S).max(1).mean(), "that is how near the nearest are; ask whose label they have"),
        *((lambda S, y, T=T: (T(S).argmax(1) == y).mean(),
           "you compare the *place* of the nearest with a label: look up the label that stands there")
          for T in (others, np.asarray)),
        (lambda S, y: (np.where(same(y), others(S), -np.inf).max(1) > 0).mean(),
         "a neighbour of the class somewhere is not enough: it must be the nearest of all"),
        (lambda S, y: (same(y) & ~np.eye(len(S), dtype=bool)).mean(),
         "that does not look at S at all: it is the share of pairs with the same label"),
        (lambda S, y: same(y).mean(), "that does not look at S at all"),
        (by_class,
         "you take the mean of the classes' shares: small classes count as much as large ones. Count sentences"),
        (by_centre, "that is the nearest *class* on average; the nearest single sentence is asked for"),
        *((among(k, first), f"that is Hit@{k}: only the nearest one counts, not the nearest {k}")
          for k in (2, 3, 5, 10) for first in (0, 1)),
        (lambda S, y: (y[others(S).argmax(1)] == y)[0], "that is the first sentence's hit; take the mean over all"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number)


@check("00.3")
def check_ratio(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """How far apart the classes are, in units of how wide they are."""
    draw = np.random.default_rng(2)
    cases = []
    for sizes, d in (((3, 9, 5, 2), 3), ((6, 2, 4), 5), ((2, 7, 3, 4, 5), 4)):
        labels = draw.permutation(np.repeat(np.arange(len(sizes)), sizes))
        rows = draw.normal(size=(len(labels), d)) + 2 * draw.normal(size=(len(sizes), d))[labels]
        names = np.array(["e", "b", "d", "a", "c"])[labels] if len(sizes) == 5 else labels * 2 + 1
        cases.append((rows, names))

    def centres(rows: Any, labels: Any) -> tuple[Any, Any]:
        names = np.unique(labels)
        middle = np.array([rows[labels == name].mean(0) for name in names])
        return middle, middle[np.searchsorted(names, labels)]

    def gaps(rows: Any, labels: Any, alone: float = np.nan) -> Any:
        middle = centres(rows, labels)[0]
        return norm(middle[:, None] - middle[None], axis=2) + np.diag(np.full(len(middle), alone))

    def wide(rows: Any, labels: Any) -> Any:
        return norm(rows - centres(rows, labels)[1], axis=1)

    def inter(rows: Any, labels: Any) -> Any:
        return np.nanmin(gaps(rows, labels), 1)

    def wide_by_class(rows: Any, labels: Any) -> Any:
        return np.mean([wide(rows, labels)[labels == name].mean() for name in np.unique(labels)])

    def right(rows: Any, labels: Any) -> Any:
        return inter_intra(rows, labels).ratio

    def over(top: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda rows, labels: top(rows, labels) / wide(rows, labels).mean()

    nearest = "inter is the distance to the *nearest* other centre, "
    mistakes = (
        (lambda X, y: 1 / right(X, y), "that is intra over inter, the other way round"),
        (over(lambda X, y: np.nanmean(gaps(X, y))), nearest + "not to all of them"),
        (over(lambda X, y: gaps(X, y, 0).mean()), nearest + "not to all of them and to itself"),
        (over(lambda X, y: np.nanmax(gaps(X, y), 1).mean()), nearest + "not to the farthest"),
        (over(lambda X, y: np.nanmin(gaps(X, y))),
         "you take the one smallest distance of all; each centre has its own nearest: take the mean of these"),
        (over(lambda X, y: inter(X, y).sum()), "inter is the mean over the centres, yours is their sum"),
        (over(lambda X, y: np.median(inter(X, y))), "inter is the mean over the centres, not the median"),
        (over(lambda X, y: inter(X, y)[0]), "that is the first class's distance only: take the mean"),
        (lambda X, y: 0.0, "each centre is nearest to itself: leave it out"),
        (lambda X, y: inter(X, y).mean(), "that is inter alone"),
        (lambda X, y: inter(X, y).mean() / wide(X, y).sum(),
         "intra is the mean of the distances to the own centre, yours is their sum"),
        (lambda X, y: inter(X, y).mean() / norm(X - X.mean(0), axis=1).mean(),
         "intra is the distance to the centre of the own class, not of all sentences"),
        (over(lambda X, y: norm(centres(X, y)[0], axis=1).mean()),
         "that is how far the centres are from 0; inter is how far from each other"),
        (lambda X, y: inter(X, y).mean() - wide(X, y).mean(), "that is inter less intra; the ratio is asked for"),
        (over(lambda X, y: np.nanmax(gaps(X, y))), nearest + "not the largest distance of all"),
        (lambda X, y: inter(X, y).mean() * wide(X, y).mean(), "that is inter times intra"),
        (lambda X, y: wide(X, y).mean(), "that is intra alone"),
        (lambda X, y: inter(X, y).mean() / (wide(X, y) ** 2).mean(),
         "intra is the mean distance to the centre, not the mean squared distance"),
        (over(lambda X, y: (inter(X, y) ** 2).mean()),
         "inter is a mean of distances, not of squared distances: a root is missing"),
        (lambda X, y: (inter(X, y) ** 2).mean() / (wide(X, y) ** 2).mean(),
         "both are means of distances, not of squared distances: the roots are missing"),
        (lambda X, y: inter(X, y).mean() / wide_by_class(X, y),
         "intra is the mean over all sentences; yours is the mean over the classes of their means"),
        (over(lambda X, y: np.nanmin(gaps(X, np.arange(len(X))), 1).mean()),
         "yours compares sentences with sentences; inter compares the centres"),
    )  # fmt: skip
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
