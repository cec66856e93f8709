"""The lines of a text, whatever bytes it comes in; and the same a block at a time, to be encoded.

In: bytes that nobody has looked at. Out: (line, bytes that it took), or (up to 4096 sentences, bytes read so far), with
flat memory however long the text. Only a line feed ends a line; an empty line is an empty sentence. A text that begins
with a byte-order mark is read as the mark says. What is no text is refused with its line.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from difflib import get_close_matches
from encodings.aliases import aliases
from itertools import chain
from typing import IO

LINES, BYTES = 4096, 2**23  # of a block, at most
LONGEST = 1_000_000  # bytes of a line
MARKS = {  # that of UTF-32 begins as that of UTF-16 does
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}
_MARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}  # without a mark: as Windows writes


def line_blocks(stream: IO[bytes], name: str) -> Iterator[tuple[list[str], int]]:
    """The text's lines in blocks; a ValueError names the line that is none."""
    block: list[str] = []
    size, done = 0, 0
    for number, (text, took) in enumerate(text_lines(stream, name), 1):
        if "\0" in text:
            raise ValueError(
                f"{name} line {number} holds a NUL, which is no text; remove it, or save the text as UTF-8 if it is "
                "UTF-16"
            )
        block.append(text.removesuffix("\n").removesuffix("\r"))
        size += took
        if len(block) == LINES or size >= BYTES:
            done += size
            yield block, done
            block, size = [], 0
    if block:
        yield block, done + size


def text_lines(
    stream: IO[bytes],
    name: str,
    encoding: str = "utf-8",
    *,
    longest: int = LONGEST,
    remedy: str = "save the text as UTF-8",
) -> Iterator[tuple[str, int]]:
    """Each line with the sign that ends it, and how many bytes it took; a byte that is no sign is named with its line.

    A mark at the beginning goes before the encoding that is named, and is no part of the text.
    """
    encoding = known_encoding(encoding)
    first = stream.readline(longest + 1)
    mark = next((mark for mark in MARKS if first.startswith(mark)), b"")
    encoding = MARKS.get(mark, encoding)
    for number, raw in enumerate(_raw_lines(first, stream, encoding, longest), 1):
        if raw == mark and number == 1:
            return
        if len(raw) > longest:
            raise ValueError(
                f"{name} line {number} is longer than {longest:,} bytes, expected one sentence a line; break it into "
                "lines"
            )
        skipped = len(mark) if number == 1 else 0
        try:
            yield raw[skipped:].decode(encoding), len(raw)
        except UnicodeError as reason:
            at = skipped + getattr(reason, "start", 0)
            raise ValueError(
                f"{name} line {number}: byte 0x{raw[at]:02x} at place {at + 1} is not {encoding.upper()}; {remedy}"
            ) from None


def known_encoding(name: str) -> str:
    """Python's own name of an encoding in which a text's lines can be told apart, or one sentence."""
    try:
        lines = "a\n".encode(name)
        found = codecs.lookup(name).name
    except (LookupError, ValueError, TypeError):  # ValueError: a NUL in the name, or an encoding of nothing
        near = get_close_matches(str(name).lower(), [*aliases, *aliases.values()], n=1)
        hint = f"did you mean {near[0]!r}?" if near else "save the text as UTF-8 if you do not know which it is"
        raise ValueError(
            f"encoding is {name!r}, expected one that Python knows, such as utf-8, utf-16, latin-1 or cp1252; {hint}"
        ) from None
    found = _MARKED.get(found, found)
    if found not in MARKS.values() and lines != b"a\n":
        raise ValueError(f"encoding is {name!r}, whose lines do not end as those of a text do; save the text as UTF-8")
    return found


def _raw_lines(first: bytes, stream: IO[bytes], encoding: str, longest: int) -> Iterator[bytes]:
    """The bytes of each line, `first` and what follows; of one that is too long only the beginning."""
    end = "\n".encode(encoding)
    if len(end) == 1:
        yield from chain([first] if first else [], iter(lambda: stream.readline(longest + 1), b""))
        return
    line = bytearray(first)  # a byte 0x0A ends no line where it is a part of another sign
    while line:
        while len(line) % len(end) and (more := stream.readline(len(end) - len(line) % len(end))):
            line += more
        if line.endswith(end) or len(line) > longest or not (more := stream.readline(longest + 1)):
            yield bytes(line)
            more = stream.readline(longest + 1)
            line.clear()
        line += more
