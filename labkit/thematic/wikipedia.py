"""Stream the articles of a Wikipedia dump as wikitext, with constant memory.

In: a `pages-articles` file, complete or partial, plain or compressed with bz2 or gzip, under any name. Out: a stream of
`Page`, whose wikitext `labkit.thematic.wikitext` reads. Pages that are not articles are skipped and counted: other
namespaces, redirects, disambiguation pages, pages that are not wikitext.

`pieces` cuts a dump for parallel reading. The official multistream file concatenates bz2 files of a hundred pages each,
which are found by their first bytes. A plain .xml is cut anywhere. A page belongs to the piece in which it begins. A
.gz, or a .bz2 with a single stream, is one piece.
"""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from labkit.corpora.article_rules import READ, Tally

BLOCK, LARGEST = 2**20, 2 * 2**20  # bytes read at once; characters of a page: a wiki allows 2 MB
PIECE = 8 * 2**20  # bytes of a dump on disk per piece
ELSEWHERE, REDIRECT, DISAMBIGUATION = "not in the namespace of articles", "redirect", "disambiguation page"
NOT_TEXT, TOO_LARGE = "not wikitext, or without title or text", "over 2 MB"
REMOVED = (ELSEWHERE, REDIRECT, NOT_TEXT, TOO_LARGE, DISAMBIGUATION)  # as they are asked

_REDIRECT = re.compile(r"\s*#[^\W\d_]+\s*:?\s*\[\[")
_DISAMBIGUATION = re.compile(
    r"__DISAMBIG__|\{\{\s*(?:[\w-]+[ -]){0,3}(?:disambig\w*|dab|hndis|geodis|begriffsklärung|homonymie"
    r"|desambiguaci[oó]n|desambiguação|disambigua|doorverwijspagina|неоднозначность|surname|given name)\s*[|}]",
    re.I,
)
_STREAM = b"BZh91AY&SY"  # the first bytes of each bz2 file, with its first block
_PAGE = b"<page>"
_SILENT = ("6", "14", "-2")  # keys of the namespaces of files, categories, media


@dataclass(frozen=True)
class Page:
    """An article's wikitext; `namespaces` are the wiki's names of files, categories and media."""

    title: str
    wikitext: str
    namespaces: tuple[str, ...] = ()


def packing(path: Path) -> str:
    """The compression of a file, by its first bytes: "bz2", "gz" or ""."""
    with path.open("rb") as raw:
        first = raw.read(3)
    return "bz2" if first == b"BZh" else "gz" if first[:2] == b"\x1f\x8b" else ""


def is_dump(path: Path) -> bool:
    """Whether a file is a dump, by its content; bz2 files are always dumps."""
    if not path.is_file():
        return False
    with path.open("rb") as raw, suppress(EOFError, OSError, zlib.error):
        return packing(path) == "bz2" or b"<mediawiki" in next(_unpacked(raw, path, 0, None), (b"", True))[0]
    return False


@dataclass(frozen=True)
class Piece:
    """The pages of a dump that begin in these bytes of its file; `stop` None: up to the end."""

    path: str
    start: int = 0
    stop: int | None = None


def pieces(path: Path, size: int = PIECE) -> list[Piece]:
    """Cut a dump into pieces of about `size` bytes, in order; the cuts depend only on the file."""
    total, packed = Dump(path, Counter()).total, packing(path)
    entries = _streams(path) if packed == "bz2" else [0] if packed == "gz" else range(0, max(total, 1), size)
    starts = [0]
    for start in entries:
        if start - starts[-1] >= size:
            starts.append(start)
    return [Piece(str(path), start, stop) for start, stop in zip(starts, [*starts[1:], None], strict=True)]


def _streams(path: Path) -> Iterator[int]:
    """Where each concatenated bz2 file begins. Its first ten bytes occur elsewhere by chance once in 10^24 bytes."""
    yield 0
    with path.open("rb") as raw:
        before, at = b"", 0
        while block := raw.read(BLOCK):
            text, found = before + block, -1
            while (found := text.find(_STREAM, found + 1)) >= 0:
                if at - len(before) + found:
                    yield at - len(before) + found
            before, at = text[1 - len(_STREAM) :], at + len(block)


class Dump:
    """The articles of a dump or of a piece; `done` of `total` bytes on disk have been read."""

    def __init__(self, path: Path, tally: Tally, start: int = 0, stop: int | None = None) -> None:
        self.path, self.tally, self.done = path, tally, start
        self.start, self.stop = start, stop
        if not path.is_file():
            raise ValueError(f"{path} is not an existing file; check the name and the current folder")
        self.total = path.stat().st_size
        self.pages = 0
        self._last = False  # whether the file's last page belongs to this piece
        self._root: Element | None = None
        self._namespaces: list[str] = []
        self._in_page = False

    def __iter__(self) -> Iterator[Page]:
        parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
        try:
            if self.start:
                parser.feed(self._head())
            for block in self._blocks():
                parser.feed(block)
                yield from self._articles(parser)
            if self._last:
                parser.close()
            elif self._in_page:
                raise EOFError("a page does not end")
        except (EOFError, OSError, zlib.error, ParseError) as reason:
            where = f" from byte {self.start:,} on" if self.start else ""
            raise ValueError(
                f"{self.path.name} could not be read to the end ({reason}) after {self.pages:,} whole pages{where}. "
                "Download it again and compare its checksum, or read only the first articles with --limit"
            ) from None
        if not self.pages and not self.start and self.stop is None:
            raise ValueError(f"{self.path.name} has no <page>; use a pages-articles dump of MediaWiki")

    def _articles(self, parser: XMLPullParser[Element]) -> Iterator[Page]:
        """The articles among the completed pages; each page is freed after it is read."""
        for event, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
            name = element.tag.rpartition("}")[2]
            if event == "start":
                self._root = element if name == "mediawiki" else self._root
                self._in_page = self._in_page or name == "page"
            elif name == "namespace" and element.get("key") in _SILENT:
                self._namespaces.append(element.text or "")
            elif name == "page":
                self._in_page, self.pages = False, self.pages + 1
                fields = {each.tag.rpartition("}")[2]: each.text or "" for each in element.iter()}
                if self._root is not None:
                    self._root.clear()
                if gone := _removed(fields):
                    self.tally.update({(READ, "articles"): 1, (gone, "articles"): 1})
                else:
                    yield Page(fields["title"].strip(), fields["text"], tuple(self._namespaces))

    def _head(self) -> bytes:
        """The text before the first page, with the names of the namespaces."""
        head = b""
        with self.path.open("rb") as raw:
            for data, _ in _unpacked(raw, self.path, 0, None):
                head += data
                if (end := head.find(_PAGE)) >= 0:
                    return head[:end]
                if len(head) > LARGEST:
                    break
        return b"<mediawiki>"

    def _blocks(self) -> Iterator[bytes]:
        """The text of this piece: from the first page that begins in it to the first page that begins after it."""
        with self.path.open("rb") as raw:
            begun, text, own = not self.start, b"", 0  # text held back, and how much of it belongs to this piece
            for data, mine in _unpacked(raw, self.path, self.start, self.stop):
                self.done = raw.tell()
                text += data
                own = len(text) if mine else own
                if not begun:
                    first = text.find(_PAGE, 0, own + len(_PAGE) - 1)
                    if first < 0 and not mine:
                        return
                    begun, text = first >= 0, text[first if first >= 0 else 1 - len(_PAGE) :]
                    own = own - first if begun else len(text)
                    if not begun:
                        continue
                if not mine and (end := text.find(_PAGE, own)) >= 0:
                    yield text[:end]
                    return
                held = min(len(text), len(_PAGE) - 1)  # the start of a page may span two blocks
                yield text[: len(text) - held]
                text, own = text[len(text) - held :], max(0, own - (len(text) - held))
            if begun:
                yield text
                self._last = True


def _removed(fields: dict[str, str]) -> str | None:
    """Why a page is not an article, or None."""
    text = fields.get("text", "")
    if fields.get("ns", "0").strip() != "0":
        return ELSEWHERE
    if "redirect" in fields or _REDIRECT.match(text):
        return REDIRECT
    if fields.get("model", "wikitext").strip() != "wikitext" or not fields.get("title", "").strip() or not text.strip():
        return NOT_TEXT
    if len(text) > LARGEST:
        return TOO_LARGE
    return DISAMBIGUATION if _DISAMBIGUATION.search(text) else None


def _unpacked(raw: IO[bytes], path: Path, start: int, stop: int | None) -> Iterator[tuple[bytes, bool]]:
    """The text from a byte of the file to its end, in blocks, each with whether it is before `stop`."""
    packed = packing(path)
    raw.seek(start)
    if packed == "bz2":
        yield from _of_streams(raw, start, stop)
        return
    with gzip.GzipFile(fileobj=raw) if packed == "gz" else nullcontext(raw) as stream:
        at = start
        while block := stream.read(BLOCK if stop is None or at >= stop else min(BLOCK, stop - at)):
            yield block, stop is None or at < stop
            at += len(block)


def _of_streams(raw: IO[bytes], start: int, stop: int | None) -> Iterator[tuple[bytes, bool]]:
    """The text of concatenated bz2 files; a file is before `stop` if it begins before it."""
    packed, mine = b"", True
    while packed := packed or raw.read(BLOCK):
        if stop is not None:
            mine = raw.tell() - len(packed) < stop
        one = bz2.BZ2Decompressor()
        while not one.eof:
            if one.needs_input and not packed and not (packed := raw.read(BLOCK)):
                raise EOFError("it ended before the end of a block")
            text = one.decompress(packed, BLOCK)
            packed = b""
            if text:
                yield text, mine
        packed = one.unused_data
