"""The lines of a text, a block at a time, to be encoded.

In: bytes that nobody has looked at. Out: (up to 4096 sentences, bytes read so far), with flat memory however long the
text. Only a line feed ends a line; an empty line is an empty sentence. What is no text is refused with its line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

LINES, BYTES = 4096, 2**23  # of a block, at most
LONGEST = 1_000_000  # bytes of a line


def line_blocks(stream: IO[bytes], name: str) -> Iterator[tuple[list[str], int]]:
    """The text's lines in blocks; a ValueError names the line that is none."""
    block: list[str] = []
    size, done = 0, 0
    for number, raw in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
        block.append(_sentence(raw, f"{name} line {number}", first=number == 1))
        size += len(raw)
        if len(block) == LINES or size >= BYTES:
            done += size
            yield block, done
            block, size = [], 0
    if block:
        yield block, done + size


def _sentence(raw: bytes, at: str, *, first: bool) -> str:
    if len(raw) > LONGEST:
        raise ValueError(f"{at} is longer than {LONGEST:,} bytes, expected one sentence a line; break it into lines")
    try:
        text = raw.decode("utf-8-sig" if first else "utf-8")
    except UnicodeDecodeError as reason:
        raise ValueError(
            f"{at}: byte 0x{raw[reason.start]:02x} at place {reason.start + 1} is not UTF-8; save the text as UTF-8"
        ) from None
    if "\0" in text:
        raise ValueError(f"{at} holds a NUL, which is no text; remove it, or save the text as UTF-8 if it is UTF-16")
    return text.removesuffix("\n").removesuffix("\r")
