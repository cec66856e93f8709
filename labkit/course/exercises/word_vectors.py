"""Notebook 08: word vectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from labkit.arrays import unit
from labkit.course.exercise import Unfit, Unnamed, check, close, find_mistake, known_mistake, number
from labkit.vectors import ppmi


@check("08.1")
def check_counted(answer: Any, random: np.random.Generator) -> str | None:
    """How often "the" and "sleeps" meet in "the cat sleeps", "the dog sleeps", "the dog barks"."""
    given = number(answer)
    mistakes = (
        (2.0, "they meet twice, but at distance 2: each meeting counts 1/2"),
        (0.5, "that is one meeting, or two at a quarter; they meet twice, and each counts 1/2"),
        (4.0, "a neighbour at distance t counts 1/t, not t"),
        (1.5, "in 'the dog barks' there is no 'sleeps': they meet in two sentences, not three"),
        (0.0, "they need not stand side by side: within ten words they meet, at distance 2 each time"),
    )
    general = Unnamed("count the meetings, each as 1 over its distance")
    return None if close(given, 1.0) else known_mistake(given, mistakes) or general


@check("08.2")
def check_information(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """max(0, log p(i, j) / (p(i) p(j))), contexts to the power 1."""
    cases = []
    for n in (5, 4, 6):
        counts = np.triu(random.integers(1, 9, (n, n)) * (random.random((n, n)) < 0.6), 1)
        counts[0, 1:], counts[0, -1] = np.maximum(counts[0, 1:], 1), 0  # each word meets another, and two never do
        counts[1, -1] = 3
        cases.append((counts + counts.T + 0.5 * np.eye(n),))

    def right(counts: np.ndarray) -> Any:
        return ppmi(sparse.csr_array(counts), smoothing=1.0)

    def ratio(counts: np.ndarray) -> Any:
        return counts * counts.sum() / (counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True))

    mistakes = (
        (lambda C: np.log(ratio(C)), lambda C: np.nan_to_num(np.log(ratio(C)), neginf=0.0),
         "words that never meet give log 0 = -∞, and some meet less than by chance: the maximum with 0 is missing"),
        (lambda C: right(C) / np.log(2), "that is the logarithm to the base 2; ours is natural"),
        (lambda C: np.maximum(0, -np.log(ratio(C))), "the fraction stands upside down: p(i, j) over p(i) p(j)"),
        (ratio, "the logarithm is missing"),
        (lambda C: np.log1p(ratio(C)), "that is log(1 + x); the logarithm of the fraction itself is asked for"),
    )  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        return find_mistake(answer, right, cases, mistakes)


@check("08.3")
def check_neighbour(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The row with the largest cosine, itself left out."""
    cases: list[tuple[np.ndarray, int]] = []
    for n, d in ((7, 3), (9, 4), (6, 5)):
        rows = random.normal(size=(n, d)) * random.permutation(np.geomspace(0.3, 6, n))[:, None] + 0.4
        cases += [(rows, word) for word in range(n)]
    turns = np.deg2rad(random.uniform(0, 360) + np.array([0, 110, 230]))  # more than a right angle from one another
    away = np.array([np.cos(turns), np.sin(turns)]).T * [[1], [2], [5]]
    cases += [(away, word) for word in range(3)]

    def best(scores: Callable[[np.ndarray, int], Any], own: float = -np.inf) -> Callable[[np.ndarray, int], Any]:
        """The place of the largest score, with `own` at the word's own place."""
        return lambda rows, word: np.where(np.arange(len(rows)) == word, own, scores(rows, word)).argmax()

    def cosines(rows: np.ndarray, word: int) -> Any:
        return unit(rows) @ unit(rows)[word]

    def right(rows: np.ndarray, word: int) -> Any:
        return best(cosines)(rows, word)

    mistakes = (
        (lambda X, w: w, "the nearest word to a word is itself: leave it out"),
        (best(cosines, 0.0), "0 at the word's own place is not low enough: where all cosines are below 0, it wins"),
        (best(lambda X, w: X @ X[w]), "that is the largest dot product: long vectors win. Divide by both lengths"),
        (best(lambda X, w: -np.linalg.norm(X - X[w], axis=1)),
         "that is the smallest distance; for directions take the cosine"),
        (best(lambda X, w: -cosines(X, w)), lambda X, w: cosines(X, w).argmin(),
         "that is the farthest: the largest cosine is the nearest"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number)


@check("08.4")
def check_average(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean over known words; a sentence without one is a row of zeros."""
    cases: list[tuple[list[str], dict[str, np.ndarray]]] = []
    for d, sentences in ((2, ("a b", "a a b", "a ?")), (4, ("? c a c ! c b", "b", "?")), (3, ("", "b b ? D ca"))):
        table = {word: random.normal(size=d) * 2 for word in ("a", "b", "c", "d", "ca", "D")}
        cases += [(sentence.split(), table) for sentence in sentences]

    def by(how: Callable[[list[np.ndarray], list[str]], Any]) -> Callable[..., Any]:
        """Something made of the known words' vectors and the sentence, where there are any."""

        def call(sentence: list[str], table: dict[str, np.ndarray]) -> Any:
            known = [table[word] for word in sentence if word in table]
            return how(known, sentence) if known else 0 * table["a"]

        return call

    def right(sentence: list[str], table: dict[str, np.ndarray]) -> Any:
        return by(lambda known, _: np.mean(known, axis=0))(sentence, table)

    mistakes = (
        (by(lambda v, _: np.sum(v, axis=0)), "that is the sum: a long sentence would have a long vector"),
        (by(lambda v, s: np.sum(v, axis=0) / len(s)),
         "you divide by all words; those without a vector are no part of the mean"),
        (lambda sentence, table: right(sorted(set(sentence)), table),
         "each word counts once in yours; a word that stands there twice counts twice"),
        (by(lambda v, _: np.mean(v)), "that is the mean of all numbers; the mean vector is asked for, `axis=0`"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("08.5")
def check_fooled(answer: Any, random: np.random.Generator) -> str | None:
    """The kind of different pairs with the highest mean cosine in the table of the notebook (a test measures it)."""
    if not isinstance(answer, str):
        raise Unfit(f"a kind of the table was expected, in quotation marks, and {type(answer).__name__} came")
    given = " ".join(re.findall("[a-z,]+", answer.lower())).rstrip(",")
    if given == "one detail changed":
        return None
    if given in ("same field", "same topic", "same words, other intent"):
        return "one of the kinds with label 0 looks more alike than this one: take the highest mean cosine"
    if given in ("one synonym", "reordered", "reworded"):
        return "these pairs are the same: for them a high cosine is right. Among those with label 0, which is highest?"
    return Unnamed("among the kinds with label 0, take the one with the highest mean cosine, as it is written there")
