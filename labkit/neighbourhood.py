"""The sentences nearest to one, by a method's own similarity of embeddings; sentences by the words in them; and the
words of a sentence that a method has never met.

In: a method, the embeddings (n, d) of n sentences, and one more embedding (1, d). Out: `Neighbour`s, the nearest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # so that a page that shows pictures only need not wait for torch
    from labkit.corpora.records import Labelled
    from labkit.methods import Method


@dataclass(frozen=True)
class Neighbour:
    """A sentence, its row among those shown, and its similarity with the one asked about."""

    row: int
    similarity: float
    label: str
    text: str


def neighbours(
    method: Method, asked: Any, embeddings: Any, shown: Labelled, *, k: int = 8, without: int | None = None
) -> tuple[Neighbour, ...]:
    """The k nearest of the sentences shown; `without` is the row of the asked one itself. Equals by row."""
    similarity = np.asarray(method.similarity(asked, embeddings))[0]
    if len(similarity) != len(shown):
        raise ValueError(f"embeddings has {len(similarity)} rows, expected {len(shown)}, one for each sentence shown")
    order = [row for row in np.argsort(-similarity, kind="stable")[: k + 1].tolist() if row != without][:k]
    return tuple(Neighbour(row, float(similarity[row]), shown.labels[row], shown.texts[row]) for row in order)


def matching(texts: Sequence[str], query: str, among: Iterable[int] | None = None, *, most: int = 500) -> list[int]:
    """Rows of at most `most` texts that have every word of the query somewhere, large letters or small.

    >>> matching(["Red cars", "a red bike", "blue"], "RED a")
    [0, 1]
    """
    wanted = query.casefold().split()
    found: list[int] = []
    for row in range(len(texts)) if among is None else among:
        if len(found) == most:
            break
        text = texts[row].casefold()
        if all(word in text for word in wanted):
            found.append(row)
    return found


def unknown_words(method: Method, sentence: str) -> tuple[tuple[str, ...], bool]:
    """The words of a sentence that a method has never met, and whether it knows any: of none, its vector says nothing.

    A method without a vocabulary of its own (SBERT, a matrix of vectors) reads all of them.
    """
    from labkit.text import words

    said = list(dict.fromkeys(words(sentence)))
    knows = _knows(method)
    unknown = tuple(word for word in said if not knows(word))
    return unknown, len(unknown) < len(said) or not said


def _knows(method: Any) -> Callable[[str], bool]:
    """Whether a word has a part in the vectors of the method, or of the one that it stands on."""
    from labkit.reader import UNITS

    while hasattr(method, "base"):
        method = method.base
    if hasattr(method, "vectorizer"):
        terms, columns = method.vectorizer.build_analyzer(), method.vectorizer.vocabulary_
        return lambda word: not (found := terms(word)) or any(term in columns for term in found)
    if hasattr(method, "vectors"):
        numbers, known = method.vectors.vocabulary.numbers, method.vectors.known
        return lambda word: bool(known[numbers.get(word, 1)])
    reader = method.reading.reader if hasattr(method, "reading") else getattr(method, "reader", None)
    if reader is not None:
        return lambda word: any(unit in reader.vocabulary.numbers for unit in UNITS[reader.unit](word))
    vocabulary = getattr(method, "vocabulary", None)
    return lambda word: vocabulary is None or word in vocabulary.numbers
