"""A Wikipedia dump -> its articles as wikitext, streamed: memory does not grow with the dump.

In: a file named .xml, .xml.bz2 or .xml.gz (`pages-articles`). Out: a stream of `Page`. What is no article is left out
and counted: other namespaces, redirects, disambiguation pages, pages that are not wikitext. Only the fields that are
needed are kept of a page, and of those no more than a wiki allows, so a file that lies cannot fill the memory either.

`article_of` makes an `Article` of a page: its lead first (empty or not), then each heading with its paragraphs.
The parser is mwparserfromhell; what counts as running text is decided here. Gone are tables, lists, references, files,
categories, formulas and nearly all templates.

`mapped` calls a function over a stream in several processes: in order, with flat memory, and quiet at Ctrl-C.
"""

from __future__ import annotations

import bz2
import gzip
import os
import re
import signal
import threading
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, TypeVar
from xml.etree.ElementTree import ParseError, XMLParser

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, HTMLEntity, Node, Tag, Template, Text, Wikilink

from labkit.corpora.records import Article, Section
from labkit.thematic.rules import READ, Tally

# --- dump --------------------------------------------------------------------------------------------------------

ENDINGS = (".xml", ".xml.bz2", ".xml.gz")
BLOCK, LARGEST = 2**20, 2 * 2**20  # bytes read at once; characters of a page: a wiki allows 2 MB
ELSEWHERE, REDIRECT, DISAMBIGUATION = "not in the namespace of articles", "redirect", "disambiguation page"
NOT_TEXT, TOO_LARGE = "not wikitext, or without title or text", "over 2 MB"
REMOVED = (ELSEWHERE, REDIRECT, NOT_TEXT, TOO_LARGE, DISAMBIGUATION)  # as they are asked

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
        pages, target.pages = target.pages, []
        for fields in pages:
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
        self.pages: list[dict[str, str]] = []
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
            self.pages.append(self._page)
            self._page = None
        elif tag == self._field == "namespace":
            self.namespaces.append("".join(self._pieces))
        elif tag == self._field and self._page is not None:
            self._page[tag] = "".join(self._pieces)
        self._field = ""

    def close(self) -> None:
        """Nothing is kept to the end."""


# --- wikitext ----------------------------------------------------------------------------------------------------

_HEADING = re.compile(r"^(={1,6})[ \t]*(.+?)[ \t]*\1[ \t]*$", re.M)
_OPEN = re.compile(r"\{\{|\{\||\[|<(?!/|[^<>]*/>)[a-zA-Z]")
_CLOSE = re.compile(r"\}\}|\|\}|\]|</[a-zA-Z]")
_LEFT_OVER = re.compile(r"\{\{|\}\}|\{\||\|\}|\[\[|\]\]|</?[a-zA-Z][^<>]*>|<ref\b|^[|!]", re.M)
_LIST = re.compile(r"^[*#:;].*$", re.M)
_REFERENCE = re.compile(r"<ref(?:\s[^<>]*?)?(?:/>|>(?:(?!<ref\b).)*?</ref\s*>)", re.S | re.I)
_TEMPLATE = re.compile(r"\{\{([^{}|]*)(?:\|[^{}]*)?\}\}")  # with no other inside
_STYLE, _SWITCH = re.compile("'{2,5}"), re.compile(r"__[A-Z]+__")
_HOLLOW = re.compile(r"\(\s*(?:[,;:]\s*)*\)|\[\s*\]")  # brackets whose content is gone
_SPACE_BEFORE = re.compile(r" +([,.;:!?)])")
_DEEPEST = 40  # templates within templates
_COSTLY = 2_000_000  # unclosed marks times characters: the parser tries each of them to the end of the text

DROPPED = frozenset(
    ("ref", "references", "table", "gallery", "math", "chem", "timeline", "score", "syntaxhighlight", "source", "code",
     "pre", "imagemap", "poem", "hiero", "graph", "templatedata", "hr", "ul", "ol", "dl", "style", "script")
)  # fmt: skip
FILES = frozenset(("file", "image", "category", "media"))
# templates that say something within a sentence -> how many of their first values are said, None: the last one
SPOKEN: dict[str, int | None] = {
    **dict.fromkeys(("lang", "transl", "transliteration")),
    **dict.fromkeys(("nowrap", "nobr", "abbr", "small", "circa", "c.", "sic", "ill", "em", "formatnum"), 1),
    **dict.fromkeys(("convert", "cvt"), 2),
}


def article_of(title: str, wikitext: str, namespaces: Iterable[str] = ()) -> tuple[Article, int]:
    """Make the article, and count the paragraphs left out: those in which markup was never closed.

    Nobody knows where it was to end. `namespaces` are the wiki's names of files and the like.
    """
    silent = FILES | {name.lower() for name in namespaces}
    sections: list[Section] = []
    lost, top = 0, ""
    for level, heading, body in _pieces(without_templates(wikitext)):
        paragraphs, broken = _paragraphs(body, silent)
        lost += broken
        name = _line(_plain(heading, silent))
        top = name if level <= 2 else top or name
        sections.append(Section(name, paragraphs, level, top))
    return Article(title, tuple(sections)), lost


def without_templates(wikitext: str) -> str:
    """Take out comments, references and silent templates: the parser, thorough and slow, has less to do then."""
    text, before = _REFERENCE.sub("", _uncommented(wikitext)), ""
    for _ in range(_DEEPEST):  # from the inside out
        before, text = text, _TEMPLATE.sub(_if_spoken, text)
        if text == before:
            break
    return text


def _if_spoken(template: re.Match[str]) -> str:
    return template[0] if template[1].strip().lower() in SPOKEN else ""


def _uncommented(wikitext: str) -> str:
    """Take out comments; one not closed goes to the end, as on the wiki. (A pattern would take squared time.)"""
    kept, end = [], 0
    while (start := wikitext.find("<!--", end)) >= 0:
        kept.append(wikitext[end:start])
        end = wikitext.find("-->", start + 4) + 3
        if end < 3:
            return "".join(kept)
    return "".join([*kept, wikitext[end:]])


def _pieces(wikitext: str) -> Iterator[tuple[int, str, str]]:
    """(level, heading, text below it), the lead first. Cut before parsing: so unclosed markup reaches no further."""
    level, heading, start = 1, "", 0
    for match in _HEADING.finditer(wikitext):
        yield level, heading, wikitext[start : match.start()]
        level, heading, start = len(match[1]), match[2], match.end()
    yield level, heading, wikitext[start:]


def _paragraphs(wikitext: str, silent: frozenset[str]) -> tuple[tuple[str, ...], int]:
    """Running text between blank lines, and how many paragraphs with left over markup there were."""
    unclosed = len(_OPEN.findall(wikitext)) - len(_CLOSE.findall(wikitext))
    if unclosed * len(wikitext) > _COSTLY:
        return (), 1
    blocks = re.split(r"\n\s*\n", _plain(wikitext, silent))
    kept = [(_LEFT_OVER.search(block), _line(_LIST.sub("", block))) for block in blocks]
    return tuple(text for broken, text in kept if text and not broken), sum(broken is not None for broken, _ in kept)


def _plain(wikitext: str, silent: frozenset[str]) -> str:
    return "".join(_said(mwparserfromhell.parse(wikitext, skip_style_tags=True).nodes, silent))


def _said(nodes: Iterable[Node], silent: frozenset[str]) -> Iterator[str]:
    """What of each node is text."""
    for node in nodes:
        if isinstance(node, Text):
            yield str(node)
        elif isinstance(node, HTMLEntity):
            yield unescape(str(node))
        elif isinstance(node, Wikilink):
            yield from _linked(node, silent)
        elif isinstance(node, ExternalLink):
            if node.brackets and node.title is not None:
                yield from _said(node.title.nodes, silent)
        elif isinstance(node, Template):
            yield from _spoken(node, silent)
        elif isinstance(node, Tag):
            yield from _tagged(node, silent)


def _linked(link: Wikilink, silent: frozenset[str]) -> Iterator[str]:
    target = str(link.title).strip()
    space, colon, _ = target.partition(":")
    if colon and (space.strip().lower() in silent or not space.strip()):
        return
    yield from _said(link.text.nodes, silent) if link.text is not None else [target.split("#")[0].replace("_", " ")]


def _spoken(template: Template, silent: frozenset[str]) -> Iterator[str]:
    name = str(template.name).strip().lower()
    values = [parameter.value for parameter in template.params if not parameter.showkey]
    if name not in SPOKEN or not values:
        return
    count = SPOKEN[name]
    said = ("".join(_said(value.nodes, silent)) for value in (values[-1:] if count is None else values[:count]))
    yield ("c. " if name in ("circa", "c.") else "") + " ".join(said)


def _tagged(tag: Tag, silent: frozenset[str]) -> Iterator[str]:
    name = str(tag.tag).strip().lower()
    if tag.wiki_markup and name in ("li", "dd", "dt"):
        yield str(tag.wiki_markup)  # the line is known by it, and goes later
    elif name == "br":
        yield " "
    elif name not in DROPPED and tag.contents is not None:
        yield from _said(tag.contents.nodes, silent)


def _line(text: str) -> str:
    """One line of clean text."""
    text = _HOLLOW.sub("", _SWITCH.sub("", _STYLE.sub("", text)))
    return _SPACE_BEFORE.sub(r"\1", " ".join(text.split()))


# --- workers -----------------------------------------------------------------------------------------------------

T = TypeVar("T")
R = TypeVar("R")

BATCH, AHEAD = 32, 4  # items of a list; lists under way for each process
MOST = 8  # processes that one reader can feed


def mapped(call: Callable[[list[T]], R], items: Iterable[T], *, workers: int = 1, batch: int = BATCH) -> Iterator[R]:
    """Call a function of each `batch` items in turn; with one worker in this process.

    No more than a few lists are under way at a time, so that a stream of any length fits. Processes are started anew
    (`spawn`) and not forked: that is safe beside threads and the same on every system. They leave Ctrl-C to the first
    process, and end with it even when it is killed.
    """
    if workers < 1:
        raise ValueError(f"workers is {workers}, expected at least 1; leave it out for one for each core")
    lists = _lists(items, batch)
    if workers == 1:
        yield from map(call, lists)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_follow)
    try:
        with _unheard():
            for _ in range(workers):
                pool.submit(int)  # each starts a process
        waiting: deque[Future[R]] = deque()
        for part in lists:
            waiting.append(pool.submit(call, part))
            if len(waiting) >= workers * AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool:
        raise ValueError(
            "a process ended before its work was done; is there memory enough? Take fewer workers"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _lists(items: Iterable[T], batch: int) -> Iterator[list[T]]:
    stream = iter(items)
    while part := list(islice(stream, batch)):
        yield part


def usual() -> int:
    """One process for each core, up to `MOST`."""
    return min(MOST, os.cpu_count() or 1)


@contextmanager
def _unheard() -> Iterator[None]:
    """Ctrl-C is ignored here, and by every process started here for as long as it lives."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _follow() -> None:
    """Make a new process end when the first one is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    first = parent_process()
    if first is not None:
        threading.Thread(target=_end_with, args=(first,), daemon=True).start()


def _end_with(first: BaseProcess) -> None:
    first.join()
    os._exit(1)
