"""Notebook 08: word vectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from labkit.lab.course.exercise import Unfit, Unnamed, check, close, find_mistake, known_mistake, number
from labkit.vectors import cooccurrence, ppmi


@check("08.1")
def check_counted(answer: Any, random: np.random.Generator) -> str | None:
    """How often "the" and "sleeps" meet in "the cat sleeps", "the dog sleeps", "the dog barks"."""
    given = number(answer)
    mistakes = (
        (2.0, "they meet twice, but at distance 2: each meeting counts 1/2"),
        (0.5, "that is one meeting, or two at a quarter; they meet twice, and each counts 1/2"),
        (4.0, "a neighbour at distance t counts 1/t, not t"),
        (3.0, "in 'the dog barks' there is no 'sleeps'"),
        (1.5, "in 'the dog barks' there is no 'sleeps': they meet in two sentences, not three"),
        (0.0, "they need not stand side by side: within ten words they meet, at distance 2 each time"),
        (2 / 3, "that is a mean over the sentences, or a third for each meeting: 'sleeps' is two words after 'the'"),
        (1 / 3, "a mean is not asked for: add up the meetings"),
        (0.25, "a neighbour at distance t counts 1/t, and there are two such meetings"),
        (6.0, "'sleeps' is two words after 'the', and a neighbour at distance t counts 1/t, not t"),
    )  # fmt: skip
    general = Unnamed("count the meetings, each as 1 over its distance")
    return None if close(given, 1.0) else known_mistake(given, mistakes) or general


def tables_of_counts() -> list[tuple[np.ndarray]]:
    """Symmetric tables of words of which some never meet."""
    sentences = ([[0, 1, 2], [0, 3, 2], [0, 3, 4], [1, 2], [4, 0]], [[3, 0, 3, 1], [1, 2], [2, 0, 2]])
    tables = [np.asarray(cooccurrence(each, 1 + max(map(max, each))).toarray(), dtype=float) for each in sentences]
    draw = np.random.default_rng(4)
    drawn = np.triu(draw.integers(0, 9, size=(6, 6)) * (draw.random((6, 6)) < 0.6))
    return [(each,) for each in (*tables, drawn + drawn.T + 0.5 * np.eye(6))]


@check("08.2")
def check_information(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """max(0, log p(i, j) / (p(i) p(j))), contexts to the power 1."""

    def right(counts: np.ndarray) -> Any:
        return ppmi(sparse.csr_array(counts), smoothing=1.0)

    def rows(counts: np.ndarray) -> Any:
        return counts.sum(1, keepdims=True)

    def columns(counts: np.ndarray) -> Any:
        return counts.sum(0, keepdims=True)

    def ratio(counts: np.ndarray) -> Any:
        return counts * counts.sum() / (rows(counts) * columns(counts))

    def above(how: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
        """The logarithm of it, where that is above 0."""
        return lambda counts: np.maximum(0, np.log(how(counts)))

    mistakes = (
        (lambda C: np.log(ratio(C)),
         "words that never meet give log 0 = -∞, and some meet less than by chance: the maximum with 0 is missing"),
        (lambda C: np.nan_to_num(np.log(ratio(C)), neginf=0.0),
         "negative values are left in: PPMI keeps what is above 0"),
        (lambda C: np.minimum(0, np.log(ratio(C))), "that is the minimum with 0: what is above 0 is to be kept"),
        (lambda C: np.nan_to_num(abs(np.log(ratio(C))), posinf=0.0),
         "what is below 0 is turned round in yours; it is to become 0"),
        (above(lambda C: 1 / ratio(C)), "the fraction stands upside down: p(i, j) over p(i) p(j)"),
        (lambda C: right(C) / np.log(2), "that is the logarithm to the base 2; ours is natural"),
        (lambda C: right(C) / np.log(10), "that is the logarithm to the base 10; ours is natural"),
        (ratio, lambda C: np.maximum(0, ratio(C) - 1), "the logarithm is missing"),
        (lambda C: np.log1p(ratio(C)), "that is log(1 + x); the logarithm of the fraction itself is asked for"),
        (np.log1p, above(lambda C: C), "that is the logarithm of the counts: divide by what chance would give"),
        (np.zeros_like,
         "0 everywhere: nothing in yours is above chance. p(i, j), p(i) and p(j) are shares of all counts, and p(i, j) "
         "is divided by the product of the other two"),
        (above(lambda C: C / (rows(C) * columns(C) / C.sum() ** 2)),
         "p(i, j) is a share, too: divide the counts by their sum"),
        (lambda C: right(C).toarray() * C / C.sum(),
         "yours is weighted by p(i, j), as in the mean over all pairs; each pair's own value is asked for"),
        (lambda C: np.maximum(0, C / C.sum() - rows(C) * columns(C) / C.sum() ** 2),
         "that is the difference to chance; the logarithm of the fraction is asked for"),
        (lambda C: C / C.sum() - rows(C) * columns(C) / C.sum() ** 2,
         "that is the difference to chance; the logarithm of the fraction is asked for, and 0 where it is below"),
        (above(lambda C: C * C.sum() / rows(C) ** 2), "you divide by p(i) twice: p(i) is the row's, p(j) the column's"),
        (lambda counts: ppmi(sparse.csr_array(counts)),
         "that has the power 0.75 for the contexts; here plain counts are asked for"),
        (above(lambda C: C / C.sum() * len(C) ** 2),
         "chance is not the same for all pairs: frequent words meet more often. Divide by p(i) p(j)"),
        (lambda C: (ratio(C) > 1).astype(float), "how far above chance is asked for, not only whether"),
    )  # fmt: skip
    with np.errstate(divide="ignore", invalid="ignore"):
        return find_mistake(answer, right, tables_of_counts(), mistakes)


@check("08.3")
def check_neighbour(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The row with the largest cosine, itself left out."""
    draw = np.random.default_rng(3)
    cases: list[tuple[np.ndarray, int]] = []
    for n, d in ((7, 3), (9, 4), (6, 5)):
        rows = draw.normal(size=(n, d)) * draw.choice([0.3, 1, 2, 6], size=(n, 1)) + 0.4
        cases += [(rows, word) for word in range(n)]
    turns = np.deg2rad([0, 110, 230])  # each is more than a right angle from the others
    away = np.array([np.cos(turns), np.sin(turns)]).T * [[1], [2], [5]]
    cases += [(away, word) for word in range(3)]
    twins = np.array([[2.0, 0, 0], [1, 2, -1], [4, 0, 0], [-1, 1, 0.5], [-2, -1, 3]])  # the first goes as the third
    cases += [(twins, 0), (twins, 2)]

    def cosines(rows: np.ndarray, word: int) -> Any:
        unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit @ unit[word]

    def best(scores: Callable[[np.ndarray, int], Any], own: float = -np.inf) -> Callable[[np.ndarray, int], Any]:
        """The place of the largest score, with `own` at the word's own place."""
        return lambda rows, word: np.where(np.arange(len(rows)) == word, own, scores(rows, word)).argmax()

    right = best(cosines)

    def place(at: int) -> Callable[[np.ndarray, int], Any]:
        return lambda rows, word: np.argsort(cosines(rows, word))[at]

    itself = "the nearest word to a word is itself: leave it out"
    mistakes = (
        (lambda X, w: cosines(X, w).argmax(), lambda X, w: w, itself),
        (best(cosines, 0.0), "0 at the word's own place is not low enough: where all cosines are below 0, it wins"),
        (best(lambda X, w: X @ X[w]), "that is the largest dot product: long vectors win. Divide by both lengths"),
        (lambda X, w: (X @ X[w]).argmax(),
         "that is the largest dot product, the word itself among them: divide by both lengths, and leave it out"),
        (lambda X, w: np.argsort(X @ X[w])[-2], "that is by the dot product: long vectors win. Divide by both lengths"),
        (best(lambda rows, word: -np.linalg.norm(rows - rows[word], axis=1)),
         "that is the smallest distance; for directions take the cosine"),
        (best(lambda X, w: -cosines(X, w)), lambda X, w: cosines(X, w).argmin(),
         "that is the farthest: the largest cosine is the nearest"),
        (lambda X, w: np.where(np.arange(len(X)) == w, -np.inf, abs(cosines(X, w))).argmax(),
         "without its sign a cosine calls opposites alike"),
        (place(-3), "that is the second nearest: one place too far"),
        (place(-2), lambda X, w: np.argsort(-cosines(X, w))[1],
         "where a word has a twin, the second in order may be the word itself: leave it out"),
        (place(1), "argsort goes from small to large: the nearest stands near the end"),
        (lambda X, w: np.delete(cosines(X, w), w).argmax(),
         "with the word taken out, all numbers behind it move up by one: put -∞ in its place instead"),
        (lambda X, w: np.sort(cosines(X, w))[-2],
         "that is the cosine; the number of the word that has it is asked for (`argmax`)"),
        (best(lambda X, w: (X / np.linalg.norm(X, axis=0)) @ (X / np.linalg.norm(X, axis=0))[w]),
         "you divide the columns by their lengths (axis 0); a word is a row: axis 1"),
        (best(lambda X, w: X @ X[w] / np.linalg.norm(X, axis=1) ** 2), "you divide by the square of the length"),
        (best(lambda X, w: X @ X[w] / abs(X).sum(1)),
         "you divide by the sum of the numbers' sizes; the length is the root of the sum of squares"),
        (best(lambda X, w: np.corrcoef(X)[w]),
         "that is the correlation: it takes the mean out of each vector first, and a cosine does not"),
        (lambda X, w: np.linalg.norm(X, axis=1).argmax(), "that is the longest vector, whatever the word"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes, read=number)


@check("08.4")
def check_average(answer: Callable[..., Any], random: np.random.Generator) -> str | None:
    """The mean over known words; a sentence without one is a row of zeros."""
    draw = np.random.default_rng(5)
    cases: list[tuple[list[str], dict[str, np.ndarray]]] = []
    for d, sentences in ((2, ("a b", "a a b", "a ?")), (4, ("? c a c ! c b", "b", "?")), (3, ("", "b b ? D ca"))):
        table = {word: draw.normal(size=d) * 2 for word in ("a", "b", "c", "d", "ca", "D")}
        cases += [(sentence.split(), table) for sentence in sentences]

    def known(sentence: list[str], table: dict[str, np.ndarray]) -> list[np.ndarray]:
        return [table[word] for word in sentence if word in table]

    def zeros(table: dict[str, np.ndarray]) -> np.ndarray:
        return np.zeros(len(next(iter(table.values()))))

    def by(how: Callable[[list[np.ndarray], list[str]], Any]) -> Callable[..., Any]:
        """A mistake with the known words' vectors, where there are any."""

        def call(sentence: list[str], table: dict[str, np.ndarray]) -> Any:
            found = known(sentence, table)
            return how(found, sentence) if found else zeros(table)

        return call

    def right(sentence: list[str], table: dict[str, np.ndarray]) -> Any:
        return by(lambda found, _: np.mean(found, axis=0))(sentence, table)

    mistakes = (
        (by(lambda v, _: np.sum(v, axis=0)), "that is the sum: a long sentence would have a long vector"),
        (by(lambda v, s: np.sum(v, axis=0) / len(s)),
         "you divide by all words; those without a vector are no part of the mean"),
        (by(lambda v, s: np.sum(v, axis=0) / len(set(s))),
         "you divide by the number of different words; a word that stands there twice counts twice"),
        (lambda sentence, table: right(list(dict.fromkeys(sentence)), table),
         "each word counts once in yours; a word that stands there twice counts twice"),
        (by(lambda v, _: np.mean(v, axis=0) / np.linalg.norm(np.mean(v, axis=0))),
         "yours is divided by its length; the mean itself is asked for"),
        (by(lambda v, _: np.mean([each / np.linalg.norm(each) for each in v], axis=0)),
         "you divide each word's vector by its length first; the mean of the vectors as they are is asked for"),
        (by(lambda v, _: np.median(v, axis=0)), "that is the median, not the mean"),
        (by(lambda v, _: np.max(v, axis=0)), "that is the largest of each number, not the mean"),
        (by(lambda v, _: v[0]), "that is the first word's vector only"),
        (by(lambda v, _: v[-1]), "that is the last word's vector only: is it overwritten in a loop?"),
        (by(lambda v, _: np.mean(v, axis=1)), "that is the mean of each word's numbers (axis 1): take axis 0"),
        (by(lambda v, _: np.mean(v)), "that is one number, the mean of all: take the mean over the words, axis=0"),
        (lambda s, t: np.mean(list(t.values()), axis=0), "that is the mean of the whole table, whatever the sentence"),
        (lambda s, t: right(s, t) if known(s, t) else zeros(t) + np.nan,
         "a sentence without any known word is a row of zeros; yours is nan (0 divided by 0)"),
        (lambda s, t: right(s, t) if known(s, t) else np.nan,
         "a sentence without any known word is a row of zeros; yours is nan, the mean of nothing"),
        (lambda s, t: right(s, t) if set(s) <= set(t) and s else zeros(t),
         "one word without a vector makes all of yours zeros: leave only that word out"),
        (lambda s, t: right(s, t) if known(s, t) else np.ones_like(zeros(t)),
         "a sentence without any known word is a row of zeros"),
        (lambda s, t: right(s, t) if known(s, t) else [],
         "a sentence without any known word is a row of zeros, as long as the words' vectors; yours is empty"),
        (lambda s, t: right(s, t) if known(s, t) else 0.0,
         "a sentence without any known word is a row of zeros, as long as the words' vectors; yours is one number"),
        (lambda s, t: right(s, t) if known(s, t) else np.zeros(2),
         "a row of zeros must be as long as the words' vectors, whatever their length"),
    )  # fmt: skip
    return find_mistake(answer, right, cases, mistakes)


@check("08.5")
def check_fooled(answer: Any, random: np.random.Generator) -> str | None:
    """The kind of different pairs with the highest mean cosine in the table of the notebook (a test measures it)."""
    if isinstance(answer, list | tuple) and len(answer) == 1:
        (answer,) = answer
    if not isinstance(answer, str):
        raise Unfit(f"a kind of the table was expected, in quotation marks, and {type(answer).__name__} came")
    given = " ".join(re.findall("[a-z,]+", answer.lower())).rstrip(",")
    if given == "one detail changed":
        return None
    if given in ("same field", "same topic"):
        return "two of the kinds with label 0 look more alike than this one: take the highest mean cosine"
    if given in ("one synonym", "reordered", "reworded"):
        return "these pairs are the same: for them a high cosine is right. Among those with label 0, which is highest?"
    if given == "same words, other intent":
        return "nearly: it is the second. One of the kinds with label 0 is a little higher"
    return Unnamed("among the kinds with label 0, take the one with the highest mean cosine, as it is written there")
