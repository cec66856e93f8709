"""Notebook 08: word vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from labkit.check.exercise import Lesson
from labkit.check.trying import array, close, number, slip, wrong_entries
from labkit.vectors import cooccurrence, ppmi

LESSON = Lesson("08", predictions=("08.a", "08.b"))


@LESSON.exercise(
    "08.1",
    "How much do 'the' and 'sleeps' count together in the three sentences?",
    (
        "In which of the sentences do both stand, and how far apart?",
        "Twice at distance 2.",
        "2 times 1/2.",
    ),
    "near neighbours count more than far ones, and no window's edge has to be chosen with great care",
)
def counted(answer: Any) -> str | None:
    """How often "the" and "sleeps" meet in "the cat sleeps", "the dog sleeps", "the dog barks"."""
    given = number(answer)
    slips = (
        (2.0, "they meet twice, but at distance 2: each meeting counts 1/2"),
        (0.5, "that is one meeting; they meet in two of the three sentences"),
        (4.0, "a neighbour at distance t counts 1/t, not t"),
        (3.0, "in 'the dog barks' there is no 'sleeps'"),
    )
    return None if close(given, 1.0) else slip(given, slips) or "count the meetings, each as 1 over its distance"


def counts_of_a_case() -> np.ndarray:
    """Five words in sentences of numbers, so that some never meet."""
    sentences = [[0, 1, 2], [0, 3, 2], [0, 3, 4], [1, 2], [4, 0]]
    return np.asarray(cooccurrence(sentences, 5).toarray())


@LESSON.exercise(
    "08.2",
    "Write PPMI of a table of counts.",
    (
        "Divide the table by its sum: p(i, j). Its row sums are p(i), its column sums p(j).",
        "`p / (p.sum(1, keepdims=True) * p.sum(0, keepdims=True))`, then the logarithm, then the maximum with 0.",
        "Where a count is 0 the logarithm is -∞; `np.maximum(0, ...)` turns that into 0.",
    ),
    "what is left is only what is above chance: most of the table is zero",
)
def information(answer: Callable[..., Any]) -> str | None:
    """max(0, log p(i, j) / (p(i) p(j))), contexts to the power 1."""
    from scipy import sparse

    counts = counts_of_a_case()
    right = ppmi(sparse.csr_array(counts), smoothing=1.0).toarray()
    with np.errstate(divide="ignore", invalid="ignore"):
        given = array(answer(counts.copy()))
        if close(given, right):
            return None
        if given.shape == right.shape and not np.isfinite(given).all():
            return "words that never meet give log 0 = -∞: the maximum with 0 makes that 0"
        total = counts.sum()
        chance = counts.sum(1, keepdims=True) * counts.sum(0, keepdims=True) / total**2
        plain = np.log(counts / total / chance)
        slips = (
            (np.nan_to_num(plain, neginf=0.0), "negative values are left in: PPMI keeps what is above 0"),
            (np.maximum(0, plain) / np.log(2), "that is the logarithm to the base 2; ours is natural"),
            (np.maximum(0, counts / total / chance), "the logarithm is missing"),
            (np.maximum(0, np.log1p(counts)), "that is the logarithm of the counts: divide by what chance would give"),
            (
                np.nan_to_num(np.maximum(0, np.log(counts / total / counts.sum(1, keepdims=True) * total)), neginf=0.0),
                "you divide by p(i) alone; frequent j are then near everything",
            ),
        )  # fmt: skip
    return slip(given, slips) or wrong_entries(given, right)


@LESSON.exercise(
    "08.3",
    "Find the nearest word: the largest cosine, itself left out.",
    (
        "A cosine is a dot product of vectors of length 1.",
        "Divide each row by its length first; then one matrix product gives all cosines.",
        "Put -∞ at the word's own place before `argmax`.",
    ),
    "frequent words have long vectors; the cosine looks at the direction only",
)
def neighbour(answer: Callable[..., Any]) -> str | None:
    """The row with the largest cosine, itself left out."""
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(7, 3)) * np.array([[1, 5, 1, 9, 1, 1, 3]]).T
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    for word in range(len(rows)):
        given = int(number(answer(rows.copy(), word)))
        cosine, dot = unit @ unit[word], rows @ rows[word]
        far = np.linalg.norm(rows - rows[word], axis=1)
        cosine[word], dot[word], far[word] = -np.inf, -np.inf, np.inf
        if given == int(cosine.argmax()):
            continue
        if given == word:
            return "the nearest word to a word is itself: leave it out"
        if given == int(dot.argmax()):
            return "that is the largest dot product: long vectors win. Divide by both lengths"
        if given == int(far.argmin()):
            return "that is the smallest distance; for directions take the cosine"
        return f"for word {word} of the case you give {given}; the largest cosine is with {int(cosine.argmax())}"
    return None


@LESSON.exercise(
    "08.4",
    "Write a sentence's vector: the mean of its words' vectors.",
    (
        "Which words have a vector at all?",
        "Collect the vectors of the known words, a word that stands there twice two times, and take the mean.",
        "With no known word, `np.zeros` of the right length.",
    ),
    "the simplest sentence vector, and the one that every method of this lab has to beat",
)
def average(answer: Callable[..., Any]) -> str | None:
    """The mean over known words; a sentence without one is a row of zeros."""
    table = {"a": np.array([1.0, 0.0]), "b": np.array([0.0, 2.0])}
    cases = {"a b": (0.5, 1.0), "a a b": (2 / 3, 2 / 3), "a ?": (1.0, 0.0), "?": (0.0, 0.0)}
    for written, right in cases.items():
        sentence = written.split()
        given = array(answer(list(sentence), dict(table)))
        if close(given, right):
            continue
        known = [table[word] for word in sentence if word in table]
        if known and close(given, np.sum(known, 0)):
            return "that is the sum: a long sentence would have a long vector"
        if known and close(given, np.sum(known, 0) / len(sentence)):
            return "you divide by all words; those without a vector are no part of the mean"
        if known and close(given, np.mean(list({word: table[word] for word in sentence if word in table}.values()), 0)):
            return "each word counts once in yours; a word that stands there twice counts twice"
        return f"for the sentence '{written}', with vectors for a and b, it is {right}; yours is {given.tolist()}"
    return None


@LESSON.exercise(
    "08.5",
    "Which kind of pairs that are not the same looks most alike to the mean of words?",
    (
        "Look at the table: label 0 is 'not the same'.",
        "Take the highest mean cosine among the lines with label 0.",
        "0.82 is the highest of them.",
    ),
    "one word in eight hardly moves a mean, and can make another question of it",
)
def fooled(answer: Any) -> str | None:
    """The kind of different pairs with the highest mean cosine in the table of the notebook (a test measures it)."""
    given = " ".join(str(answer).lower().split())
    if given == "one detail changed":
        return None
    if given in ("one synonym", "reordered", "reworded"):
        return "these pairs are the same: for them a high cosine is right. Among those with label 0, which is highest?"
    if given == "same words, other intent":
        return "nearly: it is the second. One of the kinds with label 0 is a little higher"
    return "among the kinds with label 0, take the one with the highest mean cosine, as it is written in the table"
