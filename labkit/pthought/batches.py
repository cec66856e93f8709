"""Batches of ordered pairs from groups of paraphrases: (a sentence to read, a paraphrase of it to write).

In sweep j of an epoch every sentence is paired with the one j places later in its group, cyclically; each sweep has its
own random order.

`reading` makes the vocabulary. The decoders write only training words. With a file of frozen word vectors, the encoder
also reads the other words of the file (section 4.3: "vocabulary expansion"). Training words have the lowest numbers, so
the number of a word says whether it can be written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from labkit.text import Vocabulary, words
from labkit.training.reader import Reader
from labkit.vectors import WordVectors, file_words, load_vectors, ppmi_vectors, random_vectors

if TYPE_CHECKING:
    from labkit.pthought.method import PThoughtSettings

# --- pairs -------------------------------------------------------------------------------------------------------

POOL = 50  # batches that are sorted by length together


@dataclass(frozen=True, eq=False)
class Paraphrases:
    """Sentences, group after group; `first` is the first row of a sentence's group, `size` the group's size."""

    texts: tuple[str, ...]
    first: np.ndarray  # int64 (n,)
    size: np.ndarray  # int64 (n,)
    alone: int = 0  # groups of one sentence, skipped
    cut: int = 0  # sentences longer than the reading limit

    @classmethod
    def of(cls, groups: Iterable[Sequence[str]], *, max_length: int) -> Paraphrases:
        """Build from groups. A sentence that is repeated in a group counts once. A sentence without words raises
        ValueError."""
        distinct = [list(dict.fromkeys(group)) for group in groups]
        kept = [group for group in distinct if len(group) > 1]
        texts = tuple(text for group in kept for text in group)
        if not texts:
            raise ValueError(
                f"none of the {len(distinct)} training groups has two different sentences. Put sentences that mean "
                "the same thing into one group"
            )
        lengths = [len(words(text)) for text in texts]
        if 0 in lengths:
            raise ValueError(f"the sentence {texts[lengths.index(0)]!r} has no words; drop its row")
        sizes = np.array([len(group) for group in kept], dtype=np.int64)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        cut = sum(length > max_length for length in lengths)
        return cls(texts, first, np.repeat(sizes, sizes), len(distinct) - len(kept), cut)

    def partner(self, rows: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """For each sentence, the one `shift` places later in its group, cyclically."""
        first = self.first[rows]
        return first + (rows - first + shift) % self.size[rows]


def epoch_batches(
    source: Paraphrases, lengths: Sequence[int], size: int, *, partners: int, epoch: int, seed: int
) -> list[np.ndarray]:
    """The batches of one epoch, int64 (pairs, 2): rows to read and rows to write, pairs of similar length together.

    `partners`: the number of paraphrases per sentence and epoch; later epochs continue with the next ones; 0: all.
    """
    length, others = np.asarray(lengths), source.size - 1
    sweeps = np.minimum(others, partners) if partners else others  # sweeps of each sentence, (n,)
    batches: list[np.ndarray] = []
    for sweep in range(int(sweeps.max())):
        order = np.random.default_rng([seed, epoch, sweep, 0]).permutation(np.flatnonzero(sweeps > sweep))
        count = (len(order) + size - 2) // size  # a single leftover pair joins the previous batch
        for pool, first in enumerate(range(0, count, POOL)):
            here = min(POOL, count - first)
            stop = None if first + here == count else (first + here) * size
            read = order[first * size : stop]
            shift = ((epoch - 1) * sweeps[read] + sweep) % others[read] + 1  # 1 to others: each paraphrase in turn
            write = source.partner(read, shift)
            near = np.argsort(length[read] + length[write], kind="stable")
            cut = np.split(np.stack([read, write], 1)[near], range(size, here * size, size))
            shuffled = np.random.default_rng([seed, epoch, sweep, pool + 1]).permutation(here)
            batches += [cut[number] for number in shuffled]
    return batches


# --- vocabulary --------------------------------------------------------------------------------------------------


def reading(texts: Sequence[str], settings: PThoughtSettings, seed: int) -> tuple[Reader, int, WordVectors]:
    """The reader, the number of its first words that can be written, and the vectors of all words, scaled for a GRU.

    The training vocabulary has the words that occur `min_count` times; a file adds its first `expansion` other words.
    """
    tokenised, source, least = [words(text) for text in texts], settings.vectors, settings.min_count
    if source == "ppmi":
        table = ppmi_vectors(tokenised, dimension=settings.dimension, min_count=least, seed=seed)
        vocabulary = table.vocabulary
    else:
        vocabulary = Vocabulary.of(tokenised, min_count=least)
        if len(vocabulary) == 2:
            raise ValueError(f"no word occurs {least} times in the training texts; lower `min_count`")
        if source == "random":
            table = random_vectors(vocabulary, settings.dimension, seed=seed)
        else:
            further = (word for word in file_words(source) if word not in vocabulary.numbers and words(word) == [word])
            both = Vocabulary((*vocabulary.words, *islice(dict.fromkeys(further), settings.expansion)))
            table = load_vectors(source, both, seed=seed)
    reader = Reader(table.vocabulary, "words", settings.max_length)
    return reader, len(vocabulary), at_unit_size(table, len(vocabulary))


def at_unit_size(vectors: WordVectors, count: int) -> WordVectors:
    """Scale all vectors by one factor, so that the entries of the first `count` vectors have a mean square of 1.

    Small vectors hardly move a GRU's gates: initially all sentences would have the same vector.
    """
    size = float(np.sqrt(np.square(vectors.matrix[2:count]).mean()))
    return replace(vectors, matrix=vectors.matrix / np.float32(size or 1.0))
