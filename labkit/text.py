"""Sentences to words, words to numbers, numbers to batches.

In: strings. Out: lists of words, a `Vocabulary`, rows of word numbers padded to one length (n, longest), and
batches of sentences of nearly the same length, so that little of a batch is padding.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

import numpy as np

PAD, UNKNOWN = "<PAD>", "<UNK>"

# A word with inner apostrophes or hyphens, a number, one ideograph (their scripts write no spaces), or one sign.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|\d+(?:[.,:]\d+)*|[^\W\d_\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"
    r"(?:['’-][^\W\d_]+)*|[^\w\s]"
)
# The end of a sentence: its mark, closing quotes, a space, and a beginning. What stands before is checked below.
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\Wa-z_])|(?<=[。！？।؟۔])")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Inc|Ltd|Co|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Mt|Ft|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct"
    r"|Nov|Dec|Gov|Sen|Rep|Pres|Maj|Cmdr|Adm|Messrs|Corp|Bros|Ave|Blvd|etc|e\.g|i\.e|vs|[Cc]f|ca|al|ed|eds|fl|op|cit"
    r"|(?<!\.)[^\W\d_]|[A-Z](?:\.[A-Z])*)\.$"  # one letter alone: c. 1850, b. 1900, an initial in any script
)
_NUMBERED = re.compile(r"\b(?:No|Nos|Fig|Figs|Vol|Vols|Ch|Sec|p|pp|vol|fig|approx)\.$")  # only before a digit


def normalise(text: str) -> str:
    """One form for one text: composed characters (NFKC), lower case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def words(text: str) -> list[str]:
    """The words of a sentence, in lower case; punctuation is dropped.

    >>> words("Isn't Zürich 3.5 km away?")
    ["isn't", 'zürich', '3.5', 'km', 'away']
    """
    return [token for token in tokens(text) if token[0].isalnum()]


def tokens(text: str) -> list[str]:
    """Words and punctuation marks, in lower case.

    >>> tokens("Well-known, isn't it?")
    ['well-known', ',', "isn't", 'it', '?']
    """
    return _WORD.findall(normalise(text))


def tokenised(texts: Iterable[str], cut: Callable[[str], list[str]] = words) -> list[tuple[str, ...]]:
    """Each text cut into words. A word that recurs is held once, which of a million texts saves half a gigabyte."""
    return [tuple(map(sys.intern, cut(text))) for text in texts]


def sentences(paragraph: str) -> list[str]:
    """A paragraph cut into sentences; abbreviations and initials do not end one.

    >>> sentences("Dr. Weiss came at 3 p.m. on foot. J. R. Hill did not! Why?")
    ['Dr. Weiss came at 3 p.m. on foot.', 'J. R. Hill did not!', 'Why?']
    """
    found: list[str] = []
    start = 0
    for end in _END.finditer(paragraph):
        piece = paragraph[start : end.start()].strip()
        numbered = paragraph[end.end() : end.end() + 1].isdigit() and _NUMBERED.search(piece)
        if piece and not numbered and not _ABBREVIATION.search(piece):
            found.append(paragraph[start : end.end()].strip())
            start = end.end()
    return [*found, rest] if (rest := paragraph[start:].strip()) else found


@dataclass(frozen=True)
class Vocabulary:
    """Words with a number each: 0 is padding, 1 the unknown word, then the words, the most frequent first."""

    words: tuple[str, ...]
    numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if self.words[:2] != (PAD, UNKNOWN):
            raise ValueError(f"words begin with {self.words[:2]}, expected {PAD!r} and {UNKNOWN!r} first")
        object.__setattr__(self, "numbers", {word: number for number, word in enumerate(self.words)})
        if len(self.numbers) != len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"words has {twice!r} twice, expected each word once")

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(cls, tokenised: Iterable[Sequence[str]], *, least: int = 1, most: int | None = None) -> Vocabulary:
        """The words that occur at least `least` times, at most `most` of them; ties in alphabetical order."""
        counts = Counter(word for sentence in tokenised for word in sentence)
        ranked = sorted((word for word in counts if counts[word] >= least), key=lambda word: (-counts[word], word))
        return cls((PAD, UNKNOWN, *[word for word in ranked[:most] if word not in (PAD, UNKNOWN)]))

    def encode(self, tokenised: Sequence[str]) -> list[int]:
        """Numbers for the words of one sentence."""
        return [self.numbers.get(word, 1) for word in tokenised]


def pad(rows: Sequence[Sequence[int]], *, longest: int | None = None) -> np.ndarray:
    """Rows of numbers, cut at `longest`, filled up with 0 to the longest row: int64 (n, length), length at least 1."""
    cut = [row[:longest] for row in rows]
    padded = np.zeros((len(cut), max(1, *map(len, cut)) if cut else 1), dtype=np.int64)
    for i, row in enumerate(cut):
        padded[i, : len(row)] = row
    return padded


def buckets(lengths: Sequence[int], batch: int, *, seed: int, pool: int = 50) -> Iterator[list[int]]:
    """Batches of row numbers in which the lengths are nearly equal; every row once, in an order from `seed`.

    Shuffle, take `pool` batches at a time, sort those by length, cut into batches, hand these out shuffled: the
    order stays random while little is padded.
    """
    if batch < 1:
        raise ValueError(f"batch is {batch}, expected at least 1")
    random = Random(seed)
    order = list(range(len(lengths)))
    random.shuffle(order)
    for start in range(0, len(order), batch * pool):
        near = sorted(order[start : start + batch * pool], key=lambda row: lengths[row])
        cut = [near[i : i + batch] for i in range(0, len(near), batch)]
        random.shuffle(cut)
        yield from cut
