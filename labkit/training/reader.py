"""Sentences to rows of numbers for a network, always the same way: its vocabulary and its unit, words or characters.

In: strings. Out: one list of word numbers a sentence, never empty, and batches (numbers (n, length), lengths (n,)).
What is padding is told by the lengths alone. So number 0 may also stand in a sentence: it is the `<PAD>` that parts
address, name and code of a place, and an encoder learns a vector for it as for any word.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from labkit.corpora.places import place_tokens
from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.text import PAD, Vocabulary, pad, tokenised, words
from labkit.vectors import WordVectors, load_vectors, ppmi_vectors, random_vectors

UNITS: dict[str, Callable[[str], list[str]]] = {"words": words, "characters": place_tokens}


@dataclass(frozen=True)
class Reader:
    """A vocabulary, the unit it counts in, and the number of units after which a sentence is cut."""

    vocabulary: Vocabulary
    unit: str = "words"
    longest: int = 60

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"unit is {self.unit!r}, expected one of {', '.join(UNITS)}")

    def numbers(self, text: str) -> list[int]:
        """The sentence as numbers; one without any word is one unknown word."""
        return self.vocabulary.encode(UNITS[self.unit](text)[: self.longest]) or [1]

    def batch(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Rows of numbers, filled up to one length: (n, length) and the lengths (n,)."""
        return torch.from_numpy(pad(rows)), torch.tensor([len(row) for row in rows])


class Rows:
    """Rows of word numbers in one array, (n,) lists: of a million sentences an eighth of what the lists take."""

    def __init__(self, rows: Iterable[Sequence[int]]) -> None:
        self._flat, self._ends = array("i"), array("q", [0])
        for row in rows:
            self._flat.extend(row)
            self._ends.append(len(self._flat))

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, row: int) -> list[int]:
        return self._flat[self._ends[row] : self._ends[row + 1]].tolist()

    @property
    def lengths(self) -> list[int]:
        """The number of words of each row."""
        return [stop - start for start, stop in pairwise(self._ends)]


def unit_of(texts: Iterable[str]) -> str:
    """Characters where most texts are places (address `<PAD>` name `<PAD>` code), else words."""
    texts = list(texts)
    return "characters" if sum(PAD in text for text in texts) > len(texts) / 2 else "words"


def reader_and_vectors(
    corpus: Corpus,
    *,
    unit: str = "auto",
    vectors: str = "auto",
    dimension: int = 100,
    least: int = 2,
    longest: int = 60,
    seed: int = 0,
) -> tuple[Reader, WordVectors]:
    """How a network reads this corpus, and the vectors its words start with.

    `vectors`: "ppmi" makes them from the training sentences (`auto` does so for words), "random" draws them (`auto`
    for characters), anything else is a file of word vectors. The vocabulary is that of the training sentences, without
    words rarer than `least`; a file adds those words of the whole corpus that it knows.
    """
    texts = train_sentences(corpus)
    unit = unit_of(texts) if unit == "auto" else unit
    vectors = {"words": "ppmi", "characters": "random"}[unit] if vectors == "auto" else vectors
    if vectors == "ppmi":
        table = ppmi_vectors(tokenised(texts, UNITS[unit]), dimension=dimension, least=least, seed=seed)
        return Reader(table.vocabulary, unit, longest), table
    vocabulary = Vocabulary.of(map(UNITS[unit], texts), least=least)
    if vectors == "random":
        return Reader(vocabulary, unit, longest), random_vectors(vocabulary, dimension, seed=seed)
    seen = Vocabulary.of(UNITS[unit](text) for text in corpus.sentences())
    table = load_vectors(vectors, seen, seed=seed)
    kept = [row for row, word in enumerate(seen.words) if row < 2 or table.known[row] or word in vocabulary.numbers]
    table = WordVectors(Vocabulary(tuple(seen.words[row] for row in kept)), table.matrix[kept], table.known[kept])
    return Reader(table.vocabulary, unit, longest), table
