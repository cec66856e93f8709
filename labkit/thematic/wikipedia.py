"""Stream the articles of a Wikipedia dump as wikitext, in constant memory.

In: a `pages-articles` file, complete or partial, plain or compressed with bz2 or gzip, under any name. Out: a stream of
`Page`, whose wikitext `labkit.thematic.wikitext` reads. Pages that are not articles are skipped and counted: other
namespaces, redirects, disambiguation pages, pages that are not wikitext.

`pieces` cuts a dump for parallel reading, cutting between pages: a plain .xml, or the official multistream file, which
concatenates bz2 files of a hundred pages each. A .gz, or a .bz2 that another program packed, is one piece.
"""

from __future__ import annotations

import bz2
import gzip
import mmap
import re
import zlib
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from labkit.corpora.article_rules import READ, Tally

BLOCK, LARGEST = 2**20, 2 * 2**20  # bytes read at once; maximum characters of a page: a wiki allows 2 MB
PIECE = 8 * 2**20  # bytes of a dump on disk per piece
ELSEWHERE, REDIRECT, DISAMBIGUATION = "not in the namespace of articles", "redirect", "disambiguation page"
NOT_TEXT, TOO_LARGE = "not wikitext, or without title or text", "over 2 MB"
REMOVED = (ELSEWHERE, REDIRECT, NOT_TEXT, TOO_LARGE, DISAMBIGUATION)  # in the order in which they are checked

_REDIRECT = re.compile(r"\s*#[^\W\d_]+\s*:?\s*\[\[")
_DISAMBIGUATION = re.compile(
    r"__DISAMBIG__|\{\{\s*(?:[\w-]+[ -]){0,3}(?:disambig\w*|dab|hndis|geodis|begriffsklärung|homonymie"
    r"|desambiguaci[oó]n|desambiguação|disambigua|doorverwijspagina|неоднозначность|surname|given name)\s*[|}]",
    re.I,
)
_STREAM = b"BZh91AY&SY"  # the first bytes of a bz2 file; elsewhere they occur by chance once in 10^24 bytes
_PAGE = b"<page>"
_SILENT = ("6", "14", "-2")  # keys of the namespaces of files, categories, media


@dataclass(frozen=True)
class Page:
    """An article's wikitext; `namespaces` are the wiki's names for files, categories and media."""

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
    with suppress(EOFError, OSError, zlib.error):
        return packing(path) == "bz2" or b"<mediawiki" in next(_texts(path), (b"", 0))[0]
    return False


@dataclass(frozen=True)
class Piece:
    """The pages of a dump in these bytes of its file; with `stop` None, up to the end."""

    path: str
    start: int = 0
    stop: int | None = None


def pieces(path: Path, size: int = PIECE) -> list[Piece]:
    """Cut a dump into pieces of at least `size` bytes, in order; the cuts depend only on the file."""
    starts, mark = [0], {"bz2": _STREAM, "": _PAGE}.get(packing(path))
    if mark:
        with path.open("rb") as raw, mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as data:
            while (start := data.find(mark, starts[-1] + size)) >= 0:
                if mark == _STREAM and not _begins_with_page(data[start : start + BLOCK]):
                    break  # the end of the dump, or a file from another packer, which cuts anywhere
                starts.append(start)
    return [Piece(str(path), start, stop) for start, stop in zip(starts, [*starts[1:], None], strict=True)]


def _begins_with_page(packed: bytes) -> bool:
    return bz2.BZ2Decompressor().decompress(packed, 100).lstrip().startswith(_PAGE)


class Dump:
    """The articles of a dump or of a piece; `done` of `total` bytes on disk have been read."""

    def __init__(self, path: Path, tally: Tally, start: int = 0, stop: int | None = None) -> None:
        self.path, self.tally, self.done = path, tally, start
        self.start, self.stop = start, stop
        if not path.is_file():
            raise ValueError(f"{path} is not an existing file; check the name and the current folder")
        self.total = path.stat().st_size
        self.pages = 0
        self._root: Element | None = None
        self._namespaces: list[str] = []

    def __iter__(self) -> Iterator[Page]:
        parser: XMLPullParser[Element] = XMLPullParser(("start", "end"))
        try:
            if self.start:
                parser.feed(self._head())
            for text, done in _texts(self.path, self.start, self.stop):
                self.done = done
                parser.feed(text)
                yield from self._articles(parser)
            if self.stop is None:
                parser.close()
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
            elif name == "namespace" and element.get("key") in _SILENT:
                self._namespaces.append(element.text or "")
            elif name == "page":
                self.pages += 1
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
        for text, _ in _texts(self.path):
            head += text
            if _PAGE in head:
                break
        return head.partition(_PAGE)[0]


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


def _texts(path: Path, start: int = 0, stop: int | None = None) -> Iterator[tuple[bytes, int]]:
    """The text of a piece in blocks, each with the number of bytes read from the file."""
    packed = packing(path)
    with path.open("rb") as raw:
        raw.seek(start)
        if packed == "bz2":
            yield from ((text, raw.tell()) for text in _of_streams(raw, stop))
            return
        with gzip.GzipFile(fileobj=raw) if packed == "gz" else nullcontext(raw) as stream:
            while block := stream.read(BLOCK if stop is None else min(BLOCK, stop - raw.tell())):
                yield block, raw.tell()


def _of_streams(raw: IO[bytes], stop: int | None) -> Iterator[bytes]:
    """The text of concatenated bz2 files that begin before `stop`."""
    packed = b""
    while (packed := packed or raw.read(BLOCK)) and (stop is None or raw.tell() - len(packed) < stop):
        one = bz2.BZ2Decompressor()
        while not one.eof:
            if one.needs_input and not packed and not (packed := raw.read(BLOCK)):
                raise EOFError("it ended before the end of a block")
            text = one.decompress(packed, BLOCK)
            packed = b""
            if text:
                yield text
        packed = one.unused_data
