"""Texts to sentences, sentences to words, words to numbers, numbers to batches; and the lines of any file of text.

In: strings. Out: lists of words, a `Vocabulary`, rows of word numbers padded to one length (n, longest), and
batches of sentences of nearly the same length, so that little of a batch is padding.

In: bytes that nobody has looked at. Out: lines, or blocks of up to 4096 of them, with flat memory for any text.
Only a line feed ends a line; an empty line is an empty sentence. A text that begins with a byte-order mark is read as
the mark says. What is no text is refused with its line.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from encodings.aliases import aliases
from itertools import chain, repeat
from random import Random
from typing import IO, Any, cast

import numpy as np

PAD, UNKNOWN = "<PAD>", "<UNK>"
_HALF = re.compile("[\ud800-\udfff]")

# A word with inner apostrophes or hyphens, a number, one ideograph (their scripts write no spaces), or one sign.
IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"(?=\w)[{IDEOGRAPHS}]|\d+(?:[.,:]\d+)*|[^\W\d_{IDEOGRAPHS}]+(?:['’-][^\W\d_]+)*")
_TOKEN = re.compile(rf"{_WORD.pattern}|[^\w\s]")
# The end of a sentence: its mark, closing quotes, a space, and a beginning. What comes before it is checked below.
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\Wa-z_])|(?<=[。！？।؟۔])")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Inc|Ltd|Co|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Mt|Ft|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct"
    r"|Nov|Dec|Gov|Sen|Rep|Pres|Maj|Cmdr|Adm|Messrs|Corp|Bros|Ave|Blvd|etc|e\.g|i\.e|vs|[Cc]f|ca|al|ed|eds|fl|op|cit"
    r"|(?<!\.)[^\W\d_]|[A-Z](?:\.[A-Z])*)\.$"  # one letter alone: c. 1850, b. 1900, an initial in any script
)
_NUMBERED = re.compile(r"\b(?:No|Nos|Fig|Figs|Vol|Vols|Ch|Sec|p|pp|vol|fig|approx)\.$")  # only before a digit


def without_halves(text: str) -> str:
    """The text with a sign for what is unknown in place of half a surrogate pair, which no tokenizer takes.

    >>> without_halves("half a " + chr(0xD83D) + " cat") == "half a " + chr(0xFFFD) + " cat"
    True
    """
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def normalise(text: str) -> str:
    """One form for one text: composed characters (NFKC), lower case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def words(text: str) -> list[str]:
    """The words of a sentence, in lower case; punctuation is dropped.

    >>> words("Isn't Zürich 3.5 km away?")
    ["isn't", 'zürich', '3.5', 'km', 'away']
    """
    return _WORD.findall(normalise(text))


def spans(text: str) -> list[tuple[int, int]]:
    """The places of the words in a text as it is written.

    >>> [("Isn't it?"[start:stop]) for start, stop in spans("Isn't it?")]
    ["Isn't", 'it']
    """
    return [found.span() for found in _WORD.finditer(text)]


def tokens(text: str) -> list[str]:
    """Words and punctuation marks, in lower case.

    >>> tokens("Well-known, isn't it?")
    ['well-known', ',', "isn't", 'it', '?']
    """
    return _TOKEN.findall(normalise(text))


def tokenised(texts: Iterable[str], cut: Callable[[str], list[str]] = words) -> list[tuple[str, ...]]:
    """Each text cut into words. A word that recurs is held once, which of a million texts saves half a gigabyte."""
    return [tuple(map(sys.intern, cut(text))) for text in texts]


def sentences(paragraph: str) -> list[str]:
    """A paragraph cut into sentences; abbreviations and initials do not end one.

    >>> sentences("Dr. Weiss came at 3 p.m. on foot. J. R. Hill did not! Why?")
    ['Dr. Weiss came at 3 p.m. on foot.', 'J. R. Hill did not!', 'Why?']
    """
    cut: list[str] = []
    start = 0
    for end in _END.finditer(paragraph):
        piece = paragraph[start : end.start()].strip()
        numbered = paragraph[end.end() : end.end() + 1].isdigit() and _NUMBERED.search(piece)
        if piece and not numbered and not _ABBREVIATION.search(piece):
            cut.append(paragraph[start : end.end()].strip())
            start = end.end()
    return [*cut, rest] if (rest := paragraph[start:].strip()) else cut


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
    def of(cls, tokenised: Iterable[Sequence[str]], *, min_count: int = 1, vocab_size: int | None = None) -> Vocabulary:
        """The words that occur at least `min_count` times, at most `vocab_size` of them; ties alphabetically."""
        counts = Counter(chain.from_iterable(tokenised))
        ranked = sorted((word for word in counts if counts[word] >= min_count), key=lambda word: (-counts[word], word))
        return cls((PAD, UNKNOWN, *[word for word in ranked[:vocab_size] if word not in (PAD, UNKNOWN)]))

    def encode(self, tokenised: Sequence[str]) -> list[int]:
        """Numbers for the words of one sentence."""
        return list(map(self.numbers.get, tokenised, repeat(1)))


def pad(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Rows of numbers, filled up with 0 to the longest row: int64 (n, length), length at least 1."""
    padded = np.zeros((len(rows), max([1, *map(len, rows)])), dtype=np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


POOL = 50  # batches that are sorted by length together


def buckets(lengths: Sequence[int], batch: int, *, seed: int) -> Iterator[list[int]]:
    """Batches of row numbers in which the lengths are nearly equal; every row once, in an order from `seed`.

    Shuffle, take POOL batches at a time, sort those by length, cut into batches, hand these out shuffled: the order
    stays random while little is padded.
    """
    if batch < 1:
        raise ValueError(f"batch is {batch}, expected at least 1")
    random = Random(seed)
    order = list(range(len(lengths)))
    random.shuffle(order)
    for start in range(0, len(order), batch * POOL):
        near = sorted(order[start : start + batch * POOL], key=lambda row: lengths[row])
        cut = [near[i : i + batch] for i in range(0, len(near), batch)]
        random.shuffle(cut)
        yield from cut


# --- lines of a file ---------------------------------------------------------------------------------------------

LINES, SIZE = 4096, 2**23  # lines, and characters, of a block, at most
LONGEST = 1_000_000  # characters of a line
_MARKS = {  # that of UTF-32 begins as that of UTF-16 does
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
_WRONG = re.compile("[\udc80-\udcff]")  # a byte that is not of the encoding, as "surrogateescape" has it


def line_blocks(stream: IO[bytes], name: str) -> Iterator[tuple[list[str], int]]:
    """The text's lines in blocks, with the bytes of UTF-8 read so far; a ValueError names a line that is not text."""
    block: list[str] = []
    size, done = 0, 0
    for number, text in enumerate(text_lines(stream, name), 1):
        if "\0" in text:
            raise ValueError(
                f"{name} line {number} contains a NUL character; remove it, or save the text as UTF-8 if it is UTF-16"
            )
        block.append(text.removesuffix("\n").removesuffix("\r"))
        size, done = size + len(text), done + len(text.encode())
        if len(block) == LINES or size >= SIZE:
            yield block, done
            block, size = [], 0
    if block:
        yield block, done


def text_lines(
    stream: IO[bytes],
    name: str,
    encoding: str = "utf-8",
    *,
    longest: int = LONGEST,
    remedy: str = "save the text as UTF-8",
) -> Iterator[str]:
    """Each line with the sign that ends it; a byte that is no sign is named with its line.

    A mark at the beginning goes before the encoding that is named, and is no part of the text.
    """
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(cast(Any, stream))
    encoding = marked_encoding(buffered) or known_encoding(encoding)
    lines = io.TextIOWrapper(buffered, encoding, errors="surrogateescape", newline="\n")
    number, wrong, called = 1, "", encoding.upper().removesuffix("-SIG")
    try:
        while line := lines.readline(longest + 1):
            if byte := _WRONG.search(line):
                place = len(line[: byte.start()].encode()) + 1
                wrong = f"byte 0x{ord(byte[0]) - 0xDC00:02x} at place {place} is not {called}; {remedy}"
                break
            if len(line) > longest:
                wrong = f"more than {longest:,} characters, expected one sentence a line; break it into lines"
                break
            yield line
            number += 1
    except UnicodeDecodeError as error:  # in UTF-16 or UTF-32, where lines before it are still to be read
        number += error.object[: error.start].decode(error.encoding).count("\n")
        wrong = f"byte 0x{error.object[error.start]:02x} is not {called}; {remedy}"
    finally:
        if not buffered.closed:
            lines.detach()  # the stream belongs to the caller
    if wrong:
        raise ValueError(f"{name} line {number}: {wrong}")


def marked_encoding(stream: Any) -> str | None:
    """The encoding that the first bytes of a stream say, where they say one."""
    first = stream.peek(4)
    return next((encoding for mark, encoding in _MARKS.items() if first.startswith(mark)), None)


def known_encoding(name: str) -> str:
    """Python's own name of an encoding of texts, or one sentence."""
    try:
        lines = "a\n".encode(name)
        encoding = codecs.lookup(name).name
    except (LookupError, ValueError, TypeError):  # ValueError: a NUL in the name, or an encoding of nothing
        near = get_close_matches(str(name).lower(), [*aliases, *aliases.values()], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "save the text as UTF-8 if you do not know which it is"
        raise ValueError(
            f"encoding is {name!r}, which Python does not know; use one such as utf-8, utf-16, latin-1 or cp1252; "
            f"{hint}"
        ) from None
    if encoding in ("utf-16", "utf-32"):
        return f"{encoding}-le"  # without a mark: as Windows writes
    if lines != b"a\n" and not encoding.startswith("utf-"):
        raise ValueError(f"encoding is {name!r}, which is not supported; save the text as UTF-8")
    return encoding
