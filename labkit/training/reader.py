"""Convert sentences to rows of numbers for a network, by its vocabulary and unit.

    words         from `labkit.text.words`          characters    for places: address, name and code
    pieces        the longest known parts of words, learned from the training sentences or taken from a model

Only the lengths of rows mark padding, so the number 0 can also occur in a sentence: as the `<PAD>` between address,
name and code of a place, with a learned vector like any word.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch import Tensor

from labkit.corpora.places import place_tokens
from labkit.corpora.records import Corpus
from labkit.corpora.relations import train_sentences
from labkit.pretrained import INSIDE, distilled_vectors, pieces_of_model
from labkit.text import PAD, UNKNOWN, Vocabulary, normalise, pad, tokenised, words
from labkit.vectors import WordVectors, load_vectors, ppmi_vectors, random_vectors

PIECES = "pieces"
TAUGHT = "learned"
DISTILLED = "distilled:"  # prefix of the name of a model whose word vectors are used
_WORD = re.compile(r"\w+|[^\w\s]")  # words and punctuation marks, which are cut into pieces
LONGEST_WORD = 100  # characters; longer words are unknown
_WORDS_KEPT = 1 << 16  # words whose pieces are cached
UNITS: dict[str, Callable[[str], list[str]]] = {
    "words": words,
    "characters": place_tokens,
    PIECES: lambda text: _WORD.findall(normalise(text)),  # cut into pieces later
}


@dataclass(frozen=True)
class Reader:
    """A vocabulary, its unit, and the maximum number of units per sentence."""

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
        return Reader, (self.vocabulary, self.unit, self.max_length)  # its cache of words is not pickled

    def units(self, text: str) -> list[str]:
        """The sentence in units; a word without known pieces is `UNKNOWN`."""
        parts = UNITS[self.unit](text)
        if self.unit != PIECES:
            return parts
        return [piece for word in parts for piece in self._cut(word)]

    def numbers(self, text: str) -> list[int]:
        """The sentence as numbers; a sentence without words is one unknown word."""
        return self.vocabulary.encode(self.units(text)[: self.max_length]) or [1]

    def spelled(self, text: str) -> list[tuple[str, int]]:
        """The sentence's words up to the maximum length, each with its number of units."""
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
        """Whether any unit of this word is in the vocabulary."""
        return any(unit in self.vocabulary.numbers for unit in self.units(word) if unit != UNKNOWN)

    @staticmethod
    def batch(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Pad rows of numbers to one length: (n, length) and the lengths (n,)."""
        return torch.from_numpy(pad(rows)), torch.tensor([len(row) for row in rows])


class Rows:
    """Rows of word numbers in one array, with an eighth of the memory of lists, and batches without a loop."""

    def __init__(self, rows: Iterable[Sequence[int]]) -> None:
        flat, lengths = array("i"), array("i")
        for row in rows:
            flat.extend(row)
            lengths.append(len(row))
        self._flat = np.asarray(flat)
        self.lengths = np.asarray(lengths)  # (n,)
        self._starts = np.cumsum(self.lengths, dtype=np.int64) - self.lengths

    def batch(self, which: Sequence[int] | np.ndarray) -> tuple[Tensor, Tensor]:
        """The rows of these numbers, padded to one length: (n, length) and their lengths (n,)."""
        lengths = self.lengths[which].astype(np.int64)
        place = np.arange(lengths.max(initial=1))
        inside = place < lengths[:, None]  # (n, length)
        numbers = np.zeros(inside.shape, np.int64)
        numbers[inside] = self._flat[(self._starts[which][:, None] + place)[inside]]
        return torch.from_numpy(numbers), torch.from_numpy(lengths)


# --- word pieces ---------------------------------------------------------------------------------------------------


def in_pieces(word: str, known: Mapping[str, int]) -> list[str]:
    """Cut a word into the longest known pieces, from left to right; `UNKNOWN` if a part remains.

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
    """Learn pieces from these sentences: single characters first, then the most frequent combinations.

    Characters are sorted, because the trainer breaks ties by the order in which it sees them, which varies between
    runs.
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


# --- initial vectors of a network --------------------------------------------------------------------------------


def unit_of(texts: Iterable[str]) -> str:
    """Choose characters if most texts are places (address `<PAD>` name `<PAD>` code), otherwise words."""
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
    """The reader for this corpus, and the initial vectors of its words.

    `vectors`: "ppmi" computes them from the training sentences (`auto` for words), "random" draws them (`auto` for
    characters), "distilled:MODEL" takes them from a model, anything else is a file. The vocabulary has the training
    words that occur `min_count` times; a file adds those words of the whole corpus that it contains. `pieces` are
    learned from the training sentences (`vocab_size` of them) or taken from a model; their vectors start at random or,
    for a model's pieces, as distilled from it.
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
                f"setting vectors is {vectors!r}, but unit=pieces needs random or {DISTILLED}MODEL; omit it"
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
                f"setting unit is {unit!r}, but vectors={vectors} needs words or pieces, because a model does not read "
                "single characters. Set unit=pieces"
            )
        return Reader(vocabulary, unit, max_length), distilled_vectors(teacher, dimension, vocabulary)
    if vectors == "random":
        return Reader(vocabulary, unit, max_length), random_vectors(vocabulary, dimension, seed=seed)
    seen = Vocabulary.of(UNITS[unit](text) for text in corpus.sentences())
    table = load_vectors(vectors, seen, seed=seed)
    kept = [row for row, word in enumerate(seen.words) if row < 2 or table.known[row] or word in vocabulary.numbers]
    table = WordVectors(Vocabulary(tuple(seen.words[row] for row in kept)), table.matrix[kept], table.known[kept])
    return Reader(table.vocabulary, unit, max_length), table
