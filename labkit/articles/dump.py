"""A Wikipedia dump -> its articles as wikitext, streamed: memory does not grow with the dump.

In: a file named .xml, .xml.bz2 or .xml.gz (`pages-articles`). Out: a stream of `Page`. What is no article is left out
and counted: other namespaces, redirects, disambiguation pages, pages that are not wikitext. Only the fields that are
needed are kept of a page, and of those no more than a wiki allows, so a file that lies cannot fill the memory either.
"""

from __future__ import annotations

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.etree.ElementTree import ParseError, XMLParser

from labkit.articles.rules import READ, Tally

ENDINGS = (".xml", ".xml.bz2", ".xml.gz")
BLOCK, LARGEST = 2**20, 2 * 2**20  # bytes read at once; characters of a page: a wiki allows 2 MB
ELSEWHERE, REDIRECT, DISAMBIGUATION = "not in the namespace of articles", "redirect", "disambiguation page"
NOT_TEXT, TOO_LARGE = "not wikitext, or without title or text", "over 2 MB"

_REDIRECT = re.compile(r"\s*#[^\W\d_]+\s*:?\s*\[\[")
_DISAMBIGUATION = re.compile(
    r"__DISAMBIG__|\{\{\s*(?:[\w-]+[ -]){0,3}(?:disambig\w*|dab|hndis|geodis|begriffsklärung|homonymie"
    r"|desambiguaci[oó]n|desambiguação|disambigua|doorverwijspagina|неоднозначность|surname|given name)\s*[|}]",
    re.I,
)
_FIELDS = ("title", "ns", "model", "format", "text")  # of a page
_SILENT = ("6", "14", "-2")  # keys of the namespaces of files, categories, media


@dataclass(frozen=True)
class Page:
    """An article as its editors wrote it; `namespaces` are the wiki's names of files, categories and media."""

    title: str
    wikitext: str
    namespaces: tuple[str, ...] = ()


def is_dump(path: Path) -> bool:
    """Whether the file is named as a dump."""
    return path.name.lower().endswith(ENDINGS)


class Dump:
    """The articles of a dump; `done` of `total` bytes on disk have been read."""

    def __init__(self, path: Path, tally: Tally) -> None:
        self.path, self.tally, self.done = path, tally, 0
        if not is_dump(path):
            raise ValueError(f"{path.name}: expected a dump named {', '.join(ENDINGS)}")
        if not path.is_file():
            raise ValueError(f"{path} does not exist or is no file; check the name and the folder you are in")
        self.total = path.stat().st_size
        self.pages = 0

    def __iter__(self) -> Iterator[Page]:
        target = _Pages()
        parser = XMLParser(target=target)
        try:
            with self.path.open("rb") as raw, _unpacked(raw, self.path) as stream:
                while block := stream.read(BLOCK):
                    self.done = raw.tell()
                    parser.feed(block)
                    yield from self._articles(target)
            parser.close()
        except (EOFError, OSError, zlib.error, ParseError) as reason:
            yield from self._articles(target)
            raise ValueError(
                f"{self.path.name} could not be read to its end ({reason}) after {self.pages:,} whole pages; fetch it "
                "again and compare its checksum, or take the first articles with a limit"
            ) from None
        yield from self._articles(target)
        if not self.pages:
            raise ValueError(f"{self.path.name} has no <page>, expected a MediaWiki export; give a pages-articles dump")

    def _articles(self, target: _Pages) -> Iterator[Page]:
        found, target.found = target.found, []
        for fields in found:
            self.pages += 1
            if gone := _removed(fields):
                self.tally.update({(READ, "articles"): 1, (gone, "articles"): 1})
            else:
                yield Page(fields["title"].strip(), fields["text"], tuple(target.namespaces))


def _removed(fields: dict[str, str]) -> str | None:
    """Why a page is no article."""
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


def _unpacked(raw: IO[bytes], path: Path) -> IO[bytes]:
    ending = path.suffix.lower()
    if ending == ".bz2":
        return bz2.BZ2File(raw)
    return gzip.GzipFile(fileobj=raw) if ending == ".gz" else raw  # type: ignore[return-value]


class _Pages:
    """What the XML parser tells: collects the fields of one page at a time."""

    def __init__(self) -> None:
        self.found: list[dict[str, str]] = []
        self.namespaces: list[str] = []
        self._page: dict[str, str] | None = None
        self._field = ""
        self._pieces: list[str] = []
        self._size = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition("}")[2]
        self._field, self._pieces, self._size = "", [], 0
        if tag == "page":
            self._page = {}
        elif tag == "namespace" and attributes.get("key") in _SILENT:
            self._field = tag
        elif self._page is not None:
            if tag == "redirect":
                self._page["redirect"] = ""
            elif tag in _FIELDS:
                self._field = tag

    def data(self, text: str) -> None:
        if self._field and self._size <= LARGEST:  # one piece more than allowed, so that it is seen
            self._pieces.append(text)
            self._size += len(text)

    def end(self, tag: str) -> None:
        tag = tag.rpartition("}")[2]
        if tag == "page" and self._page is not None:
            self.found.append(self._page)
            self._page = None
        elif tag == self._field == "namespace":
            self.namespaces.append("".join(self._pieces))
        elif tag == self._field and self._page is not None:
            self._page[tag] = "".join(self._pieces)
        self._field = ""

    def close(self) -> None:
        """Nothing is kept to the end."""
