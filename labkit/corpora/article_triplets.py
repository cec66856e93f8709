"""Triplets from the eligible sentences of an article: two from one section, and a negative by one of four rules.

    adjacent   one negative from the section before and one from the section after, where they exist: triplets-sen
    article    the same number of negatives, each from any other section of the article
    other      the same number of negatives, each from another article of the same split
    titles     anchor: a section's first sentence; positive: article title + section title; negatives: article title +
               title of the section before or after: triplets-titles

In: prepared articles. Out: rows `{anchor, positive, negative, split, article, section, ...}`, and a tally of the pairs
and triplets that each rule removed. Draws depend only on the seed and the article's title; for `other`, they also
depend on nearby articles in the stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from random import Random
from typing import Any

from labkit.corpora.article_rules import (
    BY,
    FAR,
    LONGEST,
    PAIR_RULES,
    READ,
    REPEATED,
    SHORTEST,
    Tally,
    Themes,
    removing,
    same_text,
    sifted,
)
from labkit.corpora.records import Articles, Triplets
from labkit.progress import Progress, silent

FURTHER = ("article", "section", "negative_article", "negative_section")  # additional columns
RULES = ("adjacent", "article", "other", "titles")
LIMIT, NOT_FIRST = "over the limit per anchor", f"first sentence not {SHORTEST} to {LONGEST} tokens long"
NO_SIDE, ALONE, REPEATS = "no section on that side", "no other article", "negative is a sentence of the pair"
BARREN = "no triplet"
REMOVED = (LIMIT, NOT_FIRST, NO_SIDE, ALONE, REPEATS, BARREN)  # in order of use
SHELF = 1000  # number of articles from which the rule `other` draws

Row = dict[str, Any]
Negative = tuple[str, str, str]  # its sentence, its article, its section
Candidates = Callable[[int, int, Random], list[Negative]]


@dataclass(frozen=True)
class Plan:
    """The settings for making triplets."""

    rule: str = "adjacent"
    seed: int = 0
    max_per_anchor: int | None = None  # positives per anchor; the rules allow three
    by: str = "top"

    def __post_init__(self) -> None:
        for name, value, known in (("rule", self.rule, RULES), ("by", self.by, BY)):
            if value not in known:
                raise ValueError(f"{name} is {value!r}, expected one of {', '.join(known)}")
        if self.max_per_anchor is not None and self.max_per_anchor < 1:
            raise ValueError(f"max_per_anchor is {self.max_per_anchor}, expected at least 1, or None for all")


@dataclass(frozen=True)
class Prepared:
    """The part of an article that is kept: its title, its split and its eligible sentences."""

    title: str
    split: str
    themes: Themes


def triplets_of(
    corpus: Articles,
    *,
    rule: str = "adjacent",
    seed: int = 0,
    max_per_anchor: int | None = None,
    by: str = "top",
    tally: Tally | None = None,
    progress: Progress = silent,
) -> Triplets:
    """The triplets of all articles by one rule, each in its article's split; repeated titles are skipped.

    The `tally`, if given, counts the items that each rule removes.
    """
    if not isinstance(corpus, Articles):
        raise ValueError(f"corpus {corpus.name!r} has {corpus.KIND}, expected articles, whose sections give triplets")
    plan, tally = Plan(rule, seed, max_per_anchor, by), Counter() if tally is None else tally
    titles: set[str] = set()
    prepared = []
    for done, (article, split) in enumerate(zip(corpus.articles, corpus.splits, strict=True)):
        progress(done, len(corpus), f"triplets of {corpus.name}")
        if article.title in titles:
            tally.update({(READ, "articles"): 1, (REPEATED, "articles"): 1})
            continue
        titles.add(article.title)
        themes, removed = sifted(article, by=by)
        tally.update(removed)
        if themes:
            prepared.append(Prepared(article.title, split, themes))
    rows = list(triplet_rows(prepared, plan, tally))
    if not rows:
        raise ValueError(
            f"{corpus.name} gives no triplets, although {len(titles):,} articles were read. Use articles with at "
            "least five sections of several paragraphs each"
        )
    anchors, positives, negatives, splits, *further = ([row[column] for row in rows] for column in rows[0])
    extra = dict(zip(FURTHER, further, strict=True))
    return Triplets(anchors, positives, negatives, name=corpus.name, splits=splits, extra=extra)


def triplet_rows(articles: Iterable[Prepared], plan: Plan, tally: Tally) -> Iterator[Row]:
    """The rows of articles with eligible sentences; also updates the tally."""
    if plan.rule != "other":
        for article in articles:
            yield from _article_rows(article, plan, tally, _within(article, plan.rule))
        return
    shelves: dict[str, list[Prepared]] = {}
    before: dict[str, list[Prepared]] = {}  # the previous full shelf, for the last articles
    for article in articles:
        shelf = shelves.setdefault(article.split, [])
        shelf.append(article)
        if len(shelf) == SHELF:
            yield from _shelf_rows(shelf, before.get(article.split, []), plan, tally)
            before[article.split] = shelves.pop(article.split)
    for split, shelf in shelves.items():
        yield from _shelf_rows(shelf, before.get(split, []), plan, tally)


def _shelf_rows(shelf: list[Prepared], before: list[Prepared], plan: Plan, tally: Tally) -> Iterator[Row]:
    for place, article in enumerate(shelf):
        others = [*shelf[:place], *shelf[place + 1 :], *before]
        yield from _article_rows(article, plan, tally, partial(_elsewhere, others))


def _article_rows(article: Prepared, plan: Plan, tally: Tally, candidates: Candidates) -> Iterator[Row]:
    """The triplets of one article; `candidates` returns negatives for a pair of section k from a neighbour of k."""
    random = Random(f"{plan.seed}/{plan.rule}/{article.title}")
    pairs = _titled(article, tally) if plan.rule == "titles" else _pairs(article.themes, plan, random, tally)
    count = 0
    for k, anchor, positive in pairs:
        taken = [anchor, positive]
        for near in (k - 1, k + 1):
            tally[READ, "triplets"] += 1
            if not 0 <= near < len(article.themes):
                tally[NO_SIDE, "triplets"] += 1
                continue
            possible = candidates(k, near, random)
            drawn = _drawn(possible, taken, random)
            if drawn is None:
                tally[REPEATS if possible else ALONE, "triplets"] += 1
                continue
            negative, title, section = drawn
            taken.append(negative)
            count += 1
            yield {
                "anchor": anchor,
                "positive": positive,
                "negative": negative,
                "split": article.split,
                "article": article.title,
                "section": article.themes[k][0],
                "negative_article": title,
                "negative_section": section,
            }
    if not count:
        lost = sum(len(sentences) for _, sentences in article.themes)
        tally.update({(BARREN, "articles"): 1, (BARREN, "sections"): len(article.themes), (BARREN, "sentences"): lost})


def _drawn(possible: list[Negative], taken: list[str], random: Random) -> Negative | None:
    """Draw uniformly from the candidates whose sentence has not been used yet."""
    if not possible:
        return None
    drawn = random.choice(possible)
    if not any(same_text(drawn[0], text) for text in taken):
        return drawn  # nearly always, so that the rest need not be checked
    fit = [one for one in possible if not any(same_text(one[0], text) for text in taken)]
    return random.choice(fit) if fit else None


def _pairs(themes: Themes, plan: Plan, random: Random, tally: Tally) -> Iterator[tuple[int, str, str]]:
    """(section, anchor, positive): two sentences of a section, the earlier one the anchor."""
    for k, (_, sentences) in enumerate(themes):
        for place, first in enumerate(sentences):
            kept = []
            tally[READ, "pairs"] += len(sentences) - place - 1
            for later in range(place + 1, len(sentences)):
                gone = removing(PAIR_RULES, first, sentences[later])
                if gone == FAR:  # all later sentences are, too
                    tally[gone, "pairs"] += len(sentences) - later
                    break
                if gone:
                    tally[gone, "pairs"] += 1
                else:
                    kept.append(sentences[later][1])
            if plan.max_per_anchor is not None and len(kept) > plan.max_per_anchor:
                tally[LIMIT, "pairs"] += len(kept) - plan.max_per_anchor
                kept = random.sample(kept, plan.max_per_anchor)
            yield from ((k, first[1], positive) for positive in kept)


def _titled(article: Prepared, tally: Tally) -> Iterator[tuple[int, str, str]]:
    """(section, its first sentence, its full title)."""
    for k, (title, sentences) in enumerate(article.themes):
        tally[READ, "pairs"] += 1
        number, sentence = sentences[0]
        if number:  # the first paragraph has no eligible sentence
            tally[NOT_FIRST, "pairs"] += 1
        else:
            yield k, sentence, f"{article.title} {title}"


def _within(article: Prepared, rule: str) -> Candidates:
    """The candidates within the article: from the neighbouring section, from all other sections, or by title."""
    sections: list[list[Negative]] = [
        [(f"{article.title} {title}", article.title, title)]
        if rule == "titles"
        else [(text, article.title, title) for _, text in sentences]
        for title, sentences in article.themes
    ]
    if rule != "article":
        return lambda k, near, random: sections[near]
    without = cache(lambda k: [one for place, section in enumerate(sections) if place != k for one in section])
    return lambda k, near, random: without(k)


def _elsewhere(others: list[Prepared], k: int, near: int, random: Random) -> list[Negative]:
    """The sentences of another article, drawn again for each triplet."""
    if not others:
        return []
    other = random.choice(others)
    return [(text, other.title, title) for title, sentences in other.themes for _, text in sentences]
