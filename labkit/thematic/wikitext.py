"""Convert wikitext to an `Article`: running text in sections. Needs the `wikipedia` extra.

The lead comes first (even if empty), then each heading with its paragraphs. mwparserfromhell parses; this module
decides what counts as running text. Tables, lists, references, files and categories are removed. Formulas and nearly
all templates are also removed, but leave a mark (`LOST`); `article_rules` skips sentences with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import unescape

from labkit.corpora.article_rules import LOST
from labkit.corpora.records import Article, Section
from labkit.extras import require

require("wikipedia", "mwparserfromhell")

import mwparserfromhell
from mwparserfromhell.nodes import ExternalLink, HTMLEntity, Node, Tag, Template, Text, Wikilink

_HEADING = re.compile(r"^(={1,6})[ \t]*(.+?)[ \t]*\1[ \t]*$", re.M)
_OPEN = re.compile(r"\{\{|\{\||\[|<(?!/|[^<>]*/>)[a-zA-Z]")
_CLOSE = re.compile(r"\}\}|\|\}|\]|</[a-zA-Z]")
_LEFT_OVER = re.compile(r"\{\{|\}\}|\{\||\|\}|\[\[|\]\]|</?[a-zA-Z][^<>]*>|<ref\b|^[|!]", re.M)
_LIST = re.compile(r"^(?:[*#:;]|[\s']*(?:Main articles?:|Further information:|See also\b)).*$", re.M)  # and hatnotes
_REFERENCE = re.compile(r"<ref(?:\s[^<>]*?)?(?:/>|>(?:(?!<ref\b).)*?</ref\s*>)", re.S | re.I)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)  # an unclosed comment extends to the end, as on the wiki
_STYLE, _SWITCH = re.compile("'{2,5}"), re.compile(r"__[A-Z]+__")
_HOLLOW = re.compile(rf"\((?:[\s,;:]|{LOST})*\)|\[\s*\]")  # brackets that have lost their content
# markers between two sentences
_BETWEEN = re.compile(rf"(^|[.!?:][\"'”’)]*)(?:\s*{LOST})+(?=\s*[^\Wa-z_]|\s*$)")
_SPACE_BEFORE = re.compile(r" +([,.;:!?)])")
_COSTLY = 2_000_000  # unclosed marks times characters: the parser tries each mark to the end of the text

DROPPED = frozenset(
    ("ref", "references", "table", "gallery", "timeline", "pre", "imagemap", "poem", "graph", "templatedata", "hr",
     "ul", "ol", "dl", "style", "script")
)  # fmt: skip
FORMULAS = frozenset(("math", "ce", "chem", "score", "syntaxhighlight", "source", "code", "hiero"))
# templates that show nothing or only the number of a footnote
UNSEEN = re.compile(
    r"#tag:ref|according|anchor|better|by whom|cit|clar|clear|cn$|cref|dead link|disputed|dubious|efn|fact$|failed|full"
    r"|harv(?!txt)|inflation-fn|note|page|pov|qualify|ref|rp?$|sfn|specify|unreliable|update|vague|verif|weasel"
    r"|wh(?:en|ere|ich|om?|y)\b|year needed",
    re.I,
)
FILES = frozenset(("file", "image", "category", "media"))
# templates with text in a sentence -> how many of their first values are shown; None: the last value
SPOKEN: dict[str, int | None] = {
    **dict.fromkeys(("lang", "transl", "transliteration")),
    **dict.fromkeys(("nowrap", "nobr", "abbr", "small", "circa", "c.", "sic", "ill", "em", "formatnum"), 1),
    **dict.fromkeys(("convert", "cvt"), 2),
}
RANGES = ("-", "–", "and", "to", "or", "by", "x", "and(-)", "to(-)")  # between two numbers of a measure
_CODE = re.compile(r"e\d|\w*oilbbl")  # units that are not shown


def article_of(title: str, wikitext: str, namespaces: Iterable[str] = ()) -> tuple[Article, int]:
    """Make the article, and count the skipped paragraphs with unclosed markup.

    It is unknown where unclosed markup ends. `namespaces` are the wiki's names for files and the like.
    """
    silent = FILES | {name.lower() for name in namespaces}
    sections: list[Section] = []
    lost, top = 0, ""
    for level, heading, body in _headed(without_notes(wikitext)):
        paragraphs, broken = _paragraphs(body, silent)
        lost += broken
        name = _line(_plain(heading, silent).replace(LOST, ""))
        top = name if level <= 2 else top or name
        sections.append(Section(name, paragraphs, level, top))
    return Article(title, tuple(sections)), lost


def without_notes(wikitext: str) -> str:
    """Remove comments and references before parsing, which saves the slow parser a third of its work."""
    return _REFERENCE.sub("", _COMMENT.sub("", wikitext))


def _headed(wikitext: str) -> Iterator[tuple[int, str, str]]:
    """(level, heading, text below it), the lead first. Cutting before parsing limits unclosed markup to its section."""
    level, heading, start = 1, "", 0
    for match in _HEADING.finditer(wikitext):
        yield level, heading, wikitext[start : match.start()]
        level, heading, start = len(match[1]), match[2], match.end()
    yield level, heading, wikitext[start:]


def _paragraphs(wikitext: str, silent: frozenset[str]) -> tuple[tuple[str, ...], int]:
    """The paragraphs of running text, and the number of paragraphs with leftover markup."""
    unclosed = len(_OPEN.findall(wikitext)) - len(_CLOSE.findall(wikitext))
    if unclosed * len(wikitext) > _COSTLY:
        return (), 1
    blocks = re.split(r"\n\s*\n", _plain(wikitext, silent))
    kept = [(_LEFT_OVER.search(block), _line(_LIST.sub(_if_formula, block))) for block in blocks]
    return tuple(text for broken, text in kept if text and not broken), sum(broken is not None for broken, _ in kept)


def _if_formula(line: re.Match[str]) -> str:
    """Keep an indented formula, which belongs to the sentence around it, but no other list item."""
    return LOST if line[0].strip(": .,") == LOST else ""


def _plain(wikitext: str, silent: frozenset[str]) -> str:
    return "".join(_said(mwparserfromhell.parse(wikitext, skip_style_tags=True).nodes, silent))


def _said(nodes: Iterable[Node], silent: frozenset[str]) -> Iterator[str]:
    """The visible text of each node."""
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
    if colon and space.strip().lower() in silent:
        return
    shown = target.lstrip(":").split("#")[0].replace("_", " ")  # a link with a leading colon is an ordinary link
    yield from _said(link.text.nodes, silent) if link.text is not None else [shown]


def _spoken(template: Template, silent: frozenset[str]) -> Iterator[str]:
    name = str(template.name).strip().lower()
    values = [parameter.value for parameter in template.params if not parameter.showkey]
    if name not in SPOKEN or not values:
        yield "" if name in SPOKEN or UNSEEN.match(name) else LOST
        return
    count, said = SPOKEN[name], ["".join(_said(value.nodes, silent)) for value in values]
    if count is None:
        yield said[-1]
    elif count == 2:
        yield _measure(said)
    else:
        yield f"c. {said[0]}" if name in ("circa", "c.") else said[0]


def _measure(said: list[str]) -> str:
    """The number and the unit of {{convert|60|kg}}, or both numbers of {{convert|60|and(-)|80|kg}}."""
    unit = 1
    while len(said) > unit + 2 and said[unit] in RANGES:
        unit += 2
    text = " ".join(said[: unit + 1]).replace("(-)", "")
    return LOST if _CODE.match(said[unit] if len(said) > unit else "") else text


def _tagged(tag: Tag, silent: frozenset[str]) -> Iterator[str]:
    name = str(tag.tag).strip().lower()
    if tag.wiki_markup and name in ("li", "dd", "dt"):
        yield str(tag.wiki_markup)  # marks the line for later removal
    elif name == "br":
        yield " "
    elif name in FORMULAS:
        yield LOST
    elif name not in DROPPED and tag.contents is not None:
        yield from _said(tag.contents.nodes, silent)


def _line(text: str) -> str:
    """A line of clean text."""
    text = _HOLLOW.sub("", _SWITCH.sub("", _STYLE.sub("", unescape(text))))
    return _SPACE_BEFORE.sub(r"\1", " ".join(_BETWEEN.sub(r"\1", text).split()))
