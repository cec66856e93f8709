"""Sentences to rows of numbers for a network, always the same way: its vocabulary and its unit.

    words         as `labkit.text.words` cuts them          characters    of places: address, name and code
    pieces        parts of words, the longest that are known: those that the training sentences teach, or a model's

In: strings. Out: one list of word numbers a sentence, never empty, and batches (numbers (n, length), lengths (n,)).
What is padding is told by the lengths alone. So number 0 may also stand in a sentence: it is the `<PAD>` that parts
address, name and code of a place, and an encoder learns a vector for it as for any word.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from typing import Any, Protocol

import torch
from torch import Tensor

from labkit.corpora.places import place_tokens
from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.text import PAD, UNKNOWN, Vocabulary, normalise, pad, tokenised, words
from labkit.vectors import WordVectors, distilled_vectors, load_vectors, ppmi_vectors, random_vectors

PIECES = "pieces"
TAUGHT = "learned"
DISTILLED = "distilled:"  # before the name of a model whose word vectors are taken
INSIDE = "##"  # before a piece that does not begin a word
_WORD = re.compile(r"\w+|[^\w\s]")  # what pieces are parts of
LONGEST_WORD = 100  # characters; a longer word is unknown
_WORDS_KEPT = 1 << 16  # whose pieces are remembered
UNITS: dict[str, Callable[[str], list[str]]] = {
    "words": words,
    "characters": place_tokens,
    PIECES: lambda text: _WORD.findall(normalise(text)),  # to be cut further
}


class Reads(Protocol):
    """What makes numbers of sentences."""

    def numbers(self, text: str) -> list[int]:
        """The sentence as numbers, at least one."""

    def batch(self, rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Rows of numbers, filled up to one length: (n, length) and the lengths (n,)."""

    def spelled(self, text: str) -> list[tuple[str, int]]:
        """The sentence's words and how many of its numbers each of them has; "" for marks that belong to none."""

    def knows(self, word: str) -> bool:
        """Whether any part of this word is known."""


@dataclass(frozen=True)
class Reader:
    """A vocabulary, the unit it counts in, and the number of units after which a sentence is cut."""

    vocabulary: Vocabulary
    unit: str = "words"
    max_length: int = 60
    _cut: Callable[[str], list[str]] = field(init=False, repr=False, compare=False)  # word -> its pieces

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"unit is {self.unit!r}, expected one of {', '.join(UNITS)}")
        cut = lru_cache(_WORDS_KEPT)(partial(in_pieces, known=self.vocabulary.numbers))
        object.__setattr__(self, "_cut", cut)

    def __reduce__(self) -> tuple[type[Reader], tuple[Any, ...]]:
        return Reader, (self.vocabulary, self.unit, self.max_length)  # what it remembers of words is not pickled

    def units(self, text: str) -> list[str]:
        """The sentence in the units that count; a word of which no pieces are known is `UNKNOWN`."""
        parts = UNITS[self.unit](text)
        if self.unit != PIECES:
            return parts
        return [piece for word in parts for piece in self._cut(word)]

    def numbers(self, text: str) -> list[int]:
        """The sentence as numbers; one without any word is one unknown word."""
        return self.vocabulary.encode(self.units(text)[: self.max_length]) or [1]

    def spelled(self, text: str) -> list[tuple[str, int]]:
        """The sentence's words, as far as it is read, and how many of its numbers each of them has."""
        if self.unit == "words":
            cut = [(word, 1) for word in words(text)]
        elif self.unit == PIECES:
            cut = [(word, len(self._cut(word))) for word in UNITS[PIECES](text)]
        else:
            cut = [(part, len(place_tokens(part))) for part in text.split()]
        before = accumulate((count for _, count in cut), initial=0)
        read = [(word, min(count, self.max_length - start)) for (word, count), start in zip(cut, before, strict=False)]
        return [(word, count) for word, count in read if count > 0] or [(UNKNOWN, 1)]

    def knows(self, word: str) -> bool:
        """Whether any unit of this word is one of the vocabulary."""
        return any(unit in self.vocabulary.numbers for unit in self.units(word) if unit != UNKNOWN)

    @staticmethod
    def batch(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
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


# --- word pieces ---------------------------------------------------------------------------------------------------


def in_pieces(word: str, known: Mapping[str, int]) -> list[str]:
    """Cut a word into the longest pieces that are known, from its beginning on; `UNKNOWN` where that does not go up.

    >>> in_pieces("unlearned", {"un": 2, "##learn": 3, "##ed": 4, "##l": 5})
    ['un', '##learn', '##ed']
    """
    pieces: list[str] = []
    start = 0
    while start < len(word) <= LONGEST_WORD:
        mark = INSIDE if start else ""
        stop = next((stop for stop in range(len(word), start, -1) if mark + word[start:stop] in known), start)
        if stop == start:
            return [UNKNOWN]
        pieces.append(mark + word[start:stop])
        start = stop
    return pieces or [UNKNOWN]


def learned_pieces(texts: Iterable[str], vocab_size: int) -> Vocabulary:
    """The pieces that these sentences teach: their characters, then joined what most often stands together.

    Characters come first and in order, as the trainer decides between equals by the order in which it met them, which
    is another at each start.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    spaced = [" ".join(UNITS[PIECES](text)) for text in texts]
    signs = sorted({sign for text in spaced for sign in text} - {" "})
    first = [PAD, UNKNOWN, *signs, *(INSIDE + sign for sign in signs)]
    learner = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    learner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=max(vocab_size, len(first)), special_tokens=first, show_progress=False
    )
    learner.train_from_iterator(spaced, trainer)
    numbers = learner.get_vocab()
    return Vocabulary(tuple(sorted(numbers, key=numbers.__getitem__)))


def pieces_of_model(model: str) -> Vocabulary:
    """The pieces that a sentence-transformers model reads, by its name or folder."""
    from labkit.baselines.sbert import model_source, opened_model

    tokenizer = opened_model(model_source(model), "cpu").tokenizer
    numbers = tokenizer.get_vocab()
    if not any(piece.startswith(INSIDE) for piece in numbers):
        raise ValueError(
            f"model {model!r} reads no word pieces that begin with {INSIDE} inside of a word, expected a model with "
            "BERT's kind of vocabulary; take pieces=learned"
        )
    own = {tokenizer.pad_token, tokenizer.unk_token}
    return Vocabulary((PAD, UNKNOWN, *sorted(numbers.keys() - own, key=numbers.__getitem__)))


# --- what a network starts from -----------------------------------------------------------------------------------


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
    min_count: int = 2,
    max_length: int = 60,
    pieces: str = TAUGHT,
    vocab_size: int = 8_000,
    seed: int = 0,
) -> tuple[Reader, WordVectors]:
    """How a network reads this corpus, and the vectors its words start with.

    `vectors`: "ppmi" makes them from the training sentences (`auto` does so for words), "random" draws them (`auto`
    for characters), "distilled:MODEL" asks a model for them, anything else is a file of word vectors. The vocabulary is
    that of the training sentences, without words rarer than `min_count`; a file adds those words of the whole corpus
    that it knows. `pieces` are learned from the training sentences, `vocab_size` of them, or those of a model; they
    start at random, or, the model's own, as distilled from it.
    """
    texts = train_sentences(corpus)
    unit = unit_of(texts) if unit == "auto" else unit
    vectors = ("ppmi" if unit == "words" else "random") if vectors == "auto" else vectors
    teacher = vectors.removeprefix(DISTILLED) if vectors.startswith(DISTILLED) else ""
    if unit == PIECES:
        if teacher:
            table = distilled_vectors(teacher, dimension)
            return Reader(table.vocabulary, unit, max_length), table
        if vectors != "random":
            raise ValueError(
                f"setting vectors is {vectors!r}, expected random or {DISTILLED}MODEL for unit=pieces; leave it out"
            )
        known = learned_pieces(texts, vocab_size) if pieces == TAUGHT else pieces_of_model(pieces)
        return Reader(known, unit, max_length), random_vectors(known, dimension, seed=seed)
    if vectors == "ppmi":
        table = ppmi_vectors(tokenised(texts, UNITS[unit]), dimension=dimension, min_count=min_count, seed=seed)
        return Reader(table.vocabulary, unit, max_length), table
    vocabulary = Vocabulary.of(map(UNITS[unit], texts), min_count=min_count)
    if teacher:
        if unit != "words":
            raise ValueError(
                f"setting unit is {unit!r}, expected words or pieces with vectors={vectors}: a model reads no single "
                "characters; set unit=pieces"
            )
        return Reader(vocabulary, unit, max_length), distilled_vectors(teacher, dimension, vocabulary)
    if vectors == "random":
        return Reader(vocabulary, unit, max_length), random_vectors(vocabulary, dimension, seed=seed)
    seen = Vocabulary.of(UNITS[unit](text) for text in corpus.sentences())
    table = load_vectors(vectors, seen, seed=seed)
    kept = [row for row, word in enumerate(seen.words) if row < 2 or table.known[row] or word in vocabulary.numbers]
    table = WordVectors(Vocabulary(tuple(seen.words[row] for row in kept)), table.matrix[kept], table.known[kept])
    return Reader(table.vocabulary, unit, max_length), table
