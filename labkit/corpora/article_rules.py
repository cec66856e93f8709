"""The rules of triplets-sen as named filters (Ein Dor et al. 2018, section 3.1).

In: an article. Out: the `eligible` sentences, which may appear in a triplet, by section, and the number of articles,
sections and sentences that each rule removed. `article_triplets.py` builds the pairs and chooses their negatives.

A token is a word as the networks read it, without punctuation. A section is a top section with all its subsections or,
with `by="heading"`, the text under one heading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labkit.corpora.records import Article, Section
from labkit.text import sentences, words

# section title, its sentences with their paragraph numbers in the section, from 0
Themes = tuple[tuple[str, tuple[tuple[int, str], ...]], ...]
Tally = Counter[tuple[str, str]]  # (rule, unit) -> the number removed; for READ, the number read

READ = "read"
SHORTEST, LONGEST, FEWEST, APART = 5, 50, 5, 3  # tokens, tokens, sections, paragraphs
LISTS = frozenset(
    ("external links", "further reading", "references", "see also", "notes", "citations", "authored books")
)
LOST = 2 * "\ua66e"  # replaces a template or a formula; letters that occur in no article, so that it counts as a word
FAR = f"over {APART} paragraphs apart"
BY = ("top", "heading")


def is_first(place: int, titles: tuple[str, str]) -> bool:
    """The lead is about the article as a whole."""
    return place == 0


def is_background(place: int, titles: tuple[str, str]) -> bool:
    """The section is general; `titles` are those of the heading and of its top section."""
    return any(_plain(title) == "background" for title in titles)


def is_list(place: int, titles: tuple[str, str]) -> bool:
    """A list of items has no theme."""
    return any(_plain(title) in LISTS for title in titles)


def incomplete(sentence: str) -> bool:
    """The sentence lost a template or a formula; the reader of wikitext leaves a mark in its place."""
    return LOST in sentence


def too_short(sentence: str) -> bool:
    return len(words(sentence)) < SHORTEST


def too_long(sentence: str) -> bool:
    return len(words(sentence)) > LONGEST


def too_far(first: tuple[int, str], second: tuple[int, str]) -> bool:
    """Whether two (paragraph, sentence) tuples of a section are more than three paragraphs apart."""
    return abs(first[0] - second[0]) > APART


def same(first: tuple[int, str], second: tuple[int, str]) -> bool:
    """A sentence that occurs twice is not specific to a theme."""
    return same_text(first[1], second[1])


SECTION_RULES: dict[str, Callable[[int, tuple[str, str]], bool]] = {
    "first section": is_first,
    "section 'Background'": is_background,
    "section of lists": is_list,
}
SENTENCE_RULES: dict[str, Callable[[str], bool]] = {
    "lost a template or a formula": incomplete,
    f"under {SHORTEST} tokens": too_short,
    f"over {LONGEST} tokens": too_long,
}
PAIR_RULES: dict[str, Callable[[tuple[int, str], tuple[int, str]], bool]] = {
    FAR: too_far,
    "the same sentence twice": same,
}
REPEATED, UNCLOSED = "title of an earlier article", "markup never closed"
JOINED, EMPTY, FEW = "part of its top section", "no sentence left", f"under {FEWEST} sections left"
REMOVED = (REPEATED, UNCLOSED, *SECTION_RULES, JOINED, *SENTENCE_RULES, EMPTY, FEW, *PAIR_RULES)  # in order of use


def eligible(article: Article, *, by: str = "top") -> Themes:
    """The remaining sections, each with (paragraph number, first sentence) tuples; empty if fewer than five remain."""
    return sifted(article, by=by)[0]


def sifted(article: Article, *, by: str = "top") -> tuple[Themes, Tally]:
    """The result of `eligible`, and the number of items that each rule removed."""
    tally: Tally = Counter({(READ, "articles"): 1, (READ, "sections"): len(article.sections)})
    themes: dict[int, tuple[str, list[tuple[int, str]]]] = {}
    for place, theme, start, titles, section in _placed(article, by):
        numbered = list(_openings(section, start))
        tally[READ, "sentences"] += len(numbered)
        if gone := removing(SECTION_RULES, place, titles):
            tally.update({(gone, "sections"): 1, (gone, "sentences"): len(numbered)})
            continue
        if theme in themes:
            tally[JOINED, "sections"] += 1
        themes.setdefault(theme, (titles[1] if by == "top" else titles[0], []))[1].extend(_kept(numbered, tally))
    left = tuple((title, tuple(kept)) for title, kept in themes.values() if kept)
    tally[EMPTY, "sections"] += len(themes) - len(left)
    if len(left) < FEWEST:
        lost = sum(len(kept) for _, kept in left)
        tally.update({(FEW, "articles"): 1, (FEW, "sections"): len(left), (FEW, "sentences"): lost})
        left = ()
    return left, tally


def _placed(article: Article, by: str) -> Iterator[tuple[int, int, int, tuple[str, str], Section]]:
    """For each heading: its number, the theme's number, the number of its first paragraph in the theme, its titles."""
    theme, start, before = 0, 0, ""
    for place, section in enumerate(article.sections):
        # if no top section is given, the level determines it
        top = section.top or (before if section.level > 2 and before else section.title)
        if by == "heading" or top != before or place <= 1 or section.level <= 2:
            theme, start = place, 0
        yield place, theme, start, (section.title, top), section
        before, start = top, start + len(section.paragraphs)


def _openings(section: Section, start: int) -> Iterator[tuple[int, str]]:
    """The first sentence of each paragraph."""
    for number, paragraph in enumerate(section.paragraphs, start):
        for sentence in sentences(paragraph)[:1]:
            yield number, " ".join(sentence.split())


def _kept(numbered: list[tuple[int, str]], tally: Tally) -> Iterator[tuple[int, str]]:
    for number, sentence in numbered:
        if gone := removing(SENTENCE_RULES, sentence):
            tally[gone, "sentences"] += 1
        else:
            yield number, sentence


def removing(rules: Mapping[str, Callable[..., bool]], *asked: Any) -> str | None:
    """The name of the first rule that removes the item."""
    return next((name for name, removes in rules.items() if removes(*asked)), None)


def same_text(one: str, other: str) -> bool:
    """Whether two sentences are equal apart from case."""
    return one == other or _plain(one) == _plain(other)


def _plain(title: str) -> str:
    return " ".join(title.split()).casefold()
