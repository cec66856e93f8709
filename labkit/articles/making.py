"""Articles in, triplets out: of a corpus in memory as a record, of any source as a file with flat memory.

Articles are read and sifted in parallel; triplets are drawn where all articles come together, in their order, so that
the number of processes changes nothing. Duplicate titles are left out before, because only who sees all articles can
know of them: the first one stays, and so no title, and no article, is in two splits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from labkit.articles.dump import Page
from labkit.articles.funnel import Funnel
from labkit.articles.rules import READ, REPEATED, UNCLOSED, Tally, sifted
from labkit.articles.sources import Item, Source, in_memory, source_of
from labkit.articles.triplets import Plan, Prepared, Row, triplet_rows
from labkit.articles.wikitext import article_of
from labkit.articles.workers import mapped
from labkit.corpora.records import Articles, Triplets
from labkit.corpora.writing import write_rows
from labkit.progress import Progress, silent

FURTHER = ("article", "section", "negative_article", "negative_section")  # columns beside those of the shape


def triplets_of(
    corpus: Articles,
    *,
    rule: str = "adjacent",
    seed: int = 0,
    max_per_anchor: int | None = None,
    by: str = "top",
    progress: Progress = silent,
) -> Triplets:
    """The triplets of all articles by one rule, each in the split of its article."""
    return triplets_and_funnel(corpus, Plan(rule, seed, max_per_anchor, by), progress=progress)[0]


def triplets_and_funnel(
    corpus: Articles, plan: Plan | None = None, *, progress: Progress = silent
) -> tuple[Triplets, Funnel]:
    """The same, and what the rules removed."""
    if not isinstance(corpus, Articles):
        raise ValueError(f"corpus is {type(corpus).__name__}, expected Articles: triplets are made of their sections")
    tally: Tally = Counter()
    rows = list(_rows(in_memory(corpus), plan or Plan(), tally, workers=1, progress=progress))
    return _record(corpus.name, rows), Funnel(tally)


def write_triplets(
    articles: str,
    path: Path | str,
    plan: Plan | None = None,
    *,
    workers: int = 1,
    limit: int | None = None,
    progress: Progress = silent,
) -> Funnel:
    """The triplets of a corpus, a JSONL file or a dump, to a file; `limit`: of its first articles only.

    Several workers are processes started anew: call this below `if __name__ == "__main__":` in a script then.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"limit is {limit}, expected at least 1 article; leave it out for all")
    tally: Tally = Counter()
    source = source_of(articles)
    write_rows(_rows(source, plan or Plan(), tally, workers=workers, limit=limit, progress=progress), path)
    return Funnel(tally)


def _rows(
    source: Source, plan: Plan, tally: Tally, *, workers: int, limit: int | None = None, progress: Progress
) -> Iterator[Row]:
    """The rows; at least one. The tally is complete when they are through."""

    def prepared() -> Iterator[Prepared]:
        items = _once(islice(source.items, limit), tally)
        done = 0
        for found, read, removed in mapped(partial(_prepared, by=plan.by), items, workers=workers):
            tally.update(removed)
            yield from found
            done += read
            progress(source.done(done), source.total, f"triplets of {source.name}")

    rows = triplet_rows(prepared(), plan, tally)
    first = next(rows, None)
    if first is not None:
        yield first
        yield from rows
    tally.update(source.tally)
    if first is None:
        raise ValueError(_nothing(source.name, Funnel(tally)))


def _prepared(items: list[Item], by: str) -> tuple[list[Prepared], int, Tally]:
    """What of these articles is of use, how many they were, what was removed: the work of a process."""
    found: list[Prepared] = []
    tally: Tally = Counter()
    for item, split in items:
        if isinstance(item, Page):
            article, unclosed = article_of(item.title, item.wikitext, item.namespaces)
            tally.update({(READ, "sentences"): unclosed, (UNCLOSED, "sentences"): unclosed})
        else:
            article = item
        themes, removed = sifted(article, by=by)
        tally.update(removed)
        if themes:
            found.append(Prepared(article.title, split, themes))
    return found, len(items), tally


def _once(items: Iterable[Item], tally: Tally) -> Iterator[Item]:
    """The items whose title was not seen before. Only a number of 64 bits is kept: about 70 bytes an article."""
    seen: set[int] = set()
    for item in items:
        key = hash(item[0].title)
        if key in seen:
            tally.update({(READ, "articles"): 1, (REPEATED, "articles"): 1})
        else:
            seen.add(key)
            yield item


def _nothing(name: str, funnel: Funnel) -> str:
    """Why there is no triplet, in one sentence."""
    worst = max(funnel.rules, key=lambda rule: funnel.removed(rule, "articles"), default="")
    read, gone = funnel.read("articles"), funnel.removed(worst, "articles")
    why = f"{gone:,} of {read:,} articles went by the rule {worst!r}" if gone else f"{read:,} articles were read"
    return f"{name} makes no triplet: {why}; give articles with five sections or more, of several paragraphs each"


def _record(name: str, rows: list[Row]) -> Triplets:
    columns = {column: [row[column] for row in rows] for column in rows[0]}
    return Triplets(
        columns["anchor"],
        columns["positive"],
        columns["negative"],
        name=name,
        splits=columns["split"],
        extra={column: columns[column] for column in FURTHER},
    )
