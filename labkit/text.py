"""Split texts into sentences and words, number words, form batches, and read the lines of any text file.

Lines are read from unchecked bytes in constant memory. Only a line feed ends a line; an empty line is an empty
sentence. A byte-order mark determines the encoding. A line that is not text raises an error that names it.
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
from itertools import chain, repeat
from random import Random
from typing import IO, Any, cast

import numpy as np

PAD, UNKNOWN = "<PAD>", "<UNK>"
_HALF = re.compile("[\ud800-\udfff]")

# A word with inner apostrophes or hyphens, a number, an ideograph (its scripts have no spaces), or a sign.
IDEOGRAPHS = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"(?=\w)[{IDEOGRAPHS}]|\d+(?:[.,:]\d+)*|[^\W\d_{IDEOGRAPHS}]+(?:['’-][^\W\d_]+)*")
_TOKEN = re.compile(rf"{_WORD.pattern}|[^\w\s]")
# The end of a sentence: its mark, closing quotes, a space, and a new beginning. The text before it is checked below.
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+(?=[\"'“‘(\[]?[^\Wa-z_])|(?<=[。！？।؟۔])")
_ABBREVIATION = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Inc|Ltd|Co|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Mt|Ft|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct"
    r"|Nov|Dec|Gov|Sen|Rep|Pres|Maj|Cmdr|Adm|Messrs|Corp|Bros|Ave|Blvd|etc|e\.g|i\.e|vs|[Cc]f|ca|al|ed|eds|fl|op|cit"
    r"|(?<!\.)[^\W\d_]|[A-Z](?:\.[A-Z])*)\.$"  # a single letter: c. 1850, b. 1900, an initial in any script
)
_NUMBERED = re.compile(r"\b(?:No|Nos|Fig|Figs|Vol|Vols|Ch|Sec|p|pp|vol|fig|approx)\.$")  # only before a digit


def without_halves(text: str) -> str:
    """Replace half a surrogate pair, which tokenizers reject, with the replacement character.

    >>> without_halves("half a " + chr(0xD83D) + " cat") == "half a " + chr(0xFFFD) + " cat"
    True
    """
    return _HALF.sub("\N{REPLACEMENT CHARACTER}", text)


def normalise(text: str) -> str:
    """Normalise a text: composed characters (NFKC), lower case, single spaces."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def words(text: str) -> list[str]:
    """The words of a sentence, in lower case; punctuation is dropped.

    >>> words("Isn't Zürich 3.5 km away?")
    ["isn't", 'zürich', '3.5', 'km', 'away']
    """
    return _WORD.findall(normalise(text))


def spans(text: str) -> list[tuple[int, int]]:
    """The positions of the words in the original text.

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
    """Split each text into words. A repeated word is stored once, which saves half a gigabyte for a million texts."""
    return [tuple(map(sys.intern, cut(text))) for text in texts]


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences; abbreviations and initials do not end one.

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
    """Numbered words: 0 is padding, 1 is the unknown word, and then come the words in order of decreasing frequency."""

    words: tuple[str, ...]
    numbers: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "words", tuple(self.words))
        if self.words[:2] != (PAD, UNKNOWN):
            raise ValueError(f"words begin with {self.words[:2]}, expected {PAD!r} and {UNKNOWN!r}")
        object.__setattr__(self, "numbers", {word: number for number, word in enumerate(self.words)})
        if len(self.numbers) != len(self.words):
            twice = next(word for word, count in Counter(self.words).items() if count > 1)
            raise ValueError(f"words contains {twice!r} twice; each word may occur once")

    def __len__(self) -> int:
        return len(self.words)

    @classmethod
    def of(cls, tokenised: Iterable[Sequence[str]], *, min_count: int = 1, vocab_size: int | None = None) -> Vocabulary:
        """The words that occur at least `min_count` times, at most `vocab_size` of them; ties are alphabetical."""
        counts = Counter(chain.from_iterable(tokenised))
        ranked = sorted((word for word in counts if counts[word] >= min_count), key=lambda word: (-counts[word], word))
        return cls((PAD, UNKNOWN, *[word for word in ranked[:vocab_size] if word not in (PAD, UNKNOWN)]))

    def encode(self, tokenised: Sequence[str]) -> list[int]:
        """Numbers for the words of one sentence."""
        return list(map(self.numbers.get, tokenised, repeat(1)))


def pad(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Pad rows of numbers with 0 to the length of the longest row: int64 (n, length), length at least 1."""
    padded = np.zeros((len(rows), max([1, *map(len, rows)])), dtype=np.int64)
    for i, row in enumerate(rows):
        padded[i, : len(row)] = row
    return padded


POOL = 50  # batches that are sorted by length together


def buckets(lengths: Sequence[int], batch: int, *, seed: int) -> Iterator[list[int]]:
    """Batches of row numbers, each of rows with similar lengths. Every row occurs once, in an order drawn from `seed`.

    Shuffle, take POOL batches at a time, sort by length, cut into batches, and shuffle these: the order stays random,
    with little padding.
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

LINES, SIZE = 4096, 2**23  # maximum lines and characters per block
LONGEST = 1_000_000  # characters of a line
_MARKS = {  # UTF-32's mark begins with UTF-16's
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: "utf-8-sig",
}
_WRONG = re.compile("[\udc80-\udcff]")  # an undecodable byte, as written by "surrogateescape"


def line_blocks(stream: IO[bytes], name: str) -> Iterator[tuple[list[str], int]]:
    """The lines in blocks, with the number of UTF-8 bytes read so far; raises ValueError if a line is not text."""
    block: list[str] = []
    size, done = 0, 0
    for number, text in enumerate(text_lines(stream, name), 1):
        if "\0" in text:
            raise ValueError(
                f"{name} line {number} contains a NUL character; remove it or, if the text is UTF-16, save it as UTF-8"
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
    """The lines with their line endings; an error names the line of an undecodable byte.

    A byte-order mark overrides `encoding` and is not part of the text.
    """
    buffered: Any = stream if hasattr(stream, "peek") else io.BufferedReader(cast(Any, stream))
    encoding = marked_encoding(buffered) or known_encoding(encoding)
    lines = io.TextIOWrapper(buffered, encoding, errors="surrogateescape", newline="\n")
    number, wrong, called = 1, "", encoding.upper().removesuffix("-SIG")
    try:
        while line := lines.readline(longest + 1):
            if byte := _WRONG.search(line):
                place = len(line[: byte.start()].encode()) + 1
                wrong = f"byte 0x{ord(byte[0]) - 0xDC00:02x} at position {place} is not {called}; {remedy}"
                break
            if len(line) > longest:
                wrong = f"more than {longest:,} characters, expected one sentence per line; split it into lines"
                break
            yield line
            number += 1
    except UnicodeDecodeError as error:  # in UTF-16 or UTF-32; earlier lines have not been read yet
        number += error.object[: error.start].decode(error.encoding).count("\n")
        wrong = f"byte 0x{error.object[error.start]:02x} is not {called}; {remedy}"
    finally:
        if not buffered.closed:
            lines.detach()  # the stream belongs to the caller
    if wrong:
        raise ValueError(f"{name} line {number}: {wrong}")


def marked_encoding(stream: Any) -> str | None:
    """The encoding given by the byte-order mark of a stream, if there is one."""
    first = stream.peek(4)
    return next((encoding for mark, encoding in _MARKS.items() if first.startswith(mark)), None)


def known_encoding(name: str) -> str:
    """Python's name for a text encoding; raises ValueError if labkit cannot read it."""
    try:
        encoding = codecs.lookup(name).name
        usable = "a\n".encode(encoding) == b"a\n" or encoding.startswith("utf-")
    except (LookupError, ValueError, TypeError):  # ValueError: a NUL in the name
        usable = False
    if not usable:
        raise ValueError(
            f"encoding {name!r} is not supported; use one such as utf-8, utf-16, latin-1 or cp1252, or save the text "
            "as UTF-8"
        )
    return f"{encoding}-le" if encoding in ("utf-16", "utf-32") else encoding  # files without a mark, as on Windows
