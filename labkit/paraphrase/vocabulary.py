"""What the encoder reads, and what the decoders may write. In: the training sentences. Out: a `Reading`.

The decoders write the words of training. The encoder reads more: with a file of frozen word vectors, every further word
of the file, since a word it never saw lies near those it has seen (section 4.3: "vocabulary expansion"). The numbers
of the training's words come first, so that a number says by itself whether it can be written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from labkit.reader import Reader
from labkit.text import Vocabulary, words
from labkit.vectors import WordVectors, file_words, load_vectors, ppmi_vectors, random_vectors


@dataclass(frozen=True)
class Reading:
    """A reader whose first `writable` numbers the decoders may write."""

    reader: Reader
    writable: int

    def unknown(self, sentence: str) -> list[str]:
        """Its words that have no vector: each is read as the unknown word."""
        return [word for word in words(sentence) if word not in self.reader.vocabulary.numbers]

    def expanded(self, sentence: str) -> list[str]:
        """Its words that training never taught: read through their vectors, but never written."""
        return [word for word in words(sentence) if self.reader.vocabulary.numbers.get(word, 0) >= self.writable]

    def cut(self, sentence: str) -> int:
        """How many of its last words are not read."""
        return max(0, len(words(sentence)) - self.reader.longest)


def reading(
    texts: Sequence[str], *, vectors: str, dimension: int, least: int, longest: int, expansion: int, seed: int
) -> tuple[Reading, WordVectors]:
    """How sentences are read, and the vectors of all words that can be, at the size a GRU reads well.

    `vectors`: "ppmi" makes them from the training sentences, "random" draws them, anything else is a file. Training's
    vocabulary is that of its sentences without words rarer than `least`; a file adds its first `expansion` others.
    """
    tokenised = [words(text) for text in texts]
    if vectors == "ppmi":
        made = ppmi_vectors(tokenised, dimension=dimension, least=least, seed=seed)
        return Reading(Reader(made.vocabulary, "words", longest), len(made.vocabulary)), at_unit_size(made)
    vocabulary = Vocabulary.of(tokenised, least=least)
    if len(vocabulary) == 2:
        raise ValueError(f"no word occurs {least} times in the training texts, expected some that do; lower `least`")
    if vectors == "random":
        made = random_vectors(vocabulary, dimension, seed=seed)
    else:
        further = (word for word in file_words(vectors) if word not in vocabulary.numbers and words(word) == [word])
        both = Vocabulary((*vocabulary.words, *islice(dict.fromkeys(further), expansion)))
        made = load_vectors(vectors, both, seed=seed)
    made = at_unit_size(made, len(vocabulary))
    return Reading(Reader(made.vocabulary, "words", longest), len(vocabulary)), made


def at_unit_size(vectors: WordVectors, count: int | None = None) -> WordVectors:
    """All vectors times one factor, so that the numbers of the first `count` words have a mean square of 1.

    Small ones hardly move a GRU's gates: all sentences then get one vector, and training spends its time on that.
    """
    size = float(np.sqrt(np.square(vectors.matrix[2:count]).mean()))
    return replace(vectors, matrix=vectors.matrix / np.float32(size or 1.0))
