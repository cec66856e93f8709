"""Notebook 08: counts, PPMI, neighbours, means and SIF."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from labkit.arrays import unit
from labkit.course.exercise import check, find_mistake
from labkit.vectors import cooccurrence, ppmi

Table = dict[str, np.ndarray]


@check("08.1")
def check_counted(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """1/t for each pair of words at distance t in a sentence, both ways, up to the window."""
    cases = []
    for size, longest, window in ((5, 6, 3), (7, 5, 2), (4, 8, 10)):
        lengths = [1, longest, *random.integers(2, longest + 1, 3)]
        cases.append(([random.integers(0, size, length).tolist() for length in lengths], size, window))

    def by(
        worth: Callable[[int], float] = lambda t: 1 / t,
        both: bool = True,
        beyond: int = 0,
        together: bool = False,
    ) -> Callable[..., Any]:
        def counts(sentences: Any, size: int, window: int) -> Any:
            table = np.zeros((size, size))
            for sentence in [[i for each in sentences for i in each]] if together else sentences:
                for t in range(1, window + 1 + beyond):
                    for i, j in zip(sentence, sentence[t:], strict=False):
                        table[i, j] += worth(t)
                        table[j, i] += worth(t) * both
            return table

        return counts

    def right(sentences: Any, size: int, window: int) -> Any:
        return cooccurrence(sentences, size, window=window).toarray()

    mistakes = (
        (by(both=False), "count both ways: add 1 / t to `counts[j, i]`, too"),
        (by(lambda t: 1.0), "a neighbour at distance t counts 1/t, not 1"),
        (by(float), "a neighbour at distance t counts 1/t, not t"),
        (by(beyond=-1), "the window is the largest distance that counts: `range(1, window + 1)`"),
        (by(together=True), "words of different sentences are not neighbours: count within each sentence"),
    )
    return find_mistake(answer, right, cases, mistakes)


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
         "some words never meet, and some meet less often than by chance: the maximum with 0 is missing"),
        (lambda C: right(C) / np.log(2), "that is the logarithm to the base 2: use the natural one"),
        (lambda C: np.maximum(0, -np.log(ratio(C))), "the fraction is upside down: divide p(i, j) by p(i) p(j)"),
        (ratio, "the logarithm is missing"),
        (lambda C: np.log1p(ratio(C)), "that is log(1 + x): take the logarithm of the fraction itself"),
    )  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        return find_mistake(answer, right, cases, mistakes)


@check("08.3")
def check_nearest(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The rows with the largest cosines, without the word itself."""
    cases = []
    for n, d, count in ((7, 3, 2), (9, 4, 3), (6, 5, 4)):
        rows = random.normal(size=(n, d)) * random.permutation(np.geomspace(0.3, 6, n))[:, None] + 0.4
        cases += [(rows, word, count) for word in range(n)]

    def cosines(V: np.ndarray, word: int) -> Any:
        return unit(V) @ unit(V)[word]

    def by(scores: Callable[[np.ndarray, int], Any] = cosines, itself: bool = False) -> Callable[..., Any]:
        def best(V: np.ndarray, word: int, count: int) -> Any:
            order = np.argsort(-np.asarray(scores(V, word)))
            return (order if itself else order[order != word])[:count]

        return best

    def right(V: np.ndarray, word: int, count: int) -> Any:
        return by()(V, word, count)

    mistakes = (
        (by(itself=True), "each word is nearest to itself: leave it out"),
        (
            by(lambda V, word: V @ V[word]),
            "those are the largest dot products: long vectors win. Divide by the lengths",
        ),
        (
            by(lambda V, word: -np.linalg.norm(V - V[word], axis=1)),
            "those have the smallest distances: take the largest cosines",
        ),
        (
            by(lambda V, word: -cosines(V, word)),
            lambda V, word, n: np.append(word, by(lambda *of: -cosines(*of))(V, word, n - 1)),
            "those are the farthest: `np.argsort` begins with the smallest",
        ),
        (lambda V, word, count: right(V, word, count)[::-1], "the nearest must come first"),
    )
    return find_mistake(answer, right, cases, mistakes)


def _averaged(
    sentences: Any, table: Table, how: Callable[[Any, Any], Any] = lambda known, _: np.mean(known, axis=0)
) -> np.ndarray:
    """A function of the vectors of each sentence's known words; zeros if there are none."""
    rows = [[table[word] for word in sentence if word in table] for sentence in sentences]
    none = 0 * next(iter(table.values()))
    return np.array([how(known, row) if known else none for known, row in zip(rows, sentences, strict=True)])


def _texts(random: np.random.Generator, d: int, *texts: str) -> tuple[list[list[str]], Table]:
    """Sentences, and a table of vectors for the words a, b, c, d, ca and D."""
    return [text.split() for text in texts], {
        word: random.normal(size=d) * 2 for word in ("a", "b", "c", "d", "ca", "D")
    }


@check("08.4")
def check_means(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean over known words; a sentence without one is a row of zeros."""
    cases = [
        _texts(random, 2, "a b", "a a b", "a ?"),
        _texts(random, 4, "? c a c ! c b", "b", "?"),
        _texts(random, 3, "", "b b ? D ca", "d d a"),
    ]

    def right(sentences: Any, table: Any) -> Any:
        return _averaged(sentences, table)

    mistakes = (
        (lambda sentences, table: _averaged(sentences, table, lambda known, _: np.sum(known, axis=0)),
         "those are sums, so a long sentence has a long vector: take means"),
        (lambda sentences, table: _averaged(sentences, table, lambda known, row: np.sum(known, axis=0) / len(row)),
         "you divide by the number of all words: divide by the number of words that have a vector"),
        (lambda sentences, table: right([sorted(set(row)) for row in sentences], table),
         "each word counts once in yours: a word that occurs twice counts twice"),
        (lambda sentences, table: right([row for row in sentences if set(row) & set(table)], table),
         "a sentence without any known word must keep its row, of zeros"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("08.5")
def check_sif(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """Means weighted by a / (a + p), without their first right singular vector."""
    cases = []
    for d, a in ((3, 0.02), (4, 0.1), (5, 0.005)):
        texts = [" ".join(random.choice(["a", "b", "c", "d", "ca", "D", "?"], random.integers(2, 7))) for _ in range(8)]
        sentences, table = _texts(random, d, *texts, "?")
        cases.append((sentences, table, {word: float(random.uniform(0.001, 0.2)) for word in table}, a))

    def by(
        weight: Callable[[float, float], float] = lambda a, p: a / (a + p),
        first: int = 0,
        centred: bool = False,
        without: Callable[[Any, Any], Any] = lambda M, c: M - np.outer(M @ c, c),
    ) -> Callable[..., Any]:
        def rows(sentences: Any, table: Any, share: Any, a: float) -> Any:
            M = _averaged(sentences, {word: weight(a, share[word]) * vector for word, vector in table.items()})
            return without(M, np.linalg.svd(M - M.mean(0) if centred else M, full_matrices=False)[2][first])

        return rows

    def right(sentences: Any, table: Any, share: Any, a: float) -> Any:
        return by()(sentences, table, share, a)

    mistakes = (
        (by(lambda a, p: 1.0), "the weights a / (a + p) are missing: that is the plain mean"),
        (by(without=lambda M, c: M), "the direction that all sentences share is still there: subtract it"),
        (by(lambda a, p: p / (a + p)), "that gives frequent words more weight: divide a by a + p, not p"),
        (by(centred=True), "take the singular vectors of M itself, without subtracting its mean"),
        (by(first=-1), "that is the last singular vector: take the first"),
    )
    return find_mistake(answer, right, cases, mistakes)
