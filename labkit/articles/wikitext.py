"""Wikitext -> sections of plain paragraphs.

In: the text of a page as its editors wrote it. Out: an `Article`: its lead first (empty or not), then each heading
with the paragraphs below it. The parser is mwparserfromhell; what counts as running text is decided here. Gone are
tables, lists, references, files, categories, formulas and nearly all templates; a paragraph in which markup was never
closed is left out and counted, since nobody knows where it was to end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, HTMLEntity, Node, Tag, Template, Text, Wikilink

from labkit.corpora.records import Article, Section

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
    """The article, and how many paragraphs were left out; `namespaces` are the wiki's names of files and the like."""
    silent = FILES | {name.lower() for name in namespaces}
    sections: list[Section] = []
    lost, top = 0, ""
    for level, heading, body in _pieces(thinned(wikitext)):
        paragraphs, broken = _paragraphs(body, silent)
        lost += broken
        name = _line(_plain(heading, silent))
        top = name if level <= 2 else top or name
        sections.append(Section(name, paragraphs, level, top))
    return Article(title, tuple(sections)), lost


def thinned(wikitext: str) -> str:
    """Without comments, references and silent templates: so the parser, which is thorough and slow, has less to do."""
    text, before = _REFERENCE.sub("", _uncommented(wikitext)), ""
    for _ in range(_DEEPEST):  # from the inside out
        before, text = text, _TEMPLATE.sub(_if_spoken, text)
        if text == before:
            break
    return text


def _if_spoken(found: re.Match[str]) -> str:
    return found[0] if found[1].strip().lower() in SPOKEN else ""


def _uncommented(wikitext: str) -> str:
    """Without comments; one that is not closed goes to the end, as on the wiki. (A pattern would take squared time.)"""
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
    for found in _HEADING.finditer(wikitext):
        yield level, heading, wikitext[start : found.start()]
        level, heading, start = len(found[1]), found[2], found.end()
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
